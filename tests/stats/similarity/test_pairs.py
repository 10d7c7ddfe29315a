"""Measures of pairs: values of papers and of public code, reasons where undefined, and what does not matter."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import Answers, Cells, cells_from_tables, cells_of, pair_similarity
from polyculture.stats.similarity.capa import capa_expected, capa_probabilities
from polyculture.stats.similarity.error_consistency import kappa, kappa_of
from polyculture.stats.similarity.overlap import jaccard
from polyculture.stats.similarity.pairs import CONSTANT, FLAGS, NEITHER, NOBODY, TWO
from polyculture.stats.similarity.phi import phi
from polyculture.tally.probabilities import tables_of_arrays

ORACLES = json.loads((Path(__file__).parents[2] / "cases" / "similarity_oracles.json").read_text())
MEASURES = ("phi", "kappa", "capa", "jaccard")


def table(failed, judged=None, **options):
    flags = np.asarray(failed, dtype=bool)
    known = np.ones_like(flags) if judged is None else np.asarray(judged, dtype=bool)
    return make_rows(known, flags & known, np.ones(len(flags)), **options)


def measured(failed, judged=None, **options):
    rows = table(failed, judged)
    return pair_similarity(cells_of(rows), rows, **options)


def random_failures(n=400, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < 0.15 + 0.4 * (rng.random((n, 1)) < 0.3)


def moments(given, right, options):
    """Return the moments of (N, k, options) probabilities with the right option's place and the number of options."""
    hit = np.take_along_axis(given, right[:, None, None], axis=2)[:, :, 0]
    return tables_of_arrays(given, np.ones_like(hit), hit, 1 / (options - 1), np.ones(len(given))).pairs


def test_table_5_of_the_paper():
    one, two = [[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.6, 0.4]]
    given = np.array([one, two]).transpose(1, 0, 2)
    found = capa_probabilities(moments(given, np.array([0, 1]), np.array([2, 2])))
    assert found.value[0, 1] == pytest.approx(0.212121, abs=1e-6)
    assert found.observed[0, 1] == pytest.approx(0.61)
    assert found.expected[0, 1] == pytest.approx(0.505)
    assert found.variance[0, 1] > 0
    # Of the hard answers both models say the first option twice: right once, wrong once.
    assert kappa(cells_of(table([[0, 0], [1, 1]])))[0, 1] == 1.0


def test_the_other_chances_of_the_paper_are_around_the_same_observed_agreement():
    """Cohen and Scott take mean probabilities of the options for chance, CAPA those on the right one."""
    one, two = np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([[0.7, 0.3], [0.6, 0.4]])
    given = np.stack([one, two], axis=1)
    observed = capa_probabilities(moments(given, np.array([0, 1]), np.array([2, 2]))).observed
    cohen = float(one.mean(axis=0) @ two.mean(axis=0))
    scott = float(((one.mean(axis=0) + two.mean(axis=0)) / 2) @ ((one.mean(axis=0) + two.mean(axis=0)) / 2))
    assert (cohen, scott) == (pytest.approx(0.605), pytest.approx(0.625))
    assert kappa_of(observed[0, 1], np.array(cohen)) == pytest.approx(0.012658, abs=1e-6)
    assert kappa_of(observed[0, 1], np.array(scott)) == pytest.approx(-0.04)


def test_the_formula_alone_with_accuracies_that_no_hard_labels_give():
    assert kappa_of(np.array(0.5), capa_expected(np.array(0.2), np.array(0.8), 1.0)) == pytest.approx(0.2647, abs=5e-5)
    # Scott's pi takes the mean accuracy of both for chance: .5 of .5 observed, and nothing is left.
    assert kappa_of(np.array(0.5), capa_expected(np.array(0.5), np.array(0.5), 1.0)) == 0.0


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "value"),
    [(0, 3, 4, 9, 0.0), (1, 1, 1, 5, 1 / 3), (7, 0, 0, 0, 1.0)],
)
def test_jaccard_of_error_sets(both, first, second, neither, value):
    assert jaccard(Cells(*(np.array([[x]], float) for x in (both, first, second, neither))))[0, 0] == value


def test_jaccard_of_no_errors_is_undefined():
    found = measured([[0, 0], [0, 0]])
    assert np.isnan(found.jaccard.value[0, 1])
    assert found.jaccard.reason(0, 1) == NEITHER


