"""The same individuals measured twice: the difference of two rates or means, and its test.

Which event is measured is decided elsewhere; here stand four counts of a 2 x 2 table, or sums.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtr, stdtr

from polyculture.stats._interval import FEWEST_CLUSTERS, Interval, few_clusters, no_interval, quantile
from polyculture.stats.intervals import mover_difference, wilson

__all__ = ["mcnemar", "mean_change", "newcombe_paired", "wald_test"]

_MOST_EXACT = 100_000  # discordant individuals; beyond, exact and normal p-values agree to 3 digits


def newcombe_paired(both: float, only_before: float, only_after: float, n: float, level: float = 0.95) -> Interval:
    """Return Newcombe's interval of the change of a rate, after minus before, over the same individuals.

    Parameters
    ----------
    both, only_before, only_after : float
        Individuals with the event at both times, at the first only, at the second only; may be effective numbers.
    n : float
        Individuals in all.
    level : float
        Level of the interval.

    Returns
    -------
    Interval
        Never of width zero; undefined without individuals.

    Raises
    ------
    ValueError
        If a count is negative or they are more than n.

    Notes
    -----
    Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired
    data, method 10: Wilson limits of both rates, square-and-add with phi, where a positive phi has the numerator of
    its determinant reduced by n / 2, not below 0.

    Examples
    --------
    >>> interval = newcombe_paired(53, 16, 8, 80)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.219, 0.022)
    """
    neither = n - both - only_before - only_after
    if min(both, only_before, only_after) < 0 or neither < -1e-6 * (1 + n):
        raise ValueError("counts must not be negative, nor more than n.")
    if n <= 0:
        return no_interval("no individual was judged at both snapshots")
    neither = max(neither, 0.0)
    before, after = both + only_before, both + only_after
    margins = before * (n - before) * after * (n - after)
    determinant = both * neither - only_before * only_after
    phi = 0.0
    if margins > 0:
        numerator = max(determinant - n / 2, 0.0) if determinant > 0 else determinant
        phi = numerator / math.sqrt(margins)
    found = mover_difference(after / n, wilson(after, n, level), before / n, wilson(before, n, level), phi)
    return found._replace(method="Newcombe, paired") if found.low is not None else found


def mcnemar(only_before: int, only_after: int) -> tuple[float | None, str]:
    """Return the two-sided p-value that a rate did not change over the same individuals.

    Parameters
    ----------
    only_before, only_after : int
        Individuals with the event at the first time only, and at the second only.

    Returns
    -------
    p_value : float or None
        None where nobody changed.
    method : str
        How it was made.

    Notes
    -----
    Given how many changed, those with the event at the first time only are binomial with 1/2 (McNemar 1947). The
    exact p-value is doubled from the smaller tail.

    Examples
    --------
    >>> p, method = mcnemar(16, 8)
    >>> round(p, 4), method
    (0.1516, 'McNemar, exact')
    """
    changed = only_before + only_after
    if changed == 0:
        return None, "nobody changed, so that there is nothing to test"
    smaller = min(only_before, only_after)
    if changed <= _MOST_EXACT:
        return min(1.0, 2.0 * float(bdtr(smaller, changed, 0.5))), "McNemar, exact"
    z = (abs(only_before - only_after) - 1) / math.sqrt(changed)
    return 2.0 * float(ndtr(-z)), "McNemar, normal approximation"


def wald_test(
    difference: float, variance: float, clusters: int | None = None, degrees: int | None = None
) -> tuple[float | None, str]:
    """Return the two-sided p-value of a difference from its variance: normal, or t over clusters."""
    if not variance > 0.0:
        return None, "no variation, so that there is nothing to test"
    statistic = abs(difference) / math.sqrt(variance)
    if clusters is None:
        return 2.0 * float(ndtr(-statistic)), "normal, weighted"
    if clusters < FEWEST_CLUSTERS:
        return None, few_clusters(clusters)
    return 2.0 * float(stdtr(degrees or clusters - 1, -statistic)), f"t over {clusters} clusters"


def mean_change(
    values: ArrayLike,
    weight: ArrayLike,
    *,
    weight_squared: float,
    count: int,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[float | None, float, Interval]:
    """Return the mean of a change that each individual shows, its variance, and its interval.

    Parameters
    ----------
    values, weight : (R,) array_like
        The change, and the weight of the individuals that show it.
    weight_squared : float
        Sum of squared weights over all individuals.
    count : int
        Number of individuals.
    cluster : (R,) array_like, optional
        Cluster of each row.
    level : float
        Level of the interval.

    Returns
    -------
    mean : float or None
        None without individuals.
    variance : float
        Of the mean.
    interval : Interval
        Normal, or t over clusters; undefined where nothing varies.

    Examples
    --------
    >>> mean, _, interval = mean_change([-1, 0, 1], [30, 60, 10], weight_squared=100, count=100)
    >>> round(mean, 2), round(interval.low, 3), round(interval.high, 3)
    (-0.2, -0.318, -0.082)
    """
    value, mass = np.asarray(values, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    total = float(mass.sum())
    if total <= 0 or count < 1:
        return None, 0.0, no_interval("no individual was judged at both snapshots")
    mean = float(value @ mass) / total
    residual = mass * (value - mean)
    clusters: int | None = None
    if cluster is None:
        spread = float(mass @ (value - mean) ** 2) / total
        effective = total * total / weight_squared
        variance = spread / max(effective - 1, 1.0)
    else:
        names, at = np.unique(np.asarray(cluster), return_inverse=True)
        clusters = len(names)
        sums = np.bincount(at, weights=residual)
        variance = float(sums @ sums) / total**2 * clusters / max(clusters - 1, 1)
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return mean, variance, no_interval(few_clusters(clusters))
    if not variance > 0.0:
        return mean, 0.0, no_interval("the data show no variation, so that an interval would have no width")
    half = quantile(level, clusters if clusters is not None else None) * math.sqrt(variance)
    method = "paired mean, normal" if clusters is None else f"paired mean, t over {clusters} clusters"
    return mean, variance, Interval(max(mean - half, -1.0), min(mean + half, 1.0), method)
