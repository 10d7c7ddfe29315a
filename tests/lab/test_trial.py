from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from make_people import people
from polyculture.errors import ColumnError, InputError, UsageError, ValueInDataError
from polyculture.lab.data import prepare
from polyculture.lab.plan import Plan
from polyculture.lab.run import check_blocks
from polyculture.lab.trial import FAULTS, UNKNOWN, run_trial, setting_of, split, training_rows

Make = Callable[..., Plan]


def test_features_are_all_columns_but_ids_and_labels(plan: Make) -> None:
    data = prepare(plan())
    assert data.columns == ("x", "z", "code", "sex", "amount")  # amount is a feature of the first task only
    seen = [{data.columns[index] for index in data.origin[target.sees]} for target in data.targets]
    assert seen == [{"x", "z", "code", "sex", "amount"}, {"x", "z", "code", "sex"}]
    assert data.features.shape == (120, 2 + 3 + 2 + 1)
    assert data.cells == (("f",), ("m",))
    assert data.targets[1].classes == ("false", "true")
    assert data.ids[3] == "p3"


def test_ordinal_codes_are_one_column(plan: Make, table: Path) -> None:
    data = prepare(plan(data={"source": str(table), "id": "person", "codes": "ordinal", "leave_out": ["x"]}))
    assert data.columns == ("z", "code", "sex", "amount")
    codes = pl.read_csv(table)["code"].to_list()
    assert data.features[:, 1].tolist() == ["abc".index(code) for code in codes]


