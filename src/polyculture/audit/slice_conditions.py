"""Conditions over the values of columns: a value, a missing value, and of numbers all up to or above one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.stats.slices.search import Space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from polyculture.tally.by_columns import ColumnValues, RowsByColumns


@dataclass(frozen=True)
class Condition:
    """One condition in words, the column it is about, and the codes for which it holds."""

    text: str
    column: int
    codes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that column values make, the cell of each row, and the conditions over them."""

    cell: NDArray[np.int64]
    count: int
    conditions: tuple[Condition, ...]
    space: Space


def cells_of(rows: RowsByColumns, half: NDArray[np.int64], least: int, depth: int = 3) -> Cells:
    """Return the conditions that hold for enough individuals of the searched half, and fail to hold for enough.

    Parameters
    ----------
    rows : RowsByColumns
        Individuals by column values.
    half : (R,) int64
        How many individuals of each row are searched.
    least : int
        Fewest individuals.
    depth : int
        Most conditions of a slice.
    """
    distinct, cell = np.unique(rows.codes, axis=0, return_inverse=True)
    sizes = np.bincount(cell.ravel(), weights=half, minlength=len(distinct))
    kept, members = [], []
    for place, column in enumerate(rows.columns):
        for condition in _conditions(place, column):
            own = np.isin(distinct[:, place], condition.codes)
            if least <= sizes[own].sum() <= sizes.sum() - least:
                kept.append(condition)
                members.append(own)
    space = Space(
        np.array(members, dtype=np.bool_).reshape(len(kept), len(distinct)),
        np.array([one.column for one in kept], dtype=np.int64),
        depth,
    )
    return Cells(cell.ravel().astype(np.int64), len(distinct), tuple(kept), space)


def _conditions(place: int, column: ColumnValues) -> Iterator[Condition]:
    known = [code for code, value in enumerate(column.values) if value is not None]
    for code, value in enumerate(column.values):
        yield Condition(_words(column, value), place, (code,))
    if not column.ordered or len(known) < 3:
        return
    for end in range(1, len(known)):
        below, above = known[:end], known[end:]
        top = _upper(column, below[-1])
        if len(below) > 1:
            yield Condition(f"{column.name} {top} or less", place, tuple(below))
        if len(above) > 1:
            yield Condition(f"{column.name} over {top}", place, tuple(above))


def _words(column: ColumnValues, value: str | None) -> str:
    """Return a condition that holds for one value, in words.

    >>> from polyculture.tally.by_columns import ColumnValues
    >>> age = ColumnValues("age", ("30 or less", "over 30 to 50"), True, True)
    >>> _words(age, "over 30 to 50"), _words(ColumnValues("sex", ("f",), False, False), "f"), _words(age, None)
    ('age over 30 to 50', 'sex = f', 'age missing')
    """
    if value is None:
        return f"{column.name} missing"
    if value == "":
        return f"{column.name} empty"
    return f"{column.name} {value}" if column.binned else f"{column.name} = {value}"


def _upper(column: ColumnValues, code: int) -> str:
    """Return the upper end of a value: of a bin the number after "to", or before "or less"."""
    value = str(column.values[code])
    if not column.binned:
        return value
    return value.removesuffix(" or less") if value.endswith(" or less") else value.rpartition(" to ")[2]
