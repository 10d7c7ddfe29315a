"""Several sets of models on overlapping individuals: excesses and H compared, with the errors that they share.

One set by itself is estimated in ``homogeneity``; two groups of different individuals in ``contrasts``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rounding import difference
from polyculture.stats._rows import Floats, Ints, Rows, covariance, make_rows, take
from polyculture.stats.excess import excess_interval, exponential, observed_size
from polyculture.stats.homogeneity import CENSUS, NOBODY, ONE_MODEL, estimate
from polyculture.stats.intervals import Estimated, Interval, mover_difference, no_interval, undefined
from polyculture.stats.moments import Event, Moments, influences, moments_of_rows

__all__ = ["Compared", "Joint", "Slot", "joint"]

_MOST_HALVINGS = 60
_SMALLEST_P = 1e-12


@dataclass(frozen=True)
class Slot:
    """Some models on some individuals.

    Attributes
    ----------
    rows : ndarray of int, shape (R,)
        Rows of the table.
    models : ndarray of int, shape (m,)
        Columns of the table.
    fewest : int
        Individuals judged by fewer of these models are left out.
    """

    rows: Ints
    models: Ints
    fewest: int


@dataclass(frozen=True)
class Compared:
    """A difference of excesses with its test, and the ratio of H that belongs to it."""

    excess_difference: Estimated
    homogenization_ratio: Estimated
    p_value: float | None
    method: str


@dataclass(frozen=True)
class Joint:
    """The moments of one event in every slot, and the covariances of their excesses and of their log H.

    Attributes
    ----------
    moments : tuple of Moments
        One a slot.
    excess, log_ratio : ndarray, shape (S, S)
        Covariance matrices; 0 where a slot has none.
    census : bool
        Whether individuals are everyone.
    """

    moments: tuple[Moments, ...]
    excess: Floats
    log_ratio: Floats
    census: bool

    def difference(self, one: int, other: int) -> Compared:
        """Compare two slots: excess of the first less that of the second, and the ratio of their H."""
        return self._compared([[one, other]])

    def difference_of_differences(self, first: tuple[int, int], second: tuple[int, int]) -> Compared:
        """Compare two differences: (one - other) of the first pair of slots, less the same of the second."""
        return self._compared([list(first), list(second)])

    def _compared(self, pairs: list[list[int]]) -> Compared:
        slots = [slot for pair in pairs for slot in pair]
        for slot in slots:
            if self.moments[slot].n == 0 or self.moments[slot].judged_most <= 1:
                missing = undefined(NOBODY if self.moments[slot].n == 0 else ONE_MODEL)
                return Compared(missing, missing, None, missing.reason)
        value = self._value(pairs, [_excess(self.moments[slot]) for slot in range(len(self.moments))])
        limits = no_interval(CENSUS) if self.census else self._excess_limits(pairs, 0.95)
        if limits.low is not None:
            warnings = sorted({text for slot in slots if (text := _warning(self.moments[slot]))})
            limits = limits._replace(method="; ".join([limits.method, *warnings]))
        excess = Estimated(value, *limits)
        ratio = self._ratio(pairs)
        if excess.low is None:
            return Compared(excess, ratio, None, excess.reason)
        p = _p_value(value, lambda level: self._excess_limits(pairs, level))
        return Compared(excess, ratio, p, "level at which the interval of the difference just reaches 0")

    def _value(self, pairs: list[list[int]], values: Sequence[float]) -> float:
        differences = [difference(values[one], values[other]) for one, other in pairs]
        return difference(differences[0], differences[1]) if len(differences) == 2 else differences[0]

    def _excess_limits(self, pairs: list[list[int]], level: float) -> Interval:
        slots = {slot for pair in pairs for slot in pair}
        found = {slot: (_excess(self.moments[slot]), excess_interval(self.moments[slot], level)) for slot in slots}
        return self._combined(pairs, found, self.excess)

    def _ratio(self, pairs: list[list[int]]) -> Estimated:
        """Ratio of H, or ratio of ratios, from the intervals on the logarithm (base 10)."""
        found = {}
        for slot in {slot for pair in pairs for slot in pair}:
            log = estimate(self.moments[slot], census=self.census, count_label_errors=False).log10_ratio
            if log.value is None:
                return undefined(log.reason)
            found[slot] = log.value, Interval(log.low, log.high, log.method, log.reason)
        value = self._value(pairs, [found.get(slot, (0.0,))[0] for slot in range(len(self.moments))])
        logs = no_interval(CENSUS) if self.census else self._combined(pairs, found, self.log_ratio)
        if abs(value) > 300.0:
            return undefined("too large or too small for a number")
        if logs.low is None or logs.high is None or logs.high > 300.0:
            return Estimated(10.0**value, reason=logs.reason or "the upper limit is too large for a number")
        return Estimated(10.0**value, 10.0**logs.low, 10.0**logs.high, f"{logs.method}, on logarithms")

    def _combined(self, pairs: list[list[int]], found: dict[int, tuple[float, Interval]], matrix: Floats) -> Interval:
        """Combine the intervals of slots to those of differences, and these to that of their difference (MOVER)."""
        parts = []
        for one, other in pairs:
            limits = mover_difference(*found[one], *found[other], self._correlation([one], [other], matrix))
            parts.append((difference(found[one][0], found[other][0]), limits))
        if len(parts) == 2:
            limits = mover_difference(*parts[0], *parts[1], self._correlation(pairs[0], pairs[1], matrix))
        slots = [slot for pair in pairs for slot in pair]
        shared = any(matrix[i, j] for i in slots for j in slots if i != j)
        method = "MOVER with the covariance of the same individuals" if shared else "MOVER"
        return limits._replace(method=method) if limits.low is not None else limits

    def _correlation(self, one: list[int], other: list[int], matrix: Floats) -> float:
        """Return the correlation of two slots, or of two differences of slots; shrunk where events are few."""
        signs = [1.0, -1.0]

        def between(first: list[int], second: list[int]) -> float:
            pairs = ((signs[a] * signs[b], i, j) for a, i in enumerate(first) for b, j in enumerate(second))
            return sum(sign * float(matrix[i, j]) for sign, i, j in pairs)

        spread = math.sqrt(max(between(one, one), 0.0) * max(between(other, other), 0.0))
        if spread <= 0.0:
            return 0.0
        # As for the excess itself: at few events the correlation rests on few individuals.
        events = min(_events(self.moments[slot]) for slot in (*one, *other))
        return float(np.clip(between(one, other) / spread, -1.0, 1.0)) * events / (events + 1.0)


def joint(rows: Rows, slots: Sequence[Slot], event: Event, *, census: bool = False) -> Joint:
    """Return the moments of one event in several slots of one table, and what their errors share.

    Parameters
    ----------
    rows : Rows
        The table of all models.
    slots : sequence of Slot
        Which models on which individuals.
    event : {"all_fail", "none_fail", "same"}
        The event.
    census : bool
        Whether individuals are everyone: no intervals, no tests.

    Returns
    -------
    Joint

    Notes
    -----
    The covariance of two excesses is that of their influence values over individuals (or clusters), which is not 0
    where the same individuals are judged by both sets of models. Intervals: MOVER with this correlation (Zou 2007).

    Examples
    --------
    >>> failed = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=bool)
    >>> table = make_rows(np.ones_like(failed), failed, [40, 10, 100, 30, 30])
    >>> every = np.arange(5)
    >>> found = joint(table, [Slot(every, np.array(at), 2) for at in ([0, 1], [2, 3])], "all_fail")
    >>> compared = found.difference(0, 1)
    >>> [round(number, 3) for number in compared.excess_difference[:3]]
    [0.014, -0.001, 0.028]
    """
    size = len(rows.count)
    excesses, logs = np.zeros((len(slots), size)), np.zeros((len(slots), size))
    found = []
    for number, slot in enumerate(slots):
        moments, kept = _moments(rows, slot, event)
        found.append(moments)
        if moments.n == 0:
            continue
        observed, log_expected = influences(moments)
        total = moments.rows.total_weight
        if math.isfinite(moments.log_expected):
            excesses[number, kept] = (observed - exponential(moments.log_expected) * log_expected) / total
            if moments.observed > 0.0:
                logs[number, kept] = (observed / moments.observed - log_expected) / total
        else:
            excesses[number, kept] = observed / total
    return Joint(tuple(found), covariance(rows, *excesses), covariance(rows, *logs), census)


def _moments(rows: Rows, slot: Slot, event: Event) -> tuple[Moments, Ints]:
    """Return the moments of a slot, and the rows of the table that its influence values belong to."""
    judged = rows.judged[np.ix_(slot.rows, slot.models)]
    kept = slot.rows[judged.sum(axis=1) >= max(slot.fewest, 1)]
    part = take(rows, kept)
    own = make_rows(
        part.judged[:, slot.models],
        part.failed[:, slot.models],
        part.count,
        None if rows.plain else part.weight,
        None if rows.plain else part.weight_squared,
        part.cluster,
    )
    return moments_of_rows(own, event), kept


def _excess(moments: Moments) -> float:
    return difference(moments.observed, exponential(moments.log_expected))


def _events(moments: Moments) -> float:
    """Return the effective number of the rarer of event and no event."""
    return min(moments.observed, 1.0 - moments.observed) * observed_size(moments)


def _warning(moments: Moments) -> str:
    """Return what the method of the excess warns of."""
    return estimate(moments, count_label_errors=False).difference.method.partition("; ")[2]


def _p_value(value: float, limits: Callable[[float], Interval]) -> float:
    """Return the level at which the interval of a difference just reaches 0, by halving on the logarithm."""
    low, high = math.log(_SMALLEST_P), 0.0
    if value == 0.0:
        return 1.0
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2.0
        found = limits(1.0 - math.exp(middle))
        reaches = found.low is None or found.high is None or found.low <= 0.0 <= found.high
        low, high = (middle, high) if reaches else (low, middle)
        if high - low < 1e-4:
            break
    return math.exp(high)
