"""Intervals of single rates, and the rules that combine two intervals into one.

What is estimated (systemic failure, excess, contrasts) stands in the modules that call these.
An interval that does not exist is an ``Interval`` with None at both ends and a reason.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

__all__ = [
    "FEWEST_CLUSTERS",
    "Estimated",
    "Interval",
    "effective_size",
    "few_clusters",
    "jeffreys",
    "jeffreys_limits",
    "korn_graubard",
    "mover_difference",
    "mover_ratio_log",
    "newcombe_difference",
    "newcombe_from_intervals",
    "no_interval",
    "quantile",
    "undefined",
    "wald_log",
    "wilson",
]

FEWEST_CLUSTERS = 10
"""With fewer clusters than this a figure is descriptive: it gets no interval."""


class Interval(NamedTuple):
    """Two limits and how they were made; both None, with a reason, where there is no interval."""

    low: float | None
    high: float | None
    method: str
    reason: str = ""


class Estimated(NamedTuple):
    """A value with its interval; None with a reason where the value or the interval is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""


def no_interval(reason: str) -> Interval:
    """Return the Interval that does not exist, with the reason."""
    return Interval(None, None, "", reason)


def undefined(reason: str) -> Estimated:
    """Return the Estimated of a number that does not exist, with the reason."""
    return Estimated(None, reason=reason)


def quantile(level: float = 0.95, clusters: float | None = None) -> float:
    """Return the half-width of a two-sided interval in standard errors.

    Parameters
    ----------
    level : float
        Level of the interval, in (0, 1).
    clusters : float, optional
        Number of clusters, or one more than the degrees of freedom: the quantile is then of Student's t with
        ``clusters - 1`` degrees of freedom.

    Returns
    -------
    float
        For example 1.96 at .95 without clusters.

    Raises
    ------
    ValueError
        If the level is outside (0, 1).

    Examples
    --------
    >>> round(quantile(), 3), round(quantile(clusters=20), 3)
    (1.96, 2.093)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level must lie in (0, 1), got {level}.")
    upper = 0.5 + level / 2
    return float(ndtri(upper)) if clusters is None else float(stdtrit(max(clusters - 1, 1), upper))


def jeffreys_limits(
    events: ArrayLike, n: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Jeffreys limits of many rates at once.

    Parameters
    ----------
    events, n : array_like
        Events and sizes of any broadcastable shapes; both may be effective (fractional) sizes.
    level : float
        Level of each interval.

    Returns
    -------
    low, high : ndarray
        Limits; NaN where n is 0. ``low`` is 0 at no event, ``high`` is 1 where all are events.

    Raises
    ------
    ValueError
        If events are negative or more than n.

    Examples
    --------
    >>> low, high = jeffreys_limits([0, 5, 10], 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.224, 0.783], [0.217, 0.776, 1.0])
    """
    x, size = np.broadcast_arrays(np.asarray(events, dtype=np.float64), np.asarray(n, dtype=np.float64))
    rounding = 1e-9 * (1.0 + size)  # effective sizes are products: x may exceed n in the last digits
    if np.any((x < 0.0) | (x > size + rounding)):
        raise ValueError("events must lie between 0 and n.")
    x = np.minimum(x, size)
    tail = (1.0 - level) / 2
    low = np.where(x > 0.0, betaincinv(x + 0.5, size - x + 0.5, tail), 0.0)
    high = np.where(x < size, betaincinv(x + 0.5, size - x + 0.5, 1.0 - tail), 1.0)
    empty = size <= 0.0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def jeffreys(events: float, n: float, level: float = 0.95) -> Interval:
    """Return the Jeffreys interval of a rate.

    Parameters
    ----------
    events, n : float
        Events and size, or effective events and effective size.
    level : float
        Level of the interval.

    Returns
    -------
    Interval
        Lower limit exactly 0 at no event, upper limit exactly 1 where all are events; undefined at n = 0.

    Raises
    ------
    ValueError
        If events are negative or more than n.

    Notes
    -----
    Quantiles of Beta(events + 1/2, n - events + 1/2); Brown, Cai and DasGupta (2001), section 4.

    Examples
    --------
    >>> interval = jeffreys(775, 11987)
    >>> round(interval.low, 4), round(interval.high, 4), interval.method
    (0.0604, 0.0692, 'Jeffreys')
    """
    if n <= 0:
        return no_interval("no individual was judged")
    low, high = jeffreys_limits(events, n, level)
    return Interval(float(low), float(high), "Jeffreys")


