"""Parquet: opened by its footer, read lazily."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polyculture.errors import ColumnError, FileError
from polyculture.readers.errors import reading
from polyculture.readers.wording import named

__all__ = ["scan"]

_MAGIC = b"PAR1"


def scan(path: Path) -> tuple[pl.LazyFrame, int]:
    """Return a Parquet file as a lazy frame, and the number of its rows.

    Raises
    ------
    FileError
        The footer is damaged or missing, or there are no rows.
    ColumnError
        A column is named twice.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - 8, 0))
        end = stream.read()
    if size < 12 or not end.endswith(_MAGIC):
        raise FileError(
            f"{named(path)} is cut off or damaged: a Parquet file ends with its footer, and this one does not.",
            hint="Get the whole file; the schema stands at its end, so a part of it cannot be read.",
        )
    if int.from_bytes(end[:4], "little") > size - 12:
        raise FileError(
            f"{named(path)} has a damaged Parquet footer: it says that it is longer than the file.",
            hint="Get the file again, or write it again.",
        )
    with reading(path, "Parquet"):
        try:
            frame = pl.scan_parquet(path, glob=False)
            frame.collect_schema()
            rows = int(frame.select(pl.len()).collect(engine="streaming").item())
        except pl.exceptions.DuplicateError as error:
            raise ColumnError(
                f"{named(path)}: more than one column has the same name.", hint="Give every column its own name."
            ) from error
    return frame, rows
