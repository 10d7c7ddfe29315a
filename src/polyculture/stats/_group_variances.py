"""Variances and biases of products of group failure rates, and of their means over groups.

Intervals are made of them in ``group_homogenization``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyculture.stats._group_rates import GroupRates
from polyculture.stats._rows import (
    Floats,
    Ints,
    Rows,
    cluster_totals,
    covariance,
    degrees_of_freedom,
    log_sum,
    row_sums,
)

__all__ = ["GroupVariances", "MeanVariance", "group_variances", "relative_biases", "second_orders"]

# As in ``moments``: variance of the logarithm of a rate without an event.
_VARIANCE_OF_EMPTY_LOG = math.pi**2 / 2
# With more models the covariances between them are not computed.
_MOST_MODELS = 200


@dataclass(frozen=True)
class MeanVariance:
    """Of the logarithm of a mean of products over groups: its variance, and its covariance with log E.

    With clusters also the degrees of freedom of the variance of their difference.
    """

    shares: Floats  # (G,) of the groups in the mean
    variance: float
    covariance: float
    degrees: float | None


@dataclass(frozen=True, eq=False)
class GroupVariances:
    """Variances on the logarithm.

    Attributes
    ----------
    products : ndarray, shape (G,)
        Of log prod_j f_gj to first order, of the models that failed someone in the group.
    second_order : ndarray, shape (G,)
        What pairs of errors, less those of E, add to it; it matters where first orders cancel against log E.
    empty : ndarray, shape (G,)
        What rates of 0, counted as half an event, add to it.
    ratios : ndarray, shape (G,)
        Of log prod_j f_gj - log E, with all three.
    expected : float
        Of log E.
    uniform, average : MeanVariance
        Of the means over groups that uniform and average are made of.
    """

    products: Floats
    second_order: Floats
    empty: Floats
    ratios: Floats
    expected: float
    uniform: MeanVariance
    average: MeanVariance


def group_variances(rates: GroupRates) -> GroupVariances:
    """Return the variances of all products and means; log E must be finite."""
    rows, groups = rates.rows, rates.kept.size
    pooled_judged, pooled_failed = rates.judged.sum(axis=0), rates.failed.sum(axis=0)
    whole = row_sums(rows.failed, 1.0 / pooled_failed) - row_sums(rows.judged, 1.0 / pooled_judged)
    expected = float(covariance(rows, whole)[0, 0])
    whole_totals = cluster_totals(rows, whole)
    in_uniform = _shares(rates.log_products)
    in_average, in_weights = _shares(rates.log_weights + rates.log_products), _shares(rates.log_weights)
    uniform, average = np.zeros_like(whole), np.zeros_like(whole)
    products, shared = np.zeros(groups), np.zeros(groups)
    second = second_orders(rates)
    for g in range(groups):
        part = slice(int(rates.starts[g]), int(rates.starts[g + 1]))
        own = rates.group(g)
        positive = rates.failed[g] > 0.0
        inverse = np.divide(1.0, rates.failed[g], out=np.zeros_like(rates.failed[g]), where=positive)
        judged_part = row_sums(own.judged, 1.0 / rates.judged[g])
        known = judged_part if positive.all() else row_sums(own.judged, positive / rates.judged[g])
        influence = row_sums(own.failed, inverse) - known
        uniform[part] = in_uniform[g] * influence
        average[part] = in_average[g] * influence + (in_average[g] - in_weights[g]) * judged_part
        products[g] = float(covariance(own, influence)[0, 0])
        shared[g] = _shared(own, influence, whole[part], whole_totals)
    empty = _VARIANCE_OF_EMPTY_LOG * (rates.failed <= 0.0).sum(axis=1)
    return GroupVariances(
        products=products,
        second_order=second,
        empty=empty,
        ratios=np.maximum(products + expected - 2.0 * shared, 0.0) + second + empty,
        expected=expected,
        uniform=_mean(rows, in_uniform, uniform, whole),
        average=_mean(rows, in_average, average, whole),
    )


def relative_biases(rates: GroupRates, variances: GroupVariances) -> Floats:
    """Return the estimated relative bias of each group's product, from the covariances of its rates.

    A product of k estimated rates is too large by sum_{j<l} cov(f_j, f_l) / (f_j f_l), relatively: for one set of
    individuals sum_{j<l} (f_jl / (f_j f_l) - 1) / n. With clusters or weights it grows as the variance of the
    logarithm of the product does. A group with a rate of 0 or 1 shows no covariance of its own, and takes that of
    everyone.
    """
    rows = rates.rows
    everyone = _pair_covariance(rows, rates.judged.sum(axis=0), rates.failed.sum(axis=0)) * rows.total_weight
    result = np.empty(rates.kept.size)
    for g in range(rates.kept.size):
        degenerate = (rates.failed[g] <= 0.0) | (rates.failed[g] >= rates.judged[g])
        if degenerate.any():
            result[g] = everyone / float(rates.judged[g].mean())
            continue
        part = rates.group(g)
        own = _pair_covariance(part, rates.judged[g], rates.failed[g])
        simple = _simple_variance(part, rates.judged[g], rates.failed[g])
        result[g] = own * (float(variances.products[g]) / simple if simple > 0.0 else 1.0)
    return np.abs(result)


def _shares(logs: Floats) -> Floats:
    total = log_sum(logs)
    return np.exp(logs - total) if math.isfinite(total) else np.zeros_like(logs)


def _mean(rows: Rows, shares: Floats, influence: Floats, whole: Floats) -> MeanVariance:
    matrix = covariance(rows, influence, whole)
    return MeanVariance(shares, float(matrix[0, 0]), float(matrix[0, 1]), degrees_of_freedom(rows, influence - whole))


def second_orders(rates: GroupRates) -> Floats:
    """Return, for each group, the variance of sum_{j<l} d_j d_l, with d_j the relative error of f_gj less that of f_j.

    By the moments of a normal law with covariance V of the errors: ((1'V1)^2 - 2 |V1|^2 + |V|^2) / 2. Models that
    failed nobody in the group have no relative error there. With very many models 0: such products are far too
    variable to be relied on, and are marked so.
    """
    k = rates.failed.shape[1]
    result = np.zeros(rates.kept.size)
    if k > _MOST_MODELS:
        return result
    rows = rates.rows
    pooled = 1.0 / rates.failed.sum(axis=0), 1.0 / rates.judged.sum(axis=0)
    clusters = rows.cluster if rows.cluster is not None and bool((rows.cluster >= 0).all()) else None
    totals = np.zeros((k, 0)) if clusters is None else _totals(rows, clusters, *pooled)
    everyone = _gram(rows, *pooled) if clusters is None else np.zeros((k, k))
    for g in range(result.size):
        own, part = rates.group(g), slice(int(rates.starts[g]), int(rates.starts[g + 1]))
        positive = rates.failed[g] > 0.0
        inverse = np.divide(1.0, rates.failed[g], out=np.zeros(k), where=positive)
        share = positive / rates.judged[g]
        if clusters is None:
            v = _gram(own, inverse - pooled[0], share - pooled[1]) + everyone - _gram(own, *pooled)
        else:
            errors = _totals(own, clusters[part], inverse, share, totals.shape[1]) - totals
            v = errors @ errors.T
        v[~positive] = v[:, ~positive] = 0.0
        ones = v.sum(axis=1)
        result[g] = max(float(ones.sum() ** 2 - 2.0 * (ones @ ones) + (v**2).sum()) / 2.0, 0.0)
    return result


def _gram(rows: Rows, inverse: Floats, share: Floats) -> Floats:
    """Return the covariance matrix of the errors that individuals make in each rate."""
    k = inverse.size
    gram = np.zeros((k, k))
    step = max(1, (1 << 14) // k)
    for start in range(0, rows.count.size, step):
        part = slice(start, start + step)
        errors = rows.failed[part] * inverse - rows.judged[part] * share
        gram += (errors * rows.weight_squared[part][:, None]).T @ errors
    return gram


def _totals(rows: Rows, cluster: Ints, inverse: Floats, share: Floats, clusters: int = 0) -> Floats:
    """Return the error (k, C) that each cluster makes in each rate."""
    k = inverse.size
    errors = (rows.weight * (rows.failed[:, j] * inverse[j] - rows.judged[:, j] * share[j]) for j in range(k))
    return np.array([np.bincount(cluster, error, clusters) for error in errors])


def _simple_variance(part: Rows, judged: Floats, failed: Floats) -> float:
    influence = row_sums(part.failed, 1.0 / failed) - row_sums(part.judged, 1.0 / judged)
    return float(part.weight_squared @ influence**2)


def _pair_covariance(part: Rows, judged: Floats, failed: Floats) -> float:
    """Return sum_{j<l} cov(f_j, f_l) / (f_j f_l), individuals taken as independent."""
    inverse, share = 1.0 / failed, 1.0 / judged
    squares = row_sums(part.failed, inverse**2 - 2 * inverse * share) + row_sums(part.judged, share**2)
    return (_simple_variance(part, judged, failed) - float(part.weight_squared @ squares)) / 2.0


def _shared(own: Rows, influence: Floats, whole: Floats, whole_totals: Floats | None) -> float:
    """Covariance of a group's log product with log E; clusters may reach over several groups."""
    if whole_totals is None or own.cluster is None or own.clusters is None:
        return float(own.weight_squared @ (influence * whole))
    inside = own.cluster >= 0
    totals = np.bincount(own.cluster[inside], (own.weight * influence)[inside], minlength=whole_totals.size)
    alone = float(own.weight_squared[~inside] @ (influence * whole)[~inside])
    return (float(totals @ whole_totals) + alone) * own.clusters / max(own.clusters - 1, 1)
