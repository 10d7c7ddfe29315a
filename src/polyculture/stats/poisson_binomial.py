"""The law of the number of failures when models fail independently with their own rates.

What is observed, and whether independence is plausible, stands in ``homogeneity`` and ``independence``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["log_product", "pmf"]


def pmf(rates: ArrayLike) -> NDArray[np.float64]:
    """Return the Poisson-binomial probabilities of 0..k failures.

    Models are added one at a time. Every step adds and multiplies non-negative numbers only, so that
    each cell keeps its relative accuracy (about k times machine epsilon) however small it is, down to the
    smallest double; a Fourier transform would lose all cells below 1e-16.

    Parameters
    ----------
    rates : array_like, shape (..., k)
        Failure rates in [0, 1], one a model.

    Returns
    -------
    ndarray, shape (..., k + 1)
        Probability of exactly t failures, t = 0..k.

    Raises
    ------
    ValueError
        If there is no axis of models, or a rate is outside [0, 1] or NaN.

    Notes
    -----
    The baseline P_base of Toups et al., arXiv 2307.05862, section 3.

    Examples
    --------
    >>> pmf([0.1, 0.2, 0.2]).round(3).tolist()
    [0.576, 0.352, 0.068, 0.004]
    """
    f = _checked(rates)
    k = f.shape[-1]
    # Models first: each step then runs along memory, over all sets of rates at once.
    fails = np.ascontiguousarray(np.moveaxis(f, -1, 0))
    succeeds = 1.0 - fails
    law = np.zeros((k + 1, *f.shape[:-1]))
    law[0] = 1.0
    for j in range(k):
        # Cells above j are still 0: only the part in use is touched.
        moved = law[: j + 1] * fails[j]
        law[: j + 1] *= succeeds[j]
        law[1 : j + 2] += moved
    return np.ascontiguousarray(np.moveaxis(law, 0, -1))


def log_product(rates: ArrayLike) -> NDArray[np.float64]:
    """Return the natural logarithm of the product of rates over the last axis.

    Parameters
    ----------
    rates : array_like, shape (..., k)
        Rates in [0, 1].

    Returns
    -------
    ndarray, shape (...)
        ``log(prod rates)``; -inf where a rate is 0; 0 where k = 0.

    Raises
    ------
    ValueError
        If there is no axis of models, or a rate is outside [0, 1] or NaN.

    Examples
    --------
    >>> float(log_product([0.5] * 2000).round(3))
    -1386.294
    """
    f = _checked(rates)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(f).sum(axis=-1))


def _checked(rates: ArrayLike) -> NDArray[np.float64]:
    f = np.asarray(rates, dtype=np.float64)
    if f.ndim == 0:
        raise ValueError("rates need an axis of models: give a sequence of rates, not one number.")
    if not np.all((f >= 0.0) & (f <= 1.0)):
        outside = f[~((f >= 0.0) & (f <= 1.0))][0]
        raise ValueError(f"rates must lie in [0, 1], got {outside}.")
    return f
