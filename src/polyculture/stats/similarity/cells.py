"""The four cells of every pair of models, all pairs at once, and the design that individuals come in.

A cell is one of: both fail, only the first fails, only the second fails, neither fails; among the
individuals whom both judged. Measures stand in the modules beside this one, intervals in ``limits``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyculture.stats._rows import Bools, Floats, Rows

__all__ = ["Cells", "cells_from_tables", "cells_of", "joint_sums", "squared_cells"]

_BLOCK = 1 << 15  # rows turned into floats at a time, so that memory stays small


@dataclass(frozen=True, eq=False)
class Cells:
    """Individuals (or their weight) in the four cells of every pair, each (k, k).

    ``first`` is failed by the row's model and not by the column's, ``second`` the other way round.
    """

    both: Floats
    first: Floats
    second: Floats
    neither: Floats

    @property
    def n(self) -> Floats:
        """Individuals whom both judged, (k, k)."""
        return np.asarray(self.both + self.first + self.second + self.neither)

    @property
    def stacked(self) -> Floats:
        """The four cells as one array, (4, k, k)."""
        return np.stack([self.both, self.first, self.second, self.neither])

    def shares(self) -> Cells:
        """Return the cells as shares of those whom both judged; NaN where there is nobody."""
        n = np.where(self.n > 0, self.n, np.nan)
        return Cells(self.both / n, self.first / n, self.second / n, self.neither / n)

    def smoothed(self, size: Floats, added: float = 0.5) -> Cells:
        """Return cells of the same shares among ``size`` individuals (k, k), with ``added`` in each cell."""
        shares = self.shares()
        return Cells(*(part * size + added for part in (shares.both, shares.first, shares.second, shares.neither)))


def joint_sums(left: Bools, right: Bools, weight: NDArray[np.generic]) -> Floats:
    """Add up weights over the rows flagged in both of two columns.

    Parameters
    ----------
    left, right : (P, k) bool
        Flags; one row a pattern.
    weight : (P,)
        Weight of each row.

    Returns
    -------
    (k, k) float64
        Entry (i, j) is the sum over rows flagged in column i of ``left`` and column j of ``right``; exact for
        whole numbers below 2^53.
    """
    sums = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, len(left), _BLOCK):
        part = slice(start, start + _BLOCK)
        sums += (left[part].astype(np.float64) * np.asarray(weight[part], np.float64)[:, None]).T @ right[part].astype(
            np.float64
        )
    return sums


def cells_from_tables(judged: ArrayLike, both: ArrayLike, first: ArrayLike) -> Cells:
    """Return the cells of counted pairs.

    Parameters
    ----------
    judged, both : (k, k)
        Individuals judged by both models, failed by both.
    first : (k, k)
        Individuals failed by the row's model among those whom the column's model judged too.
    """
    n, a, one = (np.asarray(part, dtype=np.float64) for part in (judged, both, first))
    return Cells(a, one - a, one.T - a, n - one - one.T + a)


def cells_of(rows: Rows, weight: Floats | None = None) -> Cells:
    """Return the cells of every pair by weight (by default the rows' own)."""
    weight = rows.weight if weight is None else weight
    k = rows.judged.shape[1]
    both = joint_sums(rows.failed, rows.failed, weight)
    if rows.complete:
        total = float(weight.sum())
        return cells_from_tables(np.full((k, k), total), both, np.repeat(np.diag(both)[:, None], k, axis=1))
    return cells_from_tables(
        joint_sums(rows.judged, rows.judged, weight), both, joint_sums(rows.failed, rows.judged, weight)
    )


def squared_cells(rows: Rows) -> Cells:
    """Return the sums of squared weights in the cells, for variances without clusters."""
    return cells_of(rows, rows.weight_squared)
