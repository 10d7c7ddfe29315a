"""Models that several chains train alike are trained once, and nothing else changes by that."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from polyculture.lab.loops import run as running
from polyculture.lab.loops import trainer
from polyculture.lab.loops.memory import Memory, together
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.rows import Event

STAR = {"kind": "STAR", "of": ["classifier"], "budget": 0.25}
ARMS = [
    {"setting": "SeqClass"},
    {"setting": "SeqGenSeqClass"},
    {"setting": "SeqGenSeqClass", "intervention": [STAR]},
    {"setting": "SeqGenSeqClass", "intervention": [{**STAR, "of": ["generator"]}]},
    {"setting": "SeqGenNonSeqClass"},
]


class Counts(BaseEstimator):  # type: ignore[misc]
    """A generator whose numbers depend on how often it was asked."""

    def fit(self, X: np.ndarray) -> Counts:  # noqa: N803
        self.mean_, self.asked_ = X.mean(axis=0), 0
        return self

    def sample(self, number: int) -> np.ndarray:
        self.asked_ += 1
        return np.random.default_rng(self.asked_).normal(self.mean_, 1.0, (number, len(self.mean_)))


def hashes(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}  # fmt: skip


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the random states with which a generator was fitted."""
    found: list[int] = []
    own = trainer.fit_generator

    def counted(steps: Any, rows: Any, seed: int, *more: Any) -> Any:
        found.append(seed)
        return own(steps, rows, seed, *more)

    monkeypatch.setattr(trainer, "fit_generator", counted)
    return found


def test_arms_with_the_same_generators_train_them_once(
    plan: Callable[..., LoopPlan], fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = plan(arm=ARMS)
    running.run(own, tmp_path / "together")
    generations, seeds, groups = 3, 2, 3  # SeqClass; reparation of generators; the other three
    assert len(fits) == seeds * (generations * (groups - 1) + 1)
    fits.clear()
    monkeypatch.setattr(running, "together", lambda _, chains, __: [[chain] for chain in chains])
    running.run(own, tmp_path / "alone")
    assert len(fits) == seeds * (generations * (len(ARMS) - 1) + 1)
    assert hashes(tmp_path / "together/store") == hashes(tmp_path / "alone/store")


def test_a_generator_that_remembers_how_often_it_was_asked_is_not_shared(
    plan: Callable[..., LoopPlan], fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = plan(arm=ARMS[1:3], generator={"estimator": f"{__name__}.Counts"})
    running.run(own, tmp_path / "together")
    assert len(fits) == 2 * 2 * 3
    monkeypatch.setattr(running, "together", lambda _, chains, __: [[chain] for chain in chains])
    running.run(own, tmp_path / "alone")
    assert hashes(tmp_path / "together/store") == hashes(tmp_path / "alone/store")


def test_models_of_earlier_generations_are_let_go_of(
    plan: Callable[..., LoopPlan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    class Watched(Memory):
        def forget(self, before: int) -> None:
            super().forget(before)
            sizes.append(len(self._found))

    monkeypatch.setattr(running, "Memory", Watched)
    running.run(plan(arm=ARMS[1:3], generations=6), tmp_path / "out")
    assert max(sizes) == 3  # the generator and the two annotators of generation 0
    assert set(sizes[-6:]) <= {0, 1}


def test_chains_that_may_train_alike_are_run_together(plan: Callable[..., LoopPlan]) -> None:
    own = plan(arm=[*ARMS, {"setting": "SeqGenSeqClass", "shift": [{"kind": "synthetic share", "share": 0.5}]}])
    found = together(own, range(own.chains), jobs=2)
    assert sorted(found) == [[0], [1], [2, 4, 8], [3, 5, 9], [6], [7], [10], [11]]
    assert [len(one) for one in found[:2]] == [3, 3]
    assert together(own, [4, 8], jobs=1) == [[4, 8]]
    assert together(own, [4, 8], jobs=2) == [[4], [8]]  # one would have nothing to do


def test_what_a_model_said_is_heard_by_all_and_what_fails_is_not_remembered() -> None:
    memory, heard, tried = Memory(), [], []

    def train(events: list[Event]) -> str:
        tried.append(1)
        events.append(Event("did not converge", ""))
        if len(tried) == 1:
            raise ValueError("once")
        return "model"

    features = np.zeros((2, 2))
    with pytest.raises(ValueError, match="once"):
        memory.model("label", 0, [features], 0, heard, train)
    for _ in range(2):
        assert memory.model("label", 0, [features], 0, heard, train) == "model"
    assert (len(tried), len(heard)) == (2, 3)


@pytest.mark.parametrize(
    "other",
    [
        ("group", 0, [np.zeros((2, 2)), None], 0),
        ("label", 1, [np.zeros((2, 2)), None], 0),
        ("label", 0, [np.zeros((2, 2)), None], 1),
        ("label", 0, [np.zeros((2, 2), dtype=np.float32), None], 0),
        ("label", 0, [np.zeros((4, 1)), None], 0),
        ("label", 0, [np.array([[0.0, 0.0], [0.0, 1.0]]), None], 0),
        ("label", 0, [np.zeros((2, 2)), np.zeros(2)], 0),
        ("label", 0, [None, np.zeros((2, 2))], 0),
    ],
)
def test_a_model_is_another_where_anything_that_it_learned_from_is(other: Any) -> None:
    memory = Memory()
    memory.model("label", 0, [np.zeros((2, 2)), None], 0, [], lambda _: "one")
    assert memory.model(*other, [], lambda _: "another") == "another"
