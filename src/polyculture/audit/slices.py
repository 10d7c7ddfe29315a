"""Who is failed: slices that a few conditions describe, searched on one half of the individuals, reported on the other.

Slices are found one after another, each among those whom the slices before it leave. What a slice is tested for
(excess, or systemic failure) is named in the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import from_estimated, number
from polyculture.audit.records import undefined
from polyculture.audit.settings import CENSUS
from polyculture.audit.slice_conditions import Cells, cells_of
from polyculture.audit.slice_records import SliceParent, SliceRecord, SlicesRecord
from polyculture.audit.slice_words import method, sentence
from polyculture.audit.statistic import Statistic
from polyculture.errors import UsageError
from polyculture.stats.halves import half_counts
from polyculture.stats.multiplicity import holm
from polyculture.stats.slices.contrast import Tested, excess_contrast, failure_contrast, z_score
from polyculture.stats.slices.search import Measure, Space, best_slice, cell_sums, members_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.settings import Settings
    from polyculture.outcomes import Outcomes
    from polyculture.stats.moments import Moments
    from polyculture.tally.by_columns import RowsByColumns

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

MEASURES = ("excess", "systemic-failure")
MOST_SLICES = 10
MOST_ROUNDS = 20
LEVEL = 0.05
_WORTH_TESTING = 2.5  # standard errors above the others on the searched half; thousands are looked at
_WORTH_A_CONDITION = 1.645
_WORTH_LOOKING_INSIDE = 3.5  # of the best of all slices inside


@dataclass(frozen=True, eq=False)
class Half:
    """The individuals of one half: how many of each row, and their weights."""

    rows: RowsByColumns
    count: NDArray[np.int64]

    def moments(self, chosen: Bools) -> Moments:
        """Return the moments of systemic failure among the individuals of some rows."""
        from polyculture.stats.moments import moments

        rows = self.rows
        kept = np.flatnonzero(chosen & (self.count > 0))
        count = self.count[kept]
        share = count / rows.count[kept]
        return moments(
            rows.judged[kept],
            rows.failed[kept],
            count,
            rows.weight[kept] * share if rows.weighted else None,
            rows.weight_squared[kept] * share if rows.weighted else None,
            None if rows.cluster is None else rows.cluster[kept],
        )


def slices(
    outcomes: Outcomes, columns: Sequence[str], *, measure: str, settings: Settings, named: bool = True
) -> SlicesRecord:
    """Search columns for slices in which models fail together more than in others.

    Parameters
    ----------
    outcomes : Outcomes
        The rows: this is a second pass over them.
    columns : sequence of str
        Columns, or anything else that ``--by`` takes.
    measure : {"excess", "systemic-failure"}
        What a slice is found and tested for.
    settings : Settings
        Seed, smallest slice (``min_cell``, in either half), census, noun.
    named : bool
        Whether the caller named the columns.

    Returns
    -------
    SlicesRecord
        Up to 10 slices; those confirmed on the other half first.

    Raises
    ------
    UsageError, ColumnError
        If the measure is unknown, or a column cannot be searched.
    """
    from polyculture.errors import nearest
    from polyculture.tally.by_columns import rows_by_columns

    if measure not in MEASURES:
        hint = nearest(measure, MEASURES) or f"Choose {' or '.join(MEASURES)}."
        raise UsageError(f"Slices are not searched by {measure!r}.", hint=hint)
    if len(outcomes.models) < 2:
        raise UsageError("With one model there is nothing to search for.", hint="Name at least 2 with --models.")
    rows = _counted(rows_by_columns(outcomes, columns, named=named), outcomes.mapping.min_judged)
    first = rows.count if settings.census else half_counts(rows.count, rows.cluster, settings.generator("slices"))
    searched = Half(rows, first)
    reported = searched if settings.census else Half(rows, rows.count - first)
    cells = cells_of(rows, first, settings.min_cell)
    found, looked_at, exhaustive = _search(searched, cells, measure=measure, least=settings.min_cell)
    tested = _reported(reported, cells, found, measure=measure, settings=settings)
    confirmed = sum(one.confirmed for one in tested)
    tested = tuple(sorted(tested, key=lambda one: not one.confirmed))
    return SlicesRecord(
        measure=measure,
        columns=tuple(column.name for column in rows.columns),
        left_out=rows.left_out,
        sentence=sentence(
            tested,
            looked_at=looked_at,
            measure=measure,
            noun=settings.noun,
            census=settings.census,
            sample=int(rows.count.sum()) if rows.sampled else None,
        ),
        conditions=len(cells.conditions),
        looked_at=looked_at,
        exhaustive=exhaustive,
        search_individuals=int(first.sum()),
        report_individuals=int(reported.count.sum()),
        tested=sum(one.p_value is not None for one in tested),
        confirmed=confirmed,
        method=method(measure, census=settings.census, clusters=rows.cluster is not None, sampled=rows.sampled),
        slices=tested,
    )


def _counted(rows: RowsByColumns, min_judged: int) -> RowsByColumns:
    """Keep the individuals of the headline: judged by enough models."""
    kept = np.flatnonzero(rows.judged.sum(axis=1) >= min(min_judged, rows.judged.shape[1]))
    names = ("judged", "failed", "count", "weight", "weight_squared", "codes")
    parts = {name: getattr(rows, name)[kept] for name in names}
    return replace(rows, cluster=None if rows.cluster is None else rows.cluster[kept], **parts)


@dataclass(frozen=True)
class Slice:
    """Conditions by their places, how far above the others they were on the searched half, and the slices before."""

    conditions: tuple[int, ...]
    difference: float
    before: Bools  # (R,) rows of the slices found before it


def _search(half: Half, cells: Cells, *, measure: str, least: int) -> tuple[list[Slice], int, bool]:
    """Find slices one after another, each among those whom the slices before it leave."""
    rows, excess = half.rows, measure == "excess"
    lost = (rows.failed.sum(axis=1) == rows.judged.sum(axis=1)).astype(np.float64)
    weight = np.where(rows.count > 0, rows.weight * half.count / np.maximum(rows.count, 1), 0.0)
    columns = np.column_stack([np.ones(len(lost)), lost, rows.judged, rows.failed]) * weight[:, None]
    sums = cell_sums(cells.cell, cells.count, columns)
    sizes = np.bincount(cells.cell, weights=half.count, minlength=cells.count).astype(np.float64)
    looked_at, exhaustive = 0, True
    found: list[Slice] = []
    gone = np.zeros(cells.count, dtype=np.bool_)
    everyone, wanted = np.zeros(len(lost), dtype=np.bool_), Measure(excess, rows.judged.shape[1])
    for _ in range(MOST_ROUNDS):
        if len(found) == MOST_SLICES or not cells.conditions:
            break
        best = best_slice(cells.space, sums * ~gone[:, None], sizes * ~gone, wanted, least)
        if best is None:
            break
        looked_at, exhaustive = max(looked_at, best.looked_at), exhaustive and best.exhaustive
        before = gone[cells.cell]
        conditions = _simplified(half, cells, best.conditions, before, excess=excess)
        there = ~gone
        conditions = _refined(
            half, cells, conditions, (sums * there[:, None], sizes * there), wanted=wanted, least=least
        )
        own = members_of(cells.space, conditions)
        inside, outside = _apart(half, own[cells.cell], before)
        if z_score(inside, outside, excess=excess) < _WORTH_TESTING:
            break
        inside, outside = _apart(half, own[cells.cell], everyone)
        # What is left may stand out from the rest of it and yet be no worse than everyone.
        if z_score(inside, outside, excess=excess) >= _WORTH_TESTING:
            found.append(Slice(conditions, _value(inside, excess=excess) - _value(outside, excess=excess), before))
        gone = gone | own
    return found, looked_at, exhaustive


def _apart(half: Half, own: Bools, before: Bools) -> tuple[Moments, Moments]:
    """Return the moments of a slice and of everyone else, both without the slices before it."""
    return half.moments(own & ~before), half.moments(~own & ~before)


def _simplified(
    half: Half, cells: Cells, conditions: tuple[int, ...], before: Bools, *, excess: bool
) -> tuple[int, ...]:
    """Drop conditions that tell a slice from the rest of its parent no better than chance."""
    while len(conditions) > 1:
        own = members_of(cells.space, conditions)[cells.cell] & ~before
        inside = half.moments(own)
        scores = []
        for dropped in conditions:
            parent = tuple(one for one in conditions if one != dropped)
            rest = half.moments(members_of(cells.space, parent)[cells.cell] & ~before & ~own)
            scores.append(z_score(inside, rest, excess=excess) if rest.n else -math.inf)
        weakest = int(np.argmin(scores))
        if scores[weakest] >= _WORTH_A_CONDITION:
            break
        conditions = tuple(one for place, one in enumerate(conditions) if place != weakest)
    return conditions


def _refined(
    half: Half,
    cells: Cells,
    conditions: tuple[int, ...],
    left: tuple[Floats, Floats],
    *,
    wanted: Measure,
    least: int,
) -> tuple[int, ...]:
    """Look inside a slice for one that stands out from the rest of it: a broad slice must not hide it."""
    sums, sizes = left
    while len(conditions) < cells.space.depth:
        own = members_of(cells.space, conditions) & (sizes > 0)
        used = np.isin(cells.space.column, cells.space.column[list(conditions)])
        free = np.flatnonzero(~used)
        if not len(free):
            break
        space = Space(cells.space.members[free], cells.space.column[free], cells.space.depth - len(conditions))
        inner = best_slice(space, sums * own[:, None], sizes * own, wanted, least)
        if inner is None:
            break
        narrower = tuple(sorted((*conditions, *(int(free[one]) for one in inner.conditions))))
        inside = members_of(cells.space, narrower) & own
        rest = half.moments((own & ~inside)[cells.cell])
        if z_score(half.moments(inside[cells.cell]), rest, excess=wanted.excess) < _WORTH_LOOKING_INSIDE:
            break
        conditions = narrower
    return conditions


def _value(moments: Moments, *, excess: bool) -> float:
    return moments.observed - (math.exp(moments.log_expected) if excess else 0.0)


def _reported(
    half: Half, cells: Cells, found: Sequence[Slice], *, measure: str, settings: Settings
) -> tuple[SliceRecord, ...]:
    """Measure the slices on the other half, and correct their p-values for their number."""
    nobody = np.zeros(len(half.count), dtype=np.bool_)
    tests = []
    for one in found:
        own = members_of(cells.space, one.conditions)[cells.cell]
        tests.append([_contrast(*_apart(half, own, before), measure, settings) for before in (nobody, one.before)])
    worse = [_larger(test.p_value, beyond.p_value) for test, beyond in tests]
    adjusted = holm(worse) if tests else np.zeros(0)
    return tuple(
        _record(half, cells, one, (test, beyond, number(float(p))), measure=measure, settings=settings)
        for one, (test, beyond), p in zip(found, tests, adjusted, strict=True)
    )


def _larger(one: float | None, other: float | None) -> float | None:
    """Return the larger p-value: both must be small; None where one is undefined."""
    return None if one is None or other is None else max(one, other)


def _contrast(inside: Moments, outside: Moments, measure: str, settings: Settings) -> Tested:
    """Return the contrast; without a test where either side is too small, or everyone was looked at."""
    from polyculture.stats.intervals import Estimated

    if min(inside.n, outside.n) < settings.min_cell:
        return Tested(Estimated(None, reason=f"fewer than {settings.min_cell} on one side"), None)
    if settings.census:
        excess = measure == "excess"
        return Tested(Estimated(_value(inside, excess=excess) - _value(outside, excess=excess), reason=CENSUS), None)
    return excess_contrast(inside, outside) if measure == "excess" else failure_contrast(inside, outside)


def _record(
    half: Half,
    cells: Cells,
    one: Slice,
    tests: tuple[Tested, Tested, float | None],
    *,
    measure: str,
    settings: Settings,
) -> SliceRecord:
    from polyculture.stats.homogeneity import estimate

    test, beyond, adjusted = tests
    own = members_of(cells.space, one.conditions)[cells.cell]
    moments = half.moments(own)
    figures = estimate(moments, census=settings.census, count_label_errors=False)
    expected, worse = number(figures.expected.value), _larger(test.p_value, beyond.p_value)
    why = "" if worse is not None else _why(test if test.p_value is None else beyond)
    parents = tuple(_parents(half, cells, one, measure=measure, settings=settings))
    above = all(found.difference.value is not None and found.difference.value > 0.0 for found in (test, beyond))
    return SliceRecord(
        conditions=tuple(cells.conditions[place].text for place in one.conditions),
        individuals=moments.n,
        share=moments.n / int(half.count.sum()),
        count=moments.events,
        systemic_failure=_stated(figures.observed),
        expected=expected,
        excess=_stated(figures.difference),
        difference=_stated(test.difference),
        difference_beyond=_stated(beyond.difference),
        p_value=worse,
        p_adjusted=adjusted,
        expected_reason=figures.expected.reason if expected is None else "",
        p_value_reason=why,
        p_adjusted_reason=why,
        confirmed=above and (settings.census or (adjusted is not None and adjusted <= LEVEL)),
        difference_in_search=one.difference,
        parents=parents,
        beyond_parents=_beyond(parents, settings) if parents else None,
    )


def _why(test: Tested) -> str:
    """Return why there is no p-value."""
    return test.difference.reason or "the difference has no interval"


def _stated(found: object) -> Statistic:
    from polyculture.stats.intervals import Estimated

    assert isinstance(found, Estimated)  # noqa: S101 (narrowed for the type checker)
    return undefined(found.reason) if found.value is None else from_estimated(found)


def _parents(half: Half, cells: Cells, one: Slice, *, measure: str, settings: Settings) -> list[SliceParent]:
    if len(one.conditions) < 2:
        return []
    own = members_of(cells.space, one.conditions)[cells.cell]
    found = []
    for dropped in one.conditions:
        parent = tuple(place for place in one.conditions if place != dropped)
        rest = members_of(cells.space, parent)[cells.cell] & ~own
        test = _contrast(half.moments(own), half.moments(rest), measure, settings)
        words = tuple(cells.conditions[place].text for place in parent)
        why = "" if test.p_value is not None else _why(test)
        found.append(
            SliceParent(conditions=words, difference=_stated(test.difference), p_value=test.p_value, p_value_reason=why)
        )
    return found


def _beyond(parents: Sequence[SliceParent], settings: Settings) -> bool:
    """Whether the slice is above the rest of every parent, beyond its interval where there is one."""
    lows = [one.difference.value if settings.census else one.difference.low for one in parents]
    return all(low is not None and low > 0.0 for low in lows)
