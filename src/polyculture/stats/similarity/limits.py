"""Intervals of pair measures: the delta method on the Fisher z or the logit scale, with 1/2 added per cell.

What is measured stands in the modules beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.intervals import quantile

__all__ = ["FISHER", "LOGIT", "Measure", "fisher_limits", "logit_limits", "undefined_where"]

FISHER = "delta method on the Fisher z scale, 1/2 added per cell"
LOGIT = "delta method on the logit scale, 1/2 added per cell"
_EDGE = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure of all pairs.

    Attributes
    ----------
    value, low, high : (k, k) float64
        NaN where there is none. The diagonal means nothing.
    method : str
        How the intervals were made.
    why : (k, k) int64
        Index into ``reasons`` of why the value or its interval is undefined; 0 where both are there.
    reasons : tuple of str
        The first is empty.
    """

    value: Floats
    low: Floats
    high: Floats
    method: str
    why: NDArray[np.int64]
    reasons: tuple[str, ...]

    def reason(self, one: int, other: int) -> str:
        """Return why the number of a pair, or its interval, is undefined; empty where it is not."""
        return self.reasons[int(self.why[one, other])]


def undefined_where(*conditions: tuple[Bools, str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the first reason that holds for each pair, as (k, k) indices and the texts that they point to."""
    why = np.zeros(conditions[0][0].shape, dtype=np.int64)
    for place, (where, _) in enumerate(conditions, start=1):
        why[(why == 0) & where] = place
    return why, ("", *(text for _, text in conditions))


def fisher_limits(value: Floats, centre: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the limits of values in -1 ... 1.

    Parameters
    ----------
    value : (k, k)
        The plain values; the limits are widened to hold them.
    centre, variance : (k, k)
        The values of the cells with 1/2 added, and their sampling variance.
    """
    inside = np.clip(centre, -_EDGE, _EDGE)
    half = quantile() * np.sqrt(variance) / (1.0 - inside**2)
    z = np.arctanh(inside)
    return np.fmin(np.tanh(z - half), value), np.fmax(np.tanh(z + half), value)


def logit_limits(events: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the limits of shares: ``events`` of ``size`` (both may be effective numbers), (k, k).

    The limits hold the plain share, so that they are 0 and 1 where it is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = events / size
        hits, misses = events + 0.5, size - events + 0.5
        centre, half = np.log(hits / misses), quantile() * np.sqrt(1.0 / hits + 1.0 / misses)
        low, high = 1.0 / (1.0 + np.exp(half - centre)), 1.0 / (1.0 + np.exp(-half - centre))
    return np.fmin(low, share), np.fmax(high, share)
