"""Moments of one event (all fail, none fails, either): observed, expected under independence, joint variance.

What a reader sees of them (excess, ratio, ceiling, label errors) is made in ``homogeneity``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from polyculture.stats._rows import (
    Bools,
    Floats,
    Rows,
    column_sums,
    covariance,
    degrees_of_freedom,
    make_rows,
    row_sums,
    skewness,
)

__all__ = ["Event", "Moments", "has_event", "influences", "moments", "moments_of_rows"]

Event = Literal["all_fail", "none_fail", "same"]

# log of a rate with no event has about the variance of the log of a Gamma(1/2) variable: trigamma(1/2).
_VARIANCE_OF_EMPTY_LOG = math.pi**2 / 2


@dataclass(frozen=True)
class Moments:
    """What the data say about one event, before any interval.

    Attributes
    ----------
    event : str
        "all_fail" (systemic failure), "none_fail" (consistent success) or "same" (either of both).
    n, events : int
        Individuals with at least one judgement, and those with the event.
    observed : float
        Weighted share of individuals with the event; NaN where there is no individual.
    n_effective : float
        Effective size: ``n / design_effect``, never above n.
    log_expected : float
        log E; E is the mean over individuals of the product of the rates of their own models.
    var_log_expected, correlation : float
        Variance of log E, and correlation of ``observed`` and log E, from one set of influence values.
    max_observed : float
        Largest share of the event that the rates allow, each individual by its own set of models.
    design_effect : float
        Variance of ``observed`` over that of a simple random sample of n.
    clusters : int or None
        Independent units where the data are clustered.
    judged_most : int
        Largest number of models that judged one individual.
    log_smoothed, var_log_smoothed : float
        The same as for log E, with 1/2 event for a rate of 0; they differ only where E is 0.
    bias_log_expected : float
        By how much log E is too low on average: half the summed variances of the logarithms of the rates.
    degrees, degrees_observed, degrees_expected : float or None
        With clusters, degrees of freedom of the variances of the excess, of ``observed`` and of log E, from the
        kurtosis of their cluster totals.
    skewness : float
        Of the excess as a sum over individuals, or over clusters.
    rows : Rows
        The table, for figures that need the moments of changed data.
    """

    event: Event
    n: int
    n_effective: float
    events: int
    observed: float
    log_expected: float
    var_log_expected: float
    correlation: float
    max_observed: float
    design_effect: float
    clusters: int | None
    judged_most: int
    log_smoothed: float
    var_log_smoothed: float
    bias_log_expected: float
    degrees: float | None
    degrees_observed: float | None
    degrees_expected: float | None
    skewness: float
    rows: Rows = field(repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class _Side:
    """One end of the profile: everyone by all of their models, or by none."""

    happened: Bools  # (P,)
    log_expected: float
    influence: Floats  # (P,) of log E, for an individual of weight 1 (to be divided by the total weight)
    bias: float
    log_smoothed: float
    var_added: float


def moments(  # noqa: PLR0917 (the columns of one table)
    judged: ArrayLike,
    failed: ArrayLike,
    count: ArrayLike,
    weight: ArrayLike | None = None,
    weight_squared: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    event: Event = "all_fail",
) -> Moments:
    """Return the moments of one event.

    Parameters
    ----------
    judged, failed : array_like of bool, shape (P, k)
        A pattern table; a model failed only whom it judged.
    count : array_like of int, shape (P,)
        Individuals a pattern.
    weight, weight_squared : array_like of float, shape (P,), optional
        Sums of weights and squared weights of the individuals of a pattern; default: each weighs 1.
    cluster : array_like of int, shape (P,), optional
        Cluster a row, -1 for none.
    event : {"all_fail", "none_fail", "same"}
        The event.

    Returns
    -------
    Moments

    Raises
    ------
    ValueError
        If shapes do not fit, weights are negative, or the event is unknown.

    Notes
    -----
    E with one common set of models is the product of their rates (Bommasani et al., arXiv 2211.13972); with
    unequal sets it is the mean over individuals of the product over their own models. The influence of
    individual i on log E is ``g_i / E - 1 + sum_j a_j (F_ij - f_j) / f_j`` over the models j that judged i, with
    g_i the individual's product and a_j the share of E that passes through model j, over the share judged by j.

    Examples
    --------
    >>> import numpy as np
    >>> failed = np.array([[1, 1], [1, 0], [0, 0]], dtype=bool)
    >>> m = moments(np.ones_like(failed), failed, [10, 10, 20])
    >>> m.events, m.observed, round(math.exp(m.log_expected), 6), m.max_observed
    (10, 0.25, 0.125, 0.25)
    """
    return moments_of_rows(make_rows(judged, failed, count, weight, weight_squared, cluster), event)


def moments_of_rows(rows: Rows, event: Event) -> Moments:
    """Return the moments of one event from a checked table; see `moments`."""
    if event not in ("all_fail", "none_fail", "same"):
        raise ValueError(f"event must be 'all_fail', 'none_fail' or 'same', got {event!r}.")
    if not rows.count.size or rows.total_weight <= 0.0:
        return _nobody(rows, event)
    return _joint(rows, event, _event_side(rows, event), _largest(rows, event))


def influences(moments: Moments) -> tuple[Floats, Floats]:
    """Return the influence of an individual of each row on the observed share and on log E.

    Parameters
    ----------
    moments : Moments
        Of an event on a table.

    Returns
    -------
    observed, log_expected : ndarray, shape (P,)
        Of an individual of weight 1, to be divided by the total weight; rows are those of ``moments.rows``.
    """
    side = _event_side(moments.rows, moments.event)
    return side.happened.astype(np.float64) - moments.observed, side.influence


def _event_side(rows: Rows, event: Event) -> _Side:
    wanted = {"all_fail": [True], "none_fail": [False], "same": [True, False]}[event]
    sides = [_side(rows, fails) for fails in wanted]
    return sides[0] if len(sides) == 1 else _either(*sides)


def has_event(moments: Moments) -> Bools:
    """Return which rows of the table have the event, shape (P,)."""
    rows = moments.rows
    all_fail, none_fail = rows.failed_number == rows.judged_number, rows.failed_number == 0
    by_event = {"all_fail": all_fail, "none_fail": none_fail, "same": all_fail | none_fail}
    return np.asarray(by_event[moments.event])


def _nobody(rows: Rows, event: Event) -> Moments:
    nan = math.nan
    return Moments(
        event, 0, 0.0, 0, nan, nan, nan, nan, nan, nan, rows.clusters, 0, nan, nan, nan, None, None, None, 0.0, rows
    )


def _side(rows: Rows, fails: bool) -> _Side:
    """Return the event that all of an individual's models fail (or that all succeed)."""
    judged_weight = rows.judged_weight
    happened_weight = rows.failed_weight if fails else judged_weight - rows.failed_weight
    known = judged_weight > 0.0
    positive = happened_weight > 1e-12 * judged_weight  # a difference of sums: 0 but for rounding
    rates = np.divide(happened_weight, judged_weight, out=np.zeros_like(judged_weight), where=positive)
    inverse = np.divide(1.0, rates, out=np.zeros_like(rates), where=positive)
    log_rates = np.where(positive, np.log(np.where(positive, rates, 1.0)), 0.0)
    empty = known & ~positive
    var_logs = rows.rate_variances * inverse**2
    happened = rows.failed_number == (rows.judged_number if fails else 0.0)
    if rows.complete:
        # One common set: g_i = E for everyone, and every model carries all of E.
        sums = row_sums(rows.failed, inverse)
        influence = (sums if fails else inverse.sum() - sums) - float(positive.sum())
        log_expected = -math.inf if empty.any() else float(log_rates.sum())
        bias = float(var_logs.sum()) / 2.0
    else:
        logs, touched = row_sums(rows.judged, np.column_stack([log_rates, empty])).T
        logs = np.where(touched > 0.0, -np.inf, logs)
        log_expected, relative = _log_mean(logs, rows.weight)
        through = column_sums(rows.weight * relative, rows.judged)
        bias = float((through / rows.total_weight) ** 2 @ var_logs) / 2.0
        through = through * inverse
        carried = np.divide(through, judged_weight, out=np.zeros_like(through), where=known)
        failed_part = row_sums(rows.failed, carried)
        # Of the models that judged an individual, carried counts those with the event, less what is expected.
        judged_part = row_sums(rows.judged, carried * rates if fails else carried * (rates - 1.0))
        influence = relative - 1.0 + (failed_part if fails else -failed_part) - judged_part
    if math.isfinite(log_expected):
        return _Side(happened, log_expected, influence, bias, log_expected, 0.0)
    return _Side(happened, log_expected, influence, bias, *_smoothed(rows, log_rates, empty))


