"""Tests by permuting models, whether likeness goes with a column of pairs beyond what other columns tell.

Models are permuted, never pairs: the pairs of one model move together (quadratic assignment procedure, QAP).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from polyculture.stats._rows import Floats
from polyculture.stats.components.dyads import Dyads

__all__ = ["Permuted", "qap"]

_CELLS = 1 << 21  # permuted values held at a time
_TINY = 1e-12


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
    known, n = dyads.known, dyads.models
    basis = _basis(covariates[known])
    left_out, *_ = np.linalg.lstsq(covariates[known], column[known], rcond=None)
    moved = dyads.square(column - covariates @ left_out)
    response = dyads.response[known] - basis @ (basis.T @ dyads.response[known])
    size = float(response @ response)
    if size <= _TINY * max(float(dyads.response[known] @ dyads.response[known]), _TINY):
        return Permuted(float("nan"), float("nan"), 0)
    one, other = dyads.one[known], dyads.other[known]
    against = np.column_stack([response / np.sqrt(size), basis])

    def correlations(values: Floats) -> Floats:
        """Return partial correlations of rows of permuted residuals, (B, D) -> (B,)."""
        sums = values @ against
        rest = np.einsum("bd,bd->b", values, values) - (sums[:, 1:] ** 2).sum(axis=1)
        full = np.zeros(len(values))
        some = rest > _TINY * rest.max(initial=0)
        return np.asarray(np.divide(sums[:, 0], np.sqrt(np.maximum(rest, 0.0)), out=full, where=some))

    flat = moved.ravel()
    here = moved[one, other][None, :]
    if float((here**2).sum()) <= _TINY * max(float((column[known] ** 2).sum()), _TINY):
        return Permuted(float("nan"), float("nan"), 0)
    observed = float(correlations(here)[0])
    batch = max(1, _CELLS // max(len(one), 1))
    extreme = 0
    for start in range(0, permutations, batch):
        orders = rng.permuted(np.tile(np.arange(n), (min(batch, permutations - start), 1)), axis=1)
        drawn = correlations(flat[orders[:, one] * n + orders[:, other]])
        # Equal arrangements differ in the last digits only.
        extreme += int(np.count_nonzero(np.abs(drawn) >= abs(observed) - 1e-9))
    return Permuted(observed, (1 + extreme) / (1 + permutations), permutations)


def _basis(covariates: Floats) -> Floats:
    """Return an orthonormal basis of the covariates' span, (D, rank)."""
    left, values, _ = np.linalg.svd(covariates, full_matrices=False)
    return np.asarray(left[:, values > 1e-10 * values.max(initial=0.0)])
