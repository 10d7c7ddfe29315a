"""Group homogenization without one individual (or cluster) at a time, and what that says of its bias.

Plain values and intervals stand in ``group_homogenization``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from polyculture.stats._group_rates import GroupRates
from polyculture.stats._rows import Bools, Floats, Ints, Rows, row_sums

__all__ = ["Corrected", "corrected_ratios"]


@dataclass(frozen=True)
class Corrected:
    """Jackknifed average, uniform and worst; None, with the reason, where a group cannot lose a member."""

    average: float | None
    uniform: float | None
    worst: float | None
    reason: str = ""


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
        theta + sum_g (n_g - 1) / n_g sum_{i in g} (theta - theta without i), with clusters as units where there
        are clusters; ``worst`` is the largest of the corrected ratios of the groups.
    """
    if rates.kept.size == 1:
        return Corrected(1.0, 1.0, 1.0)
    pooled = rates.judged.sum(axis=0), rates.failed.sum(axis=0)
    log_ratios = rates.log_products - rates.log_expected
    top = float(log_ratios.max())
    if not np.isfinite(top) or top > 600.0:
        return Corrected(None, None, None, "the largest ratio is 0 or too large for a number")
    ratios = np.exp(log_ratios)
    weighted, weights = rates.log_weights + rates.log_products, rates.log_weights
    all_weighted, all_weights = float(logsumexp(weighted)), float(logsumexp(weights))
    average = float(np.exp(all_weighted - all_weights - rates.log_expected))
    own, through_expected = np.zeros(ratios.size), np.zeros(ratios.size)
    average_shift = 0.0
    for g in range(ratios.size):
        units = _units(rates.group(g))
        members = float(units.alike.sum())
        if members < 2 or not _can_lose(units, rates.judged[g]):
            return Corrected(None, None, None, "a group has too few members to leave one out")
        factor = (members - 1.0) / members * units.alike
        lost_judged, lost_failed = (
            _log_without(units.judged, rates.judged[g], units),
            _log_without(units.failed, rates.failed[g], units),
        )
        expected = _log_without(units.failed, pooled[1], units) - _log_without(units.judged, pooled[0], units)
        if np.isneginf(expected).any():
            return Corrected(None, None, None, "a model has all its failures in one individual or cluster")
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


def _units(part: Rows) -> _Units:
    if part.cluster is not None:
        inside = part.cluster >= 0
        names, code = np.unique(part.cluster[inside], return_inverse=True)
        code = code.astype(np.int64)
        judged, failed = (
            np.vstack([_by_cluster(part.weight[inside], table[inside], code, names.size), _each(part, table, ~inside)])
            for table in (part.judged, part.failed)
        )
        return _Units(judged, failed, np.concatenate([np.ones(names.size), part.count[~inside]]), False)
    if np.array_equal(part.weight, part.count):
        return _Units(part.judged, part.failed, part.count, True)
    everyone = np.ones(part.count.size, dtype=np.bool_)
    return _Units(_each(part, part.judged, everyone), _each(part, part.failed, everyone), part.count, False)


def _by_cluster(weight: Floats, table: Bools, code: Ints, size: int) -> Floats:
    return np.array([np.bincount(code, weight * table[:, j], minlength=size) for j in range(table.shape[1])]).T


def _each(part: Rows, table: Bools, chosen: Bools) -> Floats:
    """Weighted table of single individuals: of a row, each has the mean weight."""
    return np.asarray(table[chosen] * (part.weight / part.count)[chosen][:, None])


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
