"""`polyculture lab` in the shell: what it prints and writes, and how it ends on bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from polyculture.report.json import json_schema


@pytest.fixture
def folder(tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plan.toml").write_text(
        'blocks = [4]\nmodel_seeds = 3\npartition_seeds = 4\n[data]\nsource = "people.csv"\ngroups = ["sex"]\n'
        'id = "person"\n[[task]]\nname = "good"\nlabel = "good"\n[[task]]\nname = "large"\nlabel = "amount > 100"\n'
        '[[learner]]\nestimator = "sklearn.naive_bayes.GaussianNB"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_run_and_everything_written(shell: Callable, folder: Path) -> None:  # type: ignore[type-arg]
    done = shell("lab", "sharing", "plan.toml", "--out", "out", "--set", "partition_seeds=3", "--export", "all.csv")
    assert done.status == 0, done.err
    assert "share training rows" in done.out
    assert "fixed against disjoint" in done.out
    assert "Written: out, all.csv" in done.out
    found = json.loads((folder / "out" / "sharing.json").read_text())
    jsonschema.validate(found, json_schema("lab-sharing"))
    assert found["schema"] == "polyculture/lab-sharing/1"
    assert (found["trials"], found["plan"]["partition_seeds"]) == (9, 3)
    names = {path.name for path in (folder / "out" / "tables").iterdir()}
    assert names == {"results.csv", "effects.csv", "accuracy.csv", "notes.csv", "dictionary.csv"}
    told = {(row[0], row[1]): row for row in pl.read_csv(folder / "out" / "tables" / "dictionary.csv").rows()}
    for path in (folder / "out" / "tables").glob("*.csv"):
        for column in pl.read_csv(path).columns:
            assert len(told[path.stem, column][2]) > 3
            assert told[path.stem, column][3], (path.stem, column)
    assert pl.read_csv(folder / "all.csv").height == 9 * 2 * 2 * 24
    assert "<h1>" in (folder / "out" / "report.html").read_text()
    assert shell("lab", "sharing", "plan.toml", "--out", "out", "--set", "partition_seeds=3", "--quiet").out == ""


def test_init_writes_a_plan_that_is_one_and_overwrites_nothing(shell: Callable, folder: Path) -> None:  # type: ignore[type-arg]
    done = shell("lab", "init", "new.toml")
    assert done.status == 0
    assert "polyculture lab sharing new.toml --out results" in done.out
    assert shell("lab", "init", "-").out == (folder / "new.toml").read_text()
    again = shell("lab", "init", "new.toml")
    assert again.status == 2
    assert "is there already" in again.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.toml", "--out", "o"], "There is no plan 'none.toml'"),
        (["plan.toml"], "--out"),
        (["plan.toml", "--out", "plan.toml"], "would overwrite"),
        (["plan.toml", "--out", "o", "--set", "block=[2]"], "no key 'block'"),
        (["plan.toml", "--out", "o", "--set", "learner=sklearn.svm.NuSVCC"], "Did you mean 'NuSVC'?"),
        (["plan.toml", "--out", "o", "--set", "blocks=[1]"], "fewer than the 2 decision-makers"),
        (["plan.toml", "--out", "o", "--set", "blocks=[100]"], "more than the 96 training rows"),
        (["plan.toml", "--out", "o", "--set", "data.groups=['sx']"], "Did you mean 'sex'?"),
        (["plan.toml", "--out", "o", "--export", "all.xlsx"], "End the name in"),
        (["plan.toml", "--out", "o", "--backend", "threading"], "choose loky"),
        (["plan.toml", "--out", "no/such/folder/out", "--export", "o/all.csv"], "no folder"),
    ],
)
def test_bad_input_ends_with_its_place(
    shell: Callable,
    folder: Path,
    words: list[str],
    message: str,  # type: ignore[type-arg]
) -> None:
    done = shell("lab", "sharing", *words)
    assert done.status == 2, done.out
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not (folder / "o").exists()


def test_help_names_both_commands(shell: Callable) -> None:  # type: ignore[type-arg]
    done = shell("lab", "--help")
    assert done.status == 0
    assert "sharing" in done.out
    assert "init" in done.out
