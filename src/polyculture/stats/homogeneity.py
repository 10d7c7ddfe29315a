"""What a reader sees of one event: observed, expected, excess, ratio, ceiling, label errors, with intervals.

The sums and variances that they rest on are made in ``moments``; tests of independence in ``independence``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy.special import betaincinv

from polyculture.stats._rounding import difference
from polyculture.stats.excess import (
    LARGEST_LOG,
    excess_interval,
    expected_limits,
    exponential,
    log_expected_limits,
    observed_interval,
    observed_size,
    shrunk_correlation,
    skewed,
    unseen,
)
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    Interval,
    korn_graubard,
    mover_difference,
    no_interval,
    quantile,
    undefined,
)
from polyculture.stats.label_errors import label_errors
from polyculture.stats.moments import Event, Moments, moments

__all__ = [
    "CENSUS",
    "FEWEST_FAILURES",
    "ONE_MODEL",
    "Estimate",
    "Event",
    "Moments",
    "estimate",
    "moments",
]

ONE_MODEL = "one model: there is nothing to homogenize"
CENSUS = "everyone was looked at (census): no sampling interval"
NOBODY = "no individual was judged"
NO_RATIO = "0 is expected, since the rate of a model is 0: the ratio does not exist"
NO_LOGARITHM = "0 is expected, since the rate of a model is 0: it has no logarithm"
SAME_EITHER_WAY = "a wrong label turns failed by all into failed by none, so that their sum stays as it is"
FEWEST_FAILURES = 5
FEW_EFFECTIVE = "may be too narrow: few clusters hold most of the events"
RARE_FAILURES = f"may be too narrow: a model failed fewer than {FEWEST_FAILURES} individuals"
_LOG10 = math.log(10.0)


@dataclass(frozen=True)
class Estimate:
    """One event as a reader sees it.

    Attributes
    ----------
    observed, expected : Estimated
        Share of individuals with the event, and the share under independent failures.
    difference, ratio, log10_ratio : Estimated
        Excess ``observed - expected`` and H = ``observed / expected``, as itself and as a logarithm.
    ceiling_share : Estimated
        Excess over the largest excess that the failure rates allow.
    ceiling : float or None
        Largest ratio that the failure rates allow.
    log10_expected : float or None
        Finite where ``expected`` is too small for a double; None where it is 0.
    label_errors : int or None
        Events that would have to be label errors before the excess interval reaches 0.
    ceiling_reason, log10_expected_reason, label_errors_reason : str
        Why the number is None; empty where it is not.
    """

    observed: Estimated
    expected: Estimated
    difference: Estimated
    ratio: Estimated
    log10_ratio: Estimated
    ceiling_share: Estimated
    ceiling: float | None
    log10_expected: float | None
    label_errors: int | None
    ceiling_reason: str = ""
    log10_expected_reason: str = ""
    label_errors_reason: str = ""


def estimate(moments: Moments, *, census: bool = False, count_label_errors: bool = True) -> Estimate:
    """Return all figures of one event.

    Parameters
    ----------
    moments : Moments
        From `moments`.
    census : bool
        Whether the individuals are everyone, so that there is no sampling error and no interval.
    count_label_errors : bool
        Whether to look for ``label_errors``, the only figure that takes more than one look at the table.

    Returns
    -------
    Estimate
        Figures that do not exist are None with a reason; no interval has zero width.

    Notes
    -----
    Excess and log ratio: MOVER (Zou and Donner 2008) from Jeffreys limits of the observed share and a delta
    interval of log E, with their correlation (see `excess_interval`). At no event the intervals are one-sided.

    Examples
    --------
    >>> import numpy as np
    >>> failed = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> result = estimate(moments(np.ones_like(failed), failed, [30, 20, 20, 130]))
    >>> [round(x, 3) for x in result.difference[:3]], [round(x, 2) for x in result.ratio[:3]]
    ([0.087, 0.062, 0.127], [2.4, 1.88, 3.01])
    """
    if moments.n == 0:
        nothing = undefined(NOBODY)
        reasons = NOBODY, NOBODY, NOBODY
        return Estimate(nothing, nothing, nothing, nothing, nothing, nothing, None, None, None, *reasons)
    share = no_interval(CENSUS) if census else observed_interval(moments)
    observed = _with(moments.observed, no_interval(CENSUS) if census else _shown_interval(moments))
    expected = _expected(moments, census)
    log10_expected = moments.log_expected / _LOG10 if math.isfinite(moments.log_expected) else None
    no_logarithm = NO_LOGARITHM if log10_expected is None else ""
    if moments.judged_most <= 1:
        nothing, reasons = undefined(ONE_MODEL), (ONE_MODEL, no_logarithm, ONE_MODEL)
        return Estimate(observed, expected, nothing, nothing, nothing, nothing, None, log10_expected, None, *reasons)
    excess = _difference(moments, census)
    ratio, log10_ratio = _ratios(moments, share, census)
    ceiling, no_ceiling = _ceiling(moments)
    wrong, not_counted = _label_errors(moments, census) if count_label_errors else (None, "not asked for")
    return Estimate(
        observed=observed,
        expected=expected,
        difference=excess,
        ratio=ratio,
        log10_ratio=log10_ratio,
        ceiling_share=_ceiling_share(moments, excess),
        ceiling=ceiling,
        log10_expected=log10_expected,
        label_errors=wrong,
        ceiling_reason=no_ceiling,
        log10_expected_reason=no_logarithm,
        label_errors_reason=not_counted,
    )


def _value_only(moments: Moments) -> float:
    return difference(moments.observed, exponential(moments.log_expected))


def _lower_excess(moments: Moments) -> float | None:
    return excess_interval(moments).low


def _label_errors(moments: Moments, census: bool) -> tuple[int | None, str]:
    wrong = label_errors(moments, _value_only if census else _lower_excess)
    if wrong is not None:
        return wrong, ""
    return None, SAME_EITHER_WAY if moments.event == "same" else excess_interval(moments).reason


def _shown_interval(moments: Moments) -> Interval:
    """Interval of the observed share by itself; with clusters its degrees of freedom are those of its own totals."""
    if moments.clusters is None:
        return observed_interval(moments)
    events, n = moments.observed * moments.n, moments.n
    degrees = None if moments.events in {0, n} else moments.degrees_observed
    limits = korn_graubard(events, n, moments.design_effect, moments.clusters, degrees=degrees)
    return _warned(limits, FEW_EFFECTIVE if _uneven(moments) else "")


def _uneven(moments: Moments) -> bool:
    """Return whether the events leave fewer degrees of freedom than the fewest clusters that get an interval."""
    degrees = moments.degrees_observed
    return degrees is not None and 0 < moments.events < moments.n and degrees < FEWEST_CLUSTERS


def _warned(limits: Interval, warning: str) -> Interval:
    return limits if limits.low is None or not warning else limits._replace(method=f"{limits.method}; {warning}")


def _expected(moments: Moments, census: bool) -> Estimated:
    value = exponential(moments.log_expected)
    limits = no_interval(CENSUS) if census else _shown_expected(moments)
    if limits.low is not None and limits.low == limits.high:
        limits = no_interval("too small for a number; see log10_expected")
    return _with(value, limits)


def _shown_expected(moments: Moments) -> Interval:
    """Interval of E by itself; with clusters its degrees of freedom are those of its own totals."""
    if moments.clusters is None or moments.degrees_expected is None or not math.isfinite(moments.log_expected):
        return expected_limits(moments)
    variance = moments.var_log_expected * (moments.clusters / max(moments.clusters - 1.0, 1.0)) ** 2
    variance *= (quantile(clusters=moments.degrees_expected + 1.0) / quantile(clusters=moments.clusters)) ** 2
    return expected_limits(replace(moments, var_log_expected=variance))


def _difference(moments: Moments, census: bool) -> Estimated:
    value = _value_only(moments)
    if census:
        return _with(value, no_interval(CENSUS))
    interval = excess_interval(moments)
    if moments.event != "all_fail" and _few_failures(moments):
        interval = _warned(interval, RARE_FAILURES)
    return _with(value, _warned(interval, FEW_EFFECTIVE if _uneven(moments) else ""))


def _few_failures(moments: Moments) -> bool:
    """Return whether a model failed fewer than five individuals."""
    rows = moments.rows
    if not rows.count.size:
        return False
    known = rows.judged_weight > 0.0
    return bool((rows.failed_weight[known] * rows.n / rows.total_weight).min() < FEWEST_FAILURES)


def _ratios(moments: Moments, share: Interval, census: bool) -> tuple[Estimated, Estimated]:
    """H and log10 H; H is computed from logarithms, and None where it is too large for a double."""
    log_expected = moments.log_expected
    if not math.isfinite(log_expected):
        missing = undefined(NO_RATIO)
        return missing, missing
    if moments.observed <= 0.0:
        limit = no_interval(CENSUS) if census else _upper_log_ratio(moments, share)
        shown = limit if limit.high is None else limit._replace(low=0.0, high=exponential(limit.high))
        return _with(0.0, _finite(shown)), undefined("no event was observed: the ratio is 0 and has no logarithm")
    log_ratio = math.log(moments.observed) - log_expected if _value_only(moments) else 0.0
    limits = no_interval(CENSUS) if census else _log_ratio_interval(moments, share)
    in_tens = limits
    if limits.low is not None and limits.high is not None:
        in_tens = limits._replace(low=limits.low / _LOG10, high=limits.high / _LOG10)
        limits = limits._replace(low=exponential(limits.low), high=exponential(limits.high))
    if log_ratio > LARGEST_LOG:
        return undefined("too large for a number; see log10_ratio"), _with(log_ratio / _LOG10, in_tens)
    return _with(math.exp(log_ratio), _finite(limits)), _with(log_ratio / _LOG10, in_tens)


def _log_ratio_interval(moments: Moments, share: Interval) -> Interval:
    if share.low is None or share.high is None:
        return share
    logs = Interval(math.log(share.low), math.log(share.high), "")
    log_observed = math.log(moments.observed)
    limits = mover_difference(
        log_observed, logs, moments.log_expected, log_expected_limits(moments), shrunk_correlation(moments)
    )
    if limits.low is None or limits.high is None:
        return limits
    value, joint = log_observed - moments.log_expected, unseen(moments, 0.95) / moments.observed
    below, above = skewed(moments, 0.95)
    low = value - below * math.hypot(value - limits.low, joint)
    return Interval(low, value + above * math.hypot(limits.high - value, joint), "MOVER on logarithms")


def _upper_log_ratio(moments: Moments, share: Interval) -> Interval:
    """Upper limit of log H where no event was observed: the posterior median stands in for log 0."""
    if share.low is None or share.high is None:
        return share
    median = float(betaincinv(0.5, observed_size(moments) + 0.5, 0.5))
    limits = mover_difference(
        math.log(median),
        Interval(-math.inf, math.log(share.high), ""),
        moments.log_expected,
        log_expected_limits(moments),
    )
    return limits if limits.high is None else limits._replace(method="MOVER on logarithms, one-sided")


def _ceiling(moments: Moments) -> tuple[float | None, str]:
    if not math.isfinite(moments.log_expected) or moments.max_observed <= 0.0:
        return None, NO_RATIO
    log_ceiling = math.log(moments.max_observed) - moments.log_expected
    return (math.exp(log_ceiling), "") if log_ceiling < LARGEST_LOG else (None, "too large for a number")


def _ceiling_share(moments: Moments, excess: Estimated) -> Estimated:
    room = moments.max_observed - exponential(moments.log_expected)
    if excess.value is None or room <= 1e-12:
        return undefined("the failure rates leave no room for an excess")
    value = excess.value / room
    if value > 1.0 + 1e-9:
        return undefined("rates differ between individuals with other models: the largest excess is not known")
    low = None if excess.low is None else excess.low / room
    high = None if excess.high is None else min(excess.high / room, 1.0)
    method = excess.method and f"{excess.method}, failure rates held fixed"
    return Estimated(min(value, 1.0), low, high, method, excess.reason)


def _finite(limits: Interval) -> Interval:
    if limits.high is not None and math.isinf(limits.high):
        return no_interval("the upper limit is too large for a number; see log10_ratio")
    return limits


def _with(value: float, limits: Interval) -> Estimated:
    return Estimated(value, *limits)
