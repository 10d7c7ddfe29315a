"""Regression over pairs: coefficients, the variance that pairs of one model share, and leaving models out."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.components import (
    Dyads,
    accuracies,
    closeness,
    correlation,
    dyadic_covariance,
    fit,
    jackknife_variance,
    sharing,
)


def table(n=9, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    alike = rng.normal(size=(n, n)) + rng.normal(size=n)[:, None]
    alike = alike + alike.T
    if missing:
        gaps = np.triu(rng.random((n, n)) < missing, 1)
        alike[gaps | gaps.T] = np.nan
    dyads = Dyads.of(alike)
    columns = np.column_stack([np.ones(len(dyads.one)), rng.normal(size=(len(dyads.one), 2))])
    return dyads, columns


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_coefficients_are_least_squares_with_and_without_each_model(missing):
    dyads, x = table(missing=missing)
    known = dyads.known
    found = fit(dyads, x)
    expected, *_ = np.linalg.lstsq(x[known], dyads.response[known], rcond=None)
    assert found.coefficients == pytest.approx(expected)
    assert found.pairs == known.sum()
    residual = dyads.response[known] - x[known] @ expected
    total = ((dyads.response[known] - dyads.response[known].mean()) ** 2).sum()
    assert found.residual_share == pytest.approx((residual**2).sum() / total)
    for model in range(dyads.models):
        kept = known & (dyads.one != model) & (dyads.other != model)
        again, *_ = np.linalg.lstsq(x[kept], dyads.response[kept], rcond=None)
        assert found.without[model] == pytest.approx(again)


def test_the_sandwich_sums_over_pairs_that_share_a_model():
    dyads, x = table()
    beta, *_ = np.linalg.lstsq(x, dyads.response, rcond=None)
    residual = dyads.response - x @ beta
    members = [set(pair) for pair in zip(dyads.one.tolist(), dyads.other.tolist(), strict=True)]
    meat = sum(
        np.outer(x[a], x[b]) * residual[a] * residual[b]
        for a in range(len(members))
        for b in range(len(members))
        if members[a] & members[b]
    )
    bread = np.linalg.inv(x.T @ x)
    literal = bread @ meat @ bread * 9 / 8
    values, vectors = np.linalg.eigh(literal)
    literal = (vectors * np.maximum(values, 0)) @ vectors.T
    assert dyadic_covariance(dyads, x, residual) == pytest.approx(literal)


def test_the_sandwich_is_never_negative():
    for seed in range(30):
        dyads, x = table(5, seed)
        found = fit(dyads, x).covariance
        assert np.linalg.eigvalsh(found).min() > -1e-12
        assert (np.diag(found) >= -1e-12).all()


def test_columns_that_others_determine_have_no_coefficient():
    dyads, x = table()
    found = fit(dyads, np.column_stack([x, x[:, 1] * 2]))
    assert np.isnan(found.coefficients).tolist() == [False, False, False, True]
    assert found.coefficients[:3] == pytest.approx(fit(dyads, x).coefficients)
    # A component that only pairs of one model share is determined once that model is left out.
    codes = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7])
    shared = fit(dyads, np.column_stack([x, sharing(codes, dyads)]))
    assert np.isnan(shared.without[:, 3]).tolist() == [True, True] + [False] * 7


def test_correlation_and_that_without_each_model():
    dyads, x = table(missing=0.1)
    value, without = correlation(dyads, x[:, 1])
    known = dyads.known
    assert value == pytest.approx(np.corrcoef(x[known, 1], dyads.response[known])[0, 1])
    for model in range(dyads.models):
        kept = known & (dyads.one != model) & (dyads.other != model)
        assert without[model] == pytest.approx(np.corrcoef(x[kept, 1], dyads.response[kept])[0, 1])
    assert np.isnan(correlation(dyads, np.ones(len(dyads.one)))[0])


def test_the_jackknife_of_a_mean_of_models_is_its_usual_variance():
    values = np.random.default_rng(1).normal(size=20)
    without = (values.sum() - values[:, None]) / 19
    assert jackknife_variance(without)[0] == pytest.approx(values.var(ddof=1) / 20)


def test_sharing_and_closeness_of_pairs():
    dyads = Dyads.of(np.zeros((4, 4)))
    assert sharing(np.array([2, 2, -1, -1]), dyads).tolist() == [1, 0, 0, 0, 0, 0]
    assert closeness(np.array([0.0, 1.0, 4.0, 4.0]), dyads) == pytest.approx([0.75, 0, 0, 0.25, 0.25, 1])
    assert closeness(np.ones(4), dyads).tolist() == [1] * 6


def test_accuracies_bend_with_mean_and_distance():
    for n, columns in ((12, 5), (24, 9)):
        rates = np.random.default_rng(n).uniform(0.1, 0.5, n)
        dyads = Dyads.of(np.zeros((n, n)))
        found = accuracies(rates, dyads)
        assert found.shape == (n * (n - 1) // 2, columns)
        assert np.linalg.matrix_rank(found) == columns
    assert np.isfinite(accuracies(np.full(12, 0.3), Dyads.of(np.zeros((12, 12))))).all()
