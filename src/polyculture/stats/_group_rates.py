"""Failure rates by group and model, their products on the logarithm, and the variances of those.

The measures made of them stand in ``group_homogenization``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from polyculture.stats._rows import (
    Bools,
    Floats,
    Ints,
    Rows,
    cluster_totals,
    column_sums,
    covariance,
    make_rows,
    row_sums,
    take,
    used_rows,
)

__all__ = ["GroupRates", "group_rates", "relative_biases"]

# As in ``moments``: variance of the logarithm of a rate without an event.
_VARIANCE_OF_EMPTY_LOG = math.pi**2 / 2


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
    var_log_products, var_log_ratios : ndarray, shape (G,)
        Variances of log prod_j f_gj (0 where it is -inf), and of the smoothed one less log E.
    var_log_average, var_log_uniform : float
        Variances of the logarithms of the two means over groups.
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
    var_log_products: Floats
    var_log_ratios: Floats
    var_log_average: float
    var_log_uniform: float

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
    """Return rates, products and variances by group; groups in which a model judged nobody are left out."""
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
    return _with_variances(rows, starts, kept, left_out, judged_weight[valid], failed_weight[valid])


def relative_biases(rates: GroupRates) -> Floats:
    """Return the estimated relative bias of each group's product, from the covariances of its rates.

    A product of k estimated rates is too large by sum_{j<l} cov(f_j, f_l) / (f_j f_l), relatively: for one set of
    individuals sum_{j<l} (f_jl / (f_j f_l) - 1) / n. With clusters or weights it grows as the variance of the
    logarithm of the product does. A group with a rate of 0 or 1 shows no covariance of its own, and takes that of
    everyone.
    """
    rows = rates.rows
    everyone = _excess_covariance(rows, rates.judged.sum(axis=0), rates.failed.sum(axis=0)) * rows.total_weight
    result = np.empty(rates.kept.size)
    for g in range(rates.kept.size):
        degenerate = (rates.failed[g] <= 0.0) | (rates.failed[g] >= rates.judged[g])
        if degenerate.any():
            result[g] = everyone / float(rates.judged[g].mean())
            continue
        part = rates.group(g)
        own = _excess_covariance(part, rates.judged[g], rates.failed[g])
        simple = _simple_variance(part, rates.judged[g], rates.failed[g])
        result[g] = own * (float(rates.var_log_products[g]) / simple if simple > 0.0 else 1.0)
    return np.abs(result)


def _simple_variance(part: Rows, judged: Floats, failed: Floats) -> float:
    influence = row_sums(part.failed, 1.0 / failed) - row_sums(part.judged, 1.0 / judged)
    return float(part.weight_squared @ influence**2)


def _excess_covariance(part: Rows, judged: Floats, failed: Floats) -> float:
    """Return sum_{j<l} cov(f_j, f_l) / (f_j f_l), individuals taken as independent."""
    inverse, share = 1.0 / failed, 1.0 / judged
    squares = row_sums(part.failed, inverse**2 - 2 * inverse * share) + row_sums(part.judged, share**2)
    return (_simple_variance(part, judged, failed) - float(part.weight_squared @ squares)) / 2.0


def _sorted(rows: Rows, cells: Ints, n_groups: int) -> tuple[Rows, Ints]:
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_groups))]).astype(np.int64)
    if cells.size and np.any(cells[1:] < cells[:-1]):
        rows = take(rows, np.argsort(cells, kind="stable"))
    return rows, starts


def _with_variances(  # noqa: PLR0917 (the parts of one record)
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
    base = GroupRates(
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
        var_log_products=np.zeros(kept.size),
        var_log_ratios=np.zeros(kept.size),
        var_log_average=math.nan,
        var_log_uniform=math.nan,
    )
    if not math.isfinite(log_expected):
        return base
    return _filled(base, empty, pooled_judged, pooled_failed)


def _filled(base: GroupRates, empty: Bools, pooled_judged: Floats, pooled_failed: Floats) -> GroupRates:
    rows, groups = base.rows, base.kept.size
    whole = row_sums(rows.failed, 1.0 / pooled_failed) - row_sums(rows.judged, 1.0 / pooled_judged)
    var_expected = float(covariance(rows, whole)[0, 0])
    whole_totals = cluster_totals(rows, whole)
    # Shares of the groups in the two sums over groups, and in the sum of weights alone.
    in_uniform = np.exp(base.log_products - logsumexp(base.log_products)) if groups else np.zeros(0)
    weighted = base.log_weights + base.log_products
    in_average = np.exp(weighted - logsumexp(weighted))
    in_weights = np.exp(base.log_weights - logsumexp(base.log_weights))
    uniform, average = -whole, -whole
    var_products, var_ratios = np.zeros(groups), np.zeros(groups)
    for g in range(groups):
        part = slice(int(base.starts[g]), int(base.starts[g + 1]))
        own = take(rows, part)
        share = 1.0 / base.judged[g]
        positive = ~empty[g]
        inverse = np.divide(1.0, base.failed[g], out=np.zeros_like(share), where=positive)
        judged_part = row_sums(own.judged, share)
        influence = row_sums(own.failed, inverse) - (
            judged_part if positive.all() else row_sums(own.judged, share * positive)
        )
        uniform[part] += in_uniform[g] * influence
        average[part] += in_average[g] * influence + (in_average[g] - in_weights[g]) * judged_part
        own_variance = float(covariance(own, influence)[0, 0])
        shared = _shared(own, influence, whole[part], whole_totals)
        var_products[g] = own_variance if positive.all() else 0.0
        added = _VARIANCE_OF_EMPTY_LOG * float(empty[g].sum())
        var_ratios[g] = max(own_variance + var_expected - 2.0 * shared, 0.0) + added
    return replace(
        base,
        var_log_products=var_products,
        var_log_ratios=var_ratios,
        var_log_average=float(covariance(rows, average)[0, 0]),
        var_log_uniform=float(covariance(rows, uniform)[0, 0]),
    )


def _shared(own: Rows, influence: Floats, whole: Floats, whole_totals: Floats | None) -> float:
    """Covariance of a group's log product with log E; clusters may reach over several groups."""
    if whole_totals is None or own.cluster is None or own.clusters is None:
        return float(own.weight_squared @ (influence * whole))
    inside = own.cluster >= 0
    totals = np.bincount(own.cluster[inside], (own.weight * influence)[inside], minlength=whole_totals.size)
    alone = float(own.weight_squared[~inside] @ (influence * whole)[~inside])
    return (float(totals @ whole_totals) + alone) * own.clusters / max(own.clusters - 1, 1)
