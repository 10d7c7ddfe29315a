"""What models of the user's do wrong is recorded with its reason, and ends nothing but their chain."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB

import polyculture as pc
from polyculture.errors import UsageError
from polyculture.lab.components import build
from polyculture.lab.loops.actors import Fitted
from polyculture.lab.plan import Step

Content = Callable[..., dict[str, Any]]


class Leaves(GaussianNB):  # type: ignore[misc]
    def fit(self, *_: Any, **__: Any) -> None:
        raise SystemExit(3)


class NoNumbers(GaussianNB):  # type: ignore[misc]
    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        found = super().predict_proba(features)
        found[: len(found) // 3] = np.nan
        return np.asarray(found)


class OneColumn(GaussianNB):  # type: ignore[misc]
    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        return np.full((len(features), 1), 0.5)


class LeavesLate(GaussianMixture):  # type: ignore[misc]
    def sample(self, *_: Any) -> Any:
        raise SystemExit("no licence")


class Few(GaussianMixture):  # type: ignore[misc]
    def sample(self, n_samples: int = 1) -> Any:
        return super().sample(n_samples // 3)


class Many(GaussianMixture):  # type: ignore[misc]
    def sample(self, n_samples: int = 1) -> Any:
        return super().sample(n_samples + 5)


class CannotBe(GaussianNB):  # type: ignore[misc]
    def __init__(self) -> None:
        raise ValueError("not on Tuesdays")


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("faulty_models")
    for one in (Leaves, NoNumbers, OneColumn, LeavesLate, Few, Many, CannotBe):
        setattr(module, one.__name__, one)
    monkeypatch.setitem(sys.modules, "faulty_models", module)
    return "faulty_models"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"classifier": [{"estimator": "faulty_models.Leaves"}]}, "SystemExit: 3"),
        ({"classifier": [{"estimator": "faulty_models.NoNumbers"}]}, "no finite probabilities for 24 of 72 people"),
        ({"classifier": [{"estimator": "faulty_models.OneColumn"}]}, "the shape (72, 1) for 72 people and 2 classes"),
        ({"generator": {"estimator": "faulty_models.LeavesLate"}}, "SystemExit: no licence"),
        ({"generator": {"estimator": "faulty_models.Few"}}, "gives 56 people where it is asked for 168"),
        ({"generator": {"estimator": "faulty_models.Many"}}, "gives 173 people where it is asked for 168"),
    ],
)
def test_a_model_that_fails_at_once_ends_its_chains_with_the_reason(
    content: Content, faulty: str, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    works = {"estimator": "sklearn.naive_bayes.GaussianNB"}
    annotators = {"label_annotator": works, "group_annotator": works}
    found = pc.lab.loop(content(seeds=2, **annotators, **changed), out=tmp_path / "out")
    assert found.record.headline == "No chain came to its last generation: see what went wrong."
    stopped = next(one for one in found.record.faults if one.reason == "stopped")
    assert (stopped.count, stopped.first) == (2, 0)
    assert said in stopped.said
    accuracy = next(one for one in found.curves if one.measure == "accuracy")
    assert (accuracy.value, accuracy.reason) == ((None, None, None), "undefined at every seed")
    # It is all written, read again, and shown.
    assert pc.lab.open_loop(tmp_path / "out").record == found.record
    assert said.replace("'", "&#39;") in (tmp_path / "out" / "report.html").read_text()
    assert "No chain" in str(found)
    assert any(said in note for note in found.record.notes)


@pytest.mark.parametrize("given", [np.full((4, 2), np.nan), np.full((4, 1), 0.5), np.full(4, 0.5), np.ones((3, 2))])
def test_probabilities_are_finite_and_one_of_each_class_for_everyone(given: np.ndarray) -> None:
    class Says:
        classes_ = np.array([0, 1])

        def predict_proba(self, _: np.ndarray) -> np.ndarray:
            return given

    with pytest.raises(ValueError, match="predict_proba gives"):
        Fitted(Says(), 2).decide(np.zeros((4, 3)))


def test_a_module_that_leaves_when_it_is_imported_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaves_at_once.py").write_text("import sys\nsys.exit(4)\n")
    (tmp_path / "breaks_at_once.py").write_text("raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, said in (("leaves_at_once", "SystemExit: 4"), ("breaks_at_once", "RuntimeError: no")):
        with pytest.raises(UsageError, match=f"'{name}.X' cannot be imported: {said}"):
            build([Step(estimator=f"{name}.X")])


def test_a_class_that_cannot_be_made_is_refused(faulty: str) -> None:
    with pytest.raises(UsageError, match="ValueError: not on Tuesdays"):
        build([Step(estimator="faulty_models.CannotBe")])


@pytest.mark.parametrize("error", [ValueError("no such table"), SystemExit("no such table")])
def test_a_loader_that_fails_is_named(content: Content, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fails() -> None:
        raise error

    module = ModuleType("failing_loader")
    module.fails = fails  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "failing_loader", module)
    with pytest.raises(UsageError, match=r"'failing_loader:fails' failed: (ValueError|SystemExit): no such table"):
        pc.lab.loop(content(data={"source": "failing_loader:fails"}))
