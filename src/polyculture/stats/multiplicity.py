"""Corrections of p-values and levels for several looks at the same data.

The p-values themselves are made where the test is: ``independence``, ``contrasts``, ``group_homogenization``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["benjamini_hochberg", "holm", "sidak_level"]

PValues = Sequence[float | None] | NDArray[np.float64]


def benjamini_hochberg(p: PValues) -> NDArray[np.float64]:
    """Return p-values adjusted to control the false discovery rate.

    Parameters
    ----------
    p : sequence of float or None, shape (m,)
        p-values; None and NaN mean that a test is undefined. Such tests stay NaN and do not count.

    Returns
    -------
    ndarray, shape (m,)
        Adjusted p-values in the order given.

    Raises
    ------
    ValueError
        If a p-value is outside [0, 1].

    Notes
    -----
    Benjamini and Hochberg (1995), step-up.

    Examples
    --------
    >>> benjamini_hochberg([0.01, None, 0.04, 0.03]).round(3).tolist()
    [0.03, nan, 0.04, 0.04]
    """
    values, defined, order = _sorted(p)
    m = order.size
    steps = values[defined][order] * m / np.arange(1, m + 1)
    adjusted = np.minimum.accumulate(steps[::-1])[::-1]
    return _restored(values, defined, order, adjusted)


def holm(p: PValues) -> NDArray[np.float64]:
    """Return p-values adjusted to control the family-wise error rate under any dependence.

    Arguments, result and errors are those of `benjamini_hochberg`.

    Notes
    -----
    Holm (1979), step-down.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03]).round(3).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    values, defined, order = _sorted(p)
    m = order.size
    adjusted = np.maximum.accumulate(values[defined][order] * np.arange(m, 0, -1))
    return _restored(values, defined, order, adjusted)


def sidak_level(m: int, level: float = 0.95) -> float:
    """Return the level of each of m intervals that hold together with probability ``level``.

    Exact for independent estimates, conservative for most dependent ones (Sidak 1967).

    Parameters
    ----------
    m : int
        Number of intervals, at least 1.
    level : float
        Joint level, in (0, 1).

    Returns
    -------
    float
        Level of one interval.

    Raises
    ------
    ValueError
        If m is below 1 or the level outside (0, 1).

    Examples
    --------
    >>> round(sidak_level(8), 5)
    0.99361
    """
    if m < 1:
        raise ValueError(f"the number of intervals must be at least 1, got {m}.")
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level must lie in (0, 1), got {level}.")
    return float(np.exp(np.log(level) / m))


def _sorted(p: PValues) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    values = np.array([np.nan if value is None else value for value in p], dtype=np.float64)
    defined = ~np.isnan(values)
    if np.any((values[defined] < 0.0) | (values[defined] > 1.0)):
        raise ValueError("p-values must lie in [0, 1].")
    return values, defined, np.argsort(values[defined], kind="stable").astype(np.int64)


def _restored(
    values: NDArray[np.float64],
    defined: NDArray[np.bool_],
    order: NDArray[np.int64],
    adjusted: NDArray[np.float64],
) -> NDArray[np.float64]:
    unsorted = np.empty(order.size)
    unsorted[order] = np.minimum(adjusted, 1.0)
    result = np.full(values.shape, np.nan)
    result[defined] = unsorted
    return result
