"""Observed, expected, excess, ratio: outside values, the edges, and what no interval may do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_estimates import estimates

from polyculture.stats import excess
from polyculture.stats.homogeneity import Estimate, estimate, moments
from polyculture.stats.intervals import jeffreys
from polyculture.stats.poisson_binomial import pmf

COMMERCIAL = {
    "WAIMAI": (11987, [0.728, 0.140, 0.067, 0.065], [0.600, 0.335, 0.061, 0.004], 18.4),
    "FER+": (6358, [0.468, 0.308, 0.155, 0.069], [0.377, 0.440, 0.164, 0.019], 3.63),
    "DIGIT": (2000, [0.288, 0.442, 0.127, 0.143], [0.186, 0.533, 0.250, 0.031], 4.67),
    "YELP": (20000, [0.489, 0.386, 0.101, 0.024], [0.427, 0.488, 0.082, 0.003], 8.69),
    "IMDB": (25000, [0.424, 0.377, 0.146, 0.053], [0.353, 0.480, 0.154, 0.014], 3.88),
}
EVENTS = ("all_fail", "none_fail", "same")


@pytest.mark.parametrize("name", COMMERCIAL)
def test_commercial_services_of_2020(hapi: Callable[[str], Any], name: str) -> None:
    n, observed, baseline, ratio = COMMERCIAL[name]
    table = hapi(name)
    assert table.n == n
    counts = np.bincount(table.failed.sum(axis=1), table.count, minlength=4)
    assert counts / n == pytest.approx(observed, abs=5.1e-4)
    law = pmf(table.failures / n)
    assert law == pytest.approx(baseline, abs=5.1e-4)
    found = estimates(table.failed, table.judged, table.count)
    assert found.observed.value == pytest.approx(observed[3], abs=5.1e-4)
    assert found.expected.value == pytest.approx(law[3], rel=1e-12)
    assert found.ratio.value == pytest.approx(ratio, abs=0.05 if ratio > 10 else 0.005)
    assert found.difference.value == pytest.approx(counts[3] / n - law[3], rel=1e-12)
    success = estimates(table.failed, table.judged, table.count, "none_fail")
    assert success.observed.value == pytest.approx(observed[0], abs=5.1e-4)
    assert success.expected.value == pytest.approx(law[0], rel=1e-12)
    same = estimates(table.failed, table.judged, table.count, "same")
    assert same.observed.value == pytest.approx((counts[0] + counts[3]) / n)
    assert same.expected.value == pytest.approx(law[0] + law[3], rel=1e-12)


def test_ratios_of_ceilings_are_as_stated_for_the_2020_services(hapi: Callable[[str], Any]) -> None:
    names = ("AFNET", "EXPW", "FER+", "RAFDB", "IMDB", "SHOP", "WAIMAI", "YELP", "AMNIST", "CMD", "DIGIT", "FLUENT")
    ceilings = [estimates(t.failed, t.judged, t.count).ceiling for t in map(hapi, names)]
    assert min(ceilings) == pytest.approx(5.6, abs=0.05)
    assert max(ceilings) == pytest.approx(504, abs=1)


def test_small_tables_of_the_authors(text_rows: Callable[[str], Any]) -> None:
    rows = text_rows("111 110 100 000 001 010 000 111")
    found = estimates(rows.failed)
    assert found.expected.value == pytest.approx(0.09375)
    assert found.ratio.value == pytest.approx(2.666667, abs=1e-6)
    predictions = text_rows("01100 11101 00110 00000")
    labels = np.array([True, True, False, True])
    wrong = predictions.failed != labels[:, None]
    assert wrong.mean(axis=0).tolist() == [0.5, 0.25, 0.5, 1.0, 0.5]
    found = estimates(wrong)
    assert found.observed.value == pytest.approx(0.25)
    assert found.expected.value == pytest.approx(0.03125)
    assert found.ratio.value == pytest.approx(8)


# ---- edges -------------------------------------------------------------------------------------------------


def test_one_model_has_nothing_to_homogenize() -> None:
    found = estimates([[1], [0], [0]])
    assert found.observed.value == pytest.approx(1 / 3)
    for figure in (found.difference, found.ratio, found.log10_ratio, found.ceiling_share):
        assert figure.value is None
        assert figure.reason == "one model: there is nothing to homogenize"
    assert found.ceiling is None
    assert found.label_errors is None


def test_nobody() -> None:
    found = estimates(np.zeros((0, 3)))
    assert found.observed.value is None
    assert "no individual" in found.ratio.reason
    judged_by_none = estimates([[0, 0]], judged=[[0, 0]])
    assert judged_by_none.observed.value is None


@pytest.mark.parametrize("event", EVENTS)
def test_a_perfect_model(event: str) -> None:
    failed = np.array([[1, 0], [0, 0], [1, 0], [0, 0]])
    found = estimates(failed, count=[10, 10, 10, 10], event=event)
    if event == "all_fail":
        assert (found.observed.value, found.expected.value, found.difference.value) == (0.0, 0.0, 0.0)
        assert found.ratio.value is None
        assert "does not exist" in found.ratio.reason
        assert found.log10_expected is None
        # The rates are estimates: the excess may still lie on either side of 0.
        assert found.difference.low is not None
        assert found.difference.high is not None
        assert found.difference.low < 0.0 < found.difference.high
        assert found.difference.high == pytest.approx(jeffreys(0, 40).high)
    else:
        assert found.ratio.value == pytest.approx(1.0)


def test_two_perfect_models() -> None:
    found = estimates(np.zeros((50, 2)))
    assert found.ratio.value is None
    assert found.expected.value == 0.0
    assert_no_zero_width(found)
    success = estimates(np.zeros((50, 2)), event="none_fail")
    assert success.ratio.value == 1.0
    assert success.expected.low is None
    assert "no variation" in success.expected.reason


def test_a_hundred_and_twenty_models_do_not_underflow(rng: np.random.Generator) -> None:
    failed = rng.random((500, 120)) < 0.001
    failed[:3] = True
    found = estimates(failed)
    log_expected = np.log10(failed.mean(axis=0)).sum()
    assert found.log10_expected == pytest.approx(log_expected)
    assert found.log10_expected < -200
    assert found.ratio.value == pytest.approx(10 ** (math.log10(3 / 500) - log_expected), rel=1e-9)
    assert found.log10_ratio.value == pytest.approx(math.log10(3 / 500) - log_expected)


def test_clusters_with_an_expectation_of_1e_200(rng: np.random.Generator) -> None:
    failed = rng.random((400, 150)) < 0.05
    failed[0] = True
    failed[0, 0] = False
    found = estimates(failed, cluster=np.arange(400) // 10)
    assert found.log10_expected is not None
    assert found.log10_expected < -190
    assert found.difference.low is not None
    assert found.difference.high == pytest.approx(found.observed.high)


def test_a_thousand_models_say_the_ratio_as_a_logarithm(rng: np.random.Generator) -> None:
    failed = rng.random((200, 1000)) < 0.2
    failed[:2] = True
    found = estimates(failed)
    assert found.expected.value == 0.0
    assert found.expected.low is None
    assert "log10_expected" in found.expected.reason
    assert found.log10_expected == pytest.approx(np.log10(failed.mean(axis=0)).sum())
    assert found.ratio.value is None
    assert "log10_ratio" in found.ratio.reason
    assert found.log10_ratio.value is not None
    assert found.log10_ratio.low is not None
    assert found.log10_ratio.low < found.log10_ratio.value
    assert found.ceiling is None
    assert found.difference.value == pytest.approx(0.01)
    assert found.difference.low is not None
    assert found.difference.low > 0
    assert found.label_errors in {1, 2}


def test_no_event_is_one_sided_with_an_upper_limit() -> None:
    failed = np.array([[1, 0], [0, 1], [0, 0]])
    found = estimates(failed, count=[30, 30, 140])
    assert found.ratio[:2] == (0.0, 0.0)
    assert found.ratio.high is not None
    assert found.ratio.high > jeffreys(0, 200).high / 0.0225  # type: ignore[operator]
    assert "one-sided" in found.ratio.method
    assert found.log10_ratio.value is None
    assert found.difference.value == pytest.approx(-0.0225)
    assert found.difference.high is not None
    assert found.difference.high < 0.0
    assert found.label_errors == 0


def test_joint_failures_that_were_not_seen_are_possible() -> None:
    """No individual is failed twice: the excess of consistent success may still be some joint failures."""
    failed = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    found = estimates(failed, count=[3, 3, 3, 191], event="none_fail").difference
    assert found.high is not None
    assert found.value is not None
    assert found.high - found.value == pytest.approx(1.96 * math.sqrt(2) / 200, rel=0.1)
    assert "may be too narrow" in found.method
    assert "narrow" not in estimates(failed, count=[5, 5, 5, 185], event="none_fail").difference.method
    failure = estimates(failed, count=[3, 3, 3, 191]).difference
    assert failure.high == pytest.approx(jeffreys(0, 200).high, rel=0.01)


def test_correlation_is_not_taken_at_its_word_at_one_event() -> None:
    """One model fails one individual, whom all others fail, by a chance of 1 in 6: no excess on that alone."""
    failed = np.array([[1, 1, 1], [0, 1, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    m = moments(np.ones_like(failed), failed, [1, 32, 47, 47, 73])
    found = estimate(m).difference
    assert found.low is not None
    assert found.low < 0.0
    assert m.correlation > 0.5
    assert excess.shrunk_correlation(m) == pytest.approx(m.correlation / 2)
    twenty = estimates(failed, count=[20, 640, 940, 940, 1460]).difference
    assert twenty.low is not None
    assert twenty.low > 0.0


def test_uneven_clusters_widen_the_excess(rng: np.random.Generator) -> None:
    failed = (rng.random((1200, 3)) < 0.3) | (rng.random(1200) < 0.1)[:, None]
    even, uneven = (
        np.arange(1200) % 40,
        np.repeat(np.arange(40), [*[250] * 4, *[5] * 20, *[6] * 10, *[7] * 4, *[6] * 2]),
    )
    m = [moments(np.ones_like(failed), failed, np.ones(1200), cluster=cluster) for cluster in (even, uneven)]
    assert m[1].degrees < m[0].degrees  # type: ignore[operator]
    assert excess._widening(m[1], 0.95) > excess._widening(m[0], 0.95) > 1.0


def test_events_in_few_clusters_are_said(rng: np.random.Generator) -> None:
    failed, cluster = rng.random((1200, 3)) < 0.2, np.arange(1200) // 30
    even = estimates(failed | (rng.random(1200) < 0.1)[:, None], cluster=cluster)
    few = estimates(failed | ((rng.random(1200) < 0.9) & (cluster < 2))[:, None], cluster=cluster)
    for figure in (few.observed, few.difference):
        assert "few clusters hold most" in figure.method
    for figure in (even.observed, even.difference):
        assert "narrow" not in figure.method


def test_everyone_failed_by_all() -> None:
    found = estimates(np.ones((40, 3)))
    assert found.observed[:3] == (1.0, jeffreys(40, 40).low, 1.0)
    assert found.ratio.value == 1.0
    assert found.ceiling == 1.0
    assert found.ceiling_share.value is None
    assert_no_zero_width(found)


def test_a_census_has_values_and_no_interval(hapi: Callable[[str], Any]) -> None:
    table = hapi("WAIMAI")
    found = estimates(table.failed, table.judged, table.count, census=True)
    sampled = estimates(table.failed, table.judged, table.count)
    for name in ("observed", "expected", "difference", "ratio", "log10_ratio", "ceiling_share"):
        figure = getattr(found, name)
        assert figure.value == getattr(sampled, name).value
        assert figure.low is None
        assert figure.high is None
        assert "census" in figure.reason
    assert found.label_errors > sampled.label_errors  # type: ignore[operator]


def test_few_clusters_are_descriptive(rng: np.random.Generator) -> None:
    failed = rng.random((180, 3)) < 0.4
    found = estimates(failed, cluster=np.arange(180) % 9)
    assert found.observed.value is not None
    for figure in (found.observed, found.expected, found.difference, found.ratio):
        assert figure.low is None
        assert "9 clusters" in figure.reason
    assert found.label_errors is None


# ---- ceiling and label errors --------------------------------------------------------------------------------


def test_nested_failures_reach_the_ceiling() -> None:
    nested = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
    for event in EVENTS:
        m = moments(np.ones_like(nested), nested, [10, 20, 30, 40], event=event)  # type: ignore[arg-type]
        assert m.observed == pytest.approx(m.max_observed)
        found = estimate(m)
        assert found.ceiling == pytest.approx(found.ratio.value)
        assert found.ceiling_share.value == pytest.approx(1.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(EVENTS), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_table_exceeds_its_ceiling_and_no_interval_is_without_width(seed: int, event: Any, unequal: bool) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 60)), int(rng.integers(1, 6))
    judged = rng.random((n, k)) < (0.6 if unequal else 2.0)
    failed = (rng.random((n, k)) < rng.random(k)) & judged
    m = moments(judged, failed, rng.integers(0, 5, n), event=event)
    found = estimate(m)
    assert_no_zero_width(found)
    if m.n and not unequal:
        assert m.observed <= m.max_observed + 1e-12


def assert_no_zero_width(found: Estimate) -> None:
    for name in ("observed", "expected", "difference", "ratio", "log10_ratio", "ceiling_share"):
        figure = getattr(found, name)
        if figure.low is None or figure.high is None:
            assert figure.low is None
            assert figure.high is None
            assert figure.reason, name
        else:
            assert figure.low < figure.high, name
            assert figure.low - 1e-12 <= figure.value <= figure.high + 1e-12, name


# ---- identities --------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from(EVENTS))
@settings(max_examples=40, deadline=None)
def test_order_of_rows_and_models_and_the_grouping_of_rows_change_nothing(seed: int, event: Any) -> None:
    rng = np.random.default_rng(seed)
    judged = rng.random((40, 4)) < 0.7
    failed = judged & (rng.random((40, 4)) < 0.4)
    cluster = rng.integers(0, 12, 40)
    count = rng.integers(1, 4, 40)
    first = moments(judged, failed, count, cluster=cluster, event=event)
    rows, models = rng.permutation(40), rng.permutation(4)
    again = moments(
        judged[rows][:, models], failed[rows][:, models], count[rows], cluster=cluster[rows] * 7 + 3, event=event
    )
    one_by_one = moments(
        np.repeat(judged, count, 0),
        np.repeat(failed, count, 0),
        np.ones(count.sum()),
        cluster=np.repeat(cluster, count),
        event=event,
    )
    for other in (again, one_by_one):
        for name in (
            "n",
            "events",
            "observed",
            "log_expected",
            "var_log_expected",
            "correlation",
            "max_observed",
            "design_effect",
        ):
            assert getattr(other, name) == pytest.approx(getattr(first, name), rel=1e-9, abs=1e-12, nan_ok=True), name


def test_equal_weights_of_any_size_change_nothing(hapi: Callable[[str], Any]) -> None:
    table = hapi("FER+")
    plain = estimates(table.failed, table.judged, table.count)
    weighted = estimates(
        table.failed, table.judged, table.count, weight=table.count * 7.0, weight_squared=table.count * 49.0
    )
    for name in ("observed", "expected", "difference", "ratio"):
        assert getattr(weighted, name)[:3] == pytest.approx(getattr(plain, name)[:3], rel=1e-9)


def test_everyone_a_cluster_of_one_is_nearly_no_clusters(rng: np.random.Generator) -> None:
    failed = (rng.random((2000, 3)) < 0.3) | (rng.random(2000) < 0.05)[:, None]
    alone = estimates(failed, cluster=np.arange(2000))
    plain = estimates(failed)
    assert alone.difference[:3] == pytest.approx(plain.difference[:3], rel=2e-3)


def test_individuals_of_no_cluster_stand_for_themselves(rng: np.random.Generator) -> None:
    failed = rng.random((300, 3)) < 0.4
    mixed = moments(np.ones_like(failed), failed, np.ones(300), cluster=np.r_[np.arange(100) // 5, np.full(200, -1)])
    spelled_out = moments(
        np.ones_like(failed), failed, np.ones(300), cluster=np.r_[np.arange(100) // 5, np.arange(1000, 1200)]
    )
    assert mixed.clusters == spelled_out.clusters == 220
    assert mixed.var_log_expected == pytest.approx(spelled_out.var_log_expected)
    assert mixed.design_effect == pytest.approx(spelled_out.design_effect)


def test_wrong_calls_are_refused() -> None:
    failed = np.array([[1, 0]], dtype=bool)
    with pytest.raises(ValueError, match="event"):
        moments(np.ones_like(failed), failed, [1], event="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="did not judge"):
        moments(np.zeros_like(failed), failed, [1])
    with pytest.raises(ValueError, match="negative"):
        moments(np.ones_like(failed), failed, [-1])
    with pytest.raises(ValueError, match="one shape"):
        moments(np.ones((2, 2)), failed, [1])
    with pytest.raises(ValueError, match="one value a row"):
        moments(np.ones_like(failed), failed, [1, 2])


@pytest.mark.parametrize("event", EVENTS)
def test_the_ceiling_of_unequal_sets_is_the_mean_of_each_individuals_own(rng: np.random.Generator, event: Any) -> None:
    judged = rng.random((200, 4)) < 0.6
    judged[~judged.any(axis=1), 0] = True
    failed = (rng.random((200, 4)) < [0.1, 0.5, 0.3, 0.7]) & judged
    rates = failed.sum(axis=0) / judged.sum(axis=0)
    own = [rates[row] for row in judged]
    largest = {
        "all_fail": [min(one) for one in own],
        "none_fail": [1 - max(one) for one in own],
        "same": [1 - (max(one) - min(one)) for one in own],
    }[event]
    assert moments(judged, failed, np.ones(200), event=event).max_observed == pytest.approx(np.mean(largest))
