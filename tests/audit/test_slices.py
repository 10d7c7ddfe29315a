"""Slices: none where there are none, a planted one, HateCheck's targets, clusters, kinds of columns, bad input."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.settings import Settings
from polyculture.audit.slices import slices
from polyculture.errors import ColumnError, UsageError

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "slices_study.py"
# What the outside source says of systemic failure on hateful cases by target.
TARGETS = {"trans people": 0.703, "Muslims": 0.660, "disabled people": 0.641, "immigrants": 0.566}


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("slices_study", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["slices_study"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("law", ["shared difficulty", "rates differ by sex", "clusters of 20"])
def test_there_is_seldom_a_slice_where_there_is_none(study, law):
    # At 5 % at most, more than 5 in 40 have a chance below 2 %.
    assert study.false_slices(law, 40) <= 5 / 40


@pytest.mark.full
@pytest.mark.parametrize("measure", ["excess", "systemic-failure"])
@pytest.mark.parametrize("law", ["shared difficulty", "clusters of 20"])
def test_in_95_of_100_null_data_sets_there_is_none(study, law, measure):
    assert study.false_slices(law, 200, measure=measure) <= 0.05


def test_a_planted_slice_of_three_conditions_is_found(study):
    exact, near, others = study.planted(10)
    assert exact >= 0.7
    assert near == 1.0
    assert others <= 0.2


def test_a_planted_slice_is_measured_by_its_own_rates(study):
    frame = study.table("planted", np.random.default_rng(10_000), individuals=8000)
    found = study.search(frame, 0).slices[0]
    assert set(found.conditions) == study.PLANTED
    inside = (frame["city"] == "b") & (frame["kind"] == "k1") & (frame["sex"] == "f")
    failed = frame.filter(inside).select([f"m{j}" for j in range(5)]).to_numpy()
    truth = failed.all(axis=1).mean() - failed.mean(axis=0).prod()
    assert found.excess.low < truth < found.excess.high
    assert found.systemic_failure.value - found.expected == pytest.approx(found.excess.value)
    assert found.count == pytest.approx(found.systemic_failure.value * found.individuals)
    assert found.beyond_parents
    assert [len(parent.conditions) for parent in found.parents] == [2, 2, 2]
    assert found.p_adjusted < 0.001
    assert 0 < found.share < 0.1


@pytest.fixture(scope="module")
def hatecheck(data_file):
    return pl.read_csv(data_file("hatecheck_tools.csv"))


def test_hatecheck_shows_the_targets_that_all_tools_fail(hatecheck):
    mapping = {"id": "case_id", "label": "hateful", "models": "pred_*", "cluster": "template"}
    found = pc.slices(hatecheck, ["target_ident", "hateful"], by_measure="systemic-failure", **mapping).record
    seen = {}
    for one in found.slices:
        if one.confirmed and "hateful = 1" in one.conditions:
            target = next(text.partition(" = ")[2] for text in one.conditions if text.startswith("target_ident"))
            seen[target] = one
    assert set(TARGETS) <= set(seen)
    for target, rate in TARGETS.items():
        # half of the templates: within the interval of twice the usual width
        one = seen[target].systemic_failure
        assert one.value - 1.5 * (one.value - one.low) < rate < one.value + 1.5 * (one.high - one.value), target
    assert not set(seen) & {"women", "gay people"}
    assert set(list(seen)[:3]) == {"trans people", "Muslims", "disabled people"}


def test_hatecheck_shows_them_by_excess_too(hatecheck):
    mapping = {"id": "case_id", "label": "hateful", "models": "pred_*", "cluster": "template"}
    for seed in (0, 1):
        found = pc.slices(hatecheck, "all", seed=seed, **mapping).record
        confirmed = [one.conditions for one in found.slices if one.confirmed]
        assert {f"target_ident = {one}" for one in ("trans people", "Muslims", "disabled people")} == {
            text for conditions in confirmed for text in conditions
        }
        assert "clusters" in found.method
        assert set(found.columns) == {"functionality", "label_gold", "target_ident", "direction"}


def outcomes(columns, seed=0, n=3000, where=None, **mapping):
    rng = np.random.default_rng(seed)
    shared = (rng.random(n) < 0.1) | (np.zeros(n, dtype=bool) if where is None else where & (rng.random(n) < 0.3))
    failed = (rng.random((n, 3)) < 0.3) | shared[:, None]
    frame = pl.DataFrame(columns).with_columns(**{f"m{j}": failed[:, j].astype(int) for j in range(3)})
    return pc.read(frame, outcomes="failed", models="m*", **mapping)


def ask(known, columns, *, measure="excess", named=True, **settings):
    return slices(known, columns, measure=measure, settings=Settings(**settings), named=named)


def confirmed(found):
    return [one.conditions for one in found.slices if one.confirmed]


def test_numbers_are_cut_and_joined():
    age = np.random.default_rng(1).uniform(0, 100, 3000)
    found = ask(outcomes({"age": age}, where=age > 60), ["age"])
    (only,) = confirmed(found)
    (text,) = only
    assert text.startswith("age over ")
    assert float(text.split()[-1]) == pytest.approx(60, abs=4)
    assert found.conditions == 5 + 6


def test_few_numbers_missing_and_truth_values_are_values():
    rng = np.random.default_rng(2)
    room = rng.choice([1, 2, 3], 3000)
    flag = rng.choice([True, False], 3000)
    text = [None if one else "known" for one in rng.random(3000) < 0.2]
    missing = np.array([one is None for one in text])
    found = ask(outcomes({"room": room, "flag": flag, "text": text}, where=missing), ["room", "flag", "text"])
    assert confirmed(found) == [("text missing",)]
    # values 1, 2, 3, "2 or less", "over 1"; true, false; missing, known
    assert found.conditions == 5 + 2 + 2


def test_what_by_takes_may_be_searched():
    age = np.random.default_rng(1).uniform(0, 100, 3000)
    found = ask(outcomes({"age": age}, where=age >= 50), ["age>=50"])
    assert confirmed(found) == [("age>=50 = true",)]


def test_unequal_judged_sets_weights_and_long_tables():
    rng = np.random.default_rng(4)
    town = rng.choice(["x", "y", "z"], 3000)
    known = outcomes({"town": town, "id": np.arange(3000), "w": rng.uniform(1, 2, 3000)}, where=town == "y")
    frame = known.frame.collect().to_native()
    holes = frame.with_columns(m2=pl.when(pl.Series(rng.random(3000) < 0.4)).then(None).otherwise(pl.col("m2")))
    weighted = pc.read(holes, outcomes="failed", models="m*", weight="w")
    assert confirmed(ask(weighted, ["town"])) == [("town = y",)]
    long = frame.unpivot(["m0", "m1", "m2"], index=["id", "town"], variable_name="model", value_name="failed")
    told = pc.read(long, long=True, id="id", model="model", value="failed", outcomes="failed")
    wide = pc.read(frame, outcomes="failed", models="m*", id="id")
    assert confirmed(ask(told, ["town"])) == [("town = y",)]
    assert ask(told, ["town"]).slices[0].conditions == ask(wide, ["town"]).slices[0].conditions


def test_few_clusters_confirm_nothing():
    town = np.repeat(["x", "y", "z"], 1000)
    cluster = np.repeat(np.arange(6), 500)
    found = ask(outcomes({"town": town, "c": cluster}, where=town == "y", cluster="c"), ["town"])
    assert not confirmed(found)


def test_a_census_is_searched_whole_and_not_tested():
    town = np.random.default_rng(0).choice(["x", "y"], 3000)
    found = ask(outcomes({"town": town}, where=town == "y"), ["town"], census=True)
    assert found.search_individuals == found.report_individuals == 3000
    assert confirmed(found) == [("town = y",)]
    assert found.slices[0].p_value is None
    assert found.slices[0].excess.low is None


def test_the_same_seed_gives_the_same_slices():
    town = np.random.default_rng(0).choice(["x", "y", "z"], 3000)
    known = outcomes({"town": town}, where=town == "y")
    assert ask(known, ["town"], seed=3) == ask(known, ["town"], seed=3)
    assert ask(known, ["town"], seed=3) != ask(known, ["town"], seed=4)


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    town, age, weight = rng.choice(["x", "y", "z"], 3000), rng.integers(18, 80, 3000), rng.uniform(1, 2, 3000)
    known = outcomes({"town": town, "age": age, "w": weight, "c": np.arange(3000) // 3}, where=town == "y")
    frame = known.frame.collect().to_native()
    for mapping in ({}, {"cluster": "c"}, {"weight": "w"}):
        whole = {"outcomes": "failed", "models": "m*", **mapping}
        one = ask(pc.read(frame, **whole), ["town", "age"])
        other = ask(pc.read(frame.sample(fraction=1.0, shuffle=True, seed=1), **whole), ["town", "age"])
        assert one == other


def test_a_large_table_is_searched_by_a_sample(monkeypatch):
    town = np.random.default_rng(0).choice(["x", "y", "z"], 3000)
    module = importlib.import_module("polyculture.tally.by_columns")
    monkeypatch.setattr(module, "MOST_ROWS", 2000)
    found = ask(outcomes({"town": town, "id": np.arange(3000)}, where=town == "y", id="id"), ["town"])
    assert "a sample of the individuals" in found.method
    assert f"in a sample of {found.search_individuals + found.report_individuals:,}" in found.sentence
    assert confirmed(found) == [("town = y",)]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["twon"], "Did you mean 'town'"),
        (["m0"], "taken for a model"),
        (["name"], "over the 1,000"),
    ],
)
def test_wrong_columns_say_what_to_do(columns, says):
    town = np.random.default_rng(0).choice(["x", "y"], 3000)
    known = outcomes({"town": town, "name": [f"n{i}" for i in range(3000)]})
    with pytest.raises((ColumnError, UsageError)) as caught:
        ask(known, columns)
    assert says in str(caught.value)
    assert ask(known, ["town", "name"], named=False).left_out == {"name": "3,000 values, over 1,000"}


def test_other_wrong_calls():
    town = np.random.default_rng(0).choice(["x", "y"], 300)
    known = outcomes({"town": town}, n=300)
    with pytest.raises(UsageError, match="Did you mean 'excess'"):
        ask(known, ["town"], measure="exces")
    counted = pc.Tally.of(known)
    with pytest.raises(UsageError, match="holds no rows"):
        pc.slices(counted, ["town"])
    with pytest.raises(UsageError, match="holds no rows"):
        pc.audit(counted, slices=["town"])
    with pytest.raises(UsageError, match="No column is left"):
        pc.slices(pl.DataFrame({"a": [1, 0] * 50, "b": [1, 1] * 50}), outcomes="failed")
