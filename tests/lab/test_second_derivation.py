"""The figures of an experiment a second time: from the tidy export alone, in loops and textbook formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import polyculture as pc
from polyculture.labs import Sharing

SEEDS = (3, 4)  # of the model, of the partition
Trial = tuple[int, int]


@pytest.fixture
def both(content: Callable[..., dict[str, Any]], tmp_path: Path) -> tuple[Sharing, pl.DataFrame]:
    """Return an experiment, and every outcome of it as a user has it, with the groups."""
    found = pc.lab.sharing(
        content(
            learner=[
                {"estimator": f"sklearn.{path}"} for path in ("naive_bayes.GaussianNB", "tree.ExtraTreeClassifier")
            ],
            model_seeds=SEEDS[0],
            partition_seeds=SEEDS[1],
            share={"rows": ["fixed", 0.5, "disjoint"], "seed": ["shared", "own"]},
        ),
        out=tmp_path / "out",
    )
    outcomes = pl.read_csv(found.export(tmp_path / "all.csv"))
    people = pl.read_csv(tmp_path / "people.csv").select(id="person", group="sex")
    return found, outcomes.join(people, on="id", validate="m:1")


def settings(table: pl.DataFrame) -> dict[tuple[str, int, str, Trial], pl.DataFrame]:
    """Return a row an individual and a column a model, by learner, blocks, arm and pair of seeds."""
    parts = table.partition_by("learner", "blocks", "arm", "seed", "partition_seed", as_dict=True)
    return {
        (str(learner), int(blocks), str(arm), (int(model), int(partition))): part.pivot(
            "model", index=["id", "group"], values="failed"
        )
        for (learner, blocks, arm, model, partition), part in parts.items()
    }


def failures(part: pl.DataFrame) -> np.ndarray[Any, Any]:
    return part.drop("id", "group").to_numpy().astype(float)


def everywhere(learner: str, blocks: int) -> bool:
    return True


def by_pair(
    found: dict[tuple[str, int, str, Trial], pl.DataFrame],
    arm: str,
    of: Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], float],
    keep: Callable[[str, int], bool] = everywhere,
) -> np.ndarray[Any, Any]:
    """Return the sum over learners and sizes of a figure of one arm, by pair of seeds."""
    sums = np.zeros(SEEDS)
    for (learner, blocks, name, pair), part in found.items():
        if name == arm and keep(learner, blocks):
            sums[pair] += of(failures(part), part["group"].to_numpy())
    return sums


def all_fail(flags: np.ndarray[Any, Any], group: np.ndarray[Any, Any]) -> float:
    return float(np.mean([all(row) for row in flags]))


def independent(flags: np.ndarray[Any, Any], group: np.ndarray[Any, Any]) -> float:
    return math.prod(flags[:, model].mean() for model in range(flags.shape[1]))


def uniform(flags: np.ndarray[Any, Any], group: np.ndarray[Any, Any]) -> float:
    return float(np.mean([independent(flags[group == one], group) for one in sorted(set(group))]))


def accuracy_of(flags: np.ndarray[Any, Any], group: np.ndarray[Any, Any]) -> float:
    return float(1 - flags.mean())


def interval(influence: np.ndarray[Any, Any]) -> float:
    """Return half the width of the two-way interval of a mean: mean squares of a crossed layout, as in a textbook."""
    rows, columns = influence.shape
    grand = influence.mean()
    square = {
        "model": columns * sum((influence[row].mean() - grand) ** 2 for row in range(rows)) / (rows - 1),
        "partition": rows * sum((influence[:, at].mean() - grand) ** 2 for at in range(columns)) / (columns - 1),
    }
    rest = sum(
        (influence[row, at] - influence[row].mean() - influence[:, at].mean() + grand) ** 2
        for row in range(rows)
        for at in range(columns)
    ) / ((rows - 1) * (columns - 1))
    freedom = {"model": rows - 1, "partition": columns - 1}
    pooled = square["model"] + square["partition"] - rest
    largest = max(square, key=lambda name: square[name])
    if square[largest] > pooled:
        variance, degrees = square[largest], float(freedom[largest])
    else:
        spread = sum(square[name] ** 2 / freedom[name] for name in square) + rest**2 / ((rows - 1) * (columns - 1))
        variance = pooled
        degrees = min(max(pooled**2 / spread, min(rows, columns) - 1), rows + columns - 2)
    return float(stats.t.ppf(0.975, degrees) * math.sqrt(variance / (rows * columns)))


def log_ratio(
    parts: dict[tuple[str, int, str, Trial], pl.DataFrame],
    weights: dict[str, float],
    above: Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], float] = all_fail,
    keep: Callable[[str, int], bool] = everywhere,
) -> tuple[float, float]:
    """Return a contrast of log(sum / sum expected) over arms, and half the width of its interval."""
    value, influence = 0.0, np.zeros(SEEDS)
    for arm, weight in weights.items():
        top, bottom = by_pair(parts, arm, above, keep), by_pair(parts, arm, independent, keep)
        value += weight * math.log(top.sum() / bottom.sum())
        influence += weight * (top / top.mean() - bottom / bottom.mean())
    return value, interval(influence)


def check(found: Any, expected: tuple[float, float]) -> None:
    value, half = expected
    if half < 1e-12:  # a learner that takes no random state: sharing it does nothing, and an interval has no width
        assert (found.value, found.low) == (pytest.approx(value, abs=1e-12), None)
        return
    assert (found.value, found.low, found.high) == pytest.approx((value, value - half, value + half), rel=1e-9)


def test_every_figure_follows_from_the_tidy_export(both: tuple[Sharing, pl.DataFrame]) -> None:
    found, table = both
    parts, record = settings(table), found.record
    assert len(parts) == record.trials * len(record.arms) == 48 * 6
    for result in record.results:
        if result.learner is not None or result.blocks is not None:
            continue
        top, bottom = (by_pair(parts, result.arm, of) / 4 for of in (all_fail, independent))  # 2 learners x 2 sizes
        assert result.systemic_failure.value == pytest.approx(top.mean())
        assert result.expected.value == pytest.approx(bottom.mean())
        ratio, half = log_ratio(parts, {result.arm: 1.0})
        assert result.homogenization.low == pytest.approx(math.exp(ratio - half))
        assert result.groups is not None
        assert result.groups.uniform.value == pytest.approx(
            by_pair(parts, result.arm, uniform).sum() / by_pair(parts, result.arm, independent).sum()
        )
        accuracy = by_pair(parts, result.arm, accuracy_of) / 4
        assert result.accuracy.value == pytest.approx(accuracy.mean())
    weights = {
        ("rows", "fixed"): {f"{rows}, seed {seed}": sign / 2 for rows, sign in (("fixed", 1), ("disjoint", -1))
                            for seed in ("shared", "own")},
        ("rows", "overlap 0.5"): {f"{rows}, seed {seed}": sign / 2
                                  for rows, sign in (("overlap 0.5", 1), ("disjoint", -1))
                                  for seed in ("shared", "own")},
        ("seed", "shared"): {f"{rows}, seed {seed}": sign / 3 for seed, sign in (("shared", 1), ("own", -1))
                             for rows in ("fixed", "overlap 0.5", "disjoint")},
    }  # fmt: skip
    checked = 0
    for effect in record.effects:

        def keep(learner: str, blocks: int, of: Any = effect) -> bool:
            return of.learner in {None, learner} and of.blocks in {None, blocks}

        own = weights[effect.component, effect.level]
        check(effect.log_ratio, log_ratio(parts, own, keep=keep))
        assert effect.group_log_ratio is not None
        check(effect.group_log_ratio, log_ratio(parts, own, uniform, keep))
        settled = 4 // (1 if effect.learner is None else 2) // (1 if effect.blocks is None else 2)
        excess = sum(
            weight * (by_pair(parts, arm, all_fail, keep) - by_pair(parts, arm, independent, keep)) / settled
            for arm, weight in own.items()
        )
        check(effect.excess, (float(np.mean(excess)), interval(np.asarray(excess))))
        checked += 1
    assert checked == 3 * (1 + 2 + 2 + 4)
    both_at_once = {
        "fixed, seed shared": 1.0, "fixed, seed own": -1.0, "disjoint, seed shared": -1.0, "disjoint, seed own": 1.0,
    }  # fmt: skip
    (interaction,) = record.interactions
    assert (interaction.first, interaction.second) == ("rows", "seed")
    check(interaction.log_ratio, log_ratio(parts, both_at_once))
    first = record.components[0]
    check(
        first.log_ratio, log_ratio(parts, weights[first.component, "fixed" if first.component == "rows" else "shared"])
    )
    points = [
        (round(all_fail(flags, flags) / independent(flags, flags), 12), round(1 - flags.mean(), 12))
        for flags in map(failures, parts.values())
        if independent(flags, flags) > 0
    ]
    expected = stats.spearmanr(points).statistic
    assert record.homogenization_and_accuracy["all arms"].value == pytest.approx(expected)
