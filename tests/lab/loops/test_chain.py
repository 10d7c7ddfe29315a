"""A chain: who labels in which setting, what a generation is trained on, and what happens when a model breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

from polyculture.errors import UsageError
from polyculture.lab.loops import world
from polyculture.lab.loops.chain import Chain, Stopped
from polyculture.lab.loops.generation import (
    generation_bytes,
    read_generation,
    read_state,
    state_bytes,
)
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.shifts import ModelCollapse, SequentialLabels, ShiftKinds
from polyculture.lab.loops.world import everyone

Plan = Callable[..., LoopPlan]
HERE = "loop_models"


def chain(plan: LoopPlan, number: int = 0) -> Chain:
    return Chain(plan, everyone(plan), number)


def settings(*names: str) -> list[dict[str, str]]:
    return [{"setting": name} for name in names]


def test_labels_come_from_whom_the_setting_says(plan: Plan) -> None:
    own = plan(arm=settings("SeqClass", "SeqGenNonSeqClass", "Static"), seeds=1)
    everybody = everyone(own)
    for number in range(3):
        one = Chain(own, everybody, number)
        one.step(0)
        before = one.classifiers[0]
        _, state = one.step(1)
        rows = state[0]["classifier"]
        who = before if number == 0 else one.annotator
        assert (rows.label == who.decide(rows.features)).all()
        assert (rows.group == one.grouping.decide(rows.features)).all()


def test_generated_people_are_counted_with_the_labels_that_are_trained_on(plan: Plan) -> None:
    own = plan(arm=settings("SeqClass", "SeqGenNonSeqClass"), seeds=1, keep=300)
    everybody = everyone(own)
    for number in range(2):
        one = Chain(own, everybody, number)
        one.step(0)
        who = one.classifiers[0] if number == 0 else one.annotator
        made = one.step(1)[0].made[0]
        group = one.grouping.decide(made.kept)
        assert made.strata.tolist() == np.bincount(2 * who.decide(made.kept) + group, minlength=4).tolist()
        assert made.annotated.tolist() == np.bincount(2 * one.annotator.decide(made.kept) + group, minlength=4).tolist()


@pytest.mark.parametrize(
    ("kinds", "last"),
    [
        (("selective labels",), "annotator"),
        (("runaway feedback",), "annotator"),
        (("selective labels", "sequential labels"), "previous"),
        (("data spill",), "previous"),
    ],
)
def test_they_are_counted_with_the_labels_of_the_last_shift_that_labels(
    plan: Plan, kinds: tuple[str, ...], last: str
) -> None:
    one = chain(plan(arm=[{"setting": "SeqClass", "shift": [{"kind": kind} for kind in kinds]}], keep=300))
    one.step(0)
    who = {"annotator": one.annotator, "previous": one.classifiers[0]}[last]
    made = one.step(1)[0].made[0]
    counts = np.bincount(2 * who.decide(made.kept) + one.grouping.decide(made.kept), minlength=4)
    assert made.strata.tolist() == counts.tolist()


def test_decision_makers_begin_with_the_same_rows_or_with_parts_that_make_up_the_whole(plan: Plan) -> None:
    means = {}
    for start in ("shared", "own"):
        one = chain(plan(decision_makers=2, start=start))
        means[start] = np.array([generator.last.means_[0] for generator in one.generators])
        assert means[start].mean(axis=0) == pytest.approx(one.world.features.mean(axis=0), abs=1e-9)
    assert means["shared"][0] == pytest.approx(means["shared"][1])
    assert abs(means["own"][0] - means["own"][1]).max() > 0.05


@pytest.mark.parametrize("start", ["shared", "own"])
@pytest.mark.parametrize("pool", ["separate", "shared"])
def test_original_people_that_are_mixed_in_are_those_of_whose_data_it_is(plan: Plan, start: str, pool: str) -> None:
    arm = {"setting": "SeqGenSeqClass", "pool": pool, "shift": [{"kind": "synthetic share", "share": 0.0}]}
    one = chain(plan(arm=[arm], decision_makers=2, start=start))
    one.step(0)
    seen = [{tuple(row) for row in own["generator"].features.tolist()} for own in one.step(1)[1]]
    parts = [{tuple(row) for row in one.trainer.originals_of(maker).features.tolist()} for maker in (0, 1)]
    assert all(rows <= parts[0] | parts[1] for rows in seen)
    alone = (start, pool) == ("own", "separate")
    assert [rows <= part for rows, part in zip(seen, parts, strict=True)] == [alone or start == "shared"] * 2
    assert (not parts[0] & parts[1]) is (start == "own")


def test_only_retrained_generators_change_and_they_learn_from_samples(plan: Plan) -> None:
    own = plan(arm=settings("SeqClass", "SeqGenSeqClass"), seeds=1)
    fixed, moving = chain(own, 0), chain(own, 1)
    first = [one.generators[0] for one in (fixed, moving)]
    for one in (fixed, moving):
        one.step(0)
        _, state = one.step(1)
    assert fixed.generators[0] is first[0]
    assert moving.generators[0] is not first[1]
    assert moving.generators[0].last.means_ == pytest.approx(
        state[0]["generator"].features.mean(axis=0)[None], abs=0.01
    )


def test_the_first_generation_is_the_same_in_all_arms(plan: Plan) -> None:
    own = plan(arm=settings("SeqClass", "SeqGenSeqClass", "SeqGenNonSeqClass"), seeds=1)
    first = [generation_bytes(chain(own, number).step(0)[0]) for number in range(3)]
    assert first[0] == first[1] == first[2]


def test_reparation_of_generators_begins_with_generation_1_of_classifiers_with_0(plan: Plan) -> None:
    star = [{"kind": "STAR", "of": ["generator", "classifier"]}]
    one = chain(plan(arm=[{"setting": "SeqGenSeqClass", "intervention": star}]))
    first, second = one.step(0)[0], one.step(1)[0]
    assert set(first.made[0].accounting) == {"classifier"}
    assert set(second.made[0].accounting) == {"classifier", "generator"}
    books = second.made[0].accounting["generator"]
    assert books.pool.sum() == 168 + 42
    assert (books.taken + books.filled).sum() == 168


def test_a_chain_goes_on_from_what_its_models_were_trained_on(plan: Plan, tmp_path: Any) -> None:
    arms = [{
        "setting": "SeqGenSeqClass",
        "shift": [{"kind": "disparity amplification"}, {"kind": "data spill", "share": 0.2}],
        "intervention": [{"kind": "STAR"}, {"kind": "reweighting"}],
        "pool": 0.5,
    }]  # fmt: skip
    own = plan(arm=arms, decision_makers=2, generations=4)
    whole = chain(own)
    generations, states = [], []
    for number in range(4):
        generation, state = whole.step(number)
        generations.append(generation)
        states.append(state_bytes(state))
    (tmp_path / "state").write_bytes(states[1])
    again = chain(own)
    again.take_up(generations[:2], {}, read_state(tmp_path / "state", 2, again.world.features.shape[1:]))
    for number in (2, 3):
        generation, state = again.step(number)
        assert generation_bytes(generation) == generation_bytes(generations[number])
        assert state_bytes(state) == states[number]


def test_a_generation_reads_back_as_it_was(plan: Plan, tmp_path: Any) -> None:
    own = plan(keep=3, arm=[{"setting": "SeqGenSeqClass", "intervention": [{"kind": "STAR"}]}])
    generation, _ = chain(own).step(0)
    (tmp_path / "one").write_bytes(generation_bytes(generation))
    again = read_generation(tmp_path / "one")
    assert generation_bytes(again) == generation_bytes(generation)
    assert again.made[0].kept.shape[0] == 3
    assert (
        again.made[0].accounting["classifier"].pool.tolist()
        == generation.made[0].accounting["classifier"].pool.tolist()
    )


def test_decision_makers_of_one_pool_get_each_others_labels(plan: Plan) -> None:
    arms = [{"setting": "SeqClass", "pool": pool} for pool in ("separate", "shared", 0.5)]
    learners = [
        {"estimator": f"sklearn.{name}"} for name in ("linear_model.LogisticRegression", "naive_bayes.GaussianNB")
    ]
    own = plan(arm=arms, decision_makers=2, start="own", seeds=1, rows=4000, classifier=learners)
    everybody = everyone(own)
    foreign = []
    for number in range(3):
        one = Chain(own, everybody, number)
        one.step(0)
        mine = one.classifiers[0]
        rows = one.step(1)[1][0]["classifier"]
        foreign.append((rows.label != mine.decide(rows.features)).mean())
    assert foreign[0] == 0.0
    assert foreign[1] == pytest.approx(2 * foreign[2], rel=0.5)
    assert foreign[1] > 0.0


def test_people_of_a_pool_stay_by_the_errors_of_whose_they_are(plan: Plan) -> None:
    arm = {"setting": "SeqClass", "pool": "shared", "shift": [{"kind": "disparity amplification", "strength": 1.0}]}
    one = chain(plan(arm=[arm], decision_makers=2))
    one.errors = [np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])]
    rows = one.step(1)[1][0]["classifier"]
    assert rows.group.mean() == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(
    "kind", sorted(set(get_args(ShiftKinds)) - {ModelCollapse, SequentialLabels}, key=lambda kind: kind.__name__)
)
def test_every_shift_runs_in_a_chain(plan: Plan, kind: Any) -> None:
    one = chain(plan(arm=[{"setting": "SeqGenSeqClass", "shift": [{"kind": kind.__struct_config__.tag}]}]))
    for number in range(2):
        generation, state = one.step(number)
        assert not generation.stopped
        assert 100 < len(state[0]["classifier"]) <= 168


@pytest.mark.parametrize(
    "kind",
    ["STAR", "class balance", "group balance", "reweighting", "fresh data", "drop detected", "fairness constraint"],
)
def test_every_intervention_runs_in_a_chain(plan: Plan, kind: str) -> None:
    of = ["classifier"] if kind in {"reweighting", "fairness constraint"} else ["classifier", "generator"]
    one = chain(plan(arm=[{"setting": "SeqGenSeqClass", "intervention": [{"kind": kind, "of": of}]}]))
    for number in range(2):
        generation, state = one.step(number)
        assert not generation.stopped
        assert len(state[0]["classifier"]) == 168


MODELS = '''
import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.linear_model import LogisticRegression
class Diverges(GaussianMixture):
    """Gives numbers that are not finite once it has seen its own samples."""
    def sample(self, n):
        found = super().sample(n)[0]
        if abs(self.means_).max() > self.limit_:
            found[:] = np.nan
        return found
    def fit(self, X):
        self.limit_ = -1.0 if X.mean() != 0.0 and abs(X.mean(axis=0)).max() > 1e-9 else 99.0
        return super().fit(X)
class SomeNaN(GaussianMixture):
    def sample(self, n):
        found = super().sample(n)[0]
        found[::10] = np.inf
        return found
class Breaks(GaussianMixture):
    def fit(self, X):
        raise ValueError("no convergence at all\\nsecond line")
class NoMemory(GaussianMixture):
    def fit(self, X):
        raise MemoryError
class Refuses(GaussianMixture):
    def fit(self, X):
        from polyculture.errors import UsageError
        raise UsageError("no", hint="yes")
class OneClass(LogisticRegression):
    def predict_proba(self, X):
        found = np.zeros((len(X), 2))
        found[:, 1] = 1.0
        return found
'''


@pytest.fixture
def models(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / f"{HERE}.py").write_text(MODELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, HERE, raising=False)
    return HERE


def test_a_generator_that_diverges_ends_the_chain_and_is_recorded(plan: Plan, models: str) -> None:
    one = chain(plan(generator={"estimator": f"{models}.Diverges"}))
    assert not one.step(0)[0].stopped
    generation, state = one.step(1)
    assert (
        "the generator diverged: 168 of 168 people" in generation.stopped or "no finite numbers" in generation.stopped
    )
    assert state == []
    assert [event.reason for event in generation.made[0].events][-1] == "stopped"


def test_some_numbers_that_are_not_finite_are_left_out_and_said(plan: Plan, models: str) -> None:
    generation, _ = chain(plan(generator={"estimator": f"{models}.SomeNaN"})).step(0)
    assert not generation.stopped
    assert {event.reason for event in generation.made[0].events} == {"not finite"}
    assert generation.made[0].strata.sum() == 270


def test_a_generator_that_cannot_be_fitted_stops_the_chain_before_it_begins(plan: Plan, models: str) -> None:
    with pytest.raises(Stopped, match=r"ValueError: no convergence at all$"):
        chain(plan(generator={"estimator": f"{models}.Breaks"}))


def test_people_that_are_measured_are_not_those_that_are_trained_on(plan: Plan) -> None:
    generation, state = chain(plan(rows=300, keep=300, arm=settings("SeqClass"))).step(0)
    trained = state[0]["classifier"].features
    assert trained.shape == generation.made[0].kept.shape
    assert abs(np.sort(trained, axis=0) - np.sort(generation.made[0].kept, axis=0)).max() > 0.01


def test_seeds_draw_other_people_where_the_split_is_fixed_too(plan: Plan) -> None:
    own = plan(split="fixed", arm=settings("SeqClass"))
    one, other = (chain(own, seed).step(0)[1][0]["classifier"].features for seed in range(2))
    assert abs(np.sort(one, axis=0) - np.sort(other, axis=0)).max() > 0.01


def test_who_is_tested_on_is_drawn_for_each_seed_or_once(plan: Plan) -> None:
    for split, same in (("seed", False), ("fixed", True)):
        one, other = (world.tested_of(plan(split=split), 240, seed).tolist() for seed in range(2))
        assert len(one) == len(other) == 72
        assert (one == other) is same


def test_what_annotators_warn_of_is_said_once(plan: Plan) -> None:
    slow = {"estimator": "sklearn.linear_model.LogisticRegression", "parameters": {"max_iter": 1}}
    quick = {"estimator": "sklearn.naive_bayes.GaussianNB"}
    one = chain(plan(label_annotator=slow, group_annotator=quick, classifier=[quick], decision_makers=2))
    made = [own for number in range(2) for own in one.step(number)[0].made]
    assert [len([event for event in own.events if event.reason == "did not converge"]) for own in made] == [1, 0, 0, 0]


def test_people_from_outside_are_labelled_by_the_classifier_outside(plan: Plan) -> None:
    annotator = {"estimator": "sklearn.linear_model.LogisticRegression"}
    learner = {"estimator": "sklearn.naive_bayes.GaussianNB"}
    arm = {"setting": "Static", "shift": [{"kind": "data spill", "share": 1.0}]}
    one = chain(plan(label_annotator=annotator, classifier=[learner], arm=[arm], rows=2000))
    rows = one.step(0)[1][0]["classifier"]
    assert 0.0 < (rows.label != one.annotator.decide(rows.features)).mean() < 0.2


@pytest.mark.parametrize(("model", "error"), [("NoMemory", MemoryError), ("Refuses", UsageError)])
def test_a_plan_that_is_wrong_or_memory_that_runs_out_is_no_end_of_a_chain(
    plan: Plan, models: str, model: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        chain(plan(generator={"estimator": f"{models}.{model}"}))


def test_a_class_that_vanishes_leaves_a_constant_classifier_and_goes_on(plan: Plan, models: str) -> None:
    classifiers = [{"estimator": f"{models}.OneClass"}]
    own = plan(classifier=classifiers, arm=settings("SeqClass"))
    one = chain(own)
    generation, _ = one.step(0)
    assert "class vanished" in {event.reason for event in generation.made[0].events}
    assert "class missing" in {event.reason for event in generation.made[0].events}
    generation, _ = one.step(1)
    assert (generation.made[0].predicted == 1).all()
    assert not generation.stopped


def test_a_group_that_vanishes_and_an_empty_stratum_are_recorded(plan: Plan) -> None:
    group = {"estimator": "sklearn.dummy.DummyClassifier"}
    own = plan(
        group_annotator=group, arm=[{"setting": "SeqClass", "intervention": [{"kind": "STAR"}]}],
    )  # fmt: skip
    generation, _ = chain(own).step(0)
    reasons = {event.reason: event.said for event in generation.made[0].events}
    assert reasons["group vanished"] in {"sex = f", "sex = m"}
    assert reasons["empty stratum"] == "2 of 4, for the classifier"
    assert generation.made[0].accounting["classifier"].shortfall >= 84


def test_batches_train_by_partial_fit(plan: Plan) -> None:
    learner = [{"estimator": "sklearn.linear_model.SGDClassifier", "parameters": {"loss": "log_loss"}}]
    own = plan(classifier=learner, batch=32, epochs=2, arm=[{"intervention": [{"kind": "STAR"}]}])
    generation, state = chain(own).step(0)
    assert generation.made[0].accounting["classifier"].quota.tolist() == [42, 42, 42, 42]
    assert len(state[0]["classifier"]) == 168
    assert chain(own).classifiers[0] is not None


def test_people_are_measured_by_as_many_samples_as_planned(plan: Plan) -> None:
    generation, _ = chain(plan(samples=1234)).step(0)
    made = generation.made[0]
    assert made.strata.sum() == made.annotated.sum() == 1234
    assert set(made.distances) == {"frechet", "mmd", "precision", "recall"}
    assert np.isfinite(list(made.distances.values())).all()
