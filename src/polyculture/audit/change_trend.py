"""A trend over many snapshots: levels with bands that hold together, and the mean change from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from polyculture.audit.change_records import TrendPoint, TrendRecord
from polyculture.audit.proportion import design_intervals, design_of, from_estimated, statistic
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.settings import Settings
    from polyculture.tally.snapshots import SnapshotMoments

SYSTEMIC = "systemic failure"


def trends(moments: SnapshotMoments, snapshots: Sequence[str], settings: Settings) -> tuple[TrendRecord, ...]:
    """Return the trend of systemic failure, then of each model.

    Parameters
    ----------
    moments : SnapshotMoments
        Sums over the individuals that all snapshots have.
    snapshots : sequence of str
        Their names, in order.
    settings : Settings
        Whether this is a census.

    Returns
    -------
    tuple of TrendRecord
        Each band is simultaneous over the snapshots of its series (Sidak).
    """
    from polyculture.stats.multiplicity import benjamini_hochberg

    names = [*moments.models, SYSTEMIC]
    order = [len(moments.models), *range(len(moments.models))]
    found = [_trend(moments, series, names[series], snapshots, settings) for series in order]
    adjusted = benjamini_hochberg([one.p_value for one in found])
    return tuple(
        replace(one, p_adjusted=None if np.isnan(p) else float(p)) for one, p in zip(found, adjusted, strict=True)
    )


def _trend(
    moments: SnapshotMoments, series: int, name: str, snapshots: Sequence[str], settings: Settings
) -> TrendRecord:
    from polyculture.stats.change import slope

    both, base = moments.both[:, series], moments.base[:, series]
    change, p_value, method = slope(both, base, float(moments.weight_squared[series]), clustered=moments.clustered)
    levels = _levels(moments, series, settings)
    if settings.census:
        told = undefined(change.reason) if change.value is None else statistic(change.value, reason=CENSUS)
        p_value, method = None, CENSUS
    else:
        told = from_estimated(change)
    failed = np.einsum("css->s", both)
    return TrendRecord(
        series=name,
        individuals=int(moments.count[series]),
        points=tuple(
            TrendPoint(snapshot=one, failed=float(number), rate=rate)
            for one, number, rate in zip(snapshots, failed, levels, strict=True)
        ),
        slope=told,
        p_value=p_value,
        p_adjusted=None,
        p_method=method,
    )


def _levels(moments: SnapshotMoments, series: int, settings: Settings) -> list[Statistic]:
    from polyculture.stats.multiplicity import sidak_level

    events = np.einsum("css->cs", moments.both[:, series])
    size = events.shape[1]
    base = np.repeat(moments.base[:, series][:, None], size, axis=1)
    count = np.full(size, int(moments.count[series]), dtype=np.int64)
    if not count[0]:
        return [undefined("no individual is in all snapshots")] * size
    squared = np.full(size, float(moments.weight_squared[series]))
    design = design_of(
        shown=events.sum(axis=0),
        total=base.sum(axis=0),
        squared=squared,
        # Squared weights of the events are not kept: their weights are taken to be like everyone's.
        squared_events=events.sum(axis=0)
        * float(moments.weight_squared[series])
        / max(float(base[:, 0].sum()), 1e-300),
        count=count.astype(np.float64),
        cluster_events=events if moments.clustered else None,
        cluster_base=base if moments.clustered else None,
    )
    if settings.census:
        return [statistic(float(share), reason=CENSUS) for share in design.share]
    intervals = design_intervals(design, count, level=sidak_level(size))
    note = f"simultaneous over {size} snapshots"
    return [statistic(float(share), one, note=note) for share, one in zip(design.share, intervals, strict=True)]
