"""The tables of a Tally as arrays: patterns, and the profile and models tables that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "FloatArray", "IntArray", "ModelTable", "Patterns", "ProfileTable", "RawPatterns"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Patterns:
    """Distinct patterns and how many individuals have each, under one reading of "no answer".

    Attributes
    ----------
    judged, failed, no_answer : (P, k) bool
        ``failed`` implies ``judged``.
    cell, cluster : (P,) int64
        Index of the combination of group values; index of the cluster, -1 where there is none.
    label_class : (P,) int8
        1 positive label, 0 negative, -1 not known.
    count : (P,) int64
        Individuals.
    weight, weight_squared : (P,) float64
        Sum of weights, and of squared weights; both are the count where nothing is weighted.
    """

    judged: BoolArray
    failed: BoolArray
    no_answer: BoolArray
    cell: IntArray
    cluster: IntArray
    label_class: npt.NDArray[np.int8]
    count: IntArray
    weight: FloatArray
    weight_squared: FloatArray

    def take(self, rows: npt.NDArray[np.bool_] | IntArray) -> Patterns:
        """Return the patterns of some rows."""
        return Patterns(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})

    def judged_by(self) -> IntArray:
        """Return the number of models that judged, (P,)."""
        return np.asarray(self.judged.sum(axis=1, dtype=np.int64))

    def failed_by(self) -> IntArray:
        """Return the number of models that failed, t, (P,)."""
        return np.asarray(self.failed.sum(axis=1, dtype=np.int64))


@dataclass(frozen=True)
class RawPatterns:
    """Patterns as they are stored: failures and cells without an answer apart, masks packed in bytes.

    ``judged``, ``failed`` and ``no_answer`` are (P, ceil(k / 8)) uint8, little-endian bits; ``judged``
    counts cells without an answer as judged. ``priority`` is the hash of the individual in a sample (a row
    an individual, the lowest are kept), and 0 where the patterns are of everyone.
    """

    judged: npt.NDArray[np.uint8]
    failed: npt.NDArray[np.uint8]
    no_answer: npt.NDArray[np.uint8]
    cell: IntArray
    cluster: IntArray
    label_class: npt.NDArray[np.int8]
    count: IntArray
    weight: FloatArray
    weight_squared: FloatArray
    priority: IntArray

    @property
    def rows(self) -> int:
        """The number of distinct patterns."""
        return len(self.count)

    def take(self, rows: npt.NDArray[np.bool_] | IntArray) -> RawPatterns:
        """Return the patterns of some rows."""
        return RawPatterns(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})

    def read(self, models: int, no_answer_policy: str) -> Patterns:
        """Return the patterns under a reading of "no answer", (P, k) and unpacked."""
        judged, failed, silent = (unpack(mask, models) for mask in (self.judged, self.failed, self.no_answer))
        if no_answer_policy == "failed":
            failed = failed | silent
        else:
            judged = judged & ~silent
        own = ("judged", "failed", "no_answer", "priority")
        rest = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in own}
        return Patterns(judged=judged, failed=failed, no_answer=silent, **rest)

    def merged(self) -> RawPatterns:
        """Return the patterns sorted, with equal ones added up: the same bytes whatever the order was."""
        keys: list[npt.NDArray[np.generic]] = [self.cluster, self.label_class, self.cell, self.priority]
        for mask in (self.no_answer, self.judged, self.failed):
            keys += [mask[:, column] for column in range(mask.shape[1])]
        order = np.lexsort(keys)
        new = np.zeros(len(order), dtype=bool)
        for key in keys:
            ordered = key[order]
            new[1:] |= ordered[1:] != ordered[:-1]
        new[:1] = True
        starts = np.flatnonzero(new)
        kept = self.take(order[starts])
        if len(starts) == 0:
            return kept
        # Sums of equal patterns; in a sample no two rows are equal, since priorities differ.
        return replace(
            kept,
            count=np.add.reduceat(self.count[order], starts),
            weight=np.add.reduceat(self.weight[order], starts),
            weight_squared=np.add.reduceat(self.weight_squared[order], starts),
        )

    def lowest(self, size: int) -> RawPatterns:
        """Return the ``size`` rows of lowest priority: a sample of the whole when both parts were samples."""
        return self if self.rows <= size else self.take(np.argsort(self.priority, kind="stable")[:size])


def pack(bits: BoolArray) -> npt.NDArray[np.uint8]:
    """Pack (P, k) truth values into (P, ceil(k / 8)) bytes."""
    return np.packbits(bits, axis=1, bitorder="little")


def unpack(packed: npt.NDArray[np.uint8], models: int) -> BoolArray:
    """Return the first ``models`` bits of each row as truth values."""
    return np.unpackbits(packed, axis=1, count=models, bitorder="little").view(np.bool_)


@dataclass(frozen=True)
class ProfileTable:
    """Individuals by cell, number of models that judged them, and number that failed them (arrays (R,))."""

    cell: IntArray
    judged: IntArray
    failed: IntArray
    count: IntArray
    weight: FloatArray


@dataclass(frozen=True)
class ModelTable:
    """For each cell and model: individuals judged, failed and without an answer, (C, k)."""

    judged: IntArray
    failed: IntArray
    no_answer: IntArray
    judged_weight: FloatArray
    failed_weight: FloatArray


def profile_of(patterns: Patterns) -> ProfileTable:
    """Count individuals by cell, number judged and number failed."""
    keys = np.stack([patterns.cell, patterns.judged_by(), patterns.failed_by()])
    # One integer a row, so that the grouping is a sort of integers and not of rows.
    high = keys.max(axis=1, initial=0) + 1
    folded = (keys[0] * high[1] + keys[1]) * high[2] + keys[2]
    distinct, inverse = np.unique(folded, return_inverse=True)
    count = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(count, inverse, patterns.count)
    weight = np.bincount(inverse, weights=patterns.weight, minlength=len(distinct)).astype(np.float64)
    cell, rest = np.divmod(distinct, high[1] * high[2])
    judged, failed = np.divmod(rest, high[2])
    return ProfileTable(cell, judged, failed, count, weight)


def models_of(patterns: Patterns, cells: int) -> ModelTable:
    """Count judged, failed and unanswered individuals by cell and model."""
    models = patterns.judged.shape[1]
    counts = {name: np.zeros((cells, models), dtype=np.int64) for name in ("judged", "failed", "no_answer")}
    weights = {name: np.zeros((cells, models)) for name in ("judged", "failed")}
    order = np.argsort(patterns.cell, kind="stable")
    bounds = np.searchsorted(patterns.cell[order], np.arange(cells + 1))
    for cell in range(cells):
        rows = order[bounds[cell] : bounds[cell + 1]]
        if len(rows) == 0:
            continue
        for name, table in counts.items():
            table[cell] = _column_sums(getattr(patterns, name), rows, patterns.count)
        for name, weighted in weights.items():
            weighted[cell] = patterns.weight[rows] @ getattr(patterns, name)[rows]
    return ModelTable(counts["judged"], counts["failed"], counts["no_answer"], weights["judged"], weights["failed"])


def _column_sums(mask: BoolArray, rows: IntArray, count: IntArray) -> IntArray:
    # Integer dot products do not use BLAS; a float one is exact below 2^53 individuals and far faster.
    return np.rint(count[rows].astype(np.float64) @ mask[rows]).astype(np.int64)
