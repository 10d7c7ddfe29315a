"""Least squares over pairs of models, with the variance that pairs of one model share.

Two pairs with a model in common are never independent; the usual standard errors take them to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Floats
from polyculture.stats.components.dyads import Dyads

__all__ = [
    "Fit",
    "correlation",
    "dyadic_covariance",
    "fit",
    "grams_without",
    "jackknife_variance",
    "without_each_model",
]

_SINGULAR = 1e-9  # share of a column's variation that the other columns leave, below which they determine it


@dataclass(frozen=True, eq=False)
class Fit:
    """A regression over the pairs whose response is known.

    Attributes
    ----------
    coefficients : (p,) float64
        NaN for a column that the columns before it determine.
    covariance : (p, p) float64
        Dyadic-robust, positive semi-definite.
    without : (n, p) float64
        The coefficients without each model; NaN where a column is determined without it.
    residual_share : float
        Residual over total variation of the response about its mean.
    pairs : int
        Pairs with a response.
    """

    coefficients: Floats
    covariance: Floats
    without: Floats
    residual_share: float
    pairs: int


def fit(dyads: Dyads, columns: Floats) -> Fit:
    """Regress likeness on columns of pairs.

    Parameters
    ----------
    dyads : Dyads
        The pairs and their response.
    columns : (D, p) float64
        Regressors, a constant among them where one is wanted.

    Returns
    -------
    Fit
        Coefficients and both kinds of variance.

    Notes
    -----
    The covariance is that of Fafchamps and Gubert (2007) and Aronow, Samii and Assenova (2015): the sum of
    products of scores over all two pairs that share a model, times n / (n - 1). It need not be positive
    semi-definite; negative eigenvalues are set to 0 (Cameron and Miller 2014).

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[0, 0.5, 0.1, 0.2], [0.5, 0, 0.1, 0.0], [0.1, 0.1, 0, 0.6], [0.2, 0.0, 0.6, 0]])
    >>> pairs = Dyads.of(alike)
    >>> found = fit(pairs, np.column_stack([np.ones(6), [1, 0, 0, 0, 0, 1]]))
    >>> found.coefficients.round(3).tolist()
    [0.1, 0.45]
    """
    known = dyads.known
    used = Dyads(dyads.models, dyads.one[known], dyads.other[known], dyads.response[known])
    x, y = columns[known], used.response
    coefficients = _solved(x.T @ x, x.T @ y)
    residual = y - x @ np.nan_to_num(coefficients)
    total = float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0
    return Fit(
        coefficients=coefficients,
        covariance=dyadic_covariance(used, x, residual),
        without=without_each_model(used, x),
        residual_share=float((residual**2).sum()) / total if total > 0 else float("nan"),
        pairs=len(y),
    )


def dyadic_covariance(dyads: Dyads, columns: Floats, residual: Floats) -> Floats:
    """Return the dyadic-robust covariance of least-squares coefficients, (p, p); see `fit`."""
    scores = columns * residual[:, None]
    of_model = dyads.sums_by_model(scores)
    # A pair shares both of its models with itself, and was counted for each.
    meat = of_model.T @ of_model - scores.T @ scores
    bread = np.linalg.pinv(columns.T @ columns, hermitian=True)
    found = bread @ meat @ bread * (dyads.models / max(dyads.models - 1, 1))
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def without_each_model(dyads: Dyads, columns: Floats) -> Floats:
    """Return the coefficients without the pairs of each model, (n, p)."""
    gram, moment = grams_without(dyads, columns)
    scale = np.sqrt(np.maximum(np.einsum("npp->np", gram), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    normed = gram / (unit[:, :, None] * unit[:, None, :])
    found = np.full((dyads.models, columns.shape[1]), np.nan)
    regular = np.linalg.eigvalsh(normed)[:, 0] > _SINGULAR
    solved = np.linalg.solve(normed[regular], (moment / unit)[regular][:, :, None])
    found[regular] = solved[:, :, 0] / unit[regular]
    for model in np.flatnonzero(~regular):
        found[model] = _solved(gram[model], moment[model])
    return found


def grams_without(dyads: Dyads, columns: Floats) -> tuple[Floats, Floats]:
    """Return the cross-products of columns (n, p, p), and with the response (n, p), without each model's pairs."""
    p = columns.shape[1]
    upper = np.triu_indices(p)
    gram = np.empty((dyads.models, p, p))
    for a, b in zip(*upper, strict=True):
        product = (columns[:, a] * columns[:, b])[:, None]
        gram[:, a, b] = gram[:, b, a] = product.sum() - dyads.sums_by_model(product)[:, 0]
    moment = columns * dyads.response[:, None]
    return gram, moment.sum(axis=0) - dyads.sums_by_model(moment)


def jackknife_variance(without: Floats) -> Floats:
    """Return the delete-one-model variance of figures (n, m), shape (m,); NaN where one of them is undefined.

    It counts each pair for both of its models, so that it is too large where only pairs vary (Efron and Stein 1981).
    """
    n = without.shape[0]
    return np.asarray(((without - without.mean(axis=0)) ** 2).sum(axis=0) * (n - 1) / n)


def _solved(gram: Floats, moment: Floats) -> Floats:
    """Solve the normal equations; NaN for columns that those before them determine."""
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    normed = gram / np.outer(unit, unit)
    kept: list[int] = []
    for column in np.flatnonzero(scale > 0):
        if not kept:
            kept.append(int(column))
            continue
        inside = normed[np.ix_(kept, kept)]
        across = normed[kept, column]
        if 1.0 - across @ np.linalg.solve(inside, across) > _SINGULAR:
            kept.append(int(column))
    found = np.full(len(moment), np.nan)
    if kept:
        found[kept] = np.linalg.solve(normed[np.ix_(kept, kept)], moment[kept] / unit[kept]) / unit[kept]
    return found


def correlation(dyads: Dyads, column: Floats) -> tuple[float, Floats]:
    """Return the correlation of likeness and a column of pairs (D,), and that without each model, (n,).

    NaN where one of the two does not vary.
    """
    known = dyads.known
    used = Dyads(dyads.models, dyads.one[known], dyads.other[known], dyads.response[known])
    x, y = column[known], used.response
    x, y = x - (x.mean() if len(x) else 0.0), y - (y.mean() if len(y) else 0.0)
    products = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    total = products.sum(axis=0)
    sums = np.vstack([total, total - used.sums_by_model(products)])
    n, a, b, aa, bb, ab = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = aa - a * a / n, bb - b * b / n
        found = (ab - a * b / n) / np.sqrt(first * second)
    flat = (first <= _SINGULAR * total[3]) | (second <= _SINGULAR * total[4])
    found = np.where(flat, np.nan, np.clip(found, -1.0, 1.0))
    return float(found[0]), found[1:]
