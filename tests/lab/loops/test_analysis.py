"""From generations to the record: means over seeds, endpoints, collapse, books, and sentences that say no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import polyculture as pc
from polyculture.audit.statistic import Statistic
from polyculture.lab.loops import world
from polyculture.lab.loops.analysis import analyse
from polyculture.lab.loops.generation import Generation, Made
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.records import CollapseRecord, EndpointRecord, LoopRecord
from polyculture.lab.loops.rows import Event
from polyculture.lab.loops.sentences import accuracy_sentence, flag, headline
from polyculture.lab.loops.star import Accounting
from polyculture.lab.loops.store import LoopStore
from polyculture.loops import Loop
from polyculture.stats.over_seeds import over_seeds

Plan = Callable[..., LoopPlan]
WRONG = np.array([[0.1, 0.2, 0.4], [0.1, 0.3, 0.3]])  # share of wrong decisions by seed and generation


def store_of(
    plan: LoopPlan, folder: Path, wrong: np.ndarray = WRONG, *, makers: Sequence[int] = (0,), stop: bool = False
) -> LoopStore:
    """Return a store whose decisions are wrong for a share of the test individuals, the first ones of a rotation."""
    everybody = world.everyone(plan)
    store = LoopStore.begin(folder / "store", plan, everybody)
    for chain in range(plan.chains):
        arm, seed = divmod(chain, plan.seeds)
        label = everybody.label[world.tested_of(plan, len(everybody.label), seed)]
        for number in range(plan.generations):
            share = wrong[seed, number] + 0.1 * arm
            made = []
            for turn in makers:
                flipped = np.roll(np.arange(len(label)) < round(share * len(label)), turn)
                books = Accounting(
                    *(np.array(part) for part in ([30, 10, 5, 5], [10] * 4, [10, 10, 5, 5], [5, 4, 1, 0]))
                )
                made.append(
                    Made(
                        np.where(flipped, 1 - label, label),
                        np.full(len(label), 0.5),
                        np.array([10, 10, 10, 10]),
                        np.array([40, 30, 20, 10]),
                        np.array([25, 25, 25, 25]),
                        {"frechet": 0.5, "precision": 0.9, "recall": 0.8},
                        {"classifier": books},
                        (Event("did not converge", "slowly"),) if number == 1 else (),
                    )
                )
            ends = stop and chain == 0 and number == 1
            if ends:
                nobody = np.zeros(0, dtype=np.int64)
                made = [Made(nobody, np.zeros(0), nobody, nobody, nobody, {}, events=(Event("stopped", "no"),))]
            state = [] if ends else [{}]
            state = [{"classifier": _row()} for _ in makers] if not ends else state
            store.write(chain, Generation(number, tuple(made), "no" if ends else ""), state)
            if ends:
                break
    return store


def _row() -> object:
    from polyculture.lab.loops.rows import Rows

    return Rows(np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def endpoint(record: LoopRecord, arm: str, measure: str, name: str = "last generation") -> EndpointRecord:
    return next(
        one for one in record.endpoints if (one.arm, one.measure, one.of, one.endpoint) == (arm, measure, None, name)
    )


@pytest.fixture
def record(plan: Plan, tmp_path: Path) -> LoopRecord:
    arms = [{"setting": "SeqClass", "intervention": [{"kind": "STAR"}]}, {"setting": "SeqGenSeqClass", "name": "other"}]
    return analyse(store_of(plan(arm=arms), tmp_path))


def accuracies(arm: int = 0) -> np.ndarray:
    return 1 - np.round((WRONG + 0.1 * arm) * 72) / 72


def test_curves_are_means_over_seeds_and_endpoints_what_they_are_called(record: LoopRecord) -> None:
    curve = next(one for one in record.curves if (one.measure, one.of) == ("accuracy", None))
    assert curve.value == pytest.approx(accuracies().mean(axis=0))
    assert curve.seeds == (2, 2, 2)
    assert curve.low[0] is None  # both seeds are the same there
    assert "no width" in curve.reason
    first, other = record.arms
    assert endpoint(record, first, "accuracy").value.value == pytest.approx(accuracies()[:, -1].mean())
    assert endpoint(record, first, "accuracy", "mean over generations").value.value == pytest.approx(
        accuracies().mean()
    )
    change = endpoint(record, first, "accuracy", "change since generation 0").value
    assert change.value == pytest.approx((accuracies()[:, -1] - accuracies()[:, 0]).mean())
    apart = endpoint(record, other, "accuracy").difference
    assert apart.value == pytest.approx((accuracies(1) - accuracies())[:, -1].mean())
    assert endpoint(record, first, "accuracy").difference.value is None
    assert endpoint(record, first, "accuracy").primary
    assert not endpoint(record, first, "recall").primary
    assert not endpoint(record, first, "accuracy", "change since generation 0").primary


def test_an_arm_is_compared_with_the_one_that_it_names(plan: Plan, tmp_path: Path) -> None:
    arms = [{"setting": "SeqClass"}, {"setting": "SeqGenSeqClass"}, {"setting": "Static", "against": "SeqGenSeqClass"}]
    found = endpoint(analyse(store_of(plan(arm=arms), tmp_path)), "Static", "accuracy")
    assert found.against == "SeqGenSeqClass"
    assert found.difference.value == pytest.approx((accuracies(2) - accuracies(1))[:, -1].mean())


def test_bands_hold_at_once_and_intervals_of_shares_end_at_0_and_1(plan: Plan, tmp_path: Path) -> None:
    wrong = np.array([[0.1, 0.2, 0.25], [0.125, 0.25, 0.25], [0.125, 0.225, 0.275]])
    found = analyse(store_of(plan(seeds=3), tmp_path / "three", wrong))
    curve = next(one for one in found.curves if (one.measure, one.of) == ("accuracy", None))
    known = 1 - np.round(wrong * 72) / 72
    for number in range(3):
        band = over_seeds(known[:, number], looks=3)
        assert (curve.low[number], curve.high[number]) == pytest.approx((band.low, band.high))
    last, alone = endpoint(found, "SeqGenSeqClass", "accuracy").value, over_seeds(known[:, -1])
    assert (last.low, last.high) == pytest.approx((alone.low, alone.high))
    wide = analyse(store_of(plan(), tmp_path / "two"))  # two seeds: a t interval of accuracy reaches beyond 0 and 1
    curve = next(one for one in wide.curves if (one.measure, one.of) == ("accuracy", None))
    assert (curve.low[1], curve.high[1]) == (0.0, 1.0)
    last = endpoint(wide, "SeqGenSeqClass", "accuracy").value
    assert (last.low, last.high) == pytest.approx((over_seeds(accuracies()[:, -1]).low, 1.0))
    change = endpoint(wide, "SeqGenSeqClass", "accuracy", "change since generation 0").value
    assert change.low == pytest.approx(over_seeds(accuracies()[:, -1] - accuracies()[:, 0]).low)
    assert change.low < 0.0  # a change has no such ends


def test_shares_of_generated_people_and_their_divergence(record: LoopRecord) -> None:
    def at(measure: str, of: str | None) -> float | None:
        return next(one for one in record.curves if (one.measure, one.of) == (measure, of)).value[0]

    assert at("class_share", "1") == pytest.approx(0.3)
    assert at("group_share", "sex = f") == pytest.approx(0.6)
    assert at("stratum_share", "0, sex = m") == pytest.approx(0.3)
    assert at("annotated_share", "1") == pytest.approx(0.5)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    assert at("divergence", None) == pytest.approx((shares * np.log(4 * shares)).sum())
    assert at("trained_divergence", None) == pytest.approx(0.0)
    assert at("frechet", None) == 0.5


def test_an_original_ideal_is_that_of_each_seeds_training_individuals(plan: Plan, tmp_path: Path) -> None:
    own = plan(ideal="original", seeds=2)
    found = analyse(store_of(own, tmp_path))
    shares, everybody = np.array([0.4, 0.3, 0.2, 0.1]), world.everyone(own)
    ideals = [world.world_of(own, everybody, seed).ideal for seed in range(2)]
    assert not np.allclose(*ideals)
    value = endpoint(found, "SeqGenSeqClass", "divergence").value.value
    assert value == pytest.approx(np.mean([(shares * np.log(shares / ideal)).sum() for ideal in ideals]), abs=1e-12)


def test_the_onset_is_where_accuracy_stays_low(record: LoopRecord) -> None:
    one = record.collapse[0]
    assert (one.collapsed, one.first, one.median, one.last, one.constant, one.stopped) == (2, 1, 1.0, 1, 0, 0)


def test_what_no_seed_has_is_undefined_for_a_reason_of_its_own(plan: Plan, tmp_path: Path) -> None:
    table = [{"target": "0", "group": group, "share": 0.5} for group in ("f", "m")]
    found = analyse(store_of(plan(ideal=table), tmp_path, stop=True))
    curve = next(one for one in found.curves if one.measure == "divergence")
    why = "infinite: people are generated in a stratum whose ideal share is 0"
    assert curve.value == (None, None, None)
    assert f"undefined at every seed ({why})" in curve.reason
    assert why in endpoint(found, found.arms[0], "divergence").value.reason
    # What every chain that came so far has is averaged over those, and no reason is made up.
    worst = next(one for one in found.curves if one.measure == "worst_group_accuracy")
    assert "undefined at some seeds" not in worst.reason


def test_seeds_at_which_a_measure_is_undefined_are_said(plan: Plan, tmp_path: Path) -> None:
    own = plan(seeds=3, generations=1, ideal=[{"target": "1", "group": "f", "share": 1.0}])
    store = LoopStore.begin(tmp_path / "store", own, world.everyone(own))
    for seed, counts in enumerate(([0, 0, 9, 0], [0, 0, 7, 0], [1, 0, 8, 0])):
        strata = np.array(counts)
        store.write(
            seed, Generation(0, (Made(np.ones(72, dtype=np.int64), np.ones(72), strata, strata, strata, {}),)), []
        )
    curve = next(one for one in analyse(store).curves if one.measure == "divergence")
    assert (curve.value, curve.seeds) == ((0.0,), (2,))
    assert "undefined at some seeds (infinite: people are generated in a stratum whose ideal" in curve.reason
    assert "stopped" not in curve.reason


def test_intervals_hold_their_values_of_discrepancies_below_0_too(plan: Plan, tmp_path: Path) -> None:
    own = plan(seeds=3, generations=1)
    store = LoopStore.begin(tmp_path / "store", own, world.everyone(own))
    counts = np.array([1, 1, 1, 1])
    for seed, mmd in enumerate((-0.003, -0.001, -0.002)):
        distances = {"frechet": 0.001 * seed, "mmd": mmd, "precision": 1.0 - 0.001 * seed, "recall": 0.5}
        made = Made(np.arange(72) % 2, np.ones(72), counts, counts, counts, distances)
        store.write(seed, Generation(0, (made,)), [])
    found = analyse(store)
    curves = {one.measure: one for one in found.curves if one.of is None}
    ends = [
        (curves[name].low[0], curves[name].value[0], curves[name].high[0]) for name in ("mmd", "precision", "frechet")
    ]
    assert all(low <= value <= high for low, value, high in ends)  # type: ignore[operator]
    assert (ends[1][2], ends[2][0]) == (1.0, 0.0)
    stat = endpoint(found, found.arms[0], "mmd").value
    assert stat.low == pytest.approx(-0.002 - 4.302653 * 0.001 / np.sqrt(3))


def test_the_books_say_who_was_added(record: LoopRecord) -> None:
    own = [one for one in record.accounting if one.arm == record.arms[0] and one.generation == 0]
    assert [(one.target, one.group) for one in own][:2] == [("0", "sex = f"), ("0", "sex = m")]
    assert [one.pool for one in own] == [30, 10, 5, 5]
    assert [one.added for one in own] == pytest.approx([15 - 40 * 0.6, 14 - 40 * 0.2, 6 - 4, 5 - 4])
    assert {one.shortfall for one in own} == {10}


def test_faults_are_counted_and_dated(record: LoopRecord) -> None:
    fault = record.faults[0]
    assert (fault.reason, fault.count, fault.first, fault.said) == ("did not converge", 2, 1, "slowly")
    assert any(note.startswith("Did not converge: 4") for note in record.notes)


def test_a_chain_that_stopped_is_left_out_where_it_is_not(plan: Plan, tmp_path: Path) -> None:
    found = analyse(store_of(plan(), tmp_path, stop=True))
    curve = next(one for one in found.curves if (one.measure, one.of) == ("accuracy", None))
    assert curve.seeds == (2, 1, 1)
    assert "some chains had stopped" in curve.reason
    assert found.collapse[0].stopped == 1
    assert endpoint(found, "SeqGenSeqClass", "accuracy").value.value == pytest.approx(accuracies()[1, -1])
    mean = endpoint(found, "SeqGenSeqClass", "accuracy", "mean over generations").value
    assert mean.value == pytest.approx(accuracies()[1].mean())


def test_several_decision_makers_have_the_audits_systemic_failure_and_h(plan: Plan, tmp_path: Path) -> None:
    own = plan(decision_makers=2, seeds=2)
    store = store_of(own, tmp_path, makers=(0, 5))
    loop = Loop(analyse(store), store)
    audits = [pc.audit(loop.outcomes("SeqGenSeqClass", seed=seed)) for seed in range(2)]
    shares = [audit.record.systemic_failure.observed.value for audit in audits]
    expected = [audit.record.systemic_failure.expected for audit in audits]
    found = endpoint(loop.record, "SeqGenSeqClass", "systemic_failure").value.value
    assert found == pytest.approx(np.mean(shares))
    assert endpoint(loop.record, "SeqGenSeqClass", "expected").value.value == pytest.approx(np.mean(expected))
    ratio = endpoint(loop.record, "SeqGenSeqClass", "homogenization").value
    assert ratio.value == pytest.approx(sum(shares) / sum(expected))
    assert ratio.low is not None
    assert ratio.low < ratio.value < ratio.high  # type: ignore[operator]
    one = next(c for c in loop.curves if (c.measure, c.of) == ("systemic_failure", "sex = f"))
    assert one.value[-1] is not None


def test_the_first_sentence_says_no_more_than_the_intervals(plan: Plan) -> None:
    def change(value: float, low: float, high: float) -> tuple[EndpointRecord, ...]:
        given = {
            "arm": "a",
            "against": "a",
            "measure": "accuracy",
            "of": None,
            "primary": True,
            "difference": Statistic(value=0.0),
        }
        return (
            EndpointRecord(endpoint="last generation", value=Statistic(value=0.7), **given),
            EndpointRecord(
                endpoint="change since generation 0", value=Statistic(value=value, low=low, high=high), **given
            ),
        )

    collapse = [collapsed()]
    told = headline(plan(), change(-0.1, -0.15, -0.05), collapse)
    assert told == accuracy_sentence(plan(), change(-0.1, -0.15, -0.05))
    assert accuracy_sentence(plan(), ()) == ""
    assert told.startswith("Accuracy falls over 3 generations: in a it goes from 80.0 % to 70.0 %")
    assert "cannot be told" in headline(plan(), change(-0.1, -0.25, 0.05), collapse)


def test_the_first_sentence_of_several_decision_makers_is_of_whom_all_fail(plan: Plan) -> None:
    def ends(arm: str, failed: float | None, expected: float) -> list[EndpointRecord]:
        values = {
            "systemic_failure": Statistic(value=failed, reason=None if failed is not None else "none"),
            "expected": Statistic(value=expected),
            "accuracy": Statistic(value=0.7),
        }
        none = Statistic(value=None, reason="none")
        return [
            EndpointRecord(
                arm=arm, against=arm, measure=measure, of=None, endpoint="last generation", primary=True, value=value,
                difference=none,
            )
            for measure, value in values.items()
        ]  # fmt: skip

    both, three = plan(decision_makers=2), plan(decision_makers=3)
    assert headline(both, ends("a", 0.2, 0.05), [collapsed()]) == (
        "In the last generation both decision-makers fail 20.0 % of people, where 5.0 % would be expected if they "
        "failed independently."
    )
    arms = [*ends("a", 0.2, 0.05), *ends("b", None, 0.5), *ends("c", 0.4, 0.1), *ends("d", 0.4, 0.3)]
    assert "all 3 decision-makers fail up to 40.0 % of people (c), where 10.0 %" in headline(three, arms, [collapsed()])
    assert headline(three, ends("b", None, 0.5), [collapsed()]).startswith("Accuracy is 70.0 %")


def collapsed(constant: int = 0) -> CollapseRecord:
    return CollapseRecord(
        arm="a", seeds=5, collapsed=0, first=None, median=None, last=None, constant=constant, constant_from=None,
        largest_class=Statistic(value=0.9), stopped=0,
    )  # fmt: skip


def test_a_constant_predictor_is_flagged_beside_its_gap() -> None:
    assert flag(collapsed()) == ""
    assert flag(collapsed(2)).startswith("nearly constant in 2 of 5 seeds")


def test_a_constant_predictor_is_dated_from_where_it_stays_one(plan: Plan, tmp_path: Path) -> None:
    own = plan(seeds=1)
    store = LoopStore.begin(tmp_path / "store", own, world.everyone(own))
    counts, state = np.array([1, 1, 1, 1]), [{"classifier": _row()}]
    for number, predicted in enumerate((np.ones(72), np.arange(72) % 2, np.ones(72))):
        made = Made(predicted.astype(np.int64), np.ones(72), counts, counts, counts, {})
        store.write(0, Generation(number, (made,)), state)
    assert analyse(store).collapse[0].constant_from == 2


def test_constant_predictors_are_found(plan: Plan, tmp_path: Path) -> None:
    own = plan(seeds=1, generations=1)
    store = LoopStore.begin(tmp_path / "store", own, world.everyone(own))
    counts = np.array([1, 1, 1, 1])
    made = Made(np.ones(72, dtype=np.int64), np.ones(72), counts, counts, counts, {})
    store.write(0, Generation(0, (made,)), [])
    found = analyse(store)
    assert (found.collapse[0].constant, found.collapse[0].constant_from) == (1, 0)
    assert endpoint(found, found.arms[0], "demographic_parity_difference").value.value == 0.0
    assert any("nearly everyone the same class" in note for note in found.notes)
    assert found.headline.endswith("in the only generation (SeqGenSeqClass).")
