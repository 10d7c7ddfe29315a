"""Which type a column of text has: decided by all of its values in all files, never by the first ones alone.

Integers, decimal numbers, true/false and text; no dates. What would lose something as a number stays
text: leading zeros ("007"), a plus sign ("+49"), integers beyond 64 bits. An empty field is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import polars as pl

from polyculture.errors import ColumnError
from polyculture.readers.wording import excerpt

__all__ = ["Evidence", "collect_evidence", "decide", "typed"]

_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
_DECIMAL = (
    r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
    r"|^-?(?i:nan|inf|infinity)$"
)
# A float holds integers exactly up to 2^53, 16 digits; longer ones are names.
_LONG = r"^-?[0-9]{16,}$"
_CODE = r"^[+-]?[0-9]+$"
_BOOLEANS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
_SAMPLE = 1000


@dataclass(frozen=True)
class Evidence:
    """How many values of a column of one file are of each kind.

    ``values`` are the fields that are not empty. A column that a sample already shows to be text is
    not counted any further.
    """

    values: int
    digits: int = 0
    integers: int = 0
    decimals: int = 0
    long: int = 0
    lower: int = 0
    title: int = 0
    upper: int = 0

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Evidence)})

    def dtype(self) -> pl.DataType:
        """Return the type that holds every value without loss."""
        if self.values and self.values in (self.lower, self.title, self.upper):
            return pl.Boolean()
        if self.values and self.values == self.integers:
            return pl.Int64()
        if self.digits and self.values == self.decimals and not self.long:
            return pl.Float64()
        return pl.String()


def _counters(name: str) -> dict[str, pl.Expr]:
    text = pl.col(name)
    return {
        "values": text.count(),
        "digits": text.str.contains(r"[0-9]").sum(),
        "integers": (text.str.contains(_INTEGER) & text.cast(pl.Int64, strict=False).is_not_null()).sum(),
        "decimals": (text.str.contains(_DECIMAL) & text.cast(pl.Float64, strict=False).is_not_null()).sum(),
        "long": text.str.contains(_LONG).sum(),
        **{
            kind: text.is_in(list(spelling)).sum()
            for kind, spelling in zip(("lower", "title", "upper"), _BOOLEANS, strict=True)
        },
    }


def _count(frame: pl.LazyFrame, wanted: Mapping[str, Sequence[str]]) -> tuple[dict[str, Evidence], int]:
    """Count the wanted kinds of each column, and the rows, in one streaming pass."""
    names = list(wanted)
    expressions = [
        _counters(name)[kind].alias(f"{place}.{kind}") for place, name in enumerate(names) for kind in wanted[name]
    ]
    row = frame.select(*expressions, pl.len().alias("rows")).collect(engine="streaming").row(0, named=True)
    evidence = {
        name: Evidence(**{kind: int(row[f"{place}.{kind}"]) for kind in wanted[name]})
        for place, name in enumerate(names)
    }
    return evidence, int(row["rows"])


_ALL = tuple(f.name for f in fields(Evidence))
_NUMBERS = ("values", "digits", "integers", "decimals", "long")
_WORDS = ("values", "lower", "title", "upper")


def collect_evidence(frame: pl.LazyFrame, names: Sequence[str]) -> tuple[dict[str, Evidence], int]:
    """Return the evidence on each column of a frame of text columns, and the number of its rows.

    Parameters
    ----------
    frame : polars.LazyFrame
        Text columns, empty fields null.
    names : sequence of str
        The columns.
    """
    sample = frame.head(_SAMPLE).collect(engine="streaming").lazy()
    evidence, _ = _count(sample, dict.fromkeys(names, _ALL))
    # One column is always counted, so that the rows are those that the parser made, not a count of lines.
    wanted: dict[str, tuple[str, ...]] = {names[0]: _ALL}
    for name, seen in evidence.items():
        kind = seen.dtype()
        if not seen.values:
            wanted[name] = _ALL
        elif kind == pl.Boolean:
            wanted[name] = _WORDS
        elif seen.values == seen.decimals or kind.is_numeric():
            wanted[name] = _NUMBERS
    counted, rows = _count(frame, wanted)
    return {**evidence, **counted}, rows


def decide(
    parts: Sequence[tuple[str, Mapping[str, Evidence], pl.LazyFrame]], names: Sequence[str]
) -> tuple[dict[str, pl.DataType], tuple[str, ...]]:
    """Return the type of each column over all files, and the columns without any value.

    Several files are read as one: a column is text if any of them makes it so by codes such as "007".
    Where one file has numbers and another one words, they are not of one schema.

    Parameters
    ----------
    parts : sequence of (file name, evidence by column, frame of text)
        All text files.
    names : sequence of str
        The columns.

    Raises
    ------
    ColumnError
        A column is of one type in one file and of another in the next.
    """
    types: dict[str, pl.DataType] = {}
    empty = []
    for name in names:
        own = [evidence[name] for _, evidence, _ in parts]
        total = sum(own[1:], start=own[0])
        types[name] = total.dtype()
        if not total.values:
            empty.append(name)
        elif len(parts) > 1 and types[name] == pl.String:
            _refuse_mixture(parts, name)
    return types, tuple(empty)


def _refuse_mixture(parts: Sequence[tuple[str, Mapping[str, Evidence], pl.LazyFrame]], name: str) -> None:
    kinds: dict[str, str] = {}
    for file, evidence, frame in parts:
        if not evidence[name].values:
            continue
        kind = _word(evidence[name].dtype())
        if kind == "text" and frame.select(pl.col(name).str.contains(_CODE).all()).collect(engine="streaming").item():
            kind = "numbers"
        kinds.setdefault(kind, file)
    if len(kinds) > 1:
        (first, one), (second, other) = list(kinds.items())[:2]
        raise ColumnError(
            f"Column {excerpt(name, limit=40)} holds {first} in {excerpt(one)} and {second} in {excerpt(other)}.",
            hint="Files that are read together must agree in the types of their columns.",
        )


def _word(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "true/false"
    return "numbers" if dtype.is_numeric() else "text"


def typed(frame: pl.LazyFrame, types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Return the frame of text with its columns cast to their types (lazily)."""
    casts = []
    for name, dtype in types.items():
        if dtype == pl.Boolean:
            casts.append(pl.col(name).str.to_lowercase() == "true")
        elif dtype != pl.String:
            casts.append(pl.col(name).cast(dtype))
    return frame.with_columns(casts) if casts else frame
