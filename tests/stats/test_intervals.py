"""Intervals of rates against their definitions, and the rules of combination against known values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from polyculture.stats.intervals import (
    Interval,
    effective_size,
    jeffreys,
    jeffreys_limits,
    korn_graubard,
    mover_difference,
    mover_ratio_log,
    newcombe_difference,
    newcombe_from_intervals,
    no_interval,
    quantile,
    wald_log,
    wilson,
)


@given(st.integers(1, 500), st.data())
@settings(deadline=None)
def test_jeffreys_limits_leave_two_and_a_half_percent_on_each_side(n: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n))
    low, high, _, reason = jeffreys(x, n)
    assert low is not None
    assert high is not None
    assert reason == ""
    assert low <= x / n <= high
    assert low < high
    assert (low == 0.0) == (x == 0)
    assert (high == 1.0) == (x == n)
    if x > 0:
        assert betainc(x + 0.5, n - x + 0.5, low) == pytest.approx(0.025, rel=1e-6)
    if x < n:
        assert 1 - betainc(x + 0.5, n - x + 0.5, high) == pytest.approx(0.025, rel=1e-6)


def test_many_limits_at_once_are_the_limits_one_by_one() -> None:
    low, high = jeffreys_limits([[1], [0]], [5, 20, 1000])
    assert low.shape == (2, 3)
    assert (low[0, 1], high[0, 1]) == jeffreys(1, 20)[:2]
    assert high[1, 2] == jeffreys(0, 1000).high


def test_nobody_has_no_interval() -> None:
    assert jeffreys(0, 0).low is None
    assert "no individual" in jeffreys(0, 0).reason
    assert np.isnan(jeffreys_limits(0, 0)[0])
    assert newcombe_difference(0, 0, 1, 5).high is None


def test_more_events_than_individuals_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        jeffreys(6, 5)


def test_korn_graubard_uses_the_effective_size_with_t_quantiles() -> None:
    size = 400 / 2.0 * (quantile(clusters=400) / quantile(clusters=20)) ** 2
    assert effective_size(400, 2.0, 20) == pytest.approx(size)
    assert korn_graubard(40, 400, 2.0, 20)[:2] == pytest.approx(jeffreys(size / 10, size)[:2])
    # An effective size above n is never used.
    assert korn_graubard(40, 400, 0.2, 20)[:2] == pytest.approx(jeffreys(40, 400)[:2])
    assert korn_graubard(0, 400, 3.0, 20).low == 0.0


def test_below_ten_clusters_there_is_no_interval() -> None:
    assert korn_graubard(40, 400, 2.0, 9).low is None
    assert "9 clusters" in korn_graubard(40, 400, 2.0, 9).reason
    assert korn_graubard(40, 400, 2.0, 10).low is not None
    assert wald_log(0.0, 1.0, clusters=9).low is None


@pytest.mark.parametrize(
    ("counts", "limits"),
    [
        # Newcombe (1998), table II, method 10 (score without continuity correction), rows a to h.
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombes_own_examples(counts: tuple[int, int, int, int], limits: tuple[float, float]) -> None:
    assert newcombe_difference(*counts)[:2] == pytest.approx(limits, abs=5.1e-5)


def test_square_and_add_is_the_same_by_hand() -> None:
    by_hand = newcombe_from_intervals(0.8, wilson(56, 70), 0.6, wilson(48, 80))
    assert by_hand[:2] == newcombe_difference(56, 70, 48, 80)[:2]
    assert mover_difference(0.8, wilson(56, 70), 0.6, wilson(48, 80))[:2] == by_hand[:2]


@given(st.floats(-1, 1), st.floats(0.1, 3), st.floats(0.1, 3))
def test_mover_of_symmetric_intervals_is_the_usual_variance_formula(r: float, a: float, b: float) -> None:
    interval = mover_difference(5.0, Interval(5 - a, 5 + a, ""), 2.0, Interval(2 - b, 2 + b, ""), r)
    half = math.sqrt(max(a * a + b * b - 2 * r * a * b, 0.0))
    if half > 1e-6:
        assert interval.low == pytest.approx(3 - half, abs=1e-9)
        assert interval.high == pytest.approx(3 + half, abs=1e-9)


def test_an_interval_of_no_width_is_no_interval() -> None:
    point = Interval(0.5, 0.5, "")
    assert mover_difference(0.5, point, 0.5, point).low is None
    assert "no width" in mover_difference(0.5, point, 0.5, point).reason
    assert wald_log(0.0, 0.0).low is None


def test_reasons_pass_through() -> None:
    missing = no_interval("because")
    there = Interval(0.1, 0.3, "")
    assert mover_difference(0.2, missing, 0.2, there).reason == "because"
    assert mover_difference(0.2, there, 0.2, missing).reason == "because"
    assert mover_ratio_log(0.2, missing, 0.2, there).reason == "because"
    assert "above 0" in mover_ratio_log(0.0, there, 0.2, there).reason


def test_ratio_of_equal_relative_intervals() -> None:
    low, high, *_ = mover_ratio_log(0.2, Interval(0.1, 0.4, ""), 0.1, Interval(0.05, 0.2, ""))
    factor = 2 ** math.sqrt(2)
    assert (low, high) == pytest.approx((2 / factor, 2 * factor))


def test_quantiles() -> None:
    assert quantile() == pytest.approx(1.959964, abs=1e-6)
    assert quantile(clusters=11) == pytest.approx(2.228139, abs=1e-6)
    with pytest.raises(ValueError, match="level"):
        quantile(1.0)
