"""Group homogenization: outside values, identities, corrections against brute force, shuffles by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyculture.stats import _group_spread
from polyculture.stats._group_rates import group_rates
from polyculture.stats._group_variances import group_variances, relative_biases
from polyculture.stats.group_homogenization import GroupHomogenizationEstimate, group_homogenization


def estimates(
    failed: Any, cell: Any, judged: Any = None, count: Any = None, **more: Any
) -> GroupHomogenizationEstimate:
    failed = np.asarray(failed, dtype=bool)
    cell = np.asarray(cell)
    judged = np.ones_like(failed) if judged is None else judged
    count = np.ones(len(failed)) if count is None else count
    options = {"weight": None, "weight_squared": None, "n_groups": int(cell.max()) + 1, **more}
    return group_homogenization(judged, failed, count, cell=cell, **options)


def by_definition(failed: Any, cell: Any, weight: Any = None) -> tuple[float, float, float]:
    """Average, uniform and worst as the paper writes them, for complete data."""
    w = np.ones(len(failed)) if weight is None else weight
    groups = np.unique(cell)
    expected = np.prod(w @ failed / w.sum())
    products = np.array([np.prod(w[cell == g] @ failed[cell == g] / w[cell == g].sum()) for g in groups])
    shares = np.array([w[cell == g].sum() / w.sum() for g in groups]) ** failed.shape[1]
    return (
        float((shares * products).sum() / (expected * shares.sum())),
        float(products.mean() / expected),
        float(products.max() / expected),
    )


@pytest.fixture
def grouped(rng: np.random.Generator) -> tuple[Any, Any]:
    cell = np.repeat([0, 1, 2], [60, 90, 50])
    failed = (rng.random((200, 3)) < 0.3) | (rng.random(200) < np.array([0.1, 0.2, 0.3])[cell])[:, None]
    return failed, cell


def test_authors_values_one_row_one_group(text_rows: Callable[[str], Any]) -> None:
    rows = text_rows("111 110 100 000 001 010 000 111")
    found = estimates(rows.failed, np.arange(8))
    assert found.average.value == pytest.approx(2.666667, abs=1e-6)
    assert found.uniform.value == pytest.approx(2.666667, abs=1e-6)
    assert found.worst.value == pytest.approx(10.666667, abs=1e-6)
    assert found.spread.value == pytest.approx(0.214286, abs=1e-6)
    assert not found.reliable
    assert found.uniform.low is None


def test_authors_values_three_groups(text_rows: Callable[[str], Any]) -> None:
    rows = text_rows("111 110 100 000 001 010 000 111")
    found = estimates(rows.failed, [0, 0, 0, 0, 1, 1, 1, 2])
    assert found.average.value == pytest.approx(0.811594, abs=1e-6)
    assert found.uniform.value == pytest.approx(3.888889, abs=1e-6)
    assert found.worst.value == pytest.approx(10.666667, abs=1e-6)
    assert found.spread.value == pytest.approx(0.305013, abs=1e-6)
    assert found.worst_group == 2


def test_authors_values_five_models(text_rows: Callable[[str], Any]) -> None:
    wrong = text_rows("01100 11101 00110 00000").failed != np.array([True, True, False, True])[:, None]
    alone = estimates(wrong, np.arange(4))
    assert (alone.average.value, alone.uniform.value, alone.worst.value) == pytest.approx((8, 8, 32))
    assert alone.spread.value == pytest.approx(0.25)
    pairs = estimates(wrong, [0, 0, 1, 1])
    assert (pairs.average.value, pairs.uniform.value, pairs.worst.value) == pytest.approx((2, 2, 4))
    assert pairs.spread.value == pytest.approx(0.0078125)


def test_one_row_one_group_is_individual_homogenization(rng: np.random.Generator) -> None:
    failed = rng.random((40, 4)) < 0.6
    individual = failed.all(axis=1).mean() / failed.mean(axis=0).prod()
    found = estimates(failed, np.arange(40))
    assert found.average.value == pytest.approx(individual)
    assert found.uniform.value == pytest.approx(individual)


def test_by_definition_with_and_without_weights(grouped: tuple[Any, Any], rng: np.random.Generator) -> None:
    failed, cell = grouped
    found = estimates(failed, cell)
    assert (found.average.value, found.uniform.value, found.worst.value) == pytest.approx(by_definition(failed, cell))
    weight = rng.random(200) + 0.2
    found = estimates(failed, cell, weight=weight, weight_squared=weight**2)
    values = found.average.value, found.uniform.value, found.worst.value
    assert values == pytest.approx(by_definition(failed, cell, weight))


# ---- groups that other tools crash on --------------------------------------------------------------------------


def test_an_empty_group_is_left_out_and_said(grouped: tuple[Any, Any]) -> None:
    failed, cell = grouped
    found = estimates(failed, cell, n_groups=5)
    full = estimates(failed, cell)
    assert found.left_out == (3, 4)
    assert found.groups == 3
    assert found.uniform == full.uniform
    assert found.average == full.average


def test_a_group_that_a_model_did_not_judge_is_left_out(grouped: tuple[Any, Any]) -> None:
    failed, cell = grouped
    judged = np.ones_like(failed)
    judged[cell == 1, 2] = False
    found = estimates(failed & judged, cell, judged)
    rest = cell != 1
    assert found.left_out == (1,)
    assert found.uniform.value == pytest.approx(by_definition(failed[rest], cell[rest])[1])


def test_a_single_group() -> None:
    failed = np.array([[1, 1], [1, 0], [0, 0]])
    found = estimates(failed, [0, 0, 0], count=[10, 10, 30])
    assert (found.average.value, found.uniform.value, found.worst.value) == pytest.approx((1, 1, 1))
    assert found.uniform.low is None
    assert "one group" in found.uniform.reason
    assert found.spread.value is None
    assert found.spread_p_value is None


def test_no_group_a_perfect_model_and_one_model(rng: np.random.Generator) -> None:
    nothing = group_homogenization(np.zeros((0, 2)), np.zeros((0, 2)), [], None, None, [], 0)
    assert nothing.uniform.value is None
    assert not nothing.reliable
    failed = rng.random((100, 3)) < 0.5
    failed[:, 1] = False
    perfect = estimates(failed, np.arange(100) % 2, rng=rng)
    assert perfect.worst.value is None
    assert "0 is expected" in perfect.worst.reason
    one = estimates(failed[:, :1], np.arange(100) % 2)
    assert "one model" in one.uniform.reason


def test_a_group_without_failures_has_product_0(grouped: tuple[Any, Any], rng: np.random.Generator) -> None:
    failed, cell = grouped
    failed = failed.copy()
    failed[cell == 0, 1] = False
    found = estimates(failed, cell, rng=rng)
    assert found.uniform.value == pytest.approx(by_definition(failed, cell)[1])
    assert found.uniform.low is None
    assert "fewer than 5" in found.uniform.reason
    assert found.worst_group in {1, 2}
    assert found.spread_p_value is not None


@pytest.mark.parametrize("k", [120, 1000])
def test_many_models_neither_underflow_nor_crash(k: int, rng: np.random.Generator) -> None:
    cell = np.arange(3000) % 3
    failed = rng.random((3000, k)) < 0.1 * (1 + 0.2 * cell)[:, None]
    found = estimates(failed, cell, rng=rng, draws=99)
    rates = np.array([failed[cell == g].mean(axis=0) for g in range(3)])
    log_worst = np.log(rates[2]).sum() - np.log(failed.mean(axis=0)).sum()
    assert found.worst.value == pytest.approx(math.exp(log_worst), rel=1e-9)
    assert found.uniform.value == pytest.approx(math.exp(log_worst) / 3, rel=0.01)
    assert found.spread_p_value == pytest.approx(1 / 100)


def test_wrong_group_indices_are_refused() -> None:
    with pytest.raises(ValueError, match="group indices"):
        estimates([[1, 0], [0, 1]], [0, 3], n_groups=2)


# ---- corrections and variances ---------------------------------------------------------------------------------


def jackknifed(failed: Any, cell: Any, unit: Any, measure: int, weight: Any = None) -> float:
    """Jackknife by brute force: leave out one individual of one group at a time, or one cluster of all groups."""
    value = by_definition(failed, cell, weight)[measure]
    clustered = len(np.unique(unit)) < len(unit)
    result = value
    for part in [cell >= 0] if clustered else [cell == g for g in np.unique(cell)]:
        units = np.unique(unit[part])
        for u in units:
            keep = unit != u
            left = by_definition(failed[keep], cell[keep], None if weight is None else weight[keep])[measure]
            result += (len(units) - 1) / len(units) * (value - left)
    return result


@pytest.mark.parametrize("kind", ["plain", "weighted", "clustered"])
def test_corrections_are_the_jackknife(grouped: tuple[Any, Any], kind: str, rng: np.random.Generator) -> None:
    failed, cell = grouped
    unit, weight, more = np.arange(200), None, {}
    if kind == "weighted":
        weight = rng.random(200) + 0.5
        more = {"weight": weight, "weight_squared": weight**2}
    if kind == "clustered":
        unit = rng.integers(0, 25, 200)
        more = {"cluster": unit}
    found = estimates(failed, cell, **more)
    assert found.average_corrected.value == pytest.approx(jackknifed(failed, cell, unit, 0, weight), rel=1e-9)
    assert found.uniform_corrected.value == pytest.approx(jackknifed(failed, cell, unit, 1, weight), rel=1e-9)


def test_corrections_do_not_depend_on_how_rows_are_grouped(grouped: tuple[Any, Any]) -> None:
    failed, cell = grouped
    table, count = np.unique(np.column_stack([failed, cell]), axis=0, return_counts=True)
    grouped_rows = estimates(table[:, :3], table[:, 3], count=count)
    single_rows = estimates(failed, cell)
    for name in ("average", "uniform", "worst", "average_corrected", "uniform_corrected", "worst_corrected"):
        assert getattr(grouped_rows, name)[:3] == pytest.approx(getattr(single_rows, name)[:3], rel=1e-9)


def test_small_identical_groups_are_marked_and_corrected(rng: np.random.Generator) -> None:
    """Statistics.md: eight identical groups of 30 give uniform 3.7 at k = 10 instead of 1."""
    plain, corrected, biases = [], [], []
    for _ in range(60):
        hard = rng.random(240) < 0.3
        failed = rng.random((240, 10)) < np.where(hard, 0.9, 0.2)[:, None]
        found = estimates(failed, np.arange(240) % 8)
        assert not found.reliable
        assert found.uniform.low is None
        plain.append(found.uniform.value)
        corrected.append(found.uniform_corrected.value)
        biases.append(found.relative_bias)
    assert np.mean(plain) > 1.4
    assert abs(np.mean(corrected) - 1) < abs(np.mean(plain) - 1) / 2
    assert np.mean(biases) > 0.5


def test_relative_bias_has_its_closed_form(grouped: tuple[Any, Any]) -> None:
    failed, cell = grouped
    rates = group_rates(np.ones_like(failed), failed, np.ones(200), None, None, cell, 3, None)
    for g, found in enumerate(relative_biases(rates, group_variances(rates))):
        own = failed[cell == g]
        f = own.mean(axis=0)
        joint = own.T @ own.astype(float) / len(own)
        by_hand = sum(joint[j, m] / (f[j] * f[m]) - 1 for j, m in itertools.combinations(range(3), 2)) / len(own)
        assert found == pytest.approx(abs(by_hand), rel=1e-9)


def test_variances_agree_with_the_bootstrap(grouped: tuple[Any, Any], rng: np.random.Generator) -> None:
    failed, cell = grouped
    failed, cell = np.repeat(failed, 5, axis=0), np.repeat(cell, 5)
    count = np.ones(1000)
    rates = group_rates(np.ones_like(failed), failed, count, None, None, cell, 3, None)
    logs = []
    for draw in rng.multinomial(1000, np.full(1000, 1 / 1000), 800):
        again = group_rates(np.ones_like(failed), failed, draw, None, None, cell, 3, None)
        average, uniform, _ = np.log(by_definition(failed, cell, draw))
        logs.append([average, uniform, *again.log_products, *(again.log_products - again.log_expected)])
    variance, found = np.var(logs, axis=0), group_variances(rates)
    of_average, of_uniform = (
        mean.variance + found.expected - 2 * mean.covariance for mean in (found.average, found.uniform)
    )
    assert of_average == pytest.approx(variance[0], rel=0.2)
    assert of_uniform == pytest.approx(variance[1], rel=0.2)
    assert found.products == pytest.approx(variance[2:5], rel=0.2)
    assert found.ratios == pytest.approx(variance[5:8], rel=0.2)


def test_clusters_over_several_groups_enter_the_variance(rng: np.random.Generator) -> None:
    """Each cluster reaches over both groups: the variance of a ratio is that over resampled clusters."""
    cluster, cell = np.repeat(np.arange(60), 20), np.tile([0, 1], 600)
    effect = rng.normal(0, 1, 60)[cluster]
    failed = rng.normal(size=(1200, 2)) + effect[:, None] > 0.4
    rates = group_rates(np.ones_like(failed), failed, np.ones(1200), None, None, cell, 2, cluster)
    logs = []
    for draw in rng.multinomial(60, np.full(60, 1 / 60), 800):
        again = group_rates(np.ones_like(failed), failed, draw[cluster], None, None, cell, 2, None)
        logs.append([*(again.log_products - again.log_expected), *again.log_products])
    variance, found = np.var(logs, axis=0), group_variances(rates)
    assert found.ratios == pytest.approx(variance[:2], rel=0.25)
    assert found.products == pytest.approx(variance[2:], rel=0.25)


@pytest.mark.parametrize("clustered", [False, True])
def test_second_order_is_the_variance_of_pairs_of_errors(clustered: bool, rng: np.random.Generator) -> None:
    cell, unit = np.tile([0, 0, 1], 100), np.repeat(np.arange(60), 5) if clustered else np.arange(300)
    failed = (rng.random((300, 3)) < 0.3) | (rng.random(unit.max() + 1) < 0.2)[unit][:, None]
    cluster = unit if clustered else None
    rates = group_rates(np.ones_like(failed), failed, np.ones(300), None, None, cell, 2, cluster)
    for g, found in enumerate(group_variances(rates).second_order):
        pairs = []
        size = unit.max() + 1
        for draw in rng.multinomial(size, np.full(size, 1 / size), 4000)[:, unit]:
            own = (draw * (cell == g)) @ failed / (draw * (cell == g)).sum() / (rates.failed / rates.judged)[g]
            error = own - draw @ failed / 300 / failed.mean(axis=0)
            pairs.append(sum(error[j] * error[m] for j, m in itertools.combinations(range(3), 2)))
        assert found == pytest.approx(np.var(pairs), rel=0.35)


# ---- spread ------------------------------------------------------------------------------------------------


def test_spread_p_value_by_all_shuffles(rng: np.random.Generator) -> None:
    failed = np.array([[1, 1], [1, 1], [1, 0], [0, 1], [0, 0], [0, 0], [1, 0]], dtype=bool)
    cell = np.array([0, 0, 0, 1, 1, 1, 1])

    def spread(labels: Any) -> float:
        return float(np.var([failed[labels == g].mean(axis=0).prod() for g in (0, 1)], ddof=1))

    shuffles = [np.isin(np.arange(7), chosen) for chosen in itertools.combinations(range(7), 4)]
    exact = np.mean([spread(labels.astype(int)) >= spread(cell) - 1e-12 for labels in shuffles])
    found = estimates(failed, cell, rng=rng, draws=4000)
    assert found.spread_method == "4000 shuffles of the group labels"
    assert found.spread_p_value == pytest.approx(exact, abs=0.03)


def test_normal_law_of_the_rates_agrees_with_shuffles(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = np.repeat(np.arange(4), 500)
    failed = (rng.random((2000, 3)) < 0.3) | (rng.random(2000) < 0.1 + 0.02 * cell)[:, None]
    shuffled = estimates(failed, cell, rng=rng, draws=3000)
    monkeypatch.setattr(_group_spread, "_MOST_EXACT", 0)
    normal = estimates(failed, cell, rng=rng, draws=3000)
    assert "normal law" in normal.spread_method
    assert 0.001 < shuffled.spread_p_value < 0.6  # type: ignore[operator]
    assert normal.spread_p_value == pytest.approx(shuffled.spread_p_value, abs=0.04)


def test_corrected_spread_is_near_0_without_a_difference(rng: np.random.Generator) -> None:
    plain, corrected = [], []
    for _ in range(150):
        failed = rng.random((900, 3)) < 0.5
        found = estimates(failed, np.arange(900) % 6)
        plain.append(found.spread.value)
        corrected.append(found.spread_corrected.value)
    assert abs(np.mean(corrected)) < np.mean(plain) / 5


def test_weighted_or_clustered_individuals_are_not_shuffled(grouped: tuple[Any, Any], rng: np.random.Generator) -> None:
    failed, cell = grouped
    found = estimates(failed, cell, rng=rng, cluster=np.arange(200) // 4)
    assert found.spread_p_value is None
    assert "clustered" in found.spread_method
    assert found.uniform.low is not None
    few = estimates(failed, cell, rng=rng, cluster=np.arange(200) % 5)
    assert few.uniform.low is None
    assert "5 clusters" in few.uniform.reason
    assert estimates(failed, cell, census=True).worst.reason.startswith("everyone")
