"""Same wrong answers of every pair of models: what failure flags do not tell where there are several options.

Made in one pass of its own, by the engine that holds the outcomes; the tables of two halves add up.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.wrong_answers import wrong_answers_of
from polyculture.tally.engines import same_by_aggregates
from polyculture.tally.tables import FloatArray, IntArray

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes

_FEW_MODELS = 8  # so few pairs are compared faster by the engine than by numbering all values

__all__ = ["MOST_VALUES", "AnswerTables", "answers_of"]

MOST_VALUES = 1000
"""More different answers than this are open answers: two wrong ones are the same by no chance."""


@dataclass(frozen=True)
class AnswerTables:
    """What pairs answered, over everyone.

    Attributes
    ----------
    values : tuple of str or None
        The different labels and answers, as text and sorted; None where there are more than a thousand.
    same_wrong : (k, k) int64
        Individuals on whom both are wrong with the same answer; no answer is the same as nothing.
    same_wrong_weight : (k, k) float64
        The same in weights.
    """

    values: tuple[str, ...] | None
    same_wrong: IntArray
    same_wrong_weight: FloatArray

    @property
    def options(self) -> int | None:
        """The number of options: of different labels and answers; None where answers are open."""
        return None if self.values is None else len(self.values)

    @property
    def chance(self) -> float:
        """The chance that two wrong answers are the same, 1 / (options - 1); 0 where answers are open."""
        return 0.0 if self.values is None else 1.0 / max(len(self.values) - 1, 1)

    def add(self, other: AnswerTables, order: list[int]) -> AnswerTables:
        """Return the sum; ``order`` are the places of this one's models among the other's."""
        square = np.ix_(order, order)
        values = None
        if self.values is not None and other.values is not None:
            values = _limited({*self.values, *other.values})
        return AnswerTables(
            values,
            self.same_wrong + other.same_wrong[square],
            self.same_wrong_weight + other.same_wrong_weight[square],
        )

    def same(self, other: AnswerTables) -> bool:
        """Whether counts are equal, and weights to 1e-9."""
        return (
            self.values == other.values
            and np.array_equal(self.same_wrong, other.same_wrong)
            and np.allclose(self.same_wrong_weight, other.same_wrong_weight, rtol=1e-9)
        )

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name, for saving."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "values"}


def _limited(values: set[str]) -> tuple[str, ...] | None:
    return tuple(sorted(values)) if len(values) <= MOST_VALUES else None


def answers_of(outcomes: Outcomes, *, binary_labels: bool) -> AnswerTables | None:
    """Count same wrong answers.

    Parameters
    ----------
    outcomes : Outcomes
        The lazy frame and its mapping.
    binary_labels : bool
        Whether labels and answers are two values: then the patterns tell everything.

    Returns
    -------
    AnswerTables or None
        None where models give no answers (0/1 outcomes, scores, decisions), or failure flags tell them.
    """
    if binary_labels or outcomes.rule.kind != "misclassified":
        return None
    wrong = wrong_answers_of(outcomes)
    columns = [f"__a{i}" for i in range(len(outcomes.models))]
    if wrong.frame.implementation.is_polars() and len(columns) > _FEW_MODELS:
        from polyculture.tally.engines.polars import same_answers

        found = same_answers(wrong.frame, columns, weighted=wrong.weighted)
    else:
        found = same_by_aggregates(wrong.frame, columns, weighted=wrong.weighted)
    tables = AnswerTables(_values(outcomes), *found)
    return tables if wrong.weighted else replace(tables, same_wrong_weight=tables.same_wrong.astype(np.float64))


def _values(outcomes: Outcomes) -> tuple[str, ...] | None:
    """Return the different labels and answers, without what means "no answer" or "pending"."""
    silent = {*outcomes.mapping.no_answer_values, *outcomes.mapping.pending}
    found: set[str] = set()
    for name in dict.fromkeys([str(outcomes.mapping.label), *outcomes.value_columns]):
        distinct = outcomes.frame.select(value=nw.col(name)).drop_nulls().unique().head(MOST_VALUES + len(silent) + 1)
        found |= {str(row["value"]) for row in fetch_rows(distinct)} - silent
        if len(found) > MOST_VALUES:
            return None
    return _limited(found)