def test_a_loader_of_ones_own_and_its_hash(plan: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_people")
    module.load = lambda: people().to_pandas()  # type: ignore[attr-defined]
    module.nothing = lambda: 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_people", module)
    first = prepare(plan(data={"source": "my_people:load", "id": "person"}))
    assert first.individuals == 120
    module.load = lambda: people(seed=4)  # type: ignore[attr-defined]
    second = prepare(plan(data={"source": "my_people:load", "id": "person"}))
    assert first.hashes["my_people:load"] != second.hashes["my_people:load"]
    with pytest.raises(UsageError, match="returned a int"):
        prepare(plan(data={"source": "my_people:nothing"}))
    with pytest.raises(UsageError, match="no 'lod'"):
        prepare(plan(data={"source": "my_people:lod"}))


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"task": [{"name": "a", "label": "god", "copies": 2}]}, ColumnError, "task 'a'"),
        ({"task": [{"name": "a", "label": "amount > 9e9", "copies": 2}]}, ColumnError, "has 1 class"),
        ({"task": [{"name": "a", "label": "x", "copies": 2}]}, ColumnError, "118 classes among 120 individuals"),
        ({"task": [{"name": "a", "label": "good", "features": ["good"], "copies": 2}]}, UsageError, "is a label"),
        ({"task": [{"name": "a", "label": "good", "leave_out": ["y"], "copies": 2}]}, ColumnError, "no column 'y'"),
        ({"data": {"source": "german_credt"}}, UsageError, "german_credit"),
        ({"data": {"source": "none.csv"}}, InputError, "none.csv"),
    ],
)
def test_data_that_do_not_serve_are_refused(
    plan: Make, changed: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        prepare(plan(**changed))


def test_ids_name_one_individual_each(plan: Make, table: Path) -> None:
    with pytest.raises(ValueInDataError, match="repeats"):
        prepare(plan(data={"source": str(table), "id": "sex"}))


def test_more_blocks_than_rows_are_refused(plan: Make) -> None:
    with pytest.raises(UsageError, match="more than the 96 training rows"):
        check_blocks(plan(blocks=[97]), 120)


@pytest.mark.parametrize("blocks", [2, 3, 7])
def test_arms_train_on_as_many_rows_and_share_what_they_say(blocks: int) -> None:
    train = np.random.default_rng(0).permutation(100)
    size = 100 // blocks
    for overlap in (1.0, 0.5, 0.0):
        rows = [set(training_rows(train, blocks, overlap, maker).tolist()) for maker in range(2)]
        assert [len(own) for own in rows] == [size, size]
        assert len(rows[0] & rows[1]) == round(overlap * size)


@pytest.mark.parametrize(
    ("how", "same_partition", "same_model"), [("fixed", 1, 1), ("partition", 0, 1), ("trial", 0, 0)]
)
def test_test_individuals_are_drawn_as_the_plan_says(
    plan: Make, how: str, same_partition: int, same_model: int
) -> None:
    own = plan(split=how)
    first = setting_of(own, 0)
    train, test = split(own, first, 120)
    assert sorted([*train, *test]) == list(range(120))
    assert len(test) == 24
    other_model = split(own, first._replace(model_seed=1), 120)
    other_partition = split(own, first._replace(partition_seed=1), 120)
    assert np.array_equal(other_model[1], test) == bool(same_model)
    assert np.array_equal(other_partition[1], test) == bool(same_partition)
    assert not np.array_equal(other_partition[0], train)


def test_a_trial_does_what_a_reader_would_do_by_hand(plan: Make) -> None:
    from sklearn.naive_bayes import GaussianNB
    from sklearn.preprocessing import StandardScaler

    own = plan()
    data, trial = prepare(own), 7
    outcome = run_trial(own, data, trial)
    setting = setting_of(own, trial)
    train, test = split(own, setting, 120)
    size = len(train) // own.blocks[setting.blocks]
    for arm, begins in enumerate((0, size)):  # the second decision-maker: the first block, or the second
        rows = np.sort(train[begins : begins + size])
        target = data.targets[1]
        scaler = StandardScaler().fit(data.features[rows][:, target.sees])
        model = GaussianNB().fit(scaler.transform(data.features[rows][:, target.sees]), target.label[rows])
        wrong = model.predict(scaler.transform(data.features[test][:, target.sees])) != target.label[test]
        assert outcome.failed[arm, 1].tolist() == wrong.astype(int).tolist()
    assert np.array_equal(outcome.failed[0, 0], outcome.failed[1, 0])  # the first has its block in every arm
    assert outcome.rows.tolist() == test.tolist()


def test_own_components_differ_and_shared_ones_do_not(plan: Make) -> None:
    learners = [{"estimator": f"sklearn.{path}"} for path in ("naive_bayes.GaussianNB", "dummy.DummyClassifier")]
    task = [{"name": "good", "label": "good", "copies": 2}]
    for component, extra in (("learner", {"learner": learners}), ("features", {})):
        own = plan(task=task, share={"rows": ["fixed"], component: ["shared", "own"]}, **extra)
        outcome = run_trial(own, prepare(own), 0)
        shared, apart = outcome.failed
        assert np.array_equal(shared[0], shared[1]), component
        assert not np.array_equal(apart[0], apart[1]), component
    own = plan(
        task=task,
        share={"rows": ["fixed"], "seed": ["shared", "own"]},
        learner=[{"estimator": "sklearn.tree.ExtraTreeClassifier"}],
    )
    shared, apart = run_trial(own, prepare(own), 0).failed
    assert np.array_equal(shared[0], shared[1])
    assert not np.array_equal(apart[0], apart[1])


def faults(plan: Plan, trial: int = 0) -> tuple[set[str], np.ndarray[Any, Any]]:
    outcome = run_trial(plan, prepare(plan), trial)
    return {fault.reason for fault in outcome.faults}, outcome.failed


def test_faults_are_recorded_with_their_reason(plan: Make, table: Path) -> None:
    hurried = {"estimator": "sklearn.neural_network.MLPClassifier", "parameters": {"max_iter": 2}}
    found, failed = faults(plan(learner=[hurried]))
    assert "did not converge" in found
    assert (failed != UNKNOWN).all()
    found, failed = faults(plan(learner=[{"estimator": "sklearn.dummy.DummyClassifier"}]))
    assert found == {"constant prediction"}
    neighbours = {"estimator": "sklearn.neighbors.KNeighborsClassifier", "parameters": {"n_neighbors": 40}}
    found, failed = faults(plan(learner=[neighbours], blocks=[4]))
    assert found == {"could not be fitted"}
    assert (failed == UNKNOWN).all()
    found, failed = faults(plan(blocks=[96]))
    assert found == {"block too small"}
    assert (failed != UNKNOWN).all()
    rare = pl.read_csv(table).with_columns(good=pl.int_range(pl.len()) == 5)
    rare.write_csv(table)
    found, failed = faults(plan(blocks=[8]))
    assert "class missing" in found
    assert (failed != UNKNOWN).all()
    rare.with_columns(good=(pl.int_range(pl.len()) % 2).cast(str)).with_columns(
        good=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("rare")).otherwise("good")
    ).write_csv(table)
    three = plan(blocks=[8], share={"rows": ["disjoint"]}, task=[{"name": "good", "label": "good", "copies": 8}])
    outcome = run_trial(three, prepare(three), 0)
    lacking = [fault for fault in outcome.faults if fault.reason == "class missing"]
    assert len(lacking) in {7, 8}  # one block at most has the individual of that class
    assert {fault.said for fault in lacking} == {"no 'rare'"}
    assert (outcome.failed != UNKNOWN).all()
    regression, failed = faults(plan(learner=[{"estimator": "sklearn.linear_model.LinearRegression"}]))
    assert "could not be fitted" in regression
    assert {*found, *regression} <= set(FAULTS)


def test_a_learner_that_calls_exit_is_recorded_and_ends_nothing(plan: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.naive_bayes import GaussianNB

    class Leaves(GaussianNB):  # type: ignore[misc]
        def fit(self, *_: Any) -> None:
            raise SystemExit("no licence")

    module = ModuleType("leaving")
    module.Leaves = Leaves  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "leaving", module)
    own = plan(learner=[{"estimator": "leaving.Leaves"}])
    outcome = run_trial(own, prepare(own), 0)
    assert {(fault.reason, fault.said) for fault in outcome.faults} == {
        ("could not be fitted", "SystemExit: no licence")
    }


def test_individuals_without_a_label_are_not_judged(plan: Make, table: Path) -> None:
    holes = pl.read_csv(table).with_columns(good=pl.when(pl.int_range(pl.len()) % 3 > 0).then("good"))
    holes.write_csv(table)
    own = plan()
    outcome = run_trial(own, prepare(own), 0)
    assert ((outcome.failed[:, 0] == UNKNOWN) == (outcome.rows % 3 == 0)).all()
    assert (outcome.failed[:, 1] != UNKNOWN).all()
