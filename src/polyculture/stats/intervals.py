"""Intervals of single rates and of the difference of two; the rules that combine intervals are passed on.

What is estimated (systemic failure, excess, contrasts) stands in the modules that call these.
An interval that does not exist is an ``Interval`` with None at both ends and a reason.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from polyculture.stats._interval import (
    FEWEST_CLUSTERS,
    Estimated,
    Interval,
    few_clusters,
    no_interval,
    quantile,
    undefined,
)
from polyculture.stats._mover import mover_difference, mover_ratio_log, newcombe_from_intervals

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