@pytest.mark.parametrize("failed", [[[0, 0], [0, 1]], [[1, 1], [1, 0]], [[0, 0], [0, 0]], [[1, 1], [1, 1]]])
def test_constant_and_perfect_models_are_undefined_with_a_reason(failed):
    found = measured(failed)
    for name in ("phi", "kappa", "capa"):
        measure = getattr(found, name)
        assert np.isnan([measure.value[0, 1], measure.low[0, 1], measure.high[0, 1]]).all()
        assert measure.reason(0, 1) == CONSTANT


def test_pairs_with_nobody_in_common_are_undefined_with_a_reason():
    found = measured([[1, 0], [0, 0], [0, 1], [0, 0]], [[1, 0], [1, 0], [0, 1], [0, 1]])
    for name in (*MEASURES, "agree_when_both_wrong"):
        assert np.isnan(getattr(found, name).value[0, 1])
        assert getattr(found, name).reason(0, 1) == NOBODY


def test_phi_is_the_correlation_and_kappa_is_cohens():
    failed = random_failures()
    found = measured(failed)
    assert found.phi.value[0, 1] == pytest.approx(np.corrcoef(failed.T)[0, 1])
    a, b = (1 - failed.mean(axis=0))[:2]
    agree, chance = (failed[:, 0] == failed[:, 1]).mean(), a * b + (1 - a) * (1 - b)
    assert found.kappa.value[0, 1] == pytest.approx((agree - chance) / (1 - chance))


def test_values_of_the_public_code():
    given = np.array(ORACLES["probabilities"]).transpose(1, 0, 2)
    truth, options = np.array(ORACLES["truth"]), np.array(ORACLES["options"])
    soft = capa_probabilities(moments(given, truth, options)).value
    answers = given.argmax(axis=2)
    wrong = answers != truth[:, None]
    same = np.array([[(wrong[:, i] & (answers[:, i] == answers[:, j])).sum() for j in range(4)] for i in range(4)])
    chance = np.full((4, 4), (1 / (options - 1)).mean())
    hard = measured(wrong, answers=Answers(same.astype(float), chance, chance, "options of each item"))
    for pair in ORACLES["pairs"]:
        one, other = pair["models"]
        assert soft[one, other] == pytest.approx(pair["capa"], abs=1e-9)
        assert hard.capa.value[one, other] == pytest.approx(pair["capa_hard"], abs=1e-9)
        assert hard.kappa.value[one, other] == pytest.approx(pair["kappa"], abs=1e-9)


def test_two_option_capa_is_error_consistency():
    found = measured(random_failures(), two_options=True)
    assert np.allclose(found.capa.value, found.kappa.value, equal_nan=True)
    assert np.allclose(found.capa.low, found.kappa.low)
    assert np.allclose(found.agree_when_either_wrong.value, found.jaccard.value)
    assert found.agree_when_both_wrong.reason(0, 1) == TWO


def test_flags_alone_give_exact_match_and_no_agreement_of_answers():
    failed = random_failures()
    found = measured(failed)
    right = 1 - failed.mean(axis=0)
    observed, expected = (~failed[:, 0] & ~failed[:, 1]).mean(), right[0] * right[1]
    assert found.capa.value[0, 1] == pytest.approx((observed - expected) / (1 - expected))
    assert found.capa_method == "exact match of failure flags"
    assert found.agree_when_both_wrong.reason(0, 1) == FLAGS
    assert np.isnan(found.baseline[0, 1])


def test_agreement_when_wrong_counts_same_answers():
    rng = np.random.default_rng(4)
    truth = rng.integers(4, size=300)
    answers = np.where(rng.random((300, 3)) < 0.5, truth[:, None], rng.integers(4, size=(300, 3)))
    wrong = answers != truth[:, None]
    same = np.einsum(
        "ni,nj,nij->ij", *(x.astype(float) for x in (wrong, wrong, answers[:, :, None] == answers[:, None]))
    )
    third = np.full((3, 3), 1 / 3)
    found = measured(wrong, answers=Answers(same, third, third, "4 options"))
    both, either = wrong[:, 0] & wrong[:, 1], wrong[:, 0] | wrong[:, 1]
    agree = (answers[:, 0] == answers[:, 1]) & both
    assert found.agree_when_both_wrong.value[0, 1] == pytest.approx(agree.sum() / both.sum())
    assert found.agree_when_either_wrong.value[0, 1] == pytest.approx(agree.sum() / either.sum())
    assert found.baseline[0, 1] == pytest.approx(1 / 3)


