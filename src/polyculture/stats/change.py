"""Which failures a new version undoes: shares against blind baselines, trends over the others, slopes over time.

Numbers in, numbers out; what the numbers count stands in ``audit``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from polyculture.stats._interval import FEWEST_CLUSTERS, Estimated, few_clusters, quantile, undefined
from polyculture.stats._rows import Floats
from polyculture.stats.contrasts import two_sample_p
from polyculture.stats.intervals import newcombe_difference

__all__ = ["share_against_uniform", "slope", "trend_over_others"]

NOBODY_FAILED = "the model failed nobody before"
NONE_UNDONE = "no failure was undone"
ALL_UNDONE = "every failure was undone, so that none is left to compare with"
NOBODY_IN_ALL = "no individual is in all snapshots"
NO_VARIATION = "the data show no variation, so that an interval would have no width"

_STEPS = 50


def share_against_uniform(
    undone: float, potential: float, undone_elsewhere: float, potential_elsewhere: float, design_effect: float = 1.0
) -> tuple[Estimated, float | None, str]:
    """Compare the share of improvements that are systemic failures with their share among all failures.

    Parameters
    ----------
    undone, potential : float
        Systemic failures that the model undid, and those it could have undone.
    undone_elsewhere, potential_elsewhere : float
        The same of its other failures.
    design_effect : float
        How many times more the counts vary than those of like individuals.

    Returns
    -------
    difference : Estimated
        Share among the improved minus share among all failures; 0 where each failure is as likely to be undone.
    p_value : float or None
        Of improved against not improved.
    method : str
        How the p-value was made, or why there is none.

    Notes
    -----
    With r the share of failures that were undone, the difference is (1 - r) times the difference between improved
    and not improved, of which Newcombe's interval is taken: failures that were undone are among all failures.

    Examples
    --------
    >>> difference, p, _ = share_against_uniform(10, 100, 90, 200)
    >>> round(difference.value, 3), round(difference.low, 3), round(difference.high, 3), p < 0.001
    (-0.233, -0.288, -0.166, True)
    """
    improved, failures = undone + undone_elsewhere, potential + potential_elsewhere
    kept = failures - improved
    if failures <= 0:
        return undefined(NOBODY_FAILED), None, NOBODY_FAILED
    if improved <= 0:
        return undefined(NONE_UNDONE), None, NONE_UNDONE
    value = undone / improved - potential / failures
    if kept <= 0:
        return Estimated(value, reason=ALL_UNDONE), None, ALL_UNDONE
    left = potential - undone
    scale = 1.0 / max(design_effect, 1e-12)
    interval = newcombe_difference(undone * scale, improved * scale, left * scale, kept * scale)
    p_value, method = two_sample_p(undone * scale, improved * scale, left * scale, kept * scale)
    if interval.low is None or interval.high is None:
        return Estimated(value, reason=interval.reason), p_value, method
    share = kept / failures
    return (
        Estimated(value, interval.low * share, interval.high * share, "Newcombe, improved against not improved"),
        p_value,
        method,
    )


def trend_over_others(
    undone: ArrayLike, potential: ArrayLike, others: ArrayLike, design_effect: float = 1.0
) -> Estimated:
    """Return the odds ratio of being undone for each further model that fails the individual.

    Parameters
    ----------
    undone, potential : (m,) array_like
        Failures that were undone, and all, by number of other models that fail; may be expected numbers.
    others : (m,) array_like
        That number.
    design_effect : float
        As in `share_against_uniform`.

    Returns
    -------
    Estimated
        Below 1: the more other models fail, the rarer an improvement. Interval on the logarithm (Wald).

    Notes
    -----
    Logistic regression with one slope, by Newton's method.

    Examples
    --------
    >>> found = trend_over_others([60, 30, 10], [100, 100, 100], [0, 1, 2])
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.27, 0.19, 0.4)
    """
    events, total = np.asarray(undone, dtype=np.float64), np.asarray(potential, dtype=np.float64)
    c = np.asarray(others, dtype=np.float64)
    used = total > 0
    events, total, c = events[used], total[used], c[used]
    if len(np.unique(c)) < 2:
        return undefined("all failures are shared with the same number of other models")
    if events.sum() <= 1e-9 * total.sum() or events.sum() >= (1.0 - 1e-9) * total.sum():
        return undefined("no failure was undone, or all were")
    mean = float(c @ total) / float(total.sum())
    x = np.stack([np.ones_like(c), c - mean], axis=1)
    beta = np.array([math.log(events.sum() / (total.sum() - events.sum())), 0.0])
    for _ in range(_STEPS):
        rate = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -50, 50)))
        information = x.T @ (x * (total * rate * (1.0 - rate))[:, None])
        if not np.linalg.det(information) > 1e-12 * information[0, 0] * information[1, 1]:
            return undefined("improvements and failures are apart by the number of other models: the trend has no end")
        step = np.linalg.solve(information, x.T @ (events - total * rate))
        beta = beta + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-10:
            half = quantile() * math.sqrt(design_effect * float(np.linalg.inv(information)[1, 1]))
            value = float(beta[1])
            if abs(value) > 15.0 or half > 30.0:
                break
            return Estimated(math.exp(value), math.exp(value - half), math.exp(value + half), "Wald on log odds")
    return undefined("improvements and failures are apart by the number of other models: the trend has no end")


def slope(both: Floats, base: Floats, weight_squared: float, *, clustered: bool) -> tuple[Estimated, float | None, str]:
    """Return the mean change from one snapshot to the next, over the same individuals.

    Parameters
    ----------
    both : (C, S, S) float64
        Weight of individuals with the event at both of two snapshots, by cluster; on the diagonal at one.
    base : (C,) float64
        Weight of all of them.
    weight_squared : float
        Sum of squared weights.
    clustered : bool
        Whether rows are clusters.

    Returns
    -------
    slope : Estimated
        Least squares over equally spaced snapshots.
    p_value : float or None
        That there is none.
    method : str
        How it was made.

    Examples
    --------
    >>> both = np.array([[[50.0, 40.0, 30.0], [40.0, 45.0, 30.0], [30.0, 30.0, 40.0]]])
    >>> found, p, _ = slope(both, np.array([100.0]), 100.0, clustered=False)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (-0.05, -0.103, 0.003)
    """
    from polyculture.stats.paired_rates import wald_test

    total = float(base.sum())
    if total <= 0:
        return undefined(NOBODY_IN_ALL), None, NOBODY_IN_ALL
    size = both.shape[1]
    place = np.arange(size) - (size - 1) / 2
    contrast = place / float(place @ place)
    level = np.einsum("css->s", both) / total
    value = float(contrast @ level)
    clusters = None
    if clustered:
        clusters = int((base > 0).sum())
        residual = np.einsum("css,s->c", both, contrast) - value * base
        variance = float(residual @ residual) / total**2 * clusters / max(clusters - 1, 1)
    else:
        second = float(contrast @ both.sum(axis=0) @ contrast) / total
        variance = max(second - value * value, 0.0) / max(total * total / weight_squared - 1.0, 1.0)
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return Estimated(value, reason=few_clusters(clusters)), None, few_clusters(clusters)
    if not variance > 1e-18:
        return Estimated(value, reason=NO_VARIATION), None, NO_VARIATION
    half = quantile(clusters=clusters) * math.sqrt(variance)
    p_value, method = wald_test(value, variance, clusters)
    words = "repeated individuals, normal" if clusters is None else f"repeated individuals, t over {clusters} clusters"
    return Estimated(value, value - half, value + half, words), p_value, method.removesuffix(", weighted")
