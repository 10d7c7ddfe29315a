"""What the models say: which columns hold a value at all, and how often each answer was given.

A failure rule that names a value which nobody ever says would find no failure, without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.errors import ColumnError, ValueInDataError, first_few, nearest
from polyculture.failure import typed_value
from polyculture.outcomes.counting import count_true, fetch_rows

if TYPE_CHECKING:
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["answer_counts", "columns_that_say", "refuse_unsaid_value"]

_RULES_WITH_VALUES = ("decision", "false-positive", "false-negative")


def columns_that_say(
    frame: nw.LazyFrame[Any], schema: TypeMapping[str, Any], columns: Sequence[str], value: str
) -> tuple[str, ...]:
    """Return the columns in which some row holds a value: those that can be decisions.

    Raises
    ------
    ColumnError
        If there is none; the message names the columns looked at.
    """
    wanted = {}
    for name in columns:
        try:
            wanted[name] = typed_value(value, schema[name], name)
        except ColumnError:
            # A column of another type cannot hold the decision; the caller named no models.
            continue
    sums = {f"c{i}": count_true(frame, nw.col(name) == typed) for i, (name, typed) in enumerate(wanted.items())}
    row = fetch_rows(frame.select(**sums))[0] if sums else {}
    found = tuple(name for i, name in enumerate(wanted) if row[f"c{i}"])
    if not found:
        said = [answer for name in wanted for answer, _ in _most_frequent(frame, name, 50)]
        raise ColumnError(
            f"No column holds the decision {value!r}; looked at: {first_few(columns, limit=20)}.",
            hint=f"{nearest(value, said)} Check --failure decision=VALUE, or name the models with --models.".strip(),
        )
    return found


def answer_counts(outcomes: Outcomes, limit: int = 6) -> dict[str, list[tuple[str, int]]]:
    """Return for each model its most frequent answers and their counts, over the rows of the table.

    Empty for 0/1 outcomes, scores and conditions over the row, which have no answers to list.
    """
    if outcomes.rule.kind not in ("misclassified", *_RULES_WITH_VALUES):
        return {}
    found = {}
    for name in outcomes.models:
        frame, column = outcomes.frame, name
        if outcomes.mapping.long:
            frame = frame.filter(nw.col(str(outcomes.mapping.model)) == name)
            column = str(outcomes.mapping.value)
        found[name] = _most_frequent(frame, column, limit)
    return found


def refuse_unsaid_value(outcomes: Outcomes) -> None:
    """Raise a ValueInDataError where the failure rule names a value that stands nowhere.

    Raises
    ------
    ValueInDataError
        The message lists the values that do, with the nearest.
    """
    rule = outcomes.rule
    if rule.kind not in _RULES_WITH_VALUES:
        return
    columns = outcomes.value_columns if rule.kind == "decision" else (str(outcomes.mapping.label),)
    frame, schema = outcomes.frame, outcomes.schema
    sums = {
        f"c{i}": count_true(frame, nw.col(name) == typed_value(rule.argument, schema[name], name))
        for i, name in enumerate(columns)
    }
    if any(fetch_rows(frame.select(**sums))[0].values()):
        return
    said: Counter[str] = Counter()
    for name in columns:
        said.update(dict(_most_frequent(frame, name, 50)))
    shown = ", ".join(f"{answer!r} ({times:,})" for answer, times in said.most_common(6))
    what = "No model" if rule.kind == "decision" else "No label"
    raise ValueInDataError(
        f"{what} of {outcomes.source} ever says {rule.argument!r}, which the failure rule {rule} names.",
        hint=f"{nearest(rule.argument, said)} The values are: {shown}.".strip(),
    )


def _most_frequent(frame: nw.LazyFrame[Any], column: str, limit: int) -> list[tuple[str, int]]:
    counted = frame.select(answer=nw.col(column)).drop_nulls().group_by("answer").agg(times=nw.len())
    rows = fetch_rows(counted.sort("times", "answer", descending=[True, False]).head(limit))
    return [(str(row["answer"]), int(row["times"])) for row in rows]
