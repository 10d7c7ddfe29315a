"""Measures of whole collections: identities, values of statistics.md, reasons, and what does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.intervals import jeffreys
from polyculture.stats.similarity import cells_of, pair_similarity
from polyculture.stats.similarity.collection import capa_of_all, effective_number, fleiss, mean_phi
from polyculture.stats.similarity.multiplicity import (
    ambiguity,
    baseline_model,
    discrepancy,
    recourse,
)


def table(failed, judged=None, **options):
    flags = np.asarray(failed, dtype=bool)
    known = np.ones_like(flags) if judged is None else np.asarray(judged, dtype=bool)
    return make_rows(known, flags & known, options.pop("count", np.ones(len(flags))), **options)


def failures(n=600, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < np.linspace(0.1, 0.3, k) + 0.4 * (rng.random((n, 1)) < 0.3)


def everything(rows):
    cells = cells_of(rows)
    return {
        "n_eff": effective_number(rows, cells),
        "mean_phi": mean_phi(rows, cells),
        "fleiss": fleiss(rows),
        "capa": capa_of_all(rows, pair_similarity(cells, rows, two_options=True)),
    }


def test_n_eff_is_k_over_one_plus_k_less_one_phi_where_rates_are_equal():
    # Of all patterns with one or three of four failures: equal rates, equal correlations.
    rows = table(np.vstack([np.eye(4), 1 - np.eye(4), np.zeros((3, 4))]))
    cells = cells_of(rows)
    phi = mean_phi(rows, cells).value
    assert effective_number(rows, cells).value == pytest.approx(4 / (1 + 3 * phi))


def test_n_eff_with_unequal_rates_is_k_variance_of_independence_over_variance_of_t():
    failed = failures()
    f, t = failed.mean(axis=0), failed.sum(axis=1)
    rows = table(failed)
    assert effective_number(rows, cells_of(rows)).value == pytest.approx(5 * (f * (1 - f)).sum() / t.var())


def test_copies_of_one_model_count_as_one_and_opposites_as_more_than_all():
    one = failures(k=1)
    rows = table(np.repeat(one, 6, axis=1))
    assert effective_number(rows, cells_of(rows)).value == pytest.approx(1.0)
    rows = table([[1, 0], [0, 1], [1, 0], [0, 0]])
    assert effective_number(rows, cells_of(rows)).value > 2


def test_constant_models_are_left_out_of_n_eff():
    failed = failures()
    more = np.column_stack([failed, np.zeros(len(failed)), np.ones(len(failed))])
    rows, without = table(more), table(failed)
    assert effective_number(rows, cells_of(rows)) == effective_number(without, cells_of(without))


def test_few_co_failures_give_no_interval():
    failed = np.zeros((200, 3), dtype=bool)
    failed[:20, 0], failed[16:40, 1], failed[50:80, 2] = True, True, True
    rows = table(failed)
    found = effective_number(rows, cells_of(rows))
    assert found.value is not None
    assert found.low is None
    assert found.reason == "fewer than 5 individuals are failed by two or more models"


def test_mean_phi_is_the_mean_of_correlations():
    failed = failures()
    correlations = np.corrcoef(failed.T)[np.triu_indices(5, 1)]
    rows = table(failed)
    assert mean_phi(rows, cells_of(rows)).value == pytest.approx(correlations.mean())


def test_fleiss_of_the_textbook():
    # Fleiss (1971) for two categories: 4 raters, counts of "fail" 0, 4, 2, 3, 1; P = (1 + 1 + 1/3 + 1/2 + 1/2) / 5.
    failed = np.zeros((5, 4), dtype=bool)
    for row, count in enumerate([0, 4, 2, 3, 1]):
        failed[row, :count] = True
    observed, expected = (1 + 1 + 1 / 3 + 1 / 2 + 1 / 2) / 5, 0.5
    assert fleiss(table(failed)).value == pytest.approx((observed - expected) / (1 - expected))


def test_capa_for_all_averages_before_the_ratio():
    rows = table(failures())
    found = pair_similarity(cells_of(rows), rows)
    upper = np.triu_indices(5, 1)
    observed, expected = found.observed[upper].mean(), found.expected[upper].mean()
    value = capa_of_all(rows, found).value
    assert value == pytest.approx((observed - expected) / (1 - expected))
    assert value != pytest.approx(found.capa.value[upper].mean(), abs=1e-6)


def test_of_two_models_the_collection_is_the_pair():
    rows = table(failures(k=2))
    found = pair_similarity(cells_of(rows), rows, two_options=True)
    assert mean_phi(rows, cells_of(rows)).value == pytest.approx(found.phi.value[0, 1])
    assert capa_of_all(rows, found).value == pytest.approx(found.kappa.value[0, 1])


@pytest.mark.parametrize("missing", [False, True])
def test_influences_are_those_of_leaving_one_out(missing):
    rng = np.random.default_rng(5)
    failed = failures(n=120, k=4)
    judged = rng.random(failed.shape) < 0.8 if missing else np.ones_like(failed)
    whole = everything(table(failed, judged))
    n = len(failed)
    left = [everything(table(np.delete(failed, i, 0), np.delete(judged, i, 0))) for i in range(n)]
    for name, found in whole.items():
        values = np.array([one[name].value for one in left])
        jackknife = np.sqrt((n - 1) / n * np.square(values - values.mean()).sum())
        slope = 1 / found.value if name == "n_eff" else 1.0
        width = np.log(found.high / found.low) if name == "n_eff" else found.high - found.low
        # Half the width is about two standard errors; t quantiles and the curved scales move it a little.
        assert width / 4 == pytest.approx(jackknife * slope, rel=0.17), name


def test_counts_are_rows_and_equal_weights_are_none():
    failed, count = failures(n=80), np.arange(80) % 4 + 1
    counted, repeated = table(failed, count=count), table(np.repeat(failed, count, axis=0))
    weighted = table(failed, count=count, weight=3.0 * count, weight_squared=9.0 * count)
    for name, found in everything(counted).items():
        for other in (repeated, weighted):
            again = everything(other)[name]
            assert (found.value, found.low, found.high) == pytest.approx((again.value, again.low, again.high)), name


def test_clusters_widen_intervals_and_few_of_them_give_none():
    failed = failures(n=200)
    repeated = np.repeat(failed, 5, axis=0)
    clusters = np.repeat(np.arange(200), 5)
    plain, clustered = everything(table(repeated)), everything(table(repeated, cluster=clusters))
    few = everything(table(repeated, cluster=clusters % 9))
    for name in plain:
        ratio = (clustered[name].high - clustered[name].low) / (plain[name].high - plain[name].low)
        assert ratio == pytest.approx(np.sqrt(5), rel=0.1), name
        assert few[name].low is None
        assert "9 clusters" in few[name].reason


def test_nothing_to_measure_is_undefined_with_a_reason():
    for failed in (np.zeros((5, 3)), np.ones((5, 3)), [[1, 0], [1, 0]]):
        for found in everything(table(failed)).values():
            if found.value is None:
                assert found.reason
            else:
                assert found.low is not None or found.reason


def test_ambiguity_and_discrepancy_of_the_definition():
    failed = failures(n=300, k=4)
    rows = table(failed)
    baseline = baseline_model(cells_of(rows))
    assert baseline == int(failed.mean(axis=0).argmin())
    differs = failed != failed[:, [baseline]]
    assert ambiguity(rows, baseline).value == pytest.approx(differs.any(axis=1).mean())
    found, model = discrepancy(rows, cells_of(rows), baseline)
    assert found.value == pytest.approx(differs.mean(axis=0).max())
    assert model == int(differs.mean(axis=0).argmax())
    others = [j for j in range(4) if j != baseline]
    limits = [jeffreys(int(differs[:, j].sum()), 300, 0.95 ** (1 / 3)) for j in others]  # Sidak
    assert found.low == pytest.approx(max(limit.low for limit in limits))
    assert found.high == pytest.approx(max(limit.high for limit in limits))
    weighted = make_rows(np.ones_like(failed), failed, np.ones(300), np.full(300, 2.0), np.full(300, 4.0))
    again, _ = discrepancy(weighted, cells_of(weighted), baseline)
    assert again[:3] == pytest.approx(found[:3])  # equal weights change nothing, by the other way of counting


def test_baseline_ties_go_to_the_first_and_nobody_has_none():
    assert baseline_model(cells_of(table([[1, 0, 0], [1, 0, 0]]))) == 1


def test_recourse_counts_individuals_by_share_of_models():
    rows = table([[0, 0], [1, 0], [0, 1], [1, 1], [1, 1]])
    found = recourse(rows, rows.judged & ~rows.failed)
    assert found.low.tolist() == [0.0, 0.5, 1.0]
    assert found.count.tolist() == [2.0, 2.0, 1.0]
    assert [one.value for one in found.observed] == pytest.approx([0.4, 0.4, 0.2])
    tenths = recourse(rows, rows.judged & ~rows.failed, most=2)
    assert tenths.count[[0, 4, 9]].tolist() == [2.0, 2.0, 1.0]
    assert tenths.count.sum() == 5
