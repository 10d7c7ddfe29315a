"""The study of components in small: nothing is found where nothing is shared, and what is shared is recovered."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.error_consistency import kappa


@pytest.fixture(scope="module")
def study():
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "components_study.py"
    spec = importlib.util.spec_from_file_location("components_study", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_true_likeness_is_that_of_very_many_individuals(study, monkeypatch):
    monkeypatch.setattr(study, "INDIVIDUALS", 200_000)
    cell, rng = study.Cell(5, 0.2, 0.1, "random"), np.random.default_rng(0)
    models = study.draw_models(cell, rng)
    failed = study.draw_failures(cell, models, rng)
    found = kappa(cells_of(make_rows(np.ones_like(failed), failed, np.ones(len(failed)))))
    upper = np.triu_indices(5, 1)
    assert study.true_kappa(cell, models)[upper] == pytest.approx(found[upper], abs=0.012)


def test_nothing_is_found_where_nothing_is_shared(study, monkeypatch):
    monkeypatch.setattr(study, "PERMUTATIONS", 99)
    result = study.run(study.Cell(12, 0.0, 0.0, "random"), 200)
    for name in ("first alone", "first together", "second alone", "second together"):
        assert result[name] <= 0.09, name
    assert result["first jackknife"] >= 0.93
    assert result["first share held"] >= 0.93
    assert abs(result["first share"]) < 0.01


def test_a_component_that_follows_accuracy_is_not_found_at_like_accuracies(study, monkeypatch):
    monkeypatch.setattr(study, "PERMUTATIONS", 99)
    result = study.run(study.Cell(24, 0.0, 0.0, "by accuracy"), 60)
    assert result["second alone"] >= 0.8
    assert result["second together"] <= 0.15


def test_what_is_shared_is_recovered(study, monkeypatch):
    monkeypatch.setattr(study, "PERMUTATIONS", 99)
    result = study.run(study.Cell(24, 0.2, 0.0, "associated"), 40)
    assert result["first together"] == 1.0
    assert result["second together"] <= 0.15
    assert result["first estimate"] == pytest.approx(result["true first"], abs=0.015)
    assert result["second estimate"] == pytest.approx(0.0, abs=0.015)
    assert result["first share"] == pytest.approx(result["true first share"], abs=0.015)
    for name in ("first jackknife", "second jackknife", "first share held"):
        assert result[name] >= 0.9, name


def test_the_table_has_a_row_for_each_cell(study):
    cell = study.Cell(12, 0.0, 0.0, "random")
    lines = study.table([(cell, study.run(cell, 2))], 2).splitlines()
    assert lines[2].startswith("| nothing shared | 12 | ")
    assert lines[0].count("|") == lines[1].count("|") == lines[2].count("|")
