"""How many events would have to be label errors before nothing is left of an excess.

The excess itself stands in ``homogeneity``, which passes the lower limit in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polyculture.stats._rows import Ints, Rows
from polyculture.stats.moment_sums import moment_sums, summable
from polyculture.stats.moments import Event, Moments, moments_of_rows

__all__ = ["label_errors"]


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
    relabelled = _by_sums(moments) if summable(moments.rows) else _by_rows(moments)

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


def _by_sums(moments: Moments) -> Callable[[float], Moments]:
    """Moments of relabelled data from sums alone, where all models judged everyone."""
    sums = moment_sums(moments.rows)
    return lambda share: sums.relabelled(moments.event, share).moments(moments.event, moments.skewness)


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
