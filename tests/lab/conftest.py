"""A small table of made individuals, and plans over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from make_people import people
from polyculture.lab.plan import Plan
from polyculture.lab.planfile import plan_from

pytest.importorskip("sklearn", reason="the lab needs the extra [lab]")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


@pytest.fixture
def content(table: Path) -> Callable[..., dict[str, Any]]:
    """Return the table of a plan, with fields replaced."""

    def make(**changed: Any) -> dict[str, Any]:
        return {
            "data": {"source": str(table), "id": "person", "groups": ["sex"]},
            "task": [{"name": "good", "label": "good"}, {"name": "large", "label": "amount > 100"}],
            "learner": [{"estimator": "sklearn.naive_bayes.GaussianNB"}],
            "blocks": [2, 4],
            "model_seeds": 2,
            "partition_seeds": 3,
            "chunk": 5,
            **changed,
        }

    return make


@pytest.fixture
def plan(content: Callable[..., dict[str, Any]]) -> Callable[..., Plan]:
    return lambda **changed: plan_from(content(**changed))
