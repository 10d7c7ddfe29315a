"""Shares against the uniform baseline, trends over the others, slopes over time: each by a second derivation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from polyculture.stats.change import share_against_uniform, slope, trend_over_others


def test_the_difference_is_improved_against_all_failures() -> None:
    found, p, _ = share_against_uniform(10, 100, 90, 200)
    assert found.value == pytest.approx(10 / 100 - 100 / 300)
    assert p is not None
    assert p < 1e-6
    nothing, p, _ = share_against_uniform(10, 100, 20, 200)
    assert nothing.value == pytest.approx(0)
    assert (nothing.low or 0) < 0 < (nothing.high or 0)
    assert p == pytest.approx(1, abs=0.2)


def test_coverage_and_size_under_a_blind_gain() -> None:
    rng = np.random.default_rng(8)
    inside = rejected = 0
    repeats = 1200
    for _ in range(repeats):
        one, other = rng.binomial(60, 0.3), rng.binomial(240, 0.3)
        found, p, _ = share_against_uniform(one, 60, other, 240)
        inside += (found.low or 0) <= 0 <= (found.high or 0)
        rejected += p is not None and p < 0.05
    assert 0.93 <= inside / repeats <= 0.98
    assert rejected / repeats <= 0.07


@pytest.mark.parametrize(
    ("counts", "reason"),
    [((0, 0, 0, 0), "failed nobody"), ((0, 5, 0, 5), "no failure was undone"), ((5, 5, 5, 5), "every failure")],
)
def test_undefined_differences_say_why(counts: tuple[int, int, int, int], reason: str) -> None:
    assert reason in share_against_uniform(*counts)[0].reason


def test_clusters_widen_the_difference() -> None:
    plain, wide = share_against_uniform(10, 100, 60, 200)[0], share_against_uniform(10, 100, 60, 200, 4.0)[0]
    assert (wide.high or 0) - (wide.low or 0) > 1.6 * ((plain.high or 0) - (plain.low or 0))


def test_with_two_numbers_the_trend_is_the_odds_ratio() -> None:
    found = trend_over_others([30, 10], [100, 80], [0, 1])
    odds = (10 / 70) / (30 / 70)
    half = norm.ppf(0.975) * np.sqrt(1 / 10 + 1 / 70 + 1 / 30 + 1 / 70)
    assert found.value == pytest.approx(odds)
    assert found.low == pytest.approx(odds * np.exp(-half))


@pytest.mark.parametrize("undone", [[0, 0], [100, 80], [100, 0]])
def test_a_trend_without_end_is_undefined(undone: list[int]) -> None:
    found = trend_over_others(undone, [100, 80], [0, 1])
    assert found.value is None
    assert found.reason


def test_the_slope_is_the_mean_of_individual_slopes() -> None:
    rng = np.random.default_rng(1)
    events = (rng.random((300, 4)) < [0.4, 0.35, 0.3, 0.3]).astype(float)
    events[:100] = events[:100, :1]  # a third never changes
    contrast = np.polynomial.polynomial.polyfit(np.arange(4), np.eye(4), 1)[1]
    each = events @ contrast
    found, p, _ = slope((events.T @ events)[None], np.array([300.0]), 300.0, clustered=False)
    assert found.value == pytest.approx(each.mean())
    assert (found.high or 0) - (found.low or 0) == pytest.approx(2 * norm.ppf(0.975) * each.std(ddof=1) / np.sqrt(300))
    assert p is not None


def test_the_slope_over_clusters() -> None:
    rng = np.random.default_rng(2)
    events = np.repeat((rng.random((30, 3)) < 0.4).astype(float), 10, axis=0)
    by_cluster = np.stack([part.T @ part for part in np.split(events, 30)])
    plain, _, _ = slope(by_cluster.sum(axis=0)[None], np.array([300.0]), 300.0, clustered=False)
    found, _, method = slope(by_cluster, np.full(30, 10.0), 300.0, clustered=True)
    assert found.value == pytest.approx(plain.value)
    assert (found.high or 0) - (found.low or 0) > 2.5 * ((plain.high or 0) - (plain.low or 0))
    assert "30 clusters" in method
    few, p, _ = slope(by_cluster[:5], np.full(5, 10.0), 50.0, clustered=True)
    assert few.low is None
    assert p is None
