"""Pattern tables as the statistics see them: weighted sums over rows and columns, and their variances.

A row stands for all individuals with one pattern (in one cell and cluster). No measure is defined here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Bools",
    "Floats",
    "Ints",
    "Rows",
    "cluster_totals",
    "column_sums",
    "covariance",
    "degrees_of_freedom",
    "degrees_of_totals",
    "log_sum",
    "make_rows",
    "row_codes",
    "row_sums",
    "skewness",
    "take",
    "used_rows",
]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Booleans become floats a chunk at a time. A chunk fits the first cache, and is too small for the linear algebra
# library to split among threads, which costs more than it gains here.
_CHUNK_CELLS = 1 << 16


@dataclass(frozen=True, eq=False)
class Rows:
    """A checked pattern table.

    Attributes
    ----------
    judged, failed : ndarray of bool, shape (P, k)
        Which models judged, and which of them failed, the individuals of a row.
    count, weight, weight_squared : ndarray of float, shape (P,)
        Individuals, the sum of their weights, and the sum of their squared weights.
    cluster : ndarray of int, shape (P,), or None
        Cluster of the row as 0..C-1, -1 where its individuals are in none (each is then its own cluster).
    cluster_names : ndarray of int, shape (C,), or None
        What the clusters 0..C-1 were called, to find them again in another table.
    clusters : int or None
        Number of independent units where there are clusters.
    complete : bool
        Whether all models judged everyone.
    plain : bool
        Whether everyone weighs 1 and there are no clusters.
    """

    judged: Bools
    failed: Bools
    count: Floats
    weight: Floats
    weight_squared: Floats
    cluster: Ints | None
    cluster_names: Ints | None
    clusters: int | None
    complete: bool
    plain: bool

    @cached_property
    def failed_number(self) -> Floats:
        """Number of models that failed an individual of each row, shape (P,)."""
        return row_sums(self.failed, np.ones(self.failed.shape[1]))

    @cached_property
    def judged_number(self) -> Floats:
        """Number of models that judged an individual of each row, shape (P,)."""
        k = self.judged.shape[1]
        return np.full(self.count.size, float(k)) if self.complete else row_sums(self.judged, np.ones(k))

    @cached_property
    def judged_weight(self) -> Floats:
        """Weight of the individuals whom each model judged, shape (k,)."""
        k = self.judged.shape[1]
        return np.full(k, self.total_weight) if self.complete else column_sums(self.weight, self.judged)

    @cached_property
    def failed_weight(self) -> Floats:
        """Weight of the individuals whom each model failed, shape (k,)."""
        return column_sums(self.weight, self.failed)

    @cached_property
    def rate_variances(self) -> Floats:
        """Variance of each model's failure rate, shape (k,); 0 for a model that judged nobody."""
        judged = self.judged_weight
        known = judged > 0.0
        rates = np.divide(self.failed_weight, judged, out=np.zeros_like(judged), where=known)
        if self.cluster is None:
            squares = column_sums(self.weight_squared, self.judged)
            failed = self.failed_weight if self.plain else column_sums(self.weight_squared, self.failed)
            sums = failed * (1.0 - rates) ** 2 + (squares - failed) * rates**2
        else:
            errors = (self.failed[:, j].astype(np.float64) - rates[j] * self.judged[:, j] for j in range(judged.size))
            sums = np.array([float(covariance(self, error)[0, 0]) for error in errors])
        return np.asarray(np.divide(sums, judged**2, out=np.zeros_like(judged), where=known))

    @property
    def n(self) -> float:
        """Number of individuals."""
        return float(self.count.sum())

    @property
    def total_weight(self) -> float:
        """Sum of weights."""
        return float(self.weight.sum())


