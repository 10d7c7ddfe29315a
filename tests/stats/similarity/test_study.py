"""The coverage study in small: its truths are those of the law, and intervals hold them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def study():
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "similarity_study.py"
    spec = importlib.util.spec_from_file_location("similarity_study", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_truths_are_those_of_a_large_sample(study):
    cell = study.Cell(200_000, 4, "0.02-0.5", "homogenized", 0)
    found, known = study.replicate(cell, np.random.default_rng(0)), study.truth(cell)
    for name, value in known.items():
        low, high = found[name]
        assert (low + high) / 2 == pytest.approx(value, abs=4 * (high - low) / 3.92), name


@pytest.mark.parametrize("place", range(4))
def test_intervals_of_the_subset_hold_the_truth(study, place):
    result = study.run(study.subset()[place], 150)
    assert study.targeted(result)
    assert study.missed(result) == []


def test_a_narrow_interval_is_missed(study):
    result = study.run(study.subset()[0], 100)
    result["coverage"]["kappa"] = 0.85
    assert [line.split()[1] for line in study.missed(result)] == ["kappa"]
