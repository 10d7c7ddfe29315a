"""Contrasts of groups: known intervals, exact laws by enumeration, and gaps under shuffled labels."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.stats import contrasts
from polyculture.stats.contrasts import (
    contrast,
    difference_of_rates,
    max_min_gap,
    ratio_of_rates,
    two_sample_p,
)
from polyculture.stats.homogeneity import estimate, moments
from polyculture.stats.intervals import jeffreys, newcombe_difference


def group(failed: Any, count: Any, **more: Any) -> Any:
    failed = np.asarray(failed, dtype=bool)
    return moments(np.ones_like(failed), failed, count, **more)


PATTERNS = [[1, 1], [1, 0], [0, 1], [0, 0]]


def test_difference_is_newcombes() -> None:
    found = difference_of_rates(56, 70, 48, 80)
    assert found.value == pytest.approx(0.2)
    assert found[1:3] == newcombe_difference(56, 70, 48, 80)[:2]
    assert difference_of_rates(0, 0, 1, 2).value is None


def test_ratio_at_the_edges() -> None:
    assert ratio_of_rates(5, 50, 0, 50).value is None
    none = ratio_of_rates(0, 50, 5, 50)
    assert none[:2] == (0.0, 0.0)
    assert none.high is not None
    assert none.high > jeffreys(0, 50).high / 0.1  # type: ignore[operator]
    assert "one-sided" in none.method
    assert ratio_of_rates(1, 0, 1, 2).value is None
    there, back = ratio_of_rates(10, 50, 20, 80), ratio_of_rates(20, 80, 10, 50)
    assert there.low == pytest.approx(1 / back.high)  # type: ignore[operator]


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [(3, 5, 1, 6), (0, 4, 3, 5), (2, 3, 2, 7), (4, 4, 4, 4)])
def test_exact_test_by_all_shuffles(x1: int, n1: int, x2: int, n2: int) -> None:
    events = np.array([True] * (x1 + x2) + [False] * (n1 + n2 - x1 - x2))
    counts = np.array([events[list(chosen)].sum() for chosen in itertools.combinations(range(n1 + n2), n1)])
    below, above, at = (counts < x1).mean(), (counts > x1).mean(), (counts == x1).mean()
    assert two_sample_p(x1, n1, x2, n2)[0] == pytest.approx(min(1, 2 * min(below + at / 2, above + at / 2)))


@given(st.integers(1000, 5000), st.integers(1000, 5000), st.floats(0.3, 0.7), st.floats(-2.5, 2.5))
@settings(max_examples=40, deadline=None)
def test_exact_and_score_test_agree_in_large_groups(n1: int, n2: int, rate: float, shift: float) -> None:
    x2 = round(n2 * rate)
    x1 = round(n1 * rate + shift * math.sqrt(n1 * rate * (1 - rate) * (1 + n1 / n2)))
    if not 0 <= x1 <= n1:
        return
    exact, how = two_sample_p(x1, n1, x2, n2)
    score, other = two_sample_p(x1 + 1e-9, n1, x2, n2)
    assert how == "conditional exact mid-p"
    assert other == "score test with effective sizes"
    assert exact == pytest.approx(score, abs=0.01)


def test_very_large_groups_and_far_tails() -> None:
    assert two_sample_p(10**8, 10**9, 10**8, 10**9)[0] == pytest.approx(1.0, abs=1e-3)
    assert two_sample_p(0, 10**6, 10**6, 10**6)[0] == 1e-15
    assert two_sample_p(0, 0, 1, 3)[0] is None


def test_contrast_of_two_groups() -> None:
    one, other = group(PATTERNS, [40, 40, 40, 80]), group(PATTERNS, [20, 60, 60, 260])
    found = contrast(one, other)
    assert found.difference.value == pytest.approx(0.2 - 0.05)
    assert found.difference[1:3] == newcombe_difference(40, 200, 20, 400)[:2]
    assert found.ratio.value == pytest.approx(4)
    first, second = estimate(one), estimate(other)
    assert found.excess_difference.value == pytest.approx(first.difference.value - second.difference.value)  # type: ignore[operator]
    assert found.homogenization_ratio.value == pytest.approx(first.ratio.value / second.ratio.value)  # type: ignore[operator]
    assert found.homogenization_ratio.low is not None
    assert found.homogenization_ratio.low < found.homogenization_ratio.value  # type: ignore[operator]
    assert found.p_value == two_sample_p(40, 200, 20, 400)[0]
    back = contrast(other, one)
    assert back.excess_difference.low == pytest.approx(-found.excess_difference.high)  # type: ignore[operator]
    assert back.homogenization_ratio.low == pytest.approx(1 / found.homogenization_ratio.high)  # type: ignore[operator]


def test_signs_that_disagree_are_said() -> None:
    # One group fails often with a small ratio and a large excess, the other rarely with a large ratio.
    often, rarely = group(PATTERNS, [90, 30, 30, 50]), group(PATTERNS, [10, 10, 10, 170])
    found = contrast(often, rarely)
    assert found.excess_difference.value is not None
    assert found.excess_difference.value > 0
    assert found.homogenization_ratio.value is not None
    assert found.homogenization_ratio.value < 1
    assert found.signs_disagree
    assert not contrast(often, often).signs_disagree


def test_contrast_at_the_edges() -> None:
    full, empty = group(PATTERNS, [10, 20, 20, 50]), group(PATTERNS, [0, 0, 0, 0])
    assert contrast(full, empty).difference.value is None
    assert contrast(full, empty).p_value is None
    none = contrast(full, group(PATTERNS, [0, 10, 10, 80]))
    assert none.ratio.value is None
    assert none.homogenization_ratio.value is None
    assert none.difference.low is not None
    census = contrast(full, full, census=True)
    assert census.difference.value == 0.0
    assert census.difference.low is None
    assert census.p_value is None
    with pytest.raises(ValueError, match="one event"):
        contrast(full, group(PATTERNS, [1, 1, 1, 1], event="same"))


def test_clusters_widen_contrasts_and_few_clusters_have_none(rng: np.random.Generator) -> None:
    effect = np.repeat(rng.normal(0, 1, 40), 25)
    failed = rng.normal(size=(1000, 2)) + effect[:, None] > 0.3
    plain = [group(failed[part], np.ones(500)) for part in (slice(500), slice(500, None))]
    cluster = np.repeat(np.arange(20), 25)
    clustered = [group(failed[part], np.ones(500), cluster=cluster) for part in (slice(500), slice(500, None))]
    narrow, wide = contrast(*plain), contrast(*clustered)
    assert wide.difference.high - wide.difference.low > 1.5 * (narrow.difference.high - narrow.difference.low)  # type: ignore[operator]
    assert wide.p_value > narrow.p_value  # type: ignore[operator]
    few = contrast(*(group(failed[:500], np.ones(500), cluster=cluster % 4) for _ in range(2)))
    assert few.difference.low is None
    assert "4 clusters" in few.difference.reason
    assert few.p_value is None


def test_clusters_over_both_groups_make_the_shares_correlated(rng: np.random.Generator) -> None:
    """Against the covariance of the two shares over resampled clusters."""
    cluster, part = np.repeat(np.arange(50), 20), np.tile([False, True], 500)
    effect = rng.normal(0, 1, 50)[cluster]
    failed = rng.normal(size=(1000, 2)) + effect[:, None] > 0.3
    groups = [group(failed[rows], np.ones(500), cluster=cluster[rows] * 3) for rows in (part, ~part)]
    all_fail = failed.all(axis=1)
    draws = rng.multinomial(50, np.full(50, 1 / 50), 3000)[:, cluster]
    shares = [(draws[:, rows] @ all_fail[rows]) / draws[:, rows].sum(axis=1) for rows in (part, ~part)]
    correlation = contrasts._shared(*groups).correlation
    assert correlation == pytest.approx(np.corrcoef(*shares)[0, 1], abs=0.05)
    assert correlation > 0.3
    difference = contrast(*groups).difference
    apart = group(failed[~part], np.ones(500), cluster=cluster[~part] * 3 + 1)
    assert contrasts._shared(groups[0], apart).correlation == 0.0
    unrelated = contrast(groups[0], apart).difference
    assert difference.value == unrelated.value
    assert difference.high - difference.low < unrelated.high - unrelated.low  # type: ignore[operator]


def test_gap_and_the_gap_expected_without_a_difference(rng: np.random.Generator) -> None:
    sizes = [5, 6, 4]
    events = [4, 1, 2]
    found = max_min_gap(events, sizes, rng, 20000)
    assert found.difference.value == pytest.approx(0.8 - 1 / 6)
    assert (found.highest, found.lowest) == (0, 1)
    assert found.ratio.value == pytest.approx(1 / 6 / 0.8)
    gaps, chances = [], []
    for a, b, c in itertools.product(range(6), range(7), range(5)):
        if a + b + c == 7:
            rates = a / 5, b / 6, c / 4
            gaps.append(max(rates) - min(rates))
            chances.append(math.comb(5, a) * math.comb(6, b) * math.comb(4, c) / math.comb(15, 7))
    assert sum(chances) == pytest.approx(1)
    assert found.expected == pytest.approx(np.dot(gaps, chances), abs=0.01)
    exact = sum(c for g, c in zip(gaps, chances, strict=True) if g >= 0.8 - 1 / 6 - 1e-12)
    assert found.p_value == pytest.approx(exact, abs=0.015)


def test_gap_with_empty_groups_and_without_events(rng: np.random.Generator) -> None:
    found = max_min_gap([0, 3, 0, 1], [0, 10, 0, 10], rng)
    assert (found.highest, found.lowest) == (1, 3)
    assert max_min_gap([3], [10], rng).difference.value is None
    none = max_min_gap([0, 0], [10, 20], rng)
    assert none.difference.value == 0.0
    assert none.ratio.value is None
    assert none.p_value == 1.0
