"""Independence within strata: its expectation, the jackknife, its influence values and its draws."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.nulls.protocol import Table
from polyculture.stats.nulls.strata import Strata, draw_counts, fit_strata, held_out


def strata_of(failed, stratum, judged=None):
    judged = np.ones_like(failed, dtype=bool) if judged is None else judged
    return Strata(Table(judged, (failed & judged).astype(float), np.ones(len(failed))), stratum)


def drawn(rng, n=60, k=3, groups=4):
    stratum = rng.integers(0, groups, n)
    return rng.random((n, k)) < (0.25 + 0.1 * stratum[:, None]), stratum


def plain(failed, stratum, judged):
    """Sum of expected failures of each stratum, by the definition."""
    found = {}
    for g in np.unique(stratum):
        ours, own = failed[stratum == g], judged[stratum == g]
        rates = (ours & own).sum(0) / np.maximum(own.sum(0), 1)
        found[g] = sum(np.prod(rates[row]) if row.any() else 0.0 for row in own)
    return found


@pytest.mark.parametrize("complete", [True, False])
def test_expected_and_jackknife_are_those_of_the_definition(rng, complete):
    failed, stratum = drawn(rng)
    judged = np.ones_like(failed) if complete else rng.random(failed.shape) < 0.8
    failed = failed & judged
    fit = fit_strata(strata_of(failed, stratum, judged))
    sums = plain(failed, stratum, judged)
    assert fit.expected == pytest.approx(sum(sums.values()) / len(failed))
    corrected = 0.0
    for g, whole in sums.items():
        rows = np.flatnonzero(stratum == g)
        n = len(rows)
        means = []
        for left in rows:
            kept = rows[rows != left]
            means.append(plain(failed[kept], stratum[kept], judged[kept])[g] / (n - 1))
        corrected += max(n * (whole - (n - 1) * np.mean(means)), 0.0)
    assert fit.corrected == pytest.approx(corrected / len(failed), rel=1e-9)


def test_jackknife_takes_off_what_small_strata_add(rng):
    """Failures shared inside strata of 12: the plain product is too high, the corrected one is not."""
    plains, corrected = [], []
    for _ in range(150):
        hard = rng.random((600, 1)) < 0.3
        failed = rng.random((600, 3)) < np.where(hard, 0.8, 0.1)
        fit = fit_strata(strata_of(failed, np.arange(600) // 12))
        plains.append(fit.expected)
        corrected.append(fit.corrected)
    truth = 0.31**3
    assert np.mean(plains) > truth * 1.2
    assert np.mean(corrected) == pytest.approx(truth, rel=0.05)


def test_influence_is_the_derivative_by_weight(rng):
    failed, stratum = drawn(rng, n=40)
    judged = rng.random(failed.shape) < 0.8
    base = strata_of(failed, stratum, judged)
    fit = fit_strata(base)
    n = len(failed)
    for row in (0, 7, 23):
        more = base.table.count.copy()
        more[row] += 1e-6
        moved = fit_strata(Strata(base.table.take(np.arange(n), more), stratum))
        slope = (np.log(moved.expected) - np.log(fit.expected)) / 1e-6
        assert slope * n == pytest.approx(fit.influence[row], rel=1e-3, abs=1e-3)


def test_draws_keep_margins_and_have_the_expected_mean(rng):
    failed, stratum = drawn(rng, n=300)
    strata = strata_of(failed, stratum)
    counts = draw_counts(strata, 4000, rng)
    fit = fit_strata(strata)
    mean, error = counts.mean() / 300, counts.std() / 300 / np.sqrt(4000)
    assert mean == pytest.approx(fit.expected, abs=4 * error)


def test_one_stratum_is_independence_and_parameters_are_rates(rng):
    failed, _ = drawn(rng, n=200)
    fit = fit_strata(strata_of(failed, np.zeros(200, dtype=int)))
    assert fit.expected == pytest.approx(np.prod(failed.mean(0)))
    assert (fit.parameters, fit.strata) == (3, 1)
    assert fit.profile.sum() == pytest.approx(1.0)


def test_held_out_likelihood_meets_strata_that_it_never_saw(rng):
    failed, stratum = drawn(rng, n=80)
    other = strata_of(failed, np.full(80, 9))
    value = held_out(strata_of(failed, stratum), other)
    rates = failed.mean(0)
    expected = (np.log(rates) * failed + np.log1p(-rates) * ~failed).sum()
    assert value == pytest.approx(expected)