def korn_graubard(
    events: float,
    n: float,
    design_effect: float,
    clusters: int,
    level: float = 0.95,
    *,
    degrees: float | None = None,
) -> Interval:
    """Return the interval of a rate from clustered individuals.

    Parameters
    ----------
    events, n : float
        Events and individuals; with weights, ``rate * n`` and n.
    design_effect : float
        Variance of the rate over its variance in a simple random sample of n.
    clusters : int
        Number of clusters.
    level : float
        Level of the interval.
    degrees : float, optional
        Degrees of freedom of the design effect, where they are known to be fewer than ``clusters - 1``.

    Returns
    -------
    Interval
        Undefined below ten clusters: the figure is then descriptive.

    Raises
    ------
    ValueError
        If the design effect is not positive.

    Notes
    -----
    Korn and Graubard (1998): the effective size n / design effect is multiplied by the squared ratio of t
    quantiles (n - 1 over clusters - 1 degrees of freedom) and never exceeds n. Their limits are
    Clopper-Pearson's; here they are Jeffreys', as everywhere.

    Examples
    --------
    >>> interval = korn_graubard(40, 400, 2.0, 20)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.062, 0.151)
    """
    if n <= 0:
        return no_interval("no individual was judged")
    if clusters < FEWEST_CLUSTERS:
        return no_interval(few_clusters(clusters))
    effective = effective_size(n, design_effect, clusters, level, degrees=degrees)
    low, high = jeffreys_limits(events / n * effective, effective, level)
    return Interval(float(low), float(high), f"Jeffreys, Korn-Graubard effective size, {clusters} clusters")


def effective_size(
    n: float, design_effect: float, clusters: int, level: float = 0.95, *, degrees: float | None = None
) -> float:
    """Return the size of a simple random sample with the same information on a rate; see `korn_graubard`.

    Given ``degrees``, the variance is also raised to about the jackknife's, by C / (C - 1).

    Examples
    --------
    >>> round(effective_size(400, 2.0, 20), 1), round(effective_size(400, 2.0, 20, degrees=12.0), 1)
    (176.4, 147.0)
    """
    if not design_effect > 0.0:
        raise ValueError(f"the design effect must be positive, got {design_effect}.")
    half = quantile(level, clusters)
    if degrees is not None and clusters > 1:
        half = quantile(level, degrees + 1.0) * clusters / (clusters - 1.0)
    adjust = (quantile(level, max(int(n), 2)) / half) ** 2
    return float(min(n, n / design_effect * adjust))


def few_clusters(clusters: int) -> str:
    """Return the reason why a figure from so few clusters has no interval."""
    noun = "cluster" if clusters == 1 else "clusters"
    return f"only {clusters} {noun}: the figure is descriptive, an interval needs at least {FEWEST_CLUSTERS}"


def wilson(events: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a rate, the building stone of Newcombe's difference.

    Examples
    --------
    >>> interval = wilson(56, 70)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.6918, 0.877)
    """
    if n <= 0:
        return no_interval("no individual was judged")
    z = quantile(level)
    p = events / n
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if events <= 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if events >= n else min(1.0, (centre + half) / scale)
    return Interval(low, high, "Wilson")


def newcombe_difference(x1: float, n1: float, x2: float, n2: float, level: float = 0.95) -> Interval:
    """Return Newcombe's interval of the difference of two independent rates.

    Parameters
    ----------
    x1, n1, x2, n2 : float
        Events and (effective) sizes of the two groups.
    level : float
        Level of the interval.

    Returns
    -------
    Interval
        Of ``x1 / n1 - x2 / n2``; undefined where a group is empty.

    Notes
    -----
    Newcombe (1998), method 10: square-and-add of two Wilson intervals.

    Examples
    --------
    >>> interval = newcombe_difference(56, 70, 48, 80)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3339)
    """
    if n1 <= 0 or n2 <= 0:
        return no_interval("one of the groups has no individual")
    return newcombe_from_intervals(x1 / n1, wilson(x1, n1, level), x2 / n2, wilson(x2, n2, level))


def newcombe_from_intervals(est1: float, iv1: Interval, est2: float, iv2: Interval) -> Interval:
    """Return Newcombe's square-and-add interval of a difference from two independent intervals.

    Examples
    --------
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
    Method of variance estimates recovery: Zou and Donner (2008), Zou (2009), equation 3 with correlation.

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


def wald_log(log_estimate: float, variance: float, level: float = 0.95, clusters: int | None = None) -> Interval:
    """Return the delta interval of a logarithm, from its estimate and variance.

    Examples
    --------
    >>> interval = wald_log(0.0, 0.25)
    >>> round(interval.low, 2), round(interval.high, 2)
    (-0.98, 0.98)
    """
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return no_interval(few_clusters(clusters))
    if not math.isfinite(log_estimate) or not math.isfinite(variance):
        return no_interval("the logarithm of 0 does not exist")
    if variance <= 0.0:
        return no_interval("the data show no variation, so that an interval would have no width")
    half = quantile(level, clusters) * math.sqrt(variance)
    return Interval(log_estimate - half, log_estimate + half, "delta on the logarithm")


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def _exp(value: float) -> float:
    return math.exp(value) if value < 709.0 else math.inf
