"""What Narwhals cannot say, one small adapter an engine: a hash of the individual, and all pairs of models.

``priority`` gives every individual a number that does not depend on its outcomes; the individuals with the
lowest numbers are a random sample, and the lowest of two such samples together are a sample of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import UsageError
from polyculture.outcomes.counting import fetch

__all__ = ["PRIORITY", "PRIORITY_RANGE", "Adapter", "adapter_of", "pairs_by_aggregates", "same_by_aggregates"]

PRIORITY = "__priority"
PRIORITY_RANGE = 1 << 62
"""Priorities are uniform on 0 .. 2^62 - 1, so that they fit a signed 64-bit integer."""


class Adapter(Protocol):
    """What an engine must offer beyond Narwhals."""

    def with_priority(self, frame: nw.LazyFrame[Any], ident: str | None) -> nw.LazyFrame[Any]:
        """Return the frame with the column PRIORITY, a hash of the id (or of the row's place)."""
        ...

    def pairs(self, frame: nw.LazyFrame[Any], bits: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return (m, m) numbers of rows on which both of two 0/1 columns are 1."""
        ...


_MODULES = {"POLARS": "polars", "DUCKDB": "duckdb", "PYSPARK": "spark", "PYSPARK_CONNECT": "spark"}


def adapter_of(frame: nw.LazyFrame[Any]) -> Adapter:
    """Return the adapter of the engine that holds a frame.

    Raises
    ------
    UsageError
        If there is none; only outcomes of many models and many individuals need one.
    """
    name = frame.implementation.name
    if name not in _MODULES:
        raise UsageError(
            f"More than 20 models on more than a million individuals are not supported on {name.title()} yet.",
            hint="Use Polars, DuckDB or Spark, or choose fewer models.",
        )
    return cast(Adapter, import_module(f"polyculture.tally.engines.{_MODULES[name]}"))


def pairs_by_aggregates(frame: nw.LazyFrame[Any], bits: Sequence[str], chunk: int = 500) -> npt.NDArray[np.int64]:
    """Count pairs as sums of products, some hundred a query: what every engine with SQL can do."""
    size = len(bits)
    result = np.zeros((size, size), dtype=np.int64)
    places = [(i, j) for i in range(size) for j in range(i, size)]
    for start in range(0, len(places), chunk):
        here = places[start : start + chunk]
        sums = {f"p{i}_{j}": (nw.col(bits[i]) * nw.col(bits[j])).cast(nw.Int64).sum() for i, j in here}
        row = frame.select(**sums).collect("pyarrow").rows(named=True)[0]
        for i, j in here:
            result[i, j] = result[j, i] = int(row[f"p{i}_{j}"] or 0)
    return result


def same_by_aggregates(
    frame: nw.LazyFrame[Any], columns: Sequence[str], *, weighted: bool, chunk: int = 200
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Add up rows on which two columns hold the same value, some hundred pairs a query.

    Parameters
    ----------
    frame : LazyFrame
        The columns, ``__n`` (individuals of the row) and, with ``weighted``, ``__w``.
    columns : sequence of str
        The m columns; missing values are the same as nothing.
    weighted : bool
        Whether weights are added up too.
    chunk : int
        Pairs a query.

    Returns
    -------
    (m, m) int64, (m, m) float64
        Individuals and weights; zeros where nothing is weighted.
    """
    size = len(columns)
    counts, weights = np.zeros((size, size), dtype=np.int64), np.zeros((size, size))
    places = [(i, j) for i in range(size) for j in range(i, size)]
    for start in range(0, len(places), chunk):
        here = places[start : start + chunk]
        sums = {}
        for i, j in here:
            same = nw.col(columns[i]) == nw.col(columns[j])
            sums[f"n{i}_{j}"] = nw.when(same).then(nw.col("__n")).otherwise(nw.lit(0)).sum()
            if weighted:
                sums[f"w{i}_{j}"] = nw.when(same).then(nw.col("__w")).otherwise(nw.lit(0.0)).sum()
        row = fetch(frame.select(**sums)).rows(named=True)[0]
        for i, j in here:
            counts[i, j] = counts[j, i] = int(row[f"n{i}_{j}"] or 0)
            if weighted:
                weights[i, j] = weights[j, i] = float(row[f"w{i}_{j}"] or 0.0)
    return counts, weights
