"""Paired differences: a published value, a second derivation, coverage, and the exact test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from polyculture.stats.paired_rates import mcnemar, mean_change, newcombe_paired, wald_test


def second_derivation(both: int, first: int, second: int, n: int) -> tuple[float, float]:
    """Write method 10 out by its formulas, with Wilson limits as roots of a quadratic."""
    z = norm.ppf(0.975)

    def wilson(x: int) -> tuple[float, float]:
        # (p - x/n)^2 = z^2 p (1 - p) / n
        low, high = sorted(np.roots([1 + z**2 / n, -2 * x / n - z**2 / n, (x / n) ** 2]).real)
        return low, high

    before, after, neither = both + first, both + second, n - both - first - second
    top = both * neither - first * second
    below = before * (n - before) * after * (n - after)
    phi = 0.0 if below == 0 else (max(top - n / 2, 0) if top > 0 else top) / math.sqrt(below)
    (l1, u1), (l2, u2) = wilson(after), wilson(before)
    p1, p2 = after / n, before / n
    low = p1 - p2 - math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = p1 - p2 + math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    return low, high


def test_the_published_airway_example() -> None:
    """Fagerland, Lydersen and Laake (2014): 21 children, 1 / 1 / 7 / 12; -.507 to -.026, exact McNemar .070."""
    found = newcombe_paired(1, 7, 1, 21)
    assert (round(found.low or 0, 3), round(found.high or 0, 3)) == (-0.507, -0.026)
    assert round(mcnemar(7, 1)[0] or 0, 3) == 0.070


@pytest.mark.parametrize("counts", [(53, 16, 8, 80), (0, 0, 0, 10), (10, 0, 0, 10), (0, 3, 9, 30), (1, 40, 0, 60)])
def test_a_second_derivation_gives_the_same(counts: tuple[int, int, int, int]) -> None:
    found = newcombe_paired(*counts)
    assert (found.low, found.high) == pytest.approx(second_derivation(*counts), abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high


def test_swapping_before_and_after_mirrors_the_interval() -> None:
    one, other = newcombe_paired(20, 7, 15, 90), newcombe_paired(20, 15, 7, 90)
    assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)))


def test_coverage_of_the_paired_interval() -> None:
    rng = np.random.default_rng(5)
    n, p, repeats = 120, [0.08, 0.12, 0.06, 0.74], 1500
    true = p[2] - p[1]
    inside = 0
    for both, first, second, _ in rng.multinomial(n, p, size=repeats):
        found = newcombe_paired(both, first, second, n)
        inside += (found.low or 0) <= true <= (found.high or 0)
    assert 0.93 <= inside / repeats <= 0.98


@pytest.mark.parametrize(("first", "second"), [(0, 1), (3, 9), (12, 12), (200, 260)])
def test_mcnemar_is_the_binomial_test_of_those_who_changed(first: int, second: int) -> None:
    assert mcnemar(first, second)[0] == pytest.approx(binomtest(first, first + second).pvalue)


def test_nobody_changed_is_no_test() -> None:
    assert mcnemar(0, 0)[0] is None


def test_very_many_changes_meet_the_exact_test() -> None:
    exact = binomtest(50_400, 100_801).pvalue
    assert mcnemar(50_400, 50_401)[0] == pytest.approx(exact, rel=0.01)


def test_mean_change_is_the_paired_t_interval_of_rows() -> None:
    rng = np.random.default_rng(2)
    rows = rng.choice([-0.5, 0.0, 0.5], 400, p=[0.3, 0.5, 0.2])
    values, count = np.unique(rows, return_counts=True)
    mean, variance, interval = mean_change(values, count, weight_squared=400, count=400)
    assert mean == pytest.approx(rows.mean())
    assert variance == pytest.approx(rows.var(ddof=1) / 400)
    assert interval.high == pytest.approx(rows.mean() + norm.ppf(0.975) * math.sqrt(rows.var(ddof=1) / 400))


def test_clusters_of_alike_individuals_widen_the_mean() -> None:
    values, weight, cluster = np.tile([-1.0, 1.0], 20), np.full(40, 10.0), np.repeat(np.arange(40), 1)
    plain = mean_change(values, weight, weight_squared=400, count=400)
    clustered = mean_change(values, weight, weight_squared=400, count=400, cluster=cluster)
    assert clustered[1] == pytest.approx(10 * plain[1], rel=0.05)
    few = mean_change(values, weight, weight_squared=400, count=400, cluster=cluster % 4)
    assert few[2].low is None
    assert "4 clusters" in few[2].reason


def test_nothing_varies_has_no_interval() -> None:
    assert mean_change([0.0], [50], weight_squared=50, count=50)[2].low is None
    assert wald_test(0.1, 0.0)[0] is None
    assert wald_test(0.1, 0.01, clusters=4)[0] is None
