"""Verdicts: what a published number without an error can be held against."""

from __future__ import annotations

import pytest

from polyculture.audit.statistic import Statistic, undefined
from polyculture.claims.verdict import absent, direction, same_data, within_interval


def stat(value: float, low: float | None = None, high: float | None = None) -> Statistic:
    return Statistic(value=value, low=low, high=high)


@pytest.mark.parametrize(
    ("published", "decimals", "found", "verdict"),
    [
        (0.065, 3, 0.0645, "agrees"),  # rounding at its end
        (0.065, 3, 0.0655, "agrees"),
        (0.065, 3, 0.06551, "disagrees"),
        (18.4, 1, 18.359922, "agrees"),
        (18.4, 1, 18.3, "disagrees"),
        (775, 0, 775.0, "agrees"),
        (775, 0, 776.0, "disagrees"),
    ],
)
def test_the_same_individuals_give_the_same_number(published: float, decimals: int, found: float, verdict: str) -> None:
    assert same_data(published, decimals, stat(found))[0] == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.02, 0.12, "agrees"),
        (-0.02, 0.12, "cannot tell"),
        (0.09, 0.12, "disagrees"),
        (0.0823, 0.12, "agrees"),  # .082 may stand for .0825
        (-0.02, 0.05, "disagrees"),
        (-0.2, -0.1, "disagrees"),
    ],
)
def test_other_individuals_are_judged_by_the_interval(low: float, high: float, verdict: str) -> None:
    assert within_interval(0.082, 3, stat((low + high) / 2, low, high), none=0.0)[0] == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.1, 0.2, "agrees"), (-0.1, 0.2, "cannot tell"), (-0.2, -0.1, "disagrees")]
)
def test_a_direction(low: float, high: float, verdict: str) -> None:
    assert direction(stat(0.0, low, high), none=0.0, above=True)[0] == verdict
    mirrored = {"agrees": "disagrees", "disagrees": "agrees"}.get(verdict, verdict)
    assert direction(stat(0.0, low, high), none=0.0, above=False)[0] == mirrored


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-0.05, 0.05, "agrees"), (-0.05, 0.15, "cannot tell"), (0.01, 0.05, "disagrees"), (-0.15, 0.05, "cannot tell")],
)
def test_an_absence_needs_a_narrow_interval(low: float, high: float, verdict: str) -> None:
    assert absent(stat(0.0, low, high), none=0.0, margin=0.1)[0] == verdict


def test_what_is_undefined_is_not_tested() -> None:
    nothing = undefined("no event")
    for verdict, reason in (
        same_data(1.0, 1, nothing),
        within_interval(1.0, 1, nothing, none=0.0),
        direction(nothing, none=0.0, above=True),
        absent(nothing, none=0.0, margin=1.0),
    ):
        assert verdict == "not tested"
        assert reason == "undefined: no event"
    assert direction(stat(0.1), none=0.0, above=True)[0] == "not tested"  # a census has no interval
