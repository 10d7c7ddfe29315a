"""Tests by permuting models, whether likeness goes with a column of pairs beyond what other columns tell.

Models are permuted, never pairs: the pairs of one model move together (quadratic assignment procedure, QAP).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from polyculture.stats._rows import Floats
from polyculture.stats.components.dyads import Dyads

__all__ = ["Permuted", "qap"]

_CELLS = 1 << 21  # permuted values held at a time
_TINY = 1e-12
_MANY = 128  # models


@dataclass(frozen=True)
class Permuted:
    """The partial correlation of likeness and a column of pairs, and its two-sided p-value; NaN where undefined."""

    correlation: float
    p_value: float
    permutations: int


def qap(dyads: Dyads, column: Floats, covariates: Floats, rng: Generator, permutations: int = 999) -> Permuted:
    """Test one column of pairs given others, by double semi-partialling.

    Parameters
    ----------
    dyads : Dyads
        The pairs and their response. Pairs without a response take part in no sum.
    column : (D,) float64
        The column of the hypothesis, known for all pairs.
    covariates : (D, q) float64
        The other columns with a constant, known for all pairs.
    rng : numpy.random.Generator
        Draws the permutations.
    permutations : int
        How many are drawn.

    Returns
    -------
    Permuted
        p = (1 + draws at least as extreme) / (1 + draws).

    Notes
    -----
    Dekker, Krackhardt and Snijders (2007): the column's residual on the covariates is permuted by models, and the
    statistic is that of the regression on it and the covariates. Their t is monotone in the partial correlation,
    which is used here; it is pivotal, so that correlated columns do not mislead the test.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> family = np.repeat(np.arange(4), 4)
    >>> same = (family[:, None] == family).astype(float)
    >>> noise = rng.normal(size=(16, 16))
    >>> pairs = Dyads.of(same + noise + noise.T)
    >>> found = qap(pairs, same[pairs.one, pairs.other], np.ones((120, 1)), rng)
    >>> found.p_value < 0.1, found.permutations
    (True, 999)
    """
    known = dyads.known
    basis = _basis(covariates[known])
    response = dyads.response[known] - basis @ (basis.T @ dyads.response[known])
    size = float(response @ response)
    if size <= _TINY * max(float(dyads.response[known] @ dyads.response[known]), _TINY):
        return Permuted(float("nan"), float("nan"), 0)
    left_out, *_ = np.linalg.lstsq(covariates[known], column[known], rcond=None)
    residual = column - covariates @ left_out
    if float(residual[known] @ residual[known]) <= _TINY * max(float(column[known] @ column[known]), _TINY):
        return Permuted(float("nan"), float("nan"), 0)
    statistic = _Correlations(dyads, np.column_stack([response / np.sqrt(size), basis]))
    moved = dyads.square(residual).astype(_precision(dyads.models))
    observed = float(statistic(moved[None])[0])
    extreme, batch = 0, max(1, _CELLS // moved.size)
    for start in range(0, permutations, batch):
        drawn = (rng.permutation(dyads.models) for _ in range(min(batch, permutations - start)))
        found = statistic(np.stack([moved.take(order, axis=0).take(order, axis=1) for order in drawn]))
        # Equal arrangements differ in the last digits only.
        extreme += int(np.count_nonzero(np.abs(found) >= abs(observed) - 10 * np.finfo(moved.dtype).eps))
    return Permuted(observed, (1 + extreme) / (1 + permutations), permutations)


class _Correlations:
    """Partial correlations of many arrangements of one column with the response: (B, n, n) -> (B,).

    Parameters
    ----------
    dyads : Dyads
        The pairs.
    against : (K, 1 + q) float64
        Over the K pairs with a response: its residual, of length 1, and an orthonormal basis of the covariates.
    """

    def __init__(self, dyads: Dyads, against: Floats) -> None:
        known = dyads.known
        n = dyads.models
        self._against = np.zeros((n * n, against.shape[1]), dtype=_precision(n))
        self._place = dyads.one[known] * n + dyads.other[known]
        self._against[self._place] = against
        self._complete = bool(known.all())

    def __call__(self, arranged: NDArray[np.floating[Any]]) -> Floats:
        flat = arranged.reshape(len(arranged), -1)
        sums = (flat @ self._against).astype(np.float64)
        if self._complete:  # then the squares are the same whatever the arrangement
            squares = np.full(len(flat), float((flat[0] ** 2).sum(dtype=np.float64)) / 2)
        else:
            squares = (flat[:, self._place] ** 2).sum(axis=1, dtype=np.float64)
        rest = squares - (sums[:, 1:] ** 2).sum(axis=1)
        full = np.zeros(len(flat))
        some = rest > _TINY * squares
        return np.asarray(np.divide(sums[:, 0], np.sqrt(np.maximum(rest, 0.0)), out=full, where=some))


def _precision(models: int) -> type[np.floating[Any]]:
    """Return the type of permuted values: among many models single precision is twice as fast and tells all apart."""
    return np.float32 if models > _MANY else np.float64


def _basis(covariates: Floats) -> Floats:
    """Return an orthonormal basis of the covariates' span, (D, rank)."""
    left, values, _ = np.linalg.svd(covariates, full_matrices=False)
    return np.asarray(left[:, values > 1e-10 * values.max(initial=0.0)])
