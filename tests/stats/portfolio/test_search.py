"""Sets of models: sums against brute force, the integer program and greedy against it, the bound, random sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from polyculture.stats.portfolio.losses import (
    Family,
    Loss,
    Patterns,
    family_losses,
    loss_of,
    losses_of,
    random_losses,
    set_sums,
)
from polyculture.stats.portfolio.program import solve
from polyculture.stats.portfolio.search import Search, coverage_bound, greedy_set, worst

K, P = 6, 40
OBJECTIVES = ("systemic-failure", "majority")


def case(seed, *, groups=1, complete=True):
    rng = np.random.default_rng(seed)
    judged = np.ones((P, K), dtype=bool) if complete else rng.random((P, K)) < 0.7
    failed = judged & (rng.random((P, K)) < np.linspace(0.2, 0.6, K))
    weights = np.zeros((P, groups))
    weights[np.arange(P), rng.integers(0, groups, P)] = rng.integers(1, 9, P)
    rates = (weights.sum(axis=1) @ failed) / (weights.sum(axis=1) @ judged)
    return Patterns(judged, failed), weights, rates


def by_hand(patterns, chosen, objective, least, weights):
    """Return the loss of a set in its worst group, individual by individual."""
    worst_rate = 0.0
    for g in range(weights.shape[1]):
        lost = counted = 0.0
        for row in range(len(weights)):
            judged = [j for j in chosen if patterns.judged[row, j]]
            wrong = sum(bool(patterns.failed[row, j]) for j in judged)
            if objective == "systemic-failure":
                counts, loss = len(judged) >= least, float(wrong == len(judged))
            else:
                counts = len(judged) >= 1
                loss = 1.0 if 2 * wrong > len(judged) else 0.5 if 2 * wrong == len(judged) else 0.0
            lost += weights[row, g] * loss * counts
            counted += weights[row, g] * counts
        worst_rate = max(worst_rate, lost / counted)
    return worst_rate


@pytest.mark.parametrize("complete", [True, False], ids=["all judged", "unequal sets"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_sums_are_those_of_every_set_by_hand(objective, complete):
    patterns, weights, _ = case(1, groups=2, complete=complete)
    for size in (1, 2, 3):
        loss = loss_of(objective, size, 2)
        sums = set_sums(patterns, list(Family.of_size(range(K), size)), loss, weights)
        assert sums.sets == tuple(combinations(range(K), size))
        for chosen, mean in zip(sums.sets, sums.mean, strict=True):
            assert mean.max() == pytest.approx(by_hand(patterns, chosen, objective, min(2, size), weights))


def test_swaps_and_additions_are_all_there():
    swaps = [one for family in Family.swaps((0, 2), (0, 1, 2, 3)) for one in family.sets]
    assert sorted(swaps) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert [one for family in Family.additions((0, 2), (0, 1, 3)) for one in family.sets] == [(0, 1, 2), (0, 2, 3)]


@pytest.mark.parametrize("bound", [None, 1.15], ids=["free", "bounded"])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("complete", [True, False], ids=["all judged", "unequal sets"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_program_finds_what_brute_force_finds(objective, complete, groups, bound):
    for seed in (2, 3):
        patterns, weights, rates = case(seed, groups=groups, complete=complete)
        for size in (2, 3, 4):
            most = None if bound is None else float(np.sort(rates)[:size].mean() * bound)
            loss = loss_of(objective, size, 2)
            search = Search(patterns, tuple(range(K)), size, loss, rates, most)
            best = min(
                by_hand(patterns, chosen, objective, loss.least, weights)
                for chosen in combinations(range(K), size)
                if most is None or rates[list(chosen)].mean() <= most
            )
            start = greedy_set(search, weights)
            found = solve(search, weights, start=start)
            assert found.optimal
            assert found.value == pytest.approx(best)
            assert by_hand(patterns, found.chosen, objective, loss.least, weights) == pytest.approx(best)
            assert search.allowed([found.chosen, start]).all()
            assert search.value(start, weights) >= best - 1e-12


@pytest.mark.parametrize("groups", [1, 3])
def test_no_set_is_below_the_bound(groups):
    tight = 0
    for seed in range(20):
        patterns, weights, _ = case(seed, groups=groups)
        for size in (2, 3):
            sums = set_sums(
                patterns, list(Family.of_size(range(K), size)), loss_of("systemic-failure", size, 2), weights
            )
            best, bound = float(worst(sums.mean).min()), coverage_bound(patterns, range(K), size, weights)
            assert bound <= best + 1e-12
            tight += bound > 0
    assert tight, "a bound of 0 everywhere would say nothing"
    with pytest.raises(ValueError, match="judged everyone"):
        coverage_bound(case(0, complete=False)[0], range(K), 2, np.ones((P, 1)))


@pytest.mark.parametrize("complete", [True, False], ids=["all judged", "unequal sets"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_random_set_is_the_mean_over_all_sets(objective, complete):
    patterns, _, _ = case(4, complete=complete)
    candidates = (0, 1, 3, 4, 5)
    for size in (1, 2, 4):
        loss = loss_of(objective, size, 2)
        every = [losses_of(patterns, chosen, loss) for chosen in combinations(candidates, size)]
        lost, counted = random_losses(patterns, candidates, size, loss)
        assert lost == pytest.approx(np.mean([one for one, _ in every], axis=0))
        assert counted == pytest.approx(np.mean([one for _, one in every], axis=0))
        lost, counted = family_losses(patterns, list(Family.of_size(candidates, size)), loss)
        assert lost == pytest.approx(np.mean([one for one, _ in every], axis=0))
        assert counted == pytest.approx(np.mean([one for _, one in every], axis=0))


def test_a_tie_is_half_of_a_majority():
    loss = Loss("majority", 1)
    assert loss.lost(np.array([2, 2, 2, 0]), np.array([0, 1, 2, 0])).tolist() == [0.0, 0.5, 1.0, 0.0]
