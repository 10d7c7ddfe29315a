"""What a model of chance is to the ladder, and the table of patterns that it is fitted to.

Nothing is fitted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from polyculture.stats._rows import Bools, Floats, Ints, Rows

__all__ = ["Fit", "Null", "Sets", "Table", "table_of"]


@dataclass(frozen=True, eq=False)
class Sets:
    """The different sets of models that judged somebody.

    Attributes
    ----------
    judged : ndarray of bool, shape (M, k)
        The sets.
    count : ndarray of float, shape (M,)
        Individuals with each.
    index : ndarray of int, shape (P,)
        The set of each row of the table.
    """

    judged: Bools
    count: Floats
    index: Ints


@dataclass(frozen=True, eq=False)
class Table:
    """A table of patterns that a null is fitted to.

    Attributes
    ----------
    judged : ndarray of bool, shape (P, k)
        Which models judged.
    failed : ndarray of float, shape (P, k)
        Which of them failed; where rows are means over individuals with like judgements, the share that did.
    count : ndarray of float, shape (P,)
        Individuals a row, or what their weights make of them.
    """

    judged: Bools
    failed: Floats
    count: Floats

    @property
    def models(self) -> int:
        """Number of models k."""
        return int(self.failed.shape[1])

    @cached_property
    def n(self) -> float:
        """Number of individuals."""
        return float(self.count.sum())

    @cached_property
    def complete(self) -> bool:
        """Whether all models judged everyone."""
        return bool(self.judged.all())

    @cached_property
    def judgements(self) -> Floats | None:
        """``judged`` as numbers; None where all models judged everyone, so that nothing is multiplied by 1."""
        return None if self.complete else self.judged.astype(np.float64)

    @cached_property
    def rates(self) -> Floats:
        """Failure rate of each model among those it judged, (k,); 0 where it judged nobody."""
        judged = self.count @ self.judged
        return np.divide(self.count @ self.failed, judged, out=np.zeros(self.models), where=judged > 0)

    @cached_property
    def all_fail(self) -> Bools:
        """Rows in which every model that judged failed, (P,)."""
        return np.asarray(self.judged.any(axis=1) & (self.failed >= self.judged).all(axis=1))

    @cached_property
    def sets(self) -> Sets:
        """The different sets of models that judged."""
        if self.complete:
            one = np.ones((1, self.models), dtype=np.bool_)
            return Sets(one, np.array([self.n]), np.zeros(len(self.count), dtype=np.int64))
        packed = np.packbits(self.judged, axis=1)
        _, first, index = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        index = index.ravel()
        return Sets(self.judged[first], summed(index, self.count), index.astype(np.int64))

    def take(self, rows: Bools | Ints | slice, count: Floats | None = None) -> Table:
        """Return some rows, with other counts where they are given."""
        return Table(self.judged[rows], self.failed[rows], self.count[rows] if count is None else count)


def summed(index: Ints, weights: Floats) -> Floats:
    """Add up weights by position."""
    return np.bincount(index, weights=weights).astype(np.float64)


def table_of(rows: Rows, individuals: float | None = None) -> tuple[Table, Ints | None]:
    """Return rows with like patterns added up, counted by weight.

    Parameters
    ----------
    rows : Rows
        A pattern table.
    individuals : float, optional
        What the counts shall add up to: the size of the sample, where the rows are a weighted sample.

    Returns
    -------
    table : Table
        One row a pattern.
    index : ndarray of int, shape (P,), or None
        The row of the table for each of ``rows``; None where they are the same.
    """
    total = rows.n if individuals is None else individuals
    weight = rows.weight * (total / rows.total_weight)
    if rows.cluster is None:
        return Table(rows.judged, rows.failed.astype(np.float64), weight), None
    packed = np.packbits(np.hstack([rows.judged, rows.failed]), axis=1)
    _, first, index = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    index = index.ravel()
    return Table(rows.judged[first], rows.failed[first].astype(np.float64), summed(index, weight)), index


class Fit(Protocol):
    """A null fitted to a table."""

    @property
    def parameters(self) -> int:
        """Number of free parameters."""

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the table it was fitted to."""

    @property
    def reason(self) -> str:
        """Why the fit is undefined; empty where it is not."""

    def log_probability(self, table: Table) -> Floats:
        """Return the log-probability of each row's failures given who judged, (P,)."""

    def expected(self, sets: Sets) -> float:
        """Return the expected share of individuals whom all their models fail."""

    def profile(self, sets: Sets) -> Floats:
        """Return the expected share of individuals failed by 0..k models, (k + 1,)."""


class Null(Protocol):
    """A model of chance.

    Attributes
    ----------
    name : str
        As options and outputs spell it.
    sentence : str
        What it supposes, in plain words.
    """

    name: str
    sentence: str

    def fit(self, table: Table, rng: np.random.Generator, start: Fit | None = None) -> Fit:
        """Fit by maximum likelihood, from ``start`` where one is given, else from several starts."""
