"""Shapley shares: against the definition by orders, what they add up to, and recovery of a known share."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from polyculture.stats.components import MOST_PLAYERS, Dyads, shapley_shares, sharing
from polyculture.stats.intervals import quantile


def ecosystem(seed=0, n=14, players=3):
    rng = np.random.default_rng(seed)
    dyads = Dyads.of(np.zeros((n, n)))
    shared = np.column_stack([sharing(rng.integers(4, size=n), dyads) for _ in range(players)])
    noise = rng.normal(size=(n, n)) * 0.05
    covariates = np.column_stack([np.ones(len(shared)), rng.normal(size=len(shared))])
    alike = 0.3 + 0.2 * shared[:, 0] + 0.1 * shared[:, 1] + 0.02 * covariates[:, 1]
    square = dyads.square(alike) + (noise + noise.T) / 2
    return Dyads.of(square), shared, covariates


def literal(y, shared, covariates):
    def value(members):
        if not members:
            return 0.0
        columns = np.column_stack([covariates, shared[:, members]])
        beta, *_ = np.linalg.lstsq(columns, y, rcond=None)
        return float(beta[covariates.shape[1] :] @ shared[:, members].mean(axis=0)) / y.mean()

    m = shared.shape[1]
    found = np.zeros(m)
    orders = list(permutations(range(m)))
    for order in orders:
        for place, player in enumerate(order):
            found[player] += value(sorted(order[: place + 1])) - value(sorted(order[:place]))
    return found / len(orders)


def test_shares_are_means_over_orders_and_add_up():
    dyads, shared, covariates = ecosystem()
    found = shapley_shares(dyads, shared, covariates)
    assert found.share == pytest.approx(literal(dyads.response, shared, covariates))
    assert found.share.sum() + found.rest == pytest.approx(1)
    assert found.excess == pytest.approx(dyads.response.mean())


def test_intervals_are_the_jackknife_over_models():
    dyads, shared, covariates = ecosystem()
    found = shapley_shares(dyads, shared, covariates)
    without = []
    for model in range(dyads.models):
        kept = (dyads.one != model) & (dyads.other != model)
        without.append(literal(dyads.response[kept], shared[kept], covariates[kept]))
    spread = np.sqrt(((without - np.mean(without, axis=0)) ** 2).sum(axis=0) * 13 / 14)
    half = quantile(clusters=14) * spread
    assert found.high == pytest.approx(found.share + half)
    assert found.low == pytest.approx(found.share - half)


def test_pairs_without_a_likeness_take_no_part():
    dyads, shared, covariates = ecosystem()
    response = dyads.response.copy()
    response[[3, 20, 41]] = np.nan
    gaps = Dyads(dyads.models, dyads.one, dyads.other, response)
    kept = gaps.known
    found = shapley_shares(gaps, shared, covariates)
    assert found.share == pytest.approx(literal(response[kept], shared[kept], covariates[kept]))


def test_a_known_share_is_recovered_and_nothing_where_nothing_is_shared():
    held, nothing = [], []
    for seed in range(60):
        dyads, shared, covariates = ecosystem(seed, 20)
        found = shapley_shares(dyads, shared, covariates)
        true = np.array([0.2, 0.1, 0.0]) * shared.mean(axis=0) / dyads.response.mean()
        held.append((found.low <= true) & (true <= found.high))
        nothing.append(found.low[2] <= 0 <= found.high[2])
    assert np.mean(held) >= 0.93
    assert np.mean(nothing) >= 0.93


def test_too_many_components_are_refused():
    dyads, shared, covariates = ecosystem(players=2)
    with pytest.raises(ValueError, match="2048 regressions"):
        shapley_shares(dyads, np.tile(shared[:, :1], MOST_PLAYERS + 1), covariates)
