"""Systemic failure and mean error at two snapshots, over everyone or one group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.change_records import FlowRow, GroupChange, PairedRate, SystemicChange
from polyculture.audit.change_shares import NOBODY, paired_rate, sample_of
from polyculture.audit.proportion import number, statistic
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import undefined

if TYPE_CHECKING:
    from polyculture.audit.settings import Settings
    from polyculture.tally.changes import Changes, ChangeTable

UNEQUAL = "not the same models judged everyone, and each set has an expectation of its own: audit each snapshot"


def systemic_change(changes: Changes, table: ChangeTable, settings: Settings) -> SystemicChange:
    """Return systemic failure before and after, paired by individual."""
    sample = sample_of(changes, table, census=settings.census)
    before, after = table.before == table.judged, table.after == table.judged
    sums = {
        "kept": int(table.count[before & after].sum()),
        "undone": int(table.count[before & ~after].sum()),
        "new": int(table.count[~before & after].sum()),
    }
    rate = paired_rate(
        sample,
        base=table.weight,
        before=table.weight * before,
        after=table.weight * after,
        both=table.weight * (before & after),
        own=table.count,
        numbers=(sums["kept"], sums["undone"], sums["new"]),
    )
    expected, reason = _expected(table)
    return SystemicChange(
        individuals=int(table.count.sum()),
        count_before=sums["kept"] + sums["undone"],
        count_after=sums["kept"] + sums["new"],
        **sums,
        rate=rate,
        expected_before=expected[0],
        expected_after=expected[1],
        expected_reason=reason,
    )


def _expected(table: ChangeTable) -> tuple[tuple[float | None, float | None], str]:
    """Return the product of the models' own failure rates before and after."""
    models = table.model_judged.shape[1]
    if not len(table.count):
        return (None, None), NOBODY
    if (table.judged != models).any():
        return (None, None), UNEQUAL
    total = float(table.weight.sum())
    products = [float(np.prod(fails.sum(axis=0) / total)) for fails in (table.weight_before, table.weight_after)]
    return (number(products[0]), number(products[1])), ""


def mean_error(changes: Changes, table: ChangeTable, settings: Settings) -> PairedRate:
    """Return the mean over individuals of the share of their models that fail them, before and after."""
    from polyculture.stats.paired_rates import mean_change, wald_test

    if not len(table.count):
        nothing = undefined(NOBODY)
        return PairedRate(before=nothing, after=nothing, difference=nothing, p_value=None, p_method=NOBODY)
    judged = np.maximum(table.judged, 1)
    clusters = changes.cluster_count
    found = []
    for values in (table.before / judged, table.after / judged, (table.after - table.before) / judged):
        mean, variance, interval = mean_change(
            values,
            table.weight,
            weight_squared=float(table.weight_squared.sum()),
            count=int(table.count.sum()),
            cluster=table.cluster if clusters is not None else None,
        )
        found.append(
            (mean, variance, interval._replace(reason=CENSUS, low=None, high=None) if settings.census else interval)
        )
    levels = [statistic(mean, interval) for mean, _, interval in found]
    p_value, method = (None, CENSUS) if settings.census else wald_test(found[2][0] or 0.0, found[2][1], clusters)
    return PairedRate(
        before=levels[0],
        after=levels[1],
        difference=levels[2],
        p_value=number(p_value),
        p_method=method.replace("normal, weighted", "normal"),
    )


def flow(table: ChangeTable) -> tuple[FlowRow, ...]:
    """Return how many individuals went from one number of failing models to another."""
    keys = np.stack([table.judged, table.before, table.after])
    distinct, at = np.unique(keys, axis=1, return_inverse=True)
    count = np.bincount(at.ravel(), weights=table.count, minlength=distinct.shape[1])
    weight = np.bincount(at.ravel(), weights=table.weight, minlength=distinct.shape[1])
    totals = {int(size): float(weight[distinct[0] == size].sum()) for size in np.unique(distinct[0])}
    return tuple(
        FlowRow(
            judged=int(judged),
            before=int(before),
            after=int(after),
            count=round(float(number)),
            share=float(mass) / totals[int(judged)],
        )
        for (judged, before, after), number, mass in zip(distinct.T.tolist(), count, weight, strict=True)
    )


def group_changes(changes: Changes, table: ChangeTable, settings: Settings) -> tuple[GroupChange, ...]:
    """Return the change of each group column's groups, and of their intersections where there are several."""
    if not changes.groups:
        return ()
    places = range(len(changes.groups))
    chosen = [(i,) for i in places] + ([tuple(places)] if len(changes.groups) > 1 else [])
    found = []
    for columns in chosen:
        values: dict[tuple[str | None, ...], list[int]] = {}
        for cell, own in enumerate(changes.cells):
            values.setdefault(tuple(own[i] for i in columns), []).append(cell)
        for value, cells in values.items():
            part = table.take(np.isin(table.cell, cells))
            by = {changes.groups[i]: one for i, one in zip(columns, value, strict=True)}
            found.append(_group(changes, part, by, settings))
    return tuple(found)


def _group(changes: Changes, part: ChangeTable, by: dict[str, str | None], settings: Settings) -> GroupChange:
    individuals = int(part.count.sum())
    if individuals < settings.min_cell:
        return GroupChange(by=by, individuals=individuals, status="too few")
    return GroupChange(
        by=by,
        individuals=individuals,
        status="reported",
        systemic_failure=systemic_change(changes, part, settings),
        mean_error=mean_error(changes, part, settings),
    )
