"""Kinds, slices and portfolios derived a second time: from the rows, in plain numpy, over every set there is."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc


def outcomes(seed: int, n: int = 150, k: int = 6, holes: float = 0.0) -> np.ndarray:
    """Draw failures with shared difficulty, (n, k) float64; NaN where a model judged nothing."""
    rng = np.random.default_rng(seed)
    rate = np.where(rng.random((n, 1)) < 0.3, rng.uniform(0.5, 0.9, k), rng.uniform(0.1, 0.35, k))
    return np.where(rng.random((n, k)) < holes, np.nan, (rng.random((n, k)) < rate).astype(float))


def frame(failed: np.ndarray, **more: Any) -> pl.DataFrame:
    columns = {f"m{j}": pl.Series(failed[:, j], nan_to_null=True).cast(pl.Int8) for j in range(failed.shape[1])}
    return pl.DataFrame({"id": np.arange(len(failed)), **columns, **more})


def chosen(failed: np.ndarray, **options: Any) -> Any:
    more = {name: options.pop(name) for name in ("g", "label") if name in options}
    return pc.portfolio(frame(failed, **more), id="id", outcomes="failed", models="m*", **options).record


def lost(failed: np.ndarray, members: tuple[int, ...], least: int = 2) -> float:
    """Return the share failed by every member that judged them, of those whom enough members judged."""
    count = gone = 0
    for row in failed[:, members]:
        seen = row[~np.isnan(row)]
        if len(seen) >= min(least, len(members)):
            count, gone = count + 1, gone + bool(seen.all())
    return gone / count


def wrong_majority(failed: np.ndarray, members: tuple[int, ...]) -> float:
    """Return how often a majority of the members that judged is wrong; a tie is wrong by half."""
    each = []
    for row in failed[:, members]:
        seen = row[~np.isnan(row)]
        if len(seen):
            each.append(float(np.sign(seen.sum() * 2 - len(seen))) / 2 + 0.5)
    return float(np.mean(each))


def best(value: Any, sets: list[tuple[int, ...]]) -> tuple[tuple[int, ...], float]:
    values = {one: value(one) for one in sets}
    least = min(sets, key=lambda one: (round(values[one], 12), one))
    return least, values[least]


def places(models: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(sorted(int(name[1:]) for name in models))


@pytest.mark.parametrize("exact", ["every set", "integer program"])
@pytest.mark.parametrize(("seed", "holes"), [(0, 0.0), (1, 0.0), (2, 0.2)])
def test_the_best_set_under_a_bound_on_mean_failure(
    seed: int, holes: float, exact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exact == "integer program":
        monkeypatch.setattr(import_module("polyculture.audit.portfolio_search"), "MOST_SETS", 2)
    failed = outcomes(seed, holes=holes)
    rates = np.nanmean(failed, axis=0)
    most = float(np.quantile([rates[list(one)].mean() for one in combinations(range(6), 3)], 0.4))
    allowed = [one for one in combinations(range(6), 3) if rates[list(one)].mean() <= most]
    found = chosen(failed, size=3, most_mean_failure=most, splits=2)
    assert found.exact
    assert found.method.startswith("integer programming") == (exact == "integer program")
    _, value = best(lambda one: lost(failed, one), allowed)
    assert lost(failed, places(found.chosen.models)) == pytest.approx(value)
    assert places(found.chosen.models) in allowed
    assert found.chosen.value.value == pytest.approx(value)
    assert found.least_mean_failure == pytest.approx(np.sort(rates)[:3].mean())


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_solver_finds_the_most_accurate_majority_of_all(
    size: int, holes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = outcomes(size, n=90, holes=holes)
    want = best(lambda one: wrong_majority(failed, one), list(combinations(range(6), size)))[1]
    looked = chosen(failed, size=size, objective="majority", splits=1)
    monkeypatch.setattr(import_module("polyculture.audit.portfolio_search"), "MOST_SETS", 2)
    solved = chosen(failed, size=size, objective="majority", splits=1)
    assert solved.method.startswith("integer programming")
    for found in (looked, solved):
        assert found.exact
        assert found.chosen.value.value == pytest.approx(1 - want)
        assert wrong_majority(failed, places(found.chosen.models)) == pytest.approx(want)


@pytest.mark.parametrize("choice", ["swap", "add"])
def test_swaps_and_additions(choice: str) -> None:
    failed = outcomes(3)
    found = chosen(failed, today=["m0", "m1"], splits=2, **{choice: True})
    others = (2, 3, 4, 5)
    sets = [(0, 1, x) for x in others] if choice == "add" else [(y, x) for y in (0, 1) for x in others]
    _, value = best(lambda one: lost(failed, one), sets)
    assert places(found.chosen.models) in sets
    assert lost(failed, places(found.chosen.models)) == pytest.approx(value)
    assert found.chosen.value.value == pytest.approx(value)
    assert found.today.value.value == pytest.approx(lost(failed, (0, 1)))
    assert found.random.value == pytest.approx(np.mean([lost(failed, one) for one in sets]))


@pytest.mark.parametrize("most_sets", [20_000, 2])
def test_the_worst_group(most_sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("polyculture.audit.portfolio_search"), "MOST_SETS", most_sets)
    failed = outcomes(4, n=300)
    group = np.random.default_rng(4).choice(["a", "b", "c"], 300)
    failed[group == "b", :2] = 1.0
    found = chosen(failed, g=group, by=["g"], worst_group=True, size=2, splits=2)

    def worst(one: tuple[int, ...]) -> float:
        return max(lost(failed[group == name], one) for name in "abc")

    _, value = best(worst, list(combinations(range(6), 2)))
    assert worst(places(found.chosen.models)) == pytest.approx(value)
    assert found.chosen.value.value == pytest.approx(value)
    assert lost(failed[group == found.chosen.worst_group["g"]], places(found.chosen.models)) == pytest.approx(value)
    assert value < worst((0, 1)), "the group must matter"


def test_the_held_out_value_by_splitting_the_rows() -> None:
    failed = outcomes(5, n=80, k=5)
    sets = list(combinations(range(5), 2))
    gone = np.stack([failed[:, one].all(axis=1) for one in sets], axis=1)
    rng = np.random.default_rng(0)
    mine = []
    for _ in range(2000):
        order = rng.permutation(80)
        halves = (order[:40], order[40:])
        took = [int(np.argmin(gone[half].mean(axis=0).round(12))) for half in halves]
        mine.append((gone[halves[1], took[0]].mean() + gone[halves[0], took[1]].mean()) / 2)
    found = chosen(failed, size=2, splits=500)
    # Two means over random halves, of 2,000 and of 500.
    assert found.held_out.value == pytest.approx(np.mean(mine), abs=4 * np.std(mine) * np.hypot(2000**-0.5, 500**-0.5))
    assert found.chosen.value.value + 0.01 < found.held_out.value
    assert found.difference_from_random.value == pytest.approx(found.held_out.value - found.random.value)


def test_random_assignment_and_random_sets_by_every_draw() -> None:
    failed = outcomes(6, n=120, k=4)
    found = {one.name: one for one in chosen(failed, size=3, splits=2).alternatives}
    anew = [failed[:, draw].all(axis=1).mean() for draw in map(list, product(range(4), repeat=3))]
    sets = [failed[:, draw].all(axis=1).mean() for draw in map(list, combinations(range(4), 3))]
    assert found["random assignment"].value.value == pytest.approx(np.mean(anew))
    assert found["random sets"].value.value == pytest.approx(np.mean(sets))


def test_an_appeal_held_out_by_splitting_the_rows() -> None:
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, 100)
    failed = outcomes(7, n=100, k=4)
    said = {f"m{j}": np.where(failed[:, j] == 1, 1 - label, label) for j in range(4)}
    table = pl.DataFrame({"id": np.arange(100), "label": label, **said})
    found = pc.portfolio(table, id="id", label="label", size=2, positive="1", splits=400).record
    helped, rejected = label == 1, label == 0
    for row in found.appeals:
        first = int(row.first[1:])
        others = [j for j in range(4) if j != first]
        both = np.stack([(failed[:, first] * failed[:, j])[:] for j in others], axis=1)
        let = np.stack([(1 - failed[:, first]) * failed[:, j] for j in others], axis=1)
        after, added = [], []
        for _ in range(1000):
            order = rng.permutation(100)
            lost_to = counted = through = judged = 0.0
            for here, there in ((order[:50], order[50:]), (order[50:], order[:50])):
                took = int(np.argmin(both[here][helped[here]].sum(axis=0)))
                lost_to += both[there, took][helped[there]].sum()
                counted += helped[there].sum()
                through += let[there, took][rejected[there]].sum()
                judged += rejected[there].sum()
            after.append(lost_to / counted)
            added.append(through / judged)
        wide = 4 * np.hypot(1000**-0.5, 400**-0.5)
        assert row.failure.value == pytest.approx(failed[helped, first].mean())
        assert row.after_appeal_in_sample.value == pytest.approx(both[helped].mean(axis=0).min())
        assert row.after_appeal.value == pytest.approx(np.mean(after), abs=wide * np.std(after) + 1e-12)
        assert row.added_false_positives.value == pytest.approx(np.mean(added), abs=wide * np.std(added) + 1e-12)
        assert row.false_positives.value == pytest.approx(failed[rejected, first].mean())


def expected(failed: np.ndarray) -> float:
    """Return the mean over individuals of the product of the rates of the models that judged them."""
    rates = np.nanmean(failed, axis=0)
    return float(np.mean([np.prod(rates[~np.isnan(row)]) for row in failed]))


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_kinds_and_their_difference_of_differences(holes: float) -> None:
    failed = outcomes(8, n=700, k=5, holes=holes)
    group = np.random.default_rng(8).choice(["a", "b"], 700)
    failed[(group == "b") & (np.random.default_rng(9).random(700) < 0.2), :3] = 1.0
    members = {"model": [0, 1, 2], "human": [3, 4]}
    kinds = {name: [f"m{j}" for j in places] for name, places in members.items()}
    found = pc.audit(frame(failed, g=group), id="id", outcomes="failed", by=["g"], kinds=kinds).kinds
    excess, ratio = {}, {}
    for kind in found.kinds:
        own = failed[:, members[kind.name]]
        known = (~np.isnan(own)).sum(axis=1) >= 2
        for name in (None, "a", "b"):
            rows = own[known & ((group == name) if name else True)]
            gone = np.array([bool(row[~np.isnan(row)].all()) for row in rows])
            outcome = (
                kind.systemic_failure
                if name is None
                else next(one for one in kind.groups if one.by == {"g": name}).systemic_failure
            )
            assert outcome.count == gone.sum()
            assert outcome.observed.value == pytest.approx(gone.mean())
            assert outcome.expected == pytest.approx(expected(rows))
            assert outcome.ratio.value == pytest.approx(gone.mean() / expected(rows))
            excess[kind.name, name] = gone.mean() - expected(rows)
            ratio[kind.name, name] = gone.mean() / expected(rows)
    (one,) = [one for one in found.differences if one.outcome == "systemic failure"]
    (x, y), (a, b) = one.kinds, (by["g"] for by in one.groups)
    wanted = excess[x, a] - excess[x, b] - (excess[y, a] - excess[y, b])
    assert one.excess_difference.value == pytest.approx(wanted)
    assert one.homogenization_ratio.value == pytest.approx(ratio[x, a] / ratio[x, b] / (ratio[y, a] / ratio[y, b]))
    if not holes:
        (both,) = [row for row in found.contrasts if row.outcome == "systemic failure" and not row.by]
        assert both.excess_difference.value == pytest.approx(excess[x, None] - excess[y, None])


@pytest.mark.parametrize("measure", ["excess", "systemic-failure"])
def test_slices_are_counted_again_in_the_half_they_are_reported_on(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody stands twice, and one of each pair goes to either half, so that both halves are the table itself."""
    rng = np.random.default_rng(10)
    n = 3000
    columns: dict[str, Any] = {"town": rng.choice(["x", "y", "z"], n), "sex": rng.choice(["f", "m"], n)}
    columns["age"] = rng.uniform(18, 80, n).round(1)
    planted = (columns["town"] == "y") & (columns["age"] > 50)
    shared = rng.random(n) < np.where(planted, 0.4, 0.1)
    failed = np.where(shared[:, None], 1.0, (rng.random((n, 3)) < [0.2, 0.3, 0.4]).astype(float))
    table = frame(failed, **columns)
    twice = pl.concat([table, table.with_columns(id=pl.col("id") + n)])
    module = import_module("polyculture.audit.slices")
    monkeypatch.setattr(module, "half_counts", lambda count, *_: count // 2)
    found = pc.slices(twice, ["town", "sex", "age"], id="id", outcomes="failed", models="m*", by_measure=measure).record
    assert found.search_individuals == found.report_individuals == n
    assert any(one.confirmed for one in found.slices)

    def inside(conditions: tuple[str, ...]) -> np.ndarray:
        members = np.ones(n, dtype=bool)
        for text in conditions:
            name, rest = text.split(" ", 1)
            if rest.startswith("= "):
                members &= columns[name] == rest[2:]
            elif rest.startswith("over "):
                members &= columns[name] > float(rest[5:])
            elif rest.endswith(" or less"):
                members &= columns[name] <= float(rest[:-8])
            else:
                raise AssertionError(text)
        return members

    def excess(members: np.ndarray) -> float:
        part = failed[members]
        return float(part.all(axis=1).mean() - (part.mean(axis=0).prod() if measure == "excess" else 0.0))

    for one in found.slices:
        members = inside(one.conditions)
        part = failed[members]
        assert (one.individuals, one.count) == (members.sum(), part.all(axis=1).sum())
        assert one.share == pytest.approx(members.mean())
        assert one.systemic_failure.value == pytest.approx(part.all(axis=1).mean())
        assert one.expected == pytest.approx(part.mean(axis=0).prod())
        assert one.excess.value == pytest.approx(part.all(axis=1).mean() - part.mean(axis=0).prod())
        assert one.difference.value == pytest.approx(excess(members) - excess(~members))
        for parent in one.parents:
            rest = inside(parent.conditions) & ~members
            assert parent.difference.value == pytest.approx(excess(members) - excess(rest))
