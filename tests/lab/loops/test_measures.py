"""Measures of a generation against fairlearn, scikit-learn and what is known in closed form."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from polyculture.lab.loops.measures import coverage, decisions, divergence, frechet, of_groups

RNG = np.random.default_rng(4)
LABEL, GROUP = RNG.integers(0, 2, 500), RNG.integers(0, 3, 500)
PREDICTED = np.where(RNG.random(500) < 0.7 - 0.1 * GROUP, LABEL, 1 - LABEL)


def test_gaps_and_ratios_are_those_of_fairlearn() -> None:
    metrics = pytest.importorskip("fairlearn.metrics", reason="the lab needs the extra [lab]")
    found = decisions(PREDICTED, LABEL, GROUP, 1, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("demographic_parity", "equalized_odds"):
            for kind in ("difference", "ratio"):
                theirs = getattr(metrics, f"{name}_{kind}")(LABEL, PREDICTED, sensitive_features=GROUP)
                assert found[f"{name}_{kind}"] == pytest.approx(theirs, abs=1e-12)
        frame = metrics.MetricFrame(
            metrics={"accuracy": lambda a, b: (a == b).mean(), "selection_rate": metrics.selection_rate},
            y_true=LABEL,
            y_pred=PREDICTED,
            sensitive_features=GROUP,
        )
        rates = of_groups(PREDICTED, LABEL, GROUP, 1, 3)
        for name in ("accuracy", "selection_rate"):
            assert rates[name] == pytest.approx(frame.by_group[name].to_numpy().astype(float))
        assert found["accuracy_difference"] == pytest.approx(frame.difference()["accuracy"])
    assert found["worst_group_accuracy"] == rates["accuracy"].min()


def test_what_is_undefined_is_nan_and_no_zero() -> None:
    nobody = of_groups(np.array([1, 1]), np.array([1, 0]), np.array([0, 1]), 1, 2)
    assert np.isnan(nobody["true_positive_rate"]).tolist() == [False, True]
    found = decisions(np.array([1, 1]), np.array([1, 0]), np.array([0, 1]), 1, 2)
    assert math.isnan(found["equalized_odds_difference"])
    assert found["largest_class"] == 1.0
    one = decisions(PREDICTED, LABEL, np.zeros(500, dtype=np.int64), 1, 1)
    assert math.isnan(one["demographic_parity_difference"])


def test_divergence_has_a_direction() -> None:
    counts, ideal = np.array([80, 20]), np.array([0.5, 0.5])
    assert divergence(counts, ideal) == pytest.approx(0.8 * math.log(1.6) + 0.2 * math.log(0.4))
    assert divergence(np.array([5, 0]), ideal) == pytest.approx(math.log(2))
    assert math.isnan(divergence(np.array([5, 1]), np.array([1.0, 0.0])))


def test_frechet_of_two_normals_is_the_closed_form() -> None:
    one = RNG.normal(size=(20_000, 2)) * [1.0, 2.0]
    other = RNG.normal(size=(20_000, 2)) * [3.0, 2.0] + [1.0, 0.0]
    assert frechet(one, other) == pytest.approx(1.0 + (3.0 - 1.0) ** 2, abs=0.15)
    assert frechet(one, one) == pytest.approx(0.0, abs=1e-9)


def test_precision_and_recall_tell_invention_from_omission() -> None:
    real = RNG.normal(size=(900, 2))
    same, narrow = RNG.normal(size=(900, 2)), 0.1 * RNG.normal(size=(900, 2))
    wide = 6.0 * RNG.normal(size=(900, 2))
    assert min(coverage(real, same)[1:]) > 0.9
    _, precise, recalled = coverage(real, narrow)
    assert precise > 0.95
    assert recalled < 0.2
    assert coverage(real, wide)[1] < 0.4


def test_coverage_is_that_of_a_plain_search_for_neighbours() -> None:
    neighbours = pytest.importorskip("sklearn.neighbors").NearestNeighbors
    real, made = RNG.normal(size=(150, 3)), RNG.normal(size=(150, 3)) + 0.7
    reach = neighbours(n_neighbors=6).fit(real).kneighbors(real)[0][:, 5]
    apart = np.linalg.norm(real[:, None] - made[None], axis=2)
    of_made = neighbours(n_neighbors=6).fit(made).kneighbors(made)[0][:, 5]
    precision, recall = (apart <= reach[:, None]).any(axis=0).mean(), (apart <= of_made).any(axis=1).mean()
    assert coverage(real, made)[1:] == pytest.approx((precision, recall))
    assert precision != pytest.approx(recall)
    # As many of both: a denser lot has shorter reaches.
    more = np.concatenate([real, RNG.normal(size=(300, 3))])
    assert coverage(more, made) == coverage(real, made)
    assert coverage(made, more) == coverage(made, real)


def test_discrepancy_is_that_of_all_pairs_taken_by_hand() -> None:
    real, made = RNG.normal(size=(40, 3)), 1.3 * RNG.normal(size=(40, 3)) + 0.4
    pairs = [(a, b) for a in range(40) for b in range(a)]
    width = float(np.median([math.dist(real[a], real[b]) for a, b in pairs]))

    def alike(one: np.ndarray, other: np.ndarray) -> float:
        return math.exp(-(math.dist(one, other) ** 2) / (2.0 * width**2))

    own = [sum(alike(rows[a], rows[b]) for a, b in pairs) / len(pairs) for rows in (real, made)]
    between = sum(alike(one, other) for one in real for other in made) / 1600
    assert coverage(real, made)[0] == pytest.approx(own[0] + own[1] - 2.0 * between, abs=1e-6)


def test_discrepancy_is_none_on_average_of_the_same_law_and_that_of_normals_in_closed_form() -> None:
    one = [coverage(*RNG.normal(size=(2, 60, 2)))[0] for _ in range(300)]
    assert min(one) < 0.0
    assert abs(np.mean(one)) < 4.0 * np.std(one) / math.sqrt(300)
    real, made = RNG.normal(size=(1000, 1)), RNG.normal(size=(1000, 1)) + 1.0
    width = float(np.median(np.abs(real - real.T)[np.triu_indices(1000, 1)])) ** 2
    # E exp(-(x - y)^2 / 2w) of a normal difference with mean m and variance 2.
    alike = [math.sqrt(width / (width + 2.0)) * math.exp(-0.5 * mean**2 / (width + 2.0)) for mean in (0.0, 1.0)]
    assert coverage(real, made)[0] == pytest.approx(2.0 * (alike[0] - alike[1]), abs=0.03)


def test_discrepancy_of_real_people_who_are_all_alike_is_undefined() -> None:
    assert math.isnan(coverage(np.ones((30, 2)), RNG.normal(size=(30, 2)))[0])
    assert all(math.isnan(one) for one in coverage(np.ones((5, 2)), np.ones((30, 2))))
