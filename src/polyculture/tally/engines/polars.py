"""Polars: hashes and row numbers of its own, and pairs by counting bits of packed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from polyculture.tally.engines import PRIORITY, PRIORITY_RANGE

__all__ = ["OnePass", "over_batches", "pairs", "pairs_and_sample", "same_answers", "with_priority"]

_SEED = 20_230_712
_BATCH = 1 << 18
_THREADS = 2
_FEW_VALUES = 64  # a product a value is faster than comparing all columns, up to about here
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class OnePass:
    """What one reading of complete 0/1 columns gives; ``complete`` is False where they were not that."""

    complete: bool
    pairs: npt.NDArray[np.int64]
    sample: pl.LazyFrame


def with_priority(frame: nw.LazyFrame[Any], ident: str | None) -> nw.LazyFrame[Any]:
    """Return the frame with a hash of the id, or of the row number where there is no id."""
    native: pl.LazyFrame = nw.to_native(frame)
    if ident is None:
        native = native.with_row_index("__row")
    hashed = pl.col(ident or "__row").hash(seed=_SEED) % PRIORITY_RANGE
    return nw.from_native(native.with_columns(hashed.cast(pl.Int64).alias(PRIORITY)))


def pairs(frame: nw.LazyFrame[Any], bits: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count rows on which both of two columns are 1: batches are packed to bits, then anded and counted."""
    native: pl.LazyFrame = nw.to_native(frame.select(*bits))
    total = np.zeros((len(bits), len(bits)), dtype=np.int64)
    for counted in over_batches(native, _count_pairs):
        total += counted
    return _symmetric(total)


def pairs_and_sample(
    frame: nw.LazyFrame[Any], models: Sequence[str], others: Sequence[str], ident: str | None, limit: int
) -> OnePass:
    """Read the table once for the pairs of its 0/1 columns and for a sample of its rows.

    Parameters
    ----------
    frame : LazyFrame
        The table.
    models, others : sequence of str
        Its 0/1 columns, and the other columns that the sample must have.
    ident : str or None
        The column of ids.
    limit : int
        Rows with a priority up to this are in the sample.
    """
    wanted = nw.to_native(with_priority(frame, ident)).select(*models, *others, PRIORITY)
    total = np.zeros((len(models), len(models)), dtype=np.int64)
    sample = [wanted.head(0).collect()]

    def read(batch: pl.DataFrame) -> tuple[bool, npt.NDArray[np.int64] | None, pl.DataFrame]:
        columns = batch.select(models)
        fine = all(_is_complete_indicator(series) for series in columns.iter_columns())
        return fine, _count_pairs(columns) if fine else None, batch.filter(pl.col(PRIORITY) <= limit)

    for complete, counted, chosen in over_batches(wanted, read):
        if not complete or counted is None:
            return OnePass(complete=False, pairs=total, sample=wanted)
        total += counted
        sample.append(chosen)
    return OnePass(complete=True, pairs=_symmetric(total), sample=pl.concat(sample).lazy())


def same_answers(
    frame: nw.LazyFrame[Any], columns: Sequence[str], *, weighted: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Add up rows on which two columns hold the same value; see ``same_by_aggregates``."""
    native: pl.LazyFrame = nw.to_native(frame)
    size = len(columns)
    counts, weights = np.zeros((size, size), dtype=np.int64), np.zeros((size, size))

    def count(batch: pl.DataFrame) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        codes = _codes(batch, columns)
        numbers = batch["__n"].cast(pl.Float64).to_numpy()
        return _same(codes, numbers), _same(codes, batch["__w"].to_numpy()) if weighted else None

    for counted, weighed in over_batches(native, count):
        counts += np.rint(counted).astype(np.int64)
        if weighed is not None:
            weights += weighed
    return counts, weights


def _codes(batch: pl.DataFrame, columns: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the number of each value among those of all columns, from 1, and 0 where there is none."""
    together = pl.concat([batch[name].alias("value") for name in columns])
    ranked = together.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    return np.asarray(ranked.reshape(len(columns), batch.height).T)


def _same(codes: npt.NDArray[np.int64], weight: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Add up the weight of the rows on which two columns hold the same number over 0, (m, m)."""
    size = codes.shape[1]
    found = np.zeros((size, size))
    values = int(codes.max(initial=0))
    if values <= _FEW_VALUES:
        for value in range(1, values + 1):
            shown = (codes == value).astype(np.float64)
            found += (shown * weight[:, None]).T @ shown
        return found
    for place in range(size):
        both = (codes == codes[:, [place]]) & (codes > 0)
        found[place] = weight @ both
    return found


def _is_complete_indicator(series: pl.Series) -> bool:
    if series.null_count():
        return False
    values = series.to_numpy()
    if values.dtype.itemsize == 1:
        return bool(values.view(np.uint8).max() <= 1)  # a negative byte is a large one without its sign
    return bool(values.min() >= 0 and values.max() <= 1)


def _symmetric(total: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    upper: npt.NDArray[np.int64] = np.triu(total)
    return upper + np.triu(total, 1).T


def over_batches(frame: pl.LazyFrame, work: Callable[[pl.DataFrame], _Result]) -> Iterator[_Result]:
    """Do some work on every batch, in order, on a few threads."""
    batches = frame.collect_batches(chunk_size=_BATCH, engine="streaming")
    with ThreadPoolExecutor(_THREADS) as pool:
        # A window of batches at a time, so that reading never runs far ahead of counting.
        for window in _windows(batches, 2 * _THREADS):
            yield from pool.map(work, window)


def _windows(batches: Iterator[pl.DataFrame], size: int) -> Iterator[list[pl.DataFrame]]:
    window: list[pl.DataFrame] = []
    for batch in batches:
        if batch.height:
            window.append(batch)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window


def _count_pairs(batch: pl.DataFrame) -> npt.NDArray[np.int64]:
    columns = batch.width
    packed = np.zeros((columns, -(-batch.height // 64) * 8), dtype=np.uint8)
    for place, series in enumerate(batch.iter_columns()):
        values = series.to_numpy()
        # Bytes that are 0 or 1 are truth values already.
        bits = np.packbits(values.view(np.bool_) if values.dtype.itemsize == 1 else values.astype(np.bool_))
        packed[place, : len(bits)] = bits
    words = packed.view(np.uint64)
    result = np.zeros((columns, columns), dtype=np.int64)
    for place in range(columns):
        both = np.bitwise_count(words[place] & words[place:])
        result[place, place:] = both.sum(axis=1, dtype=np.int64)
    return result
