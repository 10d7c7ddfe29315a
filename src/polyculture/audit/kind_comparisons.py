"""Kinds of decision-makers against each other, groups under each kind, and the differences of these differences.

All kinds judge the same individuals, so comparisons rest on the joint patterns of all models (``stats.paired``).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from polyculture.audit.contrasts import adjusted
from polyculture.audit.kinds_records import DifferenceOfDifferences, KindContrast, KindGroupDifference
from polyculture.audit.partition import partition
from polyculture.audit.proportion import from_estimated, number
from polyculture.audit.rows import rows_of
from polyculture.audit.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from polyculture.audit.partition import Group
    from polyculture.audit.settings import Settings
    from polyculture.stats._rows import Rows as Table
    from polyculture.stats.moments import Event
    from polyculture.stats.paired import Compared, Joint
    from polyculture.tally import Tally

MOST_GROUPS = 6  # all pairs of more groups are more comparisons than anyone reads
_EVENTS: dict[Event, str] = {"all_fail": "systemic failure", "same": "homogeneous outcomes"}

Place = tuple[dict[str, str | None], tuple[int, ...]]  # a group (empty for everyone) and its cells


@dataclass(frozen=True)
class Comparisons:
    """Kinds against each other, groups under each kind, and differences of differences."""

    contrasts: tuple[KindContrast, ...]
    within: tuple[KindGroupDifference, ...]
    between: tuple[DifferenceOfDifferences, ...]


def comparisons(tally: Tally, models: Mapping[str, tuple[str, ...]], settings: Settings) -> Comparisons:
    """Compare kinds, for everyone and in each group, and groups under each kind and between kinds.

    Parameters
    ----------
    tally : Tally
        Of all models; its patterns are of everyone.
    models : mapping of str to tuple of str
        Kind -> its models.
    settings : Settings
        Smallest cell, census, correction.

    Returns
    -------
    Comparisons
        For systemic failure and for homogeneous outcomes. Groups of one column are compared with each other,
        the largest `MOST_GROUPS` of them. ``p_adjusted`` is corrected over all differences of one outcome.
    """
    places: list[Place] = [({}, tuple(range(len(tally.cells))))]
    pairs: list[tuple[int, int]] = []
    for column in tally.groups:
        groups = _groups(tally, column, settings)
        pairs += combinations(range(len(places), len(places) + len(groups)), 2)
        places += groups
    found = [_Event(tally, models, places, event, settings) for event in _EVENTS]
    between: list[DifferenceOfDifferences] = []
    for one in found:
        differences = list(one.between(pairs))
        p_values = adjusted([difference.p_value for difference in differences], settings)
        between += [msgspec.structs.replace(d, p_adjusted=p) for d, p in zip(differences, p_values, strict=True)]
    return Comparisons(
        contrasts=tuple(contrast for one in found for contrast in one.contrasts()),
        within=tuple(difference for one in found for difference in one.within(pairs)),
        between=tuple(between),
    )


def _groups(tally: Tally, column: str, settings: Settings) -> list[Place]:
    """Return the groups of a column that are compared: known, large enough, not too many."""
    view = View(tally)

    def size(group: Group) -> int:
        return view.individuals(group.cells)

    known = [g for g in partition(tally, (column,)).groups if not g.unknown and size(g) >= max(settings.min_cell, 1)]
    kept = sorted(known, key=size, reverse=True)[:MOST_GROUPS]
    return [(group.by, group.cells) for group in known if group in kept]


class _Event:
    """All comparisons of one event: a slot of the joint estimate is a kind in a place (everyone, or a group)."""

    def __init__(
        self,
        tally: Tally,
        models: Mapping[str, tuple[str, ...]],
        places: Sequence[Place],
        event: Event,
        settings: Settings,
    ) -> None:
        from polyculture.stats.paired import Slot, joint

        table, cell = _joint_table(tally)
        columns = [np.array([tally.models.index(name) for name in own], dtype=np.int64) for own in models.values()]
        slots = [
            Slot(np.flatnonzero(np.isin(cell, cells)), own, min(tally.min_judged, len(own)))
            for _, cells in places
            for own in columns
        ]
        self._joint: Joint = joint(table, slots, event, census=settings.census)
        self._fewest = max(settings.min_cell, 1)
        self._outcome, self._names = _EVENTS[event], list(models)
        self._places = [by for by, _ in places]
        self._kinds = list(combinations(range(len(models)), 2))

    def contrasts(self) -> Iterator[KindContrast]:
        """Yield each two kinds in each place."""
        for place, by in enumerate(self._places):
            for one, other in self._kinds:
                slots = self._slot(place, one), self._slot(place, other)
                if self._enough(*slots):
                    figures = _figures(self._joint.difference(*slots))
                    names = self._names[one], self._names[other]
                    yield KindContrast(outcome=self._outcome, kinds=names, by=by, **figures)

    def within(self, pairs: Sequence[tuple[int, int]]) -> Iterator[KindGroupDifference]:
        """Yield each two groups under each kind."""
        for first, second in pairs:
            for kind, name in enumerate(self._names):
                slots = self._slot(first, kind), self._slot(second, kind)
                if self._enough(*slots):
                    figures = _figures(self._joint.difference(*slots))
                    yield KindGroupDifference(
                        outcome=self._outcome,
                        kind=name,
                        groups=(self._places[first], self._places[second]),
                        excess_difference=figures["excess_difference"],
                        homogenization_ratio=figures["homogenization_ratio"],
                    )

    def between(self, pairs: Sequence[tuple[int, int]]) -> Iterator[DifferenceOfDifferences]:
        """Yield each two groups under each two kinds, uncorrected."""
        for first, second in pairs:
            for one, other in self._kinds:
                # Inside a group first, where the errors of both kinds are shared.
                inside = [(self._slot(place, one), self._slot(place, other)) for place in (first, second)]
                if self._enough(*inside[0], *inside[1]):
                    yield DifferenceOfDifferences(
                        outcome=self._outcome,
                        kinds=(self._names[one], self._names[other]),
                        groups=(self._places[first], self._places[second]),
                        p_adjusted=None,
                        **_figures(self._joint.difference_of_differences(*inside)),
                    )

    def _slot(self, place: int, kind: int) -> int:
        return place * len(self._names) + kind

    def _enough(self, *slots: int) -> bool:
        return all(self._joint.moments[slot].n >= self._fewest for slot in slots)


def _figures(compared: Compared) -> dict[str, Any]:
    return {
        "excess_difference": from_estimated(compared.excess_difference),
        "homogenization_ratio": from_estimated(compared.homogenization_ratio),
        "p_value": number(compared.p_value),
        "method": compared.method,
    }


def _joint_table(tally: Tally) -> tuple[Table, NDArray[np.int64]]:
    """Return the patterns of all models as ``stats`` takes them, and the cell of each row."""
    from polyculture.stats._rows import make_rows, used_rows

    rows = rows_of(tally)
    used = used_rows(rows.judged, rows.count.astype(np.float64))
    rows, cell = rows.take(used), tally.patterns.cell[used]
    weight, squared = (rows.weight, rows.weight_squared) if rows.weighted else (None, None)
    return make_rows(rows.judged, rows.failed, rows.count, weight, squared, rows.cluster), cell
