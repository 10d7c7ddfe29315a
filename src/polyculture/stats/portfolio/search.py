"""Sets of models where there are too many to look at each: greedy, then swaps, and a bound on the best.

Every step is deterministic: of equal losses the set with the earlier models is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.portfolio.losses import Family, Loss, Patterns, loss_of, set_sums

__all__ = ["Search", "coverage_bound", "greedy_set", "worst"]

_MOST_SWAPS = 50


def worst(mean: Floats) -> Floats:
    """Return the loss of the worst group of each set: (S, G) gives (S,)."""
    return np.asarray(mean.max(axis=1))


@dataclass(frozen=True, eq=False)
class Search:
    """Among which sets the best is looked for.

    Attributes
    ----------
    patterns : Patterns
        P rows of k models.
    candidates : tuple of int
        Places of the models that may be chosen.
    size : int
        How many to choose.
    loss : Loss
        Of sets of that size.
    rates : (k,) float64
        Failure rate of each model.
    most : float, optional
        Highest mean of the rates of the chosen models.
    min_judged : int
        For sets that are smaller than ``size`` still.
    floor : float
        Least weight, in every group, of those who count for a set.
    """

    patterns: Patterns
    candidates: tuple[int, ...]
    size: int
    loss: Loss
    rates: Floats
    most: float | None = None
    min_judged: int = 2
    floor: float = 0.0

    def allowed(self, sets: Sequence[Sequence[int]]) -> Bools:
        """Return which sets meet the bound on the mean rate, (S,)."""
        if self.most is None:
            return np.ones(len(sets), dtype=np.bool_)
        return np.asarray(self.rates[np.array(sets)].mean(axis=1) <= self.most)

    def value(self, chosen: tuple[int, ...], weights: Floats) -> float:
        """Return the loss of one set in its worst group."""
        sums = set_sums(self.patterns, [Family(chosen[:-1], chosen[-1:])], self.loss, weights, self.floor)
        return float(worst(sums.mean)[0])


def greedy_set(search: Search, weights: Floats) -> tuple[int, ...]:
    """Choose models one by one, each the best beside those before, then swap single members while that helps.

    Parameters
    ----------
    search : Search
        Among which sets.
    weights : (P, G) float64
        Weight of each row in each group; the worst group counts.

    Returns
    -------
    tuple of int
        Sorted places; meets the bound wherever any set does.
    """
    starts = [_forward(search, weights)]
    if search.most is not None:
        accurate = sorted(search.candidates, key=lambda one: (search.rates[one], one))[: search.size]
        starts = [*(one for one in starts if search.allowed([one])[0]), tuple(sorted(accurate))]
    return min((_swapped(search, start, weights) for start in starts), key=lambda one: one[0])[1]


def _forward(search: Search, weights: Floats) -> tuple[int, ...]:
    chosen: tuple[int, ...] = ()
    for number in range(1, search.size + 1):
        rest = tuple(one for one in sorted(search.candidates) if one not in chosen)
        own = loss_of(search.loss.objective, number, search.min_judged)
        sums = set_sums(search.patterns, [Family(chosen, rest)], own, weights, search.floor)
        chosen = tuple(sorted((*chosen, rest[int(np.argmin(worst(sums.mean)))])))
    return chosen


def _swapped(search: Search, start: tuple[int, ...], weights: Floats) -> tuple[float, tuple[int, ...]]:
    """Swap the best pair of a member and another model until no swap helps."""
    chosen, value = start, search.value(start, weights)
    for _ in range(_MOST_SWAPS):
        families = list(Family.swaps(chosen, search.candidates))
        if not families:
            break
        sums = set_sums(search.patterns, families, search.loss, weights, search.floor)
        values = np.where(search.allowed(sums.sets), worst(sums.mean), np.inf)
        best = int(np.argmin(values))
        if not values[best] < value:
            break
        value, chosen = float(values[best]), sums.sets[best]
    return value, chosen


def coverage_bound(patterns: Patterns, candidates: Sequence[int], size: int, weights: Floats) -> float:
    """Return a systemic failure below which no set of ``size`` models gets, where every model judged everyone.

    Parameters
    ----------
    patterns, candidates, size
        As in `Search`; ``patterns`` must be complete.
    weights : (P, G) float64
        Weight of each row in each group.

    Returns
    -------
    float
        The lowest loss of the worst group that the bound allows.

    Raises
    ------
    ValueError
        If some model did not judge everyone.

    Notes
    -----
    The individuals whom some member does not fail are a submodular function of the set. For any set, the best m
    models cover at most what it covers and the m largest gains beside it (Minoux 1978; Leskovec and others 2007,
    "Cost-effective outbreak detection in networks", section 3.2). The smallest such bound over the greedy sets
    holds for these data; that greedy covers at least 1 - 1/e of what is possible holds for all.
    """
    if not patterns.complete:
        raise ValueError("the bound needs models that judged everyone.")
    bounds = [_bound(patterns, sorted(candidates), size, weights[:, [g]]) for g in range(weights.shape[1])]
    return max(bounds)


def _bound(patterns: Patterns, candidates: list[int], size: int, weights: Floats) -> float:
    total = float(weights.sum())
    if total <= 0.0:
        return 0.0
    missed = weights[:, 0].copy()  # whom every member so far fails
    highest, rest = 0.0, list(candidates)
    while rest:
        gains = missed @ patterns.success[:, rest].astype(np.float64)
        highest = max(highest, float(missed.sum()) - float(np.sort(gains)[::-1][:size].sum()))
        if len(candidates) - len(rest) == size:
            break
        one = rest.pop(int(np.argmax(gains)))
        missed = missed * patterns.failed[:, one]
    return highest / total
