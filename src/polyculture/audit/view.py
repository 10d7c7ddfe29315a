"""Slices of the individuals, prepared once for all questions: everyone, one group, everyone else.

Where the patterns of a Tally are a sample, a slice carries the exact tables beside its sampled rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.partition import CellIndex
from polyculture.audit.raking import raked
from polyculture.audit.rows import Merged, Rows, merge, rows_of
from polyculture.audit.sums import binned, column_sums, ratio, weighted_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.stats._rows import Rows as Table
    from polyculture.tally import Tally


@dataclass(frozen=True)
class Histogram:
    """Individuals by number of models that judged them and that failed them; all arrays (M,)."""

    judged: NDArray[np.int64]
    failed: NDArray[np.int64]
    count: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class Exact:
    """What is known exactly where patterns are a sample: the histogram, and each model's sums, (k,)."""

    histogram: Histogram
    judged: NDArray[np.int64]
    failed: NDArray[np.int64]
    judged_weight: NDArray[np.float64]
    failed_weight: NDArray[np.float64]


@dataclass(frozen=True)
class Slice:
    """Some individuals: their patterns, and exact tables where the patterns are a sample of them."""

    rows: Rows
    exact: Exact | None = None

    @cached_property
    def judged(self) -> NDArray[np.int64]:
        """Individuals judged by each model, (k,)."""
        return self.exact.judged if self.exact else column_sums(self.rows.judged, self.rows.count)

    @cached_property
    def failed(self) -> NDArray[np.int64]:
        """Individuals failed by each model, (k,)."""
        return self.exact.failed if self.exact else column_sums(self.rows.failed, self.rows.count)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Failure rate of each model, by weight, (k,); NaN where it judged nobody."""
        if self.exact:
            judged, failed = self.exact.judged_weight, self.exact.failed_weight
        elif self.rows.weighted:
            judged = weighted_sums(self.rows.judged, self.rows.weight)
            failed = weighted_sums(self.rows.failed, self.rows.weight)
        else:
            judged, failed = self.judged.astype(np.float64), self.failed.astype(np.float64)
        return ratio(failed, judged)

    @cached_property
    def histogram(self) -> Histogram:
        """Individuals by number judged and number failed, exact always."""
        if self.exact:
            return self.exact.histogram
        rows, width = self.rows, self.rows.models + 1
        key = rows.judged_by * width + rows.failed_by
        count = binned(key, rows.count, width * width)
        cells = np.flatnonzero(count)
        weight = binned(key, rows.weight, width * width)[cells]
        return Histogram(
            judged=cells // width, failed=cells % width, count=count[cells].astype(np.int64), weight=weight
        )

    @cached_property
    def table(self) -> Table:
        """The patterns as ``stats`` takes them, checked once; a sample is weighted to what is known of all."""
        from polyculture.stats._rows import make_rows

        rows = self.rows if self.exact is None else raked(self.rows, self.exact.histogram)
        weighted = rows.weighted
        return make_rows(
            rows.judged,
            rows.failed,
            rows.count,
            rows.weight if weighted else None,
            rows.weight_squared if weighted else None,
            rows.cluster,
        )

    @property
    def individuals(self) -> int:
        """Number of individuals, exact always."""
        return int(self.exact.histogram.count.sum()) if self.exact else self.rows.individuals

    def totals(self, event: str) -> tuple[int, float]:
        """Return how many individuals show an event, and their share by weight (NaN of nobody)."""
        table = self.histogram
        all_fail = (table.failed == table.judged) & (table.judged > 0)
        none_fail = (table.failed == 0) & (table.judged > 0)
        shown = {"all_fail": all_fail, "none_fail": none_fail, "same": all_fail | none_fail}[event]
        total = float(table.weight.sum())
        share = float(table.weight[shown].sum()) / total if total else float("nan")
        return int(table.count[shown].sum()), share


class View:
    """The individuals of a Tally as slices.

    Parameters
    ----------
    tally : Tally
        Already restricted to the individuals that are meant.
    """

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.rows = rows_of(tally)
        self._index = CellIndex(tally.patterns.cell, len(tally.cells))

    @cached_property
    def merged(self) -> Merged:
        """The patterns whatever the cell, by cluster."""
        return merge(self.rows)

    @cached_property
    def patterns(self) -> Rows:
        """The patterns whatever cell and cluster."""
        if self.rows.cluster is None:
            return self.merged.rows
        return merge(replace(self.merged.rows, cluster=None)).rows

    @cached_property
    def whole(self) -> Slice:
        """Everyone."""
        every = range(len(self.tally.cells))
        return Slice(self.merged.rows, self._exact(every))

    def group(self, cells: Sequence[int]) -> Slice:
        """Return the individuals of these cells."""
        return Slice(merge(self.rows.take(self._index.rows(cells))).rows, self._exact(cells))

    def individuals(self, cells: Sequence[int]) -> int:
        """Count the individuals of these cells whom any model judged, exact always."""
        table = self.tally.profile_table()
        chosen = np.isin(table.cell, np.asarray(cells, dtype=np.int64)) & (table.judged > 0)
        return int(table.count[chosen].sum())

    def positions(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Return the positions of these cells' patterns among all patterns."""
        return self._index.rows(cells)

    def rest(self, known: Sequence[int], cells: Sequence[int]) -> Slice:
        """Return the individuals of the ``known`` cells that are not of ``cells``."""
        others = sorted(set(known) - set(cells))
        return Slice(self.merged.only(self.rows, self._index.rows(others)), self._exact(others))

    def _exact(self, cells: Sequence[int]) -> Exact | None:
        if self.tally.exact:
            return None
        profile, models = self.tally.profile_table(), self.tally.model_table()
        chosen = np.isin(profile.cell, np.asarray(cells, dtype=np.int64))
        key = profile.judged[chosen] * (len(self.tally.models) + 1) + profile.failed[chosen]
        found, at = np.unique(key, return_inverse=True)
        size = len(found)
        histogram = Histogram(
            judged=found // (len(self.tally.models) + 1),
            failed=found % (len(self.tally.models) + 1),
            count=binned(at, profile.count[chosen], size).astype(np.int64),
            weight=binned(at, profile.weight[chosen], size),
        )
        own = list(cells)
        return Exact(
            histogram=histogram,
            judged=models.judged[own].sum(axis=0),
            failed=models.failed[own].sum(axis=0),
            judged_weight=models.judged_weight[own].sum(axis=0),
            failed_weight=models.failed_weight[own].sum(axis=0),
        )


def headline_view(tally: Tally) -> View:
    """Return the individuals of the headline: judged by at least ``min_judged`` models.

    With a single model they are those whom it judged: there is nothing to homogenize, but a rate to report.
    """
    return View(tally.restricted_to_min_judged())
