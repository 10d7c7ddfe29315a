"""Intervals of a collection whose individuals come in clusters: fewer degrees of freedom where totals are uneven."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.collection import effective_number, mean_phi


def rows_of(failed, cluster):
    return make_rows(np.ones_like(failed), failed, np.ones(len(failed)), cluster=cluster)


@pytest.mark.parametrize("measure", [mean_phi, effective_number])
def test_one_cluster_that_makes_most_of_it_is_said_and_widens_the_interval(measure):
    rng = np.random.default_rng(3)
    failed, cluster = rng.random((1200, 5)) < 0.2, np.arange(1200) % 40
    even = rows_of(failed, cluster)
    hard = failed.copy()
    hard[cluster == 0] = rng.random((30, 1)) < 0.5  # in one cluster all models fail the same individuals
    uneven = rows_of(hard, cluster)
    one, other = (measure(rows, cells_of(rows)) for rows in (even, uneven))
    assert not one.reason
    assert other.reason == "may be too narrow: a few clusters make most of it"
    # Student's t with few degrees of freedom: at least a third wider than with 39.
    plain = measure(rows_of(hard, np.random.default_rng(4).permutation(cluster)), cells_of(uneven))
    assert other.high - other.low > 1.33 * (plain.high - plain.low)
