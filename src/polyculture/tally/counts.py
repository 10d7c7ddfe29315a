"""Exact tables for outcomes with too many distinct patterns to keep (many models and many individuals)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.tally.cells import Cell
from polyculture.tally.tables import BoolArray, FloatArray, IntArray, ModelTable, ProfileTable

if TYPE_CHECKING:
    from polyculture.tally.tally import Tally

__all__ = ["ExactTables"]

_PAIRS = ("both_judged", "both_failed", "first_failed")


@dataclass(frozen=True)
class ExactTables:
    """Counts by cell, number of judging and number of failing models; the margins table of the design.

    Attributes
    ----------
    cell, judged, failed, count : (R,) int64
        The profile: individuals of a cell judged by ``judged`` models and failed by ``failed``.
    weight : (R,) float64
        Sum of weights.
    model_judged, model_failed, model_no_answer : (R, k) int64
        Of these individuals, how many each model judged, failed and left without an answer.
    model_judged_weight, model_failed_weight : (R, k) float64
        The same in weights.
    both_judged, both_failed : (k, k) int64
        Pairs over everyone; (0, 0) in the Tally of some cells, since pairs are not kept by cell.
    first_failed : (k, k) int64
        Individuals whom the row's model failed and the column's judged too.
    """

    cell: IntArray
    judged: IntArray
    failed: IntArray
    count: IntArray
    weight: FloatArray
    model_judged: IntArray
    model_failed: IntArray
    model_no_answer: IntArray
    model_judged_weight: FloatArray
    model_failed_weight: FloatArray
    both_judged: IntArray
    both_failed: IntArray
    first_failed: IntArray

    def _rows(self, keep: BoolArray) -> ExactTables:
        rows = {e.name: getattr(self, e.name)[keep] for e in fields(self) if e.name not in _PAIRS}
        return replace(self, **rows)

    def where(self, keep: BoolArray) -> ExactTables:
        """Return the tables of the cells marked in ``keep``, (C,)."""
        kept = self._rows(keep[self.cell])
        if keep.all():
            return kept
        nothing = np.zeros((0, 0), dtype=np.int64)
        return replace(kept, both_judged=nothing, both_failed=nothing, first_failed=nothing)

    def judged_by_at_least(self, least: int) -> ExactTables:
        """Return the tables of the individuals judged by at least so many models.

        Pairs are left as they are: for ``least`` up to 2 nobody in them is judged by fewer.
        """
        return self._rows(self.judged >= least)

    def profile(self) -> ProfileTable:
        """Return the profile table."""
        return ProfileTable(self.cell, self.judged, self.failed, self.count, self.weight)

    def models(self, cells: int) -> ModelTable:
        """Return the models table, (C, k)."""
        found = {}
        for name in ("judged", "failed", "no_answer", "judged_weight", "failed_weight"):
            values = getattr(self, f"model_{name}")
            table = np.zeros((cells, values.shape[1]), dtype=values.dtype)
            np.add.at(table, self.cell, values)
            found[name] = table
        return ModelTable(**found)

    def same(self, other: ExactTables) -> bool:
        """Whether all counts are equal, and weights to 1e-9."""
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if mine.shape != theirs.shape:
                return False
            if not (np.allclose(mine, theirs, rtol=1e-9) if mine.dtype.kind == "f" else np.array_equal(mine, theirs)):
                return False
        return True

    def add(
        self, other: ExactTables, left: Tally, right: Tally, cells: tuple[tuple[str | None, ...], ...]
    ) -> ExactTables:
        """Return the sum, with ``right``'s models in ``left``'s order and cells as in ``cells``."""
        moved = [_moved(self, left, left.models, cells), _moved(other, right, left.models, cells)]
        joined = {
            e.name: np.concatenate([getattr(part, e.name) for part in moved])
            for e in fields(self)
            if e.name not in _PAIRS
        }
        for name in _PAIRS:
            first, second = getattr(moved[0], name), getattr(moved[1], name)
            joined[name] = first + second if len(first) and len(second) else first[:0, :0]
        return ExactTables(**joined).merged()

    def merged(self) -> ExactTables:
        """Return the tables sorted, with equal rows added up."""
        order = np.lexsort([self.failed, self.judged, self.cell])
        key = np.stack([self.cell, self.judged, self.failed])[:, order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
        starts = np.flatnonzero(new)
        summed = {
            e.name: np.add.reduceat(getattr(self, e.name)[order], starts, axis=0)
            for e in fields(self)
            if e.name not in ("cell", "judged", "failed", *_PAIRS)
        }
        cell, judged, failed = key[:, starts]
        return replace(self, cell=cell, judged=judged, failed=failed, **summed)


def _moved(tables: ExactTables, tally: Tally, models: tuple[str, ...], cells: tuple[Cell, ...]) -> ExactTables:
    order = [tally.models.index(name) for name in models]
    where = {cell: i for i, cell in enumerate(cells)}
    to_cell = np.array([where[cell] for cell in tally.cells], dtype=np.int64)
    columns = {e.name: getattr(tables, e.name)[:, order] for e in fields(tables) if e.name.startswith("model_")}
    pairs = {}
    for name in _PAIRS:
        values = getattr(tables, name)
        pairs[name] = values[order][:, order] if len(values) else values
    return replace(tables, cell=to_cell[tables.cell], **columns, **pairs)
