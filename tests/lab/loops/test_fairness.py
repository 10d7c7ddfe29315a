"""Every measure of decisions is that of fairlearn and of the audit, on any decisions and on those of a chain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polyculture as pc
from polyculture.lab.loops.measured import OF_GROUPS, measured
from polyculture.lab.loops.measures import decisions, of_groups
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.run import run
from polyculture.loops import open_loop

metrics = pytest.importorskip("fairlearn.metrics", reason="needs the extra [lab]")

Plan = Callable[..., LoopPlan]


def of_fairlearn(
    predicted: np.ndarray, label: np.ndarray, group: np.ndarray, favourable: int
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Return the measures of decisions, and those of each group, as fairlearn has them ready."""
    given: dict[str, Any] = {"sensitive_features": group}
    positive, selected = (label == favourable).astype(int), (predicted == favourable).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fairlearn and pandas about themselves
        accuracy = metrics.MetricFrame(metrics=lambda a, b: (a == b).mean(), y_true=label, y_pred=predicted, **given)
        rates = {
            name: metrics.MetricFrame(metrics=getattr(metrics, name), y_true=positive, y_pred=selected, **given)
            for name in ("selection_rate", "true_positive_rate", "false_positive_rate")
        }
        whole = {
            "accuracy": float(accuracy.overall),
            "accuracy_difference": float(accuracy.difference()),
            "worst_group_accuracy": float(accuracy.group_min()),
            "selection_rate": float(metrics.selection_rate(positive, selected)),
            **{
                f"{name}_{kind}": float(getattr(metrics, f"{name}_{kind}")(positive, selected, **given))
                for name in ("demographic_parity", "equalized_odds")
                for kind in ("difference", "ratio")
            },
        }
    by_group = {name: frame.by_group.to_numpy().astype(float) for name, frame in rates.items()}
    return whole, {"accuracy": accuracy.by_group.to_numpy().astype(float), **by_group}


@pytest.mark.parametrize("seed", range(12))
def test_measures_are_those_of_fairlearn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, groups, many = int(rng.integers(2, 4)), int(rng.integers(2, 5)), int(rng.integers(60, 400))
    favourable = int(rng.integers(classes))
    label, group = rng.integers(0, classes, many), rng.integers(0, groups, many)
    # Both labels in each group: fairlearn has 0 for a rate of nobody, which is undefined here.
    label[: 2 * groups] = np.tile([favourable, (favourable + 1) % classes], groups)
    group[: 2 * groups] = np.repeat(np.arange(groups), 2)
    hit = rng.random(many) < rng.random(groups)[group]
    predicted = np.where(hit, label, rng.integers(0, classes, many))
    whole, by_group = of_fairlearn(predicted, label, group, favourable)
    found = decisions(predicted, label, group, favourable, groups)
    assert set(found) - set(whole) == {"largest_class"}
    for name, value in whole.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name
    rates = of_groups(predicted, label, group, favourable, groups)
    assert set(rates) == set(by_group) == set(OF_GROUPS)
    for name, values in by_group.items():
        assert rates[name] == pytest.approx(values, abs=1e-12), name


def test_a_rate_of_nobody_is_undefined_where_fairlearn_has_0() -> None:
    predicted, label, group = np.array([1, 1, 0, 1]), np.array([1, 0, 0, 0]), np.array([0, 0, 1, 1])
    whole, by_group = of_fairlearn(predicted, label, group, 1)
    found = of_groups(predicted, label, group, 1, 2)
    assert (by_group["true_positive_rate"][1], whole["equalized_odds_difference"]) == (0.0, 1.0)
    assert np.isnan(found["true_positive_rate"][1])
    assert np.isnan(decisions(predicted, label, group, 1, 2)["equalized_odds_difference"])


def test_every_generation_is_measured_as_fairlearn_and_the_audit_measure_it(plan: Plan, tmp_path: Any) -> None:
    own = plan(decision_makers=2, arm=[{"setting": "SeqGenSeqClass", "name": "one"}], seeds=1, favourable="1")
    figures = measured(run(own, tmp_path)).values
    found = open_loop(tmp_path)
    for number in range(3):
        outcomes = found.outcomes("one", seed=0, generation=number)
        audit = pc.audit(outcomes)
        rows: Any = outcomes.frame.collect()
        label = rows["label"].to_numpy().astype(int)
        names = sorted(set(rows["group"].to_list()))
        group = np.array([names.index(one) for one in rows["group"].to_list()])
        makers = [rows[name].to_numpy().astype(int) for name in rows.columns if name.startswith("decision-maker")]
        assert len(makers) == 2
        told = [of_fairlearn(one, label, group, 1) for one in makers]

        def at(measure: str, of: str | None = None, number: int = number) -> float:
            return float(figures[measure, of][0, 0, number])

        for name in told[0][0]:
            assert at(name) == pytest.approx(np.mean([whole[name] for whole, _ in told])), name
        for name in OF_GROUPS:
            for place, one in enumerate(names):
                assert at(name, one) == pytest.approx(np.mean([by_group[name][place] for _, by_group in told]))
        record = audit.record
        failures = [one.failure_rate.value for one in record.models]
        assert at("accuracy") == pytest.approx(1.0 - np.mean(failures))
        assert at("systemic_failure") == pytest.approx(record.systemic_failure.observed.value)
        assert at("expected") == pytest.approx(record.systemic_failure.expected)
        for one in record.groups:
            words = one.by["group"]
            assert at("systemic_failure", words) == pytest.approx(one.systemic_failure.observed.value)
            assert at("accuracy", words) == pytest.approx(1.0 - np.mean([m.failure_rate.value for m in one.models]))
        uniform = record.group_homogenization.uniform.value
        observed = at("group_product") / at("group_expected")
        assert observed == pytest.approx(uniform)
