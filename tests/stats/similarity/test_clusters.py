"""Intervals of a collection whose individuals come in clusters: fewer degrees of freedom where totals are uneven."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.collection import _spread, effective_number, fleiss, mean_phi


def rows_of(failed, cluster):
    return make_rows(np.ones_like(failed), failed, np.ones(len(failed)), cluster=cluster)


@pytest.mark.parametrize("measure", [mean_phi, effective_number])
def test_one_cluster_that_makes_most_of_it_is_said(measure):
    rng = np.random.default_rng(3)
    failed, cluster = rng.random((1200, 5)) < 0.2, np.arange(1200) % 40
    even = rows_of(failed, cluster)
    hard = failed.copy()
    hard[cluster == 0] = rng.random((30, 1)) < 0.5  # in one cluster all models fail the same individuals
    uneven = rows_of(hard, cluster)
    one, other = (measure(rows, cells_of(rows)) for rows in (even, uneven))
    assert not one.reason
    assert other.reason == "may be too narrow: a few clusters make most of it"


def test_the_spread_of_totals_and_its_degrees_of_freedom():
    """By hand: about the jackknife's variance, and degrees of freedom from the kurtosis of the totals."""
    rng = np.random.default_rng(5)
    cluster = np.arange(600) % 30
    influence = rng.normal(size=600) * (1 + 5 * (cluster == 7))
    found = _spread(rows_of(rng.random((600, 3)) < 0.3, cluster), influence, 1.0)
    totals = np.bincount(cluster, influence - influence.mean())
    squares = totals**2
    assert found.variance == pytest.approx(squares.sum() / 600**2 * (30 / 29) ** 3)
    assert found.freedom == pytest.approx(2 / ((squares**2).sum() / squares.sum() ** 2 - 1 / 30))
    assert found.freedom < 10


def reweighted(failed, cluster, place, step):
    """Return the rows where individuals of one cluster count a little more."""
    weight = 1.0 + step * (cluster == place)
    count = np.ones(len(failed))
    return make_rows(np.ones_like(failed), failed, count, weight=weight, weight_squared=weight**2, cluster=cluster)


def scale_of(name, failed):
    """Return the scale on which the interval is symmetric but for the skewness, increasing in the measure."""
    rate = failed.mean(axis=0)
    k = failed.shape[1]
    if name == "n_eff":
        rest = rate.sum() % 1.0
        least = rest * (1 - rest) / (k * (rate * (1 - rate)).sum())
        return lambda value: -np.log(1.0 / value - least)
    odds = np.sqrt(rate / (1 - rate))
    mean = rate.mean()
    pairs = np.minimum(np.outer(odds, odds), 1.0)[np.triu_indices(k, 1)]
    lowest = -pairs.mean() if name == "mean_phi" else -min(mean, 1 - mean) / max(mean, 1 - mean)
    return lambda value: np.log((value - lowest) / (1.0 - value))


@pytest.mark.parametrize(
    ("name", "measure"), [("mean_phi", mean_phi), ("n_eff", effective_number), ("fleiss", lambda rows, _: fleiss(rows))]
)
def test_intervals_a_second_time_from_estimates_with_clusters_weighted_anew(name, measure):
    """Influence by moving weights, and Hall's transform of both ends: it must be Student's quantile of 95 %."""
    rng = np.random.default_rng(8)
    clusters = 30
    cluster = np.arange(900) % clusters
    shift = 0.9 * rng.exponential(size=clusters)[cluster][:, None] - 1.6
    failed = rng.normal(size=(900, 4)) < shift + np.linspace(-0.3, 0.3, 4)
    rows = rows_of(failed, cluster)
    found = measure(rows, cells_of(rows))
    scale = scale_of(name, failed)  # fixed at the data: what moves is the measure
    step = 1e-4

    def value(place, step):
        moved = reweighted(failed, cluster, place, step)
        return scale(measure(moved, cells_of(moved)).value)

    influence = np.array([(value(c, step) - value(c, -step)) / (2 * step) for c in range(clusters)])
    squares = (influence**2).sum()
    variance = squares * (clusters / (clusters - 1)) ** 3
    relative = (influence**4).sum() / squares**2 - 1 / clusters
    freedom = 2 / max(relative, 2 / (clusters - 1))
    skew = (influence**3).sum() / squares**1.5
    assert abs(skew) > 0.05, "the data must be able to tell"
    ends = [(scale(found.value) - scale(end)) / np.sqrt(variance) for end in (found.low, found.high)]
    hall = [t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6 for t in ends]
    quantile = student.ppf(0.975, freedom)
    assert hall == pytest.approx([quantile, -quantile], rel=2e-3)
    # Where totals are skewed to high values, values above are harder to rule out.
    assert (-ends[1] > ends[0]) == (skew > 0)
