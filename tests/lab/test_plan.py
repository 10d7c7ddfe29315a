from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from polyculture.errors import FileError, UsageError
from polyculture.lab.components import build, check_learners
from polyculture.lab.plan import Learner, Plan, Step
from polyculture.lab.planfile import STARTER, plan_from, read_plan, with_settings

Content = Callable[..., dict[str, Any]]


def test_the_starter_is_a_plan_that_survives_json_and_back() -> None:
    plan = plan_from(tomllib.loads(STARTER))
    check_learners(plan)
    assert [arm.name for arm in plan.arms()] == ["fixed", "overlap 0.5", "disjoint"]
    assert plan.trials() == 2 * 3 * 5 * 3
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    assert plan_from(msgspec.to_builtins(plan)) == plan


def test_arms_are_all_combinations_of_levels(plan: Callable[..., Plan]) -> None:
    found = plan(share={"rows": ["disjoint", "fixed"], "seed": ["shared", "own"]}).arms()
    assert [arm.name for arm in found] == [
        "fixed, seed shared",
        "fixed, seed own",
        "disjoint, seed shared",
        "disjoint, seed own",
    ]
    assert [arm.shares("rows") for arm in found] == [1.0, 1.0, 0.0, 0.0]


def test_copies_are_decision_makers_of_their_own(plan: Callable[..., Plan]) -> None:
    found = plan(task=[{"name": "good", "label": "good", "copies": 3}], blocks=[4])
    assert found.decision_makers() == ("good 1", "good 2", "good 3")
    assert found.task_of() == (0, 0, 0)


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        ({"dta": 1}, "no key 'dta' in a plan", "'data'"),
        ({"data": {"source": "x", "code": "ordinal"}}, "no key 'code' in data", "'codes'"),
        ({"task": [{"name": "a", "label": "good", "lable": "x"}]}, "no key 'lable' in task 1", "'label'"),
        ({"learner": [{"steps": [{"estimater": "x"}]}]}, "no key 'estimater' in learner 1 steps 1", "'estimator'"),
        ({"task": [{"name": "a"}]}, "task[0]: there is no 'label'", "Mend"),
        ({"blocks": "4"}, "blocks: expected 'list', got 'str'", "Mend"),
        ({"blocks": [1, 4]}, "blocks = 1 is fewer than the 2 decision-makers", "2 or more"),
        ({"blocks": [0]}, "blocks holds 0", "from 1"),
        ({"blocks": [4, 4]}, "number of blocks 4 stands in the plan twice", "own"),
        ({"share": {"rows": ["fixed", 1.5]}}, "share.rows holds 1.5", "between 0 and 1"),
        ({"share": {"rows": ["same"]}}, "share.rows holds 'same'", '"fixed"'),
        ({"share": {"rows": []}}, "share.rows is []", "at least one"),
        ({"share": {"learner": ["own"]}}, 'share.learner has "own"', "[[learner]]"),
        ({"share": {"learners": ["own"]}}, "no key 'learners' in share", "'learner'"),
        ({"task": [{"name": "a", "label": "good"}]}, "only one decision-maker", "copies = 2"),
        ({"task": [{"name": "a", "label": "good", "copies": 0}]}, "copies = 0", "1 or more"),
        ({"learner": []}, "names no learners", "Add"),
        ({"learner": [{"name": "x"}]}, "needs one of estimator, steps and adapt", "sklearn.svm.SVC"),
        ({"test_share": 1.0}, "test_share = 1", "between 0 and 1"),
        ({"model_seeds": 0}, "model_seeds = 0", "1 or more"),
        ({"split": "random"}, "split", "Write one of: trial, partition, fixed."),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    content: Content, changed: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        plan_from(content(**changed))
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("step", "message", "hint"),
    [
        (Step(estimator="sklearn.svm.NuSVCC"), "no 'NuSVCC' in sklearn.svm", "'NuSVC'"),
        (Step(estimator="sklearn.swm.SVC"), "cannot be imported", "Correct"),
        (Step(estimator="SVC"), "no import path", "sklearn.svm.SVC"),
        (Step(estimator="sklearn.svm.SVC", parameters={"gama": 1}), "cannot be made", "'gamma'"),
        (Step(estimator="sklearn.preprocessing.StandardScaler"), "predicts nothing", "classifier"),
        (Step(estimator="pathlib.Path"), "cannot be made", "scikit-learn"),
    ],
)
def test_a_wrong_learner_is_refused_before_anything_runs(
    plan: Callable[..., Plan], step: Step, message: str, hint: str
) -> None:
    wrong = msgspec.structs.replace(plan(), learners=(Learner(name="wrong", steps=(step,)),))
    with pytest.raises(UsageError) as caught:
        check_learners(wrong)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_parameters_may_be_estimators_and_the_seed_reaches_all_that_take_one() -> None:
    inner = {"estimator": "sklearn.linear_model.LogisticRegression", "parameters": {"C": 2.0}}
    step = Step(estimator="sklearn.ensemble.BaggingClassifier", parameters={"estimator": inner})
    made = build((Step(estimator="sklearn.preprocessing.StandardScaler"), step), 7)[-1]
    assert made.random_state == 7
    assert (made.estimator.C, made.estimator.random_state) == (2.0, 7)
    given = Step(estimator="sklearn.svm.SVC", parameters={"random_state": 1})
    assert build((given,), 7)[-1].random_state == 1


def test_settings_of_the_shell_override_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(STARTER)
    found = read_plan(
        path, ["blocks=[2]", "data.codes=ordinal", "learner=sklearn.svm.SVC", "learner.C=0.5", "split=fixed"]
    )
    assert (found.blocks, found.data.codes, found.split) == ((2,), "ordinal", "fixed")
    assert found.learners == (Learner(estimator="sklearn.svm.SVC", parameters={"C": 0.5}),)
    svc = {"estimator": "sklearn.svm.SVC"}
    for text, learners in {
        "sklearn.svm.SVC, a.B": [svc, {"estimator": "a.B"}],
        '"sklearn.svm.SVC"': [svc],
        '["sklearn.svm.SVC", "probe"]': [svc, {"adapt": "probe"}],
        '[{estimator = "sklearn.svm.SVC", parameters = {C = 2.0}}]': [{**svc, "parameters": {"C": 2.0}}],
        "probe,lora": [{"adapt": "probe"}, {"adapt": "lora"}],
    }.items():
        assert with_settings({}, [f"learner={text}"]) == {"learner": learners}
    assert with_settings({}, ["classifier=probe"]) == {"classifier": [{"estimator": "probe"}]}
    with pytest.raises(UsageError, match="learner"):
        read_plan(path, ["learner=3"])
    for wrong in ("blocks", "=3", "task.name=x", "learner.a.b=1"):
        with pytest.raises(UsageError):
            read_plan(path, [wrong])
    with pytest.raises(UsageError, match="model_seeds"):
        read_plan(path, ["model_seed=2"])
    assert with_settings({}, ["name=a b"]) == {"name": "a b"}


def test_a_plan_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="lab init"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("blocks = [")
    with pytest.raises(FileError, match="no TOML"):
        read_plan(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(FileError, match="not UTF-8"):
        read_plan(tmp_path / "latin.toml")
    with pytest.raises(FileError, match="cannot be read"):
        read_plan(tmp_path)
