"""Counting inside the engine that holds a frame, and fetching small results from it."""

from __future__ import annotations

from typing import Any

import narwhals as nw

__all__ = ["count_true", "fetch", "fetch_rows", "first_rows", "is_polars", "is_spark"]


def is_polars(frame: nw.LazyFrame[Any]) -> bool:
    """Whether Polars holds the frame."""
    return bool(frame.implementation.is_polars())


def is_spark(frame: nw.LazyFrame[Any]) -> bool:
    """Whether Spark holds the frame."""
    return bool(frame.implementation.is_spark_like())


def count_true(frame: nw.LazyFrame[Any], condition: nw.Expr) -> nw.Expr:
    """Return the number of rows on which a condition holds.

    Spark refuses to add truth values; Polars adds them ten times faster uncast, and some engines return
    nothing for an empty table.
    """
    return condition.cast(nw.Int64).sum() if is_spark(frame) else condition.sum()


def fetch_rows(frame: nw.LazyFrame[Any]) -> list[dict[str, Any]]:
    """Compute a small result where the frame lives and return it as dicts."""
    return fetch(frame).rows(named=True)


def fetch(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Compute a frame where it lives and return its (small) result."""
    if is_polars(frame):
        return frame.collect("polars", engine="streaming")
    return frame.collect("pyarrow")


def first_rows(
    frame: nw.LazyFrame[Any], condition: nw.Expr, column: str, ident: str | None = None, limit: int = 5
) -> list[str]:
    """Return where a condition holds and what a column holds there: by row number in Polars, else by id."""
    if is_polars(frame):
        native = nw.to_native(frame).with_row_index("__row__", offset=1)
        rows = fetch_rows(nw.from_native(native).filter(condition).select("__row__", column).head(limit))
        return [f"row {row['__row__']} ({row[column]!r})" for row in rows]
    shown = frame.filter(condition).select(*dict.fromkeys([ident or column, column])).head(limit)
    return [", ".join(f"{key}={value!r}" for key, value in row.items()) for row in fetch_rows(shown)]
