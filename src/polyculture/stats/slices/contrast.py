"""The excess, or the systemic failure, of a slice against that of others: difference, interval, p-value."""

from __future__ import annotations

import math
from typing import NamedTuple

from polyculture.stats.contrasts import contrast
from polyculture.stats.excess import excess_interval
from polyculture.stats.intervals import Estimated, mover_difference
from polyculture.stats.moments import Moments

__all__ = ["Tested", "excess_contrast", "failure_contrast", "z_score"]

_HALVINGS = 50


class Tested(NamedTuple):
    """A difference with its interval, and the two-sided p-value of no difference (None where it is undefined)."""

    difference: Estimated
    p_value: float | None


def excess_contrast(one: Moments, other: Moments) -> Tested:
    """Return the difference of two excesses, each over its own rates.

    Parameters
    ----------
    one, other : Moments
        Of systemic failure, of different individuals.

    Returns
    -------
    Tested
        The interval is MOVER's from the two intervals of excess; the p-value is the level at which that interval
        just reaches 0, so that both say the same. Clusters that reach over both make both a little wide.

    Examples
    --------
    >>> import numpy as np
    >>> from polyculture.stats.moments import moments
    >>> failed = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> one = moments(np.ones_like(failed), failed, [40, 10, 10, 40])
    >>> other = moments(np.ones_like(failed), failed, [25, 25, 25, 25])
    >>> found = excess_contrast(one, other)
    >>> round(found.difference.value, 3), found.difference.low > 0, found.p_value < 0.01
    (0.15, True, True)
    """
    found = contrast(one, other).excess_difference
    if found.value is None or found.low is None:
        return Tested(found, None)
    return Tested(found, _level_of_no_difference(one, other, found.value))


def _level_of_no_difference(one: Moments, other: Moments, difference: float) -> float:
    if difference == 0.0:
        return 1.0
    values = [moments.observed - math.exp(moments.log_expected) for moments in (one, other)]

    def reaches(level: float) -> bool:
        limits = mover_difference(values[0], excess_interval(one, level), values[1], excess_interval(other, level))
        if limits.low is None or limits.high is None:
            return True
        return limits.low <= 0.0 <= limits.high

    # The logarithm of p is halved, so that small p-values keep their digits.
    low, high = math.log(1e-12), 0.0
    if not reaches(1.0 - math.exp(low)):
        return math.exp(low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if reaches(1.0 - math.exp(middle)):
            low = middle
        else:
            high = middle
    return math.exp(low)


def failure_contrast(one: Moments, other: Moments) -> Tested:
    """Return the difference of two systemic failures and its test; see `contrasts.contrast`."""
    found = contrast(one, other)
    return Tested(found.difference, found.p_value)


def z_score(one: Moments, other: Moments, *, excess: bool) -> float:
    """Return a difference in standard errors, for searching only: quick, and with no interval behind it."""
    values, variance = [], 0.0
    for moments in (one, other):
        size = max(moments.n_effective, 1.0)
        rate = (moments.observed * size + 0.5) / (size + 1.0)
        own = rate * (1.0 - rate) / size
        value = moments.observed
        if excess:
            expected = math.exp(moments.log_expected)
            of_log = moments.var_log_expected if math.isfinite(moments.var_log_expected) else 0.0
            value -= expected
            own += expected**2 * of_log - 2.0 * moments.correlation * expected * math.sqrt(own * of_log)
        values.append(value)
        variance += max(own, 0.0)
    return (values[0] - values[1]) / math.sqrt(variance) if variance > 0.0 else 0.0
