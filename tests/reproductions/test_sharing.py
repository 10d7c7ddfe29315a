"""The training-data experiments of 2211.13972: plans, verdicts, and small runs on bundled and made data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.statistic import Statistic, undefined
from polyculture.claims import outcome_homogenization as paper
from polyculture.claims.verdict import direction
from polyculture.errors import ColumnError, UsageError
from polyculture.lab.data import prepare
from polyculture.lab.planfile import plan_from
from polyculture.report.reproduction import claims_of_ratios
from polyculture.reproductions import german_credit, law_school
from polyculture.reproductions.experiments import near, rise

pytest.importorskip("sklearn", reason="experiments need the extra [lab]")
FAST = ("learner=sklearn.naive_bayes.GaussianNB", "blocks=[2, 4]", "model_seeds=2", "partition_seeds=3")


def stat(value: float, low: float, high: float) -> Statistic:
    return Statistic(value=value, low=low, high=high)


def test_a_rise_is_told_by_its_interval() -> None:
    assert rise(stat(1.2, 1.1, 1.3))[0] == "agrees"
    assert rise(stat(1.0, 0.97, 1.04))[0] == "disagrees"
    assert rise(stat(1.008, 1.001, 1.014)) == (
        "agrees",
        "the interval lies on the claimed side, and leaves a rise of 5% or more out",
    )
    assert rise(stat(0.8, 0.7, 0.9))[1] == direction(stat(0.8, 0.7, 0.9), none=1.0, above=True)[1]
    assert rise(stat(1.0, 0.9, 1.1))[0] == "cannot tell"
    assert rise(stat(0.8, 0.7, 0.9))[0] == "disagrees"
    assert rise(undefined("one trial"))[0] == "not tested"
    assert near(stat(1.02, 0.95, 1.08), 1.0, 0.1)[0] == "agrees"
    assert near(stat(1.2, 0.95, 1.4), 1.0, 0.1)[0] == "cannot tell"
    assert near(stat(1.3, 1.2, 1.4), 1.0, 0.1)[0] == "disagrees"


def test_german_credit_is_set_up_as_published() -> None:
    plan = plan_from(german_credit.plan("paper"))
    assert plan.blocks == (2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 20)
    assert (plan.model_seeds, plan.partition_seeds, plan.test_share) == (25, 25, 0.2)
    assert [learner.shown() for learner in plan.learners] == [
        "LogisticRegression",
        "GradientBoostingClassifier",
        "SVC",
        "MLPClassifier",
    ]
    assert [step.estimator for step in plan.preprocessing[0].steps] == ["sklearn.preprocessing.StandardScaler"]
    data = prepare(plan)
    seen = [{data.columns[index] for index in data.origin[target.sees]} for target in data.targets]
    assert [len(columns) for columns in seen] == [20, 19]
    assert "credit_amount" in seen[0] - seen[1]
    assert not any("credit" in columns for columns in seen)
    credit = pc.datasets.german_credit()
    assert data.targets[0].label.tolist() == (credit["credit"] == 1).cast(int).to_list()
    assert data.targets[1].label.tolist() == (credit["credit_amount"] > 2000).cast(int).to_list()
    assert prepare(plan_from(german_credit.plan(codes="ordinal"))).features.shape == (1000, 20)


def test_german_credit_runs_and_each_claim_has_a_verdict(tmp_path: Path) -> None:
    found = pc.reproduce("german-credit", set=FAST, out=tmp_path / "out")
    record = found.record
    # With one learner there is nothing by learner; all sizes together, and H against accuracy.
    assert [claim.about for claim in record.claims] == ["all learners and sizes"] * 2
    assert sum(record.verdicts.values()) == len(record.claims)
    assert found.experiment is not None
    effect = found.experiment.effects[0]
    assert record.claims[0].found == effect.ratio
    assert record.claims[0].verdict == rise(effect.ratio)[0]
    assert record.claims[-1].statement.startswith(paper.UNCORRELATED)
    assert "split trial" in record.notes[0]
    assert (tmp_path / "out" / "experiment" / "report.html").exists()
    found.write(tmp_path / "out")
    assert "Picking on the Same Person" in (tmp_path / "out" / "report.html").read_text()
    again = pc.reproduce("german-credit", set=FAST, out=tmp_path / "out")
    assert again.record == record


def test_there_is_a_claim_for_each_learner_and_each_size(tmp_path: Path) -> None:
    two = "learner=sklearn.naive_bayes.GaussianNB,sklearn.tree.DecisionTreeClassifier"
    found = pc.reproduce("german-credit", set=(two, *FAST[1:]), out=tmp_path)
    record = found.record
    assert [claim.about for claim in record.claims] == [
        "all learners and sizes",
        "GaussianNB",
        "DecisionTreeClassifier",
        "2 blocks of 400 rows",
        "4 blocks of 200 rows",
        "all learners and sizes",
    ]
    page = (found.write(tmp_path) / "report.html").read_text()
    assert [claim.about for claim in claims_of_ratios(record)] == [claim.about for claim in record.claims[:5]]
    assert 'id="ratios-caption"' in page
    assert '<a href="experiment/report.html">' in page
    assert "Published</th>" not in page  # the paper prints no number of these
    assert "href=" not in found._page().split("<body>")[1].replace('href="#main"', "")


def lsac(individuals: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    ability = rng.normal(size=individuals)
    return pl.DataFrame(
        {
            "race": rng.choice(["White", "Black"], individuals, p=[0.8, 0.2]),
            "sex": rng.integers(1, 3, individuals),
            "LSAT": (35 + 5 * ability + 3 * rng.normal(size=individuals)).round(1),
            "UGPA": (3 + 0.3 * ability + 0.3 * rng.normal(size=individuals)).round(2),
            "ZFYA": (ability + rng.normal(size=individuals)).round(2),
            "sander_index": rng.random(individuals).round(3),
            "first_pf": (ability + rng.normal(size=individuals) > -1).astype(float),
        }
    )


def test_law_school_from_a_path_and_from_a_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "law.csv"
    lsac().write_csv(path)
    plan = plan_from(law_school.plan(path, "paper"))
    assert (plan.blocks[0], plan.blocks[-1], plan.model_seeds, plan.partition_seeds) == (6, 30, 5, 5)
    data = prepare(plan)
    table = lsac()
    assert data.targets[0].label.tolist() == table["first_pf"].cast(int).to_list()
    assert data.targets[1].label.tolist() == (table["UGPA"] > table["UGPA"].mean()).cast(int).to_list()
    seen = [{data.columns[index] for index in data.origin[target.sees]} for target in data.targets]
    assert not any("first_pf" in columns for columns in seen)
    assert not {"UGPA", "sander_index"} & seen[1]
    module = ModuleType("my_law")
    module.load = lambda: lsac().with_columns(pass_bar=pl.col("first_pf") > 0).drop("first_pf")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_law", module)
    found = pc.reproduce("law-school", data="my_law:load", gpa="ZFYA", set=FAST)
    assert "ZFYA" in found.record.notes[0]
    assert found.experiment is not None
    assert found.experiment.record.groups == ("race",)


def test_grades_that_are_missing_leave_the_mean_as_it_is_and_are_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "law.csv"
    holes = lsac().with_columns(UGPA=pl.when(pl.int_range(pl.len()) % 5 > 0).then("UGPA"))
    holes.write_csv(path)
    data = prepare(plan_from(law_school.plan(path)))
    wanted = holes.select((pl.col("UGPA") > pl.col("UGPA").mean()).cast(int).fill_null(-1)).to_series()
    assert data.targets[1].label.tolist() == wanted.to_list()


def test_law_school_of_the_outside_data(data_file: Callable[[str], Path]) -> None:
    plan = plan_from(law_school.plan(data_file("law_school.csv.gz")))
    assert prepare(plan).individuals == 21791
    assert "row" in plan.data.leave_out


def test_law_school_without_its_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "law.csv"
    lsac().drop("first_pf").write_csv(path)
    with pytest.raises(ColumnError, match="passed the bar"):
        pc.reproduce("law-school", data=path)
    lsac().drop("UGPA").write_csv(path)
    with pytest.raises(ColumnError, match="no column 'UGPA'"):
        pc.reproduce("law-school", data=path)
    with pytest.raises(UsageError, match="--data FILE"):
        pc.reproduce("law-school")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["german-crdit"], "Did you mean 'german-credit'?"),
        (["german-credit", "--data", "x"], "german-credit has no option 'data'"),
        (["ecosystem-level", "--scale", "quick"], "ecosystem-level has no option 'scale'"),
        (["german-credit", "--set", "block=[2]"], "Did you mean 'blocks'?"),
        (["law-school"], "--data FILE"),
        (["acs"], "--data folktables"),
    ],
)
def test_wrong_words_end_with_a_mend(shell: Callable[..., Any], words: list[str], message: str) -> None:
    done = shell("reproduce", *words)
    assert done.status == 2
    assert message in " ".join(done.err.split())


def test_the_shell_prints_claims_and_writes_all(
    shell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = [word for setting in FAST for word in ("--set", setting)]
    done = shell("reproduce", "german-credit", *settings, "--codes", "ordinal", "--out", "gc")
    assert done.status == 0, done.err
    assert "sharing training data" in done.out
    assert "codes ordinal" in done.out
    assert {path.name for path in (tmp_path / "gc").iterdir()} == {
        "claims.csv",
        "dictionary.csv",
        "experiment",
        "reproduction.json",
        "report.html",
    }
