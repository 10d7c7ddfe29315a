"""One cheap pass over a table before anything is counted: sizes, missing values, ranges, and what is wrong.

Everything is one row of aggregates (plus a query for the place of an error), so it costs the same little
whatever the number of models that fail.
"""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.errors import ColumnError, InputError, ValueInDataError, first_few
from polyculture.expressions import is_any
from polyculture.failure import typed_value
from polyculture.outcomes.counting import count_true, fetch_rows, first_rows
from polyculture.outcomes.probability_rows import check_probabilities

if TYPE_CHECKING:
    from polyculture.outcomes.groups import Group
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["Survey", "refuse_many_groups", "survey_of"]

_LARGEST_WEIGHT = 1e100
_FIRST_ROWS = 10_000
_FLOATS = (nw.Float32, nw.Float64)


@dataclass(frozen=True)
class Survey:
    """What one pass found.

    ``rows`` are rows of the table; ``nulls`` are counted for each model column (wide) or the value column
    (long). ``label_values`` are given where there are just two.
    """

    rows: int
    used: int
    left_out: dict[str, int]
    nulls: dict[str, int]
    label_nulls: int = 0
    label_values: tuple[Any, ...] = ()
    predictions_in_labels: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def survey_of(outcomes: Outcomes, *, models: bool = True) -> Survey:
    """Run the pass and raise what is wrong with the data.

    With ``models=False`` the models' columns are not read, and are taken to be complete: only for a
    caller that checks this in a pass of its own.

    Raises
    ------
    InputError
        If there are no rows.
    ColumnError
        If a model column is empty or a group column has too many values.
    ValueInDataError
        If a weight is negative or not finite, an outcome is neither 0 nor 1, or an id occurs twice.
    """
    row = fetch_rows(outcomes.frame.select(**_aggregates(outcomes, models=models)))[0]
    rows = int(row["rows"] or 0)
    if rows == 0:
        raise InputError(f"{outcomes.source} holds no rows.", hint="Check the file, or the filter before it.")
    if models:
        _check_models(outcomes, row, rows)
        check_probabilities(outcomes)
    _check_numbers(outcomes, row)
    _check_groups(outcomes)
    _check_ids(outcomes)
    label_nulls = int(row.get("label_nulls") or 0)
    left_out = {"no label": label_nulls} if label_nulls and outcomes.rule.needs_label else {}
    if outcomes.mapping.long and int(row["id_nulls"] or 0):
        left_out["no id"] = int(row["id_nulls"])
    values, in_labels = _two_labels(outcomes, row)
    return Survey(
        rows=rows,
        used=rows - sum(left_out.values()),
        left_out=left_out,
        nulls={name: int(row.get(f"nulls_{i}") or 0) for i, name in enumerate(outcomes.value_columns)},
        label_nulls=label_nulls,
        label_values=values,
        predictions_in_labels=in_labels,
    )


def _aggregates(outcomes: Outcomes, *, models: bool) -> dict[str, nw.Expr]:
    frame, schema, mapping = outcomes.frame, outcomes.schema, outcomes.mapping
    result: dict[str, nw.Expr] = {"rows": nw.len()}
    for i, name in enumerate(outcomes.value_columns if models else ()):
        column, dtype = nw.col(name), schema[name]
        result[f"nulls_{i}"] = count_true(frame, column.is_null())
        if outcomes.rule.is_indicator and (dtype in _FLOATS or (dtype != nw.Boolean and _silent(outcomes))):
            result[f"other_{i}"] = count_true(frame, _no_indicator(outcomes, name).fill_null(False))
        elif outcomes.rule.is_indicator and dtype != nw.Boolean:
            result[f"low_{i}"], result[f"high_{i}"] = column.min(), column.max()
    if mapping.label is not None:
        label = nw.col(mapping.label)
        result["label_nulls"] = count_true(frame, label.is_null())
        if _asks_for_labels(outcomes) and schema[mapping.label] not in _FLOATS:
            result["label_low"], result["label_high"] = label.min(), label.max()
    for role in ("weight", "count"):
        name = getattr(mapping, role)
        if name is not None:
            result[f"{role}_high"] = nw.col(name).max()
            result[f"{role}_bad"] = count_true(frame, _bad_number(name, schema[name], role))
    if mapping.options_column is not None:
        result["options_bad"] = count_true(frame, _bad_options(mapping.options_column, schema))
    if mapping.long and mapping.id is not None:
        result["id_nulls"] = count_true(frame, nw.col(mapping.id).is_null())
    return result


