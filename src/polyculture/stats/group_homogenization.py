"""Group homogenization: average, uniform, worst and spread of the products of group failure rates.

Plain values, values corrected for the size of the groups, and intervals. Single groups against their own
rates stand in ``homogeneity``; two groups against each other in ``contrasts``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from polyculture.stats._group_jackknife import Corrected, corrected_ratios
from polyculture.stats._group_rates import GroupRates, group_rates
from polyculture.stats._group_spread import spread_p_value
from polyculture.stats._group_variances import GroupVariances, MeanVariance, group_variances, relative_biases
from polyculture.stats._rounding import NO_VARIANCE, difference
from polyculture.stats._rows import Floats, log_sum
from polyculture.stats.homogeneity import CENSUS, FEWEST_FAILURES, ONE_MODEL
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    Interval,
    few_clusters,
    mover_difference,
    no_interval,
    quantile,
    undefined,
    wald_log,
)
from polyculture.stats.multiplicity import sidak_level

__all__ = ["FEWEST_FAILURES", "LARGEST_RELATIVE_BIAS", "GroupHomogenizationEstimate", "group_homogenization"]

LARGEST_RELATIVE_BIAS = 0.25
"""Above this estimated relative bias of a group's product the figures are marked unreliable."""

_LARGEST_LOG = 709.0
_NO_SPREAD_INTERVAL = "a spread has no interval: see its p-value"


@dataclass(frozen=True)
class GroupHomogenizationEstimate:
    """Group homogenization with its corrections.

    Attributes
    ----------
    groups : int
        Groups that every model judged.
    left_out : tuple of int
        Indices of groups in which a model judged nobody: their product is undefined.
    average, uniform, worst, spread : Estimated
        Plain values (2211.13972); ``spread`` has no interval.
    average_corrected, uniform_corrected, worst_corrected, spread_corrected : Estimated
        The first three jackknifed; the spread less its sampling variance.
    worst_group : int or None
        Index of the group with the largest product.
    relative_bias : float or None
        Largest estimated relative bias of a group's product.
    reliable : bool
        Whether it is at most .25.
    spread_p_value : float or None
        From shuffled group labels.
    spread_method : str
        How the p-value was made, or why there is none.
    """

    groups: int
    left_out: tuple[int, ...]
    average: Estimated
    uniform: Estimated
    worst: Estimated
    spread: Estimated
    average_corrected: Estimated
    uniform_corrected: Estimated
    worst_corrected: Estimated
    spread_corrected: Estimated
    worst_group: int | None
    relative_bias: float | None
    reliable: bool
    spread_p_value: float | None
    spread_method: str


