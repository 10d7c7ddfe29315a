"""Which other sets cannot be told from the chosen one: the winner of many is partly lucky, and near-ties are ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.portfolio_people import added
from polyculture.stats.intervals import FEWEST_CLUSTERS
from polyculture.stats.portfolio.losses import losses_of
from polyculture.stats.portfolio.search import worst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.portfolio_choice import PortfolioSet
    from polyculture.audit.portfolio_measures import Measures
    from polyculture.stats.portfolio.losses import Sums

    Floats = NDArray[np.float64]

LISTED = 10
MOST_WORK = 2e7  # rows x sets
LEVEL = 0.95


def within_noise(
    measures: Measures, chosen: tuple[int, ...], sums: Sums, allowed: NDArray[np.bool_], *, every: bool
) -> tuple[tuple[PortfolioSet, ...], int, int, str]:
    """Compare sets with the chosen one on the same individuals.

    Parameters
    ----------
    measures : Measures
        Values.
    chosen : tuple of int
        The chosen set.
    sums : Sums
        Losses of the sets to compare.
    allowed : (S,) bool
        Which of them meet the bound.
    every : bool
        Whether they are all sets that may be chosen, or only those one swap away.

    Returns
    -------
    sets, count, compared, note
        The best 10 sets within noise, how many there are among those compared, and how they were found.

    Notes
    -----
    A set is within noise unless its loss is above that of the chosen one by more than z standard errors of their
    paired difference, where z is the one-sided 95 % quantile corrected (Sidak) for the number of sets: subset
    selection (Gupta 1965) with a normal limit.
    """
    people = measures.people
    values = np.where(allowed, worst(sums.mean), np.inf)
    order = [int(one) for one in np.argsort(values, kind="stable") if np.isfinite(values[one])]
    order = [one for one in order if sums.sets[one] != chosen]
    if people.census:
        return (), 0, 0, "a census has no noise"
    if people.clusters is not None and people.clusters < FEWEST_CLUSTERS:
        return (), 0, 0, f"with fewer than {FEWEST_CLUSTERS} clusters noise cannot be measured"
    most = max(50, int(MOST_WORK / len(people.rows.count)))
    looked, limit = order[:most], critical(len(order), people.clusters)
    own = _influence(measures, chosen)
    near = [one for one in looked if _near(measures, own, sums.sets[one], limit)]
    listed = [
        measures.record(
            sums.sets[one], difference=measures.difference(measures.of_set(sums.sets[one]), measures.of_set(chosen))
        )
        for one in near[:LISTED]
    ]
    which = "all sets that may be chosen" if every else "the sets one swap away"
    if len(looked) < len(order):
        which = f"the {len(looked):,} best of {which}"
    return tuple(listed), len(near), len(looked), f"compared with {which}, paired, corrected for their number"


def critical(sets: int, clusters: int | None) -> float:
    """Return how many standard errors are noise for the largest of so many differences.

    >>> round(critical(1, None), 3), round(critical(455, None), 2)
    (1.645, 3.69)
    """
    from scipy.special import ndtri, stdtrit

    level = LEVEL ** (1.0 / max(sets, 1))
    return float(ndtri(level) if clusters is None else stdtrit(clusters - 1, level))


def _influence(measures: Measures, chosen: tuple[int, ...]) -> tuple[float, Floats]:
    """Return the loss of a set, of its worst group where that is asked, and the influence of each row."""
    people = measures.people
    lost, counted = losses_of(people.patterns, chosen, measures.asked.loss)
    best = (-1.0, np.zeros(len(lost)))
    for own in people.membership.T:
        total = added(people.rows.weight, counted * own)
        if total > 0.0:
            value = added(people.rows.weight, lost * own) / total
            if value > best[0]:
                best = (value, (lost - value * counted) * own / total)
    return best


def _near(measures: Measures, own: tuple[float, Floats], other: tuple[int, ...], limit: float) -> bool:
    value, influence = _influence(measures, other)
    apart = influence - own[1]
    variance = measures.people.covariance(apart, apart)
    return bool(value - own[0] <= limit * np.sqrt(variance) + 1e-12)
