"""Tests of independence against full enumeration, against each other, and at sizes of every kind."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.stats import independence
from polyculture.stats.homogeneity import moments
from polyculture.stats.independence import (
    SMALLEST_P,
    draw_profiles,
    event_p_value,
    mid_p_all_fail,
    mid_p_none_fail,
    mid_p_same,
    p_value_by_interval,
    profile_p_value,
)


def enumerated(failures: tuple[int, ...], n: int) -> dict[tuple[int, ...], float]:
    """Law of the whole profile: every choice of whom each model fails."""
    law: Counter[tuple[int, ...]] = Counter()
    for choice in itertools.product(*(itertools.combinations(range(n), f) for f in failures)):
        t = Counter(i for failed in choice for i in failed)
        profile = Counter(t[i] for i in range(n))
        law[tuple(profile[c] for c in range(len(failures) + 1))] += 1
    total = sum(law.values())
    return {profile: number / total for profile, number in law.items()}


def mid_p(law: dict[int, float], x: int) -> float:
    at = law.get(x, 0.0) / 2
    below = sum(p for y, p in law.items() if y < x) + at
    return min(1.0, 2 * min(below, 1 - below))


def projected(law: dict[tuple[int, ...], float], count: Callable[[tuple[int, ...]], int]) -> dict[int, float]:
    result: Counter[int] = Counter()
    for profile, p in law.items():
        result[count(profile)] += p  # type: ignore[assignment]
    return dict(result)


@pytest.mark.parametrize(
    ("failures", "n"), [((3, 4, 2), 6), ((2, 5), 7), ((4, 4, 4), 5), ((1, 3, 2, 4), 5), ((0, 3), 4)]
)
def test_exact_law_by_enumeration(failures: tuple[int, ...], n: int) -> None:
    law = enumerated(failures, n)
    all_fail = projected(law, lambda profile: profile[-1])
    none_fail = projected(law, lambda profile: profile[0])
    for x in range(min(failures) + 1):
        assert mid_p_all_fail(x, failures, n)[0] == pytest.approx(max(mid_p(all_fail, x), SMALLEST_P), abs=1e-12)
    for x in range(n - max(failures) + 1):
        assert mid_p_none_fail(x, failures, n)[0] == pytest.approx(max(mid_p(none_fail, x), SMALLEST_P), abs=1e-12)


@pytest.mark.parametrize(("failures", "n"), [((3, 4, 2), 6), ((4, 4, 4), 5), ((1, 3, 2, 4), 5)])
def test_exact_moments_by_enumeration(failures: tuple[int, ...], n: int) -> None:
    law = enumerated(failures, n)
    all_fail = projected(law, lambda profile: profile[-1])
    mean = sum(x * p for x, p in all_fail.items())
    variance = sum((x - mean) ** 2 * p for x, p in all_fail.items())
    third = sum((x - mean) ** 3 * p for x, p in all_fail.items())
    found = independence._moments_of_all_fail(np.sort(failures), n)
    assert found == pytest.approx((mean, variance**0.5, third / variance**1.5), abs=1e-9)
    same = projected(law, lambda profile: profile[0] + profile[-1])
    mean = sum(x * p for x, p in same.items())
    variance = sum((x - mean) ** 2 * p for x, p in same.items())
    third = sum((x - mean) ** 3 * p for x, p in same.items())
    found = independence._moments_of_same(np.sort(failures), n)
    assert found == pytest.approx((mean, variance**0.5, third / variance**1.5), abs=1e-9)


def test_drawn_profiles_follow_the_enumerated_law(rng: np.random.Generator) -> None:
    law = enumerated((3, 4, 2), 6)
    drawn = Counter(map(tuple, draw_profiles([3, 4, 2], 6, 20000, rng).tolist()))
    assert set(drawn) <= set(law)
    for profile, p in law.items():
        assert drawn[profile] / 20000 == pytest.approx(p, abs=5 * (p * (1 - p) / 20000) ** 0.5 + 1e-4)


def test_draws_keep_individuals_and_failures(rng: np.random.Generator) -> None:
    failures = [10, 0, 50, 33, 7]
    profiles = draw_profiles(failures, 50, 200, rng)
    assert (profiles.sum(axis=1) == 50).all()
    assert (profiles @ np.arange(6) == sum(failures)).all()


@pytest.mark.parametrize(("n", "rate", "k"), [(20000, 0.2, 3), (20000, 0.5, 3), (60000, 0.5, 5), (40000, 0.5, 3)])
def test_expansion_agrees_with_the_exact_law(n: int, rate: float, k: int) -> None:
    failures = np.full(k, round(n * rate))
    mean, sd, skew = independence._moments_of_all_fail(failures, n)
    for shift in (-2.5, -1, 0.3, 1.96, 3):
        x = round(mean + shift * sd)
        exact = mid_p_all_fail(x, failures, n)
        assert exact[1].startswith("exact")
        assert independence._edgeworth(x, mean, sd, skew)[0] == pytest.approx(exact[0], rel=0.02)


def test_coarse_steps_agree_with_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many individuals early laws are coarse; here they are made coarse where the exact one is known."""
    failures, n = [9000] * 6, 30000
    mean, sd, _ = independence._moments_of_all_fail(np.array(failures), n)
    xs = [round(mean + shift * sd) for shift in (-2, -1, 1, 2, 3)]
    exact = [mid_p_all_fail(x, failures, n)[0] for x in xs]
    monkeypatch.setattr(independence, "_WIDEST_WINDOW", 500)
    coarse = [mid_p_all_fail(x, failures, n)[0] for x in xs]
    assert coarse != exact
    assert coarse == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("n", [10**6, 10**8, 3 * 10**9])
