"""The profile test by shuffling against the one that draws histograms."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.independence import profile_p_value
from polyculture.stats.profile_permutation import permutation_cost, profile_p_by_permutation


def table(seed, excess, n=300, k=4, missing=0.3):
    rng = np.random.default_rng(seed)
    judged = rng.random((n, k)) >= missing
    failed = (rng.random((n, k)) < 0.3 + excess * (rng.random((n, 1)) < 0.3)) & judged
    return judged, failed, np.ones(n, dtype=np.int64)


@pytest.mark.parametrize(("seed", "excess"), [(0, 0.0), (1, 0.0), (2, 0.15), (3, 0.2), (4, 0.6)])
def test_both_tests_agree(seed, excess):
    data = table(seed, excess)
    ours, _ = profile_p_by_permutation(*data, np.random.default_rng(seed))
    theirs, _ = profile_p_value(*data, np.random.default_rng(seed))
    assert ours == pytest.approx(theirs, abs=0.07)


def test_rejects_at_its_level_under_independence():
    p_values = [profile_p_by_permutation(*table(s, 0.0, n=120), np.random.default_rng(s), 199)[0] for s in range(150)]
    assert sum(p <= 0.05 for p in p_values) <= 15
    assert 0.4 < np.mean(p_values) < 0.6


def test_counts_stand_for_individuals():
    judged, failed, _ = table(5, 0.2, n=60)
    one = profile_p_by_permutation(judged, failed, np.full(60, 4), np.random.default_rng(1))
    other = profile_p_by_permutation(
        np.repeat(judged, 4, axis=0), np.repeat(failed, 4, axis=0), np.ones(240, int), np.random.default_rng(1)
    )
    assert one[0] == pytest.approx(other[0], abs=0.05)


def test_too_many_individuals_are_refused_and_many_get_fewer_draws():
    assert permutation_cost(100, 10) == 999 * 1000
    assert 99 * 10**6 <= permutation_cost(50_000, 20) < 999 * 10**6
    assert permutation_cost(10**7, 20) == 0
    ones = np.ones((1, 2), dtype=bool)
    p, why = profile_p_by_permutation(ones, ones, [10**9], np.random.default_rng(0))
    assert p is None
    assert "too many" in why


def test_nothing_to_test_with_one_judgement_each():
    judged = np.eye(3, dtype=bool)
    assert profile_p_by_permutation(judged, judged, [5, 5, 5], np.random.default_rng(0))[0] is None
