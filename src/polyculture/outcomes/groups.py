"""Group columns: plain columns, expressions over a column, and quantile bins of a numeric column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import narwhals as nw

from polyculture import expressions
from polyculture.errors import ColumnError, UsageError, nearest

__all__ = ["Group", "is_unknown", "parse_group"]

_QUANTILES = re.compile(r"^\s*quantiles\(\s*(?P<column>.+?)\s*,\s*(?P<bins>\d+)\s*\)\s*$", re.IGNORECASE)
_UNKNOWN = frozenset({"", "unknown", "declined", "missing", "n/a", "na", "none", "prefer not to say", "not stated"})


def is_unknown(value: str | None) -> bool:
    """Whether a group value says that the group is not known."""
    return value is None or value.strip().lower() in _UNKNOWN


@dataclass(frozen=True)
class Group:
    """One way to divide the individuals.

    ``name`` is what reports show; ``bins`` is 0 unless the column is cut at its quantiles.
    """

    name: str
    column: str
    expression: expressions.Expression | None = None
    bins: int = 0

    def sources(self) -> tuple[str, ...]:
        """Return the columns that the group reads."""
        return (self.column,) if self.expression is None else expressions.columns_of(self.expression)

    def expr(self, schema: Mapping[str, object], edges: Sequence[float] | None = None) -> nw.Expr:
        """Return the group's value as a Narwhals expression.

        Raises
        ------
        ColumnError
            If quantiles are asked of a column that holds no numbers.
        """
        if self.expression is not None:
            return expressions.compile(self.expression, {name: (nw.col(name), schema[name]) for name in schema})
        if not self.bins:
            return nw.col(self.column)
        column, edges = nw.col(self.column), edges or ()
        binned: nw.Expr = nw.when(~column.is_null()).then(nw.lit(len(edges)))
        for index in range(len(edges) - 1, -1, -1):
            # From the last edge down, so that the lowest edge that holds the value decides.
            binned = nw.when(column <= edges[index]).then(nw.lit(index)).otherwise(binned)
        return binned

    def quantile_levels(self) -> tuple[float, ...]:
        """Return the inner quantile levels, such as .25, .5, .75 for four bins."""
        return tuple(index / self.bins for index in range(1, self.bins))

    def show(self, value: object, edges: Sequence[float] | None = None) -> str | None:
        """Return a group value as text, None for a missing one."""
        if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 (NaN)
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.bins and edges is not None and isinstance(value, int):
            return _bin_label(value, edges)
        return str(value)


def _bin_label(index: int, edges: Sequence[float]) -> str:
    if not edges:
        return "all"
    for digits in range(6, 18):  # six, or as many as tell the edges apart
        shown = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(shown)) == len(edges):
            break
    labels = [f"{shown[0]} or less", *(f"over {a} to {b}" for a, b in pairwise(shown)), f"over {shown[-1]}"]
    return labels[index]


def parse_group(text: str, columns: Sequence[str]) -> Group:
    """Read one entry of ``--by``.

    Parameters
    ----------
    text : str
        A column name, ``quantiles(COLUMN, BINS)``, or a condition such as ``age>=40``. A column whose name
        is exactly the text always wins.
    columns : sequence of str
        The columns there are.

    Raises
    ------
    ColumnError
        If there is no such column; the message names the nearest.
    UsageError
        If the text is neither.
    """
    if text in columns:
        return Group(text, text)
    quantiles = _QUANTILES.match(text)
    if quantiles is not None:
        column, bins = quantiles["column"].strip("`"), int(quantiles["bins"])
        if not 2 <= bins <= 100:
            raise UsageError(f"{text!r}: the number of bins must be 2 to 100.", hint="Write quantiles(age, 4).")
        _require(column, columns)
        return Group(text, column, bins=bins)
    if re.match(r"\s*quantiles\s*\(", text, re.IGNORECASE):
        raise UsageError(f"{text!r} is no form of quantiles.", hint="Write quantiles(COLUMN, BINS): quantiles(age, 4).")
    if not re.search(r"[<>=]|\bin\b|\bnot\b", text):
        _require(text, columns)
    expression = expressions.parse(text)
    for column in expressions.columns_of(expression):
        _require(column, columns)
    return Group(text, expressions.columns_of(expression)[0], expression)


def _require(column: str, columns: Sequence[str]) -> None:
    if column not in columns:
        raise ColumnError(
            f"There is no column {column!r} to group by.",
            hint=nearest(column, columns) or f"The columns are: {', '.join(columns[:20])}.",
        )
