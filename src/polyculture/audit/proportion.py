"""Shares with their intervals, many at once: plain, weighted (design variance) or clustered (Korn-Graubard).

Also the way from the results of ``stats`` to a Statistic. Which shares are wanted is decided elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET

from polyculture.audit.records import Statistic, undefined
from polyculture.audit.settings import CENSUS
from polyculture.audit.sums import ratio, sums_by_key, weighted_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.rows import Rows
    from polyculture.stats.intervals import Estimated, Interval

SAMPLED = "sampled"
NOBODY = "no individual was judged"


def statistic(value: float | None, interval: Interval | None = None, *, reason: str = "", note: str = "") -> Statistic:
    """Return a value and its interval as a Statistic.

    Parameters
    ----------
    value : float or None
        The number; None or NaN where it is undefined.
    interval : Interval, optional
        Its interval; an infinite limit is open and written as None.
    reason : str
        Why there is no interval, where none is given.
    note : str
        Appended to the method.

    Returns
    -------
    Statistic
        Without NaN and infinity, which JSON does not know.
    """
    if interval is not None and not reason:
        reason = interval.reason
    if value is None or not math.isfinite(value):
        return undefined(reason or "the number is not finite")
    if interval is None or (interval.low is None and interval.high is None):
        return Statistic(value=float(value), reason=reason or UNSET)
    low, high = _finite(interval.low), _finite(interval.high)
    if not reason and (low is None or high is None):
        reason = "one-sided: the other limit does not exist"
    method = f"{interval.method}, {note}" if note else interval.method
    return Statistic(value=float(value), low=low, high=high, method=method, reason=reason or UNSET)


def from_estimated(estimated: Estimated, *, note: str = "") -> Statistic:
    """Return a result of ``stats`` as a Statistic."""
    from polyculture.stats import homogeneity
    from polyculture.stats.intervals import Interval

    reason = CENSUS if estimated.reason == homogeneity.CENSUS else estimated.reason
    interval = Interval(estimated.low, estimated.high, estimated.method, reason)
    return statistic(estimated.value, interval, note=note)


def interval_of(statistic: Statistic) -> Interval:
    """Return the interval of a Statistic, for rules that combine intervals."""
    from polyculture.stats.intervals import Interval, no_interval

    if statistic.low is None or statistic.high is None:
        return no_interval("" if statistic.reason is UNSET else str(statistic.reason))
    return Interval(statistic.low, statistic.high, "" if statistic.method is UNSET else str(statistic.method))


def _finite(limit: float | None) -> float | None:
    return float(limit) if limit is not None and math.isfinite(limit) else None


def number(value: float | None) -> float | None:
    """Return a plain float, which JSON can hold, of what may be numpy's; None where undefined or NaN."""
    return None if value is None or math.isnan(value) else float(value)


def why(value: float | None, reason: str) -> str | None:
    """Return the reason of a number that does not exist, and None beside one that does.

    >>> why(None, "nobody was judged"), why(0.5, "nobody was judged")
    ('nobody was judged', None)
    """
    return reason if number(value) is None else None


@dataclass(frozen=True)
class Design:
    """How much m shares vary more than in a plain sample; all arrays (m,).

    Attributes
    ----------
    share : float64
        The shares, by weight.
    size : float64
        Individuals of a plain sample in which the share varies as much as by these weights, never more than there are.
    effect : float64 or None
        Design effect of clusters and weights together; None without clusters.
    clusters : int64 or None
        Clusters with anybody in them.
    """

    share: NDArray[np.float64]
    size: NDArray[np.float64]
    effect: NDArray[np.float64] | None = None
    clusters: NDArray[np.int64] | None = None


def plain_shares(
    events: NDArray[np.int64], base: NDArray[np.int64], *, census: bool = False, note: str = ""
) -> list[Statistic]:
    """Return shares of like individuals with Jeffreys intervals.

    Parameters
    ----------
    events, base : (m,) int64
        Individuals with the event, and individuals in all.
    census : bool
        Leave intervals out.
    note : str
        Appended to the method.

    Returns
    -------
    list of Statistic
        Undefined where there is nobody.
    """
    share = ratio(events, base)
    return design_shares(Design(share, base.astype(np.float64)), base, census=census, note=note)


def design_shares(design: Design, base: NDArray[np.int64], *, census: bool = False, note: str = "") -> list[Statistic]:
    """Return shares with the intervals that their design asks for.

    Parameters
    ----------
    design : Design
        Shares, effective sizes, design effects.
    base : (m,) int64
        Individuals in all.
    census, note
        As in `plain_shares`.

    Returns
    -------
    list of Statistic
        Jeffreys; with clusters Korn-Graubard, no interval below ten clusters.
    """
    if census:
        reasons = np.where(base > 0, CENSUS, NOBODY)
        return [statistic(float(s), reason=str(r)) for s, r in zip(design.share, reasons, strict=True)]
    each = zip(design.share, base, design_intervals(design, base), strict=True)
    return [statistic(float(s), i, note=note) if n else undefined(NOBODY) for s, n, i in each]


