"""One snapshot as it enters a join: the id, and what each model did, as integers with one bit a model.

The readings of failure and of no answer are those of ``Outcomes``; nothing is counted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw

from polyculture.errors import ColumnError, UsageError
from polyculture.expressions import kind_of
from polyculture.outcomes import Outcomes
from polyculture.outcomes.individuals import Individuals, individuals_of
from polyculture.outcomes.masks import WORD_BITS

__all__ = ["ID", "Side", "bit", "same_table", "side_of", "sides_joined"]

ID = "__id"


@dataclass(frozen=True)
class Side:
    """One snapshot: its individuals as ``Outcomes`` reads them, and its columns for a join, by name.

    ``failed`` and ``judged`` are words with up to 62 models each; ``judged`` is empty where every model judged
    everyone.
    """

    people: Individuals
    failed: dict[str, nw.Expr]
    judged: dict[str, nw.Expr]


def side_of(outcomes: Outcomes, name: str) -> Side:
    """Return the columns of one snapshot, their names beginning with ``name``."""
    people = individuals_of(outcomes)
    failed, judged = _words(people, outcomes.mapping.no_answer, len(outcomes.models))
    return Side(
        people,
        {f"{name}_f{i}": word for i, word in enumerate(failed)},
        {f"{name}_j{i}": word for i, word in enumerate(judged)},
    )


def _words(people: Individuals, no_answer: str, models: int) -> tuple[tuple[nw.Expr, ...], tuple[nw.Expr, ...]]:
    """Return the words of failures and of judgements under a reading of "no answer"."""
    masks = people.masks
    failed, judged = masks.failed, masks.judged
    if masks.no_answer is not None and no_answer == "failed":
        # A cell without an answer is never failed itself, so the sum sets one bit more.
        failed = tuple(word + silent for word, silent in zip(failed, masks.no_answer, strict=True))
    elif masks.no_answer is not None:
        everyone = tuple(
            nw.lit((1 << min(WORD_BITS, models - start)) - 1, nw.Int64) for start in range(0, models, WORD_BITS)
        )
        known = everyone if judged is None else judged
        judged = tuple(word - silent for word, silent in zip(known, masks.no_answer, strict=True))
    return failed, judged or ()


def bit(side: Side, kind: Literal["failed", "judged"], model: int) -> nw.Expr:
    """Return 0 or 1 for one model, over the frame of `sides_joined`."""
    names = tuple(side.failed if kind == "failed" else side.judged)
    if not names:
        return nw.lit(1, nw.Int64)
    return (nw.col(names[model // WORD_BITS]).cast(nw.Int64) // (1 << (model % WORD_BITS))) % 2


def same_table(outcomes: Sequence[Outcomes]) -> bool:
    """Whether all are columns of one wide table, so that nothing needs to be joined."""
    first = outcomes[0]
    return all(
        one.frame is first.frame and not one.mapping.long and one.mapping.label == first.mapping.label
        for one in outcomes
    )


def sides_joined(
    outcomes: Sequence[Outcomes], sides: Sequence[Side], more: Sequence[dict[str, nw.Expr]]
) -> nw.LazyFrame[Any]:
    """Return the individuals that all snapshots have, in one lazy frame.

    Parameters
    ----------
    outcomes : sequence of Outcomes
        The snapshots.
    sides : sequence of Side
        Their columns.
    more : sequence of dict of str to Expr
        Further columns of each snapshot.

    Raises
    ------
    UsageError
        If no id is named, or the snapshots are held by different engines.
    ColumnError
        If the ids are of different kinds.
    """
    columns = [{**side.failed, **side.judged, **others} for side, others in zip(sides, more, strict=True)]
    if same_table(outcomes):
        together = {name: expr for one in columns for name, expr in one.items()}
        return sides[0].people.frame.select(**together)
    _check_ids(outcomes)
    frames = [
        side.people.frame.select(**{ID: _id_of(outcomes, number)}, **own)
        for number, (side, own) in enumerate(zip(sides, columns, strict=True))
    ]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.join(frame, on=ID, how="inner")
    return whole


def _check_ids(outcomes: Sequence[Outcomes]) -> None:
    for one in outcomes:
        if one.mapping.id is None:
            raise UsageError(
                "Individuals of two snapshots are matched by their id, and none is named.", hint="Add --id COLUMN."
            )
        if one.mapping.count is not None:
            raise UsageError(
                "Rows that stand for several individuals cannot be matched by id.",
                hint="Drop --count, or give both versions as columns of one table (--match OLD=NEW).",
            )
    engines = {one.frame.implementation for one in outcomes}
    if len(engines) > 1:
        raise UsageError(
            f"The snapshots are held by different engines: {' and '.join(sorted(e.name for e in engines))}.",
            hint="Bring both into one of them.",
        )
    first = outcomes[0]
    for other in outcomes[1:]:
        kinds = [kind_of(one.schema[str(one.mapping.id)]) for one in (first, other)]
        if kinds[0] != kinds[1]:
            raise ColumnError(
                f"The id {first.mapping.id!r} holds {kinds[0]} in {first.source} and {kinds[1]} in {other.source}.",
                hint='Types are never converted silently (1 is not "1"): cast one of the two.',
            )


def _id_of(outcomes: Sequence[Outcomes], number: int) -> nw.Expr:
    """Return the id; where two snapshots hold one kind in different widths, in the common one."""
    own = outcomes[number]
    column = nw.col(str(own.mapping.id))
    types = [one.schema[str(one.mapping.id)] for one in outcomes]
    if all(dtype == types[0] for dtype in types) and types[0] not in (nw.Categorical, nw.Enum):
        return column
    kind = kind_of(types[number])
    if kind == "text":
        return column.cast(nw.String)
    return column.cast(nw.Int64) if all(dtype.is_integer() for dtype in types) else column.cast(nw.Float64)
