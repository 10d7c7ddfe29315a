"""Pairs of models as the rows of a table: which two, how alike, and whether they share a component.

What is regressed and tested on them stands in the modules beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.stats._rows import Bools, Floats, Ints

__all__ = ["Dyads", "accuracies", "closeness", "sharing"]

_ENOUGH_FOR_CUBES = 20  # models


@dataclass(frozen=True, eq=False)
class Dyads:
    """All pairs of n models, in the order of the upper triangle; D = n (n - 1) / 2.

    Attributes
    ----------
    models : int
        Number of models n.
    one, other : (D,) int64
        The two models of each pair.
    response : (D,) float64
        How alike they are; NaN where that is undefined.
    """

    models: int
    one: Ints
    other: Ints
    response: Floats

    @classmethod
    def of(cls, similarity: Floats) -> Dyads:
        """Make the pairs of a symmetric (n, n) matrix; its diagonal means nothing."""
        one, other = np.triu_indices(similarity.shape[0], 1)
        return cls(similarity.shape[0], one, other, np.asarray(similarity[one, other], dtype=np.float64))

    @property
    def known(self) -> Bools:
        """Which pairs have a response, (D,)."""
        return np.isfinite(self.response)

    def square(self, values: Floats) -> Floats:
        """Return one value a pair (D,) as a symmetric (n, n) matrix with a diagonal of 0."""
        matrix = np.zeros((self.models, self.models))
        matrix[self.one, self.other] = matrix[self.other, self.one] = values
        return matrix

    def sums_by_model(self, values: Floats) -> Floats:
        """Add up values of pairs (D, m) over the pairs of each model, (n, m)."""
        found = np.empty((self.models, values.shape[1]))
        for column, one in enumerate(values.T):
            found[:, column] = np.bincount(self.one, one, self.models) + np.bincount(self.other, one, self.models)
        return found


def sharing(codes: NDArray[np.int64], dyads: Dyads) -> Floats:
    """Return 1 for pairs of models with the same code (n,), else 0; a negative code is shared with nobody.

    Examples
    --------
    >>> sharing(np.array([0, 0, 1, -1, -1]), Dyads.of(np.zeros((5, 5)))).tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    one, other = codes[dyads.one], codes[dyads.other]
    return np.asarray((one == other) & (one >= 0), dtype=np.float64)


def closeness(values: Floats, dyads: Dyads) -> Floats:
    """Return how close the values (n,) of two models lie: 1 where equal, 0 for the two farthest apart.

    Examples
    --------
    >>> closeness(np.array([1.0, 1.0, 3.0]), Dyads.of(np.zeros((3, 3)))).tolist()
    [1.0, 0.0, 0.0]
    """
    apart = np.abs(values[dyads.one] - values[dyads.other])
    widest = float(apart.max(initial=0.0))
    return np.asarray(1.0 - apart / widest if widest > 0 else np.ones_like(apart))


def accuracies(rates: Floats, dyads: Dyads) -> Floats:
    """Return a constant and what two failure rates may do to likeness by themselves.

    Parameters
    ----------
    rates : (n,) float64
        Failure rates.
    dyads : Dyads
        The pairs.

    Returns
    -------
    (D, 9) float64
        A polynomial of degree 3 in mean and distance of the two rates; below 20 models of degree 2, (D, 5). Straight
        lines are not enough: error consistency bends with both, and a component that follows accuracy would then
        be found where nothing is shared (benchmarks/components_study.py).
    """
    one, other = rates[dyads.one], rates[dyads.other]
    mean, apart = (one + other) / 2, np.abs(one - other)
    mean = mean - mean.mean() if len(mean) else mean
    mean, apart = (part / (float(np.abs(part).max(initial=0.0)) or 1.0) for part in (mean, apart))
    columns = [np.ones(len(mean)), mean, mean**2, apart, apart**2]
    if dyads.models >= _ENOUGH_FOR_CUBES:
        columns += [mean**3, apart**3, mean * apart, mean * apart**2]
    return np.column_stack(columns)
