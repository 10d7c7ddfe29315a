"""The best set of models as an integer program, solved by HiGHS through ``scipy.optimize.milp``.

A loss is a share of those who count, and who counts may depend on the set: then the program is solved for the
difference ``lost - rate * counted`` and the rate brought up to date until it no longer falls (Dinkelbach 1967; with
several groups Crouzeix, Ferland and Schaible 1985), which ends at the best rate.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from polyculture.stats._rows import Floats
from polyculture.stats.portfolio.losses import Loss, Patterns
from polyculture.stats.portfolio.search import Search

__all__ = ["Loss", "Patterns", "Search", "Solved", "solve"]

_MOST_ROUNDS = 30
_CLOSE = 1e-9
_SOLVE_ERROR = 4
_SCALE = 10.0  # of the objective: HiGHS stumbles over coefficients much smaller than those of the constraints


@dataclass(frozen=True)
class Solved:
    """The best set found, and whether it was shown to be the best."""

    chosen: tuple[int, ...]
    value: float
    optimal: bool


def solve(search: Search, weights: Floats, *, start: tuple[int, ...], most_nodes: int = 20_000) -> Solved:
    """Find the set with the least loss of its worst group.

    Parameters
    ----------
    search : Search
        Among which sets.
    weights : (P, G) float64
        Weight of each row in each group; one column for everyone.
    start : tuple of int
        A set that meets the bound, to begin from.
    most_nodes : int
        Branches after which HiGHS gives up; a number, not a time, so that the answer is always the same.

    Returns
    -------
    Solved
        ``optimal`` is false where HiGHS gave up; the set is then the best one found.

    Examples
    --------
    >>> failed = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> rows, loss = Patterns(np.ones_like(failed), failed), Loss("systemic-failure", 2)
    >>> found = solve(Search(rows, (0, 1, 2), 2, loss, failed.mean(axis=0)), np.ones((3, 1)), start=(0, 1))
    >>> found.chosen, found.value, found.optimal
    ((1, 2), 0.0, True)
    """
    program = _Program(search, weights)
    best, value, optimal = start, search.value(start, weights), True
    for _ in range(_MOST_ROUNDS):
        found, optimal = program.below(value, most_nodes)
        if found is None or not search.value(found, weights) < value - _CLOSE:
            break
        best, value = found, search.value(found, weights)
    return Solved(best, value, optimal)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what HiGHS prints on numerical trouble from standard output, which may hold our JSON."""
    if os.name != "posix":
        yield
        return
    sys.stdout.flush()
    try:
        saved = os.dup(1)
    except OSError:  # nobody listens to standard output
        yield
        return
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C has not written yet
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)


class _Columns:
    """The variables of a program: numbers of columns, their bounds, and which of them are whole."""

    def __init__(self) -> None:
        self.high: list[Floats] = []
        self.whole: list[Floats] = []
        self.count = 0

    def add(self, number: int, *, whole: bool, high: float = 1.0) -> np.ndarray:
        self.high.append(np.full(number, high))
        self.whole.append(np.full(number, float(whole)))
        self.count += number
        return np.arange(self.count - number, self.count)


class _Rows:
    """The constraints ``low <= A x``, built entry by entry."""

    def __init__(self) -> None:
        self.entries: list[tuple[np.ndarray, np.ndarray, Floats]] = []
        self.low: list[Floats] = []
        self.count = 0

    def add(self, low: Floats, *parts: tuple[np.ndarray, np.ndarray, Floats]) -> None:
        """Add constraints; each part is (row within these, column, coefficient)."""
        self.entries += [(row + self.count, column, value) for row, column, value in parts]
        self.low.append(low)
        self.count += len(low)

    def matrix(self, columns: int) -> csr_array:
        rows, places, values = (np.concatenate([entry[part] for entry in self.entries]) for part in range(3))
        return csr_array(coo_array((values, (rows, places)), shape=(self.count, columns)))


