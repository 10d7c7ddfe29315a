"""The mean of shares in clusters: against the plain formula, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from polyculture.stats.cluster_mean import cluster_mean


def test_with_one_number_a_cluster_it_is_the_t_interval() -> None:
    values = [0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.05, 0.1, 0.08]
    found = cluster_mean(values, range(10))
    plain = stats.t.interval(0.95, 9, np.mean(values), stats.sem(values))
    assert (found.low, found.high) == pytest.approx(plain)


def test_what_is_said_twice_counts_once() -> None:
    values = [0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.05, 0.1, 0.08]
    assert cluster_mean(values * 3, [*range(10)] * 3)[:3] == pytest.approx(cluster_mean(values, range(10))[:3])


@pytest.mark.parametrize(
    ("values", "says"), [([], "no number"), ([0.1, 0.2], "only 2 data sets"), ([0.1] * 12, "no variation")]
)
def test_what_has_no_interval_says_why(values: list[float], says: str) -> None:
    found = cluster_mean(values, range(len(values)), what="data set")
    assert found.low is None
    assert says in found.reason


def test_the_interval_keeps_its_level_over_clusters() -> None:
    rng = np.random.default_rng(0)
    sizes = np.repeat([2, 4, 6], 4)
    place = np.repeat(np.arange(12), sizes)
    hits = 0
    for _ in range(1000):
        values = rng.beta(2, 18, 12)[place] + rng.uniform(-0.01, 0.01, len(place))
        low, high = cluster_mean(values.tolist(), place.tolist())[1:3]
        hits += low <= 0.1 <= high
    assert 0.91 <= hits / 1000 <= 0.975
