"""Rules that make the interval of a difference or a ratio from the intervals of two estimates.

Intervals of single rates stand in ``intervals``.
"""

from __future__ import annotations

import math

from polyculture.stats._interval import Interval, no_interval

__all__ = ["mover_difference", "mover_ratio_log", "newcombe_from_intervals"]


def newcombe_from_intervals(est1: float, iv1: Interval, est2: float, iv2: Interval) -> Interval:
    """Return Newcombe's square-and-add interval of a difference from two independent intervals.

    Examples
    --------
    >>> from polyculture.stats.intervals import wilson
    >>> interval = newcombe_from_intervals(0.8, wilson(56, 70), 0.6, wilson(48, 80))
    >>> round(interval.low, 4), interval.method
    (0.0524, 'Newcombe')
    """
    return mover_difference(est1, iv1, est2, iv2)._replace(method="Newcombe")


def mover_difference(est1: float, iv1: Interval, est2: float, iv2: Interval, correlation: float = 0.0) -> Interval:
    """Return the interval of ``est1 - est2`` from the intervals of both (MOVER).

    Parameters
    ----------
    est1, est2 : float
        Estimates.
    iv1, iv2 : Interval
        Their intervals, of one level.
    correlation : float
        Correlation of the two estimates.

    Returns
    -------
    Interval
        Undefined, with the reason, where one of the two is.

    Notes
    -----
    Method of variance estimates recovery: Zou and Donner (2008); with correlation Zou (2007).

    Examples
    --------
    >>> one, other = Interval(0.1, 0.4, ""), Interval(0.0, 0.2, "")
    >>> interval = mover_difference(0.2, one, 0.1, other)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0414, 0.3236)
    """
    if iv1.low is None or iv1.high is None:
        return no_interval(iv1.reason)
    if iv2.low is None or iv2.high is None:
        return no_interval(iv2.reason)
    down1, up1 = max(est1 - iv1.low, 0.0), max(iv1.high - est1, 0.0)
    down2, up2 = max(est2 - iv2.low, 0.0), max(iv2.high - est2, 0.0)
    difference = est1 - est2
    low = difference - _square_and_add(down1, up2, correlation)
    high = difference + _square_and_add(up1, down2, correlation)
    if not low < high:
        return no_interval("the data show no variation, so that an interval would have no width")
    return Interval(low, high, "MOVER")


def _square_and_add(a: float, b: float, correlation: float) -> float:
    if math.isinf(a) or math.isinf(b):
        return math.inf
    return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))


def mover_ratio_log(est1: float, iv1: Interval, est2: float, iv2: Interval, correlation: float = 0.0) -> Interval:
    """Return the interval of the ratio ``est1 / est2`` by MOVER on the logarithms.

    Parameters
    ----------
    est1, est2 : float
        Positive estimates.
    iv1, iv2 : Interval
        Their intervals; a lower limit of 0 makes that side of the ratio open.
    correlation : float
        Correlation of the logarithms of the two estimates.

    Returns
    -------
    Interval
        Of the ratio (not of its logarithm); undefined where an estimate is not positive.

    Examples
    --------
    >>> interval = mover_ratio_log(0.2, Interval(0.1, 0.4, ""), 0.1, Interval(0.05, 0.2, ""))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.75, 5.33)
    """
    if est1 <= 0 or est2 <= 0:
        return no_interval("a ratio of rates needs both above 0")
    if iv1.low is None or iv1.high is None:
        return no_interval(iv1.reason)
    if iv2.low is None or iv2.high is None:
        return no_interval(iv2.reason)
    logs1 = Interval(_log(iv1.low), math.log(iv1.high), "")
    logs2 = Interval(_log(iv2.low), math.log(iv2.high), "")
    logs = mover_difference(math.log(est1), logs1, math.log(est2), logs2, correlation)
    if logs.low is None or logs.high is None:
        return logs
    return Interval(_exp(logs.low), _exp(logs.high), "MOVER on logarithms")


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _exp(value: float) -> float:
    return math.exp(value) if value < 709.0 else math.inf
