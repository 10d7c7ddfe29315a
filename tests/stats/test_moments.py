"""Variances of the expected rate by second derivations: numeric derivatives, jackknife, bootstrap, formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from polyculture.stats.moments import moments

EVENTS = ("all_fail", "none_fail", "same")


def log_expected_by_definition(judged: Any, failed: Any, weight: Any, event: str) -> float:
    """Log of the weighted mean over individuals of the product over their own models; loops and all."""
    rates = (weight @ failed) / (weight @ judged)
    total = 0.0
    for own, w in zip(judged, weight, strict=True):
        fail = math.prod(rates[j] for j in np.flatnonzero(own))
        succeed = math.prod(1 - rates[j] for j in np.flatnonzero(own))
        total += w * {"all_fail": fail, "none_fail": succeed, "same": fail + succeed}[event]
    return math.log(total / weight.sum())


@pytest.fixture
def unequal(rng: np.random.Generator) -> tuple[Any, Any]:
    judged = rng.random((60, 4)) < 0.7
    judged[:, 0] = True
    failed = judged & (rng.random((60, 4)) < [0.3, 0.5, 0.6, 0.4])
    return judged, failed


@pytest.mark.parametrize("event", EVENTS)
def test_expected_by_definition(unequal: tuple[Any, Any], event: Any, rng: np.random.Generator) -> None:
    weight = rng.random(60) + 0.5
    m = moments(*unequal, np.ones(60), weight, weight**2, event=event)
    assert m.log_expected == pytest.approx(log_expected_by_definition(*unequal, weight, event), rel=1e-12)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("complete", [True, False])
def test_variance_and_correlation_from_numeric_derivatives(
    unequal: tuple[Any, Any], event: Any, complete: bool, rng: np.random.Generator
) -> None:
    """The influence of an individual is the derivative by its weight."""
    judged, failed = unequal
    if complete:
        judged, failed = np.ones_like(judged), rng.random((60, 4)) < 0.5
    weight = rng.random(60) + 0.5
    m = moments(judged, failed, np.ones(60), weight, weight**2, event=event)
    step, derivative = 1e-5, np.empty(60)
    for i in range(60):
        up, down = weight.copy(), weight.copy()
        up[i] += step
        down[i] -= step
        derivative[i] = (
            log_expected_by_definition(judged, failed, up, event)
            - log_expected_by_definition(judged, failed, down, event)
        ) / (2 * step)
    influence = derivative * weight
    assert m.var_log_expected == pytest.approx((influence**2).sum(), rel=1e-6)
    all_fail, none_fail = (failed == judged).all(axis=1), ~failed.any(axis=1)
    happened = {"all_fail": all_fail, "none_fail": none_fail, "same": all_fail | none_fail}[event]
    own = weight * (happened - m.observed) / weight.sum()
    expected = (own * influence).sum() / math.sqrt((own**2).sum() * (influence**2).sum())
    assert m.correlation == pytest.approx(expected, rel=1e-6)
    cluster = np.arange(60) % 13
    clustered = moments(judged, failed, np.ones(60), weight, weight**2, cluster, event)
    totals = np.bincount(cluster, influence)
    assert clustered.var_log_expected == pytest.approx((totals**2).sum() * 13 / 12, rel=1e-6)
    own_totals = np.bincount(cluster, own)
    variance = (own_totals**2).sum() * 13 / 12
    assert clustered.design_effect == pytest.approx(variance * 60 / (m.observed * (1 - m.observed)), rel=1e-9)


def test_correlation_of_complete_data_has_its_closed_form(rng: np.random.Generator) -> None:
    """cov(1[all fail], F_j) = SF (1 - f_j)."""
    failed = (rng.random((500, 3)) < 0.4) | (rng.random(500) < 0.1)[:, None]
    m = moments(np.ones_like(failed), failed, np.ones(500))
    f = failed.mean(axis=0)
    scaled = np.cov(failed.T, bias=True) / np.outer(f, f)
    variance = scaled.sum() / 500
    covariance = m.observed * ((1 - f) / f).sum() / 500
    assert m.var_log_expected == pytest.approx(variance)
    assert m.correlation == pytest.approx(covariance / math.sqrt(variance * m.observed * (1 - m.observed) / 500))


def test_variance_agrees_with_jackknife_and_bootstrap(rng: np.random.Generator) -> None:
    judged = rng.random((400, 3)) < 0.8
    judged[:, 0] = True
    failed = judged & ((rng.random((400, 3)) < 0.3) | (rng.random(400) < 0.2)[:, None])
    m = moments(judged, failed, np.ones(400))
    left_out = np.array(
        [
            log_expected_by_definition(np.delete(judged, i, 0), np.delete(failed, i, 0), np.ones(399), "all_fail")
            for i in range(400)
        ]
    )
    jackknife = 399 / 400 * ((left_out - left_out.mean()) ** 2).sum()
    assert m.var_log_expected == pytest.approx(jackknife, rel=0.02)
    draws = rng.multinomial(400, np.full(400, 1 / 400), 1500).astype(float)
    boot = np.array([moments(judged, failed, np.ones(400), w, w).log_expected for w in draws])
    assert m.var_log_expected == pytest.approx(boot.var(), rel=0.12)


def test_clustered_variance_agrees_with_the_spread_over_new_samples(rng: np.random.Generator) -> None:
    """Means over 400 samples of clusters: the estimated variances are right on average."""
    logs, variances, shares, effects = [], [], [], []
    for _ in range(400):
        effect = rng.normal(0, 1, (40, 1, 1))
        failed = (rng.normal(size=(40, 15, 3)) + effect > 0.7).reshape(600, 3)
        m = moments(np.ones_like(failed), failed, np.ones(600), cluster=np.repeat(np.arange(40), 15))
        logs.append(m.log_expected)
        variances.append(m.var_log_expected)
        shares.append(m.observed)
        effects.append(m.design_effect * m.observed * (1 - m.observed) / 600)
    assert np.mean(variances) == pytest.approx(np.var(logs), rel=0.2)
    assert np.mean(effects) == pytest.approx(np.var(shares), rel=0.2)


def test_bias_of_log_expected_has_its_closed_form_and_its_size(rng: np.random.Generator) -> None:
    f, n = np.linspace(0.05, 0.2, 8), 400
    logs, biases = [], []
    for _ in range(600):
        failed = rng.random((n, 8)) < f
        m = moments(np.ones_like(failed), failed, np.ones(n))
        rates = failed.mean(axis=0)
        assert m.bias_log_expected == pytest.approx(((1 - rates) / (n * rates)).sum() / 2)
        logs.append(m.log_expected)
        biases.append(m.bias_log_expected)
    too_low = np.log(f).sum() - np.mean(logs)
    assert too_low == pytest.approx(np.mean(biases), abs=4 * np.std(logs) / math.sqrt(600))
    assert too_low > 0.05


@pytest.mark.parametrize("event", EVENTS)
def test_bias_of_unequal_sets_weights_and_clusters_by_the_bootstrap(event: Any, rng: np.random.Generator) -> None:
    """The mean of resampled log E is too low by the bias once more."""
    judged = rng.random((150, 3)) < 0.8
    judged[:, 0] = True
    failed = judged & (rng.random((150, 3)) < [0.15, 0.2, 0.6])
    cluster = np.arange(150) // 3
    m = moments(judged, failed, np.ones(150), cluster=cluster, event=event)
    logs = []
    for draw in rng.multinomial(50, np.full(50, 1 / 50), 6000)[:, cluster].astype(float):
        again = moments(judged, failed, draw, event=event)
        if math.isfinite(again.log_expected):
            logs.append(again.log_expected)
    noise = np.std(logs) / math.sqrt(len(logs))
    assert m.log_expected - np.mean(logs) == pytest.approx(
        m.bias_log_expected, abs=4 * noise + 0.3 * m.bias_log_expected
    )


def test_degrees_of_freedom_of_clusters(rng: np.random.Generator) -> None:
    def degrees(size: Any) -> float:
        cluster = np.repeat(np.arange(60), size)
        effect = rng.normal(0, 0.3, 60)[cluster]
        failed = rng.normal(size=(len(cluster), 2)) + effect[:, None] > 0
        found = moments(np.ones_like(failed), failed, np.ones(len(cluster)), cluster=cluster).degrees
        assert found is not None
        return found

    even = degrees(np.full(60, 30))
    uneven = degrees(np.r_[np.full(3, 400), np.full(57, 10)])
    assert 25 < even <= 59
    assert uneven < 12
    plain = moments(np.ones((4, 2)), np.eye(4, 2), np.ones(4))
    assert plain.degrees is None


def test_without_an_event_a_cluster_is_one_observation() -> None:
    failed = np.zeros((100, 2), dtype=bool)
    failed[:10, 0] = failed[50:60, 1] = True
    m = moments(np.ones_like(failed), failed, np.ones(100), cluster=np.arange(100) // 5)
    assert m.design_effect == pytest.approx(5 * 20 / 19)
