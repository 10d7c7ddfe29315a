"""Where a few individuals are failed by many models the excess of consistent success is skewed: limits allow for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polyculture.stats.excess import excess_interval
from polyculture.stats.moments import moments


@pytest.fixture
def failed(rng: np.random.Generator) -> np.ndarray:
    table = np.zeros((200, 30), dtype=bool)
    table[:4] = rng.random((4, 30)) < 0.6  # a few individuals make all of the excess
    return table


def test_the_side_of_the_skew_is_longer(failed: np.ndarray) -> None:
    m = moments(np.ones_like(failed), failed, np.ones(200), event="none_fail")
    rates = failed.mean(axis=0)
    own = ~failed.any(axis=1) - m.observed
    d = own + np.exp(m.log_expected) * ((failed - rates) / (1 - rates)).sum(axis=1)  # log E falls with each failure
    assert m.skewness == pytest.approx((d**3).sum() / (d**2).sum() ** 1.5)
    found, even = excess_interval(m), excess_interval(replace(m, skewness=0.0))
    longer = 1 + min(m.skewness * (1 + 2 * 1.959964**2) / 6, 0.75) / 1.959964
    value = m.observed - np.exp(m.log_expected)
    assert longer > 1.1
    assert found.low == pytest.approx(even.low)
    assert found.high - value == pytest.approx(longer * (even.high - value), rel=1e-6)


def test_the_skewness_of_clusters_is_that_of_their_totals(failed: np.ndarray) -> None:
    cluster = np.arange(200) % 20
    m = moments(np.ones_like(failed), failed, np.ones(200), cluster=cluster, event="none_fail")
    rates = failed.mean(axis=0)
    own = ~failed.any(axis=1) - m.observed
    d = own + np.exp(m.log_expected) * ((failed - rates) / (1 - rates)).sum(axis=1)
    totals = np.bincount(cluster, d)
    assert m.skewness == pytest.approx((totals**3).sum() / (totals**2).sum() ** 1.5)


def test_systemic_failure_has_limits_by_events(failed: np.ndarray) -> None:
    m = moments(np.ones_like(failed), failed, np.ones(200))
    assert excess_interval(m) == excess_interval(replace(m, skewness=5.0))