def design_intervals(design: Design, base: NDArray[np.int64], *, level: float = 0.95) -> list[Interval]:
    """Return the intervals of shares: Jeffreys, or Korn-Graubard where individuals come in clusters.

    Parameters
    ----------
    design : Design
        Shares, effective sizes, design effects.
    base : (m,) int64
        Individuals in all.
    level : float
        Level of each interval.

    Returns
    -------
    list of Interval
        No interval where there is nobody, or fewer than ten clusters.
    """
    from polyculture.stats.intervals import Interval, jeffreys_limits, korn_graubard, no_interval

    if design.effect is not None and design.clusters is not None:
        each = zip(design.share, base, design.effect, design.clusters, strict=True)
        return [
            korn_graubard(float(s * n), int(n), float(e), int(c), level) if n else no_interval(NOBODY)
            for s, n, e, c in each
        ]
    share = np.clip(np.nan_to_num(design.share), 0.0, 1.0)
    low, high = jeffreys_limits(share * design.size, design.size, level)
    return [
        Interval(float(a), float(b), "Jeffreys") if n else no_interval(NOBODY)
        for a, b, n in zip(low, high, base, strict=True)
    ]


def design_limits(
    design: Design, base: NDArray[np.int64], *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of `design_intervals` as arrays (m,), NaN where there is no interval."""
    from polyculture.stats.intervals import jeffreys_limits

    if design.effect is None:
        share = np.clip(np.nan_to_num(design.share), 0.0, 1.0)
        return jeffreys_limits(share * design.size, design.size, level)
    found = design_intervals(design, base, level=level)
    low = np.array([np.nan if i.low is None else i.low for i in found])
    high = np.array([np.nan if i.high is None else i.high for i in found])
    return low, high


def flag_design(events: NDArray[np.bool_], base: NDArray[np.bool_], rows: Rows) -> Design:
    """Return the design of m shares given by flags: events among base, with weights and clusters.

    Parameters
    ----------
    events, base : (P, m) bool
        Flags by row; events are within base.
    rows : Rows
        Weights and clusters of the rows.

    Returns
    -------
    Design
        Of the m shares.
    """
    weights = np.column_stack([rows.weight, rows.weight_squared, rows.count])
    total, squared, count = weighted_sums(base, weights)
    shown, squared_events = weighted_sums(events, weights[:, :2])
    cluster_events = cluster_base = None
    if rows.cluster is not None:
        clusters, at = np.unique(rows.cluster, return_inverse=True)
        cluster_events = sums_by_key(events, rows.weight, at, len(clusters))
        cluster_base = sums_by_key(base, rows.weight, at, len(clusters))
    return design_of(
        shown=shown,
        total=total,
        squared=squared,
        squared_events=squared_events,
        count=count,
        cluster_events=cluster_events,
        cluster_base=cluster_base,
    )


def design_of(
    *,
    shown: NDArray[np.float64],
    total: NDArray[np.float64],
    squared: NDArray[np.float64],
    squared_events: NDArray[np.float64],
    count: NDArray[np.float64],
    cluster_events: NDArray[np.float64] | None = None,
    cluster_base: NDArray[np.float64] | None = None,
) -> Design:
    """Return the design of m shares from their sums.

    Parameters
    ----------
    shown, total, squared, squared_events, count : (m,) float64
        Weight of events, weight in all, sums of squared weights in all and of events, individuals.
    cluster_events, cluster_base : (C, m) float64, optional
        Weight of events and in all by cluster.

    Returns
    -------
    Design
        The design effect is the linearised variance of the ratio, over individuals or between clusters, over
        p (1 - p) / n. Where p is 0 or 1 the data do not show it: it is then that of the weights alone (Kish), and each
        cluster counts as one observation. The same as of systemic failure in ``stats.moments``.
    """
    share = np.clip(ratio(shown, total), 0.0, 1.0)
    known = np.nan_to_num(share)
    by_weights = squared_events * (1.0 - known) ** 2 + (squared - squared_events) * known**2
    kish = np.nan_to_num(ratio(count * squared, total * total), nan=1.0)
    size = count / np.maximum(_effect(ratio(by_weights, total * total), share, count, kish), 1.0)
    if cluster_events is None or cluster_base is None:
        return Design(share, size)
    clusters = np.count_nonzero(cluster_base > 0, axis=0)
    residual = cluster_events - known * cluster_base
    correction = ratio(clusters.astype(np.float64), clusters - 1.0)
    variance = np.nan_to_num(correction) * ratio((residual * residual).sum(axis=0), total * total)
    alike = np.maximum(ratio(count * (cluster_base * cluster_base).sum(axis=0), total * total), 1.0)
    effect = _effect(variance, share, count, alike)
    return Design(share, size, np.nan_to_num(effect, nan=1.0), clusters)


def _effect(
    variance: NDArray[np.float64],
    share: NDArray[np.float64],
    count: NDArray[np.float64],
    unseen: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return variances over those of plain samples; ``unseen`` where the data show none."""
    plain = ratio(share * (1.0 - share), count)
    return np.divide(variance, plain, out=unseen.copy(), where=(plain > 0) & (variance > 0))


def scaled(design: Design, share: NDArray[np.float64], factor: float) -> Design:
    """Carry the design of a sample of individuals over to all of them.

    The effective size grows with the number; the design effect less 1 does too, as it is proportional to the
    number of individuals a cluster. ``factor`` is the number of individuals for each one sampled.
    """
    effect = None if design.effect is None else np.maximum(1.0 + (design.effect - 1.0) * factor, design.effect)
    return Design(share, design.size * factor, effect, design.clusters)
