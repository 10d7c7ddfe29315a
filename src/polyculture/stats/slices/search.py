"""Up to three conditions that hold together where models fail together most, over sums of cells.

A cell is a combination of values of the searched columns. Every slice is a union of cells, so that its sums are
sums of theirs: all slices of one parent take one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats, Ints

__all__ = ["Found", "Measure", "Space", "best_slice", "cell_sums", "members_of"]

MOST_WORK = 1e9  # multiplications of an exhaustive third level
MOST_PAIRS = 6_000  # that are extended by a third condition
BEAM = 200
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Space:
    """What may be combined.

    Attributes
    ----------
    members : (C, U) bool
        Which cells each condition holds for.
    column : (C,) int64
        Column that each condition is about; two of one column are not combined.
    depth : int
        Most conditions of a slice.
    """

    members: Bools
    column: Ints
    depth: int = 3


@dataclass(frozen=True, eq=False)
class Measure:
    """What is looked for: the excess over the product of a slice's own rates, or systemic failure itself."""

    excess: bool
    models: int

    def of(self, sums: Floats) -> Floats:
        """Return the measure of slices from their sums (S, 2 + 2k): weight, all failed, judged and failed by model.

        Where models judged different individuals, log E is the sum of log f_j weighted by the share that model j
        judged: close enough to search by; what is reported uses each individual's own models.
        """
        n, lost = sums[:, 0], sums[:, 1]
        judged, failed = sums[:, 2 : 2 + self.models], sums[:, 2 + self.models :]
        size = np.where(n > 0, n, 1.0)
        if not self.excess:
            return np.asarray(lost / size)
        rates = np.divide(failed, judged, out=np.ones_like(failed), where=judged > 0)
        with np.errstate(divide="ignore"):
            logs = np.where(judged > 0, np.log(rates), 0.0)
        shares = judged / size[:, None]
        with np.errstate(invalid="ignore"):
            expected = np.exp(np.where(shares > 0, shares * logs, 0.0).sum(axis=1))
        return np.asarray(lost / size - expected)


@dataclass(frozen=True)
class Found:
    """The best slice by sqrt(size) times the measure above everyone's, how many were looked at, and whether all."""

    conditions: tuple[int, ...]
    quality: float
    looked_at: int
    exhaustive: bool


def cell_sums(cell: Ints, cells: int, columns: Floats) -> Floats:
    """Add up the rows of each cell: (R,) cells and (R, M) values give (cells, M)."""
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(cells))
    sums = np.zeros((cells, columns.shape[1]))
    filled = np.flatnonzero(np.diff(np.append(starts, len(cell))))
    if len(filled):
        sums[filled] = np.add.reduceat(columns[order], starts[filled], axis=0)
    return sums


def members_of(space: Space, chosen: tuple[int, ...]) -> Bools:
    """Return which cells all of some conditions hold for, (U,)."""
    return np.asarray(np.logical_and.reduce(space.members[list(chosen)], axis=0))


def best_slice(space: Space, sums: Floats, sizes: Floats, measure: Measure, least: float) -> Found | None:
    """Find the slice with the largest sqrt(size) x (its measure - everyone's).

    Parameters
    ----------
    space : Space
        Conditions over U cells.
    sums : (U, 2 + 2k) float64
        Sums of each cell, as in `Measure.of`.
    sizes : (U,) float64
        Individuals of each cell.
    measure : Measure
        What is looked for.
    least : float
        Fewest individuals in a slice, and outside of it.

    Returns
    -------
    Found or None
        None where no slice is large enough. All combinations are looked at, unless the third level takes too much
        work: then it is entered from the 200 best pairs.

    Examples
    --------
    >>> members = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=bool)
    >>> few, many = [50.0, 0, 50, 50, 5, 5], [50.0, 25, 50, 50, 25, 25]
    >>> cells = np.array([many, few, few, few])
    >>> found = best_slice(Space(members, np.array([0, 0, 1, 1])), cells, cells[:, 0], Measure(True, 2), 10)
    >>> found.conditions, found.looked_at, found.exhaustive
    ((0, 2), 8, True)
    """
    return _Search(space, sums, sizes, measure, least).run()


_Slice = tuple[float, tuple[int, ...], float]  # quality, conditions, size


class _Search:
    def __init__(self, space: Space, sums: Floats, sizes: Floats, measure: Measure, least: float) -> None:
        self.space, self.measure, self.least = space, measure, least
        self.table = np.column_stack([sums, sizes])
        self.total = float(sizes.sum())
        self.base = float(measure.of(sums.sum(axis=0)[None, :])[0])
        self.best: tuple[float, tuple[int, ...]] | None = None
        self.looked_at, self.exhaustive = 0, True

    def run(self) -> Found | None:
        every = np.arange(self.table.shape[0])
        level = self._children((), every)
        for depth in range(2, self.space.depth + 1):
            if depth == 3:
                level = self._thinned(level)
            last = depth == self.space.depth
            level = [
                child
                for _, conditions, _ in level
                for child in self._children(conditions, np.flatnonzero(members_of(self.space, conditions)), last=last)
            ]
        if self.best is None:
            return None
        return Found(self.best[1], self.best[0], self.looked_at, self.exhaustive)

    def _children(self, parent: tuple[int, ...], cells: Ints, *, last: bool = False) -> list[_Slice]:
        """Look at the slices that add a later condition to a parent; return those to be extended."""
        start = parent[-1] + 1 if parent else 0
        used = {int(self.space.column[one]) for one in parent}
        later = np.array([c for c in range(start, len(self.space.column)) if int(self.space.column[c]) not in used])
        if not len(later) or not len(cells):
            return []
        sums = np.zeros((len(later), self.table.shape[1]))
        step = max(1, _BLOCK // len(later))
        for at in range(0, len(cells), step):
            part = cells[at : at + step]
            sums += self.space.members[np.ix_(later, part)].astype(np.float64) @ self.table[part]
        size = sums[:, -1]
        large = (size >= self.least) & (self.total - size >= self.least)
        self.looked_at += int(large.sum())
        if not large.any():
            return []
        quality = np.sqrt(size[large]) * (self.measure.of(sums[large, :-1]) - self.base)
        top = int(np.argmax(quality))
        if self.best is None or quality[top] > self.best[0]:
            self.best = (float(quality[top]), (*parent, int(later[large][top])))
        # A slice as small as the least cannot be divided further.
        if last:
            return []
        open_still = np.flatnonzero(size[large] > self.least)
        return [(float(quality[i]), (*parent, int(later[large][i])), float(size[large][i])) for i in open_still]

    def _thinned(self, pairs: list[_Slice]) -> list[_Slice]:
        """Return all pairs, or the best of them where looking into all takes too long."""
        per_cell = len(self.space.column) * self.table.shape[1]
        density = len(self.table) / max(self.total, 1.0)  # cells for each individual
        work = sum(size for _, _, size in pairs) * min(density, 1.0) * per_cell
        if work <= MOST_WORK and len(pairs) <= MOST_PAIRS:
            return pairs
        self.exhaustive = False
        return sorted(pairs, key=lambda one: -one[0])[:BEAM]