class _Program:
    """The constraints, which stay, and the objective, which the rate changes."""

    def __init__(self, search: Search, weights: Floats) -> None:
        candidates, size, loss, patterns = sorted(search.candidates), search.size, search.loss, search.patterns
        self.search, self.candidates, self.size, self.loss = search, candidates, size, loss
        judged, failed = patterns.judged[:, candidates], patterns.failed[:, candidates]
        possible = np.flatnonzero((judged.sum(axis=1) >= loss.least) & (weights.sum(axis=1) > 0))
        self.judged, self.failed, self.weights = judged[possible], failed[possible], weights[possible]
        self.columns, self.rows = _Columns(), _Rows()
        self.models = self.columns.add(len(candidates), whole=True)
        everyone = np.zeros(len(candidates), dtype=np.int64)
        ones = np.ones(len(candidates))
        self.rows.add(np.array([float(size)]), (everyone, self.models, ones))
        self.rows.add(np.array([-float(size)]), (everyone, self.models, -ones))
        if search.most is not None:
            own = np.nan_to_num(search.rates[candidates])
            self.rows.add(np.array([-search.most * size - _CLOSE]), (everyone, self.models, -own))
        self._count()
        self.parts = self._systemic() if loss.objective == "systemic-failure" else self._majority()
        self.worst = int(self.columns.add(1, whole=False, high=2.0 * _SCALE)[0]) if self.weights.shape[1] > 1 else None

    def _count(self) -> None:
        """Say who counts: always (unknown, -1), or by a whole variable that is 1 where enough members judged."""
        n, k = self.judged.shape
        always = k - self.judged.sum(axis=1) <= self.size - self.loss.least
        self.varying = np.flatnonzero(~always)
        self.counted = np.full(n, -1, dtype=np.int64)
        self.counted[self.varying] = self.columns.add(len(self.varying), whole=True)
        number = len(self.varying)
        if not number:
            return
        row, model = np.nonzero(self.judged[self.varying])
        own, ones = np.arange(number), np.ones(number)
        counted = self.counted[self.varying]
        least = float(self.loss.least)
        # counted only if enough members judged, and always then
        self.rows.add(np.zeros(number), (row, self.models[model], np.ones(len(row))), (own, counted, -least * ones))
        room = self.size - least + 1.0
        self.rows.add(
            np.full(number, 1.0 - least), (row, self.models[model], -np.ones(len(row))), (own, counted, room * ones)
        )
        for weight in self.weights.T:  # a group in which hardly anybody counts has no rate
            some = self.varying[weight[self.varying] > 0]
            wanted = max(self.search.floor, float(weight[some].min(initial=1.0))) - float(weight[always].sum())
            if wanted > 0.0:
                place = np.zeros(len(some), dtype=np.int64)
                self.rows.add(np.array([wanted]), (place, self.counted[some], weight[some]))

    def _fixed(self) -> Floats:
        """Return 1 for the rows that always count."""
        return np.asarray((self.counted < 0).astype(np.float64))

    def _minus_counted(self) -> tuple[np.ndarray, np.ndarray, Floats]:
        return self.varying, self.counted[self.varying], -np.ones(len(self.varying))

    def _systemic(self) -> list[tuple[np.ndarray, float]]:
        """Lost is at least counted less the members that did not fail."""
        n = len(self.judged)
        lost = self.columns.add(n, whole=False)
        row, model = np.nonzero(self.judged & ~self.failed)
        own = (np.arange(n), lost, np.ones(n))
        self.rows.add(self._fixed(), own, (row, self.models[model], np.ones(len(row))), self._minus_counted())
        return [(lost, 1.0)]

    def _majority(self) -> list[tuple[np.ndarray, float]]:
        """Half a loss where the right do not outnumber the wrong, half where they are outnumbered."""
        n, span = len(self.judged), float(self.size)
        sign = np.where(self.failed, -1.0, 1.0) * self.judged
        row, model = np.nonzero(sign)
        own, parts = np.arange(n), []
        for margin in (1.0, 0.0):
            lost = self.columns.add(n, whole=True)
            # right - wrong >= margin unless lost (or not counted: then nobody judged and it is 0)
            self.rows.add(
                np.where(self.counted < 0, margin, 0.0),
                (row, self.models[model], sign[row, model]),
                (own, lost, np.full(n, span + margin)),
                (self.varying, self.counted[self.varying], np.full(len(self.varying), -margin)),
            )
            parts.append((lost, 0.5))
        return parts

    def below(self, rate: float, most_nodes: int) -> tuple[tuple[int, ...] | None, bool]:
        """Return the set that gets furthest below a rate (None where nothing was found), and whether that is sure."""
        cost = np.zeros(self.columns.count)
        groups = self.weights.sum(axis=0)
        scaled = _SCALE * self.weights / np.where(groups > 0, groups, 1.0)
        fixed = self._fixed() @ scaled
        matrix = self.rows.matrix(self.columns.count)
        low = np.concatenate(self.rows.low)
        constraints = [LinearConstraint(matrix, low, np.inf)]
        if self.worst is None:
            cost = self._cost(scaled[:, 0], rate)
        else:
            cost[self.worst] = 1.0
            # worst + scale >= lost - rate * counted of each group; the scale keeps the variable positive
            extra = np.array([-self._cost(scaled[:, g], rate) for g in range(scaled.shape[1])])
            extra[:, self.worst] = 1.0
            constraints.append(LinearConstraint(csr_array(extra), _SCALE - rate * fixed, np.inf))
        whole, bounds = (
            np.concatenate(self.columns.whole).astype(np.int64),
            Bounds(0.0, np.concatenate(self.columns.high)),
        )
        for presolve in (True, False):  # HiGHS now and then trips over what its own presolve leaves
            options: Any = {"node_limit": most_nodes, "mip_rel_gap": 0.0, "presolve": presolve}
            with _quiet():
                found = milp(cost, integrality=whole, bounds=bounds, constraints=constraints, options=options)
            if found.status != _SOLVE_ERROR:
                break
        if found.x is None:
            return None, found.status == 2
        chosen = tuple(self.candidates[one] for one in np.flatnonzero(found.x[self.models] > 0.5))
        # What HiGHS calls feasible is so up to its tolerance: looked at again.
        if len(chosen) != self.size or not self.search.allowed([chosen])[0]:
            return None, False
        return chosen, found.status == 0

    def _cost(self, weight: Floats, rate: float) -> Floats:
        cost = np.zeros(self.columns.count)
        for places, share in self.parts:
            cost[places] += share * weight
        np.add.at(cost, self.counted[self.varying], -rate * weight[self.varying])
        return cost
