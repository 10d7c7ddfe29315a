"""`polyculture lab loop` in the shell: what it prints and writes, and how it ends on bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import polyculture as pc
from make_people import people
from polyculture.errors import UsageError
from polyculture.report.json import json_schema

PLAN = """
label = "good"
generations = 3
seeds = 2
samples = 300
decision_makers = 2
[data]
source = "people.csv"
id = "person"
groups = ["sex"]
[generator]
estimator = "sklearn.mixture.GaussianMixture"
parameters = { reg_covar = 0.001 }
[[arm]]
setting = "SeqClass"
[[arm]]
setting = "SeqGenSeqClass"
pool = "shared"
intervention = [{ kind = "STAR", of = ["generator", "classifier"] }]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people(240).write_csv(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_run_and_everything_written(shell: Callable, folder: Path) -> None:  # type: ignore[type-arg]
    words = ("lab", "loop", "plan.toml", "--out", "out", "--set", "keep=2")
    done = shell(*words, "--export", "all.csv")
    assert done.status == 0, done.err
    assert "In the last of 3 generations" in done.out
    assert "Written: out, all.csv" in done.out
    found = json.loads((folder / "out" / "loop.json").read_text())
    jsonschema.validate(found, json_schema("lab-loop"))
    assert found["schema"] == "polyculture/lab-loop/1"
    assert found["arms"] == ["SeqClass", "SeqGenSeqClass + cla+gen-STAR + shared pool"]
    names = {path.name for path in (folder / "out" / "tables").iterdir()}
    assert names >= {"endpoints.csv", "generations.csv", "collapse.csv", "strata.csv", "accounting.csv", "notes.csv"}
    told = {(row[0], row[1]): row for row in pl.read_csv(folder / "out" / "tables" / "dictionary.csv").rows()}
    for path in (folder / "out" / "tables").glob("*.csv"):
        for column in pl.read_csv(path).columns:
            assert len(told[path.stem, column][2]) > 3
            assert told[path.stem, column][3], (path.stem, column)
    everything = pl.read_csv(folder / "all.csv")
    assert everything.height == 2 * 2 * 3 * 2 * 72
    assert everything.columns == ["arm", "seed", "generation", "id", "model", "predicted", "score", "label", "group"]
    page = (folder / "out" / "report.html").read_text()
    assert page.count("<figure>") == 2 * 2 + 2 + 2
    assert "SHA-256 of people.csv" in page
    assert shell(*words, "--quiet").out == ""
    again = pc.lab.open_loop(folder / "out")
    assert again.json() == (folder / "out" / "loop.json").read_text()
    assert again.frame("accounting").height == len(found["accounting"])
    with pytest.raises(UsageError, match=r"Did you mean 'SeqClass'\?"):
        again.outcomes("SeqClas")
    with pytest.raises(UsageError, match="The last is 2"):
        again.outcomes("SeqClass", generation=3)
    assert "SeqClass" in again._repr_html_()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.toml", "--out", "o"], "There is no plan 'none.toml'"),
        (["plan.toml"], "--out"),
        (["plan.toml", "--out", "plan.toml"], "would overwrite"),
        (["plan.toml", "--out", "o", "--set", "generation=2"], "Did you mean 'generations'?"),
        (["plan.toml", "--out", "o", "--set", "classifier=sklearn.svm.LinearSVC"], "gives no probabilities"),
        (["plan.toml", "--out", "o", "--set", "data.groups=['sx']"], "Did you mean 'sex'?"),
        (["plan.toml", "--out", "o", "--set", "favourable=2"], "favourable"),
        (["plan.toml", "--out", "o", "--set", "ideal=uniforn"], "ideal"),
        (["plan.toml", "--out", "o", "--export", "all.xlsx"], "End the name in"),
        (["plan.toml", "--out", "o", "--backend", "threading"], "choose loky"),
        (["plan.toml", "--out", "o", "--jobs", "0"], "no number of processes"),
    ],
)
def test_bad_input_ends_with_its_place(
    shell: Callable,  # type: ignore[type-arg]
    folder: Path,
    words: list[str],
    message: str,
) -> None:
    done = shell("lab", "loop", *words)
    assert done.status == 2, done.out
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not (folder / "o").exists()


def test_init_writes_a_plan_of_a_loop(shell: Callable, folder: Path) -> None:  # type: ignore[type-arg]
    done = shell("lab", "init", "new.toml", "--of", "loop")
    assert done.status == 0
    assert "polyculture lab loop new.toml --out results" in done.out
    assert pc.lab.loop_plan("new.toml").seeds == 3
