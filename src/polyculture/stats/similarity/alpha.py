"""Krippendorff's alpha: agreement of judges without gold labels; ratings may be missing.

Computed from the ratings' coincidences (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"):
the well-kept library for it is under the GPL, which this project cannot take; its values are test cases.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from polyculture.stats._rows import Floats
from polyculture.stats.intervals import Estimated, quantile, undefined

__all__ = ["Level", "krippendorff_alpha"]

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    counts: Floats, values: Floats, level: Level = "nominal", items: Floats | None = None
) -> Estimated:
    """Return alpha with an interval over items.

    Parameters
    ----------
    counts : (N, V) float
        How many judges gave each item each of V values. Items with fewer than two ratings say nothing.
    values : (V,) float
        The values in ascending order; only the interval level uses their sizes, the ordinal their order.
    level : {"nominal", "ordinal", "interval"}
        What a difference between two values is: any, of ranks, or of sizes.
    items : (N,) float, optional
        How many items a row stands for; by default one.

    Returns
    -------
    Estimated
        1 - observed / expected disagreement; undefined where all ratings are equal, or no item has two. The
        interval is by the delta method over items, on the scale of log(1 - alpha), since 1 is the most.

    Raises
    ------
    ValueError
        If the level is unknown or the arrays do not fit.

    Examples
    --------
    >>> counts = np.array([[2, 0], [0, 2], [1, 1]])
    >>> round(krippendorff_alpha(counts, np.array([0.0, 1.0])).value, 4)
    0.4444
    """
    if level not in {"nominal", "ordinal", "interval"}:
        raise ValueError(f"the level must be nominal, ordinal or interval, got {level!r}.")
    if counts.ndim != 2 or counts.shape[1] != len(values):
        raise ValueError(f"one column a value is needed: got {counts.shape} for {len(values)} values.")
    enough = counts.sum(axis=1) >= 2
    used = np.asarray(counts[enough], dtype=np.float64)
    times = np.ones(len(used)) if items is None else np.asarray(items, dtype=np.float64)[enough]
    ratings = used.sum(axis=1)
    n, size = float(times @ ratings), float(times.sum())
    if not n:
        return undefined("no item has two ratings")
    margins = times @ used
    apart = _apart(margins, np.asarray(values, dtype=np.float64), level)
    within = np.einsum("iv,vw,iw->i", used, apart, used) / (ratings - 1)
    observed, total = float(times @ within), float(margins @ apart @ margins)
    if total <= 0:
        return undefined("all ratings are equal")
    value = 1.0 - (n - 1) * observed / total
    if size < 2 or observed <= 0:
        return Estimated(value, reason="the data show no disagreement to make an interval of")
    # log(1 - alpha) = log observed + log(n - 1) - log total; each item's part in the three sums.
    influence = within / observed + ratings / n - 2 * (used @ (apart @ margins)) / total
    centred = influence - float(times @ influence) / size
    spread = math.sqrt(float(times @ centred**2) * size / (size - 1))
    half = min(quantile() * spread, 600.0)
    low, high = 1.0 - (1.0 - value) * math.exp(half), 1.0 - (1.0 - value) * math.exp(-half)
    return Estimated(value, low, high, "delta method on the scale of log(1 - alpha)")


def _apart(margins: Floats, values: Floats, level: Level) -> Floats:
    """Return the squared difference of every two values, (V, V)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return np.asarray(np.square(values[:, None] - values[None, :]))
    # Ordinal: ratings between the two values, and half of those at each of them.
    ranks = np.cumsum(margins) - margins / 2
    return np.asarray(np.square(ranks[:, None] - ranks[None, :]))
