"""The wrong answer that most models share on each item: the declared second pass over the rows.

Nothing is collected here; the answer stays a lazy frame where the rows are held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.errors import UsageError
from polyculture.outcomes.individuals import individuals_of, long_cell

if TYPE_CHECKING:
    from polyculture.outcomes.cells import Cell
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["shared_wrong_answers"]

_ITEM = ["__id", "__label", "__judged", "__failed"]


def shared_wrong_answers(outcomes: Outcomes) -> nw.LazyFrame[Any]:
    """Return a row an item and wrong answer: __id, __label, __judged, __failed, __answer, __same.

    __judged and __failed are numbers of models under the mapping's reading of "no answer", __same is how
    many gave the answer.

    Raises
    ------
    UsageError
        If there are no answers to compare with labels, items have no id, or a row stands for several.
    """
    mapping = outcomes.mapping
    if outcomes.rule.kind != "misclassified":
        raise UsageError(
            f"Suspect keys need the models' answers and their labels; the failure rule is {outcomes.rule}.",
            hint="Name the label (--label COLUMN) of columns that hold answers.",
        )
    if mapping.count is not None:
        raise UsageError(
            f"Suspect keys are single items, and a row stands for several here (count {mapping.count!r}).",
            hint="Give a row an item, without a count.",
        )
    if mapping.id is None:
        raise UsageError("Suspect keys need a column that names each item.", hint="Name it with --id.")
    rows = _long(outcomes) if mapping.long else _wide(outcomes)
    return rows.group_by(*_ITEM, "__answer").agg(nw.len().alias("__same"))


def _states(cell: Cell, policy: str) -> tuple[nw.Expr, nw.Expr]:
    """Return judged and failed as 0/1 under a reading of "no answer"."""
    judged = nw.lit(1) if cell.judged is None else nw.when(cell.judged).then(nw.lit(1)).otherwise(nw.lit(0))
    failed = nw.when(cell.failed).then(nw.lit(1)).otherwise(nw.lit(0))
    if cell.no_answer is None:
        return judged, failed
    silent = nw.when(cell.no_answer).then(nw.lit(1)).otherwise(nw.lit(0))
    return (judged, failed + silent) if policy == "failed" else (judged - silent, failed)


def _long(outcomes: Outcomes) -> nw.LazyFrame[Any]:
    mapping = outcomes.mapping
    ident, label = nw.col(str(mapping.id)), nw.col(str(mapping.label))
    cell = long_cell(outcomes)
    judged, failed = _states(cell, mapping.no_answer)
    rows = outcomes.frame.filter(
        ~ident.is_null() & ~label.is_null() & nw.col(str(mapping.model)).is_in(list(outcomes.models))
    ).select(
        __id=ident,
        __label=label,
        __one=judged,
        __two=failed,
        __answer=nw.when(cell.failed).then(nw.col(str(mapping.value))),
    )
    items = rows.group_by("__id").agg(
        nw.col("__one").sum().cast(nw.Int64).alias("__judged"), nw.col("__two").sum().cast(nw.Int64).alias("__failed")
    )
    wrong = rows.filter(~nw.col("__answer").is_null()).select("__id", "__label", "__answer")
    return wrong.join(items, on="__id", how="inner")


def _wide(outcomes: Outcomes) -> nw.LazyFrame[Any]:
    """Bring a wide table to a row an item and wrong answer."""
    people, mapping = individuals_of(outcomes), outcomes.mapping
    masks, models = people.masks, outcomes.models
    judged = nw.lit(len(models)) if masks.judged_bits is None else _sum(masks.judged_bits)
    failed = _sum(masks.failed_bits)
    if masks.no_answer_bits is not None and mapping.no_answer == "failed":
        failed = failed + _sum(masks.no_answer_bits)
    elif masks.no_answer_bits is not None:
        judged = judged - _sum(masks.no_answer_bits)
    answers: dict[str, nw.Expr] = {
        f"__a{i}": nw.when(wrong).then(nw.col(name))
        for i, (name, wrong) in enumerate(zip(models, masks.failed_bits, strict=True))
    }
    frame = people.frame.select(
        __id=nw.col(str(mapping.id)), __label=nw.col(str(mapping.label)), __judged=judged, __failed=failed, **answers
    )
    known = frame.filter(~nw.col("__id").is_null())
    # Not unpivot: Narwhals asks DuckDB for it on a connection that need not be the table's.
    parts = [known.select(*_ITEM, __answer=nw.col(name)).filter(~nw.col("__answer").is_null()) for name in answers]
    return nw.concat(parts, how="vertical")


def _sum(bits: tuple[nw.Expr, ...]) -> nw.Expr:
    total = bits[0].cast(nw.Int64)
    for bit in bits[1:]:
        total = total + bit.cast(nw.Int64)
    return total
