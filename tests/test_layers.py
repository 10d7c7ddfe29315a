"""Imports run downward only, files stay short, and the contract covers the whole package."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "polyculture"
LONGEST = 400
NOT_LAYERED = {"__init__", "_version"}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "importlinter.cli", "lint", "--no-cache"]
    script = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [str(script), "--no-cache"] if script.exists() else command,
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def layers() -> set[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    named = [name.strip() for contract in contracts for layer in contract["layers"] for name in layer.split("|")]
    return {name.removeprefix("polyculture.") for name in named}


def test_imports_run_downward() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_import_that_runs_upward_is_found(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "src" / "polyculture" / "errors.py").open("a") as file:
        file.write("\n\ndef _upward() -> None:\n    from polyculture.report import words  # noqa: F401\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "polyculture.errors is not allowed to import" in done.stdout


def test_every_module_stands_in_a_layer() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert modules - NOT_LAYERED == layers()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_short_and_say_what_they_hold(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST
    assert not text or text.startswith(('"""', 'r"""'))


def test_no_path_of_a_machine_stands_in_the_tree() -> None:
    tracked = subprocess.run(
        ["git", "grep", "-lE", "/(work|home|Users|root)/"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert [line for line in tracked.stdout.splitlines() if line != "tests/test_layers.py"] == []
