"""Likelihood of failure patterns when models are independent given a point of a latent space, and its gradient.

Points have weights; at each a model has its own rate. A normal ability is such a mixture at the points of a
Gauss-Hermite rule. What the rates are functions of stands in ``_families``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.nulls.protocol import Sets, Table
from polyculture.stats.poisson_binomial import pmf

__all__ = ["Points", "expected_all_fail", "gauss_hermite", "log_probability", "posterior", "profile", "totals"]

# Rows times points that are held at a time.
_CHUNK_CELLS = 1 << 20
_MOST_PROFILE_SETS = 300


@dataclass(frozen=True, eq=False)
class Points:
    """A mixture of independent models.

    Attributes
    ----------
    logit : ndarray, shape (Q, k)
        Logit of each model's failure rate at each point.
    log_weight : ndarray, shape (Q,)
        Log-weights of the points; they sum to 1.
    """

    logit: Floats
    log_weight: Floats

    @property
    def rates(self) -> Floats:
        """Failure rates at the points, (Q, k)."""
        return np.asarray(expit(self.logit))


def gauss_hermite(factors: int, points: int) -> tuple[Floats, Floats]:
    """Return points (Q, factors) and log-weights (Q,) of the standard normal law.

    Points of a product rule that weigh less than 1e-11 are left out.
    """
    z, w = np.polynomial.hermite_e.hermegauss(points)
    weights = w / w.sum()
    kept = weights > 1e-280
    z, weights = z[kept], weights[kept]
    grid = np.stack(np.meshgrid(*[z] * factors, indexing="ij"), axis=-1).reshape(-1, factors)
    product = np.prod(np.stack(np.meshgrid(*[weights] * factors, indexing="ij"), axis=-1), axis=-1).ravel()
    if factors > 1:
        used = product > 1e-11
        grid, product = grid[used], product[used] / product[used].sum()
    return grid, np.log(product)


def _chunks(rows: int, points: int) -> Iterator[slice]:
    step = max(1, _CHUNK_CELLS // max(points, 1))
    return (slice(start, start + step) for start in range(0, rows, step))


def posterior(points: Points, failed: Floats, judged: Floats | None) -> tuple[Floats, Floats]:
    """Return log-probabilities (P,) of some rows and the weights of the points given each row, (P, Q)."""
    log_success = log_expit(-points.logit)
    joint = failed @ points.logit.T
    joint += points.log_weight + log_success.sum(axis=1) if judged is None else points.log_weight
    if judged is not None:
        joint += judged @ log_success.T
    top = joint.max(axis=1, keepdims=True)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    return (top + np.log(total))[:, 0], joint


def parts(points: Points, table: Table) -> Iterator[tuple[slice, Floats, Floats | None, Floats, Floats]]:
    """Yield (rows, failed, judged, log-probabilities, weights of the points) of a table, a part at a time."""
    judgements = table.judgements
    for part in _chunks(len(table.count), len(points.log_weight)):
        failed = table.failed[part]
        judged = None if judgements is None else judgements[part]
        yield part, failed, judged, *posterior(points, failed, judged)


def log_probability(points: Points, table: Table) -> Floats:
    """Return the log-probability of each row, (P,)."""
    found = np.empty(len(table.count))
    for part, _, _, logs, _ in parts(points, table):
        found[part] = logs
    return found


def totals(points: Points, table: Table) -> tuple[float, Floats, Floats]:
    """Return what a gradient needs.

    Returns
    -------
    log_likelihood : float
        Of the whole table.
    by_logit : ndarray, shape (Q, k)
        Its derivative by each logit.
    members : ndarray, shape (Q,)
        Expected number of individuals at each point.
    """
    rates = points.rates
    log_likelihood, members = 0.0, np.zeros(len(rates))
    failures, judgements = np.zeros(rates.shape), np.zeros(rates.shape)
    for part, failed, judged, logs, weights in parts(points, table):
        count = table.count[part]
        log_likelihood += float(count @ logs)
        weighted = weights * count[:, None]
        members += weighted.sum(axis=0)
        failures += weighted.T @ failed
        if judged is not None:
            judgements += weighted.T @ judged
    if table.complete:
        judgements += members[:, None]
    return log_likelihood, failures - rates * judgements, members


def expected_all_fail(points: Points, judged: Bools) -> Floats:
    """Return the probability that all models of each set fail, (M,)."""
    sets = Table(judged, judged.astype(np.float64), np.ones(len(judged)))
    return np.asarray(np.where(judged.any(axis=1), np.exp(log_probability(points, sets)), 0.0))


def profile(points: Points, sets: Sets) -> Floats:
    """Return the expected share of individuals failed by 0..k models, (k + 1,); empty for too many sets."""
    if len(sets.count) > _MOST_PROFILE_SETS:
        return np.zeros(0)
    rates, weights = points.rates, np.exp(points.log_weight)
    laws = np.array([weights @ pmf(rates * judged) for judged in sets.judged])
    return np.asarray(sets.count @ laws / sets.count.sum())
