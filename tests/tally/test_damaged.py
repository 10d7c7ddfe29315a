"""Files of counts whose content is none of theirs: whole zip files, so that no sum of theirs tells."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import TallyError

HEADERS = {"tally": "tally.json", "snapshots": "snapshots.json"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one file of each kind."""
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"id": range(60), **{name: rng.integers(0, 2, 60) for name in "abc"}, "sex": ["f", "m"] * 30})
    options: dict[str, Any] = {"id": "id", "outcomes": "failed", "models": ["a", "b", "c"], "by": ["sex"]}
    pc.audit(table, **options).tally.save(folder / "tally")
    dated = [
        table.with_columns(date=pl.lit(str(year)), a=pl.Series(rng.integers(0, 2, 60)), site=pl.col("id") // 6)
        for year in range(3)
    ]
    pc.compare(pl.concat(dated), snapshot="date", cluster="site", **options).tally.save(folder / "snapshots")
    return {kind: folder / kind for kind in HEADERS}


def load(kind: str, path: Path) -> object:
    return pc.Tally.load(path) if kind == "tally" else pc.SnapshotTally.load(path)


def changed(path: Path, to: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Write the file with each part of it changed."""
    with ZipFile(path) as old, ZipFile(to, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def edited(header: Callable[[dict[str, Any]], object]) -> Callable[[str, bytes], bytes]:
    def change(name: str, data: bytes) -> bytes:
        if not name.endswith(".json"):
            return data
        content = json.loads(data)
        header(content)
        return json.dumps(content).encode()

    return change


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_of_another_content_is_refused(kind: str, saved: dict[str, Path], tmp_path: Path) -> None:
    with ZipFile(saved[kind]) as file:
        keys = set(json.loads(file.read(HEADERS[kind]))) - {"format"}
    edits: dict[str, Callable[[dict[str, Any]], object]] = {key: partial(dict.update, **{key: 1.5}) for key in keys}
    edits["one more"] = lambda content: content.update(more=1)
    edits["fewer models"] = lambda content: content.update(models=content["models"][:1])
    if kind == "tally":
        edits["fewer cells"] = lambda content: content.update(cells=content["cells"][:1])
    else:
        edits["fewer names"] = lambda content: content.update(names=content["names"][:1])
        edits["no changes"] = lambda content: content.update(changes=[])
        edits["fewer cells"] = lambda content: content["changes"][0].update(cells=[])
        edits["fewer models of a change"] = lambda content: content["changes"][0]["models"].pop()
        edits["fewer clusters"] = lambda content: content["changes"][0]["cluster_names"].pop()
        edits["fewer clusters of sums"] = lambda content: content["moments"]["cluster_names"].pop()
    for what, edit in edits.items():
        changed(saved[kind], tmp_path / "other", edited(edit))
        with pytest.raises(TallyError, match="or it is damaged") as caught:
            load(kind, tmp_path / "other")
        assert caught.value.hint, what
    changed(saved[kind], tmp_path / "same", edited(dict.copy))
    assert load(kind, tmp_path / "same") == load(kind, saved[kind])


@pytest.mark.parametrize("kind", HEADERS)
def test_an_array_of_another_length_is_refused(kind: str, saved: dict[str, Path], tmp_path: Path) -> None:
    with ZipFile(saved[kind]) as file:
        arrays = [name for name in file.namelist() if name.endswith(".npy")]
    assert len(arrays) >= 10
    for chosen in arrays:

        def shorten(name: str, data: bytes, chosen: str = chosen) -> bytes:
            if name != chosen:
                return data
            buffer = io.BytesIO()
            np.save(buffer, np.load(io.BytesIO(data))[:-1])
            return buffer.getvalue()

        changed(saved[kind], tmp_path / "other", shorten)
        with pytest.raises(TallyError, match="or it is damaged"):
            load(kind, tmp_path / "other")