def group_homogenization(  # noqa: PLR0917 (the columns of one table)
    judged: ArrayLike,
    failed: ArrayLike,
    count: ArrayLike,
    weight: ArrayLike | None,
    weight_squared: ArrayLike | None,
    cell: ArrayLike,
    n_groups: int,
    cluster: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    *,
    census: bool = False,
    draws: int = 999,
) -> GroupHomogenizationEstimate:
    """Return the group homogenization of a pattern table.

    Parameters
    ----------
    judged, failed : array_like of bool, shape (P, k)
        Pattern table.
    count : array_like of int, shape (P,)
        Individuals a row.
    weight, weight_squared : array_like of float, shape (P,), or None
        Sums of weights and squared weights; None: each individual weighs 1.
    cell : array_like of int, shape (P,)
        Group of the row, 0..n_groups-1.
    n_groups : int
        Number of groups, empty ones included.
    cluster : array_like of int, shape (P,), optional
        Cluster of the row, -1 for none.
    rng : numpy.random.Generator, optional
        Source of the shuffled labels; without it the spread gets no p-value.
    census : bool
        Whether individuals are everyone: no intervals.
    draws : int
        Shuffles.

    Returns
    -------
    GroupHomogenizationEstimate

    Raises
    ------
    ValueError
        If shapes do not fit or a group index is outside 0..n_groups-1.

    Notes
    -----
    Bommasani et al., arXiv 2211.13972, section 3: with f_gj the rate of model j in group g and w_gj the share of
    g among whom j judges, average = sum_g prod_j w_gj f_gj / (E sum_g prod_j w_gj), uniform = mean_g prod_j f_gj
    / E, worst = max_g prod_j f_gj / E, spread = sample variance over g of prod_j f_gj. Groups in which a model
    judged nobody are left out, of E too.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [[1, 1], [1, 0], [0, 0], [1, 1], [0, 1], [0, 0]]
    >>> failed = np.array(rows, dtype=bool)
    >>> result = group_homogenization(
    ...     np.ones_like(failed), failed, [10, 20, 70, 40, 20, 40], None, None, [0, 0, 0, 1, 1, 1], 2)
    >>> round(result.uniform.value, 3), round(result.worst.value, 3), result.worst_group
    (1.102, 1.959, 1)
    """
    rates = group_rates(judged, failed, count, weight, weight_squared, cell, n_groups, cluster)
    reason = _why_undefined(rates)
    if reason:
        return _undefined(rates, reason)
    variances = group_variances(rates)
    biases = relative_biases(rates, variances)
    # 1 is the scale of a relative bias: what 1 + bias rounds to 1 is none.
    largest = difference(1.0 + float(biases.max()), 1.0) if biases.size else None
    p_value, method = _spread_test(rates, rng, draws)
    corrected = corrected_ratios(rates)
    average, uniform, worst = _intervals(rates, variances, corrected, largest, census)
    values = _plain(rates)
    products = np.exp(rates.log_products)
    one = "one group: there is no spread"
    spread = undefined(one) if products.size < 2 else Estimated(_variance(products), reason=_NO_SPREAD_INTERVAL)
    spread_corrected = undefined(one)
    if spread.value is not None:
        relative = variances.products + variances.second_order
        sampling = float((products**2 * np.where(relative > NO_VARIANCE, relative, 0.0)).mean())
        spread_corrected = Estimated(
            difference(spread.value, sampling), reason=_NO_SPREAD_INTERVAL, method="less sampling variance"
        )
    return GroupHomogenizationEstimate(
        groups=len(rates.kept),
        left_out=rates.left_out,
        average=_estimated(values[0], average),
        uniform=_estimated(values[1], uniform),
        worst=_estimated(values[2], worst),
        spread=spread,
        average_corrected=_corrected(corrected.average, average, values[0], corrected.reason),
        uniform_corrected=_corrected(corrected.uniform, uniform, values[1], corrected.reason),
        worst_corrected=_corrected(corrected.worst, worst, values[2], corrected.reason),
        spread_corrected=spread_corrected,
        worst_group=int(rates.kept[int(np.argmax(rates.log_products))]),
        relative_bias=largest,
        reliable=largest is not None and largest <= LARGEST_RELATIVE_BIAS,
        spread_p_value=p_value,
        spread_method=method,
    )


def _variance(products: Floats) -> float:
    alike = difference(float(products.max()), float(products.min())) == 0.0
    return 0.0 if alike else float(products.var(ddof=1))


def _undefined(rates: GroupRates, reason: str) -> GroupHomogenizationEstimate:
    a = undefined(reason)
    return GroupHomogenizationEstimate(
        len(rates.kept), rates.left_out, a, a, a, a, a, a, a, a, None, None, False, None, reason
    )


def _why_undefined(rates: GroupRates) -> str:
    if not rates.kept.size:
        return "there is no group that every model judged"
    if rates.rows.judged.shape[1] < 2:
        return ONE_MODEL
    if not math.isfinite(rates.log_expected):
        return "0 is expected, since the rate of a model is 0: no ratio exists"
    return ""


def _plain(rates: GroupRates) -> tuple[float, float, float]:
    """Logarithms of average, uniform and worst."""
    weighted = log_sum(rates.log_weights + rates.log_products) - log_sum(rates.log_weights)
    uniform = log_sum(rates.log_products) - math.log(rates.log_products.size)
    return (
        weighted - rates.log_expected,
        uniform - rates.log_expected,
        float(rates.log_products.max()) - rates.log_expected,
    )


def _spread_test(rates: GroupRates, rng: np.random.Generator | None, draws: int) -> tuple[float | None, str]:
    if rng is None:
        return None, "no shuffles were asked for"
    if rates.kept.size < 2:
        return None, "one group: there is no spread"
    if not rates.rows.plain:
        return None, "weighted or clustered individuals cannot be shuffled between groups"
    return spread_p_value(rates, rng, draws)


def _intervals(
    rates: GroupRates, variances: GroupVariances, corrected: Corrected, bias: float | None, census: bool
) -> tuple[Interval, Interval, Interval]:
    """Intervals of log average, log uniform and log worst."""
    clusters = rates.rows.clusters
    reason = ""
    if census:
        reason = CENSUS
    elif rates.kept.size < 2:
        reason = "one group: average, uniform and worst are 1 by construction"
    elif clusters is not None and clusters < FEWEST_CLUSTERS:
        reason = few_clusters(clusters)
    elif float((rates.failed * rates.rows.n / rates.rows.total_weight).min()) < FEWEST_FAILURES:
        reason = f"a model failed fewer than {FEWEST_FAILURES} individuals of a group: too few for an interval"
    elif bias is None or bias > LARGEST_RELATIVE_BIAS:
        reason = "the groups are too small: the estimated relative bias of a product is above .25"
    if reason:
        nothing = no_interval(reason)
        return nothing, nothing, nothing
    return (
        _of_mean(rates, variances, variances.average, _plain(rates)[0], corrected.var_log_average),
        _of_mean(rates, variances, variances.uniform, _plain(rates)[1], corrected.var_log_uniform),
        _worst(rates, variances),
    )


