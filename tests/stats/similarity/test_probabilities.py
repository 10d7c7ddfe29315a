"""Variance of CAPA of probabilities: that of leaving out individuals, also where the number of options varies much."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.similarity.capa import capa_expected, capa_probabilities, variance_of_all

N, K = 800, 3


def quantities() -> tuple[np.ndarray, np.ndarray]:
    """Return those of the first pair, (N, 5), and of all, (N, K + 3), of models that are seldom right."""
    rng = np.random.default_rng(8)
    options = rng.choice([2, 12], N)
    score = rng.normal(size=(N, K, 12)) + rng.normal(size=(N, 1, 12))
    score = np.where(np.arange(12) < options[:, None, None], score, -np.inf)
    score[:, :, 0] -= 1.5
    given = np.exp(score) / np.exp(score).sum(axis=2, keepdims=True)
    same = np.einsum("nio,njo->nij", given, given)
    chance = 1 / (options - 1)
    pair = np.column_stack([np.ones(N), same[:, 0, 1], given[:, 0, 0], given[:, 1, 0], chance])
    of_pairs = same[:, 0, 1] + same[:, 0, 2] + same[:, 1, 2]
    return pair, np.column_stack([np.ones(N), of_pairs, given[:, :, 0], chance])


def left_out(values: np.ndarray) -> float:
    """Return the jackknifed variance of one individual's influence."""
    return float((N - 1) ** 2 * np.var(values))


def test_the_variance_of_a_pair_is_jackknifed() -> None:
    pair, _ = quantities()
    whole = pair.T @ pair
    found = capa_probabilities(np.broadcast_to(whole, (2, 2, 5, 5))).variance[0, 1]
    parts = np.stack([whole - np.outer(row, row) for row in pair])
    assert found == pytest.approx(left_out(capa_probabilities(parts).value), rel=0.01)


def test_the_variance_of_all_is_jackknifed() -> None:
    _, every = quantities()
    total = every.sum(axis=0)

    def of_all(sums: np.ndarray) -> float:
        means = sums / sums[0]
        a, observed = means[2 : 2 + K], means[1] / 3
        expected = np.mean([capa_expected(a[i], a[j], means[-1]) for i, j in ((0, 1), (0, 2), (1, 2))])
        return float((observed - expected) / (1 - expected))

    found, items = variance_of_all(every.T @ every)
    assert items == N
    assert found == pytest.approx(left_out(np.array([of_all(total - row) for row in every])), rel=0.01)


def test_nobody_answered_by_all_has_no_variance() -> None:
    assert np.isnan(variance_of_all(np.zeros((6, 6)))[0])
