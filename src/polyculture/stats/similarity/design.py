"""How much pair measures vary, as an effective number of individuals: weights and clusters by the sandwich.

A measure enters by its influence values: what one individual of each cell adds to it. The effective number
is that of a plain sample in which the measure varies as much as it does here.
"""

from __future__ import annotations

import numpy as np

from polyculture.stats._rows import Floats, Rows, take
from polyculture.stats.intervals import FEWEST_CLUSTERS, quantile
from polyculture.stats.similarity.cells import Cells, cells_of, joint_sums, squared_cells

__all__ = ["effective_sizes", "kish_sizes"]


def kish_sizes(rows: Rows, cells: Cells) -> Floats:
    """Return the effective number of individuals of each pair by their weights alone, (k, k)."""
    squares = joint_sums(rows.judged, rows.judged, rows.weight_squared)
    return np.asarray(np.divide(cells.n**2, squares, out=np.zeros_like(squares), where=squares > 0))


def effective_sizes(rows: Rows, cells: Cells, influences: list[Floats]) -> list[Floats]:
    """Return the effective number of individuals of each pair for each measure.

    Parameters
    ----------
    rows : Rows
        The pattern table.
    cells : Cells
        Its cells by weight.
    influences : list of (4, k, k)
        Influence values of an individual in each cell (both, first, second, neither), of weighted mean 0.

    Returns
    -------
    list of (k, k)
        Individuals where they count alike; smaller with weights or clusters, never larger than the number
        of individuals. With clusters the squared ratio of t quantiles is in it (Korn and Graubard 1998), and
        NaN stands where fewer than ten clusters hold individuals whom both judged.
    """
    n = cells.n
    if rows.plain:
        return [n for _ in influences]
    people = joint_sums(rows.judged, rows.judged, rows.count)
    shares = cells.shares().stacked
    fallback = np.minimum(kish_sizes(rows, cells), people)
    if rows.cluster is None:
        squares = squared_cells(rows).stacked
        sandwich = [np.sum(squares * psi**2, axis=0) for psi in influences]
        clusters = None
    else:
        sandwich, clusters = _over_clusters(rows, influences)
    found = []
    for psi, total in zip(influences, sandwich, strict=True):
        unit = np.sum(shares * psi**2, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = unit / (total / n**2)
        size = np.where(np.isfinite(size) & (size > 0), np.minimum(size, people), fallback)
        found.append(size if clusters is None else _by_clusters(size, people, clusters))
    return found


def _by_clusters(size: Floats, people: Floats, clusters: Floats) -> Floats:
    normal = quantile() ** 2
    factor = np.array(
        [normal / quantile(clusters=int(c)) ** 2 if c >= FEWEST_CLUSTERS else np.nan for c in range(1001)]
    )
    inside = np.minimum(clusters, 1000).astype(np.int64)
    return np.asarray(np.minimum(size * factor[inside], people))


def _over_clusters(rows: Rows, influences: list[Floats]) -> tuple[list[Floats], Floats]:
    """Return the sums over clusters of squared totals, and the number of clusters of each pair."""
    k = rows.judged.shape[1]
    sums = [np.zeros((k, k)) for _ in influences]
    clusters = np.zeros((k, k))
    if rows.cluster is None:
        raise ValueError("there are no clusters")
    order = np.argsort(rows.cluster, kind="stable")
    codes = rows.cluster[order]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    for start, end in zip(starts, np.r_[starts[1:], len(codes)], strict=True):
        part = take(rows, order[start:end])
        if codes[start] < 0:  # individuals of no cluster are units of their own
            squares = squared_cells(part).stacked
            clusters += joint_sums(part.judged, part.judged, part.count)
            sums = [total + np.sum(squares * psi**2, axis=0) for total, psi in zip(sums, influences, strict=True)]
            continue
        cells = cells_of(part)
        clusters += cells.n > 0
        stacked = cells.stacked
        sums = [total + np.sum(stacked * psi, axis=0) ** 2 for total, psi in zip(sums, influences, strict=True)]
    correction = np.divide(clusters, clusters - 1, out=np.ones_like(clusters), where=clusters > 1)
    return [total * correction for total in sums], clusters
