"""The record of an experiment against audits of its trials and against arithmetic by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.statistic import Statistic
from polyculture.errors import FileError, UsageError
from polyculture.lab.analysis import _ending
from polyculture.lab.measure import measure
from polyculture.lab.plan import Plan
from polyculture.lab.records import ComponentRecord
from polyculture.lab.sentences import components_sentence, direction
from polyculture.labs import Sharing
from polyculture.stats.two_way import mean_over_trials

Content = Callable[..., dict[str, Any]]


@pytest.fixture
def run(content: Content) -> Callable[..., Sharing]:
    return lambda **changed: pc.lab.sharing(content(**changed))


def whole(found: Sharing) -> dict[str, Any]:
    return {result.arm: result for result in found.results if result.learner is None and result.blocks is None}


def test_every_trial_is_measured_as_its_audit(run: Callable[..., Sharing]) -> None:
    found = run()
    measured = measure(found.store)
    for trial, (blocks, partition, model) in {0: (0, 0, 0), 3: (0, 1, 1), 10: (1, 2, 0)}.items():
        for arm, name in enumerate(found.record.arms):
            audit = pc.audit(found.outcomes(trial, name), min_cell=1)
            at = (0, blocks, arm, model, partition)
            assert measured.systemic_failure[at] == pytest.approx(audit.systemic_failure.observed.value)
            assert measured.expected[at] == pytest.approx(audit.systemic_failure.expected)
            assert audit.group_homogenization is not None
            uniform = measured.group_products[(1, *at)] / measured.group_expected[at]
            assert uniform == pytest.approx(audit.group_homogenization.uniform.value)
            accuracy = 1 - np.mean([model.failure_rate.value for model in audit.models])
            assert measured.accuracy[at] == pytest.approx(accuracy)


def test_a_trial_with_missing_labels_is_measured_as_its_audit(run: Callable[..., Sharing], table: Path) -> None:
    """Whom one decision-maker judges alone is not failed by all of them: an audit leaves such individuals out."""
    rows = pl.int_range(pl.len())
    holes = pl.read_csv(table).with_columns(
        good=pl.when(rows % 3 > 0).then("good"), amount=pl.when(rows % 4 > 0).then("amount")
    )
    holes.write_csv(table)
    tasks = [{"name": "good", "label": "good", "leave_out": ["amount"]}, {"name": "large", "label": "amount > 100"}]
    found = run(task=tasks, blocks=[2])
    measured = measure(found.store)
    for arm, name in enumerate(found.record.arms):
        audit = pc.audit(found.outcomes(0, name), min_cell=1)
        assert 0 < audit.record.individuals < found.record.tested
        at = (0, 0, arm, 0, 0)
        assert measured.systemic_failure[at] == pytest.approx(audit.systemic_failure.observed.value)
        assert measured.expected[at] == pytest.approx(audit.systemic_failure.expected)
        assert audit.group_homogenization is not None
        uniform = measured.group_products[(1, *at)] / measured.group_expected[at]
        assert uniform == pytest.approx(audit.group_homogenization.uniform.value)
        accuracy = 1 - np.mean([model.failure_rate.value for model in audit.models])
        assert measured.accuracy[at] == pytest.approx(accuracy)


def test_a_decision_maker_that_judges_nobody_is_counted(run: Callable[..., Sharing], table: Path) -> None:
    half = pl.int_range(pl.len()) < 60
    apart = pl.read_csv(table).with_columns(
        good=pl.when(half).then("good"), amount=pl.when(~half).then("amount")
    )  # whoever has one label lacks the other
    apart.write_csv(table)
    found = run(
        task=[{"name": "good", "label": "good", "leave_out": ["amount"]}, {"name": "large", "label": "amount > 100"}],
        blocks=[2],
    )
    assert found.headline == (
        "No trial has outcomes, since in each a decision-maker judges nobody whom another judges too."
    )
    assert {(fault.reason, fault.count) for fault in found.record.faults} == {("nobody judged", 6)}
    assert len(found.record.faults) == 2 * 2
    assert any(
        note.startswith("6 of 6 trials have no outcomes in at least one arm, since a decision-maker judges nobody")
        for note in found.record.notes
    )
    assert any(note.startswith("Nobody judged: 24 of 24 decision-makers trained") for note in found.record.notes)


def test_effects_are_logarithms_of_sums(run: Callable[..., Sharing]) -> None:
    found = run()
    measured = measure(found.store)
    failures, expected = measured.systemic_failure, measured.expected
    primary = found.effects[0]
    assert (primary.level, primary.against, primary.learner, primary.blocks) == ("fixed", "disjoint", None, None)
    ratios = [failures[:, :, arm].sum() / expected[:, :, arm].sum() for arm in (0, 1)]
    assert primary.log_ratio.value == pytest.approx(math.log(ratios[0] / ratios[1]))
    assert primary.ratio.value == pytest.approx(ratios[0] / ratios[1])
    arms = whole(found)
    assert arms["fixed"].homogenization.value == pytest.approx(ratios[0])
    assert arms["fixed"].systemic_failure.value == pytest.approx(failures[:, :, 0].mean())
    assert arms["disjoint"].trials == 12
    sized = [result for result in found.results if result.blocks == 4 and result.arm == "disjoint"]
    assert [(result.training_rows, result.trials) for result in sized] == [(24, 6)]
    ratio = failures[:, 1, 1].sum() / expected[:, 1, 1].sum()
    assert sized[0].homogenization.value == pytest.approx(ratio)


def test_identical_decision_makers_are_found(run: Callable[..., Sharing]) -> None:
    """Two copies with one task and everything shared fail the same people: H is 1 / the failure rate."""
    found = run(task=[{"name": "good", "label": "good", "copies": 2}], blocks=[4], model_seeds=5, partition_seeds=8)
    effect = found.effects[0]
    assert direction(effect.log_ratio) == "more"
    assert found.headline.startswith("Decision-makers that share training rows fail the same individuals more: H is")
    fixed = whole(found)["fixed"]
    assert fixed.systemic_failure.value == pytest.approx(1 - fixed.accuracy.value)


def test_a_factorial_experiment_names_the_component_that_matters(run: Callable[..., Sharing]) -> None:
    # The learner ignores its random state, so that sharing it can change nothing.
    found = run(
        task=[{"name": "good", "label": "good", "copies": 2}],
        share={"rows": ["fixed", "disjoint"], "seed": ["shared", "own"]},
        partition_seeds=6,
    )
    assert len(found.record.arms) == 4
    first, second = found.record.components
    assert (first.component, second.component) == ("rows", "seed")
    # A learner that draws nothing: its arms are the same, to the last digit.
    assert [effect.excess.value for effect in found.effects if effect.component == "seed"] == [0.0] * 3
    assert second.log_ratio.value == pytest.approx(0.0)
    assert second.behind_first.value == pytest.approx(first.log_ratio.value)
    assert "sharing training rows goes with most homogenization" in found.record.components_sentence
    by_hand = np.mean(
        [
            math.log(whole(found)[f"fixed, seed {seed}"].homogenization.value)
            - math.log(whole(found)[f"disjoint, seed {seed}"].homogenization.value)
            for seed in ("shared", "own")
        ]
    )
    assert first.log_ratio.value == pytest.approx(by_hand)


def test_an_experiment_in_which_rows_do_not_vary_has_its_sentence(run: Callable[..., Sharing]) -> None:
    found = run(share={"rows": ["fixed"], "seed": ["shared", "own"]}, blocks=[4])
    assert found.record.arms == ("seed shared", "seed own")
    assert "share a random state" in found.headline
    assert "% (shared)" in found.headline
    assert "seed: shared against own" in found._page()


def test_which_component_goes_with_most_is_said_only_where_the_interval_tells() -> None:
    def component(name: str, log_ratio: Statistic, behind: float) -> ComponentRecord:
        ratio = Statistic(value=1.2, low=0.9, high=1.5)
        further = Statistic(value=behind + 0.1, low=behind, high=behind + 0.2)
        return ComponentRecord(component=name, log_ratio=log_ratio, ratio=ratio, behind_first=further)

    clear, unclear = Statistic(value=0.2, low=0.1, high=0.3), Statistic(value=0.2, low=-0.1, high=0.5)
    assert "cannot be told from these trials: most is seen with training rows" in components_sentence(
        (component("rows", unclear, 0.0), component("seed", unclear, -0.1))
    )
    assert components_sentence((component("rows", clear, 0.0), component("seed", unclear, 0.1))).endswith(
        "which these trials tell apart from it."
    )
    assert "cannot tell apart" in components_sentence((component("rows", clear, 0.0), component("seed", clear, -0.1)))


def test_trials_without_outcomes_are_counted_and_leave_all_arms(run: Callable[..., Sharing], table: Path) -> None:
    # Neighbours need eight rows with a label, which the second decision-maker's own block not always has.
    holes = pl.read_csv(table).with_columns(amount=pl.when(pl.int_range(pl.len()) % 3 == 0).then("amount"))
    holes.write_csv(table)
    neighbours = {"estimator": "sklearn.neighbors.KNeighborsClassifier", "parameters": {"n_neighbors": 8}}
    found = run(
        learner=[neighbours],
        blocks=[4],
        partition_seeds=6,
        task=[
            {"name": "good", "label": "good", "leave_out": ["amount"]},
            {"name": "large", "label": "amount > 100"},
        ],
    )
    lost = {result.arm: result.without_outcomes for result in found.results}
    assert 0 < lost["fixed"] == lost["disjoint"] < 12
    assert found.effects[0].trials == 12 - lost["fixed"]
    reasons = {fault.reason: fault for fault in found.record.faults}
    assert "n_neighbors" in reasons["could not be fitted"].said
    assert any("left out of all arms" in note for note in found.record.notes)
    assert any(note.startswith("Could not be fitted:") for note in found.record.notes)


def test_an_experiment_without_any_outcome_says_why(run: Callable[..., Sharing], table: Path) -> None:
    holes = pl.read_csv(table).with_columns(x=pl.when(pl.int_range(pl.len()) % 9 > 0).then("x"))
    holes.write_csv(table)
    found = run(blocks=[2])
    assert found.headline.startswith("No trial has outcomes, since in each a learner could not be fitted: ValueError")
    assert "NaN" in found.headline
    assert not found.headline.endswith("..")
    assert all(result.homogenization.value is None for result in found.results)
    assert found.results[0].without_outcomes == 6


def test_the_headline_names_what_left_no_outcome(run: Callable[..., Sharing], table: Path) -> None:
    rows = pl.int_range(pl.len())
    holes = pl.read_csv(table).with_columns(
        x=pl.when(rows % 9 > 0).then("x"), good=pl.when(rows == 7).then(pl.lit("rare")).otherwise("good")
    )
    holes.write_csv(table)
    found = run(blocks=[4])
    assert {fault.reason for fault in found.record.faults} == {"class missing", "could not be fitted"}
    assert "ValueError" in found.headline
    assert "rare" not in found.headline


def test_trials_with_nothing_expected_are_in_the_sums(run: Callable[..., Sharing], table: Path) -> None:
    easy = pl.read_csv(table).with_columns(good=(pl.col("z") > 0).cast(int))  # small tests of it make no mistake
    easy.write_csv(table)
    tree = {"estimator": "sklearn.tree.DecisionTreeClassifier"}
    found = run(learner=[tree], test_share=0.1, partition_seeds=6, blocks=[2])
    arms = whole(found)
    assert arms["fixed"].undefined > 0
    measured = measure(found.store)
    assert np.isnan(measured.homogenization).sum() == arms["fixed"].undefined + arms["disjoint"].undefined
    assert any("no H of their own" in note for note in found.record.notes)


def test_one_seed_of_each_kind_has_no_interval(run: Callable[..., Sharing]) -> None:
    found = run(model_seeds=1, partition_seeds=1, blocks=[2])
    assert found.effects[0].log_ratio.low is None
    assert any("One seed" in note or "one seed" in note for note in found.record.notes)


def test_the_record_says_which_way_only_where_the_interval_does() -> None:
    assert direction(Statistic(value=-0.3, low=-0.5, high=-0.1)) == "fewer"
    assert direction(Statistic(value=-0.3, low=-0.5, high=0.1)) == "not told apart"
    assert direction(Statistic(value=-0.3, reason="one trial")) == "undefined"


def test_the_tidy_table_holds_every_outcome(run: Callable[..., Sharing], tmp_path: Path) -> None:
    found = run()
    table = pl.read_parquet(found.export(tmp_path / "all.parquet"))
    assert table.columns == ["trial", "seed", "partition_seed", "learner", "blocks", "arm", "id", "model", "failed"]
    assert table.height == 12 * 2 * 2 * 24
    one = table.filter((pl.col("trial") == 5) & (pl.col("arm") == "disjoint")).pivot(
        "model", index="id", values="failed"
    )
    wide = found.outcomes(5, "disjoint").frame.collect().to_native()
    assert one.sort("id").equals(wide.select(one.columns).sort("id"))
    assert found.export(tmp_path / "all.csv").read_text().startswith("trial,seed,")
    with pytest.raises(UsageError, match="CSV"):
        found.export(tmp_path / "all.xlsx")
    with pytest.raises(UsageError, match=r"no arm 'fixd'.*'fixed'"):
        found.outcomes(0, "fixd")
    with pytest.raises(UsageError, match="no trial 12"):
        found.outcomes(12, "fixed")


def test_results_can_be_opened_again(content: Content, tmp_path: Path, plan: Callable[..., Plan]) -> None:
    found = pc.lab.sharing(content(), out=tmp_path / "out", set=["blocks=[2]"])
    again = pc.lab.open(tmp_path / "out")
    assert again.record == found.record
    assert (tmp_path / "out" / "sharing.json").read_text() == again.json()
    assert found.record.plan.blocks == (2,)
    assert repr(found) == found.headline
    assert "fixed" in found._repr_html_()
    assert found.frame("effects").height == 1
    with pytest.raises(UsageError, match=r"no table 'efects'.*'effects'"):
        found.frame("efects")
    with pytest.raises(FileError, match="no store"):
        pc.lab.open(tmp_path)
    assert pc.lab.sharing(plan()).record.trials == 12


def test_an_interval_ends_where_its_values_do() -> None:
    # 95 % intervals over two seeds of a kind reach far beyond what a share, or a difference of two, can be.
    difference = _ending(mean_over_trials([[-0.7, 0.9]]), -1.0)
    assert (difference.low, difference.high) == (-1.0, 1.0)
    assert difference.value == pytest.approx(0.1)
    assert _ending(mean_over_trials([[0.2, 0.4]]), 0.0).low == 0.0
    assert _ending(mean_over_trials([[0.2]]), 0.0).low is None
