from __future__ import annotations

import math

import numpy as np
import pytest

from polyculture.stats._rounding import difference, differences
from polyculture.stats.contrasts import difference_of_rates
from polyculture.stats.homogeneity import estimate, moments
from polyculture.stats.similarity.cells import cells_from_tables
from polyculture.stats.similarity.error_consistency import kappa
from polyculture.stats.similarity.phi import phi


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (0.1 + 0.2, 0.3, 0.0),
        (0.3, 0.1 + 0.2, 0.0),
        (1e-90 * (1 + 1e-15), 1e-90, 0.0),
        (0.0, 0.0, 0.0),
        (1.0, 1.0 - 1e-11, 1e-11),
        (1e-20, 0.0, 1e-20),
        (0.25, 0.5, -0.25),
    ],
)
def test_rounding_is_no_difference_and_everything_else_is(one: float, other: float, expected: float) -> None:
    found = difference(one, other)
    assert found == pytest.approx(expected, rel=1e-4, abs=0.0)
    assert math.copysign(1.0, found) == (-1.0 if expected < 0 else 1.0)


def test_what_is_not_finite_stays() -> None:
    found = differences(np.array([np.nan, np.inf, 1.0]), np.array([1.0, 1.0, -np.inf]))
    assert np.isnan(found[0])
    assert found[1:].tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("weight", [None, 0.1, 0.7])
def test_exactly_independent_failures_have_no_excess_at_all(weight: float | None) -> None:
    """Three models that each fail a third, in all combinations: observed and expected are 1/27 on two ways."""
    failed = np.array([[i // 9 % 3 == 0, i // 3 % 3 == 0, i % 3 == 0] for i in range(27)])
    count = np.full(27, 7)
    weights = None if weight is None else count * weight
    squares = None if weight is None else count * weight**2
    found = estimate(moments(np.ones_like(failed), failed, count, weights, squares))
    assert found.difference.value == 0.0
    assert found.ratio.value == 1.0
    assert found.log10_ratio.value == 0.0
    assert found.ceiling_share.value == 0.0
    assert found.difference.low is not None
    assert found.difference.low < 0.0 < (found.difference.high or 0.0)


def test_exactly_independent_pairs_are_not_alike_at_all() -> None:
    judged, both, first = np.full((2, 2), 8.1), np.array([[2.7, 0.9], [0.9, 2.7]]), np.full((2, 2), 2.7)
    cells = cells_from_tables(judged, both, first)
    assert phi(cells)[0, 1] == 0.0
    assert kappa(cells)[0, 1] == 0.0


def test_equal_rates_of_groups_of_other_sizes_have_no_difference() -> None:
    assert difference_of_rates(0.1 * 3, 1.0, 0.3, 1.0).value == 0.0
