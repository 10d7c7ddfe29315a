"""The individuals among whom a choice of models is measured: patterns, groups, labels, and shares with intervals.

Sampled patterns are used as they are and said to be a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.partition import Group, partition
from polyculture.audit.proportion import Design, design_intervals, design_of, statistic
from polyculture.audit.records import Statistic, undefined
from polyculture.audit.rows import Rows, merge, rows_of
from polyculture.audit.settings import CENSUS
from polyculture.audit.sums import column_sums, ratio, weighted_sums
from polyculture.stats.intervals import FEWEST_CLUSTERS, Interval, few_clusters, mover_difference, no_interval
from polyculture.stats.portfolio.losses import Patterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.stats._rows import Rows as Table
    from polyculture.tally import Tally

    Floats = NDArray[np.float64]

NOBODY = "nobody was judged by enough of these models"


def added(weight: Floats | NDArray[np.int64], values: Floats) -> float:
    """Return the sum of products; a dot product of this length is split among threads, which costs more."""
    return float((weight * values).sum())


@dataclass(frozen=True, eq=False)
class Share:
    """A share with its interval, and what each row adds to its error, (P,), for differences."""

    value: float
    interval: Interval
    influence: Floats
    variance: float

    def complement(self) -> Share:
        """Return the share of the others."""
        low, high, method, reason = self.interval
        turned = Interval(None if high is None else 1.0 - high, None if low is None else 1.0 - low, method, reason)
        return Share(1.0 - self.value, turned, -self.influence, self.variance)


@dataclass(frozen=True, eq=False)
class People:
    """Rows of individuals of one pattern, group, label and cluster.

    Attributes
    ----------
    rows : Rows
        P rows, none without a judgement.
    group : (P,) int64
        Place in ``groups``, -1 for none of them.
    label : (P,) int8
        1 positive label, 0 negative, -1 not known.
    groups : tuple of Group
        Those large enough to be compared; empty where no worst group is asked for.
    """

    rows: Rows
    group: NDArray[np.int64]
    label: NDArray[np.int8]
    groups: tuple[Group, ...]
    models: tuple[str, ...]
    census: bool
    sampled: bool
    min_cell: int = 30
    too_few: int = 0

    @cached_property
    def patterns(self) -> Patterns:
        """The masks."""
        return Patterns(self.rows.judged, self.rows.failed)

    @cached_property
    def table(self) -> Table:
        """The rows as ``stats`` takes them, in the same order."""
        from polyculture.stats._rows import make_rows

        rows, weighted = self.rows, self.rows.weighted
        weight, squared = (rows.weight, rows.weight_squared) if weighted else (None, None)
        return make_rows(rows.judged, rows.failed, rows.count, weight, squared, rows.cluster)

    @cached_property
    def floor(self) -> float:
        """Least weight of those on whom a set is measured: of ``min_cell`` individuals, or a quarter where few are.

        Where every model judged everyone, all sets are measured on the same and nothing is asked.
        """
        if self.patterns.complete:
            return 0.0
        each = float(self.rows.weight.sum()) / self.rows.individuals
        return min(float(self.min_cell), self.rows.individuals / 4.0) * each

    @cached_property
    def rates(self) -> Floats:
        """Failure rate of each model, by weight, (k,); NaN where it judged nobody."""
        return self.rates_under(self.rows.weight)

    def rates_under(self, weight: Floats) -> Floats:
        """Return the models' failure rates under a weighting of the rows."""
        return ratio(weighted_sums(self.rows.failed, weight), weighted_sums(self.rows.judged, weight))

    @cached_property
    def judged(self) -> NDArray[np.int64]:
        """Individuals whom each model judged, (k,)."""
        return column_sums(self.rows.judged, self.rows.count)

    @cached_property
    def membership(self) -> Floats:
        """1 where a row is of a group, (P, G); one column of ones where everyone is meant."""
        if not self.groups:
            return np.ones((len(self.rows.count), 1))
        return np.asarray(self.group[:, None] == np.arange(len(self.groups))[None, :], dtype=np.float64)

    def covariance(self, one: Floats, other: Floats) -> float:
        """Return the covariance of two sums of ``weight * value`` over individuals; see ``stats``."""
        from polyculture.stats._rows import covariance

        if self.rows.cluster is None:
            return float((one * other * self.rows.weight_squared).sum())
        return float(covariance(self.table, one, other)[0, 1])

    def share(self, events: Floats, base: Floats, *, level: float = 0.95, fractions: bool = False) -> Share | None:
        """Return a share by weight with its interval; None where nobody is in its base.

        Parameters
        ----------
        events, base : (P,) float64
            What an individual of each row adds to numerator and denominator, both in 0 to 1.
        level : float
            Level of the interval.
        fractions : bool
            Whether ``events`` are certain fractions of an individual, which vary less than events do.
        """
        total = added(self.rows.weight, base)
        if total <= 0.0:
            return None
        value = min(1.0, max(0.0, added(self.rows.weight, events) / total))
        influence = (events - value * base) / total
        linear = self.covariance(influence, influence)
        squared = added(self.rows.weight_squared, base)
        plain = value * (1.0 - value) * squared / total**2
        variance = linear if fractions else max(linear, plain)
        return Share(
            value, self._interval(events, base, value, variance, level, fractions=fractions), influence, variance
        )

    def _interval(
        self, events: Floats, base: Floats, value: float, variance: float, level: float, *, fractions: bool
    ) -> Interval:
        rows, count = self.rows, added(self.rows.count, base)
        if self.census:
            return no_interval(CENSUS)
        clusters = self.clusters
        if clusters is not None and clusters < FEWEST_CLUSTERS:
            return no_interval(few_clusters(clusters))
        one = np.ones(1)
        design = design_of(
            shown=one * added(rows.weight, events),
            total=one * added(rows.weight, base),
            squared=one * added(rows.weight_squared, base),
            squared_events=one * added(rows.weight_squared, events),
            count=one * count,
            cluster_events=self._by_cluster(events),
            cluster_base=self._by_cluster(base),
        )
        if fractions and variance > 0.0 and design.effect is None:
            design = Design(design.share, one * (value * (1.0 - value) / variance))
        return design_intervals(design, np.array([max(1, round(count))]), level=level)[0]

    def _by_cluster(self, values: Floats) -> Floats | None:
        place = self._cluster_place
        return None if place is None else np.asarray(np.bincount(place, self.rows.weight * values)[:, None])

    @cached_property
    def _cluster_place(self) -> NDArray[np.int64] | None:
        if self.rows.cluster is None:
            return None
        return np.asarray(np.unique(self.rows.cluster, return_inverse=True)[1].ravel(), dtype=np.int64)

    @property
    def clusters(self) -> int | None:
        """The number of clusters, None where there are none."""
        return self.table.clusters

    def mean_failure(self, chosen: tuple[int, ...]) -> Statistic:
        """Return the mean of some models' failure rates, each over those whom the model judged."""
        from polyculture.stats._rows import column_sums as sums
        from polyculture.stats._rows import row_sums

        places, weight = list(chosen), self.rows.weight
        judged, rates = sums(weight, self.rows.judged[:, places]), self.rates[places]
        if not np.all(judged > 0):
            return undefined("one of these models judged nobody")
        per = 1.0 / (len(places) * judged)
        influence = row_sums(self.rows.failed[:, places], per) - row_sums(self.rows.judged[:, places], per * rates)
        value, variance = float(rates.mean()), self.covariance(influence, influence)
        if self.census:
            return Statistic(value=value, reason=CENSUS)
        if self.clusters is not None and self.clusters < FEWEST_CLUSTERS:
            return Statistic(value=value, reason=few_clusters(self.clusters))
        if variance <= 0.0:
            return Statistic(value=value, reason="the data show no variation to make an interval of")
        from polyculture.stats.intervals import jeffreys_limits, quantile

        wide = (quantile(0.95) / quantile(0.95, self.clusters)) ** 2 if self.clusters is not None else 1.0
        size = value * (1.0 - value) / variance * wide
        low, high = jeffreys_limits(value * size, size)
        return statistic(value, Interval(float(low), float(high), "Jeffreys, effective size", ""))

    def difference(self, one: Share | None, other: Share | None, *, paired: bool = True) -> Statistic:
        """Return the difference of two shares on the same individuals (square-and-add, with their correlation)."""
        if one is None or other is None:
            return undefined(NOBODY)
        value = one.value - other.value
        if self.census:
            return Statistic(value=value, reason=CENSUS)
        correlation = 0.0
        if paired and one.variance > 0.0 and other.variance > 0.0:
            cross = self.covariance(one.influence, other.influence)
            correlation = float(np.clip(cross / np.sqrt(one.variance * other.variance), -1.0, 1.0))
        found = mover_difference(one.value, one.interval, other.value, other.interval, correlation)
        return statistic(value, found._replace(method="Newcombe, paired") if paired and found.method else found)

    def stated(self, share: Share | None) -> Statistic:
        """Return a share as a Statistic."""
        if share is None:
            return undefined(NOBODY)
        return statistic(share.value, share.interval, note="sampled" if self.sampled and share.interval.method else "")


