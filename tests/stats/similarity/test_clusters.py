"""Intervals of a collection whose individuals come in clusters: fewer degrees of freedom where totals are uneven."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.collection import _spread, effective_number, mean_phi


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
