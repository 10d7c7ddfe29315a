"""Contrasts between groups: differences, ratios, tests of two rates, and the gap between many.

Single groups are estimated in ``homogeneity``; corrections for several contrasts stand in ``multiplicity``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr

from polyculture.stats._gap import Gap, max_min_gap
from polyculture.stats._rounding import difference
from polyculture.stats._rows import Floats, cluster_totals, degrees_of_totals
from polyculture.stats.excess import observed_size
from polyculture.stats.homogeneity import CENSUS, NOBODY, ONE_MODEL, estimate
from polyculture.stats.intervals import (
    Estimated,
    Interval,
    jeffreys,
    mover_difference,
    mover_ratio_log,
    newcombe_difference,
    no_interval,
    quantile,
    undefined,
    wilson,
)
from polyculture.stats.moments import Moments, has_event

__all__ = [
    "Contrast",
    "Gap",
    "contrast",
    "difference_of_rates",
    "max_min_gap",
    "ratio_of_rates",
    "two_sample_p",
]

NO_EVENT_ELSEWHERE = "no event in the group compared with: the ratio does not exist"


@dataclass(frozen=True)
class _Shared:
    """What clusters do to a difference of two shares: their correlation, and the factor that widens the interval."""

    correlation: float = 0.0
    widening: float = 1.0


@dataclass(frozen=True)
class Contrast:
    """One group against another, in points and as ratios.

    Attributes
    ----------
    difference, ratio : Estimated
        Of the shares of individuals with the event.
    excess_difference : Estimated
        Difference of the excesses, each against its own group's rates.
    homogenization_ratio : Estimated
        Ratio of the two H.
    p_value : float or None
        Of equal shares.
    method : str
        How the p-value was made, or why there is none.
    signs_disagree : bool
        Whether the excess is larger in one group and H in the other.
    """

    difference: Estimated
    ratio: Estimated
    excess_difference: Estimated
    homogenization_ratio: Estimated
    p_value: float | None
    method: str
    signs_disagree: bool


def difference_of_rates(x1: float, n1: float, x2: float, n2: float) -> Estimated:
    """Return ``x1 / n1 - x2 / n2`` with Newcombe's interval; undefined where a group is empty.

    Examples
    --------
    >>> [round(number, 4) for number in difference_of_rates(56, 70, 48, 80)[:3]]
    [0.2, 0.0524, 0.3339]
    """
    if n1 <= 0 or n2 <= 0:
        return undefined(NOBODY)
    return Estimated(difference(x1 / n1, x2 / n2), *newcombe_difference(x1, n1, x2, n2))


def ratio_of_rates(x1: float, n1: float, x2: float, n2: float) -> Estimated:
    """Return the ratio of two rates with a MOVER interval on the logarithm, from Jeffreys limits.

    Undefined where the second rate is 0; at no event in the first group the interval is one-sided.

    Examples
    --------
    >>> [round(number, 3) for number in ratio_of_rates(56, 70, 48, 80)[:3]]
    [1.333, 1.08, 1.666]
    """
    if n1 <= 0 or n2 <= 0:
        return undefined(NOBODY)
    return _ratio(x1 / n1, jeffreys(x1, n1), x2 / n2, jeffreys(x2, n2))


def two_sample_p(x1: float, n1: float, x2: float, n2: float) -> tuple[float | None, str]:
    """Return the two-sided p-value of two equal rates.

    Parameters
    ----------
    x1, n1, x2, n2 : float
        Events and sizes; fractional where they are effective sizes.

    Returns
    -------
    p : float or None
        Conditional exact mid-p (twice the smaller tail) for whole numbers; the score test for effective sizes.
    method : str
        How, or why not.

    Examples
    --------
    >>> p, method = two_sample_p(7, 20, 1, 20)
    >>> round(p, 4), method
    (0.0234, 'conditional exact mid-p')
    """
    if n1 <= 0 or n2 <= 0:
        return None, NOBODY
    whole = all(float(number).is_integer() for number in (x1, n1, x2, n2))
    return _exact(int(x1), int(n1), int(x2), int(n2)) if whole else _score(x1, n1, x2, n2)


def contrast(one: Moments, other: Moments, *, census: bool = False) -> Contrast:
    """Return the contrast of one event between two groups of different individuals.

    Parameters
    ----------
    one, other : Moments
        Moments of the same event in both groups.
    census : bool
        Whether individuals are everyone: no intervals and no test.

    Returns
    -------
    Contrast

    Raises
    ------
    ValueError
        If the events differ.

    Notes
    -----
    With clusters or weights, effective sizes take the place of sizes. Clusters that reach over both groups make the
    two shares correlated; their difference and its test take that in by MOVER (Zou and Donner 2008). The contrasts of
    excess and of H do not, which makes their intervals wider where the correlation is positive.
    """
    if one.event != other.event:
        raise ValueError(f"a contrast needs one event, got {one.event!r} and {other.event!r}.")
    if one.n == 0 or other.n == 0:
        nothing = undefined(NOBODY)
        return Contrast(nothing, nothing, nothing, nothing, None, NOBODY, False)
    first, second = (
        estimate(one, census=census, count_label_errors=False),
        estimate(other, census=census, count_label_errors=False),
    )
    excess = _excess_difference(first.difference, second.difference, census)
    ratio_of_h = _homogenization_ratio(first.log10_ratio, second.log10_ratio, census)
    shared = _Shared() if census else _shared(one, other)
    return Contrast(
        _difference(one, other, first.observed, second.observed, shared),
        _ratio(one.observed, _interval(first.observed), other.observed, _interval(second.observed), shared.correlation),
        excess,
        ratio_of_h,
        *_test(one, other, first.observed, second.observed, shared),
        signs_disagree=_disagree(excess, ratio_of_h),
    )


def _exact(x1: int, n1: int, x2: int, n2: int) -> tuple[float, str]:
    total, events = n1 + n2, x1 + x2
    mean = n1 * (events / total)
    sd = math.sqrt(mean * (n2 / total) * max(total - events, 0) / max(total - 1, 1))
    low = max(0, events - n2, math.floor(mean - 9.5 * sd - 40.0))
    high = min(n1, events, math.ceil(mean + 9.5 * sd + 40.0))
    y = np.arange(low, high + 1, dtype=np.float64)
    logs = -(gammaln(y + 1) + gammaln(n1 - y + 1) + gammaln(events - y + 1) + gammaln(n2 - events + y + 1))
    law = np.exp(logs - logs.max())
    law /= law.sum()
    at = float(law[y == x1].sum()) / 2
    p = 2.0 * min(float(law[y < x1].sum()) + at, float(law[y > x1].sum()) + at)
    return float(np.clip(p, 1e-15, 1.0)), "conditional exact mid-p"


def _score(x1: float, n1: float, x2: float, n2: float, shared: _Shared = _Shared()) -> tuple[float | None, str]:
    pooled = (x1 + x2) / (n1 + n2)
    parts = pooled * (1.0 - pooled) / n1, pooled * (1.0 - pooled) / n2
    variance = parts[0] + parts[1] - 2.0 * shared.correlation * math.sqrt(parts[0] * parts[1])
    if variance <= 0.0:
        return 1.0, "both rates are 0 or 1"
    p = 2.0 * float(ndtr(-abs(x1 / n1 - x2 / n2) / math.sqrt(variance) / shared.widening))
    return max(p, 1e-15), "score test with effective sizes"


def _shared(one: Moments, other: Moments) -> _Shared:
    """Return what clusters that reach over both groups do to the difference; clusters are numbered alike in both."""
    sums1, sums2 = _event_totals(one), _event_totals(other)
    names1, names2 = one.rows.cluster_names, other.rows.cluster_names
    if sums1 is None or sums2 is None or names1 is None or names2 is None:
        return _Shared()
    names = np.union1d(names1, names2)
    totals = np.zeros((2, names.size))
    totals[0, np.searchsorted(names, names1)] = sums1 / one.rows.total_weight
    totals[1, np.searchsorted(names, names2)] = sums2 / other.rows.total_weight
    spread = math.sqrt(float(totals[0] @ totals[0]) * float(totals[1] @ totals[1]))
    if spread <= 0.0:
        return _Shared()
    correlation = float(np.clip(totals[0] @ totals[1] / spread, -1.0, 1.0))
    degrees = degrees_of_totals(totals[0] - totals[1], names.size)
    # As for the excess: t at the degrees that uneven clusters leave, and about the jackknife's variance.
    ratio = quantile(clusters=degrees + 1.0) / quantile(clusters=names.size)
    return _Shared(correlation, ratio * names.size / max(names.size - 1.0, 1.0))


def _event_totals(moments: Moments) -> Floats | None:
    return cluster_totals(moments.rows, has_event(moments).astype(np.float64) - moments.observed)


def _test(
    one: Moments, other: Moments, first: Estimated, second: Estimated, shared: _Shared
) -> tuple[float | None, str]:
    if first.low is None or second.low is None:
        return None, first.reason or second.reason
    if one.rows.plain and other.rows.plain:
        return two_sample_p(one.events, one.n, other.events, other.n)
    sizes = observed_size(one), observed_size(other)
    return _score(one.observed * sizes[0], sizes[0], other.observed * sizes[1], sizes[1], shared)


def _difference(one: Moments, other: Moments, first: Estimated, second: Estimated, shared: _Shared) -> Estimated:
    value = difference(one.observed, other.observed)
    if first.low is None or second.low is None:
        return Estimated(value, reason=first.reason or second.reason)
    sizes = observed_size(one), observed_size(other)
    if shared == _Shared():
        limits = newcombe_difference(one.observed * sizes[0], sizes[0], other.observed * sizes[1], sizes[1])
        return Estimated(value, *limits)
    parts = wilson(one.observed * sizes[0], sizes[0]), wilson(other.observed * sizes[1], sizes[1])
    limits = mover_difference(one.observed, parts[0], other.observed, parts[1], shared.correlation)
    if limits.low is None or limits.high is None:
        return Estimated(value, *limits)
    low, high = value - (value - limits.low) * shared.widening, value + (limits.high - value) * shared.widening
    return Estimated(value, max(low, -1.0), min(high, 1.0), "MOVER with clusters, from Wilson's limits")


def _ratio(p1: float, iv1: Interval, p2: float, iv2: Interval, correlation: float = 0.0) -> Estimated:
    if p2 <= 0.0:
        return undefined(NO_EVENT_ELSEWHERE)
    if p1 <= 0.0:
        if iv1.high is None or iv2.low is None or iv2.low <= 0.0:
            return Estimated(0.0, reason=iv1.reason or iv2.reason)
        # MOVER for a ratio at a first estimate of 0 (Donner and Zou 2012).
        low = min(iv2.low, p2)
        return Estimated(0.0, 0.0, iv1.high / math.sqrt(low * (2.0 * p2 - low)), "MOVER, one-sided")
    return Estimated(p1 / p2, *mover_ratio_log(p1, iv1, p2, iv2, correlation))


def _excess_difference(one: Estimated, other: Estimated, census: bool) -> Estimated:
    if one.value is None or other.value is None:
        return undefined(one.reason or other.reason)
    limits = (
        no_interval(CENSUS) if census else mover_difference(one.value, _interval(one), other.value, _interval(other))
    )
    return Estimated(difference(one.value, other.value), *limits)


def _homogenization_ratio(one: Estimated, other: Estimated, census: bool) -> Estimated:
    """Ratio of two H, from their intervals on the logarithm (base 10)."""
    if one.value is None or other.value is None:
        return undefined(one.reason or other.reason or ONE_MODEL)
    logs = no_interval(CENSUS) if census else mover_difference(one.value, _interval(one), other.value, _interval(other))
    value = difference(one.value, other.value)
    if abs(value) > 300.0:
        return undefined("too large or too small for a number")
    if logs.low is None or logs.high is None or logs.high > 300.0:
        return Estimated(10.0**value, reason=logs.reason or "the upper limit is too large for a number")
    return Estimated(10.0**value, 10.0**logs.low, 10.0**logs.high, "MOVER on logarithms")


def _disagree(excess: Estimated, ratio: Estimated) -> bool:
    if excess.value is None or ratio.value is None or ratio.value <= 0.0:
        return False
    return excess.value * math.log(ratio.value) < 0.0


def _interval(estimated: Estimated) -> Interval:
    return Interval(estimated.low, estimated.high, estimated.method, estimated.reason)
