"""Sets of models on the same individuals: covariances by a second derivation, intervals and tests by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polyculture.stats._rows import make_rows
from polyculture.stats.contrasts import contrast
from polyculture.stats.homogeneity import estimate
from polyculture.stats.moments import moments
from polyculture.stats.paired import Slot, joint

RNG = np.random.default_rng(7)
MODELS, HUMANS = np.arange(3), np.arange(3, 5)


def draw(rng: np.random.Generator, sizes: tuple[int, int], effect: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw failures (N, 5): models and humans share the difficulty of an image; ``effect`` is on the models only."""
    group = np.repeat([0, 1], sizes)
    hard = rng.random(group.size) < 0.3
    models = np.where(hard, 0.6, 0.1) + effect * np.where(hard, 1.0, -0.4) * group
    humans = np.where(hard, 0.6, 0.1)
    return rng.random((group.size, 5)) < np.column_stack([models] * 3 + [humans] * 2), group


def truth(effect: float) -> float:
    def excess(hard: float, easy: float, k: int) -> float:
        return 0.7 * easy**k + 0.3 * hard**k - (0.7 * easy + 0.3 * hard) ** k

    return excess(0.6, 0.1, 3) - excess(0.6 + effect, 0.1 - 0.4 * effect, 3)


def four_slots(group: np.ndarray) -> list[Slot]:
    return [Slot(np.flatnonzero(group == g), kind, 2) for g in (0, 1) for kind in (MODELS, HUMANS)]


def table(failed: np.ndarray, **more: object):
    return make_rows(np.ones_like(failed), failed, np.ones(len(failed)), **more)  # type: ignore[arg-type]


def values(failed: np.ndarray, group: np.ndarray, event: str) -> list[tuple[float, float]]:
    """Excess and log H of the four slots, by brute force."""
    found = []
    for g in (0, 1):
        for kind in (MODELS, HUMANS):
            own = failed[group == g][:, kind]
            rates = own.mean(axis=0)
            ends = [(own.all(axis=1), np.prod(rates)), (~own.any(axis=1), np.prod(1 - rates))]
            chosen = ends[:1] if event == "all_fail" else ends
            observed = float(np.mean(sum(happened for happened, _ in chosen)))
            expected = float(sum(e for _, e in chosen))
            found.append((observed - expected, math.log(observed / expected)))
    return found


@pytest.mark.parametrize("event", ["all_fail", "same"])
def test_the_covariances_are_those_of_repeated_samples(event: str) -> None:
    """A second derivation: many samples of the same world, and the covariance of what brute force finds in them."""
    rng = np.random.default_rng(3)
    sizes = (400, 300)
    repeated = np.array([values(*draw(rng, sizes), event) for _ in range(1500)])
    found = [joint(table(f), four_slots(g), event) for f, g in (draw(rng, sizes) for _ in range(40))]  # type: ignore[arg-type]
    for place, name in enumerate(("excess", "log_ratio")):
        wanted = np.cov(repeated[:, :, place].T)
        got = np.mean([getattr(one, name) for one in found], axis=0)
        spread = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
        np.testing.assert_allclose(got / spread, wanted / spread, atol=0.1)
    # Kinds share the images of a group, and groups share none.
    correlation = found[0].excess / np.sqrt(np.outer(np.diag(found[0].excess), np.diag(found[0].excess)))
    assert abs(correlation[0, 2]) < 1e-12
    assert wanted[0, 1] / spread[0, 1] > 0.05


def test_one_slot_is_what_an_audit_of_these_models_says() -> None:
    failed, group = draw(RNG, (200, 150))
    found = joint(table(failed), four_slots(group), "all_fail")
    alone = moments(np.ones((150, 2)), failed[group == 1][:, HUMANS], np.ones(150))
    assert estimate(found.moments[3]).difference == estimate(alone).difference
    # Different individuals under one kind: the contrast of two groups that an audit has.
    other = contrast(found.moments[0], found.moments[2])
    ours = found.difference(0, 2)
    assert ours.excess_difference[:3] == pytest.approx(other.excess_difference[:3])
    assert ours.homogenization_ratio[:3] == pytest.approx(other.homogenization_ratio[:3])


def test_a_difference_of_differences_is_the_difference_of_two_differences() -> None:
    failed, group = draw(RNG, (200, 150), 0.3)
    found = joint(table(failed), four_slots(group), "all_fail")
    both = found.difference_of_differences((0, 1), (2, 3))
    parts = [found.difference(*pair) for pair in ((0, 2), (1, 3))]
    value = parts[0].excess_difference.value - parts[1].excess_difference.value  # type: ignore[operator]
    assert both.excess_difference.value == pytest.approx(value)
    ratio = parts[0].homogenization_ratio.value / parts[1].homogenization_ratio.value  # type: ignore[operator]
    assert both.homogenization_ratio.value == pytest.approx(ratio)


