"""The wrong answers of every model as columns of one row an individual; nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.outcomes.individuals import individuals_of, long_cell

if TYPE_CHECKING:
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["WrongAnswers", "wrong_answers_of"]


@dataclass(frozen=True)
class WrongAnswers:
    """A lazy frame with columns ``__a0``, ``__a1``, ...: what a model answered where that was wrong, else null.

    ``__n`` is the number of individuals of the row; with ``weighted`` there is ``__w``, their weight.
    """

    frame: nw.LazyFrame[Any]
    weighted: bool


def wrong_answers_of(outcomes: Outcomes) -> WrongAnswers:
    """Keep what models answered wrongly; a model without an answer gave no wrong one."""
    frame = _long(outcomes) if outcomes.mapping.long else _wide(outcomes)
    return WrongAnswers(frame, outcomes.mapping.weight is not None)


def _wide(outcomes: Outcomes) -> nw.LazyFrame[Any]:
    people = individuals_of(outcomes)
    columns: dict[str, nw.Expr] = {
        f"__a{i}": nw.when(failed).then(nw.col(name))
        for i, (name, failed) in enumerate(zip(outcomes.models, people.masks.failed_bits, strict=True))
    }
    columns["__n"] = nw.lit(1) if people.count is None else people.count
    if people.weight is not None:
        columns["__w"] = people.weight
    return people.frame.select(**columns)


def _long(outcomes: Outcomes) -> nw.LazyFrame[Any]:
    mapping = outcomes.mapping
    ident, model, label = str(mapping.id), nw.col(str(mapping.model)), str(mapping.label)
    rows = outcomes.frame.filter(
        ~nw.col(ident).is_null() & ~nw.col(label).is_null() & model.is_in(list(outcomes.models))
    )
    value = nw.when(long_cell(outcomes).failed).then(nw.col(str(mapping.value)))
    columns: dict[str, nw.Expr] = {
        f"__a{i}": nw.when(model == name).then(nw.col("__value")) for i, name in enumerate(outcomes.models)
    }
    if mapping.weight is not None:
        columns["__w"] = nw.col(mapping.weight).cast(nw.Float64)
    spread = rows.with_columns(__value=value).select(ident, **columns)
    grouped = spread.group_by(ident).agg(*[nw.col(name).max() for name in columns])
    return grouped.with_columns(__n=nw.lit(1))
