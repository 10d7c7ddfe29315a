"""Independence: every model its own failure rate, and nothing that failures share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from polyculture.stats._rows import Floats
from polyculture.stats.nulls._mixture import Points, expected_all_fail, log_probability, profile
from polyculture.stats.nulls.protocol import Fit, Sets, Table

__all__ = ["Independence", "IndependentFit"]

_CERTAIN = 40.0


@dataclass(frozen=True, eq=False)
class IndependentFit:
    """Independent models at some rates, (k,)."""

    rates: Floats
    log_likelihood: float
    parameters: int
    reason: str = ""

    @property
    def points(self) -> Points:
        """The mixture of one point that this is."""
        with np.errstate(divide="ignore"):
            logits = np.clip(logit(self.rates), -_CERTAIN, _CERTAIN)
        return Points(logits[None], np.zeros(1))

    def log_probability(self, table: Table) -> Floats:
        """Return the log-probability of each row's failures given who judged, (P,)."""
        return log_probability(self.points, table)

    def expected(self, sets: Sets) -> float:
        """Return the expected share of individuals whom all their models fail."""
        return float(sets.count @ expected_all_fail(self.points, sets.judged) / sets.count.sum())

    def profile(self, sets: Sets) -> Floats:
        """Return the expected share of individuals failed by 0..k models, (k + 1,)."""
        return profile(self.points, sets)


class Independence:
    """Models fail independently, each at its own rate; k parameters."""

    name = "independence"
    sentence = "Every model has its own failure rate, and models fail independently of each other."

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> IndependentFit:  # noqa: ARG002
        """Take the rates of the table; nothing is searched."""
        return independent_fit(table)


def independent_fit(table: Table) -> IndependentFit:
    """Return the independent models with the rates of a table."""
    bare = IndependentFit(table.rates, 0.0, table.models)
    return IndependentFit(table.rates, float(table.count @ bare.log_probability(table)), table.models)
