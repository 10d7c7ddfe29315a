"""What all tests share: the folder with outside data, and the rule on skips under continuous integration.

Fixtures of one part of the house stand beside that part's tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from polyculture.cli import main

# The scripts beside the outside values need libraries of their own, and run once.
collect_ignore_glob = ["cases/*"]

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("POLYCULTURE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data_file() -> Callable[[str], Path]:
    """Path of a file in POLYCULTURE_DATA; the test skips where the folder is not at hand."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"no {name} in {DATA}: set POLYCULTURE_DATA to the folder with the outside data")
        return path

    return find


@dataclass(frozen=True)
class Finished:
    """A command that ran: its exit status and what it wrote."""

    status: int
    out: str
    err: str


@pytest.fixture
def shell(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Run `polyculture` with the given words inside this process, at a width of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("POLYCULTURE_DEBUG", raising=False)

    def run(*words: str | Path) -> Finished:
        capfd.readouterr()
        status = main([str(word) for word in words])
        return Finished(status, *capfd.readouterr())

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Under CI=true a skip is a failure: there everything is installed, so nothing may be left out unseen.

    Outside data are no part of the project and may be absent, so a skip that names POLYCULTURE_DATA stays one.
    """
    report = yield
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = str(call.excinfo.value) if call.excinfo else ""
    if "POLYCULTURE_DATA" not in reason:
        report.outcome = "failed"
        report.longrepr = f"skipped under CI=true: {reason}"
    return report
