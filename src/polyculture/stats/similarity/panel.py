"""A panel that decides by majority: its accuracy, and what members of the same rates would reach independently.

Right and wrong only: more than half of the members right is a right majority, a tie counts as half of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rounding import NO_VARIANCE, difference
from polyculture.stats._rows import Floats, Rows, column_sums, covariance, row_sums
from polyculture.stats.intervals import FEWEST_CLUSTERS, Estimated, few_clusters, quantile, undefined
from polyculture.stats.poisson_binomial import pmf
from polyculture.stats.similarity.cells import Cells
from polyculture.stats.similarity.collection import NO_VARIATION, NOTHING_IN_COMMON, TOO_FEW_VARY
from polyculture.stats.similarity.multiplicity import share_of_individuals

__all__ = ["Majority", "effective_numbers_without", "majorities_without", "majority"]

_STEP = 1e-5  # of a failure rate, for the derivative of what independent members reach
_MOST_SETS = 4096


@dataclass(frozen=True, eq=False)
class Majority:
    """Accuracy of the majority, that of independent members, their difference, and ties of both."""

    observed: Estimated
    independent: float | None
    difference: Estimated
    ties: float | None
    ties_independent: float | None


def _won(judged: Floats, failed: Floats) -> Floats:
    """Return 1 where most are right, 1/2 at a tie, 0 otherwise."""
    return np.asarray((2 * failed < judged) + 0.5 * (2 * failed == judged))


def _chances(sets: np.ndarray, rates: Floats) -> tuple[Floats, Floats]:
    """Return for each judged set (S, k) the chance of a right majority and of a tie, (S,)."""
    law = pmf(np.where(sets, rates, 0.0))
    m, t = sets.sum(axis=1)[:, None].astype(float), np.arange(sets.shape[1] + 1)[None, :].astype(float)
    return (law * _won(m, t)).sum(axis=1), (law * (2 * t == m)).sum(axis=1)


def majority(rows: Rows, share: float = 1.0) -> Majority:
    """Return how often the majority is right, against members who fail independently at their own rates.

    Parameters
    ----------
    rows : Rows
        The pattern table.
    share : float
        Rows for each individual, where rows are a sample.

    Notes
    -----
    Where members judged different individuals, independence is the mean over individuals of their own members'
    law. The interval of the difference is by the delta method: rates are estimated from the same individuals.
    """
    used = rows.judged.any(axis=1)
    if not used.any():
        none = undefined("no individual was judged")
        return Majority(none, None, none, None, None)
    ones = np.ones(rows.judged.shape[1])
    m, t = row_sums(rows.judged, ones), row_sums(rows.failed, ones)
    won = _won(m, t)
    total = rows.total_weight
    value, ties = float(rows.weight @ won) / total, float(rows.weight @ (2 * t == m)) / total
    observed = _observed(rows, won, share)
    sets, which = np.unique(rows.judged, axis=0, return_inverse=True) if not rows.complete else (rows.judged[:1], None)
    if len(sets) > _MOST_SETS:
        why = undefined(f"members judged more than {_MOST_SETS:,} different sets of individuals")
        return Majority(observed, None, why, ties, None)
    weights = np.array([total]) if which is None else np.bincount(which.ravel(), rows.weight, len(sets))
    judged = column_sums(rows.weight, rows.judged)
    rates = column_sums(rows.weight, rows.failed) / np.where(judged > 0, judged, 1.0)

    def reached(at: Floats) -> tuple[float, float]:
        right, tied = _chances(sets, np.clip(at, 0.0, 1.0))
        return float(weights @ right) / total, float(weights @ tied) / total

    expected, tied = reached(rates)
    slopes = np.array([(reached(rates + step)[0] - reached(rates - step)[0]) for step in np.eye(len(rates)) * _STEP])
    # At a rate of 0 or 1 the step is cut in half by the clipping.
    slopes /= np.clip(rates + _STEP, 0, 1) - np.clip(rates - _STEP, 0, 1)
    per_rate = slopes * total / np.where(judged > 0, judged, 1.0)
    moved = row_sums(rows.failed, per_rate) - row_sums(rows.judged, per_rate * rates)
    apart = _difference(rows, difference(value, expected), won - value - moved, share)
    return Majority(observed, expected, apart, ties, tied)


def _observed(rows: Rows, won: Floats, share: float) -> Estimated:
    """Return the accuracy with Jeffreys limits: a tie is half an event."""
    everyone = np.ones(len(won), dtype=np.bool_)
    whole = share_of_individuals(rows, won == 1.0, everyone, share=share)
    if not np.any(won == 0.5) or whole.value is None:
        return whole
    half = share_of_individuals(rows, won >= 0.5, everyone, share=share)
    # Between the limits of "ties are wrong" and "ties are right", as the value lies between theirs.
    value = float(rows.weight @ won) / rows.total_weight
    if whole.low is None or half.low is None or whole.high is None or half.high is None:
        return Estimated(value, reason=whole.reason)
    middle = [(one + other) / 2 for one, other in ((whole.low, half.low), (whole.high, half.high))]
    return Estimated(value, middle[0], middle[1], f"{whole.method}, ties as half")


def _difference(rows: Rows, value: float, influence: Floats, share: float) -> Estimated:
    if rows.clusters is not None and rows.clusters < FEWEST_CLUSTERS:
        return Estimated(value, reason=few_clusters(rows.clusters))
    centred = influence - float(rows.weight @ influence) / rows.total_weight
    variance = float(covariance(rows, centred)[0, 0]) / rows.total_weight**2 * share
    if variance <= NO_VARIANCE:
        return Estimated(value, reason="the data show no variation to make an interval of")
    half = quantile(clusters=rows.clusters) * math.sqrt(variance)
    return Estimated(value, max(-1.0, value - half), min(1.0, value + half), "delta method")


def effective_numbers_without(cells: Cells, varying: np.ndarray) -> list[Estimated]:
    """Return n_eff of the panel without each of its k members.

    Parameters
    ----------
    cells : Cells
        The four cells of every pair.
    varying : (k,) bool
        Which members fail some individuals but not all; leaving out one of the others changes nothing.

    Returns
    -------
    list of Estimated
        Without intervals; undefined, with the reason, where n_eff does not exist.
    """
    p = cells.shares()
    rate = p.both + p.first
    cross = np.where(varying[:, None] & varying[None, :], p.both - rate * rate.T, 0.0)
    own = np.where(varying, np.diag(rate) * (1 - np.diag(rate)), 0.0)
    np.fill_diagonal(cross, own)
    if np.isnan(cross).any():
        return [undefined(NOTHING_IN_COMMON)] * len(own)
    members = varying.sum() - varying.astype(float)
    top, bottom = members * (own.sum() - own), cross.sum() - 2 * cross.sum(axis=1) + own
    return [
        undefined(TOO_FEW_VARY) if left < 2 else Estimated(float(a / b)) if b > 1e-15 else undefined(NO_VARIATION)
        for left, a, b in zip(members, top, bottom, strict=True)
    ]


def majorities_without(rows: Rows) -> list[Estimated]:
    """Return the accuracy of the majority without each of the k members; undefined where nobody is left to judge."""
    k = rows.judged.shape[1]
    ones = np.ones(k)
    m, t = row_sums(rows.judged, ones), row_sums(rows.failed, ones)
    found = []
    for member in range(k):
        judged, failed = m - rows.judged[:, member], t - rows.failed[:, member]
        weight = rows.weight * (judged > 0)
        total = float(weight.sum())
        accuracy = Estimated(float(weight @ _won(judged, failed)) / total) if total > 0 else None
        found.append(accuracy or undefined("no other member judged anybody"))
    return found
