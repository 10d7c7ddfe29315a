"""How surprising it is that so many models share one wrong answer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from polyculture.stats._rows import Floats
from polyculture.stats.poisson_binomial import pmf

__all__ = ["adjusted_by_count", "expected_sharing", "shared_answer_p"]


def _chances(rates: Floats, agreement: float) -> Floats:
    """Return the chance of each model to give the most popular wrong answer.

    Wrong answers that are the same with probability s have a most popular one of at most sqrt(s).
    """
    return np.asarray(rates * math.sqrt(min(max(agreement, 0.0), 1.0)))


def shared_answer_p(rates: Floats, agreement: float) -> Floats:
    """Return the p-value of n models sharing a wrong answer, for n = 0, 1, ... k.

    Parameters
    ----------
    rates : (k,) float
        The models' failure rates.
    agreement : float
        Mean share of same answers where two models are wrong.

    Returns
    -------
    (k + 1,) float
        An upper bound of the probability that n or more of the models give one wrong answer, if they failed
        independently at their own rates: the tail of the Poisson-binomial law at the popularity sqrt(s) of the
        most popular wrong answer, times the number 1 / sqrt(s) of answers that can be so popular.

    Examples
    --------
    >>> shared_answer_p(np.array([0.1, 0.1, 0.2]), 0.25).round(5).tolist()
    [1.0, 0.3755, 0.024, 0.0005]
    """
    if agreement <= 0:
        return np.r_[1.0, 1.0, np.zeros(len(rates) - 1)] if len(rates) else np.ones(1)
    law = pmf(_chances(rates, agreement))
    tail = np.cumsum(law[::-1])[::-1]
    found = np.minimum(1.0, tail / math.sqrt(min(agreement, 1.0)))
    found[0] = 1.0
    return np.asarray(found)


def expected_sharing(rates: Floats, agreement: float) -> float:
    """Return how many models are expected to give the most popular wrong answer."""
    return float(_chances(rates, agreement).sum())


def adjusted_by_count(p: Floats, items: NDArray[np.int64]) -> Floats:
    """Return p-values by number of sharing models, corrected over all items (Benjamini-Hochberg).

    Parameters
    ----------
    p : (k + 1,) float
        The p-value of each number.
    items : (k + 1,) int
        How many items have that number.
    """
    found = np.ones(len(p))
    total = int(items.sum())
    counts = items[::-1].cumsum()[::-1]
    shown = np.flatnonzero(items > 0)
    if not total or not len(shown):
        return found
    # Items of one number have one p-value: the last of them in the order has the rank of all with as many or more.
    steps = np.array([p[n] * total / counts[n] for n in shown])
    found[shown] = np.minimum(1.0, np.minimum.accumulate(steps))
    return found
