"""CAPA (Goel and others, arXiv 2502.04313): agreement of answers beyond what the accuracies make likely.

Exact-match (failure flags only), label (hard answers) and probabilistic; for many models the observed and
the expected agreement are averaged over pairs before the ratio. What answers hold is counted elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.similarity.cells import Cells
from polyculture.stats.similarity.error_consistency import kappa_of

__all__ = ["ProbabilitySums", "capa_expected", "capa_labels", "capa_probabilities", "capa_variance", "probability_sums"]

_BLOCK = 1 << 22  # numbers of one batch of (items, k, k)


def capa_expected(first_right: Floats, second_right: Floats, chance: Floats | float) -> Floats:
    """Return the agreement expected of two accuracies: a1 a2 + (1 - a1)(1 - a2) chance.

    Parameters
    ----------
    first_right, second_right : array
        Accuracies, or mean probabilities on the right option.
    chance : float or array
        Chance that two wrong answers are the same: the mean of 1 / (options - 1); 0 for exact match.

    Examples
    --------
    >>> round(float(kappa_of(np.array(0.5), capa_expected(np.array(0.2), np.array(0.8), 1.0))), 4)
    0.2647
    """
    return np.asarray(first_right * second_right + (1 - first_right) * (1 - second_right) * chance)


def capa_labels(cells: Cells, same_wrong: Floats, chance: Floats | float) -> tuple[Floats, Floats, Floats]:
    """Return CAPA of hard answers, with the observed and the expected agreement, each (k, k).

    Parameters
    ----------
    cells : Cells
        The four cells of every pair.
    same_wrong : (k, k)
        Individuals on whom both are wrong with the same answer, on the cells' scale. Zeros with
        ``chance`` 0 are the exact-match variant; both failed with ``chance`` 1 is error consistency.
    chance : float or (k, k)
        Mean of 1 / (options - 1).
    """
    n = np.where(cells.n > 0, cells.n, np.nan)
    observed = (cells.neither + same_wrong) / n
    first, second = (cells.both + cells.first) / n, (cells.both + cells.second) / n
    expected = capa_expected(1 - first, 1 - second, chance)
    return kappa_of(observed, expected), observed, expected


def capa_variance(cells: Cells, same_wrong: Floats, chance: Floats | float) -> Floats:
    """Return the sampling variance of CAPA of hard answers by the delta method over five cells, (k, k)."""
    n = cells.n
    p, same = cells.shares(), same_wrong / n
    f, g = p.both + p.first, p.both + p.second
    _, observed, expected = capa_labels(cells, same_wrong, chance)
    by_first, by_second = -(1 - g) + g * chance, -(1 - f) + f * chance
    five = (
        (same, 1, 1, 1),
        (p.both - same, 0, 1, 1),
        (p.first, 0, 1, 0),
        (p.second, 0, 0, 1),
        (p.neither, 1, 0, 0),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        room = 1 - expected
        total = sum(
            share
            * ((agrees - observed) / room - (1 - observed) / room**2 * ((x - f) * by_first + (y - g) * by_second)) ** 2
            for share, agrees, x, y in five
        )
        return np.asarray(total / n)


@dataclass(frozen=True, eq=False)
class ProbabilitySums:
    """Sums over the items that both models answered with probabilities, each (k, k); they add up over parts.

    ``dot`` is the sum over options of p1 p2, ``right`` the row's model's probability on the right option.
    """

    items: Floats
    dot: Floats
    right: Floats
    dot_squared: Floats
    dot_right: Floats
    right_squared: Floats
    right_right: Floats
    chance: Floats

    def __add__(self, other: ProbabilitySums) -> ProbabilitySums:
        return ProbabilitySums(*(getattr(self, n) + getattr(other, n) for n in self.__dataclass_fields__))


def probability_sums(probabilities: Floats, right: NDArray[np.int64], options: NDArray[np.int64]) -> ProbabilitySums:
    """Sum what probabilistic CAPA is made of.

    Parameters
    ----------
    probabilities : (N, k, O) float
        Probability of each model on each option; NaN where a model gave none, 0 beyond an item's options.
    right : (N,) int
        Index of the right option.
    options : (N,) int
        Number of options of each item, 2 or more.

    Returns
    -------
    ProbabilitySums
        Of all pairs at once, in batches.
    """
    items, k, _ = probabilities.shape
    total = ProbabilitySums(*(np.zeros((k, k)) for _ in range(8)))
    step = max(1, _BLOCK // max(k * k, 1))
    for start in range(0, items, step):
        part = slice(start, start + step)
        given = probabilities[part]
        known: Bools = np.asarray(~np.isnan(given).any(axis=2))
        p = np.where(known[:, :, None], given, 0.0)
        dot = np.matmul(p, p.transpose(0, 2, 1))
        hit = np.take_along_axis(p, right[part, None, None], axis=2)[:, :, 0]
        seen = known.astype(np.float64)
        chance: Floats = np.asarray(seen / (options[part, None] - 1.0))
        total = total + ProbabilitySums(
            items=seen.T @ seen,
            dot=dot.sum(axis=0),
            right=hit.T @ seen,
            dot_squared=np.einsum("nij,nij->ij", dot, dot),
            dot_right=np.einsum("nij,ni->ij", dot, hit),
            right_squared=(hit**2).T @ seen,
            right_right=hit.T @ hit,
            chance=chance.T @ seen,
        )
    return total


def capa_probabilities(sums: ProbabilitySums) -> tuple[Floats, Floats, Floats, Floats]:
    """Return probabilistic CAPA, its sampling variance, and observed and expected agreement, each (k, k).

    Examples
    --------
    >>> one, two = [[.9, .1], [.8, .2]], [[.7, .3], [.6, .4]]
    >>> given = np.array([one, two]).transpose(1, 0, 2)
    >>> value, _, observed, expected = capa_probabilities(probability_sums(given, np.array([0, 1]), np.array([2, 2])))
    >>> round(float(observed[0, 1]), 3), round(float(expected[0, 1]), 3), round(float(value[0, 1]), 6)
    (0.61, 0.505, 0.212121)
    """
    n = np.where(sums.items > 0, sums.items, np.nan)
    observed, a = sums.dot / n, sums.right / n
    b, chance = a.T, sums.chance / n
    expected = capa_expected(a, b, chance)
    value = kappa_of(observed, expected)
    # Moments about the mean of dot (d), and of the right probabilities of the two models (x, y).
    dd, xx = sums.dot_squared / n - observed**2, sums.right_squared / n - a**2
    dx, xy = sums.dot_right / n - observed * a, sums.right_right / n - a * b
    with np.errstate(divide="ignore", invalid="ignore"):
        room = 1 - expected
        u, slope = 1 / room, -(1 - observed) / room**2
        v, w = slope * (b - (1 - b) * chance), slope * (a - (1 - a) * chance)
        variance = u * u * dd + v * v * xx + w * w * xx.T + 2 * (u * v * dx + u * w * dx.T + v * w * xy)
    return value, np.asarray(np.maximum(variance, 0.0) / n), observed, expected