def _of_mean(
    rates: GroupRates, variances: GroupVariances, mean: MeanVariance, log_ratio: float, jackknifed: float
) -> Interval:
    """Interval of the log of a mean of products less log E.

    The mean by MOVER from the limits of its products, then less log E by MOVER with their correlation. Limits of
    products count second orders too: where groups are alike, first orders nearly cancel against log E.
    """
    if not math.isfinite(log_ratio):
        return no_interval("in every group there is a model that failed nobody")
    clusters = rates.rows.clusters
    # Clusters that reach over groups, and shares that are estimated, make the mean vary more than its parts do.
    by_parts = float(mean.shares**2 @ variances.products)
    scale = math.sqrt(max(mean.variance / by_parts, 1.0)) if by_parts > 0.0 else 1.0
    half = quantile(clusters=clusters) * np.sqrt(variances.products + variances.second_order)
    below = math.sqrt(float(mean.shares**2 @ (1.0 - np.exp(-half)) ** 2)) * scale
    above = math.sqrt(float(mean.shares**2 @ np.expm1(np.minimum(half, 300.0)) ** 2)) * scale
    log_mean = log_ratio + rates.log_expected
    limits = Interval(log_mean + math.log1p(-min(below, 1.0 - 1e-12)), log_mean + math.log1p(above), "")
    expected = wald_log(rates.log_expected, variances.expected, clusters=clusters)
    total = mean.variance + float(mean.shares**2 @ variances.second_order)
    spread = math.sqrt(total * variances.expected)
    correlation = min(max(mean.covariance / spread, -1.0), 1.0) if spread > 0.0 else 0.0
    interval = mover_difference(log_mean, limits, rates.log_expected, expected, correlation)
    if interval.low is None or interval.high is None:
        return interval
    wider = 1.0
    if clusters is not None and mean.degrees is not None:
        # The linear variance is too small where first orders cancel and where few clusters make most of it.
        linear = total + variances.expected - 2.0 * mean.covariance
        wider = max(math.sqrt(jackknifed / linear) if linear > 0.0 else 1.0, clusters / (clusters - 1.0))
        wider *= quantile(clusters=mean.degrees + 1.0) / quantile(clusters=clusters)
    low, high = log_ratio - (log_ratio - interval.low) * wider, log_ratio + (interval.high - log_ratio) * wider
    return Interval(low, high, "MOVER on logarithms")


def _worst(rates: GroupRates, variances: GroupVariances) -> Interval:
    """Simultaneous intervals of all groups; the largest is between the largest limits on both sides."""
    level = sidak_level(rates.kept.size)
    half = quantile(level, rates.rows.clusters) * np.sqrt(variances.ratios)
    centre: Floats = rates.log_smoothed - rates.log_expected
    low = float(np.where(np.isfinite(rates.log_products), centre - half, -np.inf).max())
    high = float((centre + half).max())
    if not low < high:
        return no_interval("the data show no variation, so that an interval would have no width")
    return Interval(low, high, f"largest of {rates.kept.size} simultaneous intervals on the logarithm (Sidak)")


def _estimated(log_value: float, limits: Interval) -> Estimated:
    if log_value > _LARGEST_LOG:
        return undefined("too large for a number")
    return Estimated(math.exp(log_value), *_from_logs(limits))


def _corrected(value: float | None, limits: Interval, log_plain: float, reason: str) -> Estimated:
    """Return the corrected value with the interval of the plain one, stretched by the correction.

    Moved as a whole, it would miss the truth on the side that it leaves.
    """
    if value is None:
        return undefined(reason)
    if limits.low is None or limits.high is None or value <= 0.0:
        why = limits.reason or "the correction leaves nothing above 0"
        return Estimated(value, reason=why, method="jackknife")
    shift = math.log(value) - log_plain
    stretched = limits._replace(low=limits.low + min(shift, 0.0), high=limits.high + max(shift, 0.0))
    return Estimated(value, *_from_logs(stretched))._replace(method=f"jackknife, {limits.method}")


def _from_logs(limits: Interval) -> Interval:
    if limits.low is None or limits.high is None:
        return limits
    if limits.high > _LARGEST_LOG:
        return no_interval("the upper limit is too large for a number")
    return limits._replace(low=math.exp(limits.low), high=math.exp(limits.high))
