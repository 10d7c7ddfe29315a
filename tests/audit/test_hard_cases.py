"""Cases in which other tools crash or mislead, and the edges of every question."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from msgspec import UNSET

from polyculture.errors import UsageError

RNG = np.random.default_rng(20)


def mixed(n=400, k=3, rate=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < rate + 0.4 * (rng.random((n, 1)) < 0.3)


def test_every_undefined_statistic_says_why(audit, statistics):
    failed = mixed()
    failed[:, 0] = False
    found = audit(failed, groups={"g": ["a"] * 395 + ["b"] * 5})
    for path, statistic in statistics(found):
        if statistic.value is None or statistic.low is None or statistic.high is None:
            assert statistic.reason is not UNSET, path
            assert statistic.reason, path
        else:
            assert statistic.low < statistic.high, path
            assert statistic.low <= statistic.value <= statistic.high, path
            assert statistic.method, path


def test_the_record_is_plain_json(audit):
    found = audit(mixed(), groups={"g": ["a", "b"] * 200})
    text = msgspec.json.encode(found)
    assert msgspec.json.decode(text, type=type(found)) == found
    assert b"NaN" not in text


def test_one_model_has_nothing_to_homogenize(audit):
    found = audit(mixed(k=1), groups={"g": ["a", "b"] * 200})
    assert found.individuals == 400
    assert "nothing to homogenize" in found.headline
    assert found.systemic_failure.observed.value == found.models[0].failure_rate.value
    for figure in (found.systemic_failure.ratio, found.systemic_failure.difference):
        assert figure.value is None
        assert "nothing to homogenize" in figure.reason
    assert found.systemic_failure.p_value is None
    assert found.profile_p_value is None
    assert found.nulls == ()
    assert found.pairs == ()
    assert found.group_homogenization.average.value is None
    assert any("one model only" in note for note in found.notes)


def test_nobody_judged_by_two_models(audit):
    judged = np.eye(4, dtype=bool)[np.arange(200) % 4]
    found = audit(np.ones((200, 4), bool), judged, groups={"g": ["a"] * 100 + ["b"] * 100})
    assert found.individuals == 0
    assert found.judged_too_little == {1: 200}
    assert found.systemic_failure.expected is None
    assert found.systemic_failure.observed.value is None
    assert found.profile == ()
    assert "nothing to report" in found.headline
    # Products of group rates need no individual whom several models judged: on request everyone counts.
    assert found.group_homogenization.uniform.value is None
    assert found.group_homogenization.left_out == {"judged by fewer than 2 models": 200}
    every = audit(np.ones((200, 4), bool), judged, groups={"g": ["a"] * 100 + ["b"] * 100}, min_judged=1)
    assert every.group_homogenization.uniform.value == pytest.approx(1.0)
    assert every.group_homogenization.individuals == 200


def test_an_empty_group_is_no_error_rate(audit):
    # Model m1 judged nobody in group b: its product is undefined there, and certainly not 1.
    failed = np.array([[1, 1], [0, 0], [1, 0], [0, 1]] * 50 + [[1, 0], [0, 0]] * 50, dtype=bool)
    failed = np.column_stack([failed, failed[:, 0]])
    judged = np.ones_like(failed)
    judged[200:, 1] = False
    found = audit(failed, judged, groups={"g": ["a"] * 200 + ["b"] * 100}).group_homogenization
    assert found.groups == 1
    assert found.left_out == {"in groups that not every model judged": 100}
    assert found.individuals == 200
    assert found.uniform.value == pytest.approx(1.0)


def test_a_single_group(audit):
    found = audit(mixed(), groups={"g": ["everyone"] * 400})
    homogenization = found.group_homogenization
    assert [homogenization.average.value, homogenization.uniform.value, homogenization.worst.value] == pytest.approx(
        [1.0, 1.0, 1.0]
    )
    assert homogenization.spread.value is None
    assert found.groups[0].contrast is None
    assert found.gaps[0].groups == 1
    assert found.gaps[0].systemic_failure_difference.value is None


def test_a_perfect_model(audit):
    failed = mixed()
    failed[:, 1] = False
    found = audit(failed, models=["one", "flawless", "three"])
    assert found.systemic_failure.count == 0
    assert found.systemic_failure.expected == 0.0
    assert found.systemic_failure.ratio.value is None
    assert found.systemic_failure.observed.high > 0
    assert any("'flawless'" in note for note in found.notes)
    assert "a model failed nobody" in found.headline


def test_two_perfect_models_and_nobody_failed_at_all(audit):
    found = audit(np.zeros((100, 2), bool))
    assert found.consistent_success.observed.value == 1.0
    assert found.consistent_success.observed.low < 1.0
    assert found.systemic_failure.ratio.value is None
    assert found.headline.startswith("None of 100 individuals (0 %, 95 % interval 0 to ")


def test_everybody_failed_by_everybody(audit):
    found = audit(np.ones((100, 3), bool))
    assert found.systemic_failure.observed.value == 1.0
    assert found.systemic_failure.ratio.value == pytest.approx(1.0)
    assert found.consistent_success.observed.value == 0.0


def test_120_models_do_not_underflow(audit):
    rng = np.random.default_rng(3)
    failed = rng.random((300, 120)) < 0.01 + 0.3 * (rng.random((300, 1)) < 0.2)
    failed[:2] = True
    failed[2:4] = False
    found = audit(failed, groups={"g": ["a", "b"] * 150})
    rates = failed.mean(axis=0)
    log10_expected = np.log10(rates).sum()
    assert found.systemic_failure.log10_expected == pytest.approx(log10_expected)
    assert found.systemic_failure.log10_ratio.value == pytest.approx(math.log10(2 / 300) - log10_expected)
    assert found.profile[-1].expected == pytest.approx(10**log10_expected, rel=1e-9)
    assert math.isfinite(found.group_homogenization.uniform.value)
    assert sum(row.expected for row in found.profile) == pytest.approx(1.0)


@pytest.mark.parametrize("census", [True, pytest.param(False, marks=pytest.mark.full)])
def test_1000_models(audit, statistics, census):
    rng = np.random.default_rng(4)
    failed = rng.random((200, 1000)) < 0.2 + 0.5 * (rng.random((200, 1)) < 0.2)
    failed[:5] = True
    failed[:, 7] |= ~failed.any(axis=1)
    found = audit(failed, census=census)
    assert found.systemic_failure.count == 5
    assert found.systemic_failure.expected == 0.0
    assert found.systemic_failure.log10_expected < -300
    assert found.systemic_failure.ratio.value is None
    assert "log10_ratio" in found.systemic_failure.ratio.reason
    assert found.pairs == ()
    assert len(found.profile) == 1001
    for _, statistic in statistics(found):
        for number in (statistic.value, statistic.low, statistic.high):
            assert number is None or math.isfinite(number)


def test_300_models_do_not_wrap_around(audit):
    failed = np.zeros((100, 300), bool)
    failed[:40] = True
    found = audit(failed, census=True)
    assert found.systemic_failure.count == 40
    assert [row.failed for row in found.profile if row.count] == [0, 300]
    assert found.pairs[0].both_failed == 40
    assert len(found.pairs) == 300 * 299 // 2


def test_missing_outcomes_are_not_zero(audit):
    failed = np.array([[1, 1, 0]] * 60 + [[1, 0, 0]] * 40, dtype=bool)
    judged = np.ones_like(failed)
    judged[:60, 2] = False
    found = audit(failed, judged)
    # Sixty are failed by every model that judged them; were missing 0, nobody would be.
    assert found.systemic_failure.count == 60
    assert found.models[2].judged == 40
    assert found.models[2].failure_rate.value == 0.0
    # Each against its own models: 60 by the first two, 40 by all three of whom the third fails nobody.
    assert found.systemic_failure.expected == pytest.approx(0.6 * 1.0 * 0.6)
    assert "every model that judged them" in found.headline
    assert {(row.judged, row.failed): row.count for row in found.profile if row.count} == {(2, 2): 60, (3, 1): 40}
    assert any("Not every model judged every individual" in note for note in found.notes)


def test_baseline_of_unequal_sets_is_the_mean_over_individuals(audit):
    rng = np.random.default_rng(5)
    failed, judged = mixed(n=600, k=4), rng.random((600, 4)) < 0.7
    found = audit(failed & judged, judged, min_judged=1)
    kept = judged.any(axis=1)
    failed, judged = (failed & judged)[kept], judged[kept]
    rates = failed.sum(axis=0) / judged.sum(axis=0)
    assert found.systemic_failure.expected == pytest.approx(np.where(judged, rates, 1.0).prod(axis=1).mean())
    assert found.consistent_success.expected == pytest.approx(np.where(judged, 1 - rates, 1.0).prod(axis=1).mean())
    total = 0.0
    for row in found.profile:
        share = (judged.sum(axis=1) == row.judged).mean()
        if row.judged == row.failed:
            total += share * row.expected
    assert total == pytest.approx(found.systemic_failure.expected)
    assert found.individuals == kept.sum() == sum(row.count for row in found.profile)


def test_those_judged_too_little_are_counted_and_left_out(audit):
    failed, judged = mixed(n=300), np.ones((300, 3), bool)
    judged[:50, 1:] = False
    judged[50:60] = False
    found = audit(failed & judged, judged)
    assert found.individuals == 240
    assert found.judged_too_little == {0: 10, 1: 50}
    assert sum(row.count for row in found.profile) == 240
    assert found.models[0].judged == 290
    assert found.systemic_failure.observed.value == pytest.approx(failed[60:].all(axis=1).mean())


def test_one_person_one_pattern(audit):
    found = audit([[1, 1, 0]])
    assert found.individuals == 1
    assert found.systemic_failure.expected == 0.0


def test_a_correction_that_does_not_exist(audit):
    with pytest.raises(UsageError, match="bonferroni"):
        audit(mixed(), groups={"g": ["a", "b"] * 200}, correction="bonferroni")


def test_census_has_values_and_no_uncertainty(audit, statistics):
    found = audit(mixed(), groups={"g": ["a", "b"] * 200}, census=True)
    values = 0
    for path, statistic in statistics(found):
        assert statistic.low is None, path
        assert statistic.high is None, path
        assert statistic.reason, path
        values += statistic.value is not None
    assert values > 20
    assert found.systemic_failure.observed.reason.startswith("census")
    assert found.systemic_failure.p_value is None
    assert found.profile_p_value is None
    assert found.groups[0].contrast.p_value is None
    assert found.group_homogenization.spread_p_value is None
    assert found.gaps[0].p_value is None
    assert "interval" not in found.headline


def test_a_reading_of_no_answer(audit_of_tally):
    import polars as pl

    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.tally import Tally

    answers = ["right"] * 60 + ["wrong"] * 30 + ["ERROR"] * 10
    frame = pl.DataFrame({"a": answers, "b": answers, "truth": ["right"] * 100})
    mapping = Mapping(models=("a", "b"), label="truth", no_answer_values=("ERROR",))
    found = audit_of_tally(Tally.of(Outcomes(frame, mapping)))
    assert found.systemic_failure.observed.value == pytest.approx(0.4)
    assert found.models[0].no_answer == 10
    assert found.models[0].no_answer_rate.value == pytest.approx(0.1)
    assert found.no_answer.other == "missing"
    assert found.no_answer.individuals == 90
    assert found.no_answer.systemic_failure.observed.value == pytest.approx(30 / 90)
    missing = audit_of_tally(Tally.of(Outcomes(frame, Mapping(**{**msgspec_like(mapping), "no_answer": "missing"}))))
    assert missing.systemic_failure.observed.value == pytest.approx(30 / 90)
    assert missing.models[0].no_answer_rate.value == pytest.approx(0.1)
    assert missing.no_answer.systemic_failure.observed.value == pytest.approx(0.4)


def msgspec_like(mapping):
    return {"models": mapping.models, "label": mapping.label, "no_answer_values": mapping.no_answer_values}


def test_no_answers_at_all_means_no_other_reading(audit):
    assert audit(mixed()).no_answer is None
