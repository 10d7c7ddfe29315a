"""The arrays that every question of an audit starts from: failure patterns with counts and weights.

A Tally is turned into `Rows` once; subsets and merges are taken from there. Nothing is estimated here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.sums import binned, row_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.tally import Tally

_WORD = 62  # bits that fit a signed 64-bit key


@dataclass(frozen=True)
class Rows:
    """Failure patterns of some individuals.

    Attributes
    ----------
    judged, failed : (P, k) bool
        Which models judged, and which of them failed.
    count : (P,) int64
        Individuals with the pattern.
    weight, weight_squared : (P,) float64
        Sum of their weights (the count where there are none) and of the squared weights.
    cluster : (P,) int64 or None
        Cluster of the individuals; None where individuals are their own.
    weighted : bool
        Whether weights differ from counts.
    """

    judged: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    count: NDArray[np.int64]
    weight: NDArray[np.float64]
    weight_squared: NDArray[np.float64]
    cluster: NDArray[np.int64] | None
    weighted: bool

    @property
    def models(self) -> int:
        """Number of models k."""
        return int(self.judged.shape[1])

    @property
    def individuals(self) -> int:
        """Number of individuals."""
        return int(self.count.sum())

    @property
    def judged_by(self) -> NDArray[np.int64]:
        """Number of models that judged, (P,)."""
        return row_counts(self.judged)

    @property
    def failed_by(self) -> NDArray[np.int64]:
        """Number of models that failed, t, (P,)."""
        return row_counts(self.failed)

    @property
    def complete(self) -> bool:
        """Whether every model judged every individual."""
        return bool(self.judged.all())

    @property
    def plain(self) -> bool:
        """Whether individuals count alike and stand for themselves: neither weights nor clusters."""
        return not self.weighted and self.cluster is None

    def take(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> Rows:
        """Return the rows at ``index``."""
        return Rows(
            judged=self.judged[index],
            failed=self.failed[index],
            count=self.count[index],
            weight=self.weight[index],
            weight_squared=self.weight_squared[index],
            cluster=None if self.cluster is None else self.cluster[index],
            weighted=self.weighted,
        )

    def event(self, name: str) -> NDArray[np.bool_]:
        """Return which rows show an event: "all_fail", "none_fail", or "same" (either of the two)."""
        judged, failed = self.judged_by, self.failed_by
        all_fail, none_fail = (failed == judged) & (judged > 0), (failed == 0) & (judged > 0)
        shown = {"all_fail": all_fail, "none_fail": none_fail, "same": all_fail | none_fail}[name]
        return np.asarray(shown, dtype=np.bool_)


def rows_of(tally: Tally) -> Rows:
    """Return the failure patterns of a Tally as Rows."""
    patterns = tally.patterns
    return Rows(
        judged=patterns.judged,
        failed=patterns.failed,
        count=patterns.count,
        weight=patterns.weight,
        weight_squared=patterns.weight_squared,
        cluster=patterns.cluster if tally.clustered else None,
        weighted=tally.weighted,
    )


def mask_keys(*masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give like rows of masks like numbers.

    Parameters
    ----------
    *masks : (P, k) bool
        Masks of one height; rows are alike where all masks are.

    Returns
    -------
    (P,) int64
        Non-negative and equal where all masks are; sorted, they sort by the last mask first.
    """
    keys = _Keys(len(masks[0]))
    keys.add_masks(*masks)
    return keys.key


class _Keys:
    """Numbers that grow by further parts, each more significant than those before."""

    def __init__(self, rows: int) -> None:
        self.key: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)
        self._bits = 0

    def add(self, part: NDArray[np.uint8] | NDArray[np.int64], bits: int) -> None:
        if self._bits + bits > _WORD:
            # Number the rows by the bits so far, so that the next ones fit beside them.
            self.key = np.unique(self.key, return_inverse=True)[1].astype(np.int64)
            self._bits = int(self.key.max(initial=0)).bit_length()
        self.key = self.key | (part.astype(np.int64) << self._bits)
        self._bits += bits

    def add_masks(self, *masks: NDArray[np.bool_]) -> None:
        for mask in masks:
            varying = mask.any(axis=0) & ~mask.all(axis=0)
            packed = np.packbits(mask if varying.all() else mask[:, varying], axis=1, bitorder="little")
            for byte in packed.T:
                self.add(byte, 8)


@dataclass(frozen=True)
class Merged:
    """Rows with like patterns added up, and where each row went.

    Attributes
    ----------
    rows : Rows
        One row a distinct pattern (and cluster).
    position : (P,) int64
        For each row before the merge, its row after it.
    first : (R,) int64
        For each row after the merge, one of its rows before it.
    """

    rows: Rows
    position: NDArray[np.int64]
    first: NDArray[np.int64]

    def only(self, rows: Rows, index: NDArray[np.int64]) -> Rows:
        """Return the merged rows of the rows at ``index`` of those before the merge."""
        size = len(self.rows.count)
        at = self.position[index]
        count = binned(at, rows.count[index], size).astype(np.int64)
        if rows.weighted:
            weight = binned(at, rows.weight[index], size)
            squared = binned(at, rows.weight_squared[index], size)
        else:
            weight = squared = count.astype(np.float64)
        kept = np.flatnonzero(count > 0)
        return Rows(
            judged=self.rows.judged[kept],
            failed=self.rows.failed[kept],
            count=count[kept],
            weight=weight[kept],
            weight_squared=squared[kept],
            cluster=None if self.rows.cluster is None else self.rows.cluster[kept],
            weighted=rows.weighted,
        )


def merge(rows: Rows, kind: NDArray[np.int64] | None = None) -> Merged:
    """Add up rows with the same judged mask, failed mask and cluster.

    The rows come out by judged set, then by who failed them, whatever the order before: sums over them are
    the same to the last digit however finely the rows were divided.

    Parameters
    ----------
    rows : Rows
        Rows that may differ in things that no longer matter (the cell, say).
    kind : (P,) int64, optional
        Rows of different kinds are kept apart; kinds are numbered from 0.

    Returns
    -------
    Merged
        The sums, and the way there.
    """
    keys = _Keys(len(rows.count))
    for part in (kind, None if rows.cluster is None else rows.cluster + 1):
        if part is not None:
            keys.add(part, int(part.max(initial=0)).bit_length())
    keys.add_masks(rows.failed, rows.judged)
    key = keys.key
    order = np.argsort(key)
    starts = np.ones(len(key), dtype=np.bool_)
    starts[1:] = key[order[1:]] != key[order[:-1]]
    position = np.empty(len(key), dtype=np.int64)
    position[order] = np.cumsum(starts) - 1
    first = order[starts]
    size = len(first)
    summed = Rows(
        judged=rows.judged[first],
        failed=rows.failed[first],
        count=binned(position, rows.count, size).astype(np.int64),
        weight=binned(position, rows.weight, size),
        weight_squared=binned(position, rows.weight_squared, size),
        cluster=None if rows.cluster is None else rows.cluster[first],
        weighted=rows.weighted,
    )
    return Merged(rows=summed, position=position, first=first)
