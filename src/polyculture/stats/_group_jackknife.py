"""Group homogenization without one individual (or cluster) at a time, and what that says of its bias.

Plain values and intervals stand in ``group_homogenization``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._group_rates import GroupRates
from polyculture.stats._rows import Bools, Floats, Ints, Rows, log_sum, row_sums

__all__ = ["Corrected", "corrected_ratios"]


# Numbers (clusters x groups x models) up to which clusters are left out one at a time.
_MOST_CELLS = 30_000_000


@dataclass(frozen=True)
class Corrected:
    """Jackknifed average, uniform and worst; None, with the reason, where a group cannot lose a member.

    With clusters also the jackknife variances of log average and log uniform.
    """

    average: float | None
    uniform: float | None
    worst: float | None
    reason: str = ""
    var_log_average: float = 0.0
    var_log_uniform: float = 0.0


@dataclass(frozen=True, eq=False)
class _Units:
    """What can be left out of a group: weighted judgements and failures of a unit, and how many units are alike."""

    judged: Floats | Bools  # (U, k)
    failed: Floats | Bools
    alike: Floats  # (U,)
    unit_weights: bool  # individuals of weight 1: the tables stay Boolean


def corrected_ratios(rates: GroupRates) -> Corrected:
    """Return the stratified delete-one jackknife of average, uniform and worst.

    Parameters
    ----------
    rates : GroupRates
        Rates by group.

    Returns
    -------
    Corrected
        theta + sum_g (n_g - 1) / n_g sum_{i in g} (theta - theta without i); with C clusters, which may reach over
        groups, C theta - (C - 1) mean_c (theta without c). ``worst`` is the largest of the corrected ratios.
    """
    if rates.kept.size == 1:
        return Corrected(1.0, 1.0, 1.0)
    if rates.rows.cluster is not None:
        return _by_clusters(rates, rates.rows.cluster)
    pooled = rates.judged.sum(axis=0), rates.failed.sum(axis=0)
    log_ratios = rates.log_products - rates.log_expected
    top = float(log_ratios.max())
    if not np.isfinite(top) or top > 600.0:
        return _none("the largest ratio is 0 or too large for a number")
    ratios = np.exp(log_ratios)
    weighted, weights = rates.log_weights + rates.log_products, rates.log_weights
    all_weighted, all_weights = log_sum(weighted), log_sum(weights)
    average = float(np.exp(all_weighted - all_weights - rates.log_expected))
    own, through_expected = np.zeros(ratios.size), np.zeros(ratios.size)
    average_shift = 0.0
    for g in range(ratios.size):
        units = _units(rates.group(g))
        members = float(units.alike.sum())
        if members < 2 or not _can_lose(units, rates.judged[g]):
            return _none("a group has too few members to leave one out")
        factor = (members - 1.0) / members * units.alike
        lost_judged, lost_failed = (
            _log_without(units.judged, rates.judged[g], units),
            _log_without(units.failed, rates.failed[g], units),
        )
        expected = _log_without(units.failed, pooled[1], units) - _log_without(units.judged, pooled[0], units)
        if np.isneginf(expected).any():
            return _none("a model has all its failures in one individual or cluster")
        product = lost_failed - lost_judged
        own[g] = float(factor @ (ratios[g] - np.exp(log_ratios[g] + product - expected)))
        through_expected[g] = float(factor @ (1.0 - np.exp(-expected)))
        rest_weighted = _log_replaced(all_weighted, weighted[g], lost_failed)
        rest_weights = _log_replaced(all_weights, weights[g], lost_judged)
        without = np.exp(rest_weighted - rest_weights - rates.log_expected - expected)
        average_shift += float(factor @ (average - without))
    elsewhere = through_expected.sum() - through_expected
    corrected = ratios + own + ratios * elsewhere
    return Corrected(average + average_shift, float(corrected.mean()), float(corrected.max()))


def _by_clusters(rates: GroupRates, cluster: Ints) -> Corrected:
    groups, k = rates.failed.shape
    size = int(cluster.max()) + 1
    if cluster.min() < 0 or size * groups * k > _MOST_CELLS:
        return _none("some individuals are in no cluster, or there are too many clusters to leave one out")
    code = cluster * groups + np.repeat(np.arange(groups), np.diff(rates.starts))
    judged, failed = (
        total[None]
        - np.array([np.bincount(code, rates.rows.weight * table[:, j], size * groups) for j in range(k)])
        .reshape(k, size, groups)
        .transpose(1, 2, 0)
        for total, table in ((rates.judged, rates.rows.judged), (rates.failed, rates.rows.failed))
    )
    failed[failed < 1e-9 * rates.failed] = 0.0
    if np.any(judged <= 1e-9 * rates.judged):
        return _none("a group has too few members to leave one out")
    with np.errstate(divide="ignore"):
        logs = np.log(failed).sum(axis=2)
        weights = np.log(judged).sum(axis=2)
        expected = (np.log(failed.sum(axis=1)) - np.log(judged.sum(axis=1))).sum(axis=1)
    if np.isneginf(expected).any():
        return _none("a model has all its failures in one individual or cluster")
    products = logs - weights
    ratios = np.exp(rates.log_products - rates.log_expected)
    without = np.exp(products - expected[:, None])
    average = np.array([log_sum(one) - log_sum(two) for one, two in zip(logs, weights, strict=True)]) - expected
    plain_average = log_sum(rates.log_weights + rates.log_products) - log_sum(rates.log_weights) - rates.log_expected
    corrected = size * ratios - (size - 1) * without.mean(axis=0)
    uniform = without.mean(axis=1)
    return Corrected(
        float(size * np.exp(plain_average) - (size - 1) * np.exp(average).mean()),
        float(corrected.mean()),
        float(corrected.max()),
        var_log_average=_jackknife_variance(average),
        var_log_uniform=_jackknife_variance(np.log(uniform)) if uniform.min() > 0.0 else 0.0,
    )


def _jackknife_variance(left_out: Floats) -> float:
    if not np.isfinite(left_out).all():
        return 0.0
    return float((left_out.size - 1) / left_out.size * ((left_out - left_out.mean()) ** 2).sum())


def _none(reason: str) -> Corrected:
    return Corrected(None, None, None, reason)


def _units(part: Rows) -> _Units:
    if np.array_equal(part.weight, part.count):
        return _Units(part.judged, part.failed, part.count, True)
    each = (part.weight / part.count)[:, None]  # of a row, every individual has the mean weight
    return _Units(part.judged * each, part.failed * each, part.count, False)


def _can_lose(units: _Units, judged: Floats) -> bool:
    most = units.judged.max(axis=0) if not units.unit_weights else np.ones(judged.size)
    return bool(np.all(judged - most > 1e-9 * judged))


def _log_without(table: Floats | Bools, total: Floats, units: _Units) -> Floats:
    """Change of log prod_j total_j when a unit is left out: -inf where nothing is left of a model."""
    present = total > 0.0
    safe = np.where(present, total, 1.0)
    if not units.unit_weights:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log1p(-np.minimum(table / safe, 1.0)).sum(axis=1))
    booleans = np.asarray(table, dtype=np.bool_)
    last = present & (total <= 1.0)
    change = row_sums(booleans, np.where(present & ~last, np.log1p(-np.where(last, 0.0, 1.0 / safe) * present), 0.0))
    if last.any():
        change[booleans[:, last].any(axis=1)] = -np.inf
    return change


def _log_replaced(log_sum: float, log_term: float, change: Floats) -> Floats:
    """Return log(sum - term + term * exp(change)), term by term."""
    share = float(np.exp(log_term - log_sum))
    with np.errstate(divide="ignore"):
        return np.asarray(log_sum + np.log(np.maximum(1.0 + share * np.expm1(change), 0.0)))
