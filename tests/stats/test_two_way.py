"""Intervals over crossed seeds cover what they say, by simulation and by a second derivation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from polyculture.stats.two_way import log_ratio_contrast, mean_over_trials, rank_correlation, variance_of_mean


@pytest.mark.parametrize(
    ("rows", "columns", "effects"),
    [
        (3, 5, (1.0, 1.0, 1.0)),
        (5, 5, (0.0, 1.0, 1.0)),
        (5, 5, (1.0, 1.0, 0.3)),
        (3, 8, (0.0, 1.0, 1e-4)),
        (25, 25, (0.3, 1.0, 1.0)),
    ],
)
def test_the_mean_is_covered_whatever_the_seeds_do(
    rows: int, columns: int, effects: tuple[float, float, float]
) -> None:
    rng, draws = np.random.default_rng(5), 600
    by_row, by_column, rest = effects
    covered = naive = 0
    for _ in range(draws):
        values = (
            by_row * rng.normal(size=(rows, 1))
            + by_column * rng.normal(size=(1, columns))
            + rest * rng.normal(size=(rows, columns))
        )
        found = mean_over_trials(values)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.0 <= found.high
        half = 1.96 * values.std(ddof=1) / math.sqrt(values.size)
        naive += abs(values.mean()) <= half
    assert covered / draws >= 0.925
    assert naive / draws < 0.85  # which is why seeds are not taken for independent


def test_the_effect_of_sharing_is_covered() -> None:
    # Two arms of trials: partitions shift systemic failure of both, and the arms differ by a known ratio.
    rng, draws, covered = np.random.default_rng(11), 400, 0
    for _ in range(draws):
        base = np.exp(0.3 * rng.normal(size=(1, 10))) * np.exp(0.1 * rng.normal(size=(6, 1)))
        expected = np.stack([0.06 * base, 0.06 * base])
        noise = np.exp(0.25 * rng.normal(size=(2, 6, 10)) - 0.25**2 / 2)
        failures = expected * np.array([1.5, 1.0])[:, None, None] * noise
        found = log_ratio_contrast(failures, expected, (1.0, -1.0))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= math.log(1.5) <= found.high
    assert 0.92 <= covered / draws <= 0.995


def test_one_kind_of_seed_gives_the_plain_t_interval() -> None:
    values = np.array([[1.0, 2.0, 4.0, 3.5]])
    found = mean_over_trials(values)
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values.ravel()))
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)
    assert "one model seed" in found.method


def test_seeds_that_do_nothing_leave_the_t_interval_of_the_others() -> None:
    values = np.tile([1.0, 2.0, 4.0, 3.5], (6, 1))
    found = variance_of_mean(values)
    assert found.variance == pytest.approx(stats.sem([1.0, 2.0, 4.0, 3.5]) ** 2)
    assert found.degrees == pytest.approx(3.0)


def test_the_log_ratio_is_of_sums_and_keeps_trials_with_nothing_expected() -> None:
    failures = np.array([[[0.0, 0.2]], [[0.1, 0.1]]])
    expected = np.array([[[0.0, 0.1]], [[0.1, 0.1]]])
    found = log_ratio_contrast(failures, expected, (1.0, -1.0))
    assert found.value == pytest.approx(math.log(0.2 / 0.1))


def test_an_unknown_trial_leaves_every_arm() -> None:
    failures = np.array([[[np.nan, 0.2, 0.3]], [[9.0, 0.1, 0.1]]])
    found = log_ratio_contrast(failures, np.ones((2, 1, 3)), (1.0, -1.0))
    assert found.value == pytest.approx(math.log(0.5 / 0.2))


def test_what_is_undefined_says_why() -> None:
    ones = np.ones((1, 2, 2))
    assert "no individual was failed by all" in log_ratio_contrast(0 * ones, ones, (1.0,)).reason
    assert "nothing is expected" in log_ratio_contrast(ones, 0 * ones, (1.0,)).reason
    assert "no trial" in log_ratio_contrast(np.nan * ones, ones, (1.0,)).reason
    assert "no trial" in mean_over_trials(np.full((2, 2), np.nan)).reason
    one = mean_over_trials([[0.5]])
    assert (one.value, one.low) == (0.5, None)
    assert "one model seed" in one.reason
    same = mean_over_trials(np.full((3, 3), 0.5))
    assert same.low is None
    assert "no width" in same.reason


def test_the_correlation_is_spearmans() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 6, (4, 5, 5)).astype(float)
    second = first + rng.normal(size=first.shape)
    second[0, 0, 0] = np.nan
    known = np.isfinite(second)
    found = rank_correlation(first, second)
    assert found.value == pytest.approx(stats.spearmanr(first[known], second[known]).statistic)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert rank_correlation(np.ones((1, 3, 3)), first[:1, :3, :3]).value is None


def test_two_seeds_of_a_kind_are_warned_of() -> None:
    assert "may be too narrow" in mean_over_trials([[1.0, 2.0, 4.0], [2.0, 2.0, 5.0]]).method
    assert "may be too narrow" not in mean_over_trials(np.arange(9.0).reshape(3, 3) ** 2).method
