"""From a plan to a result: the temporary folder lives as long as the result, and no longer where a run fails."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest

from polyculture.experiments import Experiment, carried_out


class Filled:
    def __init__(self, folder: Path) -> None:
        self.folder = folder


class Found(Experiment):
    def __init__(self, store: Filled) -> None:
        self.store = store

    def write(self, directory: Any) -> Path:
        (Path(directory) / "written").touch()
        return Path(directory)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_temporary_folder_lives_as_long_as_the_result(temporary: Path) -> None:
    said: list[str] = []
    found = carried_out(Filled, Found, None, said.append)
    assert [found.store.folder] == list(temporary.iterdir())
    assert said == ["Measuring"]
    del found
    gc.collect()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("fails", ["run", "measure"])
def test_a_run_that_fails_leaves_no_temporary_folder(temporary: Path, fails: str) -> None:
    def refuse(_: object) -> Any:
        raise RuntimeError(fails)

    run, measure = (refuse, Found) if fails == "run" else (Filled, refuse)
    with pytest.raises(RuntimeError, match=fails):
        carried_out(run, measure, None, None)
    assert not list(temporary.iterdir())


def test_a_folder_that_was_named_stays_and_is_written_to(tmp_path: Path) -> None:
    said: list[str] = []
    found = carried_out(Filled, Found, tmp_path, said.append)
    assert (found.store.folder / "written").exists()
    assert said == ["Measuring", "Writing the report"]
    del found
    gc.collect()
    assert (tmp_path / "written").exists()