def test_every_interval_holds_its_value_and_is_no_point():
    rng = np.random.default_rng(2)
    for n in (3, 8, 60):
        found = measured(rng.random((n, 6)) < rng.random(6))
        for name in MEASURES:
            measure = getattr(found, name)
            known = ~np.isnan(measure.value)
            assert (measure.low[known] <= measure.value[known]).all()
            assert (measure.value[known] <= measure.high[known]).all()
            assert (measure.low[known] < measure.high[known]).all()


def test_the_order_of_models_and_the_side_of_a_pair_do_not_matter():
    failed = random_failures()
    forward, backward = measured(failed), measured(failed[:, ::-1])
    for name in MEASURES:
        value = getattr(forward, name).value
        assert np.allclose(value, value.T)
        assert np.allclose(value, getattr(backward, name).value[::-1, ::-1])


def test_tables_and_patterns_give_the_same():
    rng = np.random.default_rng(3)
    failed, judged = random_failures(seed=3), rng.random((400, 5)) < 0.8
    rows = table(failed, judged)
    cells = cells_of(rows)
    flags, known = (failed & judged).astype(float), judged.astype(float)
    again = cells_from_tables(known.T @ known, flags.T @ flags, flags.T @ known)
    assert np.array_equal(cells.stacked, again.stacked)


def test_influences_are_derivatives():
    from polyculture.stats.similarity.error_consistency import kappa_influence
    from polyculture.stats.similarity.overlap import jaccard_influence
    from polyculture.stats.similarity.phi import phi_influence

    start = np.array([30.0, 20.0, 10.0, 140.0])
    step = 1e-4
    for measure, influence in ((phi, phi_influence), (kappa, kappa_influence), (jaccard, jaccard_influence)):
        cells = Cells(*start[:, None, None])
        psi = influence(cells)[:, 0, 0]
        for place in range(4):
            moved = start.copy()
            moved[place] += step
            slope = (measure(Cells(*moved[:, None, None])) - measure(cells))[0, 0] / step * start.sum()
            assert psi[place] == pytest.approx(slope, rel=1e-3, abs=1e-3)
        assert start @ psi == pytest.approx(0.0, abs=1e-9)


def test_equal_weights_are_no_weights_and_clusters_of_one_are_none():
    failed = random_failures()
    plain = measured(failed)
    two = np.full(len(failed), 2.0)
    rows = table(failed, weight=two, weight_squared=two**2)
    weighted = pair_similarity(cells_of(rows), rows)
    assert np.allclose(weighted.size, len(failed))
    rows = table(failed, cluster=np.arange(len(failed)))
    alone = pair_similarity(cells_of(rows), rows)
    for name in MEASURES:
        assert np.allclose(getattr(plain, name).low, getattr(weighted, name).low)
        assert np.allclose(getattr(plain, name).low, getattr(alone, name).low, atol=0.004)


def test_repeated_individuals_in_clusters_count_once():
    failed = random_failures(n=200)
    rows = table(np.repeat(failed, 5, axis=0), cluster=np.repeat(np.arange(200), 5))
    found = pair_similarity(cells_of(rows), rows)
    once = measured(failed)
    off = ~np.eye(5, dtype=bool)
    assert np.allclose(found.size[off], 200, rtol=0.03)
    assert np.allclose(found.kappa.low[off], once.kappa.low[off], atol=0.01)


def test_fewer_than_ten_clusters_are_descriptive():
    rows = table(random_failures(n=90), cluster=np.repeat(np.arange(9), 10))
    found = pair_similarity(cells_of(rows), rows)
    assert np.isnan(found.kappa.low[0, 1])
    assert not np.isnan(found.kappa.value[0, 1])
    assert "10 clusters" in found.kappa.reason(0, 1)


@pytest.mark.parametrize("rates", [(0.3, 0.3), (0.06, 0.5)])
def test_intervals_hold_the_truth(rates):
    rng = np.random.default_rng(8)
    cells = np.array([0.5 * min(rates), rates[0] - 0.5 * min(rates), rates[1] - 0.5 * min(rates)])
    share = np.append(cells, 1 - cells.sum())
    truth = Cells(*share[:, None, None])
    drawn = rng.multinomial(300, share, size=1500).astype(float)
    found = pair_similarity(Cells(*drawn.T[:, :, None]))
    for name, measure in (("phi", phi), ("kappa", kappa), ("jaccard", jaccard)):
        value, limits = measure(truth)[0, 0], getattr(found, name)
        assert 0.93 <= np.mean((limits.low <= value) & (value <= limits.high)) <= 0.975
