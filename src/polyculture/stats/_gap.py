"""The largest difference between the rates of several groups, beside what shuffled group labels would show.

Two groups against each other stand in ``contrasts``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from polyculture.stats.intervals import Estimated, undefined

__all__ = ["Gap", "max_min_gap"]


@dataclass(frozen=True)
class Gap:
    """The largest difference between groups, beside what shuffled group labels would show.

    Attributes
    ----------
    difference : Estimated
        Highest minus lowest rate; no interval.
    ratio : Estimated
        Lowest over highest rate (the reading of the four-fifths rule); no interval.
    highest, lowest : int or None
        Indices of the groups.
    expected : float or None
        Mean difference with shuffled labels: what groups of these sizes show with no difference.
    p_value : float or None
        Share of shuffles with at least this difference.
    method : str
        How, or why not.
    """

    difference: Estimated
    ratio: Estimated
    highest: int | None
    lowest: int | None
    expected: float | None
    p_value: float | None
    method: str


def max_min_gap(events: ArrayLike, n: ArrayLike, rng: np.random.Generator, draws: int = 999) -> Gap:
    """Return the largest difference of rates between groups, and the one expected without any difference.

    Parameters
    ----------
    events, n : array_like of int, shape (G,)
        Events and individuals of each group; empty groups are left out.
    rng : numpy.random.Generator
        Source of the shuffles.
    draws : int
        Number of shuffles.

    Returns
    -------
    Gap

    Notes
    -----
    Shuffled labels give each group a multivariate hypergeometric share of the events. With many groups the largest
    difference is never near 0, whatever the truth; hence the expected one beside it.

    Examples
    --------
    >>> import numpy as np
    >>> gap = max_min_gap([5, 10, 30], [50, 100, 100], np.random.default_rng(0))
    >>> round(gap.difference.value, 2), round(gap.ratio.value, 3), gap.highest, round(gap.expected, 2)
    (0.2, 0.333, 2, 0.08)
    """
    x, size = np.asarray(events, dtype=np.int64), np.asarray(n, dtype=np.int64)
    kept = np.flatnonzero(size > 0)
    if kept.size < 2:
        nothing = undefined("fewer than two groups with individuals: there is no gap")
        return Gap(nothing, nothing, None, None, None, None, nothing.reason)
    x, size = x[kept], size[kept]
    rates = x / size
    highest, lowest = int(np.argmax(rates)), int(np.argmin(rates))
    gap = float(rates[highest] - rates[lowest])
    reason = "a largest difference has no interval: see the one expected with no difference"
    ratio = undefined("no event in any group: the ratio does not exist")
    if rates[highest] > 0.0:
        ratio = Estimated(float(rates[lowest] / rates[highest]), reason=reason)
    shuffled = rng.multivariate_hypergeometric(size, int(x.sum()), size=draws, method="marginals") / size
    gaps = shuffled.max(axis=1) - shuffled.min(axis=1)
    p = (1 + int((gaps >= gap - 1e-12).sum())) / (1 + draws)
    return Gap(
        Estimated(gap, reason=reason),
        ratio,
        int(kept[highest]),
        int(kept[lowest]),
        float(gaps.mean()),
        p,
        f"{draws} shuffles of the group labels",
    )
