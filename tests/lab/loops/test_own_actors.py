"""Actors of the user's own: plain classes with the methods that the protocols name, and nothing of scikit-learn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from polyculture.errors import UsageError
from polyculture.lab.components import build
from polyculture.lab.loops.chain import Chain
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.run import check_actors, run
from polyculture.lab.loops.world import everyone
from polyculture.lab.plan import Step
from store_tree import tree

Plan = Callable[..., LoopPlan]


class Resamples:
    """Rows that it has seen, with some noise."""

    def __init__(self, noise: float = 0.1, random_state: int = 0) -> None:
        self.noise, self.random_state = noise, random_state

    def fit(self, features: np.ndarray) -> None:
        self.seen = features

    def sample(self, number: int) -> np.ndarray:
        rng = np.random.default_rng(self.random_state)
        chosen = self.seen[rng.integers(len(self.seen), size=number)]
        return np.asarray(chosen + self.noise * rng.normal(size=chosen.shape))


class NearestMean:
    """The class whose mean is nearer, the surer the farther the others are."""

    def fit(self, features: np.ndarray, label: np.ndarray) -> None:
        self.classes_ = np.unique(label)
        self.means = np.stack([features[label == one].mean(axis=0) for one in self.classes_])

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        near = np.exp(-((features[:, None] - self.means[None]) ** 2).sum(axis=2)) + 1e-300
        return np.asarray(near / near.sum(axis=1, keepdims=True))


class Nothing:
    """Has no method at all."""


@pytest.fixture(autouse=True)
def own_models(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("own_models")
    for one in (Resamples, NearestMean, Nothing):
        setattr(module, one.__name__, one)
    monkeypatch.setitem(sys.modules, "own_models", module)


MEANS = {"estimator": "own_models.NearestMean"}


def test_plain_classes_run_a_loop_and_are_taken_up_again(plan: Plan, tmp_path: Path) -> None:
    star = [{"kind": "STAR", "of": ["classifier", "generator"]}]
    own = plan(
        generator={"estimator": "own_models.Resamples", "parameters": {"noise": 0.2}},
        classifier=[MEANS],
        arm=[{"setting": "SeqGenSeqClass", "intervention": star}],
        seeds=1,
    )
    store = run(own, tmp_path / "out")
    assert [one.stopped for one in store.generations(0)] == ["", "", ""]
    whole = tree(tmp_path / "out")
    (last,) = store.path.glob("generation-000000-0002-*")
    last.unlink()
    run(own, tmp_path / "out")
    assert {name: whole[name] for name in whole if "store" in name} == {
        name: found for name, found in tree(tmp_path / "out").items() if "store" in name
    }


def test_a_plain_generator_is_given_a_random_state_and_draws_anew_with_each(plan: Plan) -> None:
    chain = Chain(own := plan(generator={"estimator": "own_models.Resamples"}), everyone(own), 0)
    one, other = (chain.generators[0].sample(50, np.random.default_rng(seed))[0] for seed in (0, 1))
    assert chain.generators[0].last.noise == 0.1
    assert not np.allclose(one, other)


def test_annotators_learn_labels_and_groups_each_as_the_plan_says(plan: Plan) -> None:
    data = plan().data
    own = plan(
        data={"source": data.source, "id": data.id, "groups": ["x>0"]},
        label_annotator=MEANS,
        group_annotator={"estimator": "sklearn.tree.DecisionTreeClassifier"},
    )
    chain = Chain(own, everyone(own), 0)
    label, group, there = chain.annotator, chain.grouping, chain.world
    assert [type(one.estimator).__name__ for one in (label, group)] == ["NearestMean", "DecisionTreeClassifier"]  # type: ignore[attr-defined]
    assert (group.decide(there.test_features) == there.test_group).mean() > 0.95
    assert (label.decide(there.test_features) == there.test_label).mean() > 0.65
    assert (label.decide(there.features) != there.group).any()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"generator": {"estimator": "own_models.NearestMean"}}, "NearestMean samples nothing"),
        ({"classifier": [{"estimator": "own_models.Nothing"}]}, "Nothing learns nothing (fit)"),
        ({"classifier": [{"estimator": "own_models.Resamples"}]}, "Resamples gives no probabilities"),
        (
            {"label_annotator": {"steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}, MEANS]}},
            "NearestMean stands behind other steps",
        ),
    ],
)
def test_what_lacks_a_method_of_its_protocol_is_refused(plan: Plan, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_actors(plan(**changed))
    assert message in str(caught.value)


def test_a_parameter_that_a_plain_class_has_not_is_named() -> None:
    with pytest.raises(UsageError, match=r"Resamples cannot be made with these parameters: .*'nois'"):
        build([Step(estimator="own_models.Resamples", parameters={"nois": 1})])
