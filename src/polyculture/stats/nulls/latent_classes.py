"""Latent classes: a few kinds of individuals, in each of which models fail independently."""

from __future__ import annotations

import numpy as np

from polyculture.stats.nulls._families import ClassFamily
from polyculture.stats.nulls._latent import LatentFit, fit_latent
from polyculture.stats.nulls.protocol import Fit, Table

__all__ = ["LatentClasses"]


class LatentClasses:
    """A mixture of C classes, each with its share and a failure rate for every model.

    C k + C - 1 parameters (Lazarsfeld and Henry 1968).

    Parameters
    ----------
    classes : int
        Number of classes C, at least 2.

    Raises
    ------
    ValueError
        If there are fewer than 2.
    """

    def __init__(self, classes: int) -> None:
        if classes < 2:
            raise ValueError(f"at least 2 classes are needed, got {classes}: one class is independence.")
        self.classes = classes
        self.name = f"classes-{classes}"
        self.sentence = (
            f"There are {classes} hidden kinds of individuals; within a kind, models fail independently at rates of "
            "their own. It redescribes shared failure as kinds and does not account for it."
        )

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> LatentFit:
        """Fit by maximum likelihood: EM from several starts, then a quasi-Newton search."""
        family = ClassFamily(table.rates, self.classes)
        certain = self.classes * (table.models - len(family.free))
        return fit_latent(family, table, rng, start, certain=certain)
