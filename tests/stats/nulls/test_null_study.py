"""The part of the study of rejection rates that continuous integration repeats."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def null_study():
    spec = importlib.util.spec_from_file_location("null_study", BENCHMARKS / "null_study.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["null_study"] = module
    spec.loader.exec_module(module)
    return module


def test_true_nulls_are_kept_and_poorer_ones_rejected(null_study):
    fitted = ("permutation", "equicorrelated", "rasch", "2pl")
    found = null_study.study(["independence", "rasch"], fitted, 12, 24, 1)
    rates = {law: dict(zip(fitted, rows[:, 0], strict=True)) for law, rows in found.items()}
    # 5 of 24 rejections have a chance below .01 at 7 %.
    for law in found:
        for name in set(fitted) & null_study.HOLDS[law]:
            assert rates[law][name] <= 5 / 24, (law, name)
    assert rates["rasch"]["permutation"] == 1.0
    for law, rows in found.items():
        holds = np.array([name in null_study.HOLDS[law] for name in fitted])
        assert (rows[holds, 1] >= 20).all()
        assert (rows[~holds, 1] <= 12).all()


def test_laws_have_the_rates_that_they_are_made_with(null_study):
    rng = np.random.default_rng(1)
    for law in ("equicorrelated", "factors-1", "factors-2", "independence"):
        means = np.mean([null_study.rates_of(law, rng)[0].mean(axis=0) for _ in range(5)], axis=0)
        np.testing.assert_allclose(means, null_study.RATES, atol=0.02)


def test_table_marks_what_holds(null_study):
    found = {"rasch": np.array([[0.1, 20.0], [0.9, 20.0], [0.0, 0.0]])}
    text = null_study.table(found, ("rasch", "permutation", "classes-2"))
    assert "| rasch | **0.10** | 0.90 | - |" in text
