"""The sentence that leads an audit."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.audit.words import percent


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.0646, "6.5 %"),
        (0.5, "50.0 %"),
        (0.9999, "99.99 %"),
        (0.01, "1.0 %"),
        (0.009999, "1.0 %"),
        (0.00351, "0.35 %"),
        (0.0000123, "0.0012 %"),
        (1e-90, "10^-90.0"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


def test_two_models_are_both(audit):
    failed = np.array([[1, 1]] * 20 + [[0, 0]] * 80, dtype=bool)
    assert audit(failed, noun="people").headline == (
        "20 of 100 people (20.0 %, 95 % interval 13.1 to 28.6 %) were failed by both models; "
        "4.0 % would be expected if they failed independently."
    )


def test_one_individual_is_singular(audit):
    failed = np.array([[1, 1, 1]] + [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 33, dtype=bool)
    assert ") was failed by all 3 models;" in audit(failed).headline


def test_nobody(audit):
    failed = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 100, dtype=bool)
    found = audit(failed)
    assert found.headline.startswith(
        "None of 300 individuals (0 %, 95 % interval 0 to 0.83 %) was failed by all 3 models; "
    )
    assert found.headline.endswith("3.7 % would be expected if they failed independently.")


def test_a_single_model(audit):
    failed = np.array([[1]] * 12 + [[0]] * 88, dtype=bool)
    assert audit(failed, models=["solo"]).headline == (
        "The only model, solo, failed 12 of 100 individuals (12.0 %, 95 % interval 6.7 to 19.4 %); "
        "with one model there is nothing to homogenize."
    )


def test_words_that_are_never_used(audit):
    failed = np.random.default_rng(0).random((200, 3)) < 0.4
    found = audit(failed, groups={"g": ["a", "b"] * 100})
    text = " ".join([found.headline, *found.notes]).lower()
    for word in ("guilty", "pass", "compliant", "prove", "explain"):
        assert word not in text
