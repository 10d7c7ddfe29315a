"""Comparisons of snapshots derived a second time: from the rows, one individual at a time, in plain numpy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit

import polyculture as pc

GRID = np.linspace(-9.0, 9.0, 73)  # the grid of hardness that docs/statistics name


def snapshots(seed: int, n: int = 240, k: int = 4, holes: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Draw outcomes before and after, (n, k) float64; NaN where a model judged nothing."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 1.6, (n, 1))
    found = []
    for gain in (0.0, rng.normal(0.3, 0.4, k)):
        failed = (rng.random((n, k)) < expit(hard + np.linspace(-0.9, 0.2, k) - gain)).astype(float)
        found.append(np.where(rng.random((n, k)) < holes, np.nan, failed))
    return found[0], found[1]


def compared(before: np.ndarray, after: np.ndarray) -> Any:
    order = np.random.default_rng(0).permutation(len(after))  # matched by id, not by place

    def frame(values: np.ndarray, ids: np.ndarray) -> pl.DataFrame:
        columns = {f"m{j}": pl.Series(values[:, j], nan_to_null=True).cast(pl.Int8) for j in range(values.shape[1])}
        return pl.DataFrame({"id": ids, **columns})

    ids = np.arange(len(before))
    return pc.compare(frame(before, ids), frame(after[order], ids[order]), id="id", outcomes="failed").record.changes[0]


def moves(before: np.ndarray, after: np.ndarray, reading: str) -> dict[tuple[int, int, int], np.ndarray]:
    """Count by (model, models that judged twice, others that fail): potential, improved, at risk, regressed."""
    counted: dict[tuple[int, int, int], np.ndarray] = {}
    for old, new in zip(before, after, strict=True):
        twice = [j for j in range(len(old)) if not (np.isnan(old[j]) or np.isnan(new[j]))]
        if len(twice) < 2:
            continue
        for j in twice:
            seen = old if reading == "before" else new
            others = int(sum(seen[other] for other in twice if other != j))
            row = counted.setdefault((j, len(twice), others), np.zeros(4, dtype=int))
            row += [old[j] == 1, old[j] == 1 and new[j] == 0, old[j] == 0, old[j] == 0 and new[j] == 1]
    return counted


@pytest.mark.parametrize("seed", range(2))
def test_errors_systemic_failure_and_flow(seed: int) -> None:
    before, after = snapshots(seed, holes=0.0 if seed == 0 else 0.15)
    found = compared(before, after)
    twice = ~(np.isnan(before) | np.isnan(after))
    for j, model in enumerate(found.models):
        old, new = before[twice[:, j], j], after[twice[:, j], j]
        assert (model.judged, model.failed_before, model.failed_after) == (len(old), old.sum(), new.sum())
        assert model.error.before.value == pytest.approx(old.mean())
        assert model.error.after.value == pytest.approx(new.mean())
        assert model.error.difference.value == pytest.approx((new - old).mean())
        assert model.error.difference.low < (new - old).mean() < model.error.difference.high
        assert (model.improved, model.regressed) == (((old == 1) & (new == 0)).sum(), ((old == 0) & (new == 1)).sum())
        assert model.changed.value == pytest.approx((old != new).mean())
    number = twice.sum(axis=1)
    counts = [np.where(twice, side, 0).sum(axis=1) for side in (before, after)]
    headline = number >= 2
    gone = [(count == number) & headline for count in counts]
    systemic = found.systemic_failure
    assert found.individuals == systemic.individuals == headline.sum()
    assert (systemic.count_before, systemic.count_after) == (gone[0].sum(), gone[1].sum())
    assert systemic.kept == (gone[0] & gone[1]).sum()
    assert (systemic.undone, systemic.new) == ((gone[0] & ~gone[1]).sum(), (~gone[0] & gone[1]).sum())
    assert systemic.rate.difference.value == pytest.approx((gone[1].sum() - gone[0].sum()) / headline.sum())
    for side, name in ((before, "expected_before"), (after, "expected_after")):
        if seed == 0:  # all judged by all
            assert getattr(systemic, name) == pytest.approx(side.mean(axis=0).prod())
        else:
            assert getattr(systemic, name) is None
            assert systemic.expected_reason
    flow: dict[tuple[int, ...], int] = {}
    for key in zip(number[headline], counts[0][headline], counts[1][headline], strict=True):
        flow[tuple(int(x) for x in key)] = flow.get(tuple(int(x) for x in key), 0) + 1
    assert {(row.judged, row.before, row.after): row.count for row in found.flow} == flow
    for row in found.flow:
        assert row.share == pytest.approx(row.count / (number == row.judged).sum())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("reading", ["before", "after"])
def test_improvements_by_the_number_of_others_that_fail(seed: int, reading: str) -> None:
    before, after = snapshots(seed, holes=0.0 if seed == 0 else 0.15)
    found = compared(before, after)
    counted = moves(before, after, reading)

    def rows(records: Any) -> dict[tuple[int, int], tuple[int, ...]]:
        return {
            (row.judged, row.others): (row.potential, row.improved, row.at_risk, row.regressed, row.net)
            for row in records
            if row.reading == reading and row.potential + row.at_risk > 0
        }

    def wanted(models: set[int]) -> dict[tuple[int, int], np.ndarray]:
        total: dict[tuple[int, int], np.ndarray] = {}
        for (j, judged, others), row in counted.items():
            if j in models:
                total[judged, others] = total.get((judged, others), 0) + row
        return total

    for models, record in [({j}, model) for j, model in enumerate(found.models)] + [({0, 1, 2, 3}, found)]:
        mine = wanted(models)
        assert rows(record.by_others) == {key: (*row, row[1] - row[3]) for key, row in mine.items()}
        total = sum(mine.values())
        systemic = sum(row for (judged, others), row in mine.items() if others == judged - 1)
        (undoing,) = [one for one in record.undoing if one.reading == reading]
        assert (undoing.potential, undoing.improved, undoing.regressed) == (total[0], total[1], total[3])
        assert undoing.net_systemic == systemic[1] - systemic[3]
        assert undoing.share.value == pytest.approx(systemic[1] / total[1])
        if total[1] > total[3]:
            assert undoing.net_share.value == pytest.approx((systemic[1] - systemic[3]) / (total[1] - total[3]))
        else:
            assert undoing.net_share.value is None
        if len(models) == 1:
            assert undoing.uniform == pytest.approx(systemic[0] / total[0])
            assert undoing.difference_uniform.value == pytest.approx(systemic[1] / total[1] - systemic[0] / total[0])
    # Over all models: each model's blind improvements, as many as it made.
    parts = [wanted({j}) for j in range(4)]
    blind = [
        sum(r[1] for r in part.values())
        * sum(r[0] for (n, c), r in part.items() if c == n - 1)
        / sum(r[0] for r in part.values())
        for part in parts
    ]
    (every,) = [one for one in found.undoing if one.reading == reading]
    assert every.uniform == pytest.approx(sum(blind) / every.improved)


def fitted(failed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit the Rasch model with a free law of hardness by a quasi-Newton search over all 2^k patterns of failure."""
    k = failed.shape[1]
    patterns = np.array(list(product([0, 1], repeat=k)))
    seen = np.array([(failed == pattern).all(axis=1).sum() for pattern in patterns]) / len(failed)

    def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
        law = np.exp(theta[: len(GRID)] - theta[: len(GRID)].max())
        law /= law.sum()
        chance = expit(GRID[:, None] + theta[len(GRID) :])
        given = np.exp(np.log(chance) @ patterns.T + np.log1p(-chance) @ (1 - patterns.T))
        each = law @ given
        members = law[:, None] * given / each * seen
        slope = [members.sum(axis=1) - law, (members @ patterns - members.sum(axis=1)[:, None] * chance).sum(axis=0)]
        return -float(seen @ np.log(each)), -np.concatenate(slope)

    start = np.concatenate([-(GRID**2) / 4.5, np.log(failed.mean(axis=0) / (1 - failed.mean(axis=0))) * 1.3])
    best = minimize(minus, start, jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    law = np.exp(best[: len(GRID)] - best[: len(GRID)].max())
    return law / law.sum(), best[len(GRID) :]


@pytest.mark.parametrize("reading", ["before", "after"])
def test_the_baseline_of_difficulty_by_another_search_and_by_every_pattern_of_the_others(reading: str) -> None:
    k = 6
    before, after = snapshots(11, n=1500, k=k, holes=0.0)
    found = compared(before, after)
    law, prone = fitted(before if reading == "before" else after)

    def curve(rate: float) -> np.ndarray:
        return expit(GRID + brentq(lambda shift: law @ expit(GRID + shift) - rate, -40, 40))

    for j, model in enumerate(found.models):
        others = [other for other in range(k) if other != j]
        old, new = curve(before[:, j].mean()), curve(after[:, j].mean())
        failing, undone = np.zeros(k), np.zeros(k)
        for pattern in product([0, 1], repeat=k - 1):
            chance = law.copy()
            for other, fails in zip(others, pattern, strict=True):
                one = expit(GRID + prone[other])
                chance = chance * (one if fails else 1 - one)
            failing[sum(pattern)] += chance @ old
            undone[sum(pattern)] += chance @ (old * (1 - new))
        seen = (before if reading == "before" else after)[:, others].sum(axis=1)
        potential = np.array([(before[seen == c, j] == 1).sum() for c in range(k)])
        expected = potential * undone / failing
        (undoing,) = [one for one in model.undoing if one.reading == reading]
        # Two searches of a likelihood that is flat near its top (they end 1.2 apart at 1,500 individuals).
        assert undoing.adjusted.value == pytest.approx(expected[-1] / expected.sum(), abs=0.005)
        rows = [row.expected_adjusted for row in model.by_others if row.reading == reading]
        assert rows == pytest.approx(list(expected / expected.sum()), abs=0.015)
