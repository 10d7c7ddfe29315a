"""Means and ratios over trials that cross two kinds of seed, with intervals that know both.

Trials with the same model seed, or the same partition seed, are alike; taking all pairs for independent makes
intervals far too narrow. Numbers in, numbers out: what a trial is stands in the lab.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from polyculture.stats._interval import Estimated, undefined

__all__ = ["Variance", "log_ratio_contrast", "mean_over_trials", "rank_correlation", "variance_of_mean"]

ONE_TRIAL = "one model seed and one partition seed: how much other seeds would differ is not known"
NO_TRIAL = "no trial has outcomes"
TWO_SEEDS = "; may be too narrow: two seeds of a kind"
SAME = "all trials are the same, so that an interval would have no width"


class Variance(NamedTuple):
    """Variance of a mean over crossed trials, its degrees of freedom, and which seeds it speaks of."""

    variance: float
    degrees: float
    method: str


def variance_of_mean(values: ArrayLike) -> Variance:
    """Return the variance of the mean of values over crossed seeds, both taken as random.

    Parameters
    ----------
    values : array_like, shape (R, C)
        One value a pair: R model seeds, C partition seeds. NaN where a trial has none: it counts as the mean.

    Returns
    -------
    Variance
        With one seed of a kind it speaks of the other kind only; NaN with one of each.

    Notes
    -----
    Two-way random effects: ``(MS_R + MS_C - MS_E) / (R C)`` with Satterthwaite's degrees of freedom, kept between
    min(R, C) - 1 and R + C - 2; where one of the first two is larger than that, it alone with its own. Intervals of
    the mean cover 93.8 to 99 % from three seeds of each kind on, also where one kind does nothing
    (tests/stats/test_two_way.py), and down to 90 % with two, which the method then says.

    Examples
    --------
    >>> found = variance_of_mean([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    >>> round(found.variance, 3), round(found.degrees, 1)
    (0.333, 2.0)
    """
    table = np.asarray(values, dtype=np.float64)
    known = np.isfinite(table)
    if not known.any():
        return Variance(math.nan, math.nan, "")
    mean = table[known].mean()
    table = np.where(known, table, mean)
    rows, columns = table.shape
    if rows == 1 and columns == 1:
        return Variance(math.nan, math.nan, "")
    if min(rows, columns) == 1:
        flat = table.ravel()
        what = "partition seeds; one model seed" if rows == 1 else "model seeds; one partition seed"
        return Variance(float(flat.var(ddof=1)) / flat.size, flat.size - 1.0, f"t over {what}")
    centred = table - table.mean()
    by_row, by_column = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - by_row[:, None] - by_column[None, :]
    square_rows = columns * float(by_row @ by_row) / (rows - 1)
    square_columns = rows * float(by_column @ by_column) / (columns - 1)
    square_rest = float((rest**2).sum()) / ((rows - 1) * (columns - 1))
    pooled = square_rows + square_columns - square_rest
    total = max(pooled, square_rows, square_columns)
    degrees = float(rows - 1 if total == square_rows else columns - 1)
    if total == pooled:
        spread = (
            square_rows**2 / (rows - 1)
            + square_columns**2 / (columns - 1)
            + square_rest**2 / ((rows - 1) * (columns - 1))
        )
        degrees = pooled**2 / spread if spread > 0.0 else 0.0
        degrees = float(np.clip(degrees, min(rows, columns) - 1, rows + columns - 2))
    few = TWO_SEEDS if min(rows, columns) == 2 else ""
    return Variance(total / (rows * columns), degrees, f"two-way t over model and partition seeds{few}")


def mean_over_trials(values: ArrayLike, level: float = 0.95) -> Estimated:
    """Return the mean of values over crossed trials with its interval.

    Parameters
    ----------
    values : array_like, shape (R, C)
        As in `variance_of_mean`.
    level : float
        Level of the interval.

    Examples
    --------
    >>> found = mean_over_trials([[1.0, 2.0, 3.0], [1.5, 2.5, 3.5]])
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (2.25, 0.08, 4.42)
    """
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).any():
        return undefined(NO_TRIAL)
    return _around(float(np.nanmean(table)), variance_of_mean(table), level)


def log_ratio_contrast(
    numerators: ArrayLike, denominators: ArrayLike, weights: ArrayLike, level: float = 0.95
) -> Estimated:
    """Return a contrast of logarithms of ratios of sums over crossed trials, paired by trial.

    Parameters
    ----------
    numerators, denominators : array_like, shape (A, R, C)
        Sums of one pair of seeds, by arm: of systemic failure, and of what independence expects. NaN where the
        trial is not known; it is then left out of every arm, so that arms stay paired.
    weights : array_like, shape (A,)
        Of the arms: (1,) for log H itself, (1, -1) for the first arm against the second.
    level : float
        Level of the interval.

    Returns
    -------
    Estimated
        ``sum_a w_a log(sum N_a / sum D_a)``. Undefined where a sum is 0.

    Notes
    -----
    The influence of a pair of seeds on log(sum N / sum D) is N / mean N - D / mean D; the interval is that of the mean
    influence, `variance_of_mean`. A trial without any failure adds to the sums as every other does.

    Examples
    --------
    >>> failures = [[[0.10, 0.12], [0.11, 0.13]], [[0.05, 0.05], [0.06, 0.07]]]
    >>> found = log_ratio_contrast(failures, np.full((2, 2, 2), 0.05), (1, -1))
    >>> round(found.value, 3)
    0.693
    """
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    share = np.asarray(weights, dtype=np.float64)
    known = np.isfinite(above).all(axis=0) & np.isfinite(below).all(axis=0)
    if not known.any():
        return undefined(NO_TRIAL)
    above, below = np.where(known, above, np.nan), np.where(known, below, np.nan)
    used = share != 0.0
    mean_above, mean_below = np.nanmean(above, axis=(1, 2)), np.nanmean(below, axis=(1, 2))
    if (mean_below[used] <= 0.0).any():
        return undefined("nothing is expected in an arm, since a decision-maker failed nobody in any trial")
    if (mean_above[used] <= 0.0).any():
        return undefined("no individual was failed by all in any trial of an arm: the logarithm of 0 does not exist")
    value, influence = 0.0, np.zeros(above.shape[1:])
    for arm in np.flatnonzero(used):
        value += share[arm] * math.log(mean_above[arm] / mean_below[arm])
        influence = influence + share[arm] * (above[arm] / mean_above[arm] - below[arm] / mean_below[arm])
    return _around(float(value), variance_of_mean(influence), level)


def rank_correlation(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Estimated:
    """Return Spearman's correlation of two figures of crossed trials, with a jackknife over the seeds.

    Parameters
    ----------
    first, second : array_like, shape (M, R, C)
        Figures of M settings (learners, sizes, arms) by model and partition seed; NaN where undefined.
    level : float
        Level of the interval.

    Returns
    -------
    Estimated
        Over all trials in which both are known; the interval is on Fisher's z.

    Notes
    -----
    Variance: the delete-one jackknife over model seeds plus that over partition seeds (conservative: what both
    count, the pairs themselves, is not taken off).
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    value = _spearman(one, other)
    if not math.isfinite(value):
        return undefined("fewer than three trials, or a figure that does not vary")
    centre = math.atanh(max(min(value, 1 - 1e-12), -1 + 1e-12))
    variance, degrees = 0.0, []
    for axis in (1, 2):
        seeds = one.shape[axis]
        if seeds < 2:
            continue
        left = np.array([_spearman(np.delete(one, s, axis), np.delete(other, s, axis)) for s in range(seeds)])
        z = np.arctanh(np.clip(left, -1 + 1e-12, 1 - 1e-12))
        if not np.isfinite(z).all():
            return Estimated(value, reason="too few trials for an interval")
        variance += (seeds - 1) / seeds * float(((z - z.mean()) ** 2).sum())
        degrees.append(seeds - 1.0)
    if not degrees or variance <= 0.0:
        return Estimated(value, reason=ONE_TRIAL if not degrees else SAME)
    half = float(stdtrit(min(degrees), 0.5 + level / 2)) * math.sqrt(variance)
    return Estimated(value, math.tanh(centre - half), math.tanh(centre + half), "jackknife over seeds, Fisher z")


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    known = np.isfinite(first) & np.isfinite(second)
    if known.sum() < 3:
        return math.nan
    one, other = _ranks(first[known]), _ranks(second[known])
    one, other = one - one.mean(), other - other.mean()
    size = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / size if size > 0.0 else math.nan


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks, ties in the middle of theirs; what only rounding sets apart is a tie."""
    largest = float(np.abs(values).max())
    values = np.round(values / largest, 12) if largest > 0.0 else values
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2.0)[inverse], dtype=np.float64)


def _around(value: float, found: Variance, level: float) -> Estimated:
    if not math.isfinite(found.variance):
        return Estimated(value, reason=ONE_TRIAL)
    if found.variance <= 1e-24 * max(value * value, 1e-12):
        return Estimated(value, reason=SAME)
    half = float(stdtrit(found.degrees, 0.5 + level / 2)) * math.sqrt(found.variance)
    return Estimated(value, value - half, value + half, found.method)
