"""Tables drawn from known laws for the tests of nulls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from polyculture.stats.moments import Moments, moments
from polyculture.stats.nulls.protocol import Table

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def grouped(failed: np.ndarray, judged: np.ndarray | None = None) -> Drawn:
    """Return judged, failed and count of the different rows."""
    judged = np.ones_like(failed, dtype=bool) if judged is None else judged
    failed = failed & judged
    both, count = np.unique(np.hstack([judged, failed]), axis=0, return_counts=True)
    k = failed.shape[1]
    return both[:, :k], both[:, k:], count


def two_parameter_failures(n: int, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1))
    linear = np.linspace(-1.3, 0.4, k) + np.linspace(0.7, 1.7, k) * z
    return np.asarray(rng.random((n, k)) < 1 / (1 + np.exp(-linear)))


@pytest.fixture(scope="session")
def two_parameter() -> Callable[..., np.ndarray]:
    """Failures (n, k) under a 2PL."""
    return two_parameter_failures


@pytest.fixture(scope="session")
def as_table() -> Callable[..., Table]:
    """Table of (n, k) failures."""

    def make(failed: np.ndarray, judged: np.ndarray | None = None) -> Table:
        own, fails, count = grouped(failed, judged)
        return Table(own, fails.astype(float), count.astype(float))

    return make


@pytest.fixture(scope="session")
def as_moments() -> Callable[..., Moments]:
    """Moments of systemic failure of (n, k) failures."""

    def make(failed: np.ndarray, judged: np.ndarray | None = None, **more: np.ndarray) -> Moments:
        if more:
            judged = np.ones_like(failed) if judged is None else judged
            return moments(judged, failed, np.ones(len(failed)), **more)
        return moments(*grouped(failed, judged))

    return make
