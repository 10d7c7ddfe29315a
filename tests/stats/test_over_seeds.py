"""Means over seeds: t intervals, bands that hold everywhere at once, and ratios of sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from polyculture.stats.over_seeds import SAME, from_reported, log_ratio_values, over_seeds


def test_the_interval_is_that_of_a_t_test() -> None:
    values = np.array([0.4, 0.5, 0.45, 0.61])
    found = over_seeds(values)
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high))
    band = over_seeds(values, looks=5)
    assert band.low == pytest.approx(stats.t.interval(0.99, 3, values.mean(), stats.sem(values))[0])
    assert "simultaneous over 5" in band.method


def test_no_interval_without_seeds_or_spread() -> None:
    assert over_seeds([np.nan, np.nan]).value is None
    assert over_seeds([0.5]).low is None
    assert over_seeds([0.5, np.nan]).reason.endswith("undefined at the others")
    assert (over_seeds([0.5, 0.5]).value, over_seeds([0.5, 0.5]).reason) == (0.5, SAME)


def test_a_band_holds_in_all_generations_at_once_and_an_interval_in_its_own() -> None:
    rng = np.random.default_rng(0)
    # Means of a random walk: 0 everywhere, generations alike.
    covered, alone, trials = 0, 0, 1500
    for _ in range(trials):
        walks = rng.normal(size=(5, 10)).cumsum(axis=1)
        bands = [over_seeds(walks[:, number], looks=10) for number in range(10)]
        covered += all(band.low < 0.0 < band.high for band in bands)  # type: ignore[operator]
        last = over_seeds(walks[:, -1])
        alone += last.low < 0.0 < last.high  # type: ignore[operator]
    assert covered / trials > 0.94
    assert 0.935 < alone / trials < 0.965


def test_ratios_of_sums_have_the_interval_of_the_delta_method() -> None:
    rng = np.random.default_rng(1)
    below = 0.2 + 0.02 * rng.normal(size=(6, 3))
    above = 1.5 * below + 0.01 * rng.normal(size=(6, 3))
    values = log_ratio_values(above, below)
    assert values.mean(axis=0) == pytest.approx(np.log(above.sum(axis=0) / below.sum(axis=0)))
    nearly = np.log(above / below)
    assert values.std(axis=0) == pytest.approx(nearly.std(axis=0), rel=0.2)
    assert np.isnan(log_ratio_values([0.0, 0.0], [0.1, 0.2])).all()
    assert np.isnan(log_ratio_values([np.nan, 0.1], [0.1, 0.1])).tolist() == [True, False]


def test_the_difference_from_a_reported_mean_is_that_of_welch() -> None:
    own, other = np.array([0.4, 0.5, 0.45]), np.array([0.6, 0.72, 0.55, 0.61, 0.7])
    found = from_reported(own, float(other.mean()), float(other.std(ddof=1)), 5)
    expected = stats.ttest_ind(own, other, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    alone = from_reported(own, 0.6)
    low, high = stats.t.interval(0.95, 2, own.mean(), stats.sem(own))
    assert (alone.low, alone.high) == pytest.approx((low - 0.6, high - 0.6))
    assert "not known" in alone.method
    assert from_reported([0.5], 0.6).low is None
    assert from_reported([np.nan], 0.6).value is None


def test_the_difference_from_a_reported_mean_covers_that_of_the_populations() -> None:
    rng = np.random.default_rng(4)
    covered, trials = 0, 2000
    for _ in range(trials):
        other = rng.normal(0.3, 0.2, 5)
        found = from_reported(rng.normal(0.5, 0.1, 3), float(other.mean()), float(other.std(ddof=1)), 5)
        covered += found.low < 0.2 < found.high  # type: ignore[operator]
    assert 0.93 < covered / trials < 0.98
