"""Same wrong answers of every pair of models: what failure flags do not tell where there are several options.

Made in one pass of its own, by the engine that holds the outcomes; the tables of two halves add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from polyculture.errors import TallyError, ValueInDataError, first_few
from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.individuals import individuals_of
from polyculture.outcomes.wrong_answers import wrong_answers_of
from polyculture.tally.engines import same_by_aggregates
from polyculture.tally.grouped import patterns_of
from polyculture.tally.tables import BoolArray, FloatArray, IntArray, unpack

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes

_BLOCK = 1 << 15  # rows turned into floats at a time
_FEW_MODELS = 8  # so few pairs are compared faster by the engine than by numbering all values

__all__ = ["MOST_VALUES", "OF_PROBABILITIES", "AnswerTables", "answers_of"]

MOST_VALUES = 1000
"""More different answers than this are open answers: two wrong ones are the same by no chance."""

OF_PROBABILITIES = "those with a probability"
"""Where the number of options comes from, if models give each item's options probabilities."""


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
    said : int, str or None
        The number of options, the column of each item's, or ``OF_PROBABILITIES``, where the mapping says it.
    chances : (4, k, k) float64, or empty
        Where items have their own number of options: sums over individuals whom both answered of
        weight / (options - 1) and of weight, and the same over those on whom both are wrong.
    """

    values: tuple[str, ...] | None
    same_wrong: IntArray
    same_wrong_weight: FloatArray
    said: int | str | None = None
    chances: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))

    @property
    def options(self) -> int | None:
        """The number of options: said, or of different labels and answers; None where open, or the item's own."""
        if self.said is not None:
            return self.said if isinstance(self.said, int) else None
        return None if self.values is None else len(self.values)

    @property
    def words(self) -> str:
        """Where the number of options comes from, in words."""
        if isinstance(self.said, str):
            return f"the options of each item ({self.said})"
        if self.options is None:
            return "open: two wrong ones are the same by no chance"
        return f"{self.options} options" + ("" if self.said is not None else ", the different labels and answers")

    @property
    def chance(self) -> float:
        """The chance that two wrong answers are the same, 1 / (options - 1), on average; 0 where answers are open."""
        if self.chances.size:
            apart = ~np.eye(self.chances.shape[1], dtype=bool)
            total = float(self.chances[1][apart].sum())
            return float(self.chances[0][apart].sum()) / total if total > 0 else 0.0
        return 0.0 if self.options is None else 1.0 / max(self.options - 1, 1)

    def chance_of_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return that chance for every pair, over whom both answered, and over those on whom both are wrong, (k, k).

        The latter is NaN where there is nobody.
        """
        if not self.chances.size:
            everywhere = np.full(self.same_wrong.shape, self.chance)
            return everywhere, everywhere
        answered, base, wrong, wrong_base = self.chances
        over_answered = np.divide(answered, base, out=np.full_like(base, self.chance), where=base > 0)
        return over_answered, np.divide(wrong, wrong_base, out=np.full_like(base, np.nan), where=wrong_base > 0)

    def add(self, other: AnswerTables, order: list[int]) -> AnswerTables:
        """Return the sum; ``order`` are the places of this one's models among the other's.

        Raises
        ------
        TallyError
            If the two were told different numbers of options.
        """
        if self.said != other.said:
            raise TallyError(
                f"These Tallies have different numbers of options ({self.said!r} and {other.said!r}).",
                hint="Make both with the same --options.",
            )
        square = np.ix_(order, order)
        values = None
        if self.values is not None and other.values is not None:
            values = _limited({*self.values, *other.values})
        return AnswerTables(
            values,
            self.same_wrong + other.same_wrong[square],
            self.same_wrong_weight + other.same_wrong_weight[square],
            self.said,
            self.chances + other.chances[:, order][:, :, order] if self.chances.size else self.chances,
        )

    def same(self, other: AnswerTables) -> bool:
        """Whether counts are equal, and weights to 1e-9."""
        return (
            self.values == other.values
            and np.array_equal(self.same_wrong, other.same_wrong)
            and np.allclose(self.same_wrong_weight, other.same_wrong_weight, rtol=1e-9)
            and self.said == other.said
            and self.chances.shape == other.chances.shape
            and np.allclose(self.chances, other.chances, rtol=1e-9)
        )

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name, for saving."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in {"values", "said"}}


def _limited(values: set[str]) -> tuple[str, ...] | None:
    return tuple(sorted(values)) if len(values) <= MOST_VALUES else None


def answers_of(outcomes: Outcomes, *, binary_labels: bool) -> AnswerTables | None:
    """Count same wrong answers.

    Parameters
    ----------
    outcomes : Outcomes
        The lazy frame and its mapping.
    binary_labels : bool
        Whether labels and answers are two values: then the patterns tell everything, unless more can be given.

    Returns
    -------
    AnswerTables or None
        None where models give no answers (0/1 outcomes, scores, decisions), or failure flags tell them.

    Raises
    ------
    ValueInDataError
        If there are more different answers than the number of options that was said.
    """
    said = outcomes.mapping.options if outcomes.probabilities is None else OF_PROBABILITIES
    if outcomes.rule.kind != "misclassified" or (binary_labels and said is None):
        return None
    wrong = wrong_answers_of(outcomes)
    columns = [f"__a{i}" for i in range(len(outcomes.models))]
    if wrong.frame.implementation.is_polars() and len(columns) > _FEW_MODELS:
        from polyculture.tally.engines.polars import same_answers

        found = same_answers(wrong.frame, columns, weighted=wrong.weighted)
    else:
        found = same_by_aggregates(wrong.frame, columns, weighted=wrong.weighted)
    tables = AnswerTables(_values(outcomes), *found, said, _chances(outcomes))
    _check_said(tables, outcomes.source)
    return tables if wrong.weighted else replace(tables, same_wrong_weight=tables.same_wrong.astype(np.float64))


def _check_said(tables: AnswerTables, source: str) -> None:
    different = MOST_VALUES + 1 if tables.values is None else len(tables.values)
    if isinstance(tables.said, int) and different > tables.said:
        shown = f" ({first_few(tables.values)})" if tables.values is not None else ""
        raise ValueInDataError(
            f"{source} holds {'over ' if tables.values is None else ''}{min(different, MOST_VALUES):,} different "
            f"labels and answers{shown}, more than the {tables.said} options that were said.",
            hint="Name what is no answer (--no-answer-values), or give the column of each item's options.",
        )


def _chances(outcomes: Outcomes) -> FloatArray:
    """Sum 1 / (options - 1) over pairs, from the different masks of the items of each number of options."""
    people, k = individuals_of(outcomes), len(outcomes.models)
    if people.options is None:
        return np.zeros((0, 0, 0))
    found = patterns_of(replace(people, groups=(people.options,), cluster=None, label_class=None), k)
    silent = unpack(found.no_answer, k)
    answered, wrong = unpack(found.judged, k) & ~silent, unpack(found.failed, k) & ~silent
    chance = 1.0 / (np.asarray(found.groups[0], dtype=np.float64) - 1.0)
    flags = ((answered, found.weight * chance), (answered, found.weight), (wrong, found.weight * chance))
    return np.stack([_joint(one, weight) for one, weight in (*flags, (wrong, found.weight))])


def _joint(flags: BoolArray, weight: FloatArray) -> FloatArray:
    """Add up weights over the rows flagged in both of two columns, (k, k)."""
    size = flags.shape[1]
    total = np.zeros((size, size))
    for start in range(0, len(flags), _BLOCK):
        part = flags[start : start + _BLOCK].astype(np.float64)
        total += (part * weight[start : start + _BLOCK, None]).T @ part
    return total


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
