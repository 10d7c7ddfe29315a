"""Delimited text (CSV, TSV, semicolon): checked, then scanned lazily as text columns.

Types are decided later, over all files at once, by ``csv_types``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from polyculture.readers.strict_csv import Structure, check
from polyculture.readers.wording import named

__all__ = ["describe", "inspect", "scan"]


def scan(source: bytes | Path, structure: Structure) -> pl.LazyFrame:
    """Return the checked text as a lazy frame of text columns, empty fields null.

    Parameters
    ----------
    source : bytes or pathlib.Path
        Text in UTF-8.
    structure : Structure
        What the check found in it.
    """
    frame = pl.scan_csv(
        source,
        separator=structure.delimiter,
        has_header=False,
        skip_lines=structure.header_lines,
        schema=dict.fromkeys(structure.columns, pl.String()),
        # Polars reads a blank line as a row of nulls.
        n_rows=structure.rows if structure.blank_end else None,
        glob=False,
    )
    if structure.quoted:  # Polars tells "" from an empty field; here both are null
        frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    return frame


def inspect(blocks: Iterable[bytes], name: str) -> tuple[Structure, tuple[str, ...]]:
    """Check the structure of a file; return it and warnings in words.

    Raises
    ------
    FileError, ColumnError
        See `polyculture.readers.strict_csv.check`.
    """
    structure = check(blocks, name)
    warnings: tuple[str, ...] = ()
    if structure.open_end:
        warnings = (
            f"{named(name)}: the last row has no line end. "
            "If the file was cut off there, its last value is incomplete.",
        )
    return structure, warnings


def describe(structure: Structure) -> str:
    """Return the format in words.

    Examples
    --------
    >>> describe(Structure(";", ("id", "a"), 1, 1, False, False, False))
    'CSV with semicolons'
    """
    return {",": "CSV", "\t": "TSV", ";": "CSV with semicolons"}[structure.delimiter]
