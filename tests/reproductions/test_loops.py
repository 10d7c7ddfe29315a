"""The loops on tables: plans as described, claims with the right direction, and a small run end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import polyculture as pc
from polyculture.audit.statistic import Statistic
from polyculture.errors import UsageError
from polyculture.loops import loop_plan
from polyculture.reproductions import tabular_loop, two_pools
from polyculture.reproductions.loops import claim

pytest.importorskip("sklearn", reason="experiments need the extra [lab]")
STAR = "intervention=[{kind='STAR', of=['classifier']}]"
ARMS = f"arm=[{{}}, {{setting='SeqGenSeqClass'}}, {{setting='SeqGenSeqClass', against='SeqGenSeqClass', {STAR}}}]"
POOLS = ", ".join(
    f"{{name='SeqClass, {pool} pool{end}', pool='{pool}'}}" for pool, end in (("separate", "s"), ("shared", ""))
)
FAST = (
    ARMS,
    "generations=2",
    "seeds=2",
    "samples=500",
    "generator.steps=[{estimator='sklearn.mixture.GaussianMixture'}]",
)


def test_every_setting_stands_alone_with_reparation_and_with_baselines() -> None:
    plan = loop_plan(tabular_loop.plans()["german-credit"])
    assert (plan.generations, plan.seeds, plan.samples) == (20, 5, 10_000)
    names = plan.arm_names()
    assert names[:3] == ("SeqClass", "SeqGenSeqClass", "SeqGenNonSeqClass")
    assert {f"{setting} + cla-STAR" for setting in names[:3]} < set(names)
    assert "SeqGenSeqClass + cla+gen-STAR" in names
    assert {name.partition(" + ")[2] for name in names[10:]} == {
        "reweighting", "class balance", "group balance", "fresh data", "drop detected", "fairness constraint",
    }  # fmt: skip
    others = dict(zip(names, plan.compared_with(), strict=True))
    assert names[others["SeqGenNonSeqClass + gen-STAR"]] == "SeqGenNonSeqClass"
    assert others["SeqGenSeqClass"] == 0


def test_law_school_is_added_where_its_table_is_given(data_file: Callable[[str], Path]) -> None:
    own = tabular_loop.plans(data_file("law_school.csv.gz"))["law-school"]
    assert own["data"]["groups"] == ["race = White"]
    assert "sander_index" in own["data"]["leave_out"]
    assert loop_plan(own).rows == 2000
    with pytest.raises(UsageError, match=r"Did you mean 'quick'\?"):
        tabular_loop.plans(scale="quik")


def test_a_direction_needs_an_interval_on_its_side() -> None:
    falls = Statistic(value=-0.1, low=-0.2, high=-0.05)
    assert claim("a", "falls", falls, above=False).verdict == "agrees"
    assert claim("a", "rises", falls, above=True).verdict == "disagrees"
    assert (
        claim("a", "ratio", Statistic(value=1.1, low=0.9, high=1.3), above=True, unit="ratio").verdict == "cannot tell"
    )
    assert claim("a", "none", None, above=True).verdict == "not tested"
    assert claim("a", "falls", falls, above=True, beside="constant").reason.endswith("the other side; constant")


def test_a_small_run_gives_claims_and_folders(tmp_path: Path) -> None:
    found = pc.reproduce("tabular-loop", set=FAST, out=tmp_path / "out")
    record = found.record
    assert len(record.claims) == 3 + 3 + 1 + 1
    assert {one.about for one in record.claims} > {"german-credit, SeqClass", "german-credit"}
    drift = next(one for one in record.claims if "larger class" in one.statement)
    loop = found.loops["german-credit"].record
    own = next(
        one for one in loop.endpoints
        if (one.arm, one.measure, one.of, one.endpoint)
        == ("SeqClass", "class_share", "true", "change since generation 0")
    )  # fmt: skip
    assert drift.found.value == own.value.value
    assert (tmp_path / "out" / "german-credit" / "report.html").exists()
    held = next(one for one in record.claims if one.about.endswith("SeqGenSeqClass + cla-STAR"))
    assert held.found.value is not None
    assert held.found.value < 0.0
    assert "Law school was not run" in " ".join(record.notes)


def test_ecosystems_compare_pools(tmp_path: Path) -> None:
    found = pc.reproduce(
        "two-pools", set=(f"arm=[{POOLS}]", "generations=2", "seeds=2", "samples=500"), out=tmp_path / "out"
    )
    loop = found.loops["german-credit"].record
    assert len(loop.decision_makers) == 3
    assert [one.verdict == "not tested" for one in found.record.claims] == [True, True, False, False] + [True] * 4
    assert [one.unit for one in found.record.claims[:2]] == ["points", "ratio"]
    own = [one for one in found.record.claims if one.about.endswith("SeqClass, shared pool")]
    shared = next(one for one in own if one.unit == "ratio")
    ends: dict[str, Any] = {
        one.arm: one for one in loop.endpoints if (one.measure, one.endpoint) == ("homogenization", "last generation")
    }
    ratio = ends["SeqClass, shared pool"].value.value / ends["SeqClass, separate pools"].value.value
    assert shared.found.value == pytest.approx(ratio)
    assert "systemic_failure" in loop.units
    assert two_pools.plans()["german-credit"]["start"] == "own"
