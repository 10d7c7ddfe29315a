"""What a set of models costs an individual, and the sums of it over many sets and many weightings at once.

A loss depends on two numbers only: how many members of the set judged the individual, and how many failed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from scipy.special import binom

from polyculture.stats._rows import Bools, Floats, Ints

__all__ = [
    "Family",
    "Loss",
    "Objective",
    "Patterns",
    "Sums",
    "family_losses",
    "loss_of",
    "losses_of",
    "random_losses",
    "set_sums",
]

Objective = Literal["systemic-failure", "majority"]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Which models judged, and which failed, the individuals of each of P rows.

    Attributes
    ----------
    judged, failed : (P, k) bool
        ``failed`` implies ``judged``.
    """

    judged: Bools
    failed: Bools

    @cached_property
    def success(self) -> Bools:
        """Judged and not failed, (P, k)."""
        return np.asarray(self.judged & ~self.failed)

    @cached_property
    def complete(self) -> bool:
        """Whether every model judged every individual."""
        return bool(self.judged.all())

    @property
    def models(self) -> int:
        """The number of models k."""
        return int(self.judged.shape[1])


@dataclass(frozen=True)
class Loss:
    """A loss to be made small, as a mean over the individuals that count.

    Attributes
    ----------
    objective : {"systemic-failure", "majority"}
        Failed by every member that judged the individual; or not getting a right majority (a tie is half of that).
    least : int
        Members that must have judged an individual for it to count.
    """

    objective: Objective
    least: int

    def lost(self, judged: Ints, failed: Ints) -> Floats:
        """Return the loss of individuals judged by so many members and failed by so many, 0 where they do not count."""
        if self.objective == "systemic-failure":
            wrong = (judged == failed).astype(np.float64)
        else:
            wrong = (2 * failed > judged) + 0.5 * (2 * failed == judged)
        return np.asarray(wrong * self.counted(judged))

    def counted(self, judged: Ints) -> Floats:
        """Return 1 for individuals judged by so many members who count, 0 for the others."""
        return np.asarray((judged >= self.least).astype(np.float64))


def loss_of(objective: Objective, size: int, min_judged: int) -> Loss:
    """Return the loss of sets of ``size`` models.

    Systemic failure is over those judged by at least ``min_judged`` members (by all of a smaller set), a majority
    over those whom any member judged, as in an audit and in a panel.
    """
    return Loss(objective, max(1, min(min_judged, size)) if objective == "systemic-failure" else 1)


