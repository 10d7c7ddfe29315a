"""Overlap of failures: Jaccard, and the same wrong answer where both are wrong or either is.

Agreement when wrong is of Kim and others (arXiv 2506.07962), with the baseline 1 / (options - 1).
"""

from __future__ import annotations

import numpy as np

from polyculture.stats._rows import Floats
from polyculture.stats.similarity.cells import Cells

__all__ = ["jaccard", "jaccard_influence", "share_of", "union"]


def union(cells: Cells) -> Floats:
    """Return the individuals whom either model fails, (k, k)."""
    return np.asarray(cells.both + cells.first + cells.second)


def share_of(events: Floats, base: Floats) -> Floats:
    """Return events / base, NaN where the base is 0."""
    return np.asarray(np.divide(events, base, out=np.full(np.shape(base), np.nan), where=base > 0))


def jaccard(cells: Cells) -> Floats:
    """Return failed by both among failed by either; NaN where neither fails anybody.

    Examples
    --------
    >>> one = np.array([[1.0]])
    >>> float(jaccard(Cells(one, one, one, one))[0, 0]).__round__(4)
    0.3333
    """
    return share_of(cells.both, union(cells))


def jaccard_influence(cells: Cells) -> Floats:
    """Return what one individual of each cell adds to Jaccard, (4, k, k); 0 where it is undefined."""
    p = cells.shares()
    value, either = jaccard(cells), union(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        psi = np.stack([(1 - value) / either, -value / either, -value / either, np.zeros_like(value)])
    return np.nan_to_num(psi, nan=0.0, posinf=0.0, neginf=0.0)
