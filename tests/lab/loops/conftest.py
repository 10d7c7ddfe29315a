"""Small plans of loops over made individuals, and worlds and moments to try shifts in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from make_people import people
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.rows import Moment, Rows
from polyculture.lab.loops.world import World
from polyculture.lab.planfile import plan_from


@pytest.fixture
def content(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return the table of a plan, with fields replaced."""
    path = tmp_path / "people.csv"
    people(240).write_csv(path)

    def make(**changed: Any) -> dict[str, Any]:
        return {
            "data": {"source": str(path), "id": "person", "groups": ["sex"]},
            "label": "good",
            "generator": {"estimator": "sklearn.mixture.GaussianMixture", "parameters": {"reg_covar": 0.001}},
            "generations": 3,
            "seeds": 2,
            "samples": 300,
            "arm": [{"setting": "SeqGenSeqClass"}],
            **changed,
        }

    return make


@pytest.fixture
def plan(content: Callable[..., dict[str, Any]]) -> Callable[..., LoopPlan]:
    return lambda **changed: plan_from(content(**changed), "the plan", LoopPlan)


class Says:
    """Decides by the sign of the first feature; its probability of class 1 is a logistic of it."""

    def __init__(self, turn: float = 1.0) -> None:
        self.turn = turn

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        one = 1.0 / (1.0 + np.exp(-self.turn * features[:, 0]))
        return np.column_stack([1.0 - one, one])

    def decide(self, features: np.ndarray) -> np.ndarray:
        return (self.turn * features[:, 0] > 0).astype(np.int64)


@pytest.fixture
def world() -> World:
    rng = np.random.default_rng(0)
    features, group = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    label = (features[:, 0] > 0).astype(np.int64)
    return World(
        features, label, group, features, label, group, ("0", "1"), ("a", "b"), 1, np.full(4, 0.25)
    )  # fmt: skip


@pytest.fixture
def moment(world: World) -> Callable[..., Moment]:
    def make(**changed: Any) -> Moment:
        everyone = Rows(world.features, world.label, world.group)
        return Moment(
            **{
                "purpose": "classifier",
                "world": world,
                "previous": Says(-1.0),
                "annotator": Says(),
                "original": lambda number: everyone[np.arange(number) % 200],
                "foreign": lambda number: Rows(
                    np.full((number, 2), 9.0), np.ones(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
                ),
                "errors": np.zeros((0, 2)),
                "rng": np.random.default_rng(1),
                **changed,
            }
        )

    return make


@pytest.fixture
def draw() -> Callable[[int], Rows]:
    """People with independent features, labels of their first feature and two groups of different size."""
    rng = np.random.default_rng(2)

    def people_of(number: int) -> Rows:
        features = rng.normal(size=(number, 2))
        return Rows(features, (features[:, 0] > 0).astype(np.int64), (rng.random(number) < 0.3).astype(np.int64))

    return people_of