def _smoothed(rows: Rows, log_rates: Floats, empty: Bools) -> tuple[float, float]:
    """Return log E with half an event for each model without one, and the variance that these models add."""
    judged = column_sums(rows.count, rows.judged)
    filled = np.where(empty, np.log(0.5 / (judged + 1.0)), log_rates)
    logs = row_sums(rows.judged, filled)
    return _log_mean(logs, rows.weight)[0], _VARIANCE_OF_EMPTY_LOG * float(empty.sum())


def _log_mean(logs: Floats, weight: Floats) -> tuple[float, Floats]:
    """Return the log of the weighted mean of exp(logs), and each exp(log) over that mean."""
    highest = float(logs[weight > 0].max())
    if not math.isfinite(highest):
        return -math.inf, np.zeros_like(logs)
    scaled = np.exp(logs - highest)
    mean = float(weight @ scaled / weight.sum())
    return highest + math.log(mean), scaled / mean


def _either(one: _Side, other: _Side) -> _Side:
    """Return the event that one of two exclusive events happened: probabilities add."""
    log_expected = float(np.logaddexp(one.log_expected, other.log_expected))
    log_smoothed = float(np.logaddexp(one.log_smoothed, other.log_smoothed))
    parts = [0.0, 0.0]
    if math.isfinite(log_expected):
        parts = [math.exp(side.log_expected - log_expected) for side in (one, other)]
    influence = parts[0] * one.influence + parts[1] * other.influence
    bias = parts[0] ** 2 * one.bias + parts[1] ** 2 * other.bias
    added = 0.0 if math.isfinite(log_expected) else max(one.var_added, other.var_added)
    return _Side(one.happened | other.happened, log_expected, influence, bias, log_smoothed, added)


