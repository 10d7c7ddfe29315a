"""Outcomes brought to one row an individual: masks, groups, weight, as expressions over a lazy frame.

Wide tables are that already. Long tables are grouped by id, where the frame lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from polyculture.errors import ValueInDataError
from polyculture.outcomes.cells import Cell, cell_of
from polyculture.outcomes.counting import count_true, fetch_rows
from polyculture.outcomes.masks import WORD_BITS, Masks, masks_of_cells, masks_of_words
from polyculture.outcomes.outcomes import Outcomes
from polyculture.outcomes.probability_rows import option_count
from polyculture.outcomes.survey import Survey

__all__ = ["Individuals", "individuals_of", "long_cell"]


@dataclass(frozen=True)
class Individuals:
    """A lazy frame with a row an individual (or a row for ``count`` of them), and expressions over it.

    ``groups`` has one entry a group column. ``label_class`` is true for the positive label, None where the
    labels are not just two; ``selection`` says in words what selected means. ``count`` and ``weight`` are
    None where every row counts 1. ``reasons`` counts cells by model and reason of no answer.
    """

    frame: nw.LazyFrame[Any]
    masks: Masks
    groups: tuple[nw.Expr, ...]
    label_class: nw.Expr | None
    selection: str
    count: nw.Expr | None
    weight: nw.Expr | None
    cluster: nw.Expr | None
    options: nw.Expr | None
    reasons: dict[str, dict[str, int]]


def individuals_of(outcomes: Outcomes, survey: Survey | None = None) -> Individuals:
    """Bring outcomes to one row an individual; ``survey`` defaults to the full one.

    Raises
    ------
    ValueInDataError
        If an individual of a long table has two values in a group, label, weight or cluster column.
    """
    frame, mapping = outcomes.frame, outcomes.mapping
    survey = outcomes.survey if survey is None else survey
    if survey.left_out.get("no label"):
        frame = frame.filter(~nw.col(str(mapping.label)).is_null())
    constants = _constants(outcomes, survey)
    if mapping.long:
        cell = long_cell(outcomes)
        rows = frame.filter(
            ~nw.col(str(mapping.id)).is_null() & nw.col(str(mapping.model)).is_in(list(outcomes.models))
        )
        frame, masks = _by_individual(outcomes, rows, cell, constants)
        reasons = _long_reasons(outcomes, rows, cell)
        constants = {key: nw.col(key) for key in constants}
    else:
        cells = tuple(_wide_cell(outcomes, survey, name) for name in outcomes.models)
        masks, reasons = masks_of_cells(cells), _wide_reasons(frame, outcomes.models, cells)
    return Individuals(
        frame=frame,
        masks=masks,
        groups=tuple(constants[f"__group_{i}"] for i in range(len(outcomes.groups))),
        label_class=constants.get("__label_class"),
        selection=_selection(outcomes, survey),
        count=None if mapping.count is None else nw.col(mapping.count).cast(nw.Int64),
        weight=constants.get("__weight"),
        cluster=constants.get("__cluster"),
        options=constants.get("__options"),
        reasons=reasons,
    )


def _constants(outcomes: Outcomes, survey: Survey) -> dict[str, nw.Expr]:
    """Return what is one value an individual: groups, label class, weight, cluster."""
    mapping = outcomes.mapping
    constants = {
        f"__group_{i}": group.expr(outcomes.schema, outcomes.edges.get(group.name))
        for i, group in enumerate(outcomes.groups)
    }
    positive = _positive(outcomes, survey)
    if positive is not None:
        constants["__label_class"] = nw.col(str(mapping.label)) == positive
    if mapping.weight is not None:
        constants["__weight"] = nw.col(mapping.weight).cast(nw.Float64)
    if mapping.cluster is not None:
        constants["__cluster"] = nw.col(mapping.cluster)
    if mapping.options_column is not None:
        constants["__options"] = nw.col(mapping.options_column).cast(nw.Int64)
    if outcomes.probabilities is not None:
        constants["__options"] = option_count(outcomes.probabilities)
    return constants


def _positive(outcomes: Outcomes, survey: Survey) -> Any:
    """Return the label value called positive, or None where labels and answers are not just two values."""
    values = survey.label_values
    if len(values) != 2 or not survey.predictions_in_labels:
        return None
    if outcomes.mapping.positive is None:
        return max(values)
    for value in values:
        if str(value) == outcomes.mapping.positive:
            return value
    raise ValueInDataError(
        f"No label is {outcomes.mapping.positive!r}; the labels are {values[0]!r} and {values[1]!r}.",
        hint="Name one of them with --positive.",
    )


def _selection(outcomes: Outcomes, survey: Survey) -> str:
    positive = _positive(outcomes, survey)
    if positive is not None:
        return f"predicted {positive!r}"
    return f"not decided {outcomes.rule.argument!r}" if outcomes.rule.kind == "decision" else ""


def _columns(outcomes: Outcomes, value: nw.Expr | None = None, dtype: Any = None) -> dict[str, tuple[nw.Expr, Any]]:
    columns = {name: (nw.col(name), outcomes.schema[name]) for name in outcomes.schema}
    if value is not None and "value" not in columns:
        columns["value"] = (value, dtype)
    return columns


def _label(outcomes: Outcomes) -> tuple[nw.Expr, Any] | None:
    name = outcomes.mapping.label
    return None if name is None else (nw.col(name), outcomes.schema[name])


def _wide_cell(outcomes: Outcomes, survey: Survey, name: str) -> Cell:
    value, dtype = nw.col(name), outcomes.schema[name]
    return cell_of(
        value,
        dtype,
        outcomes.mapping,
        outcomes.rule,
        has_nulls=survey.nulls[name] > 0,
        label=_label(outcomes),
        threshold=None if not outcomes.thresholds else nw.lit(outcomes.thresholds[name]),
        columns=_columns(outcomes, value, dtype) if outcomes.rule.kind == "when" else None,
    )


def _wide_reasons(frame: nw.LazyFrame[Any], models: Sequence[str], cells: Sequence[Cell]) -> dict[str, dict[str, int]]:
    wanted = {
        f"{i}:{reason}": count_true(frame, condition)
        for i, cell in enumerate(cells)
        for reason, condition in cell.reasons.items()
    }
    if not wanted:
        return {}
    found: dict[str, dict[str, int]] = {}
    for key, times in fetch_rows(frame.select(**wanted))[0].items():
        index, _, reason = key.partition(":")
        if times:
            found.setdefault(models[int(index)], {})[reason] = int(times)
    return found


def long_cell(outcomes: Outcomes) -> Cell:
    """Return the state of a row of a long table."""
    mapping, schema = outcomes.mapping, outcomes.schema
    name = mapping.value if mapping.value is not None else str(mapping.model)
    model = nw.col(str(mapping.model))
    threshold: Any = None
    for one, edge in outcomes.thresholds.items():
        threshold = nw.when(model == one).then(nw.lit(edge)).otherwise(nw.lit(edge) if threshold is None else threshold)
    return cell_of(
        nw.col(name),
        schema[name],
        mapping,
        outcomes.rule,
        has_nulls=outcomes.survey.nulls.get(name, 0) > 0,
        label=_label(outcomes),
        threshold=threshold,
        columns=_columns(outcomes),
    )


def _by_individual(
    outcomes: Outcomes, rows: nw.LazyFrame[Any], cell: Cell, constants: dict[str, nw.Expr]
) -> tuple[nw.LazyFrame[Any], Masks]:
    """Group a long table by id: masks are sums of bits, since each (id, model) stands once."""
    ident, model = str(outcomes.mapping.id), nw.col(str(outcomes.mapping.model))
    states = {"judged": cell.judged, "failed": cell.failed, "no_answer": cell.no_answer}
    words: dict[str, nw.Expr] = {}
    for number, start in enumerate(range(0, len(outcomes.models), WORD_BITS)):
        bit: nw.Expr = nw.lit(0)
        for place, name in enumerate(outcomes.models[start : start + WORD_BITS]):
            bit = nw.when(model == name).then(nw.lit(1 << place, nw.Int64)).otherwise(bit)
        for state, condition in states.items():
            if condition is not None:
                words[f"__{state}_{number}"] = nw.when(condition).then(bit).otherwise(nw.lit(0))
            elif state == "judged":
                words[f"__{state}_{number}"] = bit
    prepared = rows.select(ident, **words, **constants)
    grouped = prepared.group_by(ident).agg(
        *[nw.col(name).sum().alias(name) for name in words],
        *[nw.col(name).min().alias(name) for name in constants],
        *[nw.col(name).max().alias(f"{name}_high") for name in constants],
    )
    _check_constant(outcomes, grouped, constants)
    # Sums may come back wider than they went in.
    grouped = grouped.with_columns(*[nw.col(name).cast(nw.Int64) for name in words])
    chosen = {state: tuple(nw.col(name) for name in words if name.startswith(f"__{state}_")) for state in states}
    silent = chosen["no_answer"] or None
    return grouped, masks_of_words(chosen["judged"], chosen["failed"], silent, len(outcomes.models))


def _check_constant(outcomes: Outcomes, grouped: nw.LazyFrame[Any], constants: dict[str, nw.Expr]) -> None:
    mapping = outcomes.mapping
    words = {"__label_class": mapping.label, "__weight": mapping.weight, "__cluster": mapping.cluster}
    words["__options"] = mapping.options_column
    for key in constants:
        differs = (nw.col(key) != nw.col(f"{key}_high")).fill_null(False)
        found = fetch_rows(grouped.filter(differs).select(id=nw.col(str(mapping.id))).head(1))
        if found:
            column = words.get(key) or outcomes.groups[int(key.rsplit("_", 1)[1])].name
            raise ValueInDataError(
                f"The individual {found[0]['id']!r} has several values in column {column!r} of {outcomes.source}.",
                hint="Give each individual one value on all of its rows.",
            )


def _long_reasons(outcomes: Outcomes, rows: nw.LazyFrame[Any], cell: Cell) -> dict[str, dict[str, int]]:
    if not cell.reasons:
        return {}
    name = str(outcomes.mapping.model)
    marked = rows.select(name, **{f"__r_{i}": reason.cast(nw.Int64) for i, reason in enumerate(cell.reasons.values())})
    counted = marked.group_by(name).agg(*[nw.col(f"__r_{i}").sum() for i in range(len(cell.reasons))])
    found: dict[str, dict[str, int]] = {}
    for row in fetch_rows(counted.sort(name)):
        times = {reason: int(row[f"__r_{i}"]) for i, reason in enumerate(cell.reasons) if row[f"__r_{i}"]}
        if times:
            found[row[name]] = times
    return found
