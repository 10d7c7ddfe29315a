"""A plan that does not fit together is refused with its place and the nearest name, before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from polyculture.errors import ColumnError, PolycultureError, UsageError, ValueInDataError
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.run import check_actors
from polyculture.lab.loops.starter import LOOP_STARTER
from polyculture.lab.loops.world import everyone, world_of
from polyculture.lab.planfile import plan_from, read_plan

Content = Callable[..., dict[str, Any]]
Plan = Callable[..., LoopPlan]


def test_the_starter_is_a_plan_and_reads_the_same_again() -> None:
    plan = plan_from(tomllib.loads(LOOP_STARTER), "the plan", LoopPlan)
    assert plan.arm_names() == ("SeqClass", "SeqGenSeqClass", "SeqGenSeqClass + cla+gen-STAR")
    assert plan_from(msgspec.to_builtins(plan), "the plan", LoopPlan) == plan
    check_actors(plan)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"generation": 3}, "Did you mean 'generations'?"),
        ({"arm": [{"seting": "SeqClass"}]}, "Did you mean 'setting'?"),
        ({"arm": [{"shift": [{"kind": "synthetic shar"}]}]}, "Did you mean 'synthetic share'?"),
        ({"arm": [{"shift": [{"share": 0.5}]}]}, "needs a kind"),
        ({"arm": [{"intervention": [{"kind": "STAR", "bugdet": 0.5}]}]}, "Did you mean 'budget'?"),
        ({"arm": [{"setting": "SeqGen"}]}, "arm[0].setting: Invalid enum value 'SeqGen'"),
        ({"arm": [{"setting": "SeqGenSeqClas"}]}, "Did you mean 'SeqGenSeqClass'?"),
        ({"arm": [{"setting": "other"}]}, "Write one of: SeqClass, SeqGenSeqClass, SeqGenNonSeqClass, Static."),
        ({"arm": [{"intervention": [{"kind": "STAR", "of": ["clasifier"]}]}]}, "Did you mean 'classifier'?"),
        ({"ideal": "unifrom"}, "Did you mean 'uniform'?"),
        ({"generations": 0}, "generations = 0 is too small"),
        ({"samples": 5}, "samples = 5"),
        ({"keep": 400}, "keep = 400 is more"),
        ({"test_share": 1.0}, "test_share"),
        ({"endpoints": ["acuracy"]}, "Did you mean 'accuracy'?"),
        ({"arm": []}, "names no arm"),
        ({"arm": [{}, {}]}, "stands in the plan twice"),
        ({"arm": [{}, {"setting": "Static", "against": "SeqClas"}]}, "Did you mean 'SeqClass'?"),
        ({"ideal": [{"target": "1", "group": "f", "share": 0.6}]}, "sum to 0.6, not to 1"),
        ({"ideal": [{"target": "1", "group": "f", "share": 1.5}]}, "Give numbers between 0 and 1"),
        ({"arm": [{"pool": "shared"}]}, "one decision-maker only"),
        ({"arm": [{"shift": [{"kind": "synthetic share"}]}]}, "its generator is never trained again"),
        ({"arm": [{"intervention": [{"kind": "STAR", "of": ["generator"]}]}]}, "its generator is never trained again"),
        ({"arm": [{"shift": [{"kind": "data spill", "share": 1.2}]}]}, "is no share"),
        ({"arm": [{"shift": [{"kind": "disparity amplification", "strength": 2.0}]}]}, "above 1"),
        ({"arm": [{"intervention": [{"kind": "STAR", "budget": -0.1}]}]}, "below 0"),
        ({"arm": [{"intervention": [{"kind": "STAR", "budget": 1e9}]}]}, "more than can be drawn"),
        (
            {"arm": [{"intervention": [{"kind": "STAR", "budget": float("nan")}]}]},
            "budget = nan of 'STAR' is no number",
        ),
        ({"arm": [{"intervention": [{"kind": "STAR", "batch": -5}]}]}, "batch = -5 of 'STAR' is too small"),
        ({"arm": [{"intervention": [{"kind": "fairness constraint", "rounds": 0}]}]}, "Give 1 or more"),
        ({"arm": [{"shift": [{"kind": "runaway feedback", "looked": 0}]}]}, "looked = 0 of 'runaway feedback'"),
        ({"arm": [{"shift": [{"kind": "runaway feedback", "strength": float("inf")}]}]}, "strength = inf"),
        (
            {"arm": [{"intervention": [{"kind": "reweighting"}, {"kind": "fairness constraint"}]}]},
            "reweighting and a fairness constraint, which weighs people itself",
        ),
        ({"arm": [{"intervention": [{"kind": "STAR"}, {"kind": "class balance"}]}]}, "selects twice"),
        ({"arm": [{"intervention": [{"kind": "drop detected", "share": 0.95}]}]}, "drops 95%"),
        (
            {"arm": [{"setting": "SeqGenSeqClass", "intervention": [{"kind": "reweighting", "of": ["generator"]}]}]},
            "of classifiers only",
        ),
        ({"batch": 10, "arm": [{"intervention": [{"kind": "fairness constraint"}]}]}, "on batches"),
        ({"generator": {}}, "generator needs an estimator or steps"),
    ],
)
def test_what_does_not_fit_together_is_refused(content: Content, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_from(content(**changed), "the plan", LoopPlan)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"generator": {"estimator": "sklearn.svm.SVC"}}, "samples nothing"),
        ({"generator": {"estimator": "sklearn.mixture.GaussianMixtur"}}, "Did you mean 'GaussianMixture'?"),
        (
            {
                "generator": {
                    "steps": [
                        {"estimator": "sklearn.preprocessing.Normalizer"},
                        {"estimator": "sklearn.mixture.GaussianMixture"},
                    ]
                }
            },
            "cannot be undone",
        ),
        ({"classifier": [{"estimator": "sklearn.svm.LinearSVC"}]}, "gives no probabilities"),
        ({"batch": 20}, "cannot learn from batches"),
        (
            {
                "classifier": [{"estimator": "sklearn.neighbors.KNeighborsClassifier"}],
                "arm": [{"intervention": [{"kind": "reweighting"}]}],
            },
            "takes no weights",
        ),
    ],
)
def test_actors_that_lack_what_is_asked_are_refused(plan: Plan, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_actors(plan(**changed))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"favourable": "yes"}, UsageError, "is no class of the label"),
        ({"ideal": [{"target": "2", "group": "f", "share": 1.0}]}, UsageError, "the class '2', which there is not"),
        ({"ideal": [{"target": "1", "group": "ff", "share": 1.0}]}, UsageError, "the group 'ff'"),
        (
            {"ideal": [{"target": "1", "group": "f", "share": 0.5}, {"target": "1", "group": "f", "share": 0.5}]},
            UsageError,
            "twice",
        ),
        (
            {"ideal": [{"target": "1", "group": "f", "share": 0.0}, {"target": "1", "group": "f", "share": 1.0}]},
            UsageError,
            "twice",
        ),
        ({"label": "god"}, PolycultureError, "Did you mean 'good'?"),
    ],
)
def test_an_ideal_or_class_that_the_data_have_not(
    plan: Plan, changed: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        everyone(plan(**changed))
    assert message in str(caught.value)


def test_data_that_no_loop_can_learn_from(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame = pl.read_csv(path)
    for column, value, kind, message in (
        ("x", None, ValueInDataError, "'x' has empty cells"),
        ("good", None, ValueInDataError, "The label 'good' is missing for 1"),
        ("sex", None, ValueInDataError, "The group is not known of 1"),
    ):
        at = pl.int_range(frame.height) == 3
        frame.with_columns(pl.when(at).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)).write_csv(path)
        with pytest.raises(kind, match=message):
            everyone(plan())
    frame.write_csv(path)
    data = {"source": str(path), "id": "person", "groups": ["amount"]}
    with pytest.raises(ColumnError, match=r"makes .* groups of 240"):
        everyone(plan(data=data))


def test_a_group_without_training_individuals_is_named(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame = pl.read_csv(path)
    alone = pl.when(pl.int_range(frame.height) == 0).then(pl.lit("x")).otherwise(pl.col("sex"))
    frame.with_columns(sex=alone).write_csv(path)
    everybody = everyone(plan(test_share=0.5))
    found = []
    for seed in range(8):
        try:
            world_of(plan(test_share=0.5), everybody, seed)
        except ColumnError as error:
            found.append(error.message)
    assert found
    assert all("'sex = x' has no training individual at seed" in message for message in found)


def test_any_table_of_strata_becomes_the_ideal(plan: Plan) -> None:
    table = [
        {"target": "0", "group": "f", "share": 0.1},
        {"target": "1", "group": "f", "share": 0.4},
        {"target": "1", "group": "m", "share": 0.5},
    ]
    assert everyone(plan(ideal=table)).ideal.tolist() == [0.1, 0.0, 0.4, 0.5]  # type: ignore[union-attr]
    more = everyone(plan(label="code", favourable="b"))
    assert more.ideal is not None
    assert more.ideal == pytest.approx(np.full(6, 1 / 6))
    own = plan(ideal="original")
    world = world_of(own, everyone(own), 0)
    strata = np.bincount(world.stratum(world.label, world.group), minlength=4)
    assert world.ideal == pytest.approx(strata / strata.sum())


def test_the_class_that_is_good_to_get_is_the_last_where_the_plan_does_not_say(plan: Plan) -> None:
    assert everyone(plan()).favourable == 1
    assert everyone(plan(label="code")).favourable == 2
    assert everyone(plan(label="code", favourable="a")).favourable == 0


def test_a_table_of_toml_says_what_a_setting_changes(tmp_path: Path, content: Content) -> None:
    path = tmp_path / "loop.toml"
    path.write_text(
        f'label = "good"\n[data]\nsource = "{content()["data"]["source"]}"\n[[classifier]]\n'
        'estimator = "sklearn.naive_bayes.GaussianNB"\n[generator]\nestimator = "sklearn.mixture.GaussianMixture"\n'
    )
    plan = read_plan(path, ["generations=4", "classifier.var_smoothing=0.1", "generator.parameters.tol=0.1"], LoopPlan)
    assert (plan.generations, plan.classifiers[0].parameters) == (4, {"var_smoothing": 0.1})