def _joint(rows: Rows, event: Event, side: _Side, largest: float) -> Moments:
    total, n = rows.total_weight, rows.n
    events = round(float(rows.count[side.happened].sum()))
    observed = float(rows.weight[side.happened].sum()) / total
    if events == round(n):
        observed = 1.0
    own = side.happened.astype(np.float64) - observed
    matrix = covariance(rows, own, side.influence) / total**2
    var_observed, var_log = float(matrix[0, 0]), max(float(matrix[1, 1]), 0.0)
    spread = math.sqrt(var_observed * var_log)
    correlation = float(np.clip(matrix[0, 1] / spread, -1.0, 1.0)) if spread > 0.0 else 0.0
    effect = _design_effect(rows, observed, var_observed)
    defined = math.isfinite(side.log_expected)
    rare = min(events, round(n) - events)
    excess = own - math.exp(side.log_expected) * side.influence
    return Moments(
        event=event,
        n=round(n),
        n_effective=n / max(effect, 1.0),
        events=events,
        observed=observed,
        log_expected=side.log_expected,
        var_log_expected=var_log if defined else math.nan,
        correlation=correlation if defined else 0.0,
        max_observed=largest,
        design_effect=effect,
        clusters=rows.clusters,
        judged_most=int(rows.judged_number.max()),
        log_smoothed=side.log_smoothed,
        var_log_smoothed=var_log + side.var_added,
        bias_log_expected=side.bias,
        degrees=degrees_of_freedom(rows, excess, rare),
        degrees_observed=degrees_of_freedom(rows, own, rare),
        degrees_expected=degrees_of_freedom(rows, side.influence),
        skewness=skewness(rows, excess),
        rows=rows,
    )


def _design_effect(rows: Rows, observed: float, variance: float) -> float:
    """Variance over that of a simple random sample; where all or none are events, the largest possible."""
    if rows.plain:
        return 1.0
    n, binomial = rows.n, observed * (1.0 - observed)
    if variance > 0.0 and binomial > 0.0:
        return variance * n / binomial
    # Without an event nothing can be seen of the design: take every cluster as one observation.
    return float(covariance(rows, np.ones(rows.count.size))[0, 0]) * n / rows.total_weight**2


def _largest(rows: Rows, event: Event) -> float:
    """Largest share of the event given the rates: failures nested in each other (Frechet's bound).

    Nesting reaches both ends at once: all fail with min f, none fails with 1 - max f.
    """
    judged = rows.judged_weight
    rates = np.divide(rows.failed_weight, judged, out=np.full_like(judged, np.nan), where=judged > 0.0)
    if rows.complete:
        least, most = np.full(1, rates.min()), np.full(1, rates.max())
        weight = np.ones(1)
    else:
        # The first model of a judged set, in the order of rates, has its least rate.
        order = np.argsort(rates)
        ordered, flags = rates[order], rows.judged[:, order]
        least, most = ordered[flags.argmax(axis=1)], ordered[::-1][flags[:, ::-1].argmax(axis=1)]
        weight = rows.weight
    by_event = {"all_fail": least, "none_fail": 1.0 - most, "same": 1.0 - (most - least)}
    return float(weight @ by_event[event] / weight.sum())
