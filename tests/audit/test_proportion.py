"""Intervals of weighted shares: as wide as the design makes them vary, for models as for the headline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyculture.audit.proportion import Design, design_of, design_shares
from polyculture.audit.records import AuditRecord
from polyculture.stats._rows import make_rows
from polyculture.stats.similarity.multiplicity import share_of_individuals

# Few individuals of great weight who fail often, and many of little weight: Kish's size is too small for such a share
# where failures are common among those of little weight, and too large where they are not.
SIZES, WEIGHTS = np.array([60, 400]), np.array([8.0, 1.0])


def simulated(rng: np.random.Generator, rates: Any, draws: int = 4000) -> Design:
    """Return the designs of many samples with these failure rates of the two strata."""
    failed = rng.binomial(SIZES, rates, (draws, 2)).astype(np.float64)
    each = np.ones(draws)
    return design_of(
        shown=failed @ WEIGHTS,
        total=each * (SIZES @ WEIGHTS),
        squared=each * (SIZES @ WEIGHTS**2),
        squared_events=failed @ WEIGHTS**2,
        count=each * SIZES.sum(),
    )


@pytest.mark.parametrize("rates", [(0.5, 0.05), (0.05, 0.5), (0.3, 0.3)])
def test_the_effective_size_is_that_of_a_plain_sample_which_varies_as_much(rates: tuple[float, float]) -> None:
    """Strata are of fixed sizes here, so that the share varies a little less than the design variance says."""
    rng = np.random.default_rng(11)
    design = simulated(rng, rates)
    truth = float(SIZES * WEIGHTS @ np.array(rates) / (SIZES @ WEIGHTS))
    between = float((SIZES * WEIGHTS**2) @ (np.array(rates) - truth) ** 2) / float(SIZES @ WEIGHTS) ** 2
    said = (design.share * (1 - design.share) / design.size).mean()
    assert said == pytest.approx(design.share.var() + between, rel=0.06)
    kish = float(SIZES @ WEIGHTS) ** 2 / float(SIZES @ WEIGHTS**2)
    if rates[0] != rates[1]:
        assert abs(float(np.median(design.size)) / kish - 1.0) > 0.1


def test_intervals_cover_the_share() -> None:
    rng = np.random.default_rng(12)
    strata = rng.binomial(1, 60 / 460, (1500, 460))  # who is of great weight is drawn too, as in a sample
    weight = np.where(strata == 1, 8.0, 1.0)
    failed = rng.random(strata.shape) < np.where(strata == 1, 0.5, 0.05)
    design = design_of(
        shown=(failed * weight).sum(axis=1),
        total=weight.sum(axis=1),
        squared=(weight**2).sum(axis=1),
        squared_events=(failed * weight**2).sum(axis=1),
        count=np.full(1500, 460.0),
    )
    truth = (60 * 8 * 0.5 + 400 * 0.05) / (60 * 8 + 400)
    found = design_shares(design, np.full(1500, 460))
    covered = np.mean([(one.low or 0.0) <= truth <= (one.high or 1.0) for one in found])
    assert 0.93 <= covered <= 0.97


def test_a_share_of_none_or_all_rests_on_the_weights_alone() -> None:
    for events in (0.0, 1.0):
        one = np.ones(1)
        design = design_of(
            shown=one * events * 10, total=one * 10, squared=one * 40, squared_events=one * events * 40, count=one * 5
        )
        assert design.size[0] == pytest.approx(100 / 40)


@pytest.mark.parametrize("options", [{"weight": True}, {"weight": True, "cluster": True}, {"cluster": True}, {}])
def test_copies_of_one_model_have_its_interval_as_systemic_failure(
    audit: Callable[..., AuditRecord], options: dict[str, bool]
) -> None:
    """Whom all copies fail is whom the one fails: two ways to the same number, by rates and by moments."""
    rng = np.random.default_rng(5)
    failed = np.repeat(rng.random((400, 1)) < 0.3, 3, axis=1)
    given: dict[str, Any] = {}
    if "weight" in options:
        given["weight"] = np.where(failed[:, 0], 5.0, 1.0) * rng.uniform(0.5, 1.5, 400)
    if "cluster" in options:
        given["cluster"] = np.arange(400) // 8
    record = audit(failed, **given)
    one, all_of_them = record.models[0].failure_rate, record.systemic_failure.observed
    assert one.value == pytest.approx(all_of_them.value)
    if "cluster" not in options:  # with clusters the headline knows more of their degrees of freedom
        assert (one.low, one.high) == pytest.approx((all_of_them.low, all_of_them.high))
        member = record.panel.members[0].accuracy if record.panel else None
        assert member is not None
        assert (1 - (member.high or 0), 1 - (member.low or 0)) == pytest.approx((one.low, one.high))


def test_the_size_of_a_share_of_some_individuals_is_theirs() -> None:
    rng = np.random.default_rng(6)
    weight, base = rng.uniform(0.5, 4.0, 300), rng.random(300) < 0.6
    judged = np.column_stack([base, np.ones(300, dtype=bool)])
    failed = (rng.random((300, 2)) < 0.4) & judged
    rows = make_rows(judged, failed, np.ones(300), weight, weight**2)
    found = share_of_individuals(rows, failed[:, 0], base)
    mean = np.average(failed[base, 0], weights=weight[base])
    assert found.value == pytest.approx(mean)
    # A plain sample of that size has the interval's width to first order.
    sd = np.sqrt((weight[base] ** 2 * (failed[base, 0] - mean) ** 2).sum()) / weight[base].sum()
    assert (found.high or 0) - (found.low or 0) == pytest.approx(2 * 1.96 * sd, rel=0.02)
