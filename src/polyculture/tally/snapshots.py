"""Several snapshots of the same individuals: how often each model failed at each, and at each two of them.

From these sums follow levels, differences and slopes with the variance that repeated individuals leave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import TallyError, UsageError
from polyculture.outcomes import Outcomes
from polyculture.outcomes.counting import fetch
from polyculture.tally.sides import Side, bit, side_of, sides_joined
from polyculture.tally.tables import FloatArray, IntArray

__all__ = ["MOST_SNAPSHOTS", "SnapshotMoments", "moments_of_snapshots"]

MOST_SNAPSHOTS = 60
_SUMS_A_QUERY = 600


@dataclass(frozen=True, eq=False)
class SnapshotMoments:
    """Sums over the individuals that all S snapshots have, by cluster (one where there is none).

    A series is a model, or (last) systemic failure: that all models which judged the individual at every snapshot
    fail them.

    Attributes
    ----------
    models : tuple of str
        Names of the k models at the last snapshot.
    count : (k + 1,) int64
        Individuals of each series.
    weight_squared : (k + 1,) float64
        Sum of their squared weights.
    base : (C, k + 1) float64
        Sum of their weights, by cluster.
    both : (C, k + 1, S, S) float64
        Weight of those with the event at both of two snapshots; on the diagonal at one.
    cluster_names : tuple of str or None
        Names of the C clusters; None where there are none.
    """

    models: tuple[str, ...]
    count: IntArray
    weight_squared: FloatArray
    base: FloatArray
    both: FloatArray
    cluster_names: tuple[str, ...] | None = None

    @property
    def clustered(self) -> bool:
        """Whether individuals come in clusters."""
        return self.cluster_names is not None

    def __add__(self, other: object) -> SnapshotMoments:
        if not isinstance(other, SnapshotMoments):
            return NotImplemented
        if self.models != other.models or self.clustered != other.clustered or self.size != other.size:
            raise TallyError(
                "These sums are of other models, snapshots or clusters and cannot be added.",
                hint="Make both with the same mapping, over the same models.",
            )
        names = None
        if self.cluster_names is not None and other.cluster_names is not None:
            names = tuple(sorted({*self.cluster_names, *other.cluster_names}))
        mine, theirs = self._over(names), other._over(names)
        return SnapshotMoments(
            models=self.models,
            count=self.count + other.count,
            weight_squared=self.weight_squared + other.weight_squared,
            base=mine[0] + theirs[0],
            both=mine[1] + theirs[1],
            cluster_names=names,
        )

    @property
    def size(self) -> int:
        """The number of snapshots."""
        return int(self.both.shape[-1])

    def _over(self, names: tuple[str, ...] | None) -> tuple[FloatArray, FloatArray]:
        """Return the sums by cluster over more clusters, zero where there is nobody."""
        if names is None or self.cluster_names is None:
            return self.base, self.both
        place = {name: i for i, name in enumerate(names)}
        at = [place[name] for name in self.cluster_names]
        base, both = np.zeros((len(names), *self.base.shape[1:])), np.zeros((len(names), *self.both.shape[1:]))
        base[at], both[at] = self.base, self.both
        return base, both

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SnapshotMoments):
            return NotImplemented
        if (self.models, self.cluster_names) != (other.models, other.cluster_names):
            return False
        arrays = ("count", "weight_squared", "base", "both")
        pairs = [(getattr(self, name), getattr(other, name)) for name in arrays]
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-9) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


def moments_of_snapshots(snapshots: Sequence[Outcomes]) -> SnapshotMoments:
    """Join several snapshots by the id and add up.

    Parameters
    ----------
    snapshots : sequence of Outcomes
        In order; the j-th models of all are versions of one. Clusters and weights are those of the first.

    Raises
    ------
    UsageError
        If there are too many snapshots.
    """
    if len(snapshots) > MOST_SNAPSHOTS:
        raise UsageError(
            f"{len(snapshots)} snapshots are more than the {MOST_SNAPSHOTS} that are compared.",
            hint="Choose fewer, or bin the dates.",
        )
    sides = [side_of(one, f"s{i}") for i, one in enumerate(snapshots)]
    people = sides[0].people
    first = {"__w": people.weight} if people.weight is not None else {}
    if people.cluster is not None:
        first["__cluster"] = people.cluster
    joined = sides_joined(snapshots, sides, [first, *({} for _ in snapshots[1:])])
    models, size = len(snapshots[0].models), len(snapshots)
    frame = _with_series(joined, sides, models, min(snapshots[0].mapping.min_judged, models))
    found, names = _summed(frame, models + 1, size, weighted=people.weight is not None, clustered="__cluster" in first)
    return SnapshotMoments(
        models=snapshots[-1].models,
        count=np.rint(found["n"].sum(axis=0)).astype(np.int64),
        weight_squared=found["w2"].sum(axis=0),
        base=found["w"],
        both=found["both"],
        cluster_names=names,
    )


def _with_series(joined: nw.LazyFrame[Any], sides: Sequence[Side], models: int, least: int) -> nw.LazyFrame[Any]:
    """Add a 0/1 column for who belongs to each series, and one for the event at each snapshot."""
    places = range(len(sides))
    judged = {f"j{j}": _product([bit(side, "judged", j) for side in sides]) for j in range(models)}
    frame = joined.with_columns(**judged)
    fails = {f"f{j}_{s}": bit(sides[s], "failed", j) * nw.col(f"j{j}") for j in range(models) for s in places}
    frame = frame.with_columns(**fails, __m=_sum([nw.col(name) for name in judged]))
    counted = (nw.col("__m") >= least).cast(nw.Int64)
    every = {
        f"f{models}_{s}": (_sum([nw.col(f"f{j}_{s}") for j in range(models)]) == nw.col("__m")).cast(nw.Int64)
        * nw.col(f"j{models}")
        for s in places
    }
    return frame.with_columns(**{f"j{models}": counted}).with_columns(**every)


def _summed(
    frame: nw.LazyFrame[Any], series: int, size: int, *, weighted: bool, clustered: bool
) -> tuple[dict[str, npt.NDArray[np.float64]], tuple[str, ...] | None]:
    """Return the sums by cluster, and the names of the clusters."""
    one = nw.col("__w") if weighted else nw.lit(1, nw.Int64)
    sums: dict[str, nw.Expr] = {}
    for j in range(series):
        own = nw.col(f"j{j}")
        sums |= {f"n_{j}": own.sum(), f"w_{j}": (own * one).sum(), f"w2_{j}": (own * one * one).sum()}
        for s in range(size):
            for t in range(s, size):
                event = nw.col(f"f{j}_{s}") * nw.col(f"f{j}_{t}") if s != t else nw.col(f"f{j}_{s}")
                sums[f"b_{j}_{s}_{t}"] = (event * one).sum()
    names = list(sums)
    columns: dict[str, npt.NDArray[np.float64]] = {}
    clusters: tuple[str, ...] | None = None
    for start in range(0, len(names), _SUMS_A_QUERY):
        part = {name: sums[name] for name in names[start : start + _SUMS_A_QUERY]}
        if clustered:
            grouped = frame.group_by("__cluster").agg(*[expr.alias(name) for name, expr in part.items()])
            table = fetch(grouped)
            named = [str(value) for value in table["__cluster"].to_list()]
            order = sorted(range(len(named)), key=named.__getitem__)
            clusters, table = tuple(named[place] for place in order), table[order]
        else:
            table = fetch(frame.select(**part))
        columns |= {name: np.asarray(table[name].fill_null(0).to_numpy(), dtype=np.float64) for name in part}
    rows = len(columns[names[0]])
    found = {kind: np.stack([columns[f"{kind}_{j}"] for j in range(series)], axis=1) for kind in ("n", "w", "w2")}
    both = np.zeros((rows, series, size, size))
    for j in range(series):
        for s in range(size):
            for t in range(s, size):
                both[:, j, s, t] = both[:, j, t, s] = columns[f"b_{j}_{s}_{t}"]
    return found | {"both": both}, clusters


def _product(columns: Sequence[nw.Expr]) -> nw.Expr:
    product = columns[0]
    for column in columns[1:]:
        product = product * column
    return product


def _sum(columns: Sequence[nw.Expr]) -> nw.Expr:
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total
