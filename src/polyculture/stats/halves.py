"""Random halves of the individuals of a pattern table, drawn on its counts: no second pass over the rows.

Where individuals come in clusters, whole clusters go to one half.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from polyculture.stats._rows import Floats, Ints

__all__ = ["half_counts"]

_MOST_MARGINALS = 10**9  # numpy's limit for a multivariate hypergeometric draw by its marginals


def half_counts(count: Ints, cluster: Ints | None, generator: Generator) -> Ints:
    """Draw a random half of the individuals.

    Parameters
    ----------
    count : (P,) int64
        Individuals a row.
    cluster : (P,) int64 or None
        Cluster of each row, -1 where its individuals are in none.
    generator : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    (P,) int64
        How many individuals of each row are in the first half. Without clusters a multivariate hypergeometric
        draw of half of them (above 1e9 individuals each goes to either half by a coin); of C clusters C // 2, whole.

    Examples
    --------
    >>> half_counts(np.array([4, 6]), None, np.random.default_rng(0)).sum()
    np.int64(5)
    >>> half_counts(np.array([4, 6, 1]), np.array([0, 0, 1]), np.random.default_rng(0)).tolist()
    [4, 6, 0]
    """
    if cluster is None:
        return _individuals(count, generator)
    found = np.zeros(len(count), dtype=np.int64)
    inside = cluster >= 0
    known = np.unique(cluster[inside])
    chosen = generator.permutation(known)[: len(known) // 2]
    taken = inside & np.isin(cluster, chosen)
    found[taken] = count[taken]
    found[~inside] = _individuals(count[~inside], generator)
    return found


def _individuals(count: Ints, generator: Generator) -> Ints:
    total = int(count.sum())
    if total >= _MOST_MARGINALS:
        return np.asarray(generator.binomial(count, 0.5), dtype=np.int64)
    if not total:
        return np.zeros(len(count), dtype=np.int64)
    return np.asarray(generator.multivariate_hypergeometric(count, total // 2, method="marginals"), dtype=np.int64)


def half_weights(count: Ints, weight: Floats, first: Ints) -> tuple[Floats, Floats]:
    """Return the weight of each row in the first half and in the second, (P,) each: in proportion to individuals."""
    share = np.divide(first, count, out=np.zeros(len(count)), where=count > 0)
    return np.asarray(weight * share), np.asarray(weight * (1.0 - share))
