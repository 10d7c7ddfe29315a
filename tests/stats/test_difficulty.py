"""The baseline of difficulty: churn alone looks like it, whatever the law of difficulty."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from polyculture.stats.difficulty import fit_difficulty, redrawn


def churn(rng: np.random.Generator, hardness: np.ndarray, k: int, gain: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw two snapshots whose answers depend on the individual's hardness alone."""
    proneness = np.linspace(-1.5, -0.3, k)
    draws = [rng.random((len(hardness), k)) < 1 / (1 + np.exp(-(hardness[:, None] + proneness - g))) for g in (0, gain)]
    return draws[0], draws[1]


def shares(failed: np.ndarray, later: np.ndarray, read: np.ndarray) -> tuple[float, float, float]:
    """Return the share of improvements of the first model that are systemic: observed, uniform, adjusted."""
    k = failed.shape[1]
    fit = fit_difficulty(np.bincount(read.sum(axis=1), minlength=k + 1), read.mean(axis=0))
    others = read[:, 1:].sum(axis=1)
    potential = np.bincount(others[failed[:, 0]], minlength=k)
    improved = np.bincount(others[failed[:, 0] & ~later[:, 0]], minlength=k)
    expected = potential * fit.undone(0, failed[:, 0].mean(), later[:, 0].mean())
    return improved[-1] / improved.sum(), potential[-1] / potential.sum(), expected[-1] / expected.sum()


@pytest.mark.parametrize("law", ["normal", "two kinds"])
@pytest.mark.parametrize("reading", ["before", "after"])
def test_churn_alone_gives_the_adjusted_share_and_not_the_uniform_one(law: str, reading: str) -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    hardness = rng.normal(0, 1.5, n) if law == "normal" else rng.choice([-1.5, 3.7], n, p=[0.8, 0.2])
    failed, later = churn(rng, hardness, 5, 0.4)
    observed, uniform, adjusted = shares(failed, later, failed if reading == "before" else later)
    assert adjusted == pytest.approx(observed, abs=0.02)
    assert uniform > observed + 0.03


def test_independent_models_have_equal_chances() -> None:
    rates = np.array([0.2, 0.3, 0.25])
    law = np.zeros(4)
    for pattern in np.ndindex(2, 2, 2):
        law[sum(pattern)] += np.prod(np.where(pattern, rates, 1 - rates))
    chances = fit_difficulty(1e6 * law, rates).undone(0, 0.2, 0.2)
    np.testing.assert_allclose(chances, 0.8, atol=0.02)


def test_the_fit_reproduces_the_histogram() -> None:
    counts = np.array([620.0, 150, 80, 60, 90])
    mean = counts @ np.arange(5) / counts.sum()
    fit = fit_difficulty(counts, np.full(4, mean / 4))
    np.testing.assert_allclose(fit.expected, counts / counts.sum(), atol=0.01)


def test_models_that_fail_all_or_nobody_change_nothing_for_the_others() -> None:
    counts = np.array([500.0, 200, 150, 150])
    plain = fit_difficulty(counts, [0.3, 0.32, 0.33])
    more = fit_difficulty([0, *counts, 0], [0.3, 0.32, 0.33, 1.0, 0.0])
    chances = more.undone(0, 0.3, 0.25)
    np.testing.assert_allclose(chances[1:4], plain.undone(0, 0.3, 0.25))


def test_certain_rates_are_certain() -> None:
    fit = fit_difficulty([500, 200, 150, 150], [0.3, 0.32, 0.33])
    np.testing.assert_allclose(fit.undone(0, 0.3, 0.0), 1.0)
    np.testing.assert_allclose(fit.undone(0, 0.3, 1.0), 0.0)


@pytest.mark.parametrize(("histogram", "rates"), [([0, 0, 0], [0.2, 0.3]), ([5, 5, 0], [0.5, 0.0]), ([5, 5], [0.5])])
def test_where_there_is_no_model_the_reason_is_said(histogram: list[int], rates: list[float]) -> None:
    assert fit_difficulty(histogram, rates).reason


def test_larger_samples_know_difficulty_better() -> None:
    counts, rates = np.array([500.0, 200, 150, 150]), [0.3, 0.32, 0.33]
    spread = []
    for size in (500, 50_000):
        fits = redrawn(counts, rates, size, 40, np.random.default_rng(0))
        spread.append(np.std([fit.undone(0, 0.3, 0.3)[-1] for fit in fits]))
    assert 5 < spread[0] / spread[1] < 20


def test_the_law_is_found_where_two_kinds_of_individuals_lie_far_apart() -> None:
    """From exact shares of the truth: the search has to go far enough, not only up to a high likelihood."""
    proneness, hard, share = np.linspace(-1.5, -0.3, 5), np.array([-2.5, 2.5]), np.array([0.6, 0.4])
    fails, fails_after = expit(hard[:, None] + proneness), expit(hard[:, None] + proneness - 0.4)
    patterns = np.array(list(product((0, 1), repeat=5)))
    chance = np.where(patterns[:, None, :], fails, 1.0 - fails).prod(axis=2) @ share
    histogram = np.bincount(patterns.sum(axis=1), weights=4_000 * chance)
    before, after = share @ fails, share @ fails_after
    fit = fit_difficulty(histogram, before)
    for model in range(5):
        all_fail = share * fails.prod(axis=1)
        truth = (all_fail * (1.0 - fails_after[:, model])).sum() / all_fail.sum()
        assert fit.undone(model, before[model], after[model])[-1] == pytest.approx(truth, abs=0.006)
