"""Differences of two numbers in which rounding is no difference.

Two figures that are equal come out a few units of the last digit apart when they are computed on two ways.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_VARIANCE", "difference", "differences"]

_ROUNDING = 1e-12
NO_VARIANCE = _ROUNDING**2
"""A variance of shares or correlations up to this is the rounding of none."""


def difference(one: float, other: float) -> float:
    """Return ``one - other``, exactly 0 where it is less than 1e-12 of the larger of them.

    Examples
    --------
    >>> 0.1 + 0.2 - 0.3 == 0.0, difference(0.1 + 0.2, 0.3) == 0.0, difference(0.25, 0.5)
    (False, True, -0.25)
    """
    return float(differences(np.asarray(one), np.asarray(other)))


def differences(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``one - other`` element by element, as `difference` does; NaN and infinity stay.

    Parameters
    ----------
    one, other : array of float64
        Of shapes that broadcast.

    Returns
    -------
    array of float64
        The differences.
    """
    with np.errstate(invalid="ignore"):
        apart = one - other
        larger = np.maximum(np.abs(one), np.abs(other))
        return np.asarray(np.where(np.isfinite(apart) & (np.abs(apart) <= _ROUNDING * larger), 0.0, apart))
