"""The one pass: outcomes -> Tally, computed by the engine that holds the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import ColumnError, InputError
from polyculture.outcomes import Outcomes
from polyculture.outcomes.counting import fetch
from polyculture.outcomes.individuals import Individuals, individuals_of
from polyculture.outcomes.masks import WORD_BITS
from polyculture.tally.tables import RawPatterns
from polyculture.tally.tally import Tally

__all__ = ["build", "patterns_of"]

MANY = 1 << 20
"""So many distinct patterns are kept; beyond, exact tables and a sample of individuals are."""

_FEW_MODELS = 20
_CLUSTER_LIMIT = 1000


def build(outcomes: Outcomes) -> Tally:
    """Make the Tally of outcomes; see ``Tally.of``."""
    survey = outcomes.survey
    people = individuals_of(outcomes)
    if len(outcomes.models) <= _FEW_MODELS or survey.rows <= MANY:
        found = patterns_of(people, len(outcomes.models))
        tables = None
    else:
        from polyculture.tally.large import tables_and_sample

        found, tables = tables_and_sample(people, outcomes)
    cells, cell = _cells(outcomes, found)
    names, cluster = _clusters(outcomes, found, survey.rows)
    raw = RawPatterns(
        judged=found.judged,
        failed=found.failed,
        no_answer=found.no_answer,
        cell=cell,
        cluster=cluster,
        label_class=found.label_class,
        count=found.count,
        weight=found.weight,
        weight_squared=found.weight_squared,
    ).merged()
    if tables is not None:
        tables = tables.with_cells(cells, outcomes)
    elif int(raw.count.sum()) == 0:
        raise InputError(f"No individual of {outcomes.source} is left.", hint="See --dry-run for what was left out.")
    return Tally(
        models=outcomes.models,
        groups=tuple(group.name for group in outcomes.groups),
        cells=cells,
        raw=raw,
        tables=tables,
        failure_rule=str(outcomes.rule),
        no_answer_policy=outcomes.mapping.no_answer,
        min_judged=outcomes.mapping.min_judged,
        weighted=outcomes.mapping.weight is not None,
        cluster_names=names,
        thresholds=_thresholds(outcomes),
        no_answer_reasons=people.reasons,
        binary_labels=people.label_class is not None,
        selection=people.selection,
        rows_read=survey.rows,
        rows_used=survey.used,
        left_out=survey.left_out,
    )


def _thresholds(outcomes: Outcomes) -> dict[str, float]:
    edges = {f"{name} edge {i + 1}": edge for name, found in outcomes.edges.items() for i, edge in enumerate(found)}
    return {**outcomes.thresholds, **edges}


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


def keys_of(people: Individuals) -> dict[str, nw.Expr]:
    """Return the columns that individuals are grouped by, besides masks."""
    keys = {f"__g{i}": expr for i, expr in enumerate(people.groups)}
    if people.cluster is not None:
        keys["__cluster"] = people.cluster
    if people.label_class is not None:
        keys["__label"] = people.label_class
    return keys


def patterns_of(people: Individuals, models: int, frame: nw.LazyFrame[Any] | None = None) -> Grouped:
    """Group individuals by everything that a pattern consists of, and count them."""
    keys = keys_of(people)
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
    return unpack_grouped(fetch(chosen.group_by(*keys).agg(*sums)), people, models)


def unpack_grouped(table: nw.DataFrame[Any], people: Individuals, models: int) -> Grouped:
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
        weight=_rounded(table["__w"].to_numpy()) if weighted else count.astype(np.float64),
        weight_squared=_rounded(table["__w2"].to_numpy()) if weighted else count.astype(np.float64),
    )


def _rounded(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round float sums to 12 digits, since engines add in an order of their own."""
    scale = 10.0 ** (12 - np.ceil(np.log10(np.maximum(np.abs(sums), 1e-300))))
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


def _cells(outcomes: Outcomes, found: Grouped) -> tuple[tuple[tuple[str | None, ...], ...], npt.NDArray[np.int64]]:
    """Return the cells in sorted order and the cell of each row."""
    if not outcomes.groups:
        return ((),), np.zeros(len(found.count), dtype=np.int64)
    columns = []
    for group, values in zip(outcomes.groups, found.groups, strict=True):
        edges = outcomes.edges.get(group.name)
        shown = {value: group.show(value, edges) for value in set(values)}
        columns.append([shown[value] for value in values])
    tuples = list(zip(*columns, strict=True))
    distinct = sorted(set(tuples), key=lambda cell: tuple((value is None, value or "") for value in cell))
    index = {cell: i for i, cell in enumerate(distinct)}
    return tuple(distinct), np.array([index[cell] for cell in tuples], dtype=np.int64)


def _clusters(outcomes: Outcomes, found: Grouped, rows: int) -> tuple[tuple[str, ...] | None, npt.NDArray[np.int64]]:
    if outcomes.mapping.cluster is None:
        return None, np.full(len(found.count), -1, dtype=np.int64)
    missing = sum(value is None for value in found.clusters)
    if missing:
        raise ColumnError(
            f"The cluster column {outcomes.mapping.cluster!r} is empty on some rows.",
            hint="Give every individual a cluster; one of its own where it belongs to none.",
        )
    names = sorted({str(value) for value in found.clusters})
    if len(names) > _CLUSTER_LIMIT and rows > MANY:
        raise ColumnError(
            f"The cluster column {outcomes.mapping.cluster!r} has {len(names):,} clusters, more than {_CLUSTER_LIMIT:,}.",
            hint="Join small clusters; a thousand are enough for an interval.",
        )
    index = {name: i for i, name in enumerate(names)}
    return tuple(names), np.array([index[str(value)] for value in found.clusters], dtype=np.int64)
