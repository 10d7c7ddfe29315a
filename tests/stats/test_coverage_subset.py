"""A few cells of the coverage study with a fixed seed: intervals and tests must keep what docs/coverage.md says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CELLS = 5
TWO_SIDED = ("SF", "E", "excess", "H", "group_difference")
WIDE = ("success_excess", "average", "uniform", "worst", "average_corrected", "uniform_corrected", "worst_corrected")
TESTS = ("independence", "group_contrast", "spread")


@pytest.fixture(scope="module")
def study() -> Any:
    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    load("coverage_tables")
    yield load("coverage_study")
    del sys.modules["coverage_tables"], sys.modules["coverage_study"]


@pytest.mark.parametrize("number", range(CELLS))
def test_coverage_of_a_cell(study: Any, number: int) -> None:
    cells = study.subset()
    assert len(cells) == CELLS
    tallies = study.run(cells[number], 400, study.SUBSET_SEED, every=True)["tallies"]
    for name in (*TWO_SIDED, *WIDE):
        assert tallies[name]["defined"] >= 100, name
        coverage = tallies[name]["hit"] / tallies[name]["defined"]
        assert 0.92 <= coverage <= (0.98 if name in TWO_SIDED else 1.0), (name, coverage)
    for name in TESTS:
        if name in tallies:
            assert tallies[name]["hit"] / tallies[name]["tried"] <= 0.07, name


def test_truths_are_those_of_a_large_sample(study: Any) -> None:
    """The formulas for the truth against one simulated table of 400,000 individuals."""
    import numpy as np

    cell = study.Cell(400_000, 3, "0.2", "homogenized", 0)
    data, truth = study.simulate(cell, np.random.default_rng(1)), study.truth(cell)
    share = data.count / data.count.sum()
    rates = share @ data.failed
    events = data.failed.all(axis=1)
    assert share @ events == pytest.approx(truth["SF"], rel=0.02)
    assert rates.prod() == pytest.approx(truth["E"], rel=0.02)
    by_group = [share[data.group == g] / share[data.group == g].sum() for g in range(3)]
    systemic = [part @ events[data.group == g] for g, part in enumerate(by_group)]
    assert systemic[2] - systemic[0] == pytest.approx(truth["group_difference"], rel=0.06)
    products = np.array([(part @ data.failed[data.group == g]).prod() for g, part in enumerate(by_group)])
    assert products.mean() / rates.prod() == pytest.approx(truth["uniform"], rel=0.02)
    assert products.max() / rates.prod() == pytest.approx(truth["worst"], rel=0.03)
