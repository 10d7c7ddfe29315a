"""The state of each cell (individual, model) as Narwhals expressions: judged, failed, no answer.

A cell is a success, a failure, no answer (with its reason), or not judged. Under "failed" a cell without
an answer later counts as a failure, under "missing" as not judged; here the two are kept apart.
"""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from polyculture.errors import ColumnError
from polyculture.expressions import is_any
from polyculture.failure import FailureRule, typed_value
from polyculture.outcomes.mapping import Mapping

__all__ = ["Cell", "cell_of", "check_types"]


@dataclass(frozen=True)
class Cell:
    """The states of one model's cells.

    ``judged`` (the model was asked and the rule applies) and ``no_answer`` are None where they are always
    and never true. ``failed`` is never missing and false wherever the cell is no failure. ``bit`` is
    ``failed`` as 0/1 where the column holds just that, which saves a comparison on the fast path.
    """

    judged: nw.Expr | None
    failed: nw.Expr
    no_answer: nw.Expr | None
    bit: nw.Expr | None = None
    reasons: TypeMapping[str, nw.Expr] = field(default_factory=dict)


def _no_answer_reasons(value: nw.Expr, dtype: Any, mapping: Mapping, *, nulls: bool) -> dict[str, nw.Expr]:
    """Return reason -> expression (never missing) for the ways in which a model gave no answer."""
    reasons: dict[str, nw.Expr] = {}
    if nulls:
        reasons["empty"] = value.is_null()
    for text in mapping.no_answer_values:
        if text.lower() == "null":
            continue
        reasons[text] = (value == typed_value(text, dtype, "the models' columns")).fill_null(False)
    return reasons


def _pending(value: nw.Expr, dtype: Any, mapping: Mapping) -> nw.Expr | None:
    """Return the expression of "not judged yet" (never missing), or None where nothing is pending."""
    if not mapping.pending:
        return None
    known = [typed_value(text, dtype, "the models' columns") for text in mapping.pending]
    return is_any(value, known).fill_null(False)


def _any(expressions: list[nw.Expr]) -> nw.Expr | None:
    result: nw.Expr | None = None
    for expression in expressions:
        result = expression if result is None else result | expression
    return result


def _all(expressions: list[nw.Expr]) -> nw.Expr | None:
    result: nw.Expr | None = None
    for expression in expressions:
        result = expression if result is None else result & expression
    return result


def cell_of(
    value: nw.Expr,
    dtype: Any,
    mapping: Mapping,
    rule: FailureRule,
    *,
    has_nulls: bool,
    label: tuple[nw.Expr, Any] | None = None,
    threshold: nw.Expr | None = None,
    columns: TypeMapping[str, tuple[nw.Expr, Any]] | None = None,
) -> Cell:
    """Build the states of one model's column (or of a long table's value column).

    Parameters
    ----------
    value : Expr
        What the model said.
    dtype : DType
        Its type.
    has_nulls : bool
        Whether any of its values is missing; what cannot occur costs nothing.
    label : (Expr, DType), optional
        The truth.
    threshold : Expr, optional
        The resolved threshold of an outside-top rule.
    columns : mapping, optional
        The row's columns, for an expression rule.
    """
    empty_is_no_answer = "null" in [text.lower() for text in mapping.no_answer_values]
    reasons = _no_answer_reasons(value, dtype, mapping, nulls=has_nulls and empty_is_no_answer)
    no_answer = _any(list(reasons.values()))
    pending = _pending(value, dtype, mapping)
    applies, raw = rule.states(
        value,
        dtype,
        label=None if label is None else label[0],
        label_dtype=None if label is None else label[1],
        threshold=threshold,
        columns=columns,
    )
    conditions = []
    if has_nulls and not empty_is_no_answer:
        conditions.append(~value.is_null())
    if pending is not None:
        conditions.append(~pending)
    if applies is not None:
        conditions.append(applies)
    if rule.kind == "when" and no_answer is None:
        conditions.append(~raw.is_null())
    elif rule.kind == "when":
        conditions.append(~raw.is_null() | no_answer)
    judged = _all(conditions)
    failed = raw.fill_null(False) if has_nulls or rule.kind == "when" else raw
    if no_answer is not None:
        failed = failed & ~no_answer
        no_answer = no_answer if judged is None else no_answer & judged
    if judged is not None:
        failed = failed & judged
    plain = judged is None and no_answer is None
    return Cell(judged, failed, no_answer, _bit(value, dtype, rule) if plain else None, reasons)


def _bit(value: nw.Expr, dtype: Any, rule: FailureRule) -> nw.Expr | None:
    if not rule.is_indicator or dtype == nw.Boolean or not dtype.is_integer():
        return None
    return value if rule.kind == "failed" else 1 - value.cast(nw.Int32)


def check_types(name: str, dtype: Any, rule: FailureRule, label: tuple[str, Any] | None) -> None:
    """Refuse a model column whose type does not fit the rule or the label.

    Raises
    ------
    ColumnError
        The message names the column, both types and the cast.
    """
    from polyculture.expressions import kind_of

    kind = kind_of(dtype)
    if kind == "nothing but missing values":
        raise ColumnError(
            f"The model column {name!r} holds nothing but missing values.", hint="Leave it out with --models."
        )
    if rule.is_indicator and kind not in ("numbers", "truth values"):
        raise ColumnError(
            f"The model column {name!r} holds {kind}, but outcomes must be 0/1 or true/false.",
            hint="Cast the column, or name a label or a failure rule for predictions.",
        )
    if rule.needs_scores and kind != "numbers":
        raise ColumnError(
            f"The model column {name!r} holds {kind}, but the failure rule {rule} needs scores.",
            hint="Cast the column to numbers, or choose the models with --models.",
        )
    if rule.needs_label and label is not None and kind != kind_of(label[1]):
        raise ColumnError(
            f"The model column {name!r} holds {kind}, the label {label[0]!r} holds {kind_of(label[1])}.",
            hint='Types are never converted silently (1 is not "1"): cast one of the two, '
            f"for example df.with_columns(pl.col({name!r}).cast(...)).",
        )
