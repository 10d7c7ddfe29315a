"""The list of individuals whom all models failed, written as CSV, JSON Lines or Parquet."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["check_ending", "write_listing"]

_ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a path that says the format.

    Raises
    ------
    UsageError
        If the ending is none of those that can be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"{os.fspath(path)!r}: the list is written as CSV, JSON Lines or Parquet, as the name's end says.",
            hint=f"End the name in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}.",
        )
    return ending


def write_listing(frame: nw.LazyFrame[Any], path: str | os.PathLike[str]) -> None:
    """Write the rows of a lazy frame, whole or not at all, without holding them all where Polars reads them.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The rows.
    path : path-like
        Where to; the ending says the format.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    from polyculture.files import output_error

    ending, target = check_ending(path), Path(path).resolve()
    rows = frame.to_native() if frame.implementation.is_polars() else frame.collect("polars").to_native().lazy()
    try:
        with tempfile.TemporaryDirectory(prefix=".polyculture-", suffix=".tmp", dir=target.parent) as folder:
            part = Path(folder) / "part"
            if ending == ".parquet":
                rows.sink_parquet(part)
            elif ending == ".csv":
                rows.with_columns(_guarded(rows)).sink_csv(part)
            else:
                rows.sink_ndjson(part)
            part.replace(target)
    except OSError as error:
        raise output_error(Path(path), error) from error


def _guarded(rows: pl.LazyFrame) -> list[pl.Expr]:
    """Return text columns in which no spreadsheet takes a cell for a formula, as in the tables of an audit."""
    import polars as pl
    from polars.selectors import by_name  # a model of a long table may be called "*", a pattern to pl.col

    from polyculture.files import FORMULA

    texts = [name for name, dtype in rows.collect_schema().items() if dtype == pl.String]
    starts = [by_name(name).str.slice(0, 1).is_in(list(FORMULA)) for name in texts]
    return [
        pl.when(start).then(pl.concat_str(pl.lit("'"), by_name(name))).otherwise(by_name(name)).alias(name)
        for name, start in zip(texts, starts, strict=True)
    ]
