"""Which groups there are: each column by itself, pairs of columns, and all columns crossed.

A group is a set of cells of the Tally. Which values mean "not known" is decided in ``outcomes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.words import group_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.tally import Tally


@dataclass(frozen=True)
class Group:
    """One group: its values by column, the cells it is made of, and whether a value is not known."""

    by: dict[str, str | None]
    cells: tuple[int, ...]
    unknown: bool

    @property
    def label(self) -> str:
        """Name the group for a reader, as in ``sex = female, not age>=40``."""
        return group_words(self.by)


@dataclass(frozen=True)
class Partition:
    """The groups that some columns make, in the order of their values."""

    columns: tuple[str, ...]
    groups: tuple[Group, ...]


def partition(tally: Tally, columns: Sequence[str]) -> Partition:
    """Group the cells of a Tally by the values of some of its columns.

    Parameters
    ----------
    tally : Tally
        Its cells are grouped.
    columns : sequence of str
        Names among ``tally.groups``.

    Returns
    -------
    Partition
        Groups sorted by value, those with values that are not known last.
    """
    from polyculture.outcomes.groups import is_unknown

    places = [tally.groups.index(column) for column in columns]
    cells: dict[tuple[str | None, ...], list[int]] = {}
    for number, values in enumerate(tally.cells):
        cells.setdefault(tuple(values[place] for place in places), []).append(number)
    groups = [
        Group(
            by=dict(zip(columns, values, strict=True)),
            cells=tuple(numbers),
            unknown=any(is_unknown(value) for value in values),
        )
        for values, numbers in cells.items()
    ]
    groups.sort(key=lambda group: (group.unknown, [(v is None, v or "") for v in group.by.values()]))
    return Partition(columns=tuple(columns), groups=tuple(groups))


def partitions(tally: Tally) -> tuple[Partition, ...]:
    """Return each column's groups, with three or more columns those of pairs, and all columns crossed."""
    columns = tally.groups
    chosen: list[tuple[str, ...]] = [(column,) for column in columns]
    if len(columns) > 2:
        chosen += list(combinations(columns, 2))
    if len(columns) > 1:
        chosen.append(tuple(columns))
    return tuple(partition(tally, names) for names in chosen)


class CellIndex:
    """Where the rows of each cell stand, so that a group's rows are found without a scan.

    Parameters
    ----------
    cell : (P,) int64
        The cell of each row.
    cells : int
        Number of cells.
    """

    def __init__(self, cell: NDArray[np.int64], cells: int) -> None:
        # Stable sorts of short integers are linear; there are seldom more cells than they hold.
        short = cell.astype(np.int16) if cells < np.iinfo(np.int16).max else cell
        self._order = np.argsort(short, kind="stable")
        self._ends = np.searchsorted(cell[self._order], np.arange(cells + 1))

    def rows(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Return the positions of the rows of these cells, ascending."""
        parts = [self._order[self._ends[c] : self._ends[c + 1]] for c in cells]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
