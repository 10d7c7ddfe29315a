"""Changes: what the same models did with the same individuals at two snapshots, as one small table that adds up.

How it is made stands in ``joined``; what is said of it stands in ``audit``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import TallyError
from polyculture.tally.cells import Cell, in_order
from polyculture.tally.tables import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.outcomes import Outcomes

__all__ = ["ChangeTable", "Changes", "table_of_masks"]

_KEYS = ("cell", "cluster", "judged", "before", "after", "both")
_SAME = (
    ("failure_rule", "failure rules"),
    ("no_answer_policy", "readings of no answer"),
    ("min_judged", "min_judged"),
    ("weighted", "kinds of weights"),
    ("groups", "group columns"),
    ("models", "models"),
    ("thresholds", "thresholds"),
)


@dataclass(frozen=True)
class ChangeTable:
    """Individuals by what the models compared did before and after; a row a distinct combination of the keys.

    A model counts for an individual only where it judged them at both snapshots.

    Attributes
    ----------
    cell, cluster : (R,) int64
        Combination of group values; cluster, -1 where there is none.
    judged : (R,) int64
        Models that judged the individual at both snapshots.
    before, after, both : (R,) int64
        How many of them failed the individual before, after, and both times.
    count : (R,) int64
        Individuals.
    weight, weight_squared : (R,) float64
        Sums of weights and of their squares; the count where nothing is weighted.
    model_judged, model_before, model_after, model_both : (R, k) int64
        Of these individuals, how many each model judged, failed before, failed after, failed both times.
    weight_judged, weight_before, weight_after, weight_both : (R, k) float64
        The same in weights.
    """

    cell: IntArray
    cluster: IntArray
    judged: IntArray
    before: IntArray
    after: IntArray
    both: IntArray
    count: IntArray
    weight: FloatArray
    weight_squared: FloatArray
    model_judged: IntArray
    model_before: IntArray
    model_after: IntArray
    model_both: IntArray
    weight_judged: FloatArray
    weight_before: FloatArray
    weight_after: FloatArray
    weight_both: FloatArray

    def take(self, rows: BoolArray | IntArray) -> ChangeTable:
        """Return some rows."""
        return ChangeTable(**{entry.name: getattr(self, entry.name)[rows] for entry in fields(self)})

    def merged(self) -> ChangeTable:
        """Return the table sorted by its keys, with equal ones added up."""
        keys = np.stack([getattr(self, name) for name in _KEYS])
        order = np.lexsort(keys[::-1])
        ordered = keys[:, order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        starts = np.flatnonzero(new)
        if not len(starts):
            return self
        rest = [entry.name for entry in fields(self) if entry.name not in _KEYS]
        summed = {name: np.add.reduceat(getattr(self, name)[order], starts, axis=0) for name in rest}
        return ChangeTable(**dict(zip(_KEYS, ordered[:, starts], strict=True)), **summed)

    def swapped(self) -> ChangeTable:
        """Return the table with before and after exchanged."""
        return replace(
            self,
            before=self.after,
            after=self.before,
            model_before=self.model_after,
            model_after=self.model_before,
            weight_before=self.weight_after,
            weight_after=self.weight_before,
        ).merged()


@dataclass(frozen=True, eq=False)
class Changes:
    """What everything that `compare` says of two snapshots is a function of.

    ``Changes`` of two halves of the individuals add up to the ``Changes`` of all.

    Attributes
    ----------
    models : tuple of (str, str)
        Names of the k models at the earlier and at the later snapshot.
    groups, cells
        As in a Tally; group values are those of the earlier snapshot.
    table : ChangeTable
        The counts.
    only_before, only_after : int
        Individuals that only one snapshot has.
    relabelled : int
        Individuals whose label differs between the snapshots; they are in no table.
    judged_otherwise : int
        Individuals of the table whom not the same models judged at both snapshots.
    """

    models: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]
    cells: tuple[Cell, ...]
    table: ChangeTable
    failure_rule: str
    no_answer_policy: str = "failed"
    min_judged: int = 2
    weighted: bool = False
    cluster_names: tuple[str, ...] | None = None
    thresholds: tuple[dict[str, float], dict[str, float]] = field(default_factory=lambda: ({}, {}))
    only_before: int = 0
    only_after: int = 0
    relabelled: int = 0
    judged_otherwise: int = 0

    @classmethod
    def of(cls, before: Outcomes, after: Outcomes) -> Changes:
        """Count what changed between two snapshots of the same individuals, in the engine that holds them.

        Parameters
        ----------
        before, after : Outcomes
            The j-th model of ``after`` is the later version of the j-th model of ``before``. They are joined by
            the id; where both are columns of one wide table, row by row.

        Returns
        -------
        Changes
            Integers are the same whatever the engine.

        Raises
        ------
        InputError, UsageError
            If they have no individual in common, or cannot be joined.

        Examples
        --------
        >>> import polars as pl
        >>> from polyculture.outcomes import Mapping, Outcomes
        >>> mapping = Mapping(id="id", outcomes="failed")
        >>> before = Outcomes(pl.DataFrame({"id": [1, 2, 3], "a": [1, 1, 0], "b": [1, 0, 0]}), mapping)
        >>> after = Outcomes(pl.DataFrame({"id": [3, 2, 1], "a": [0, 0, 1], "b": [0, 0, 0]}), mapping)
        >>> changes = Changes.of(before, after)
        >>> changes.table.before.tolist(), changes.table.after.tolist(), changes.table.count.tolist()
        ([0, 1, 2], [0, 0, 1], [1, 1, 1])
        """
        from polyculture.tally.joined import changes_of

        return changes_of(before, after)

    @property
    def matched(self) -> int:
        """Individuals that both snapshots have, with the same label."""
        return int(self.table.count.sum())

    @property
    def least(self) -> int:
        """The fewest models that an individual of the headline was judged by at both snapshots."""
        return min(self.min_judged, len(self.models))

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters with any individual, None where there are none."""
        if self.cluster_names is None:
            return None
        return len(np.unique(self.table.cluster[self.table.cluster >= 0]))

    def swapped(self) -> Changes:
        """Return the changes from the later snapshot to the earlier one."""
        return replace(
            self,
            models=tuple((new, old) for old, new in self.models),
            table=self.table.swapped(),
            thresholds=self.thresholds[::-1],
            only_before=self.only_after,
            only_after=self.only_before,
        )

    def __add__(self, other: object) -> Changes:
        if not isinstance(other, Changes):
            return NotImplemented
        for name, words in _SAME:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise TallyError(
                    f"These Changes have different {words} ({mine!r} and {theirs!r}) and cannot be added.",
                    hint="Make both with the same mapping, over the same models.",
                )
        if (self.cluster_names is None) != (other.cluster_names is None):
            raise TallyError("Only one of these Changes has clusters.", hint="Make both with the same mapping.")
        cells = in_order((*self.cells, *other.cells))
        clusters = tuple(sorted({*(self.cluster_names or ()), *(other.cluster_names or ())}))
        moved = [_moved(part, cells, clusters) for part in (self, other)]
        arrays = [entry.name for entry in fields(ChangeTable)]
        table = ChangeTable(**{name: np.concatenate([getattr(part, name) for part in moved]) for name in arrays})
        names = ("only_before", "only_after", "relabelled", "judged_otherwise")
        counted: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(
            self,
            cells=cells,
            cluster_names=None if self.cluster_names is None else clusters,
            table=table.merged(),
            **counted,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Changes):
            return NotImplemented
        if any(getattr(self, e.name) != getattr(other, e.name) for e in fields(self) if e.name != "table"):
            return False
        for entry in fields(ChangeTable):
            mine, theirs = getattr(self.table, entry.name), getattr(other.table, entry.name)
            close = mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-9 if mine.dtype.kind == "f" else 0)
            if not close:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]


