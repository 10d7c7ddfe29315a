"""The tree of models by error consistency, and pairs that are so much alike that they may be one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.records import Merge, NearDuplicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ALIKE = 0.9
LEAST = 0.6
FEWEST_JOINT = 5
FEWEST_PAIRS = 10
MOST_DUPLICATES = 50
_OPTIMAL = 100  # models up to which the leaves are put into the best order, which costs the square of them


def tree_of(models: Sequence[str], kappa: NDArray[np.float64]) -> tuple[tuple[str, ...], tuple[Merge, ...]]:
    """Cluster models by average linkage of 1 - kappa.

    Parameters
    ----------
    models : sequence of str
        Names.
    kappa : (k, k) float64
        Error consistency; undefined pairs (NaN) count as no more alike than chance.

    Returns
    -------
    tuple of str
        The models in the order of the leaves.
    tuple of Merge
        The k - 1 steps, with branches numbered in that order.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    k = len(models)
    if k < 2:
        return tuple(models), ()
    # Of like distances the alphabet decides, so that the order of the models changes nothing.
    named = sorted(range(k), key=lambda j: models[j])
    apart = 1.0 - np.nan_to_num(kappa[np.ix_(named, named)], nan=0.0)
    apart = np.maximum((apart + apart.T) / 2, 0.0)
    np.fill_diagonal(apart, 0.0)
    steps = linkage(squareform(apart, checks=False), method="average", optimal_ordering=k <= _OPTIMAL)
    leaves = leaves_list(steps)
    place = np.arange(2 * k - 1)
    place[leaves] = np.arange(k)
    merges = tuple(
        Merge(left=int(place[int(one)]), right=int(place[int(other)]), height=float(height))
        for one, other, height, _ in steps
    )
    return tuple(models[named[leaf]] for leaf in leaves), merges


def near_duplicates(
    models: Sequence[str], kappa: NDArray[np.float64], both_failed: NDArray[np.int64]
) -> tuple[NearDuplicate, ...]:
    """Flag pairs that fail almost alike, or far more alike than the other pairs do.

    Parameters
    ----------
    models : sequence of str
        Names.
    kappa : (k, k) float64
        Error consistency.
    both_failed : (k, k) int64
        Joint failures; below 5 nothing is flagged.

    Returns
    -------
    tuple of NearDuplicate
        At most 50, the most alike first. Flagged is a kappa of .9 or more; with at least 10 pairs also one of
        .6 or more that lies over the third quartile of all pairs by 1.5 times their interquartile range.
    """
    upper = np.triu_indices(len(models), 1)
    one, other = (index.tolist() for index in upper)
    value, enough = kappa[upper], both_failed[upper] >= FEWEST_JOINT
    known = value[~np.isnan(value)]
    edge = np.inf
    if len(known) >= FEWEST_PAIRS:
        lower, upper = np.quantile(known, [0.25, 0.75])
        edge = max(LEAST, float(upper + 1.5 * (upper - lower)))
    flagged = np.flatnonzero(enough & (np.nan_to_num(value) >= min(edge, ALIKE)))
    order = sorted(flagged.tolist(), key=lambda i: (-value[i], models[one[i]], models[other[i]]))
    return tuple(
        NearDuplicate(
            models=(models[one[i]], models[other[i]]),
            kappa=float(value[i]),
            why=f"kappa of {ALIKE:g} or more" if value[i] >= ALIKE else "far more alike than the other pairs",
        )
        for i in order[:MOST_DUPLICATES]
    )
