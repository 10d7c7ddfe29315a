"""Random halves of counts: sizes, whole clusters, the law of a draw, and more individuals than numpy's draw takes."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.halves import half_counts, half_weights

COUNT = np.array([10, 3, 7, 1])


def test_a_half_is_half_of_the_individuals():
    for seed in range(20):
        first = half_counts(COUNT, None, np.random.default_rng(seed))
        assert first.sum() == COUNT.sum() // 2
        assert (first >= 0).all()
        assert (first <= COUNT).all()


def test_each_individual_is_as_often_in_either_half():
    rng = np.random.default_rng(0)
    draws = np.array([half_counts(COUNT, None, rng) for _ in range(4000)])
    total = COUNT.sum()
    assert draws.mean(axis=0) == pytest.approx(COUNT * (total // 2) / total, abs=0.1)
    # hypergeometric, not binomial: the variance has the finite correction
    share = (total // 2) / total
    law = COUNT * share * (1 - share) * (total - COUNT) / (total - 1)
    assert draws.var(axis=0) == pytest.approx(law, rel=0.12)


def test_clusters_stay_whole():
    cluster = np.array([0, 0, 1, 2])
    taken = set()
    for seed in range(30):
        first = half_counts(COUNT, cluster, np.random.default_rng(seed))
        assert all(one in {0, count} for one, count in zip(first, COUNT, strict=True))
        assert (first[0] > 0) == (first[1] > 0)
        taken.add(tuple((first > 0).tolist()))
    assert len(taken) == 3, "one of three clusters at a time"


def test_individuals_of_no_cluster_are_drawn_one_by_one():
    cluster = np.array([0, -1, 1, -1])
    first = half_counts(np.array([5, 40, 5, 40]), cluster, np.random.default_rng(1))
    assert first[1] + first[3] == 40
    assert {int(first[0]), int(first[2])} == {0, 5}


def test_very_many_individuals():
    first = half_counts(np.array([3 * 10**9, 10**9]), None, np.random.default_rng(0))
    assert first / np.array([3e9, 1e9]) == pytest.approx([0.5, 0.5], abs=1e-3)


def test_weights_go_with_the_individuals():
    one, other = half_weights(np.array([4, 0]), np.array([8.0, 0.0]), np.array([1, 0]))
    assert one.tolist() == [2.0, 0.0]
    assert other.tolist() == [6.0, 0.0]