def _moved(changes: Changes, cells: tuple[Cell, ...], clusters: tuple[str, ...]) -> ChangeTable:
    table = changes.table
    place = {cell: i for i, cell in enumerate(cells)}
    table = replace(table, cell=np.array([place[cell] for cell in changes.cells], dtype=np.int64)[table.cell])
    if changes.cluster_names is None:
        return table
    at = {name: i for i, name in enumerate(clusters)}
    order: IntArray = np.array([at[name] for name in changes.cluster_names], dtype=np.int64)
    return replace(table, cluster=order[table.cluster])


def table_of_masks(
    judged: Sequence[BoolArray],
    failed: Sequence[BoolArray],
    *,
    cell: IntArray,
    cluster: IntArray,
    count: IntArray,
    weight: FloatArray,
    weight_squared: FloatArray,
    weighted: bool,
) -> ChangeTable:
    """Fold patterns of both snapshots into the table.

    Parameters
    ----------
    judged, failed : two (P, k) bool each
        Which models judged and failed, before and after.
    cell, cluster, count, weight, weight_squared : (P,)
        Of each pattern.
    weighted : bool
        Whether weights differ from counts.
    """
    common = judged[0] & judged[1]
    fails = [failed[0] & common, failed[1] & common]
    masks = {"judged": common, "before": fails[0], "after": fails[1], "both": fails[0] & fails[1]}
    numbers = {name: mask.sum(axis=1, dtype=np.int64) for name, mask in masks.items()}
    keys = {"cell": cell, "cluster": cluster, **numbers}
    code = np.zeros(len(count), dtype=np.int64)
    for values in keys.values():
        low = values.min(initial=0)
        code = code * (values.max(initial=0) - low + 1) + (values - low)
    _, first, at = np.unique(code, return_index=True, return_inverse=True)

    def summed(values: FloatArray | IntArray) -> FloatArray:
        return np.bincount(at, weights=values, minlength=len(first)).astype(np.float64)

    def by_model(mask: BoolArray, values: FloatArray | IntArray) -> FloatArray:
        columns = [np.bincount(at[one], weights=values[one], minlength=len(first)) for one in mask.T]
        return np.stack(columns, axis=1).astype(np.float64)

    counts = {name: by_model(mask, count) for name, mask in masks.items()}
    weights = {name: by_model(mask, weight) for name, mask in masks.items()} if weighted else counts
    arrays: dict[str, Any] = {name: values[first] for name, values in keys.items()}
    arrays |= {f"model_{name}": np.rint(table).astype(np.int64) for name, table in counts.items()}
    arrays |= {f"weight_{name}": table for name, table in weights.items()}
    return ChangeTable(
        count=np.rint(summed(count)).astype(np.int64),
        weight=summed(weight),
        weight_squared=summed(weight_squared),
        **arrays,
    ).merged()
