"""Sums of weights over flagged rows, by column and by key, in blocks so that memory stays small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_BLOCK = 1 << 15  # rows turned into floats at a time


def weighted_sums(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up weights over the flagged rows of each column.

    Parameters
    ----------
    flags : (P, k) bool
        One row a pattern.
    weights : (P,) or (P, r) float64
        One or several weights a row.

    Returns
    -------
    (k,) or (r, k) float64
        Exact for whole numbers below 2^53.
    """
    sums = np.zeros((*weights.shape[1:], flags.shape[1]))
    for start in range(0, len(flags), _BLOCK):
        sums += weights[start : start + _BLOCK].T @ flags[start : start + _BLOCK].astype(np.float64)
    return sums


def column_sums(flags: NDArray[np.bool_], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up whole numbers over the flagged rows of each column: (P, k) and (P,) give (k,)."""
    return np.rint(weighted_sums(flags, count.astype(np.float64))).astype(np.int64)


def sums_by_key(
    flags: NDArray[np.bool_], weights: NDArray[np.float64], key: NDArray[np.int64], keys: int
) -> NDArray[np.float64]:
    """Add up weights over the flagged rows of each column, apart for each key.

    Parameters
    ----------
    flags : (P, k) bool
        One row a pattern.
    weights : (P,) float64
        Weight of each row.
    key : (P,) int64
        In 0 ... keys - 1; rows with a negative key are left out.
    keys : int
        Number of keys.

    Returns
    -------
    (keys, k) float64
        Sums.
    """
    order = np.argsort(key.astype(np.int16) if keys < np.iinfo(np.int16).max else key, kind="stable")
    ends = np.searchsorted(key[order], np.arange(keys + 1))
    sums = np.zeros((keys, flags.shape[1]))
    for number in np.flatnonzero(np.diff(ends)):
        index = order[ends[number] : ends[number + 1]]
        sums[number] = weighted_sums(flags[index], weights[index])
    return sums


def row_counts(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the flags of each row: (P, k) gives (P,)."""
    counts: NDArray[np.int64] = np.empty(len(flags), dtype=np.int64)
    ones = np.ones(flags.shape[1], dtype=np.float32)
    # Some kernels also compute on what lies behind short rows, and raise the flag of an invalid value.
    with np.errstate(invalid="ignore"):
        for start in range(0, len(flags), _BLOCK):
            # A product with ones is several times faster than a sum over short rows of Booleans.
            counts[start : start + _BLOCK] = flags[start : start + _BLOCK].astype(np.float32) @ ones
    return counts


def binned(at: NDArray[np.int64], weights: NDArray[np.float64] | NDArray[np.int64], size: int) -> Floats:
    """Add up weights by position: (P,) positions in 0 ... size - 1 and (P,) weights give (size,)."""
    return np.bincount(at, weights=weights, minlength=size).astype(np.float64)


def ratio(events: Floats | NDArray[np.int64], base: Floats | NDArray[np.int64]) -> Floats:
    """Divide element by element; NaN where the base is 0."""
    quotient: Floats = np.full(np.shape(base), np.nan)
    np.divide(events, base, out=quotient, where=np.asarray(base) > 0)
    return quotient
