"""Limits of the parts of one event: its observed share, its expectation under independence, and the excess.

What a reader sees of them stands in ``homogeneity``.
"""

from __future__ import annotations

import math

from polyculture.stats.intervals import (
    Interval,
    effective_size,
    jeffreys,
    korn_graubard,
    mover_difference,
    quantile,
    wald_log,
)
from polyculture.stats.moments import Moments

__all__ = [
    "LARGEST_LOG",
    "excess_interval",
    "expected_limits",
    "exponential",
    "log_expected_limits",
    "observed_interval",
    "observed_size",
    "shrunk_correlation",
    "skewed",
    "unseen",
]

LARGEST_LOG = 709.0
_SMALLEST_LOG = -708.0
# Standard errors by which skewness may lengthen one side: beyond, its estimate says little.
_MOST_SKEW = 0.75


def excess_interval(moments: Moments, level: float = 0.95) -> Interval:
    """Return the interval of observed - expected; undefined, with the reason, where there is none.

    MOVER, with four additions that the coverage study asks for (docs/statistics.md): a shrunk correlation, two
    joint failures more than were seen, a longer side where the excess is skewed, and wider limits with clusters.
    """
    expected = exponential(moments.log_expected)
    interval = mover_difference(
        moments.observed,
        observed_interval(moments, level),
        expected,
        expected_limits(moments, level),
        shrunk_correlation(moments),
    )
    if interval.low is None or interval.high is None:
        return interval
    value = moments.observed - expected
    joint = unseen(moments, level)
    wider = _widening(moments, level)
    below, above = skewed(moments, level)
    low = value - wider * below * math.hypot(value - interval.low, joint)
    return interval._replace(low=low, high=value + wider * above * math.hypot(interval.high - value, joint))


def shrunk_correlation(moments: Moments) -> float:
    """Correlation of observed and log E, shrunk by x / (x + 1) at x effective events.

    At few events it rests on few individuals, and taking it at its word makes intervals too short.
    """
    events = moments.observed * observed_size(moments)
    return moments.correlation * events / (events + 1.0)


def unseen(moments: Moments, level: float) -> float:
    """Half-width that two joint failures more than were seen would add.

    The excess of consistent success is made of joint failures. Where rates are low and none was seen, the data show
    no variance at all, although some are possible.
    """
    if moments.event == "all_fail" or moments.n_effective <= 0.0:
        return 0.0
    return quantile(level) * math.sqrt(2.0) / moments.n_effective


def skewed(moments: Moments, level: float) -> tuple[float, float]:
    """Factors of the lower and the upper half-width where the excess is skewed.

    A few individuals whom many models fail make up most of what is known of consistent success; without one more of
    them the excess looks smaller, and less variable, than it is. The second-order term of the limits of a skewed mean
    (Johnson 1978; Hall 1992), capped, lengthens the side to which the skew points; the other is not shortened.
    Systemic failure has limits by events, which are skewed already.
    """
    if moments.event == "all_fail":
        return 1.0, 1.0
    z = quantile(level)
    longer = 1.0 + min(abs(moments.skewness) * (1.0 + 2.0 * z * z) / 6.0, _MOST_SKEW) / z
    return (1.0, longer) if moments.skewness > 0.0 else (longer, 1.0)


def _widening(moments: Moments, level: float) -> float:
    """Factor for clusters: t with the degrees of freedom that their kurtosis leaves, and the jackknife's variance."""
    if moments.clusters is None or moments.degrees is None or moments.events in {0, moments.n}:
        return 1.0  # with no event every cluster counts as one observation already
    ratio = quantile(level, moments.degrees + 1.0) / quantile(level, moments.clusters)
    return ratio * moments.clusters / (moments.clusters - 1.0)


def observed_interval(moments: Moments, level: float = 0.95) -> Interval:
    """Return the interval of the observed share: Jeffreys, with clusters Korn and Graubard's effective size."""
    n, clusters = moments.n, moments.clusters
    if clusters is not None:
        return korn_graubard(moments.observed * n, n, moments.design_effect, clusters, level)
    return jeffreys(moments.observed * moments.n_effective, moments.n_effective, level)


def observed_size(moments: Moments) -> float:
    """Return the effective size that the interval of the observed share rests on."""
    if moments.clusters is None:
        return moments.n_effective
    return effective_size(moments.n, moments.design_effect, moments.clusters)


def log_expected_limits(moments: Moments, level: float = 0.95) -> Interval:
    """Delta interval of log E around the value freed of its bias; where E is 0, only the upper limit exists."""
    bias = moments.bias_log_expected
    if math.isfinite(moments.log_expected):
        limits = wald_log(moments.log_expected + bias, moments.var_log_expected, level, moments.clusters)
        return limits if limits.low is None else limits._replace(low=min(limits.low, moments.log_expected))
    limits = wald_log(moments.log_smoothed + bias, moments.var_log_smoothed, level, moments.clusters)
    return limits if limits.low is None else limits._replace(low=-math.inf)


def expected_limits(moments: Moments, level: float = 0.95) -> Interval:
    """Return the interval of E, from that of its logarithm."""
    limits = log_expected_limits(moments, level)
    if limits.low is None or limits.high is None:
        return limits
    return Interval(exponential(limits.low), min(exponential(limits.high), 1.0), limits.method)


def exponential(value: float) -> float:
    """Return exp of a value: 0 or infinite where a double ends."""
    if value > LARGEST_LOG:
        return math.inf
    return math.exp(value) if value > _SMALLEST_LOG else 0.0
