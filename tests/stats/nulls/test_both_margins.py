"""Curveball trades: margins stay, draws are uniform over tables, and only the spread of pairs is tested."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from polyculture.stats.nulls.both_margins import _Counts, _Individuals, _sweep, spread_p_value
from polyculture.stats.nulls.protocol import Table


def table(failed, judged=None):
    judged = np.ones_like(failed, dtype=bool) if judged is None else judged
    return Table(judged, failed.astype(float), np.ones(len(failed)))


def test_trades_of_counts_keep_both_margins(rng):
    failed = rng.random((500, 5)) < 0.4
    chain = _Counts(failed.astype(float), np.ones(500, dtype=int))
    bits = chain._bits
    before = chain.cells @ bits, np.bincount(bits.sum(1).astype(int), chain.cells)
    for _ in range(50):
        first, second = rng.choice(5, 2, replace=False)
        chain.trade(int(first), int(second), rng)
    assert (chain.cells >= 0).all()
    np.testing.assert_array_equal(chain.cells @ bits, before[0])
    np.testing.assert_array_equal(np.bincount(bits.sum(1).astype(int), chain.cells), before[1])


def test_trades_of_individuals_keep_margins_and_who_judged(rng):
    judged = rng.random((200, 6)) < 0.8
    failed = (rng.random((200, 6)) < 0.4) & judged
    chain = _Individuals(failed, judged)
    for _ in range(100):
        first, second = rng.choice(6, 2, replace=False)
        chain.trade(int(first), int(second), rng)
    assert not (chain.failed & ~chain.judged).any()
    np.testing.assert_array_equal(chain.failed.sum(0), failed.sum(1))
    np.testing.assert_array_equal(chain.failed.sum(1), failed.sum(0))
    assert (failed != chain.failed.T).any()


def test_draws_are_uniform_over_all_tables_with_the_margins(rng):
    """Of 3 models and 4 individuals all tables can be listed."""
    start = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    rows, columns = start.sum(1), start.sum(0)
    every = [
        t
        for t in (np.array(bits, dtype=bool).reshape(4, 3) for bits in product([0, 1], repeat=12))
        if (t.sum(1) == rows).all() and (t.sum(0) == columns).all()
    ]
    individuals = _Individuals(start, np.ones_like(start))
    counts = _Counts(start.astype(float), np.ones(4, dtype=int))
    pairs = [(0, 1), (0, 2), (1, 2)]
    seen: Counter[bytes] = Counter()
    by_count: Counter[bytes] = Counter()
    draws = 6000
    for _ in range(draws):
        _sweep(individuals, pairs, 6, rng)
        _sweep(counts, pairs, 6, rng)
        seen[individuals.failed.T.tobytes()] += 1
        by_count[counts.cells.tobytes()] += 1
    assert len(seen) == len(every)
    chi = sum((seen[t.tobytes()] - draws / len(every)) ** 2 / (draws / len(every)) for t in every)
    assert chi < len(every) + 5 * np.sqrt(2 * len(every))
    expected: Counter[bytes] = Counter()
    for t in every:
        expected[_Counts(t.astype(float), np.ones(4, dtype=int)).cells.tobytes()] += draws / len(every)
    assert set(by_count) == set(expected)
    chi = sum((by_count[key] - size) ** 2 / size for key, size in expected.items())
    assert chi < len(expected) + 5 * np.sqrt(2 * len(expected))


def test_a_family_is_found_and_difficulty_alone_is_not(rng):
    n = 1500
    z = rng.normal(size=(n, 1))
    rasch = rng.random((n, 6)) < 1 / (1 + np.exp(1 - 1.5 * z))
    family = rasch.copy()
    copied = rng.random(n) < 0.5
    family[copied, 1] = family[copied, 0]
    assert spread_p_value(table(family), rng).p_value == pytest.approx(0.005)
    ps = [
        spread_p_value(table(rng.random((400, 5)) < 1 / (1 + np.exp(1 - 1.5 * rng.normal(size=(400, 1))))), rng, 39)
        for _ in range(40)
    ]
    assert sum(one.p_value < 0.05 for one in ps) <= 6


def test_many_models_are_tested_on_a_stated_sample(rng):
    z = rng.normal(size=(25_000, 1))
    failed = rng.random((25_000, 14)) < 1 / (1 + np.exp(1 - z))
    found = spread_p_value(table(failed), rng, 19)
    assert "20,000 individuals" in found.method
    assert found.p_value is not None


def test_two_models_have_one_pair_and_no_spread(rng):
    found = spread_p_value(table(rng.random((50, 2)) < 0.5), rng)
    assert found.p_value is None
    assert "fewer than three models" in found.method