def _asks_for_labels(outcomes: Outcomes) -> bool:
    """Whether anything is said by label: gaps between groups, or appeals."""
    if outcomes.with_labels:
        return outcomes.rule.kind in {"misclassified", "decision"}
    return bool(outcomes.groups) and outcomes.rule.kind == "misclassified"


def _silent(outcomes: Outcomes) -> list[str]:
    """Return the values that mean no answer or not judged yet, besides empty cells."""
    mapping = outcomes.mapping
    return [text for text in (*mapping.no_answer_values, *mapping.pending) if text.lower() != "null"]


def _no_indicator(outcomes: Outcomes, name: str) -> nw.Expr:
    """Return where a 0/1 column holds something else that has no meaning either."""
    dtype = outcomes.schema[name]
    return ~is_any(nw.col(name), [0, 1, *(typed_value(text, dtype, name) for text in _silent(outcomes))])


def _bad_number(name: str, dtype: Any, role: str) -> nw.Expr:
    column = nw.col(name)
    bad = column.is_null() | (column < 0)
    if dtype in _FLOATS:
        bad = bad | column.is_nan() | ~column.is_finite()
        # Weights are squared and added up; beyond these sizes that leaves the range of a double.
        bad = bad | (column > _LARGEST_WEIGHT) | ((column > 0) & (column < 1 / _LARGEST_WEIGHT))
        if role == "count":
            bad = bad | (column.floor() != column)
    return bad.fill_null(True)


def _bad_options(name: str, schema: TypeMapping[str, Any]) -> nw.Expr:
    column = nw.col(name)
    bad = column.is_null() | (column < 2)
    if schema[name] in _FLOATS:
        bad = bad | ~column.is_finite() | (column.floor() != column)
    return bad.fill_null(True)


def _check_models(outcomes: Outcomes, row: TypeMapping[str, Any], rows: int) -> None:
    frame = outcomes.frame
    for i, name in enumerate(outcomes.value_columns):
        if int(row[f"nulls_{i}"] or 0) == rows:
            raise ColumnError(
                f"The model column {name!r} of {outcomes.source} holds nothing but missing values.",
                hint="Leave it out with --models.",
            )
        low, high, other = row.get(f"low_{i}"), row.get(f"high_{i}"), row.get(f"other_{i}")
        if other or (low is not None and high is not None and (low < 0 or high > 1)):
            bad = _no_indicator(outcomes, name)
            places = first_rows(frame, bad, name, outcomes.mapping.id)
            raise ValueInDataError(
                f"The outcome column {name!r} of {outcomes.source} holds values other than 0, 1 and missing: "
                f"{', '.join(places)}.",
                hint="Say what counts as failure (--failure score<X, --label ...), or choose the models with --models"
                + (": now every fitting column is taken." if outcomes.mapping.models is None else "."),
            )


def _check_numbers(outcomes: Outcomes, row: TypeMapping[str, Any]) -> None:
    options = outcomes.mapping.options_column
    if options is not None and int(row.get("options_bad") or 0):
        places = first_rows(outcomes.frame, _bad_options(options, outcomes.schema), options, outcomes.mapping.id)
        raise ValueInDataError(
            f"The column {options!r} of {outcomes.source} holds a number of options that is missing, below 2 or not "
            f"whole on {int(row['options_bad']):,} rows: {', '.join(places)}.",
            hint="Give each item the number of answers that it offers.",
        )
    words = {
        "weight": ("a weight", "0, or a number from 1e-100 to 1e100,"),
        "count": ("a count", "a whole number of 0 or more"),
    }
    for role, (what, wanted) in words.items():
        bad = int(row.get(f"{role}_bad") or 0)
        if bad:
            name = getattr(outcomes.mapping, role)
            condition = _bad_number(name, outcomes.schema[name], role)
            places = first_rows(outcomes.frame, condition, name, outcomes.mapping.id)
            raise ValueInDataError(
                f"The column {name!r} of {outcomes.source} holds {what} that is missing, negative, infinite, "
                f"out of range or no number on {bad:,} rows: {', '.join(places)}.",
                hint=f"Give {wanted} on every row.",
            )
        if f"{role}_high" in row and not row[f"{role}_high"]:
            name = getattr(outcomes.mapping, role)
            raise ValueInDataError(
                f"The column {name!r} of {outcomes.source} is 0 on every row, so nobody is counted.",
                hint=f"Check --{role}.",
            )


