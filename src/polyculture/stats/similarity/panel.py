"""A panel that decides by majority: its accuracy, and what members of the same rates would reach independently.

Right and wrong only: more than half of the members right is a right majority, a tie counts as half of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rounding import NO_VARIANCE, difference
from polyculture.stats._rows import Bools, Floats, Rows, column_sums, covariance, row_codes, row_sums
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


def _won(lead: Floats) -> Floats:
    """Return 1 where most are right, 1/2 at a tie, 0 otherwise; of wrong members less right ones."""
    return np.asarray((lead < 0) + 0.5 * (lead == 0))


def _lead(rows: Rows) -> Floats:
    """Return wrong members less right ones for each row, (P,)."""
    return 2.0 * rows.failed_number - rows.judged_number


def _chances(sets: np.ndarray, rates: Floats) -> tuple[Floats, Floats]:
    """Return for each judged set (S, k) the chance of a right majority and of a tie, (S,)."""
    law = pmf(np.where(sets, rates, 0.0))
    m, t = sets.sum(axis=1)[:, None].astype(float), np.arange(sets.shape[1] + 1)[None, :].astype(float)
    return (law * _won(2 * t - m)).sum(axis=1), (law * (2 * t == m)).sum(axis=1)


def majority(rows: Rows, numbers: Rows, rates: Floats, share: float = 1.0) -> Majority:
    """Return how often the majority is right, against members who fail independently at their own rates.

    Parameters
    ----------
    rows : Rows
        The pattern table, or some of it.
    numbers : Rows
        A table of everyone in which each individual is judged, and failed, by as many members; by which does not
        matter. Where ``rows`` are everyone, the same table.
    rates : (k,) float64
        Failure rates of everyone; 0 for members that judged nobody.
    share : float
        Individuals of ``rows`` for each of ``numbers``.

    Notes
    -----
    Where members judged different individuals, independence is the mean over individuals of their own members'
    law. The interval of the difference is by the delta method: rates are estimated from the same individuals.
    """
    if not rows.judged.any():
        none = undefined("no individual was judged")
        return Majority(none, None, none, None, None)
    lead = _lead(numbers)
    won = _won(lead)
    value = float(numbers.weight @ won) / numbers.total_weight
    ties = float(numbers.weight @ (lead == 0)) / numbers.total_weight
    observed = _observed(numbers, won)
    sets, weights = _judged_sets(rows)
    if len(sets) > _MOST_SETS:
        why = undefined(f"members judged more than {_MOST_SETS:,} different sets of individuals")
        return Majority(observed, None, why, ties, None)
    total = rows.total_weight

    def reached(at: Floats) -> tuple[float, float]:
        right, tied = _chances(sets, np.clip(at, 0.0, 1.0))
        return float(weights @ right) / total, float(weights @ tied) / total

    expected, tied = reached(rates)
    slopes = np.array([(reached(rates + step)[0] - reached(rates - step)[0]) for step in np.eye(len(rates)) * _STEP])
    # At a rate of 0 or 1 the step is cut in half by the clipping.
    slopes /= np.clip(rates + _STEP, 0, 1) - np.clip(rates - _STEP, 0, 1)
    per_rate = slopes * total / np.where(rows.judged_weight > 0, rows.judged_weight, 1.0)
    moved = row_sums(rows.failed, per_rate) - row_sums(rows.judged, per_rate * rates)
    apart = _difference(rows, difference(value, expected), _won(_lead(rows)) - value - moved, share)
    return Majority(observed, expected, apart, ties, tied)


def _judged_sets(rows: Rows) -> tuple[Bools, Floats]:
    """Return the different judged sets, (S, k), and the weight of their individuals."""
    if rows.complete:
        return rows.judged[:1], np.array([rows.total_weight])
    sets, which = row_codes(rows.judged)
    return sets, np.bincount(which, rows.weight, len(sets)).astype(np.float64)


def _observed(rows: Rows, won: Floats) -> Estimated:
    """Return the accuracy with Jeffreys limits: a tie is half an event."""
    everyone = np.ones(len(won), dtype=np.bool_)
    whole = share_of_individuals(rows, won == 1.0, everyone)
    if not np.any(won == 0.5) or whole.value is None:
        return whole
    half = share_of_individuals(rows, won >= 0.5, everyone)
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
    """Return the accuracy of the majority without each of the k members; undefined where nobody is left to judge.

    Without a member, twice the failures less the judgements moves by one: up where it was right, down where it was
    wrong. So a majority changes only where these are within one of each other.
    """
    lead = _lead(rows)
    now, weight = _won(lead), rows.weight
    near = np.flatnonzero(np.abs(lead) <= 1)
    right, wrong = rows.judged[near] & ~rows.failed[near], rows.failed[near]
    up, down = (weight[near] * (_won(lead[near] + step) - now[near]) for step in (1, -1))
    # Whom only this member judged, nobody judges without it: the sums hold these as ties.
    only = rows.judged_number == 1
    alone = column_sums(weight[only], rows.judged[only])
    reached = float(weight @ now) + column_sums(up, right) + column_sums(down, wrong) - alone / 2
    return [
        Estimated(float(a / b)) if b > 0 else undefined("no other member judged anybody")
        for a, b in zip(reached, rows.total_weight - alone, strict=True)
    ]
