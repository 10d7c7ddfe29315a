"""Probit factors: K hidden causes of failure, each with its own hold on every model."""

from __future__ import annotations

import numpy as np

from polyculture.stats.nulls._families import FactorFamily
from polyculture.stats.nulls._latent import LatentFit, fit_latent
from polyculture.stats.nulls.protocol import Fit, Table

__all__ = ["MOST_FACTORS", "ProbitFactors"]

MOST_FACTORS = 3
"""More factors would need more points of a Gauss-Hermite rule than can be held."""


class ProbitFactors:
    """Model j fails at rate Phi(a_j + b_j . z), with K independent standard normal factors z.

    k (1 + K) - K (K - 1) / 2 parameters: the first models leave out the last factors, since factors could be
    rotated into each other.

    Parameters
    ----------
    factors : int
        Number of factors K, 1 to 3.

    Raises
    ------
    ValueError
        If K is outside 1 to 3.
    """

    def __init__(self, factors: int) -> None:
        if not 1 <= factors <= MOST_FACTORS:
            raise ValueError(f"probit factors are fitted for 1 to {MOST_FACTORS} factors, got {factors}.")
        self.factors = factors
        self.name = f"factors-{factors}"
        causes = "One hidden cause" if factors == 1 else f"{factors} independent hidden causes"
        self.sentence = (
            f"{causes} of failure {'acts' if factors == 1 else 'act'} on every model with its own strength, by a "
            "normal law. It redescribes shared failure as difficulty and does not account for it."
        )

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> LatentFit:
        """Fit by marginal maximum likelihood over standard normal factors."""
        family = FactorFamily(table.rates, "probit", factors=self.factors)
        certain = (1 + self.factors) * (table.models - len(family.free))
        return fit_latent(family, table, rng, start, certain=certain)