def _check_groups(outcomes: Outcomes) -> None:
    """Refuse a column with too many groups by its first rows, before a pass groups millions of values.

    The pass itself refuses what only shows later; counting all distinct values here would cost another.
    """
    if not outcomes.groups:
        return
    first = outcomes.frame.head(_FIRST_ROWS)
    values = {
        f"g{i}": group.expr(outcomes.schema, outcomes.edges.get(group.name)).n_unique()
        for i, group in enumerate(outcomes.groups)
    }
    row = fetch_rows(first.select(**values))[0]
    for i, group in enumerate(outcomes.groups):
        refuse_many_groups(group, int(row[f"g{i}"]), outcomes.mapping.max_groups)


def refuse_many_groups(group: Group, values: int, limit: int) -> None:
    """Raise a ColumnError where a group column has more values than allowed."""
    if values > limit:
        raise ColumnError(
            f"The group column {group.name!r} has {values:,} values or more, over the {limit:,} allowed.",
            hint=f"Bin it (--by 'quantiles({group.column}, 4)'), group it beforehand, or raise --max-groups.",
        )


def _check_ids(outcomes: Outcomes) -> None:
    """Refuse an individual (wide) or an individual and model (long) that stands twice."""
    mapping = outcomes.mapping
    if mapping.id is None:
        return
    keys = [mapping.id, mapping.model] if mapping.long and mapping.model is not None else [mapping.id]
    counted = outcomes.frame.select(*keys).drop_nulls().group_by(*keys).agg(nw.len().alias("times"))
    repeated = counted.filter(nw.col("times") > 1)
    rows = fetch_rows(repeated.sort("times", *keys, descending=[True] + [False] * len(keys)).head(5))
    if not rows:
        return
    total = int(fetch_rows(repeated.select(total=nw.len()))[0]["total"])
    shown = [tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]] for row in rows]
    what = ("individual and model" if mapping.long else "id") + ("" if total == 1 else "s")
    raise ValueInDataError(
        f"{total:,} {what} repeated in column {' and '.join(map(repr, keys))} of {outcomes.source}: "
        f"{first_few(shown, total=total)}.",
        hint="Keep one row each"
        + (", name the model and value columns with --long," if not mapping.long else "")
        + " or name the snapshot column if these are several dates.",
    )


def _two_labels(outcomes: Outcomes, row: TypeMapping[str, Any]) -> tuple[tuple[Any, ...], bool]:
    """Return the labels where there are just two, and whether every answer is one of them.

    Answers that are none or still pending do not count. Both are asked in one query.
    """
    low, high = row.get("label_low"), row.get("label_high")
    if low is None or high is None or low == high:
        return (), False
    frame, label = outcomes.frame, nw.col(str(outcomes.mapping.label))
    asked = {"others": count_true(frame, ((label != low) & (label != high)).fill_null(False))}
    for i, name in enumerate(outcomes.value_columns):
        silent = [typed_value(text, outcomes.schema[name], "the models' columns") for text in _silent(outcomes)]
        asked[f"out_{i}"] = count_true(frame, (~is_any(nw.col(name), [low, high, *silent])).fill_null(False))
    found = fetch_rows(frame.select(**asked))[0]
    if found.pop("others"):
        return (), False
    return (low, high), not any(found.values())
