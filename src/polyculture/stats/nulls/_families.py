"""What rates at the points of a latent space are functions of: intercepts and slopes of factors, or free classes.

A family knows its parameters, their gradient and scores, and where to start; the search itself stands in ``_search``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.special import log_ndtr, logit, ndtri

from polyculture.stats._rows import Floats, Ints
from polyculture.stats.nulls._mixture import Points, gauss_hermite, parts, totals
from polyculture.stats.nulls.protocol import Table

__all__ = ["ClassFamily", "FactorFamily", "Family"]

# Logit of a rate that stands for 0 or 1: no table is large enough to tell the difference.
_CERTAIN = 40.0
_LARGEST_INTERCEPT = 30.0
_SMALLEST_COUNT = 0.25


class Family(Protocol):
    """Rates at points as functions of a vector of m parameters; models that never or always fail have none."""

    @property
    def size(self) -> int:
        """Number of free parameters m."""

    @property
    def bounds(self) -> Floats:
        """Largest absolute value of each parameter, (m,)."""

    @property
    def starts(self) -> int:
        """How many starts find the highest likelihood in practice."""

    def points(self, theta: Floats) -> Points:
        """Return the mixture."""

    def gradient(self, theta: Floats, table: Table) -> tuple[float, Floats]:
        """Return the log-likelihood of a table and its gradient, (m,)."""

    def scores(self, theta: Floats, table: Table) -> Floats:
        """Return the gradient of the log-probability of each row, (P, m)."""

    def start(self, table: Table, rng: np.random.Generator, number: int) -> Floats:
        """Return the start of this number; 0 is the informed one."""


def certain_logits(rates: Floats) -> tuple[Ints, Floats]:
    """Return the models with a rate inside (0, 1), and logits (k,) that hold those of the others."""
    free = np.flatnonzero((rates > 0.0) & (rates < 1.0))
    return free, np.where(rates <= 0.0, -_CERTAIN, _CERTAIN)


@dataclass(frozen=True, eq=False)
class FactorFamily:
    """Normal factors: a model fails with rate link(intercept + slopes . z), z standard normal.

    Attributes
    ----------
    rates : ndarray, shape (k,)
        Failure rates of the models: those of 0 and 1 have no parameter.
    link : {"logit", "probit"}
        Inverse of the law of a model's own chance.
    factors : int
        Number of factors K.
    common : bool
        Whether all models share one slope.
    """

    rates: Floats
    link: Literal["logit", "probit"]
    factors: int = 1
    common: bool = False

    @cached_property
    def free(self) -> Ints:
        """Models with parameters."""
        return certain_logits(self.rates)[0]

    @cached_property
    def _nodes(self) -> tuple[Floats, Floats]:
        # The more models, the narrower is what a pattern says of a factor, and the finer the rule must be.
        k = len(self.free)
        by_factors = {1: 61 if k <= 30 else 101, 2: 17, 3: 11}
        return gauss_hermite(self.factors, by_factors[self.factors])

    @cached_property
    def _loaded(self) -> tuple[Ints, Ints]:
        """Model (among the free) and factor of each slope: the first models leave out the last factors.

        So the factors cannot be rotated into each other.
        """
        k = len(self.free)
        pairs = [(j, f) for j in range(k) for f in range(self.factors) if j >= f]
        return np.array([j for j, _ in pairs], dtype=np.int64), np.array([f for _, f in pairs], dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of free parameters m."""
        k = len(self.free)
        return k + (min(k, 1) if self.common else len(self._loaded[0]))

    @property
    def starts(self) -> int:
        """How many starts find the highest likelihood in practice."""
        return 1 if self.common else 2 if self.factors == 1 else 4

    @cached_property
    def bounds(self) -> Floats:
        """Largest absolute value of each parameter, (m,)."""
        slope = 10.0 if self.link == "logit" else 6.0
        k = len(self.free)
        return np.concatenate([np.full(k, _LARGEST_INTERCEPT), np.full(self.size - k, slope)])

    def _slopes(self, theta: Floats) -> Floats:
        k = len(self.free)
        slopes = np.zeros((k, self.factors))
        if self.common:
            slopes[:, 0] = theta[k:].sum()
        else:
            slopes[self._loaded] = theta[k:]
        return slopes

    def _linear(self, theta: Floats) -> Floats:
        """Return intercept + slopes . z of the free models, (Q, k)."""
        return np.asarray(theta[: len(self.free)] + self._nodes[0] @ self._slopes(theta).T)

    def points(self, theta: Floats) -> Points:
        """Return the mixture."""
        logits = np.tile(certain_logits(self.rates)[1], (len(self._nodes[1]), 1))
        linear = self._linear(theta)
        logits[:, self.free] = linear if self.link == "logit" else log_ndtr(linear) - log_ndtr(-linear)
        return Points(logits, self._nodes[1])

    def _by_linear(self, theta: Floats) -> Floats:
        """Return the derivative of a free model's logit by what is linear in the parameters, (Q, k)."""
        linear = self._linear(theta)
        if self.link == "logit":
            return np.ones_like(linear)
        density = -linear * linear / 2 - np.log(2 * np.pi) / 2
        return np.asarray(np.exp(density - log_ndtr(linear) - log_ndtr(-linear)))

    def gradient(self, theta: Floats, table: Table) -> tuple[float, Floats]:
        """Return the log-likelihood of a table and its gradient, (m,)."""
        value, by_logit, _ = totals(self.points(theta), table)
        by_linear = by_logit[:, self.free] * self._by_linear(theta)
        slopes = by_linear.T @ self._nodes[0]
        tail = slopes[:, :1].sum(axis=0)[: self.size - len(self.free)] if self.common else slopes[self._loaded]
        return value, np.concatenate([by_linear.sum(axis=0), tail])

    def scores(self, theta: Floats, table: Table) -> Floats:
        """Return the gradient of the log-probability of each row, (P, m)."""
        points, k = self.points(theta), len(self.free)
        step, rates = self._by_linear(theta), points.rates[:, self.free]
        found = np.empty((len(table.count), self.size))
        for part, failed, judged, _, weights in parts(points, table):
            ours = failed[:, self.free]
            asked = 1.0 if judged is None else judged[:, self.free]
            found[part, :k] = ours * (weights @ step) - asked * (weights @ (rates * step))
            for f in range(self.factors):
                by = step * self._nodes[0][:, f : f + 1]
                slope = ours * (weights @ by) - asked * (weights @ (rates * by))
                if self.common:
                    found[part, k:] = slope.sum(axis=1, keepdims=True)[:, : self.size - k]
                else:
                    chosen = np.flatnonzero(self._loaded[1] == f)
                    found[part, k + chosen] = slope[:, self._loaded[0][chosen]]
        return found

    def start(self, table: Table, rng: np.random.Generator, number: int) -> Floats:  # noqa: ARG002 - of the protocol
        """Return the start of this number: 0 has all slopes alike, the others are random."""
        k, count = len(self.free), self.size - len(self.free)
        size = 1.0 if self.link == "logit" else 0.6
        slopes = np.full(count, size)
        if not self.common:
            later = self._loaded[1] > 0
            slopes[later] = size * rng.normal(size=int(later.sum())) * (0.5 if number == 0 else 1.0)
            if number:
                slopes[~later] *= rng.uniform(0.2, 1.8, size=int((~later).sum()))
        squared = (self._slopes(np.concatenate([np.zeros(k), slopes])) ** 2).sum(axis=1)
        rates = self.rates[self.free]
        if self.link == "logit":
            return np.concatenate([logit(rates) * np.sqrt(1.0 + squared / 2.89), slopes])
        return np.concatenate([ndtri(rates) * np.sqrt(1.0 + squared), slopes])


