"""Rasch: individuals differ in difficulty, and models in how often they fail, by the same scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyculture.stats.nulls._families import FactorFamily
from polyculture.stats.nulls._latent import LatentFit, fit_latent
from polyculture.stats.nulls.protocol import Fit, Table, summed

__all__ = ["Rasch", "by_number_failed"]


class Rasch:
    """Log-odds of failure = how prone the model is + how hard the individual is; difficulty is normal.

    k intercepts and the standard deviation of difficulty, by marginal maximum likelihood over a normal law.

    Parameters
    ----------
    everyone : Table, optional
        Where patterns are a sample: rows of individuals with like number of failures, with each model's share of
        failures among them, of everyone. They are sufficient.

    Notes
    -----
    Given who judged, the likelihood depends on the data through the number of individuals failed by t models and
    the number failed by each model only (Andersen 1970): rows with the same t are replaced by their mean.
    """

    name = "rasch"
    sentence = (
        "Individuals differ in how hard they are, by a normal law, and models in how prone they are to fail; "
        "both add up. It redescribes shared failure as difficulty and does not account for it."
    )

    def __init__(self, everyone: Table | None = None) -> None:
        self._everyone = everyone

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> LatentFit:
        """Fit by marginal maximum likelihood over a normal difficulty."""
        collapsed = by_number_failed(table) if self._everyone is None else self._everyone
        family = FactorFamily(collapsed.rates, "logit", common=True)
        certain = table.models - len(family.free)
        found = fit_latent(family, table, rng, start, certain=certain, collapsed=collapsed)
        return replace(found, exact=self._everyone is not None)


def by_number_failed(table: Table) -> Table:
    """Return the table with rows of one set of models and one number of failures replaced by their mean."""
    t = np.rint(table.failed.sum(axis=1)).astype(np.int64)
    code, index = np.unique(table.sets.index * (table.models + 1) + t, return_inverse=True)
    if len(code) == len(table.count):
        return table
    count = summed(index, table.count)
    failed = np.stack([summed(index, table.count * column) for column in table.failed.T], axis=1)
    return Table(table.sets.judged[code // (table.models + 1)], failed / np.maximum(count, 1e-300)[:, None], count)
