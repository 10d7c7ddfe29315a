"""Reparation takes by quota and fills the shortfall with whoever comes next; its books add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.lab.loops.rows import Rows
from polyculture.lab.loops.star import Accounting, batches_of, drawn_from, people_beyond, quotas, star


def of_strata(strata: list[int]) -> Rows:
    """Return people who say their place as feature and their stratum as label."""
    many = len(strata)
    return Rows(np.arange(many, dtype=float)[:, None], np.array(strata, dtype=np.int64), np.zeros(many, dtype=np.int64))


def by_hand(strata: list[int], ideal: list[float], batch: int, budget: int) -> tuple[list[int], list[int]]:
    """Return whom the algorithm of the paper takes from a source of people and whom it fills up with, one by one."""
    pool, rest = strata[: batch + budget], strata[batch + budget :]
    left = [int(share * batch + 1e-9) for share in ideal]
    taken = []
    for place, stratum in enumerate(pool):
        if left[stratum]:
            left[stratum] -= 1
            taken.append(place)
    filled = [len(pool) + place for place in range(min(batch - len(taken), len(rest)))]
    return taken, filled


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=80, max_size=80),
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
    st.integers(1, 30),
    st.integers(0, 20),
)
def test_the_batch_is_that_of_the_paper_taken_by_hand(
    strata: list[int], weights: list[int], batch: int, budget: int
) -> None:
    ideal = [weight / sum(weights) for weight in weights]
    rows, books = star(
        drawn_from([of_strata(strata)]), lambda r: r.label, np.array(ideal), batch, budget, np.random.default_rng(0)
    )
    taken, filled = by_hand(strata, ideal, batch, budget)
    assert sorted(rows.features[:, 0].astype(int).tolist()) == sorted(taken + filled)
    assert books.taken.tolist() == np.bincount([strata[p] for p in taken], minlength=4).tolist()
    assert books.filled.tolist() == np.bincount([strata[p] for p in filled], minlength=4).tolist()
    assert books.pool.tolist() == np.bincount(strata[: batch + budget], minlength=4).tolist()
    assert (books.shortfall, books.missing) == (batch - len(taken), batch - len(taken) - len(filled))


def test_quotas_are_floors_but_for_rounding() -> None:
    assert quotas(np.array([0.29, 0.71]), 100).tolist() == [29, 71]
    assert quotas(np.full(3, 1 / 3), 10).tolist() == [3, 3, 3]


def test_order_is_random_and_strata_are_mixed() -> None:
    source = of_strata([0] * 40 + [1] * 40)
    rows, _ = star(drawn_from([source]), lambda r: r.label, np.array([0.5, 0.5]), 60, 20, np.random.default_rng(3))
    first = rows.label[:30]
    assert 5 < first.sum() < 25


def test_a_source_that_ends_leaves_places_empty() -> None:
    rows, books = star(
        drawn_from([of_strata([0] * 12)]), lambda r: r.label, np.array([0.5, 0.5]), 10, 2, np.random.default_rng(0)
    )
    assert (len(rows), books.missing, books.shortfall, books.taken.tolist()) == (5, 5, 5, [5, 0])


def test_people_of_an_iterator_of_batches_come_once_and_in_order() -> None:
    draw = drawn_from(of_strata([batch] * 4) for batch in range(3))
    got = [draw(number).label.tolist() for number in (3, 6, 9, 1)]
    assert got == [[0, 0, 0], [0, 1, 1, 1, 1, 2], [2, 2, 2], []]
    with pytest.raises(ValueError, match="without any batch"):
        drawn_from([])(1)


def test_batches_and_budgets() -> None:
    assert batches_of(700, 256) == (256, 256, 188)
    assert people_beyond(0.25, 256) == 64
    assert people_beyond(0.25, 10) == 3


def test_the_books_of_two_batches_add_up() -> None:
    one = Accounting(*(np.array(part) for part in ([3, 1], [2, 2], [2, 1], [1, 0])), missing=1)
    both = one + one
    assert [part.tolist() for part in (both.pool, both.quota, both.taken, both.filled)] == [
        [6, 2],
        [4, 4],
        [4, 2],
        [2, 0],
    ]
    assert (both.missing, both.shortfall) == (2, 4)