def test_the_p_value_is_the_level_at_which_the_interval_reaches_zero() -> None:
    failed, group = draw(RNG, (200, 150), 0.2)
    found = joint(table(failed), four_slots(group), "all_fail")
    compared = found.difference_of_differences((0, 1), (2, 3))
    assert compared.p_value is not None
    limits = found._excess_limits([[0, 1], [2, 3]], 1.0 - compared.p_value)
    assert min(abs(limits.low), abs(limits.high)) < 1e-4  # type: ignore[arg-type]
    assert (compared.p_value < 0.05) == (not compared.excess_difference.low <= 0 <= compared.excess_difference.high)  # type: ignore[operator]


def test_a_kind_that_copies_another_differs_from_it_by_nothing() -> None:
    failed, group = draw(RNG, (300, 300))
    copied = np.hstack([failed[:, :2], failed[:, :2]])
    slots = [Slot(np.flatnonzero(group == g), kind, 2) for g in (0, 1) for kind in (np.arange(2), np.arange(2, 4))]
    found = joint(table(copied), slots, "all_fail")
    compared = found.difference_of_differences((0, 1), (2, 3))
    independent = found.difference_of_differences((0, 3), (2, 1))
    assert compared.excess_difference.value == 0.0
    assert compared.p_value == 1.0
    width = compared.excess_difference.high - compared.excess_difference.low  # type: ignore[operator]
    apart = independent.excess_difference.high - independent.excess_difference.low  # type: ignore[operator]
    assert width < 0.35 * apart


def test_weights_and_clusters_count() -> None:
    failed, group = draw(RNG, (200, 200))
    twice = np.vstack([failed, failed])
    clusters = np.tile(np.arange(400), 2)
    rows = table(twice, cluster=clusters)
    slots = four_slots(np.tile(group, 2))
    doubled = joint(rows, slots, "all_fail")
    single = joint(table(failed), four_slots(group), "all_fail")
    # Each individual twice in a cluster of two is no more information than once.
    np.testing.assert_allclose(doubled.excess, single.excess * 400 / 399, rtol=1e-9)
    weighted = joint(
        make_rows(np.ones_like(failed), failed, np.ones(400), np.full(400, 2.0), np.full(400, 4.0)),
        four_slots(group),
        "all_fail",
    )
    np.testing.assert_allclose(weighted.excess, single.excess, rtol=1e-9)


def test_what_does_not_exist_has_a_reason() -> None:
    failed, group = draw(RNG, (200, 200))
    failed[group == 0, 3] = False
    found = joint(table(failed), four_slots(group), "all_fail")
    assert found.difference(0, 1).homogenization_ratio.value is None
    assert found.difference(0, 1).excess_difference.low is not None
    nobody = joint(table(failed), [Slot(np.arange(0), MODELS, 2), Slot(np.arange(400), HUMANS, 2)], "all_fail")
    assert nobody.difference(0, 1).method == "no individual was judged"
    one = joint(table(failed), [Slot(np.arange(400), MODELS[:1], 1), Slot(np.arange(400), HUMANS, 2)], "all_fail")
    assert "one model" in one.difference(0, 1).excess_difference.reason
    census = joint(table(failed), four_slots(group), "all_fail", census=True).difference(0, 1)
    assert census.excess_difference.value is not None
    assert census.excess_difference.low is None
    assert census.p_value is None


@pytest.mark.parametrize("effect", [0.0, 0.25])
def test_intervals_hold_the_truth_and_tests_keep_their_level(effect: float) -> None:
    """656 images in two groups; benchmarks/coverage_kinds.py has more worlds and more replicates."""
    rng = np.random.default_rng(11)
    held, rejected, replicates = 0, 0, 200
    for _ in range(replicates):
        failed, group = draw(rng, (328, 328), effect)
        compared = joint(table(failed), four_slots(group), "all_fail").difference_of_differences((0, 1), (2, 3))
        held += compared.excess_difference.low <= truth(effect) <= compared.excess_difference.high  # type: ignore[operator]
        rejected += compared.p_value < 0.05  # type: ignore[operator]
    assert held / replicates >= 0.91  # 95 % less three standard errors of 200 replicates, rounded
    if effect:
        assert rejected / replicates > 0.9
    else:
        assert rejected / replicates <= 0.095
