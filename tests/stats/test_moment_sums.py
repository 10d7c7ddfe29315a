"""Moments from sums are those from the table, and sums add and subtract as tables do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.stats._rows import make_rows
from polyculture.stats.contrasts import contrast
from polyculture.stats.moment_sums import moment_sums, summable
from polyculture.stats.moments import Moments, moments_of_rows

EVENTS = ("all_fail", "none_fail", "same")


def same(one: Moments, other: Moments) -> None:
    for field in fields(Moments):
        if field.name in {"rows", "skewness"}:  # third moments are not among the sums
            continue
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(theirs, float):
            assert mine == pytest.approx(
                theirs, rel=1e-7, abs=1e-7 if field.name == "correlation" else 1e-10, nan_ok=True
            ), field.name
        else:
            assert mine == theirs, field.name


@given(st.integers(0, 2**32 - 1), st.sampled_from(EVENTS), st.booleans())
@settings(max_examples=80, deadline=None)
def test_moments_of_sums_are_those_of_the_table(seed: int, event: Any, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    failed = rng.random((n, k)) < rng.random(k)
    weight = rng.random(n) + 0.2 if weighted else np.ones(n)
    rows = make_rows(np.ones_like(failed), failed, np.ones(n), weight, weight**2)
    same(moment_sums(rows).moments(event), moments_of_rows(rows, event))
    cut = n // 2
    parts = [
        make_rows(np.ones_like(failed[p]), failed[p], np.ones(len(failed[p])), weight[p], weight[p] ** 2)
        for p in (slice(cut), slice(cut, n))
    ]
    sums = [moment_sums(part) for part in parts]
    same((sums[0] + sums[1]).moments(event), moments_of_rows(rows, event))
    same((moment_sums(rows) - sums[0]).moments(event), moments_of_rows(parts[1], event))


def test_contrast_with_everyone_else_by_subtraction(rng: np.random.Generator) -> None:
    failed, group = rng.random((600, 3)) < 0.4, rng.random(600) < 0.3
    rows = [
        make_rows(np.ones_like(failed[part]), failed[part], np.ones(part.sum()))
        for part in (group, ~group, np.full(600, True))
    ]
    rest = (moment_sums(rows[2]) - moment_sums(rows[0])).moments("all_fail")
    own = moments_of_rows(rows[0], "all_fail")
    by_sums, by_table = contrast(own, rest), contrast(own, moments_of_rows(rows[1], "all_fail"))
    assert by_sums.p_value == by_table.p_value
    for name in ("difference", "ratio", "excess_difference", "homogenization_ratio"):
        assert getattr(by_sums, name)[:3] == pytest.approx(getattr(by_table, name)[:3], rel=1e-9), name


def test_nobody_is_left() -> None:
    failed = np.array([[True, False]])
    sums = moment_sums(make_rows(np.ones_like(failed), failed, [5]))
    assert (sums - sums).moments("all_fail").n == 0


def test_tables_that_sums_cannot_hold(rng: np.random.Generator) -> None:
    failed = rng.random((10, 2)) < 0.5
    judged = np.ones_like(failed)
    clustered = make_rows(judged, failed, np.ones(10), cluster=np.arange(10))
    unequal = make_rows(np.array([[True, False], [True, True]]), np.zeros((2, 2), dtype=bool), [1, 1])
    many = make_rows(np.ones((3, 65)), np.zeros((3, 65)), [1, 1, 1])
    for rows in (clustered, unequal, many):
        assert not summable(rows)
        with pytest.raises(ValueError, match="complete tables"):
            moment_sums(rows)
