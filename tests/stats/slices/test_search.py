"""The search over conditions against brute force, and the contrast of two excesses against its interval."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from polyculture.stats.moments import moments
from polyculture.stats.slices import search
from polyculture.stats.slices.contrast import excess_contrast, failure_contrast, z_score
from polyculture.stats.slices.search import Measure, Space, best_slice, cell_sums, members_of

K = 3


def case(seed, rows=600, complete=True):
    """Return codes of three columns, conditions over the cells, and sums of cells."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 3, rows), rng.integers(0, 2, rows), rng.integers(0, 4, rows)])
    judged = np.ones((rows, K), dtype=bool) if complete else rng.random((rows, K)) < 0.9
    judged[:, 0] = True
    inside = (codes[:, 0] == 1) & (codes[:, 2] >= 2)
    failed = judged & ((rng.random((rows, K)) < 0.3) | (inside & (rng.random(rows) < 0.4))[:, None])
    distinct, cell = np.unique(codes, axis=0, return_inverse=True)
    cell = cell.ravel()
    conditions = [(c, v) for c, size in ((0, 3), (1, 2), (2, 4)) for v in range(size)]
    members = np.array([distinct[:, c] == v for c, v in conditions])
    lost = failed.sum(axis=1) == judged.sum(axis=1)
    values = np.column_stack([np.ones(rows), lost, judged, failed]).astype(float)
    space = Space(members, np.array([c for c, _ in conditions]))
    return space, cell, values, cell_sums(cell, len(distinct), values)


@pytest.mark.parametrize("excess", [True, False], ids=["excess", "systemic failure"])
def test_the_best_slice_is_that_of_brute_force(excess):
    for seed in range(5):
        space, cell, values, sums = case(seed)
        measure = Measure(excess, K)
        found = best_slice(space, sums, sums[:, 0], measure, 20)

        def value(rows, values=values):
            n, lost, rates = len(rows), values[rows, 1].mean(), values[rows][:, 5:].mean(axis=0)
            return lost - (rates.prod() if excess else 0.0), n

        everyone, total = value(np.arange(len(values)))
        best, looked = (-np.inf, None), 0
        for depth in (1, 2, 3):
            for chosen in combinations(range(len(space.column)), depth):
                if len({int(space.column[c]) for c in chosen}) < depth:
                    continue
                rows = np.flatnonzero(members_of(space, chosen)[cell])
                if 20 <= len(rows) <= total - 20:
                    looked += 1
                    here, n = value(rows)
                    best = max(best, (np.sqrt(n) * (here - everyone), chosen))
        assert found.conditions == best[1]
        assert found.quality == pytest.approx(best[0])
        assert found.exhaustive
        # children of slices that are too small are too small, and not looked at
        assert found.looked_at == looked


def test_sums_of_cells_are_sums_of_rows():
    space, cell, values, sums = case(1)
    for place in range(len(space.column)):
        rows = space.members[place][cell]
        np.testing.assert_allclose(sums[space.members[place]].sum(axis=0), values[rows].sum(axis=0))


def test_unequal_judged_sets_are_searched_by_shares():
    space, _, _, sums = case(2, complete=False)
    found = best_slice(space, sums, sums[:, 0], Measure(True, K), 20)
    assert {int(space.column[c]) for c in found.conditions} <= {0, 2}


def test_where_too_many_pairs_are_the_best_ones_are_extended(monkeypatch):
    space, _, _, sums = case(3)
    whole = best_slice(space, sums, sums[:, 0], Measure(True, K), 20)
    monkeypatch.setattr(search, "MOST_PAIRS", 3)
    monkeypatch.setattr(search, "BEAM", 3)
    found = best_slice(space, sums, sums[:, 0], Measure(True, K), 20)
    assert not found.exhaustive
    assert found.looked_at < whole.looked_at
    assert found.quality <= whole.quality


def test_nothing_large_enough_is_none():
    space, _, _, sums = case(4)
    assert best_slice(space, sums, sums[:, 0], Measure(True, K), 301) is None


def groups(seed, share, rows=400):
    rng = np.random.default_rng(seed)
    failed = (rng.random((rows, K)) < 0.3) | (rng.random(rows) < share)[:, None]
    return moments(np.ones_like(failed), failed, np.ones(rows))


def test_the_p_value_is_the_level_at_which_the_interval_reaches_0():
    inside, outside = groups(0, 0.22), groups(1, 0.12)
    found = excess_contrast(inside, outside)
    assert (found.p_value < 0.05) == (found.difference.low > 0 or found.difference.high < 0)
    turned = excess_contrast(outside, inside)
    assert turned.p_value == pytest.approx(found.p_value, rel=1e-6)
    assert turned.difference.value == pytest.approx(-found.difference.value)
    same = excess_contrast(inside, inside)
    assert same.p_value == 1.0


def test_p_values_of_equal_excess_are_small_as_often_as_they_should():
    p = np.array([excess_contrast(groups(2 * s, 0.15), groups(2 * s + 1, 0.15)).p_value for s in range(300)])
    # 300 draws at 5 %: a rate above 8.5 % has a chance of less than 1 %
    assert (p < 0.05).mean() < 0.085
    assert (p < 0.05).mean() > 0.01
    assert np.abs(np.corrcoef(p, np.arange(300))[0, 1]) < 0.2


def test_an_excess_is_not_a_high_rate():
    """Higher rates without more sharing: systemic failure differs, the excess does not."""
    rng = np.random.default_rng(5)
    high, low = rng.random((4000, K)) < 0.5, rng.random((4000, K)) < 0.2
    one, other = (moments(np.ones_like(f), f, np.ones(len(f))) for f in (high, low))
    assert failure_contrast(one, other).p_value < 1e-6
    assert excess_contrast(one, other).p_value > 0.01


def test_the_quick_score_goes_with_the_test():
    for share in (0.1, 0.2, 0.3):
        inside, outside = groups(3, share), groups(4, 0.1)
        z, p = z_score(inside, outside, excess=True), excess_contrast(inside, outside).p_value
        assert (z > 3.3) == (p < 0.001) or 2.5 < z < 4.5
