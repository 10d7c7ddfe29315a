"""CAPA (Goel and others, arXiv 2502.04313): agreement of answers beyond what the accuracies make likely.

Exact-match (failure flags only), label (hard answers) and probabilistic; for many models the observed and
the expected agreement are averaged over pairs before the ratio. What answers hold is counted elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Floats
from polyculture.stats.similarity.cells import Cells
from polyculture.stats.similarity.error_consistency import kappa_of

__all__ = [
    "ProbabilityMoments",
    "SoftAgreement",
    "capa_expected",
    "capa_labels",
    "capa_probabilities",
    "capa_variance",
    "variance_of_all",
]


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
class ProbabilityMoments:
    """Sums over individuals, or their weights, of the products of any two quantities; they add up over parts.

    Attributes
    ----------
    pairs : (k, k, 5, 5)
        Over those whom both models answered with probabilities, of: 1; the sum over options of the product of both
        probabilities; the first's and the second's probability on the right option; 1 / (options - 1).
    together : (k + 3, k + 3)
        Over those whom all models answered so, of: 1; that sum of products, added up over pairs; each model's
        probability on the right option; 1 / (options - 1).
    """

    pairs: Floats
    together: Floats

    def scaled(self, share: float) -> ProbabilityMoments:
        """Return the same of a share of the individuals."""
        return ProbabilityMoments(self.pairs * share, self.together * share)


@dataclass(frozen=True, eq=False)
class SoftAgreement:
    """Probabilistic CAPA of all pairs, each (k, k).

    ``right`` is the row's model's mean probability on the right option, ``items`` the weight of the individuals whom
    both answered with probabilities. ``variance`` is that of one individual's influence: divide it by their number.
    """

    value: Floats
    observed: Floats
    expected: Floats
    variance: Floats
    right: Floats
    items: Floats


def capa_probabilities(moments: Floats) -> SoftAgreement:
    """Return probabilistic CAPA (Goel and others, arXiv 2502.04313, section 3) and its variance by the delta method.

    Parameters
    ----------
    moments : (k, k, 5, 5)
        The pairs of `ProbabilityMoments`.

    Examples
    --------
    Table 5 of the paper: two items of two options, in the order above.

    >>> items = np.array([[1, .9 * .7 + .1 * .3, .9, .7, 1], [1, .8 * .6 + .2 * .4, .2, .4, 1]])
    >>> found = capa_probabilities(np.broadcast_to(items.T @ items, (2, 2, 5, 5)))
    >>> [round(float(x[0, 1]), 6) for x in (found.observed, found.expected, found.value)]
    [0.61, 0.505, 0.212121]
    """
    items = moments[..., 0, 0]
    scaled = moments / np.where(items > 0, items, np.nan)[..., None, None]
    means = scaled[..., 0, :]
    observed, a, b, chance = (means[..., place] for place in range(1, 5))
    expected = capa_expected(a, b, chance)
    covariance = scaled - means[..., :, None] * means[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_observed, by_expected = 1 / (1 - expected), -(1 - observed) / (1 - expected) ** 2
        slopes = (
            np.zeros_like(a),
            by_observed,
            by_expected * (b - (1 - b) * chance),
            by_expected * (a - (1 - a) * chance),
            by_expected * (1 - a) * (1 - b),
        )
        gradient = np.stack(slopes, axis=-1)
        variance = np.einsum("...a,...ab,...b->...", gradient, covariance, gradient)
    return SoftAgreement(kappa_of(observed, expected), observed, expected, np.maximum(variance, 0.0), a, items)


def variance_of_all(together: Floats) -> tuple[float, float]:
    """Return how much one individual's influence on CAPA of all models varies, and the weight of the individuals.

    Parameters
    ----------
    together : (k + 3, k + 3)
        As in `ProbabilityMoments`.

    Notes
    -----
    Observed agreement is the mean over pairs, and so is the expected one; both are functions of the means.
    """
    k, items = len(together) - 3, float(together[0, 0])
    if items <= 0:
        return math.nan, 0.0
    scaled = together / items
    means = scaled[0]
    pairs = k * (k - 1) / 2
    a, chance = means[2:-1], means[-1]
    one, other = np.triu_indices(k, 1)
    expected = float(capa_expected(a[one], a[other], chance).mean())
    if expected >= 1.0 - 1e-14:
        return math.nan, items
    by_expected = -(1 - means[1] / pairs) / (1 - expected) ** 2
    by_mate = a - (1 - a) * chance  # what a pair's expectation gains from one model, by the other's mean
    gradient = np.r_[
        0.0,
        1 / pairs / (1 - expected),
        by_expected * (by_mate.sum() - by_mate) / pairs,
        by_expected * float(np.mean((1 - a[one]) * (1 - a[other]))),
    ]
    return max(float(gradient @ (scaled - np.outer(means, means)) @ gradient), 0.0), items
