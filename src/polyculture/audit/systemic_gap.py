"""The gap in systemic failure between the groups of a column, and the one that shuffled labels would show.

With two groups the gap is their contrast: it has the interval and the test that the contrast has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from polyculture.audit.gap_rates import Rates
from polyculture.audit.outcome import slice_moments
from polyculture.audit.proportion import (
    SAMPLED,
    Design,
    design_limits,
    flag_design,
    from_estimated,
    number,
    scaled,
    why,
)
from polyculture.audit.records import Statistic, undefined
from polyculture.audit.settings import CENSUS
from polyculture.audit.sums import ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.partition import Group
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import Slice, View

_LARGEST_SHUFFLED = 10**9  # numpy deals out fewer individuals than this
_DRAWS = 1999
_RATE = "systemic failure"


@dataclass(frozen=True)
class SystemicGap:
    """Largest minus smallest, smallest over largest, and what shuffled labels show of the former."""

    difference: Statistic
    ratio: Statistic
    expected: float | None
    expected_reason: str | None
    p_value: float | None
    p_method: str
    highest: dict[str, str | None]
    lowest: dict[str, str | None]


class _Shuffled(NamedTuple):
    """The mean gap of shuffled labels, the share of them with a gap as large, and how, or why not."""

    expected: float | None
    p_value: float | None
    method: str


def systemic_gap(view: View, groups: Sequence[Group], settings: Settings, column: str) -> SystemicGap:
    """Measure the gap in systemic failure between groups.

    Parameters
    ----------
    view : View
        The individuals of the headline.
    groups : sequence of Group
        Known groups with enough individuals.
    settings : Settings
        Seed and census.
    column : str
        Whose groups they are, for the shuffles.

    Returns
    -------
    SystemicGap
        The expected gap is None for a census, for weighted or clustered individuals, who may not be shuffled one by
        one, and for more than numpy deals out; so is its p-value with three groups or more.
    """
    from polyculture.audit.gaps import ONE_GROUP, differences, ratios

    slices = [view.group(group.cells) for group in groups]
    present = [(group, ours) for group, ours in zip(groups, slices, strict=True) if ours.individuals]
    if len(present) < 2:
        missing = undefined(ONE_GROUP)
        return SystemicGap(missing, missing, None, ONE_GROUP, None, ONE_GROUP, {}, {})
    shuffled = _shuffled([ours for _, ours in present], settings, column)
    if len(present) == 2:
        return _of_two(present, shuffled, settings)
    rates = _rates([ours for _, ours in present])
    labels, note = [group.label for group, _ in present], "" if view.tally.exact else SAMPLED
    share = rates.share[:, 0]
    return SystemicGap(
        difference=differences(rates, labels, _RATE, census=settings.census, note=note)[0],
        ratio=ratios(rates, labels, _RATE, census=settings.census, note=note)[0],
        expected=shuffled.expected,
        expected_reason=why(shuffled.expected, shuffled.method),
        p_value=shuffled.p_value,
        p_method=shuffled.method,
        highest=present[int(np.argmax(share))][0].by,
        lowest=present[int(np.argmin(share))][0].by,
    )


def _of_two(present: Sequence[tuple[Group, Slice]], shuffled: _Shuffled, settings: Settings) -> SystemicGap:
    """Return the gap of two groups as the contrast of the lower against the higher."""
    from polyculture.stats.contrasts import contrast

    shares = [ours.totals("all_fail")[1] for _, ours in present]
    most = int(np.argmax(shares))
    (highest, high), (lowest, low) = present[most], present[1 - most]
    found = contrast(slice_moments(low, "all_fail"), slice_moments(high, "all_fail"), census=settings.census)
    lower = from_estimated(found.difference)
    return SystemicGap(
        difference=_turned(lower),
        ratio=from_estimated(found.ratio) if max(shares) else undefined(f"the {_RATE} rate is 0 in every group"),
        expected=shuffled.expected,
        expected_reason=why(shuffled.expected, shuffled.method),
        p_value=number(found.p_value),
        p_method=CENSUS if settings.census else found.method,
        highest=highest.by,
        lowest=lowest.by,
    )


def _turned(difference: Statistic) -> Statistic:
    """Return the difference the other way round."""

    def negative(value: float | None) -> float | None:
        return None if value is None else 0.0 - value

    return msgspec.structs.replace(
        difference,
        value=negative(difference.value),
        low=negative(difference.high),
        high=negative(difference.low),
    )


def _rates(slices: Sequence[Slice]) -> Rates:
    from polyculture.stats.multiplicity import sidak_level

    level = sidak_level(len(slices))
    parts = []
    for ours in slices:
        count, share = ours.totals("all_fail")
        total = np.array([ours.individuals], dtype=np.int64)
        if ours.rows.plain:
            design = Design(ratio(np.array([count]), total), total.astype(np.float64))
        else:
            flags = ours.rows.event("all_fail")[:, None]
            design = flag_design(flags, np.ones_like(flags), ours.rows)
            if ours.exact:
                design = scaled(design, np.array([share]), ours.individuals / max(ours.rows.individuals, 1))
        parts.append((design.share, total, *design_limits(design, total, level=level)))
    return Rates(*(np.stack(column) for column in zip(*parts, strict=True)))


def _shuffled(slices: Sequence[Slice], settings: Settings, column: str) -> _Shuffled:
    from polyculture.stats.contrasts import max_min_gap

    sizes = [ours.individuals for ours in slices]
    if settings.census:
        return _Shuffled(None, None, CENSUS)
    if not all(ours.rows.plain for ours in slices):
        return _Shuffled(None, None, "weighted or clustered individuals may not be shuffled one by one")
    if sum(sizes) >= _LARGEST_SHUFFLED:
        return _Shuffled(None, None, f"{_LARGEST_SHUFFLED:,} individuals or more are not shuffled")
    events = [ours.totals("all_fail")[0] for ours in slices]
    gap = max_min_gap(events, sizes, settings.generator("gaps", (column,)), _DRAWS)
    return _Shuffled(number(gap.expected), number(gap.p_value), gap.method)
