"""Equicorrelated probit: one common cause with the same hold on every model, and each model its own rate."""

from __future__ import annotations

import numpy as np

from polyculture.stats.nulls._families import FactorFamily
from polyculture.stats.nulls._latent import LatentFit, fit_latent
from polyculture.stats.nulls.protocol import Fit, Table

__all__ = ["Equicorrelated"]


class Equicorrelated:
    """Failure is a latent normal variable below a threshold; all pairs of models share one correlation.

    With own thresholds a_j and common slope s, model j fails at rate Phi(a_j + s z) given z: its rate is
    Phi(a_j / sqrt(1 + s^2)), and the latent correlation s^2 / (1 + s^2). k + 1 parameters.

    Notes
    -----
    A beta-binomial law would give all models one rate, and so take unequal rates for shared failure.
    """

    name = "equicorrelated"
    sentence = (
        "Every model has its own failure rate, and one hidden cause of failure acts on all models alike, "
        "so that every two of them are equally correlated."
    )

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> LatentFit:
        """Fit by marginal maximum likelihood over a standard normal cause."""
        family = FactorFamily(table.rates, "probit", common=True)
        return fit_latent(family, table, rng, start, certain=table.models - len(family.free))