def make_rows(  # noqa: PLR0917 (the columns of one table)
    judged: ArrayLike,
    failed: ArrayLike,
    count: ArrayLike,
    weight: ArrayLike | None = None,
    weight_squared: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Rows:
    """Check the arrays of a pattern table and leave out rows without an individual or a judgement.

    Parameters
    ----------
    judged, failed : array_like of bool, shape (P, k)
        Judged and failed masks.
    count : array_like of int, shape (P,)
        Individuals a row.
    weight, weight_squared : array_like of float, shape (P,), optional
        Sums of weights and of squared weights; by default every individual weighs 1.
    cluster : array_like of int, shape (P,), optional
        Cluster a row; -1 means none. All -1 is the same as no clusters.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If shapes differ, a weight is negative, or a model failed someone whom it did not judge.
    """
    o, f = np.asarray(judged, dtype=np.bool_), np.asarray(failed, dtype=np.bool_)
    n = np.asarray(count, dtype=np.float64)
    w = n if weight is None else np.asarray(weight, dtype=np.float64)
    w2 = w if weight_squared is None else np.asarray(weight_squared, dtype=np.float64)
    codes = None if cluster is None else np.asarray(cluster, dtype=np.int64)
    complete = bool(o.all())
    _check(o, f, (n, w, w2) if codes is None else (n, w, w2, codes), complete)
    keep = used_rows(o, n)
    if not keep.all():
        o, f, n, w, w2 = o[keep], f[keep], n[keep], w[keep], w2[keep]
        codes = None if codes is None else codes[keep]
    codes, names, clusters = _numbered(codes, n)
    plain = codes is None and np.array_equal(n, w) and np.array_equal(n, w2)
    return Rows(o, f, n, w, w2, codes, names, clusters, complete or bool(o.all()), plain)


def used_rows(judged: Bools, count: Floats) -> Bools:
    """Return which rows hold an individual with at least one judgement."""
    used = np.asarray(count > 0)
    return used if judged.all() else used & judged.any(axis=1)


def _check(judged: Bools, failed: Bools, vectors: Sequence[Floats | Ints], complete: bool) -> None:
    if judged.ndim != 2 or judged.shape != failed.shape:
        raise ValueError(f"judged and failed must be tables of one shape, got {judged.shape} and {failed.shape}.")
    for vector in vectors:
        if vector.shape != judged.shape[:1]:
            raise ValueError(f"one value a row is needed: got {vector.shape} for {judged.shape[0]} rows.")
    if any(not np.all(vector >= 0) for vector in vectors[:3]):
        raise ValueError("counts and weights must not be negative.")
    if not complete and np.any(failed > judged):
        raise ValueError("a model is marked as failing an individual whom it did not judge.")


def _numbered(codes: Ints | None, count: Floats) -> tuple[Ints | None, Ints | None, int | None]:
    """Renumber clusters as 0..C-1; individuals of no cluster count as units of their own."""
    if codes is None or not codes.size or codes.max() < 0:
        return None, None, None
    known = codes >= 0
    numbered = np.full(codes.shape, -1, dtype=np.int64)
    values, numbered[known] = np.unique(codes[known], return_inverse=True)
    return numbered, values, int(values.size + round(float(count[~known].sum())))


def column_sums(vector: Floats, matrix: Bools) -> Floats:
    """Return ``vector @ matrix`` for a Boolean matrix (P, k)."""
    rows, k = matrix.shape
    total = np.zeros(k)
    for part in _parts(rows, k):
        total += vector[part] @ matrix[part].astype(np.float64)
    return total


def row_sums(matrix: Bools, vectors: Floats) -> Floats:
    """Return ``matrix @ vectors`` for a Boolean matrix (P, k) and vectors (k,) or (k, m)."""
    rows, k = matrix.shape
    result = np.empty((rows, *vectors.shape[1:]))
    for part in _parts(rows, k):
        result[part] = matrix[part].astype(np.float64) @ vectors
    return result


def _parts(rows: int, k: int) -> list[slice]:
    step = max(1, _CHUNK_CELLS // max(k, 1))
    return [slice(start, start + step) for start in range(0, rows, step)]


def covariance(rows: Rows, *values: Floats) -> Floats:
    """Return the covariance matrix of the sums of ``weight * value`` over individuals.

    Parameters
    ----------
    rows : Rows
        The table.
    *values : ndarray, shape (P,)
        Influence values of an individual of each row, with weighted mean 0.

    Returns
    -------
    ndarray, shape (m, m)
        Without clusters the sum of squares over individuals; with clusters the sum of squares over
        cluster totals, times C / (C - 1).
    """
    stacked = np.vstack(values)
    if rows.cluster is None or rows.clusters is None:
        return np.asarray((stacked * rows.weight_squared) @ stacked.T)
    inside = rows.cluster >= 0
    size = int(rows.cluster.max()) + 1
    totals = np.vstack(
        [np.bincount(rows.cluster[inside], (rows.weight * row)[inside], minlength=size) for row in stacked]
    )
    alone = stacked[:, ~inside]
    total = totals @ totals.T + (alone * rows.weight_squared[~inside]) @ alone.T
    return np.asarray(total * rows.clusters / max(rows.clusters - 1, 1))


def cluster_totals(rows: Rows, values: Floats) -> Floats | None:
    """Return the sum of ``weight * value`` of each cluster, or None without clusters."""
    if rows.cluster is None:
        return None
    inside = rows.cluster >= 0
    size = int(rows.cluster.max()) + 1
    return np.asarray(np.bincount(rows.cluster[inside], (rows.weight * values)[inside], minlength=size))


def degrees_of_freedom(rows: Rows, influence: Floats, events: int | None = None) -> float | None:
    """Return the degrees of freedom of a variance from clusters: fewer where a few clusters make most of it.

    Few events make few clusters stand out even where clusters do not matter; the limits of a rate allow for that
    already, so that half of what they add (1 / events) is taken off.
    """
    totals = cluster_totals(rows, influence)
    if totals is None or rows.clusters is None:
        return None
    return degrees_of_totals(totals, rows.clusters, events)


def degrees_of_totals(totals: Floats, clusters: int, events: int | None = None) -> float:
    """Return the degrees of freedom of a sum of squared cluster totals; see `degrees_of_freedom`."""
    largest = float(np.abs(totals).max(initial=0.0))
    if largest <= 0.0 or clusters < 2:
        return float(max(clusters - 1, 1))
    squares = (totals / largest) ** 2  # totals of the excess may be as small as E
    # The variance of a sum of squares, as observed; for normal totals it gives the number of clusters.
    relative = float((squares**2).sum()) / float(squares.sum()) ** 2 - 1.0 / totals.size
    relative -= 0.5 / events if events else 0.0
    return max(2.0 / max(relative, 2.0 / (clusters - 1)), 1.0)


def skewness(rows: Rows, influence: Floats) -> float:
    """Return the skewness of the sum of ``weight * influence`` over independent individuals, or over clusters.

    A row's cubed weights are taken to be those of individuals of one weight; 0 where nothing varies but by rounding.
    """
    if float(np.abs(influence).max(initial=0.0)) <= 1e-12:
        return 0.0
    totals = cluster_totals(rows, influence)
    if totals is None:
        each = np.divide(rows.weight_squared, rows.weight, out=np.zeros_like(influence), where=rows.weight > 0.0)
        squares = rows.weight_squared * influence**2
        second, third = float(squares.sum()), float((squares * influence) @ each)
    else:
        second, third = float((totals**2).sum()), float((totals**3).sum())
    return third / second**1.5 if second > 1e-24 else 0.0


def take(rows: Rows, part: slice | Ints) -> Rows:
    """Return some of the rows; clusters keep their numbers, ``clusters`` and ``complete`` those of the whole."""
    return replace(
        rows,
        judged=rows.judged[part],
        failed=rows.failed[part],
        count=rows.count[part],
        weight=rows.weight[part],
        weight_squared=rows.weight_squared[part],
        cluster=None if rows.cluster is None else rows.cluster[part],
    )


def log_sum(logs: Floats) -> float:
    """Return log(sum(exp(logs))); -inf for nothing or for zeros only."""
    highest = float(logs.max(initial=-np.inf))
    if not np.isfinite(highest):
        return highest
    return highest + float(np.log(np.exp(logs - highest).sum()))


def row_codes(matrix: Bools) -> tuple[Bools, Ints]:
    """Return the distinct rows of a Boolean matrix (P, k), and for each row which of them it is."""
    packed = np.packbits(matrix, axis=1)
    width = packed.shape[1]
    if width <= 8:
        padded = np.zeros((packed.shape[0], 8), dtype=np.uint8)
        padded[:, :width] = packed
        values, code = np.unique(padded.view(np.uint64).ravel(), return_inverse=True)
        distinct = values[:, None].view(np.uint8)[:, :width]
    else:
        distinct, code = np.unique(packed, axis=0, return_inverse=True)
    return np.unpackbits(distinct, axis=1)[:, : matrix.shape[1]].astype(np.bool_), code.ravel().astype(np.int64)
