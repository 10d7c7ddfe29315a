"""Pattern tables for the tests of statistics: the 2020 services, rows written as text, random tables."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Patterns:
    """A pattern table; every argument that the statistics take."""

    judged: Any
    failed: Any
    count: Any
    models: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return int(np.sum(self.count))

    @property
    def failures(self) -> Any:
        return self.count @ self.failed


@pytest.fixture(scope="session")
def hapi() -> Callable[[str], Patterns]:
    def load(name: str) -> Patterns:
        text = files("polyculture.datasets").joinpath("hapi2020_patterns.csv").read_text(encoding="utf-8")
        rows = [row for row in csv.DictReader(text.splitlines()) if row["dataset"] == name]
        models = tuple(rows[0]["models"].split("|"))
        failed = np.array([[model in row["failed"].split("|") for model in models] for row in rows])
        return Patterns(np.ones_like(failed), failed, np.array([int(row["count"]) for row in rows]), models)

    return load


@pytest.fixture(scope="session")
def text_rows() -> Callable[[str], Patterns]:
    def make(text: str) -> Patterns:
        failed = np.array([[c == "1" for c in row] for row in text.split()])
        return Patterns(np.ones_like(failed), failed, np.ones(len(failed)))

    return make


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)