def people_of(tally: Tally, *, worst_group: bool, min_cell: int, census: bool) -> People:
    """Return the individuals of a Tally, by pattern, group (where the worst one is asked for), label and cluster."""
    rows, index = rows_of(tally), tally.patterns
    groups, of_cell, too_few = _groups(tally, min_cell) if worst_group else ((), np.full(len(tally.cells), -1), 0)
    group = of_cell[index.cell]
    kind = (group + 1) * 3 + index.label_class + 1
    used = np.flatnonzero((rows.count > 0) & rows.judged.any(axis=1))
    taken, kinds = rows.take(used), kind[used].astype(np.int64)
    merged = merge(taken, kinds)
    first = used[merged.first]
    return People(
        rows=merged.rows,
        group=group[first].astype(np.int64),
        label=index.label_class[first],
        groups=groups,
        models=tally.models,
        census=census,
        sampled=not tally.exact,
        min_cell=min_cell,
        too_few=too_few,
    )


def _groups(tally: Tally, min_cell: int) -> tuple[tuple[Group, ...], NDArray[np.int64], int]:
    """Return the known groups of all columns crossed that are large enough, each cell's group, and how many are not."""
    profile = tally.profile_table()
    found: list[Group] = []
    of_cell, too_few = np.full(len(tally.cells), -1, dtype=np.int64), 0
    for group in partition(tally, tally.groups).groups:
        own = np.isin(profile.cell, np.asarray(group.cells)) & (profile.judged > 0)
        if group.unknown:
            continue
        if int(profile.count[own].sum()) < min_cell:
            too_few += 1
            continue
        of_cell[list(group.cells)] = len(found)
        found.append(group)
    return tuple(found), of_cell, too_few
