"""How much of the models' likeness beyond chance goes with each component, by Shapley value.

The value of a set of components is what the mean likeness would be lower by, in the regression on that set and the
covariates, if no two models shared any of them; over the mean likeness. Sharing nothing is the null, of value 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Floats
from polyculture.stats.components.dyads import Dyads
from polyculture.stats.components.regression import grams_without, jackknife_variance
from polyculture.stats.intervals import quantile

__all__ = ["MOST_PLAYERS", "Shares", "shapley_shares"]

MOST_PLAYERS = 10  # every subset is regressed


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the mean likeness, with jackknife intervals over models.

    Attributes
    ----------
    excess, excess_low, excess_high : float
        Mean likeness of pairs.
    share, low, high : (m,) float64
        Share of it that is associated with sharing each component; NaN limits where there are none.
    rest, rest_low, rest_high : float
        Share that is associated with none of them.
    """

    excess: float
    excess_low: float
    excess_high: float
    share: Floats
    low: Floats
    high: Floats
    rest: float
    rest_low: float
    rest_high: float


def shapley_shares(dyads: Dyads, shared: Floats, covariates: Floats) -> Shares:
    """Share out the mean likeness of pairs over components.

    Parameters
    ----------
    dyads : Dyads
        The pairs and their likeness beyond chance.
    shared : (D, m) float64
        Whether a pair shares each component; m is at most 10.
    covariates : (D, q) float64
        Columns that are in every regression; the first is the constant.

    Returns
    -------
    Shares
        Shares and rest add up to 1. Intervals: delete-one-model jackknife, Student's t with n - 1 degrees of freedom.

    Raises
    ------
    ValueError
        With more than 10 components.

    Notes
    -----
    Shapley (1953); for regressions Lipovetsky and Conklin (2001), here of a mean and not of a variance.
    """
    m = shared.shape[1]
    if m > MOST_PLAYERS:
        raise ValueError(f"Shapley values of {m} components would need {2**m} regressions.")
    known = dyads.known
    used = Dyads(dyads.models, dyads.one[known], dyads.other[known], dyads.response[known])
    columns = np.column_stack([covariates, shared])[known]
    gram, moment = grams_without(used, columns)
    gram = np.concatenate([(columns.T @ columns)[None], gram])
    moment = np.concatenate([(columns.T @ used.response)[None], moment])
    mean = moment[:, 0] / gram[:, 0, 0]
    found = _shapley(_values(gram, moment, covariates.shape[1], m)) / mean[:, None]
    figures = np.column_stack([mean, found, 1.0 - found.sum(axis=1)])
    half = quantile(clusters=dyads.models) * np.sqrt(jackknife_variance(figures[1:]))
    value, low, high = figures[0], figures[0] - half, figures[0] + half
    return Shares(
        excess=float(value[0]),
        excess_low=float(low[0]),
        excess_high=float(high[0]),
        share=value[1:-1],
        low=low[1:-1],
        high=high[1:-1],
        rest=float(value[-1]),
        rest_low=float(low[-1]),
        rest_high=float(high[-1]),
    )


def _values(gram: Floats, moment: Floats, q: int, m: int) -> Floats:
    """Return the value of every set of components in every sample of models, (n + 1, 2^m)."""
    values = np.zeros((len(gram), 1 << m))
    share = gram[:, 0, q:] / gram[:, :1, 0]
    for members in range(1, 1 << m):
        chosen = [c for c in range(m) if members >> c & 1]
        columns = [*range(q), *(q + c for c in chosen)]
        inside = gram[:, columns][:, :, columns]
        scale = np.sqrt(np.maximum(np.einsum("nii->ni", inside), 1e-300))
        normed = inside / (scale[:, :, None] * scale[:, None, :])
        solved = np.linalg.pinv(normed, rcond=1e-10, hermitian=True) @ (moment[:, columns] / scale)[:, :, None]
        coefficients = solved[:, q:, 0] / scale[:, q:]
        values[:, members] = (coefficients * share[:, chosen]).sum(axis=1)
    return values


def _shapley(values: Floats) -> Floats:
    """Return the Shapley value of each component from the values of all sets, (n, 2^m) -> (n, m)."""
    sets = values.shape[1]
    m = sets.bit_length() - 1
    found = np.zeros((len(values), m))
    for members in range(sets):
        size = members.bit_count()
        for c in range(m):
            if not members >> c & 1:
                weight = math.factorial(size) * math.factorial(m - size - 1) / math.factorial(m)
                found[:, c] += weight * (values[:, members | 1 << c] - values[:, members])
    return found
