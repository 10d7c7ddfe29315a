"""The law of the number of failures: outside values, enumeration, and cells far below machine epsilon."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.stats.poisson_binomial import log_product, pmf


@pytest.mark.parametrize(
    ("rates", "law"),
    [
        ([0.1, 0.2, 0.2], [0.576, 0.352, 0.068, 0.004]),
        ([0.1, 0.2, 0.7, 0.2, 0.2], [0.13824, 0.4416, 0.3152, 0.0924, 0.012, 0.00056]),
        ([0.4163448, 0.3340270, 0.9689613], [0.0120647, 0.39129134, 0.46189012, 0.13475384]),
        ([0.5, 0.25, 0.5, 1.0, 0.5], [0, 0.09375, 0.3125, 0.375, 0.1875, 0.03125]),
    ],
)
def test_outside_values(rates: list[float], law: list[float]) -> None:
    assert pmf(rates) == pytest.approx(law, abs=6e-9)


def test_outside_values_of_eight_models() -> None:
    law = pmf([0.9955901, 0.5696224, 0.8272597, 0.3818746, 0.4290036, 0.8707646, 0.8858267, 0.7557183])
    assert law[0] == pytest.approx(4.17079659e-07, rel=1e-8)
    assert law[2] == pytest.approx(2.46250608e-03, rel=1e-8)
    assert law[7] == pytest.approx(0.202460933, rel=1e-8)
    assert law[8] == pytest.approx(0.0448023378, rel=1e-8)


def test_outside_cumulative_values() -> None:
    assert np.cumsum(pmf([0.1, 0.5, 0.7]))[:3] == pytest.approx([0.135, 0.6, 0.965], abs=1e-12)


def test_top_and_bottom_cells_keep_their_relative_accuracy() -> None:
    rates = np.linspace(0.01, 0.5, 100)
    exact_top = math.prod(Fraction(float(f)) for f in rates)
    exact_next = exact_top * sum((1 - Fraction(float(f))) / Fraction(float(f)) for f in rates)
    law = pmf(rates)
    assert law[100] < 1e-60
    assert law[100] / float(exact_top) == pytest.approx(1.0, rel=1e-12)
    assert law[99] / float(exact_next) == pytest.approx(1.0, rel=1e-12)
    assert pmf(1 - rates)[0] / float(exact_top) == pytest.approx(1.0, rel=1e-12)


def test_a_cell_of_1e_90() -> None:
    rates = np.full(100, 0.125892541)
    assert pmf(rates)[-1] == pytest.approx(math.exp(100 * math.log(0.125892541)), rel=1e-11)
    assert pmf(rates)[-1] == pytest.approx(1e-90, rel=1e-5)


def test_a_thousand_models_neither_underflow_nor_lose_mass() -> None:
    rates = np.full(1000, 0.1)
    assert pmf(rates).sum() == pytest.approx(1.0, abs=1e-12)
    assert float(log_product(rates)) == pytest.approx(1000 * math.log(0.1), rel=1e-13)


def test_log_product_of_a_perfect_model_is_minus_infinity() -> None:
    assert float(log_product([0.3, 0.0])) == -math.inf
    assert log_product(np.full((2, 3), 0.5)).tolist() == pytest.approx([3 * math.log(0.5)] * 2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
@settings(max_examples=60, deadline=None)
def test_agrees_with_enumeration(rates: list[float]) -> None:
    law = [0.0] * (len(rates) + 1)
    for outcome in itertools.product([0, 1], repeat=len(rates)):
        law[sum(outcome)] += math.prod(f if o else 1 - f for f, o in zip(rates, outcome, strict=True))
    assert pmf(rates) == pytest.approx(law, abs=1e-13)


def test_many_laws_at_once() -> None:
    rates = np.random.default_rng(1).random((4, 5, 6))
    assert pmf(rates).shape == (4, 5, 7)
    assert pmf(rates)[2, 3] == pytest.approx(pmf(rates[2, 3]), abs=0)


@pytest.mark.parametrize("bad", [[0.5, 1.1], [-0.1], [math.nan], 0.5])
def test_what_is_no_rate_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="rates"):
        pmf(bad)  # type: ignore[arg-type]
