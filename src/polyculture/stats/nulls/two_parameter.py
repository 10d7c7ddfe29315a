"""Two-parameter logistic (2PL): Rasch in which models feel difficulty more or less."""

from __future__ import annotations

import numpy as np

from polyculture.stats.nulls._families import FactorFamily
from polyculture.stats.nulls._latent import LatentFit, fit_latent
from polyculture.stats.nulls.protocol import Fit, Table

__all__ = ["TwoParameter"]


class TwoParameter:
    """Log-odds of failure = intercept + slope x difficulty, both the model's own; difficulty is standard normal.

    2k parameters, by marginal maximum likelihood (Bock and Aitkin 1981).
    """

    name = "2pl"
    sentence = (
        "Individuals differ in how hard they are, and every model has its own proneness to fail and its own "
        "sensitivity to that difficulty. It redescribes shared failure as difficulty and does not account for it."
    )

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> LatentFit:
        """Fit by marginal maximum likelihood over a standard normal difficulty."""
        family = FactorFamily(table.rates, "logit")
        certain = 2 * (table.models - len(family.free))
        return fit_latent(family, table, rng, start, certain=certain)
