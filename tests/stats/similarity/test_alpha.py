"""Krippendorff's alpha against the public library and the example of its author."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from polyculture.stats.similarity.alpha import krippendorff_alpha

ORACLES = json.loads((Path(__file__).parents[2] / "cases" / "similarity_oracles.json").read_text())
# Krippendorff (2011), four observers, twelve units, missing ratings: nominal .743, ordinal .815, interval .849.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def counted(ratings):
    values = sorted({x for row in ratings for x in row if x is not None})
    columns = list(zip(*ratings, strict=True))
    return np.array([[column.count(value) for value in values] for column in columns], float), np.array(values, float)


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_example_of_its_author(level, value):
    assert krippendorff_alpha(*counted(OBSERVERS), level).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_values_of_the_public_library(level):
    found = krippendorff_alpha(*counted(ORACLES["ratings"]), level)
    assert found.value == pytest.approx(ORACLES["alpha"][level], abs=1e-12)
    assert found.low < found.value < found.high <= 1


def test_undefined_with_a_reason():
    assert krippendorff_alpha(np.array([[1.0, 0.0], [0.0, 1.0]]), np.arange(2.0)).reason == "no item has two ratings"
    assert krippendorff_alpha(np.array([[2.0, 0.0], [3.0, 0.0]]), np.arange(2.0)).reason == "all ratings are equal"
    agreed = krippendorff_alpha(np.array([[2.0, 0.0], [0.0, 3.0]]), np.arange(2.0))
    assert (agreed.value, agreed.low) == (1.0, None)


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="level"):
        krippendorff_alpha(np.ones((2, 2)), np.arange(2.0), "ratio")
    with pytest.raises(ValueError, match="column a value"):
        krippendorff_alpha(np.ones((2, 3)), np.arange(2.0))


def test_the_interval_holds_the_truth():
    rng = np.random.default_rng(1)

    def ratings(n):
        truth = rng.integers(3, size=(n, 1))
        given = np.where(rng.random((n, 4)) < 0.6, truth, rng.integers(3, size=(n, 4)))
        return np.stack([(given == value).sum(axis=1) for value in range(3)], axis=1).astype(float)

    truth = krippendorff_alpha(ratings(400_000), np.arange(3.0)).value
    found = [krippendorff_alpha(ratings(80), np.arange(3.0)) for _ in range(400)]
    assert 0.92 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.98


def test_counts_of_items_are_items():
    counts, values = counted(ORACLES["ratings"])
    times = np.arange(len(counts)) % 3 + 1
    one, other = (
        krippendorff_alpha(counts, values, "ordinal", times),
        krippendorff_alpha(np.repeat(counts, times, axis=0), values, "ordinal"),
    )
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
