"""The mean of numbers that come in clusters, with an interval whose unit is the cluster.

Rates of individuals in clusters stand in ``paired_rates`` and ``intervals``; here each number counts once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from polyculture.stats._interval import FEWEST_CLUSTERS, Estimated, few_clusters, quantile, undefined

__all__ = ["cluster_mean"]

_ROUNDING = 1e-12  # a spread of shares that is smaller is one of floating point


def cluster_mean(values: Sequence[float], clusters: Sequence[Hashable], *, what: str = "cluster") -> Estimated:
    """Return the mean of shares, each with the same weight, and its jackknife interval over clusters.

    Each cluster is left out in turn; Student's t with one degree of freedom less than there are clusters. Limits
    beyond 0 and 1 are cut off there.

    Parameters
    ----------
    values : sequence of float, in [0, 1]
        The shares.
    clusters : sequence of hashable, as many
        The cluster of each.
    what : str
        What a cluster is called, in the singular.

    Returns
    -------
    Estimated
        Without an interval where there are fewer than FEWEST_CLUSTERS clusters or no variation between them.

    References
    ----------
    Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans, section 3; units are clusters.

    Examples
    --------
    >>> found = cluster_mean([0.0, 0.2] * 6, [place // 2 for place in range(12)])
    >>> round(found.value, 3), found.reason
    (0.1, 'only 6 clusters: the figure is descriptive, an interval needs at least 10')
    """
    if not values:
        return undefined("there is no number to take the mean of")
    mean = float(np.mean(values))
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    number = len(names)
    if number < FEWEST_CLUSTERS:
        return Estimated(mean, reason=few_clusters(number, what))
    place = np.array([names[name] for name in clusters])
    totals = np.bincount(place, weights=np.asarray(values, dtype=np.float64), minlength=number)
    sizes = np.bincount(place, minlength=number)
    without = (totals.sum() - totals) / (sizes.sum() - sizes)
    variance = (number - 1) / number * float(((without - without.mean()) ** 2).sum())
    if math.sqrt(variance) <= _ROUNDING:
        return Estimated(mean, reason="the data show no variation, so that an interval would have no width")
    half = quantile(clusters=number) * math.sqrt(variance)
    method = f"jackknife over {number} {what}s, Student's t"
    return Estimated(mean, max(mean - half, 0.0), min(mean + half, 1.0), method)
