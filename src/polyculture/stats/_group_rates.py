"""Failure rates by group and model, and their products on the logarithm.

Their variances stand in ``_group_variances``, the measures made of them in ``group_homogenization``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from polyculture.stats._rows import Floats, Ints, Rows, column_sums, make_rows, take, used_rows

__all__ = ["GroupRates", "group_rates"]


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Products of failure rates by group.

    Attributes
    ----------
    rows : Rows
        Individuals of the groups that every model judged, sorted by group.
    starts : ndarray of int, shape (G + 1,)
        Where each group begins in ``rows``.
    kept, left_out
        Indices of these groups and of the others.
    judged, failed : ndarray, shape (G, k)
        Weighted judgements and failures.
    log_products, log_weights : ndarray, shape (G,)
        log prod_j f_gj, and log prod_j w_gj.
    log_expected : float
        log prod_j f_j.
    log_smoothed : ndarray, shape (G,)
        As ``log_products``, with half an event for a rate of 0.
    """

    rows: Rows
    starts: Ints
    kept: Ints
    left_out: tuple[int, ...]
    judged: Floats
    failed: Floats
    log_products: Floats
    log_weights: Floats
    log_expected: float
    log_smoothed: Floats

    def group(self, g: int) -> Rows:
        """Return the rows of the g-th kept group."""
        return take(self.rows, slice(int(self.starts[g]), int(self.starts[g + 1])))


def group_rates(  # noqa: PLR0917 (the columns of one table)
    judged: ArrayLike,
    failed: ArrayLike,
    count: ArrayLike,
    weight: ArrayLike | None,
    weight_squared: ArrayLike | None,
    cell: ArrayLike,
    n_groups: int,
    cluster: ArrayLike | None,
) -> GroupRates:
    """Return rates, and products by group; groups in which a model judged nobody are left out."""
    cells = np.asarray(cell, dtype=np.int64)
    if cells.size and (cells.min() < 0 or cells.max() >= n_groups):
        raise ValueError(f"group indices must lie between 0 and {n_groups - 1}.")
    rows = make_rows(judged, failed, count, weight, weight_squared, cluster)
    cells = cells[used_rows(np.asarray(judged, dtype=np.bool_), np.asarray(count, dtype=np.float64))]
    rows, starts = _sorted(rows, cells, n_groups)
    sums = [
        (column_sums(part.weight, part.judged), column_sums(part.weight, part.failed))
        for part in (take(rows, slice(a, b)) for a, b in pairwise(starts))
    ]
    k = rows.judged.shape[1]
    judged_weight = np.array([one for one, _ in sums]).reshape(n_groups, k)
    failed_weight = np.array([two for _, two in sums]).reshape(n_groups, k)
    valid = (judged_weight > 0.0).all(axis=1)
    kept = np.flatnonzero(valid).astype(np.int64)
    if not valid.all():
        inside = np.repeat(valid, np.diff(starts))
        rows = take(rows, np.flatnonzero(inside))
        starts = np.concatenate([[0], np.cumsum(np.diff(starts)[valid])]).astype(np.int64)
    left_out = tuple(int(g) for g in np.flatnonzero(~valid))
    return _products(rows, starts, kept, left_out, judged_weight[valid], failed_weight[valid])


def _sorted(rows: Rows, cells: Ints, n_groups: int) -> tuple[Rows, Ints]:
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_groups))]).astype(np.int64)
    if cells.size and np.any(cells[1:] < cells[:-1]):
        rows = take(rows, np.argsort(cells, kind="stable"))
    return rows, starts


def _products(  # noqa: PLR0917 (the parts of one record)
    rows: Rows, starts: Ints, kept: Ints, left_out: tuple[int, ...], judged: Floats, failed: Floats
) -> GroupRates:
    pooled_judged, pooled_failed = judged.sum(axis=0), failed.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_rates = np.log(failed) - np.log(judged)
        log_products = log_rates.sum(axis=1)
        log_weights = (np.log(judged) - np.log(pooled_judged)).sum(axis=1)
        log_expected = float((np.log(pooled_failed) - np.log(pooled_judged)).sum()) if kept.size else -math.inf
    empty = failed <= 0.0
    people = rows.n / rows.total_weight if kept.size else 1.0  # half an individual, whatever weights mean
    return GroupRates(
        rows=rows,
        starts=starts,
        kept=kept,
        left_out=left_out,
        judged=judged,
        failed=failed,
        log_products=log_products,
        log_weights=log_weights,
        log_expected=log_expected,
        log_smoothed=np.where(empty, np.log(0.5 / (judged * people + 1.0)), log_rates).sum(axis=1)
        if kept.size
        else log_products,
    )
