"""Choosing sets: every set where there are few, an integer program where there are more, greedy with swaps beyond.

The same search is made on all individuals and on random halves, so that what it gains by chance can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.stats.halves import half_counts, half_weights
from polyculture.stats.portfolio.losses import Family, Sums, losses_of, set_sums
from polyculture.stats.portfolio.search import Search, coverage_bound, greedy_set, worst

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from polyculture.audit.portfolio_people import People
    from polyculture.audit.portfolio_question import Question

    Floats = NDArray[np.float64]

MOST_SETS = 20_000  # of which each is looked at
MOST_ENTRIES = {"systemic-failure": 400_000, "majority": 4_000}  # patterns x candidates of an integer program
MOST_NODES = {"systemic-failure": 2_000, "majority": 200}
MOST_WORK = 2e9  # rows x sets x weightings that are looked at for all halves
FEWEST_SPLITS = 5


@dataclass(frozen=True)
class Chosen:
    """The set chosen on everyone, and how sure it is that none is better.

    ``sums`` holds every set that may be chosen, None where there are too many; ``allowed`` which meet the bound.
    """

    places: tuple[int, ...]
    method: str
    exact: bool
    sums: Sums | None = None
    allowed: NDArray[np.bool_] | None = None
    bound: float | None = None
    bound_reason: str = ""


def choose(people: People, asked: Question) -> Chosen:
    """Choose a set on all individuals.

    Returns
    -------
    Chosen
        ``bound`` is a loss below which no set gets, where the search was not exact.
    """
    weights = people.rows.weight[:, None] * people.membership
    if asked.choice != "set" or asked.sets <= MOST_SETS:
        sums = set_sums(people.patterns, asked.families(), asked.loss, weights, people.floor)
        allowed = allowed_sets(sums, people.rates, asked.most)
        values = np.where(allowed, worst(sums.mean), np.inf)
        best = sums.sets[int(np.argmin(values))]
        count = int(allowed.sum())
        bounded = "" if asked.most is None else " within the bound"
        return Chosen(
            best, f"each of the {count:,} sets{bounded} was looked at", exact=True, sums=sums, allowed=allowed
        )
    return _searched(people, asked, weights)


def _searched(people: People, asked: Question, weights: Floats) -> Chosen:
    from polyculture.stats.portfolio.program import solve

    search = _search(people, asked, people.rates, people.floor)
    start = greedy_set(search, weights)
    if len(people.rows.count) * len(asked.candidates) <= MOST_ENTRIES[asked.objective]:
        solved = solve(search, weights, start=start, most_nodes=MOST_NODES[asked.objective])
        if solved.optimal:
            return Chosen(solved.chosen, "integer programming (HiGHS)", exact=True)
        start = solved.chosen
    bound, reason = _bound(people, asked, weights)
    return Chosen(start, "greedy, then swaps of single models", exact=False, bound=bound, bound_reason=reason)


def _search(people: People, asked: Question, rates: Floats, floor: float) -> Search:
    return Search(people.patterns, asked.candidates, asked.size, asked.loss, rates, asked.most, asked.min_judged, floor)


def _bound(people: People, asked: Question, weights: Floats) -> tuple[float | None, str]:
    if asked.objective == "majority":
        return None, "the accuracy of a majority has no such bound"
    if not people.patterns.complete:
        return None, "models judged different individuals, so that whom a set covers has no such bound"
    return coverage_bound(people.patterns, asked.candidates, asked.size, weights), ""


def allowed_sets(sums: Sums, rates: Floats, most: float | None) -> NDArray[np.bool_]:
    """Return which sets have a mean failure rate of at most ``most``, (S,)."""
    if most is None:
        return np.ones(len(sums.sets), dtype=np.bool_)
    means = rates[np.array(sums.sets)].mean(axis=1)
    return np.asarray(means <= most)


@dataclass(frozen=True)
class HeldOut:
    """Sets chosen on halves, and how they do on the other half.

    Attributes
    ----------
    lost, counted : (P,) float64
        For an individual of each row, the mean over splits of its loss under the set chosen without it.
    failure : float
        Mean over halves of the mean failure rate, on the other half, of the set chosen.
    sets : tuple of tuple of int
        The set of each half.
    without : int
        Halves on which no set met the bound, where the one with the least mean failure rate was taken.
    """

    lost: Floats
    counted: Floats
    failure: float
    sets: tuple[tuple[int, ...], ...]
    without: int


def held_out(people: People, asked: Question, chosen: Chosen, generator: Generator, splits: int) -> HeldOut:
    """Choose on random halves and measure on the others; every individual is held out once a split."""
    rows = people.rows
    if chosen.sums is not None:
        work = float(len(rows.count)) * len(people.membership[0]) * 2 * len(asked.families())
        splits = int(np.clip(MOST_WORK / work, FEWEST_SPLITS, splits))
    else:
        splits = min(splits, FEWEST_SPLITS)
    firsts = [half_counts(rows.count, rows.cluster, generator) for _ in range(splits)]
    halves = [half for first in firsts for half in half_weights(rows.count, rows.weight, first)]
    # A model that judged nobody of a half has its rate on everyone there.
    under = (people.rates_under(half) for half in halves)
    rates = [np.where(np.isnan(own), people.rates, own) for own in under]
    sets, without = _sets_of_halves(people, asked, chosen, halves, rates)
    lost, counted = np.zeros(len(rows.count)), np.zeros(len(rows.count))
    for split, first in enumerate(firsts):
        share = first / rows.count
        for half, held in ((2 * split, 1.0 - share), (2 * split + 1, share)):
            own_lost, own_counted = losses_of(people.patterns, sets[half], asked.loss)
            lost += held * own_lost / splits
            counted += held * own_counted / splits
    other = [half + 1 if half % 2 == 0 else half - 1 for half in range(len(halves))]
    failure = float(np.mean([rates[other[half]][list(one)].mean() for half, one in enumerate(sets)]))
    return HeldOut(lost, counted, failure, tuple(sets), without)


def _sets_of_halves(
    people: People, asked: Question, chosen: Chosen, halves: list[Floats], rates: list[Floats]
) -> tuple[list[tuple[int, ...]], int]:
    groups = people.membership.shape[1]
    if chosen.sums is None:
        found, without = [], 0
        for half, own in zip(halves, rates, strict=True):
            weights = half[:, None] * people.membership
            there = weights.sum(axis=0) > 0  # a group may be wholly in the other half
            found.append(greedy_set(_search(people, asked, own, people.floor / 2), weights[:, there]))
            without += asked.most is not None and float(own[list(found[-1])].mean()) > asked.most
        return found, without
    weights = np.concatenate([half[:, None] * people.membership for half in halves], axis=1)
    sums = set_sums(people.patterns, asked.families(), asked.loss, weights)
    found, without = [], 0
    for number, own in enumerate(rates):
        columns = slice(number * groups, (number + 1) * groups)
        counted = sums.counted[:, columns]
        there = counted.any(axis=0)  # a group may be wholly in the other half
        values = worst(Sums(sums.sets, sums.lost[:, columns][:, there], counted[:, there], people.floor / 2).mean)
        allowed = allowed_sets(sums, own, asked.most)
        if not allowed.any():
            without += 1
            values = own[np.array(sums.sets)].mean(axis=1)
        else:
            values = np.where(allowed, values, np.inf)
        found.append(sums.sets[int(np.argmin(values))])
    return found, without


def neighbours(people: People, asked: Question, chosen: tuple[int, ...]) -> Sums:
    """Return the sets one swap away from the chosen one, where there are too many sets to look at each."""
    families = [*Family.swaps(chosen, asked.candidates), Family(chosen[:-1], chosen[-1:])]
    weights = people.rows.weight[:, None] * people.membership
    return set_sums(people.patterns, families, asked.loss, weights, people.floor)