@pytest.mark.parametrize("k", [2, 10, 50])
def test_very_many_individuals(n: int, k: int) -> None:
    failures = np.full(k, n // 3, dtype=np.int64)
    mean, sd, _ = independence._moments_of_all_fail(failures, n)
    p, _ = mid_p_all_fail(round(mean), failures, n)
    assert p is not None
    assert p > 0.5
    far, _ = mid_p_all_fail(round(mean + 12 * sd + 50), failures, n)
    assert far is not None
    assert far < 1e-6


def test_one_model_and_impossible_numbers() -> None:
    assert mid_p_all_fail(3, [3], 10)[0] is None
    assert "one model" in mid_p_all_fail(3, [3], 10)[1]
    with pytest.raises(ValueError, match="cannot fail"):
        mid_p_all_fail(4, [3, 5], 10)
    with pytest.raises(ValueError, match="between 0"):
        mid_p_all_fail(1, [3, 11], 10)
    with pytest.raises(ValueError, match="one number a model"):
        mid_p_all_fail(0, [], 10)


@pytest.mark.parametrize("shift", [-2.0, -0.5, 1.0, 1.7, 2.5])
def test_same_by_draws_and_by_expansion_agree(
    shift: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures, n = np.array([500, 600, 450]), 3000
    mean, sd, _ = independence._moments_of_same(np.sort(failures), n)
    x = round(mean + shift * sd)
    expansion, method = mid_p_same(x, failures, n, rng)
    assert method.startswith("Edgeworth")
    monkeypatch.setattr(independence, "_SMOOTH_SD", 1e9)
    drawn, method = mid_p_same(x, failures, n, rng, 20000)
    assert method.startswith("20000 draws")
    assert expansion == pytest.approx(drawn, abs=0.01)


def test_the_2020_services_did_not_fail_independently(hapi: Callable[[str], Any], rng: np.random.Generator) -> None:
    table = hapi("WAIMAI")
    p, method = profile_p_value(table.judged, table.failed, table.count, rng)
    assert p == pytest.approx(1 / 1000)
    assert "999 draws" in method
    for event in ("all_fail", "none_fail", "same"):
        m = moments(table.judged, table.failed, table.count, event=event)  # type: ignore[arg-type]
        assert event_p_value(m, rng)[0] == SMALLEST_P


@pytest.mark.parametrize("unequal", [False, True])
def test_profile_p_values_are_spread_evenly_under_independence(unequal: bool, rng: np.random.Generator) -> None:
    values = []
    for _ in range(150):
        judged = np.ones((120, 4), dtype=bool)
        if unequal:
            judged[:50, 3] = judged[30:60, 1] = False
        failed = judged & (rng.random((120, 4)) < [0.2, 0.4, 0.3, 0.6])
        values.append(profile_p_value(judged, failed, np.ones(120), rng, 99)[0])
    assert np.mean(values) == pytest.approx(0.5, abs=0.12)
    assert np.mean(np.array(values) <= 0.1) == pytest.approx(0.1, abs=0.08)


def test_profile_notices_polarization_within_sets(rng: np.random.Generator) -> None:
    judged = np.ones((400, 4), dtype=bool)
    judged[:150, 3] = False
    failed = judged & (rng.random(400) < 0.4)[:, None] & (rng.random((400, 4)) < 0.8)
    assert profile_p_value(judged, failed, np.ones(400), rng, 199)[0] == pytest.approx(1 / 200)


def test_too_many_sets_are_said_and_not_drawn(rng: np.random.Generator) -> None:
    judged = rng.random((60000, 30)) < 0.5
    p, reason = profile_p_value(judged, judged & (rng.random(judged.shape) < 0.3), np.ones(60000), rng)
    assert p is None
    assert "different sets of models" in reason


def test_profile_of_one_model_is_undefined(rng: np.random.Generator) -> None:
    assert profile_p_value([[True]], [[True]], [5], rng)[0] is None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_p_value_by_interval_is_below_5_percent_where_the_interval_leaves_out_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    failed = (rng.random((300, 3)) < 0.3) | (rng.random(300) < rng.choice([0, 0.05]))[:, None]
    m = moments(np.ones_like(failed), failed, np.ones(300), cluster=np.arange(300) // 6)
    interval = independence.excess_interval(m)
    p, method = p_value_by_interval(m)
    assert p is not None
    assert method == "from the interval of the excess"
    assert interval.low is not None
    assert interval.high is not None
    assert (p < 0.05) == (interval.low > 0.0 or interval.high < 0.0)


def test_the_test_fits_the_data(rng: np.random.Generator) -> None:
    failed = rng.random((300, 3)) < 0.3
    judged = np.ones_like(failed)
    exact = event_p_value(moments(judged, failed, np.ones(300)), rng)
    assert exact == mid_p_all_fail(int(failed.all(axis=1).sum()), failed.sum(axis=0), 300)
    clustered = moments(judged, failed, np.ones(300), cluster=np.arange(300) // 10)
    assert event_p_value(clustered, rng)[1] == "from the interval of the excess"
    few = moments(judged, failed, np.ones(300), cluster=np.arange(300) // 60)
    assert event_p_value(few, rng)[0] is None
    assert "5 clusters" in event_p_value(few, rng)[1]


@pytest.mark.parametrize(
    ("n", "models", "low", "high"), [(1_000_000, 60, 0.01, 0.2), (50_000, 25, 0.05, 0.4), (10_000_000, 40, 0.1, 0.5)]
)
def test_expansions_for_many_models_agree_with_the_chain(
    monkeypatch: pytest.MonkeyPatch, n: int, models: int, low: float, high: float
) -> None:
    failures = (n * np.random.default_rng(0).uniform(low, high, models)).astype(int)
    mean = n * float(np.prod(1.0 - failures / n))
    events = round(mean + 2.0 * mean**0.5)
    short = independence.mid_p_none_fail(events, failures, n)[0]
    monkeypatch.setattr(independence, "_FEW_MODELS", models)
    long = independence.mid_p_none_fail(events, failures, n)[0]
    assert short == pytest.approx(long, rel=5e-3)
