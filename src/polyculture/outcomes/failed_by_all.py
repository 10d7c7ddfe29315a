"""The second pass that lists individuals: whom every model that judged them failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.outcomes.counting import is_polars
from polyculture.outcomes.individuals import Individuals, individuals_of

if TYPE_CHECKING:
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["individuals_failed_by_all"]


def individuals_failed_by_all(outcomes: Outcomes, min_judged: int) -> nw.LazyFrame[Any]:
    """Return a row for each individual whom every judging model failed; see ``Outcomes``."""
    if outcomes.mapping.id is None and is_polars(outcomes.frame):
        outcomes = _with_row_numbers(outcomes)
    people = individuals_of(outcomes)
    models = len(outcomes.models)
    failed = people.frame.filter(_all_failed(people, outcomes.mapping.no_answer, min(min_judged, models)))
    return _with_answers(outcomes, failed) if outcomes.mapping.long else failed.select(*_columns(outcomes))


def _with_row_numbers(outcomes: Outcomes) -> Outcomes:
    """Give every row its number from 1 as an id, so that the list names somebody."""
    name = next(name for name in ("row", "row number", "__row__") if name not in outcomes.schema)
    numbered = nw.from_native(nw.to_native(outcomes.frame).with_row_index(name, offset=1))
    return replace(outcomes, frame=numbered, mapping=replace(outcomes.mapping, id=name, models=outcomes.models))


def _all_failed(people: Individuals, no_answer_policy: str, least: int) -> nw.Expr:
    """Return the condition: as many failures as judgements, and enough of them."""
    masks = people.masks
    failures = _sum(masks.failed_bits)
    judgements = nw.lit(len(masks.failed_bits)) if masks.judged_bits is None else _sum(masks.judged_bits)
    if masks.no_answer_bits is not None and no_answer_policy == "failed":
        failures = failures + _sum(masks.no_answer_bits)
    elif masks.no_answer_bits is not None:
        judgements = judgements - _sum(masks.no_answer_bits)
    return (failures == judgements) & (judgements >= least)


def _sum(bits: tuple[nw.Expr, ...]) -> nw.Expr:
    total = bits[0].cast(nw.Int32)
    for bit in bits[1:]:
        total = total + bit.cast(nw.Int32)
    return total


def _columns(outcomes: Outcomes) -> list[str]:
    """Return what is listed: id, count, groups, label, then every answer."""
    mapping = outcomes.mapping
    groups = [name for group in outcomes.groups for name in group.sources()]
    named = [mapping.id, mapping.count, *groups, mapping.cluster, mapping.label]
    return list(dict.fromkeys([*(name for name in named if name is not None), *outcomes.models]))


def _with_answers(outcomes: Outcomes, failed: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Spread the rows of the listed individuals: a column a model."""
    mapping = outcomes.mapping
    ident, model = str(mapping.id), nw.col(str(mapping.model))
    rows = outcomes.frame.join(failed.select(ident), on=ident, how="inner")
    value = nw.col(mapping.value) if mapping.value is not None else model
    constant = [name for name in _columns(outcomes) if name not in (ident, *outcomes.models)]
    spread = rows.with_columns(
        **{f"__a{i}": nw.when(model == name).then(value) for i, name in enumerate(outcomes.models)}
    )
    answers = [nw.col(f"__a{i}").max() for i in range(len(outcomes.models))]
    grouped = spread.group_by(ident).agg(*[nw.col(name).max() for name in constant], *answers)
    return grouped.rename({f"__a{i}": name for i, name in enumerate(outcomes.models)})
