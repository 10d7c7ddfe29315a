"""Tests by permuting models: against a literal second derivation, at their level under the null, and with power."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from polyculture.stats.components import Dyads, qap, sharing


def t_value(y, x, covariates):
    design = np.column_stack([x, covariates])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ beta
    variance = residual @ residual / (len(y) - design.shape[1])
    return beta[0] / np.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0])


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_the_p_value_is_that_of_refitted_regressions(missing):
    rng = np.random.default_rng(3)
    n = 10
    alike = rng.normal(size=(n, n))
    alike = alike + alike.T
    gaps = np.triu(rng.random((n, n)) < missing, 1)
    alike[gaps | gaps.T] = np.nan
    dyads = Dyads.of(alike)
    known = dyads.known
    column = sharing(rng.integers(3, size=n), dyads)
    covariates = np.column_stack([np.ones(45), rng.normal(size=45) + column])
    found = qap(dyads, column, covariates, np.random.default_rng(7), 99)
    again = np.random.default_rng(7)
    beta, *_ = np.linalg.lstsq(covariates[known], column[known], rcond=None)
    residual = dyads.square(column - covariates @ beta)
    y, z = dyads.response[known], covariates[known]
    one, other = dyads.one[known], dyads.other[known]
    observed = t_value(y, residual[one, other], z)
    drawn = []
    for _ in range(99):
        order = again.permutation(n)
        drawn.append(t_value(y, residual[np.ix_(order, order)][one, other], z))
    extreme = sum(abs(t) >= abs(observed) - 1e-9 for t in drawn)
    assert found.p_value == (1 + extreme) / 100
    assert found.permutations == 99
    # The t of the residual is that of the column itself, and the partial correlation follows from it.
    assert observed == pytest.approx(t_value(y, column[known], z))
    degrees = known.sum() - 3
    assert found.correlation == pytest.approx(observed / np.sqrt(observed**2 + degrees))


def test_single_precision_gives_the_same_p_value(monkeypatch):
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(30, 30))
    dyads = Dyads.of(noise + noise.T)
    column = sharing(rng.integers(5, size=30), dyads)
    ones = np.ones((len(column), 1))
    double = qap(dyads, column, ones, np.random.default_rng(1), 199)
    monkeypatch.setattr(sys.modules["polyculture.stats.components.qap"], "_MANY", 10)
    single = qap(dyads, column, ones, np.random.default_rng(1), 199)
    assert single.p_value == double.p_value
    assert single.correlation == pytest.approx(double.correlation, abs=1e-5)


def test_what_does_not_vary_is_undefined():
    dyads = Dyads.of(np.random.default_rng(0).normal(size=(6, 6)))
    ones = np.ones((15, 1))
    assert np.isnan(qap(dyads, np.ones(15), ones, np.random.default_rng(0)).p_value)
    flat = Dyads.of(np.ones((6, 6)))
    assert np.isnan(qap(flat, sharing(np.arange(6) // 2, flat), ones, np.random.default_rng(0)).p_value)


def test_models_that_stand_out_are_no_reason_to_reject():
    """Pairs of one model move together: a test that permutes pairs rejects far too often here."""
    rng = np.random.default_rng(11)
    rejected = []
    for _ in range(200):
        own = rng.normal(size=12)
        alike = own[:, None] + own + 0.3 * rng.normal(size=(12, 12))
        dyads = Dyads.of((alike + alike.T) / 2)
        column = sharing(rng.integers(4, size=12), dyads)
        if column.any():
            rejected.append(qap(dyads, column, np.ones((66, 1)), rng, 99).p_value <= 0.05)
    assert len(rejected) > 190
    assert np.mean(rejected) <= 0.08


def test_a_column_is_tested_beyond_the_one_it_goes_with():
    rng = np.random.default_rng(12)
    wrong, right = [], []
    for _ in range(60):
        first = rng.integers(4, size=14)
        second = np.where(rng.random(14) < 0.6, first, rng.integers(4, size=14))
        noise = 0.5 * rng.normal(size=(14, 14))
        alike = (first[:, None] == first) + (noise + noise.T) / 2
        dyads = Dyads.of(alike)
        a, b = sharing(first, dyads), sharing(second, dyads)
        ones = np.ones(91)
        wrong.append(qap(dyads, b, np.column_stack([ones, a]), rng, 99).p_value <= 0.05)
        right.append(qap(dyads, a, np.column_stack([ones, b]), rng, 99).p_value <= 0.05)
    assert np.mean(wrong) <= 0.12
    assert np.mean(right) >= 0.9
