"""The declared second pass for slices: failure patterns by the values of columns that are no group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polyculture.errors import ColumnError, UsageError
from polyculture.expressions import kind_of
from polyculture.outcomes import Outcomes
from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.groups import parse_group
from polyculture.outcomes.individuals import individuals_of
from polyculture.tally.grouped import patterns_of
from polyculture.tally.large import sample_of
from polyculture.tally.tables import BoolArray, FloatArray, IntArray, unpack

__all__ = ["ColumnValues", "RowsByColumns", "rows_by_columns", "usable_columns"]

FEW_VALUES = 10  # of a numeric column; with more it is cut at its quantiles
BINS = 5
MOST_ROWS = 1_000_000
_MOST_VALUES = 1_000


@dataclass(frozen=True)
class ColumnValues:
    """One searched column: its distinct values as shown, None for a missing one, and whether they have an order."""

    name: str
    values: tuple[str | None, ...]
    ordered: bool
    binned: bool


@dataclass(frozen=True, eq=False)
class RowsByColumns:
    """Individuals by pattern and column values.

    Attributes
    ----------
    judged, failed : (R, k) bool
        Under the mapping's reading of no answer.
    count : (R,) int64
        Individuals a row.
    weight, weight_squared : (R,) float64
        Sums of weights and of squared weights.
    cluster : (R,) int64 or None
        Cluster of each row.
    codes : (R, c) int64
        Place of each column's value among ``columns[i].values``.
    left_out : dict of str to str
        Columns that are not searched, with the reason.
    sampled : bool
        Whether the individuals are a sample.
    """

    judged: BoolArray
    failed: BoolArray
    count: IntArray
    weight: FloatArray
    weight_squared: FloatArray
    cluster: IntArray | None
    codes: IntArray
    columns: tuple[ColumnValues, ...]
    left_out: dict[str, str]
    weighted: bool
    sampled: bool


def usable_columns(outcomes: Outcomes) -> tuple[str, ...]:
    """Return the columns that say something of individuals: named for nothing else, and no nested values."""
    mapping = outcomes.mapping
    named = {getattr(mapping, role) for role in ("id", "label", "weight", "count", "cluster", "model", "value")}
    named |= {mapping.snapshot.partition("=")[0] if mapping.snapshot else None, *outcomes.models}
    named |= set(() if outcomes.probabilities is None else outcomes.probabilities.names)
    fit = ("text", "numbers", "truth values")
    return tuple(name for name, dtype in outcomes.schema.items() if name not in named and kind_of(dtype) in fit)


def rows_by_columns(outcomes: Outcomes, columns: Sequence[str], *, named: bool = True) -> RowsByColumns:
    """Count individuals by failure pattern and by the values of some columns: a second pass over the rows.

    Parameters
    ----------
    outcomes : Outcomes
        The rows, where they are held.
    columns : sequence of str
        Columns, or anything else that ``--by`` takes; numeric columns of more than 10 values are cut into 5 quantiles.
    named : bool
        Whether the caller named the columns: one with too many values is then an error, and else left out.

    Returns
    -------
    RowsByColumns
        Of a sample where there are more than a million rows.

    Raises
    ------
    ColumnError, UsageError
        If a column does not exist, is a model, or has more than 1,000 values.
    """
    wanted, left_out = _wanted(outcomes, columns, named=named)
    if not wanted:
        raise UsageError("No column is left to search for slices.", hint="Name columns with --slices.")
    mapping = replace(outcomes.mapping, by=tuple(wanted), models=outcomes.models, max_groups=MOST_ROWS)
    grouped = replace(outcomes, mapping=mapping)
    people = individuals_of(grouped)
    sampled = grouped.survey.rows > MOST_ROWS
    found = sample_of(people, grouped) if sampled else patterns_of(people, len(outcomes.models))
    masks = (found.judged, found.failed, found.no_answer)
    judged, failed, silent = (unpack(mask, len(outcomes.models)) for mask in masks)
    if mapping.no_answer == "failed":
        failed = failed | silent
    else:
        judged = judged & ~silent
    codes, described = [], []
    for group, values in zip(grouped.groups, found.groups, strict=True):
        edges = grouped.edges.get(group.name)
        order = _in_order(values)
        place = {value: at for at, value in enumerate(order)}
        codes.append(np.array([place[_key(value)] for value in values], dtype=np.int64))
        ordered = bool(group.bins) or (group.expression is None and kind_of(outcomes.schema[group.column]) == "numbers")
        described.append(
            ColumnValues(
                group.column if group.bins else group.name,
                tuple(group.show(value, edges) for value in order),
                ordered,
                bool(group.bins),
            )
        )
    cluster = _numbers(found.clusters) if mapping.cluster is not None else None
    rows = _order(np.column_stack(codes), cluster, (found.failed, found.judged, found.no_answer), found.weight)
    return RowsByColumns(
        judged=judged[rows],
        failed=failed[rows],
        count=found.count[rows],
        weight=found.weight[rows],
        weight_squared=found.weight_squared[rows],
        cluster=None if cluster is None else cluster[rows],
        codes=np.column_stack(codes)[rows],
        columns=tuple(described),
        left_out=left_out,
        weighted=mapping.weight is not None,
        sampled=sampled,
    )


def _order(codes: IntArray, cluster: IntArray | None, masks: Sequence[Any], weight: FloatArray) -> IntArray:
    """Return the rows in an order of their own: engines give them in any, and what is drawn on them must not differ."""
    keys: list[Any] = [weight, *(byte for mask in masks for byte in mask.T), *codes.T]
    return np.lexsort(keys if cluster is None else [*keys, cluster])


def _wanted(outcomes: Outcomes, columns: Sequence[str], *, named: bool) -> tuple[list[str], dict[str, str]]:
    """Return the groups to count by, numeric columns of many values cut at their quantiles, and what is left out."""
    wanted: list[str] = []
    left_out: dict[str, str] = {}
    for text in dict.fromkeys(columns):
        group = parse_group(text, list(outcomes.schema))
        both = [name for name in group.sources() if name in outcomes.models]
        if both:
            raise UsageError(
                f"The column {both[0]!r} is taken for a model, so it cannot be searched for slices.",
                hint="Name the models with --models.",
            )
        values = 0 if group.bins else _distinct(outcomes, text)
        if group.bins or values <= FEW_VALUES:
            wanted.append(text)
        elif group.expression is None and kind_of(outcomes.schema[group.column]) == "numbers":
            wanted.append(f"quantiles(`{text}`, {BINS})")
        elif values <= _MOST_VALUES:
            wanted.append(text)
        elif named:
            raise ColumnError(
                f"The column {text!r} has {values:,} values, over the {_MOST_VALUES:,} that a search takes.",
                hint="Group it beforehand, or leave it out of --slices.",
            )
        else:
            left_out[text] = f"{values:,} values, over {_MOST_VALUES:,}"
    return wanted, left_out


def _distinct(outcomes: Outcomes, text: str) -> int:
    group = parse_group(text, list(outcomes.schema))
    counted = fetch_rows(outcomes.frame.select(values=group.expr(outcomes.schema).n_unique()))
    return int(counted[0]["values"])


def _key(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 (NaN)


def _in_order(values: Sequence[Any]) -> list[Any]:
    """Return the distinct values in order, a missing one last."""
    distinct = {_key(value) for value in values}
    return sorted(distinct - {None}) + ([None] if None in distinct else [])


def _numbers(clusters: Sequence[Any]) -> IntArray:
    if any(value is None for value in clusters):
        raise ColumnError("The cluster column is empty on some rows.", hint="Give every individual a cluster.")
    place = {value: at for at, value in enumerate(sorted(set(clusters)))}
    return np.array([place[value] for value in clusters], dtype=np.int64)
