"""Individuals grouped by everything that a pattern consists of: the query, and its answer as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.outcomes.counting import fetch
from polyculture.outcomes.individuals import Individuals
from polyculture.outcomes.masks import WORD_BITS
from polyculture.tally.engines import PRIORITY

__all__ = ["Grouped", "patterns_of", "rounded"]


@dataclass(frozen=True)
class Grouped:
    """What the pass brought back: a row a distinct combination, in the engine's order."""

    judged: npt.NDArray[np.uint8]
    failed: npt.NDArray[np.uint8]
    no_answer: npt.NDArray[np.uint8]
    groups: tuple[list[Any], ...]
    clusters: list[Any]
    label_class: npt.NDArray[np.int8]
    count: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    weight_squared: npt.NDArray[np.float64]
    priority: npt.NDArray[np.int64]


def _keys_of(people: Individuals) -> dict[str, nw.Expr]:
    """Return the columns that individuals are grouped by, besides masks."""
    keys = {f"__g{i}": expr for i, expr in enumerate(people.groups)}
    if people.cluster is not None:
        keys["__cluster"] = people.cluster
    if people.label_class is not None:
        keys["__label"] = people.label_class
    return keys


def patterns_of(
    people: Individuals, models: int, frame: nw.LazyFrame[Any] | None = None, *, priority: bool = False
) -> Grouped:
    """Group individuals by everything that a pattern consists of, and count them.

    With ``priority`` the frame holds a sample, and each of its individuals stays a row.
    """
    keys = _keys_of(people)
    if priority:
        keys[PRIORITY] = nw.col(PRIORITY)
    masks = people.masks
    for kind, words in (("j", masks.judged), ("f", masks.failed), ("n", masks.no_answer)):
        for i, word in enumerate(words or ()):
            keys[f"__{kind}{i}"] = word
    values: dict[str, nw.Expr] = {}
    sums: list[nw.Expr] = [nw.len().alias("__count")]
    if people.count is not None:
        values["__count"] = people.count
        sums = [nw.col("__count").sum()]
    if people.weight is not None:
        values |= {"__w": people.weight, "__w2": people.weight * people.weight}
        sums += [nw.col("__w").sum(), nw.col("__w2").sum()]
    chosen = (people.frame if frame is None else frame).select(**keys, **values)
    return _unpacked(fetch(chosen.group_by(*keys).agg(*sums)), people, models)


def _unpacked(table: nw.DataFrame[Any], people: Individuals, models: int) -> Grouped:
    """Turn the engine's answer into arrays; words become packed bytes."""
    rows = len(table)
    masks = people.masks
    count = table["__count"].cast(nw.Int64).to_numpy()
    weighted = people.weight is not None
    label = np.full(rows, -1, dtype=np.int8)
    if people.label_class is not None:
        known = table["__label"].cast(nw.Int8).fill_null(-1)
        label = known.to_numpy().astype(np.int8)
    everyone = _all_ones(rows, models)
    return Grouped(
        judged=everyone if masks.judged is None else _packed(table, "j", len(masks.judged), models),
        failed=_packed(table, "f", len(masks.failed), models),
        no_answer=np.zeros_like(everyone)
        if masks.no_answer is None
        else _packed(table, "n", len(masks.no_answer), models),
        groups=tuple(table[f"__g{i}"].to_list() for i in range(len(people.groups))),
        clusters=table["__cluster"].to_list() if people.cluster is not None else [],
        label_class=label,
        count=count,
        weight=rounded(table["__w"].to_numpy()) if weighted else count.astype(np.float64),
        weight_squared=rounded(table["__w2"].to_numpy()) if weighted else count.astype(np.float64),
        priority=table[PRIORITY].to_numpy().astype(np.int64)
        if PRIORITY in table.columns
        else np.zeros(rows, dtype=np.int64),
    )


def rounded(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round float sums to 12 digits, since engines add in an order of their own."""
    size = np.abs(sums)
    scale = 10.0 ** (12 - np.ceil(np.log10(np.where(size > 0, size, 1.0))))
    rounded: npt.NDArray[np.float64] = np.round(sums * scale) / scale
    return rounded


def _all_ones(rows: int, models: int) -> npt.NDArray[np.uint8]:
    one = np.packbits(np.ones((1, models), dtype=bool), axis=1, bitorder="little")
    return np.repeat(one, rows, axis=0)


def _packed(table: nw.DataFrame[Any], kind: str, words: int, models: int) -> npt.NDArray[np.uint8]:
    """Return (P, ceil(k / 8)) bytes of integer words of 62 bits each."""
    bits = []
    for word in range(words):
        values = table[f"__{kind}{word}"].cast(nw.Int64).to_numpy().astype("<i8")
        as_bytes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
        here = min(WORD_BITS, models - word * WORD_BITS)
        bits.append(np.unpackbits(as_bytes, axis=1, count=here, bitorder="little"))
    return np.packbits(np.concatenate(bits, axis=1), axis=1, bitorder="little")