@dataclass(frozen=True, eq=False)
class ClassFamily:
    """Latent classes: each class has its share and, in it, each model its own rate.

    Attributes
    ----------
    rates : ndarray, shape (k,)
        Failure rates of the models: those of 0 and 1 have no parameter.
    classes : int
        Number of classes C.
    """

    rates: Floats
    classes: int

    @cached_property
    def free(self) -> Ints:
        """Models with parameters."""
        return certain_logits(self.rates)[0]

    @property
    def size(self) -> int:
        """Number of free parameters m."""
        return len(self.free) * self.classes + self.classes - 1

    @property
    def starts(self) -> int:
        """How many starts find the highest likelihood in practice."""
        return 4 if self.classes == 2 else 12

    @cached_property
    def bounds(self) -> Floats:
        """Largest absolute value of each parameter, (m,)."""
        k = len(self.free)
        return np.concatenate([np.full(k * self.classes, 14.0), np.full(self.classes - 1, 12.0)])

    def points(self, theta: Floats) -> Points:
        """Return the mixture."""
        inside = self.classes * len(self.free)
        logits = np.tile(certain_logits(self.rates)[1], (self.classes, 1))
        logits[:, self.free] = theta[:inside].reshape(self.classes, -1)
        shares = np.concatenate([theta[inside:], [0.0]])
        return Points(logits, shares - np.logaddexp.reduce(shares))

    def gradient(self, theta: Floats, table: Table) -> tuple[float, Floats]:
        """Return the log-likelihood of a table and its gradient, (m,)."""
        points = self.points(theta)
        value, by_logit, members = totals(points, table)
        by_share = members - members.sum() * np.exp(points.log_weight)
        return value, np.concatenate([by_logit[:, self.free].ravel(), by_share[:-1]])

    def scores(self, theta: Floats, table: Table) -> Floats:
        """Return the gradient of the log-probability of each row, (P, m)."""
        points, k = self.points(theta), len(self.free)
        found = np.empty((len(table.count), self.size))
        for part, failed, judged, _, weights in parts(points, table):
            asked = 1.0 if judged is None else judged[:, self.free]
            for c in range(self.classes):
                residual = failed[:, self.free] - asked * points.rates[c, self.free]
                found[part, c * k : (c + 1) * k] = weights[:, c : c + 1] * residual
            found[part, self.classes * k :] = (weights - np.exp(points.log_weight))[:, :-1]
        return found

    def start(self, table: Table, rng: np.random.Generator, number: int) -> Floats:
        """Return the start of this number: a few steps of EM from classes by number of failures, or at random."""
        judged = np.maximum(table.judged.sum(axis=1), 1)
        share = table.failed.sum(axis=1) / judged
        if number == 0:
            order = np.argsort(share, kind="stable")
            place = np.cumsum(table.count[order]) / table.n
            group = np.empty(len(order), dtype=np.int64)
            group[order] = np.minimum((place * self.classes).astype(np.int64), self.classes - 1)
            weights = np.where(group[:, None] == np.arange(self.classes), 0.9, 0.1 / self.classes)
        else:
            weights = rng.dirichlet(np.full(self.classes, 0.4), size=len(share)) + 1e-3
        theta = self._maximised(table, weights / weights.sum(axis=1, keepdims=True))
        for _ in range(25):
            theta = self._em(theta, table)
        return theta

    def _em(self, theta: Floats, table: Table) -> Floats:
        weights = np.empty((len(table.count), self.classes))
        for part, _, _, _, found in parts(self.points(theta), table):
            weights[part] = found
        return self._maximised(table, weights)

    def _maximised(self, table: Table, weights: Floats) -> Floats:
        """Return the parameters under which rows belong to classes with these weights, (P, C)."""
        members = weights * table.count[:, None]
        failed = (members.T @ table.failed)[:, self.free]
        judged = (members.T @ table.judged)[:, self.free]
        # A quarter of a failure keeps logits finite; it vanishes from the maximum, which the search finds.
        rates = (failed + _SMALLEST_COUNT * self.rates[self.free]) / (judged + _SMALLEST_COUNT)
        shares = np.log(members.sum(axis=0) + _SMALLEST_COUNT)
        theta = np.concatenate([logit(rates).ravel(), shares[:-1] - shares[-1]])
        return np.asarray(np.clip(theta, -self.bounds, self.bounds))
