"""Which type a column of text has: decided by all of its values in all files, never by the first ones alone.

Integers, decimal numbers, true/false and text; no dates. What would lose something as a number stays text:
leading zeros ("007"), a plus sign ("+49"), integers too long for their type. An empty field is null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from polars.selectors import by_name  # pl.col("*") and pl.col("^a$") are patterns; a name is a name

from polyculture.errors import ColumnError
from polyculture.readers.wording import excerpt, named

__all__ = ["Evidence", "TextFile", "collect_evidence", "decide", "typed"]

# Up to 18 digits always fit into 64 bits.
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})"
# A float holds every integer of up to 15 digits; a longer one among decimals is a name, not a number.
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_DECIMAL = (
    rf"(?:-?(?:(?:0|[1-9][0-9]{{0,14}}){_EXPONENT}|(?:0|[1-9][0-9]*)?\.[0-9]+{_EXPONENT}"
    rf"|(?:0|[1-9][0-9]*)\.{_EXPONENT}|(?i:nan|inf|infinity)))"
)
_PATTERNS = {
    "integers": _INTEGER,
    "decimals": _DECIMAL,
    "digits": r"(?s:.*[0-9].*)",
    "lower": r"(?:true|false)",
    "title": r"(?:True|False)",
    "upper": r"(?:TRUE|FALSE)",
}
_CODE = r"^[+-]?[0-9]+$"
_SAMPLE = 1000


@dataclass(frozen=True)
class Evidence:
    """How many values of a column are of each kind.

    ``values`` are the fields that are not empty; ``digits`` the values with a digit, so that a column of
    nothing but "NaN" is text; ``lower``, ``title`` and ``upper`` the three spellings of true and false.
    """

    values: int
    integers: int = 0
    decimals: int = 0
    digits: int = 0
    lower: int = 0
    title: int = 0
    upper: int = 0

    def dtype(self) -> pl.DataType:
        """Return the type that holds every value without loss."""
        if self.values and self.values in (self.lower, self.title, self.upper):
            return pl.Boolean()
        if self.values and self.values == self.integers:
            return pl.Int64()
        if self.values == self.decimals and self.digits:
            return pl.Float64()
        return pl.String()


@dataclass(frozen=True)
class TextFile:
    """One file of text columns whose types are still open."""

    name: str
    frame: pl.LazyFrame
    evidence: Mapping[str, Evidence]


_ALL = tuple(_PATTERNS)


def _sampled(values: Iterable[str]) -> Evidence:
    """Return the evidence of a few values, each counted once."""
    distinct = set(values)
    counts = {kind: sum(re.fullmatch(pattern, v) is not None for v in distinct) for kind, pattern in _PATTERNS.items()}
    return Evidence(values=len(distinct), **counts)


def _counted(frame: pl.LazyFrame, wanted: Mapping[str, Sequence[str]]) -> tuple[dict[str, Evidence], int]:
    """Count the wanted kinds of each column, and the rows, in one streaming pass."""
    expressions = [pl.len().alias("rows")]
    for place, (name, kinds) in enumerate(wanted.items()):
        text = by_name(name)
        expressions.append(text.count().alias(f"{place}.values"))
        expressions += [text.str.contains(f"^{_PATTERNS[kind]}$").sum().alias(f"{place}.{kind}") for kind in kinds]
    row = frame.select(expressions).collect(engine="streaming").row(0, named=True)
    evidence = {
        name: Evidence(int(row[f"{place}.values"]), **{kind: int(row[f"{place}.{kind}"]) for kind in kinds})
        for place, (name, kinds) in enumerate(wanted.items())
    }
    return evidence, int(row["rows"])


def collect_evidence(frame: pl.LazyFrame, names: Sequence[str]) -> tuple[dict[str, Evidence], int]:
    """Return the evidence on each column of a frame of text columns, and the number of its rows.

    The first rows only say what need not be counted: a column with a word in it is text, whatever follows.

    Parameters
    ----------
    frame : polars.LazyFrame
        Text columns, empty fields null.
    names : sequence of str
        The columns.
    """
    sample = frame.head(_SAMPLE).collect(engine="streaming")
    # Methods of a series would go by its name too.
    evidence = {name: _sampled(one for one in sample[name].to_list() if one is not None) for name in names}
    wanted = {name: kinds for name, seen in evidence.items() if (kinds := _worth_counting(seen))}
    # One column is always counted, so that the rows are those that the parser made, not a count of lines.
    counted, rows = _counted(frame, wanted or {names[0]: ("integers",)})
    mixed = {name: _ALL for name in wanted if counted[name].values and counted[name].dtype() == pl.String()}
    if mixed:
        counted |= _counted(frame, mixed)[0]
    return {**evidence, **{name: counted[name] for name in wanted}}, rows


def _worth_counting(seen: Evidence) -> tuple[str, ...]:
    dtype = seen.dtype()
    if not seen.values:
        return _ALL
    if dtype == pl.Boolean():
        return ("lower", "title", "upper")
    if dtype == pl.Int64():
        return ("integers",)
    # A sample of nothing but NaN may be followed by numbers.
    return ("decimals", "digits") if seen.values == seen.decimals else ()


def decide(files: Sequence[TextFile], names: Sequence[str]) -> tuple[dict[str, pl.DataType], tuple[str, ...]]:
    """Return the type of each column over all files, and the columns without any value.

    Several files are read as if they were one: where one holds integers and another decimals, the column is
    decimal; where one holds codes such as "007", it is text in all.

    Parameters
    ----------
    files : sequence of TextFile
        All text files.
    names : sequence of str
        The columns.

    Raises
    ------
    ColumnError
        A column holds numbers in one file and words in another.
    """
    types: dict[str, pl.DataType] = {}
    empty = []
    for name in names:
        filled = [file for file in files if file.evidence[name].values]
        found = {file.evidence[name].dtype() for file in filled}
        if not filled:
            empty.append(name)
        types[name] = found.pop() if len(found) == 1 else _joint(filled, name)
    return types, tuple(empty)


def _joint(files: Sequence[TextFile], name: str) -> pl.DataType:
    """Return the type of a column that looks different in several files."""
    kinds: dict[str, str] = {}
    total = Evidence(0)
    for file in files:
        own = _counted(file.frame, {name: _ALL})[0][name]
        total = Evidence(*(getattr(total, kind) + getattr(own, kind) for kind in ("values", *_ALL)))
        kinds.setdefault(_kind(own, file.frame, name), file.name)
    if len(kinds) > 1:
        (first, one), (second, other) = list(kinds.items())[:2]
        raise ColumnError(
            f"Column {excerpt(name, limit=40)} holds {first} in {named(one)} and {second} in {named(other)}.",
            hint="Files that are read together must agree in the types of their columns.",
        )
    return total.dtype()


def _kind(own: Evidence, frame: pl.LazyFrame, name: str) -> str:
    dtype = own.dtype()
    if dtype == pl.Boolean():
        return "true/false"
    if dtype.is_numeric():
        return "numbers"
    codes = frame.select(by_name(name).str.contains(_CODE).all()).collect(engine="streaming").item()
    return "numbers" if codes else "text"


def typed(frame: pl.LazyFrame, types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Return the frame of text with its columns cast to their types (lazily)."""
    casts = []
    for name, dtype in types.items():
        if dtype == pl.Boolean():
            casts.append(by_name(name).str.to_lowercase() == "true")
        elif dtype != pl.String():
            casts.append(by_name(name).cast(dtype))
    return frame.with_columns(casts) if casts else frame
