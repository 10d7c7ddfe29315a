"""Ratings of several judges without gold labels: which judges' values each item has, grouped where they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import ColumnError, InputError
from polyculture.expressions import kind_of
from polyculture.failure import typed_value
from polyculture.outcomes.counting import fetch

if TYPE_CHECKING:
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["Ratings", "ratings_of"]

MOST_VALUES = 1000


@dataclass(frozen=True)
class Ratings:
    """Items by how often each value was given.

    Attributes
    ----------
    values : tuple
        The V different values, in order.
    numbers : bool
        Whether they are numbers.
    counts : (U, V) int64
        How many judges gave an item of this row each value.
    items : (U,) int64
        How many items the row stands for.
    """

    values: tuple[Any, ...]
    numbers: bool
    counts: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]


def ratings_of(outcomes: Outcomes) -> Ratings:
    """Count ratings: missing ones, and values that mean no answer or not judged yet, are left out.

    Raises
    ------
    ColumnError
        If judges gave values of different types, or too many different ones.
    InputError
        If there is no rating.
    """
    kinds = {kind_of(outcomes.schema[name]): name for name in outcomes.value_columns}
    if len(kinds) > 1:
        (one, first), (two, second), *_ = kinds.items()
        raise ColumnError(
            f"The column {first!r} holds {one} and {second!r} holds {two}.",
            hint="Cast them to one type, or choose the judges with --models.",
        )
    frame, columns = _spread(outcomes)
    times = nw.len() if outcomes.mapping.count is None else nw.col("__times").sum()
    table = fetch(frame.group_by(*columns).agg(times.alias("__n")))
    given = [table[name].to_list() for name in columns]
    found = {value for column in given for value in column if not _missing(value)}
    if not found:
        raise InputError(f"No judge rated anything in {outcomes.source}.", hint="Check --models.")
    if len(found) > MOST_VALUES:
        raise ColumnError(
            f"There are {len(found):,} different ratings, over {MOST_VALUES:,}.",
            hint="Round or group them beforehand, or choose the judges with --models.",
        )
    values = tuple(sorted(found))
    place = {value: at for at, value in enumerate(values)}
    counts = np.zeros((len(table), len(values)), dtype=np.int64)
    for column in given:
        for row, value in enumerate(column):
            if not _missing(value):
                counts[row, place[value]] += 1
    return Ratings(values, next(iter(kinds)) == "numbers", counts, table["__n"].to_numpy().astype(np.int64))


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 (NaN)


def _spread(outcomes: Outcomes) -> tuple[nw.LazyFrame[Any], list[str]]:
    """Return one row an item with a column a judge; values that are no rating are null."""
    mapping = outcomes.mapping
    columns = [f"__r{i}" for i in range(len(outcomes.models))]
    if not mapping.long:
        judges = {
            f"__r{i}": _rated(outcomes, nw.col(name), outcomes.schema[name]) for i, name in enumerate(outcomes.models)
        }
        if mapping.count is not None:
            judges["__times"] = nw.col(mapping.count).cast(nw.Int64)
        return outcomes.frame.select(**judges), columns
    ident, model, value = str(mapping.id), nw.col(str(mapping.model)), str(mapping.value)
    rated = _rated(outcomes, nw.col(value), outcomes.schema[value])
    rows = outcomes.frame.filter(~nw.col(ident).is_null()).with_columns(__value=rated)
    by_judge = {f"__r{i}": nw.when(model == name).then(nw.col("__value")) for i, name in enumerate(outcomes.models)}
    grouped = rows.select(ident, **by_judge).group_by(ident).agg(*[nw.col(name).max() for name in columns])
    return grouped, columns


def _rated(outcomes: Outcomes, value: nw.Expr, dtype: Any) -> nw.Expr:
    texts = [text for text in (*outcomes.mapping.no_answer_values, *outcomes.mapping.pending) if text.lower() != "null"]
    if not texts:
        return value
    silent = [typed_value(text, dtype, "the judges' columns") for text in texts]
    return nw.when(~value.is_in(silent)).then(value)
