"""How many events would have to be wrong labels before nothing is left of an excess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from table_estimates import estimates

from polyculture.stats import label_errors
from polyculture.stats.homogeneity import moments


def test_one_percent_wrong_labels_make_independent_models_look_homogenized() -> None:
    """Statistics.md: f = .05, k = 3 and 1 % wrong labels give H = 42."""
    k, rate, wrong = 3, 0.05, 0.01
    patterns = np.array([[(code >> j) & 1 for j in range(k)] for code in range(2**k)], dtype=bool)
    t = patterns.sum(axis=1)
    true = rate**t * (1 - rate) ** (k - t)
    flipped = rate ** (k - t) * (1 - rate) ** t
    count = np.rint(1e9 * ((1 - wrong) * true + wrong * flipped))
    found = estimates(patterns, count=count)
    assert found.ratio.value == pytest.approx(42, abs=0.5)
    # Taking the wrong labels back leaves nothing: the figure finds them.
    assert found.label_errors == pytest.approx(wrong * 1e9 * (1 - rate) ** k, rel=0.01)


@pytest.mark.parametrize("event", ["all_fail", "none_fail"])
def test_label_errors_are_the_first_number_at_which_nothing_is_left(event: Any) -> None:
    failed = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    count = np.array([60, 50, 40, 150])
    found = estimates(failed, count=count, event=event)
    moved = np.array([-1, 0, 0, 1]) if event == "all_fail" else np.array([1, 0, 0, -1])
    events = 60 if event == "all_fail" else 150
    lows = [estimates(failed, count=count + m * moved, event=event).difference.low for m in range(events)]
    first = next(m for m, low in enumerate(lows) if low is not None and low <= 0)
    assert found.label_errors == first
    assert 0 < first < events


@pytest.mark.parametrize("event", ["all_fail", "none_fail"])
@pytest.mark.parametrize("weighted", [False, True])
def test_label_errors_from_sums_are_those_from_the_table(event: Any, weighted: bool, rng: np.random.Generator) -> None:
    failed = (rng.random((300, 4)) < 0.3) | (rng.random(300) < 0.2)[:, None]
    weight = rng.random(300) + 0.5 if weighted else np.ones(300)
    m = moments(np.ones_like(failed), failed, np.ones(300), weight, weight**2, event=event)
    by_sums, by_rows = label_errors._by_sums(m), label_errors._by_rows(m)
    for share in (0.0, 0.2, 0.7):
        one, other = by_sums(share), by_rows(share)
        for name in ("observed", "log_expected", "var_log_expected", "correlation", "design_effect", "n_effective"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), (name, share)


def test_no_number_of_label_errors_changes_homogeneous_outcomes() -> None:
    failed = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    assert estimates(failed, count=[60, 50, 40, 150], event="same").label_errors is None


def test_label_errors_of_unequal_sets_and_clusters_bring_the_limit_to_zero(rng: np.random.Generator) -> None:
    judged = rng.random((400, 4)) < 0.8
    judged[:, :2] = True
    failed = judged & ((rng.random((400, 4)) < 0.2) | (rng.random(400) < 0.15)[:, None])
    found = estimates(failed, judged, cluster=np.arange(400) // 8)
    assert found.label_errors is not None
    assert 0 < found.label_errors < int((failed == judged).all(axis=1).sum())
