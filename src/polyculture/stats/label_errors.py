"""How many events would have to be label errors before nothing is left of an excess.

The excess itself stands in ``homogeneity``, which passes the lower limit in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polyculture.stats._rows import Floats, Ints, Rows, column_sums
from polyculture.stats.moments import Event, Moments, has_event, moments_of_rows

__all__ = ["label_errors"]

# Up to so many models, sums of products of pairs take the place of the table.
_MOST_MODELS = 64


def label_errors(moments: Moments, lower: Callable[[Moments], float | None]) -> int | None:
    """Return the smallest number of events that, taken as label errors, bring the lower limit to 0.

    An individual whom all models fail because the label is wrong is one whom none fails: the event and the
    rate of each of the individual's models fall together. Which of the events are wrong is not known, so each
    pattern gives its share.

    Parameters
    ----------
    moments : Moments
        Of "all_fail" or "none_fail".
    lower : callable
        Lower limit of the excess of given moments, or None where it has none.

    Returns
    -------
    int or None
        0 where the interval covers 0 already; None where there is no interval, and for "same", which a
        wrong label does not change.
    """
    start = lower(moments)
    if start is None or moments.event == "same":
        return None
    if start <= 0.0:
        return 0
    rows = moments.rows
    small = rows.complete and rows.cluster is None and rows.failed.shape[1] <= _MOST_MODELS
    relabelled = _by_products(moments) if small else _by_rows(moments)

    def limit(wrong: int) -> float:
        value = lower(relabelled(wrong / moments.events))
        return -1.0 if value is None else value

    return _first_not_positive(limit, start, moments.events)


def _first_not_positive(limit: Callable[[int], float], start: float, last: int) -> int:
    """Find the crossing between 0 (positive) and ``last`` (not positive), by secants safeguarded by halving."""
    low, high, at_low, at_high = 0, last, start, limit(last)
    halve = False
    while high - low > 1:
        guess = (low + high) // 2
        if not halve and at_high < 0.0:
            guess = low + int((high - low) * at_low / (at_low - at_high))
            guess = min(max(guess, low + 1), high - 1)
        value = limit(guess)
        # Halve next time unless this step cut the bracket by half.
        halve = (high - guess if value > 0.0 else guess - low) * 2 > high - low
        low, high, at_low, at_high = (guess, high, value, at_high) if value > 0.0 else (low, guess, at_low, value)
    return high


def _by_products(moments: Moments) -> Callable[[float], Moments]:
    """Moments of relabelled data from sums of products alone, where all models judged everyone.

    The events are rows of ones (in failures, or in successes), so that each sum loses the same amount.
    """
    rows, fails = moments.rows, moments.event == "all_fail"
    k, total = rows.failed.shape[1], rows.total_weight
    events = has_event(moments)
    event_weight, event_squares = float(rows.weight[events].sum()), float(rows.weight_squared[events].sum())
    squares = float(rows.weight_squared.sum())
    first, second, both = rows.failed_weight, column_sums(rows.weight_squared, rows.failed), _products(rows)
    if not fails:  # the same sums of successes
        both = squares - second[:, None] - second[None, :] + both
        first, second = total - first, squares - second

    def at(share: float) -> Moments:
        weight, lost = event_weight * (1.0 - share), event_squares * share
        rates = np.maximum((first - event_weight * share) / total, 0.0)
        positive = rates > 1e-12
        inverse = np.divide(1.0, rates, out=np.zeros(k), where=positive)
        expected = float(positive.sum())
        observed, left = weight / total, event_squares - lost
        lost_second = second - lost
        linear = float(lost_second @ inverse)
        var_log = float(inverse @ (both - lost) @ inverse) - 2.0 * expected * linear + expected**2 * squares
        var_rates = (lost_second * (1.0 - 2.0 * rates) + rates**2 * squares) / total**2
        shared = left * (float(inverse.sum()) - expected) - observed * (linear - expected * squares)
        var_observed = left * (1.0 - 2.0 * observed) + observed**2 * squares
        spread = math.sqrt(max(var_log * var_observed, 0.0))
        binomial = observed * (1.0 - observed)
        effect = 1.0 if rows.plain or binomial <= 0.0 else var_observed / total**2 * rows.n / binomial
        log_expected = float(np.log(rates[positive]).sum()) if positive.all() else -math.inf
        return replace(
            moments,
            observed=observed,
            log_expected=log_expected,
            log_smoothed=log_expected,
            var_log_expected=max(var_log, 0.0) / total**2,
            var_log_smoothed=max(var_log, 0.0) / total**2,
            bias_log_expected=float(var_rates @ inverse**2) / 2.0,
            correlation=float(np.clip(shared / spread, -1.0, 1.0)) if spread > 0.0 else 0.0,
            design_effect=effect,
            n_effective=moments.n / max(effect, 1.0),
        )

    return at


def _products(rows: Rows) -> Floats:
    """Return sum of squared weights times failures of both models, (k, k)."""
    k = rows.failed.shape[1]
    result = np.zeros((k, k))
    step = max(1, (1 << 14) // k)
    for start in range(0, rows.count.size, step):
        part = slice(start, start + step)
        failed = rows.failed[part].astype(np.float64)
        result += (failed * rows.weight_squared[part][:, None]).T @ failed
    return result


def _by_rows(moments: Moments) -> Callable[[float], Moments]:
    """Moments of relabelled data from the table itself: for unequal sets, clusters and very many models."""
    prepared, events = _prepared(moments.rows, moments.event)
    return lambda share: moments_of_rows(_relabelled(prepared, events, share), moments.event)


def _prepared(rows: Rows, event: Event) -> tuple[Rows, Ints]:
    """Append, for each row with the event, an empty row in which its labels are the other way round."""
    events = np.flatnonzero(rows.failed_number == (rows.judged_number if event == "all_fail" else 0.0))
    none = np.zeros(events.size)
    longer = replace(
        rows,
        judged=np.vstack([rows.judged, rows.judged[events]]),
        failed=np.vstack([rows.failed, rows.judged[events] & ~rows.failed[events]]),
        count=np.concatenate([rows.count, none]),
        weight=np.concatenate([rows.weight, none]),
        weight_squared=np.concatenate([rows.weight_squared, none]),
        cluster=None if rows.cluster is None else np.concatenate([rows.cluster, rows.cluster[events]]),
    )
    return longer, events.astype(np.int64)


def _relabelled(rows: Rows, events: Ints, share: float) -> Rows:
    """Move a share of the individuals of the event rows to the rows appended for them."""
    moved = {}
    for name in ("count", "weight", "weight_squared"):
        values = getattr(rows, name).copy()
        values[-events.size :] = values[events] * share
        values[events] *= 1.0 - share
        moved[name] = values
    return replace(rows, count=moved["count"], weight=moved["weight"], weight_squared=moved["weight_squared"])