@dataclass(frozen=True)
class Family:
    """Sets of models that share all members but the last: ``common`` and one of ``last``."""

    common: tuple[int, ...]
    last: tuple[int, ...]

    @property
    def sets(self) -> Iterator[tuple[int, ...]]:
        """The sets, each as sorted places of models."""
        return (tuple(sorted((*self.common, one))) for one in self.last)

    @staticmethod
    def of_size(candidates: Sequence[int], size: int) -> Iterator[Family]:
        """Yield all sets of ``size`` candidates, each once."""
        ordered = sorted(candidates)
        for common in combinations(ordered, size - 1):
            last = tuple(one for one in ordered if not common or one > common[-1])
            if last:
                yield Family(common, last)

    @staticmethod
    def swaps(today: Sequence[int], candidates: Sequence[int]) -> Iterator[Family]:
        """Yield the sets that differ from ``today`` in one member."""
        outside = tuple(sorted(set(candidates) - set(today)))
        for one in sorted(today):
            if outside:
                yield Family(tuple(sorted(set(today) - {one})), outside)

    @staticmethod
    def additions(today: Sequence[int], candidates: Sequence[int]) -> Iterator[Family]:
        """Yield the sets of ``today`` and one more."""
        outside = tuple(sorted(set(candidates) - set(today)))
        if outside:
            yield Family(tuple(sorted(today)), outside)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of losses and of those who count, for S sets and C weightings: both (S, C).

    A set on which fewer than ``floor`` count has no mean: it would be measured on hardly anybody.
    """

    sets: tuple[tuple[int, ...], ...]
    lost: Floats
    counted: Floats
    floor: float = 0.0

    @property
    def mean(self) -> Floats:
        """The mean loss, (S, C); infinite where too few count, so that such a set is never chosen."""
        result = np.full(self.lost.shape, np.inf)
        enough = (self.counted > 0) & (self.counted >= self.floor)
        np.divide(self.lost, self.counted, out=result, where=enough)
        return result


def set_sums(patterns: Patterns, families: Sequence[Family], loss: Loss, weights: Floats, floor: float = 0.0) -> Sums:
    """Add up the losses of all sets of some families under several weightings of the rows.

    Parameters
    ----------
    patterns : Patterns
        P rows of k models.
    families : sequence of Family
        The sets; each family takes one pass over the rows.
    loss : Loss
        What is added up.
    weights : (P, C) float64
        Weight of each row in each weighting.
    floor : float
        Least weight of those who count for a set.

    Returns
    -------
    Sums
        In the order of the families.

    Examples
    --------
    >>> failed = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> rows = Patterns(np.ones_like(failed), failed)
    >>> sums = set_sums(rows, list(Family.of_size(range(3), 2)), Loss("systemic-failure", 2), np.ones((3, 1)))
    >>> sums.sets, sums.lost.ravel().tolist()
    (((0, 1), (0, 2), (1, 2)), [1.0, 1.0, 0.0])
    """
    parts = [_family_sums(patterns, family, loss, weights) for family in families]
    return Sums(
        tuple(one for family in families for one in family.sets),
        np.concatenate([lost for lost, _ in parts]),
        np.concatenate([counted for _, counted in parts]),
        floor,
    )


def _family_sums(patterns: Patterns, family: Family, loss: Loss, weights: Floats) -> tuple[Floats, Floats]:
    common, last = list(family.common), list(family.last)
    judged = patterns.judged[:, common].sum(axis=1, dtype=np.int64)
    failed = patterns.failed[:, common].sum(axis=1, dtype=np.int64)
    now = loss.lost(judged, failed)
    # What the last member changes: where it did not fail the individual, and where it did.
    spared = loss.lost(judged + 1, failed) - now
    struck = loss.lost(judged + 1, failed + 1) - now
    lost = (
        _weighted(now, weights)[None, :]
        + _product(patterns.success, last, spared, weights)
        + _product(patterns.failed, last, struck, weights)
    )
    counts = loss.counted(judged)
    more = loss.counted(judged + 1) - counts
    counted = _weighted(counts, weights)[None, :] + _product(patterns.judged, last, more, weights)
    return np.asarray(lost), np.asarray(counted)


def _weighted(values: Floats, weights: Floats) -> Floats:
    """Return (C,): values times weights added up over the rows that have any."""
    rows = np.flatnonzero(values)
    if len(rows) == len(values) and np.all(values == 1.0):
        return np.asarray(weights.sum(axis=0))
    return np.asarray((values[rows, None] * weights[rows]).sum(axis=0))


def _product(flags: Bools, columns: list[int], change: Floats, weights: Floats) -> Floats:
    """Return (L, C): the changes of the flagged rows added up; rows without any change cost nothing."""
    rows = np.flatnonzero(change)
    result = np.zeros((len(columns), weights.shape[1]))
    step = max(1, (1 << 22) // max(len(columns), 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        result += flags[part][:, columns].T.astype(np.float64) @ (change[part, None] * weights[part])
    return result


def random_losses(patterns: Patterns, candidates: Sequence[int], size: int, loss: Loss) -> tuple[Floats, Floats]:
    """Return the mean over all sets of ``size`` candidates of loss and of who counts, for each row, (P,) each.

    Of a random set, the members that judged an individual and those that failed it follow a multivariate
    hypergeometric law.
    """
    chosen = list(candidates)
    judged = patterns.judged[:, chosen].sum(axis=1, dtype=np.int64)
    failed = patterns.failed[:, chosen].sum(axis=1, dtype=np.int64)
    k = len(chosen)
    pairs, which = np.unique(judged * (k + 1) + failed, return_inverse=True)
    n, t = np.divmod(pairs, k + 1)
    lost, counted = np.zeros(len(pairs)), np.zeros(len(pairs))
    for members in range(loss.least, size + 1):
        others = binom(k - n, size - members)
        for wrong in range(members + 1):
            chance = binom(t, wrong) * binom(n - t, members - wrong) * others / comb(k, size)
            lost += chance * loss.lost(np.array([members]), np.array([wrong]))
            counted += chance
    return np.asarray(lost[which.ravel()]), np.asarray(counted[which.ravel()])


def family_losses(patterns: Patterns, families: Sequence[Family], loss: Loss) -> tuple[Floats, Floats]:
    """Return the mean over the sets of some families of loss and of who counts, for each row, (P,) each."""
    rows, total = len(patterns.judged), 0
    lost, counted = np.zeros(rows), np.zeros(rows)
    for family in families:
        common, last = list(family.common), list(family.last)
        judged = patterns.judged[:, common].sum(axis=1, dtype=np.int64)
        failed = patterns.failed[:, common].sum(axis=1, dtype=np.int64)
        struck = patterns.failed[:, last].sum(axis=1, dtype=np.int64)
        asked = patterns.judged[:, last].sum(axis=1, dtype=np.int64)
        number = len(last)
        lost += struck * loss.lost(judged + 1, failed + 1) + (asked - struck) * loss.lost(judged + 1, failed)
        lost += (number - asked) * loss.lost(judged, failed)
        counted += asked * loss.counted(judged + 1) + (number - asked) * loss.counted(judged)
        total += number
    return lost / total, counted / total


def losses_of(patterns: Patterns, chosen: Sequence[int], loss: Loss) -> tuple[Floats, Floats]:
    """Return the loss of one set and who counts, for each row, (P,) each."""
    judged = patterns.judged[:, list(chosen)].sum(axis=1, dtype=np.int64)
    failed = patterns.failed[:, list(chosen)].sum(axis=1, dtype=np.int64)
    return loss.lost(judged, failed), loss.counted(judged)
