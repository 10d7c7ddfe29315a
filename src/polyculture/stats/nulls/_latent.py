"""A fitted mixture as a null: what it expects, and how its expectation moves with the data.

Families of mixtures stand in ``_families``, the search for their maximum in ``_search``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.nulls._families import Family
from polyculture.stats.nulls._mixture import expected_all_fail, log_probability, profile
from polyculture.stats.nulls._search import inverse, maximise
from polyculture.stats.nulls.protocol import Fit, Sets, Table

__all__ = ["LatentFit", "fit_latent"]


@dataclass(frozen=True, eq=False)
class LatentFit:
    """A family at its maximum likelihood.

    Attributes
    ----------
    family : Family
        What was fitted.
    theta : ndarray, shape (m,)
        Estimates.
    log_likelihood : float
        Of the table that was fitted.
    parameters : int
        Free parameters, with those of models that never or always fail.
    reason : str
        Why there is no fit; empty where it converged.
    exact : bool
        Whether it rests on everyone, though the patterns at hand are a sample.
    """

    family: Family
    theta: Floats
    log_likelihood: float
    parameters: int
    reason: str = ""
    exact: bool = False

    @property
    def at_bound(self) -> int:
        """Number of parameters that ended at the largest value allowed."""
        return int((np.abs(self.theta) >= 0.999 * self.family.bounds).sum())

    def log_probability(self, table: Table) -> Floats:
        """Return the log-probability of each row's failures given who judged, (P,)."""
        return log_probability(self.family.points(self.theta), table)

    def expected(self, sets: Sets) -> float:
        """Return the expected share of individuals whom all their models fail."""
        return expected_of(self.family, self.theta, sets)

    def profile(self, sets: Sets) -> Floats:
        """Return the expected share of individuals failed by 0..k models, (k + 1,)."""
        return profile(self.family.points(self.theta), sets)

    def influence(self, table: Table) -> Floats:
        """Return the influence of an individual of each row on the log of what is expected, (P,).

        Notes
        -----
        ``n c' A^-1 s + e / E - 1``: c the gradient of log E, s the score of the row, e what is expected of its set of
        models, A the observed information, so that it holds when the null is wrong (White 1982). A is reached by
        conjugate gradients that start from the squared scores. To be divided by n, as in ``stats.moments``.
        """
        sets = table.sets
        by_set, direction = _gradient_of_log_expected(self.family, self.theta, sets)
        total = float(sets.count @ by_set) / sets.count.sum()
        scores = self.family.scores(self.theta, table)
        rough = inverse((scores * table.count[:, None]).T @ scores)
        solved = _solved(self.family, self.theta, table, rough, direction)
        own = by_set[sets.index] / total - 1.0
        return np.asarray(table.n * (scores @ solved) + own)


def fit_latent(
    family: Family,
    table: Table,
    rng: np.random.Generator,
    start: Fit | None,
    *,
    certain: int,
    collapsed: Table | None = None,
) -> LatentFit:
    """Fit a family to a table.

    Parameters
    ----------
    family : Family
        What is fitted.
    table : Table
        Patterns.
    rng : numpy.random.Generator
        Source of the starts.
    start : Fit, optional
        A fit of the same null to like data.
    certain : int
        Parameters of models that never or always fail, which are known without a search.
    collapsed : Table, optional
        A smaller table of the same likelihood.

    Returns
    -------
    LatentFit
    """
    known = start.theta if isinstance(start, LatentFit) and len(start.theta) == family.size else None
    found = maximise(family, table, rng, known) if collapsed is None else maximise(family, collapsed, rng, known, table)
    return LatentFit(family, found.theta, found.log_likelihood, family.size + certain, found.reason)


def expected_of(family: Family, theta: Floats, sets: Sets) -> float:
    """Return the expected share of individuals whom all their models fail, at some parameters."""
    return float(sets.count @ expected_all_fail(family.points(theta), sets.judged) / sets.count.sum())


def _gradient_of_log_expected(family: Family, theta: Floats, sets: Sets) -> tuple[Floats, Floats]:
    """Return what is expected of each set (M,), and the gradient (m,) of the log of their mean."""
    judged: Bools = sets.judged
    ends = Table(judged, judged.astype(np.float64), sets.count)
    by_set = expected_all_fail(family.points(theta), judged)
    weights = sets.count * by_set
    return by_set, np.asarray(weights @ family.scores(theta, ends) / max(weights.sum(), 1e-300))


def _solved(family: Family, theta: Floats, table: Table, rough: Floats, direction: Floats) -> Floats:
    """Return A^-1 direction for the observed information A, by conjugate gradients preconditioned with ``rough``.

    Where A is not positive along the way (a flat or a curved ridge), the answer of ``rough`` is kept.
    """
    limits = family.bounds
    held = np.abs(theta) >= 0.999 * limits
    keep = ~held

    def product(vector: Floats) -> Floats:
        size = 1e-4 / max(float(np.abs(vector).max()), 1e-300)
        up = family.gradient(theta + size * vector, table)[1]
        down = family.gradient(theta - size * vector, table)[1]
        return np.asarray((down - up) / (2 * size)) * keep

    plain = rough @ (direction * keep) * keep
    solution = np.zeros_like(direction)
    residual = direction * keep
    target = float(residual @ plain)
    if target <= 0.0:
        return plain
    conditioned, step, now = plain, plain.copy(), target
    for _ in range(min(len(direction), 40)):
        image = product(step)
        curvature = float(step @ image)
        if curvature <= 1e-12 * float(np.abs(step) @ np.abs(image)):
            return plain
        length = now / curvature
        solution = solution + length * step
        residual = residual - length * image
        conditioned = rough @ residual * keep
        after = float(residual @ conditioned)
        if after < 1e-6 * target:
            return solution
        step = conditioned + step * (after / now)
        now = after
    return solution
