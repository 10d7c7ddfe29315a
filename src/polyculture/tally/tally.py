"""Tally: the small tables that everything an audit says is a function of, and their addition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyculture.errors import TallyError, first_few
from polyculture.tally.tables import (
    IntArray,
    ModelTable,
    Patterns,
    ProfileTable,
    RawPatterns,
    models_of,
    pack,
    profile_of,
    unpack,
)

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes
    from polyculture.tally.answers import AnswerTables
    from polyculture.tally.counts import ExactTables
    from polyculture.tally.probabilities import ProbabilityTables

__all__ = ["Tally"]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of individuals by group cell and failure pattern, made in one pass over the outcomes.

    The Tally of two halves is the sum of their Tallies: ``Tally.of(first) + Tally.of(second)``.

    Attributes
    ----------
    models : tuple of str
        Names of the k models.
    groups : tuple of str
        Names of the group columns as shown.
    cells : tuple of tuple
        The group values of each cell, as text, None where missing; ``((),)`` without groups.
    raw : RawPatterns
        Distinct patterns, or those of a sample of individuals where ``tables`` holds the exact counts.
    tables : ExactTables or None
        Exact tables where there are too many distinct patterns to keep; None where ``raw`` is everything.
    answers : AnswerTables or None
        Same wrong answers of pairs; None where there are no answers, or the patterns tell them.
    probabilities : ProbabilityTables or None
        Moments of the probabilities that models gave; None where there are none.
    """

    models: tuple[str, ...]
    groups: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...]
    raw: RawPatterns
    failure_rule: str
    tables: ExactTables | None = None
    answers: AnswerTables | None = None
    probabilities: ProbabilityTables | None = None
    no_answer_policy: str = "failed"
    min_judged: int = 2
    weighted: bool = False
    cluster_names: tuple[str, ...] | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    no_answer_reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    binary_labels: bool = False
    selection: str = ""
    rows_read: int = 0
    rows_used: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Outcomes) -> Tally:
        """Make the Tally of outcomes, in the engine that holds them.

        Parameters
        ----------
        outcomes : Outcomes
            The lazy frame and its mapping.

        Returns
        -------
        Tally
            Integers are the same whatever the engine.

        Raises
        ------
        InputError
            If the data are not what the mapping says; see ``Outcomes.survey``.

        Examples
        --------
        >>> import polars as pl
        >>> from polyculture.outcomes import Mapping, Outcomes
        >>> table = pl.DataFrame({"a": [1, 0, 1], "b": [1, 1, 1]})
        >>> tally = Tally.of(Outcomes(table, Mapping(outcomes="failed")))
        >>> tally.profile_table().count.tolist()
        [1, 2]
        """
        from polyculture.tally.build import build

        return build(outcomes)

    @property
    def exact(self) -> bool:
        """Whether the patterns are of all individuals and not of a sample."""
        return self.tables is None

    @property
    def clustered(self) -> bool:
        """Whether individuals come in clusters."""
        return self.cluster_names is not None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters with any individual, None where there are none."""
        if self.cluster_names is None:
            return None
        return len(np.unique(self.raw.cluster[self.raw.cluster >= 0]))

    @property
    def sampled(self) -> int | None:
        """The number of individuals in the sample of patterns, None where there is no sample."""
        return None if self.exact else int(self.raw.count.sum())

    @cached_property
    def individuals(self) -> int:
        """The number of individuals, however few models judged them."""
        return int(self.profile_table().count.sum())

    @cached_property
    def patterns(self) -> Patterns:
        """The patterns under this Tally's reading of "no answer"."""
        return self.raw.read(len(self.models), self.no_answer_policy)

    @cached_property
    def _profile(self) -> ProfileTable:
        return profile_of(self.patterns) if self.tables is None else self.tables.profile()

    @cached_property
    def _models(self) -> ModelTable:
        return models_of(self.patterns, len(self.cells)) if self.tables is None else self.tables.models(len(self.cells))

    def profile_table(self) -> ProfileTable:
        """Return individuals by cell, number of judging and number of failing models; always exact."""
        return self._profile

    def model_table(self) -> ModelTable:
        """Return judged, failed and unanswered individuals by cell and model; always exact."""
        return self._models

    def has_no_answer(self) -> bool:
        """Whether any cell holds no answer."""
        return bool(self.model_table().no_answer.any())

    def where(self, cells: Sequence[int] | IntArray) -> Tally:
        """Return the Tally of the individuals of some cells (indices keep their meaning)."""
        keep = np.zeros(len(self.cells), dtype=bool)
        keep[np.asarray(cells, dtype=np.int64)] = True
        tables = None if self.tables is None else self.tables.where(keep)
        answers = self.answers if keep.all() else None  # pairs are kept over everyone, not by cell
        return replace(self, raw=self.raw.take(keep[self.raw.cell]), tables=tables, answers=answers)

    def of_models(self, models: Sequence[str]) -> Tally:
        """Return the Tally of some of the models, on the same individuals.

        Parameters
        ----------
        models : sequence of str
            Names among ``models``.

        Raises
        ------
        TallyError
            If the patterns are a sample: exact counts were kept of all models together only.
        """
        if self.tables is not None:
            raise TallyError(
                "This Tally keeps exact counts of all its models together, and patterns of a sample only.",
                hint="Count these models by themselves (--models).",
            )
        at = [self.models.index(name) for name in models]
        raw = self.raw
        judged, failed, silent = (
            pack(unpack(mask, len(self.models))[:, at]) for mask in (raw.judged, raw.failed, raw.no_answer)
        )
        return replace(
            self,
            models=tuple(models),
            raw=replace(raw, judged=judged, failed=failed, no_answer=silent).merged(),
            answers=None,
            thresholds={name: value for name, value in self.thresholds.items() if name not in self.models}
            | {name: self.thresholds[name] for name in models if name in self.thresholds},
            no_answer_reasons={name: self.no_answer_reasons[name] for name in models if name in self.no_answer_reasons},
        )

    def with_no_answer(self, policy: str) -> Tally:
        """Return the Tally under another reading of "no answer" ("failed" or "missing").

        Raises
        ------
        TallyError
            If there are answers missing and only tables under the one reading were kept.
        """
        if policy == self.no_answer_policy:
            return self
        if self.tables is not None and self.has_no_answer():
            raise TallyError(
                "This Tally is too large to keep both readings of no answer.",
                hint=f"Make it again with no_answer={policy!r}.",
            )
        return replace(self, no_answer_policy=policy)

    def restricted_to_min_judged(self) -> Tally:
        """Return the Tally of the individuals judged by at least ``min_judged`` models.

        With one model there is nothing to restrict by: one judgement is all that anyone can have.
        """
        least = min(self.min_judged, len(self.models))
        keep = self.patterns.judged_by() >= least
        tables = None if self.tables is None else self.tables.judged_by_at_least(least)
        return replace(self, raw=self.raw.take(keep), tables=tables)

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        from polyculture.tally.add import add

        return add(self, other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        from polyculture.tally.add import same

        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: str | Path) -> None:
        """Write the Tally to one file (a zip of arrays and a JSON header; nothing in it is ever unpickled).

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.tally.store import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """Read a Tally that ``save`` wrote.

        Raises
        ------
        TallyError
            If the file is no Tally.
        """
        from polyculture.tally.store import load

        return load(Path(path))

    def __repr__(self) -> str:
        return (
            f"Tally of {self.individuals:,} individuals and {len(self.models)} models "
            f"({first_few(self.models)}), {len(self.cells)} cells, {self.raw.rows:,} patterns"
            + ("" if self.exact else " (sampled)")
        )
