"""Shares and paired rates of the individuals of a ChangeTable: plain, weighted or clustered.

A caller says which weight of each row shows an event; what the event is, is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.change_records import PairedRate
from polyculture.audit.proportion import design_of, design_shares, statistic
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.stats.intervals import Interval
    from polyculture.tally.changes import Changes, ChangeTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NOBODY = "no individual was judged at both snapshots"


@dataclass(frozen=True)
class Sample:
    """Who the rows of a table are: their weights and clusters, and whether they are all there are."""

    weight: Floats
    weight_squared: Floats
    count: Ints
    cluster: Ints | None
    weighted: bool
    census: bool

    @property
    def plain(self) -> bool:
        """Whether individuals count alike and stand for themselves."""
        return not self.weighted and self.cluster is None

    @property
    def mean_weight(self) -> Floats:
        """Squared weight over weight of each row, (R,): what turns a part of its weight into squared weight."""
        return np.divide(self.weight_squared, self.weight, out=np.ones_like(self.weight), where=self.weight > 0)

    @property
    def spread(self) -> Floats:
        """Mean squared weight of an individual of each row, (R,)."""
        return np.divide(self.weight_squared, self.count, out=np.ones_like(self.weight_squared), where=self.count > 0)

    def by_cluster(self, values: Floats) -> Floats | None:
        """Add up rows by cluster: (R, m) gives (C, m); None without clusters."""
        if self.cluster is None:
            return None
        names, at = np.unique(self.cluster, return_inverse=True)
        sums = np.zeros((len(names), values.shape[1]))
        np.add.at(sums, at, values)
        return sums

    def shares(self, events: Floats, base: Floats, numbers: Ints | Floats) -> list[Statistic]:
        """Return m shares with their intervals.

        Parameters
        ----------
        events, base : (R, m) float64
            Weight of each row that shows the event, and that could.
        numbers : (R, m)
            Individuals that could.
        """
        total = np.rint(numbers.sum(axis=0)).astype(np.int64)
        design = design_of(
            shown=events.sum(axis=0),
            total=base.sum(axis=0),
            squared=self.mean_weight @ base,
            squared_events=self.mean_weight @ events,
            count=total.astype(np.float64),
            cluster_events=self.by_cluster(events),
            cluster_base=self.by_cluster(base),
        )
        return design_shares(design, total, census=self.census)

    def design_effect(self, events: Floats, base: Floats, numbers: Ints | Floats) -> float:
        """Return how many times more a share varies than that of as many like individuals; all (R,)."""
        if self.plain:
            return 1.0
        total, n = float(base.sum()), float(numbers.sum())
        if total <= 0 or n <= 0:
            return 1.0
        design = design_of(
            shown=np.array([events.sum()]),
            total=np.array([total]),
            squared=np.array([float(self.mean_weight @ base)]),
            squared_events=np.array([float(self.mean_weight @ events)]),
            count=np.array([n]),
            cluster_events=self.by_cluster(events[:, None]),
            cluster_base=self.by_cluster(base[:, None]),
        )
        if design.effect is not None:
            return float(design.effect[0])
        return max(n / float(design.size[0]), 1e-9) if design.size[0] > 0 else 1.0


def sample_of(changes: Changes, table: ChangeTable, *, census: bool) -> Sample:
    """Return the sample that the rows of a table are."""
    return Sample(
        weight=table.weight,
        weight_squared=table.weight_squared,
        count=table.count,
        cluster=table.cluster if changes.cluster_names is not None else None,
        weighted=changes.weighted,
        census=census,
    )


def paired_rate(
    sample: Sample,
    *,
    base: Floats,
    before: Floats,
    after: Floats,
    both: Floats,
    own: Ints,
    numbers: tuple[int, int, int],
) -> PairedRate:
    """Return a rate at both snapshots, its change, and the test of the change.

    Parameters
    ----------
    sample : Sample
        Who the rows are.
    base, before, after, both : (R,) float64
        Weight of the individuals, and of those with the event before, after, and both times.
    own : (R,) int64
        The individuals themselves.
    numbers : (int, int, int)
        How many have the event both times, before only, and after only.
    """
    from polyculture.stats.paired_rates import mcnemar, newcombe_paired, wald_test

    kept, only_before, only_after = numbers
    n = int(own.sum())
    if n == 0:
        nothing = undefined(NOBODY)
        return PairedRate(before=nothing, after=nothing, difference=nothing, p_value=None, p_method=NOBODY)
    levels = sample.shares(np.stack([before, after], axis=1), np.stack([base, base], axis=1), np.stack([own, own], 1))
    total = float(base.sum())
    difference = float((after - before).sum()) / total
    if sample.census:
        change = statistic(difference, reason=CENSUS)
        return PairedRate(before=levels[0], after=levels[1], difference=change, p_value=None, p_method=CENSUS)
    if sample.plain:
        interval = newcombe_paired(kept, only_before, only_after, n)
        p_value, method = mcnemar(only_before, only_after)
    else:
        variance, clusters = _variance(sample, base, before, after, both=both, own=own)
        interval = _designed(total, (before, after, both), float(own.sum()), variance=variance, clusters=clusters)
        p_value, method = wald_test(difference, variance, clusters)
    return PairedRate(
        before=levels[0],
        after=levels[1],
        difference=statistic(difference, interval),
        p_value=p_value,
        p_method=method,
    )


def _variance(
    sample: Sample, base: Floats, before: Floats, after: Floats, *, both: Floats, own: Ints
) -> tuple[float, int | None]:
    """Return the variance of the change, linearised, and the number of clusters."""
    total = float(base.sum())
    change = after - before
    mean = float(change.sum()) / total
    if sample.cluster is not None:
        sums = sample.by_cluster((change - mean * base)[:, None])
        clusters = 0 if sums is None else len(sums)
        value = 0.0 if sums is None else float((sums * sums).sum()) / total**2 * clusters / max(clusters - 1, 1)
        return value, clusters
    moved = float((before + after - 2.0 * both).sum()) / total
    size = total * total / max(float(sample.spread @ own), 1e-300)
    return max(moved - mean * mean, 0.0) / max(size, 1.0), None


def _designed(
    total: float, events: tuple[Floats, Floats, Floats], n: float, *, variance: float, clusters: int | None
) -> Interval:
    """Return Newcombe's paired interval at the size of a plain sample with the same variance of the change."""
    from polyculture.stats._interval import FEWEST_CLUSTERS, few_clusters, no_interval
    from polyculture.stats.intervals import effective_size
    from polyculture.stats.paired_rates import newcombe_paired

    if clusters is not None and clusters < FEWEST_CLUSTERS:
        return no_interval(few_clusters(clusters))
    shares = [float(x.sum()) / total for x in events]
    moved = shares[0] + shares[1] - 2.0 * shares[2]
    plain = (moved - (shares[1] - shares[0]) ** 2) / n
    if not (plain > 0 and variance > 0):
        size = float(clusters) if clusters is not None else n
    elif clusters is None:
        size = n * plain / variance
    else:
        size = effective_size(n, variance / plain, clusters)
    found = newcombe_paired(
        shares[2] * size, max(shares[0] - shares[2], 0.0) * size, max(shares[1] - shares[2], 0.0) * size, size
    )
    words = "effective size of weights" if clusters is None else f"effective size over {clusters} clusters"
    return found._replace(method=f"{found.method}, {words}")
