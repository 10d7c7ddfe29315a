"""One model of each family: against every draw by itself, and intervals that hold the truth."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.components import one_of_each

FAMILY = np.array([0, 0, 1, 1, 1, 2, -1])


def matrix(n=300, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    failed = rng.random((n, 7)) < 0.2 + 0.5 * (rng.random((n, 1)) < 0.3)
    judged = rng.random((n, 7)) >= missing
    return failed & judged, judged


def of_draws(failed, judged, weight, draws, least=2):
    """Systemic failure over draws: the ratio of mean events and mean individuals."""
    events = people = 0.0
    for models in draws:
        known = judged[:, models].sum(axis=1)
        enough = known >= least
        people += weight[enough].sum()
        events += weight[enough & (failed[:, models].sum(axis=1) == known)].sum()
    return events / people


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_the_mean_over_all_draws_is_exact(missing, least):
    failed, judged = matrix(missing=missing)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(failed))
    rows = make_rows(judged, failed, np.ones(len(failed)), weight, weight**2)
    found = one_of_each(rows, FAMILY, min_judged=least)
    each = [list(models) for models in product([0, 1], [2, 3, 4], [5])]
    any_three = [list(models) for models in combinations(range(6), 3)]
    assert found.observed.value == pytest.approx(of_draws(failed, judged, weight, each, least))
    assert found.from_all.value == pytest.approx(of_draws(failed, judged, weight, any_three, least))
    assert found.difference.value == pytest.approx(found.from_all.value - found.observed.value)


def test_what_independence_expects_is_the_mean_over_draws_of_products_of_rates():
    failed, judged = matrix()
    found = one_of_each(make_rows(judged, failed, np.ones(len(failed))), FAMILY)
    rates = failed.mean(axis=0)
    products = [np.prod(rates[list(models)]) for models in product([0, 1], [2, 3, 4], [5])]
    assert found.expected == pytest.approx(np.mean(products))


def test_families_that_fail_together_are_spared_by_drawing_one_of_each():
    rng = np.random.default_rng(2)
    family = np.repeat([0, 1, 2], 4)
    failed = rng.random((3000, 3))[:, family] < 0.3
    rows = make_rows(np.ones_like(failed), failed, np.ones(3000))
    found = one_of_each(rows, family)
    assert found.observed.low < 0.027 < found.observed.high
    assert found.difference.low > 0.01


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(3)
    family = np.array([0, 0, 0, 1, 1, 1])
    held = []
    for _ in range(300):
        hard = rng.random((400, 1)) < 0.3
        failed = rng.random((400, 6)) < np.where(hard, 0.5, 0.1)
        found = one_of_each(make_rows(np.ones_like(failed), failed, np.ones(400)), family)
        true = 0.3 * 0.25 + 0.7 * 0.01
        held.append(
            (found.observed.low <= true <= found.observed.high, found.difference.low <= 0 <= found.difference.high)
        )
    assert 0.92 <= np.mean(held, axis=0)[0] <= 0.985
    assert np.mean(held, axis=0)[1] >= 0.93


def test_rare_census_clusters_and_one_family():
    failed, judged = matrix(60)
    never = one_of_each(make_rows(judged, np.zeros_like(failed), np.ones(60)), FAMILY)
    assert (never.observed.value, never.observed.low) == (0.0, 0.0)
    assert 0 < never.observed.high < 0.1
    rows = make_rows(judged, failed, np.ones(60))
    assert one_of_each(rows, FAMILY, census="all").observed[1:] == (None, None, "", "all")
    few = make_rows(judged, failed, np.ones(60), cluster=np.arange(60) % 5)
    assert one_of_each(few, FAMILY).observed.low is None
    many = make_rows(judged, failed, np.ones(60), cluster=np.arange(60) % 30)
    assert one_of_each(many, FAMILY).observed.low < one_of_each(many, FAMILY).observed.high
    assert one_of_each(rows, np.zeros(7, dtype=np.int64)).observed.value is None
