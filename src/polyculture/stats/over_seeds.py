"""Means over seeds with t intervals: one number, or a curve with a band that holds everywhere at once.

A seed is the unit: what is averaged within it comes in as one value. Numbers in, numbers out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from polyculture.stats._interval import Estimated, undefined

__all__ = ["from_reported", "log_ratio_values", "over_seeds"]

ONE_SEED = "one seed: how much other seeds would differ is not known"
NO_SEED = "undefined at every seed"
SAME = "all seeds give the same, so that an interval would have no width"


def over_seeds(values: ArrayLike, *, level: float = 0.95, looks: int = 1) -> Estimated:
    """Return the mean of values over seeds with its t interval.

    Parameters
    ----------
    values : array_like, shape (R,)
        One value a seed; NaN where it is undefined there. Seeds without a value are left out.
    level : float
        Level of the interval.
    looks : int
        Intervals that shall hold all at once (a band over so many generations), by Bonferroni. A bootstrap over 3 to 5
        seeds covers .71 to .85, and a band from correlations estimated on as few seeds is no better.

    Returns
    -------
    Estimated
        Undefined where no seed has a value; without an interval where one seed has, or all are the same.

    Examples
    --------
    >>> found = over_seeds([0.70, 0.72, 0.74])
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.72, 0.67, 0.77)
    >>> round(over_seeds([0.70, 0.72, 0.74], looks=10).low, 3)
    0.557
    """
    given = np.asarray(values, dtype=np.float64)
    known = given[np.isfinite(given)]
    if not len(known):
        return undefined(NO_SEED)
    mean = float(known.mean())
    if len(known) == 1:
        return Estimated(mean, reason=ONE_SEED if len(given) == 1 else f"{ONE_SEED}; undefined at the others")
    error = float(known.std(ddof=1)) / math.sqrt(len(known))
    if error <= 1e-12 * max(abs(mean), 1e-6):
        return Estimated(mean, reason=SAME)
    half = float(stdtrit(len(known) - 1, 1.0 - (1.0 - level) / (2.0 * looks))) * error
    method = f"t over {len(known)} seeds" + (f"; simultaneous over {looks} (Bonferroni)" if looks > 1 else "")
    return Estimated(mean, mean - half, mean + half, method)


def from_reported(
    values: ArrayLike, reported: float, sd: float | None = None, seeds: int = 0, *, level: float = 0.95
) -> Estimated:
    """Return how far the mean over seeds is from a reported mean over other seeds, with both spreads.

    Parameters
    ----------
    values : array_like, shape (R,)
        One value a seed; NaN where it is undefined there.
    reported : float
        The other mean.
    sd : float, optional
        Standard deviation of the values that it was made of; where it is not known, ours alone make the interval.
    seeds : int
        How many those were.
    level : float
        Level of the interval.

    Returns
    -------
    Estimated
        Mean minus ``reported``: Welch's t interval, or ours moved.

    Examples
    --------
    >>> found = from_reported([0.70, 0.72, 0.74], 0.80, sd=0.03, seeds=5)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (-0.08, -0.124, -0.036)
    """
    own = over_seeds(values, level=level)
    if own.value is None or own.low is None or own.high is None:
        return own if own.value is None else own._replace(value=own.value - reported)
    if sd is None:
        method = f"{own.method}; how far the reported seeds differ is not known"
        return Estimated(own.value - reported, own.low - reported, own.high - reported, method)
    given = np.asarray(values, dtype=np.float64)
    known = given[np.isfinite(given)]
    parts = np.array([known.var(ddof=1) / len(known), sd * sd / seeds])
    error, degrees = math.sqrt(parts.sum()), np.array([len(known) - 1, seeds - 1])
    freedom = parts.sum() ** 2 / (parts**2 / degrees).sum()
    half = float(stdtrit(freedom, 1.0 - (1.0 - level) / 2.0)) * error
    difference = own.value - reported
    return Estimated(
        difference, difference - half, difference + half, f"Welch over {len(known)} seeds and {seeds} reported ones"
    )


def log_ratio_values(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """Return one value a seed whose mean is log(sum N / sum D), and whose spread is that of its influence.

    Parameters
    ----------
    numerators, denominators : array_like, shape (R, ...)
        Of each seed; NaN where a seed has none.

    Returns
    -------
    ndarray, shape (R, ...)
        log(sum N / sum D) + N_r / mean N - D_r / mean D; NaN where a sum is 0 or the seed has none.

    Examples
    --------
    >>> found = log_ratio_values([0.1, 0.3], [0.1, 0.1])
    >>> round(float(found.mean()), 4) == round(math.log(2.0), 4)
    True
    """
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    known = np.isfinite(above) & np.isfinite(below)
    many = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_above = np.where(known, above, 0.0).sum(axis=0) / many
        mean_below = np.where(known, below, 0.0).sum(axis=0) / many
        found = np.log(mean_above / mean_below) + above / mean_above - below / mean_below
    return np.where(np.isfinite(found) & known, found, np.nan)
