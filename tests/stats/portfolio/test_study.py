"""The part of the portfolio study that continuous integration repeats."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "portfolio_study.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("portfolio_study", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["portfolio_study"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["alike", "different"])
def test_held_out_values_are_those_of_the_sets_chosen(study, kind):
    found = [study.replicate(kind, 300, 8, 3, seed) for seed in range(40)]
    inside, outside, aim, covered = (sum(column) / len(found) for column in zip(*found, strict=True))
    assert inside < 0.75 * aim
    # the standard deviation of one replicate is below .01
    assert outside == pytest.approx(aim, abs=3 * 0.01 / len(found) ** 0.5)
    assert covered >= 0.875
