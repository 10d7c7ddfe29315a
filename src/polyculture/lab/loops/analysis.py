"""From the figures of all generations to the record of a loop: curves, endpoints, collapse, accounting, faults."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.analysis import statistic
from polyculture.lab.loops.accounting import accounting
from polyculture.lab.loops.measured import measured
from polyculture.lab.loops.records import (
    CollapseRecord,
    CurveRecord,
    EndpointRecord,
    LoopFaultRecord,
    LoopRecord,
    StratumRecord,
)
from polyculture.lab.loops.sampled import sampled
from polyculture.lab.loops.sentences import accuracy_sentence, headline, notes
from polyculture.lab.loops.units import CHANGE, ENDPOINTS, LAST, MEAN, UNDEFINED, UNITS
from polyculture.lab.loops.world import ideal_of, strata_names, tested_of
from polyculture.stats._interval import Estimated
from polyculture.stats._rounding import differences
from polyculture.stats.over_seeds import log_ratio_values, over_seeds

if TYPE_CHECKING:
    from polyculture.lab.loops.measured import LoopMeasured
    from polyculture.lab.loops.rows import Floats
    from polyculture.lab.loops.store import LoopStore

__all__ = ["CONSTANT", "analyse"]

CONSTANT = 0.95
"""A classifier that gives so many the same class is called nearly constant."""
_RATIOS = {
    "homogenization": ("systemic_failure", "expected"),
    "group_homogenization": ("group_product", "group_expected"),
}
_ONLY_PARTS = {"group_product", "group_expected"}
STOPPED = "some chains had stopped; those that went on are averaged"


def analyse(store: LoopStore) -> LoopRecord:
    """Return what a loop found.

    Parameters
    ----------
    store : LoopStore
        All its generations.

    Raises
    ------
    FileError
        If the store is incomplete or damaged.
    """
    # One thread, as in an audit: several cost more than they give here, and change last digits.
    with threadpool_limits(limits=1, user_api="blas"):
        return _analysed(store)


def _analysed(store: LoopStore) -> LoopRecord:
    manifest, plan = store.manifest, store.manifest.plan
    found = measured(store)
    values = _with_ratios(found)
    curves = tuple(_curves(store, values))
    endpoints = tuple(_endpoints(store, values))
    collapse = tuple(_collapse(store, found, arm) for arm in range(len(plan.arms)))
    faults = _faults(store, found)
    names = strata_names(manifest.classes, manifest.groups)
    strata = tuple(
        StratumRecord(target=target, group=group, ideal=ideal, original=float(share))
        for (target, group), ideal, share in zip(names, _ideals(store), found.original, strict=True)
    )
    first, accuracy = headline(plan, endpoints, collapse), accuracy_sentence(plan, endpoints)
    return LoopRecord(
        plan=plan,
        headline=first,
        accuracy_sentence="" if accuracy == first else accuracy,
        individuals=manifest.individuals,
        tested=len(tested_of(plan, manifest.individuals, 0)),
        samples=plan.samples,
        favourable=manifest.favourable,
        classes=manifest.classes,
        groups=manifest.groups,
        strata=strata,
        decision_makers=plan.makers(),
        arms=plan.arm_names(),
        data=manifest.data,
        versions=manifest.versions,
        units={measure: UNITS[measure] for measure in dict.fromkeys(measure for measure, _ in values)},
        curves=curves,
        endpoints=endpoints,
        collapse=collapse,
        accounting=accounting(store, found),
        faults=faults,
        notes=notes(plan, collapse, faults, manifest.groups),
        image=manifest.image,
        sampled=sampled(store),
    )


def _ideals(store: LoopStore) -> list[float | None]:
    manifest = store.manifest
    found = ideal_of(manifest.plan, manifest.classes, manifest.groups)
    if found is None:
        return [None] * (len(manifest.classes) * len(manifest.groups))  # that of each seed's training individuals
    return [float(share) for share in found]


def _with_ratios(found: LoopMeasured) -> dict[tuple[str, str | None], Floats]:
    """Return all figures with those ratios whose sums are over seeds, as logarithms, in the order of the units."""
    values = dict(found.values)
    for ratio, (above, below) in _RATIOS.items():
        if (above, None) in values and (below, None) in values:
            both = (np.moveaxis(values[part, None], 1, 0) for part in (above, below))
            values[ratio, None] = np.moveaxis(log_ratio_values(*both), 0, 1)
    order = list(UNITS)
    kept = [key for key in values if key[0] not in _ONLY_PARTS]
    return {key: values[key] for key in sorted(kept, key=lambda key: order.index(key[0]))}


def _estimate(measure: str, values: Floats, looks: int = 1) -> Estimated:
    """Return the mean over seeds on the scale of the measure: ratios of sums from their logarithms, shares cut off."""
    found = over_seeds(values, looks=looks)
    if found.value is None:
        return found
    if measure in _RATIOS:
        low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
        return Estimated(math.exp(found.value), low, high, found.method, found.reason)
    return found


def _cut(measure: str, found: Estimated) -> Estimated:
    """Return an estimate of a share, or of a gap, whose interval ends at 0 and 1; a t interval knows no such ends.

    The estimate of a squared discrepancy is below 0 as often as not where it is 0, and so is its interval.
    """
    if found.low is None or found.high is None or measure == "mmd":
        return found
    highest = 1.0 if UNITS[measure] in {"share", "points"} or measure.endswith("_ratio") else math.inf
    return found._replace(low=max(found.low, 0.0), high=min(found.high, highest))


def _curves(store: LoopStore, values: dict[tuple[str, str | None], Floats]) -> Iterator[CurveRecord]:
    plan = store.manifest.plan
    for arm, name in enumerate(plan.arm_names()):
        for (measure, of), figures in values.items():
            own = figures[arm]
            ran = values["accuracy", None][arm]
            points = [
                _with_why(measure, _cut(measure, _estimate(measure, one, plan.generations)), one, ran[:, number])
                for number, one in enumerate(own.T)
            ]
            known = tuple(int(count) for count in np.isfinite(own).sum(axis=0))
            reasons = list(dict.fromkeys(point.reason for point in points if point.reason))
            came = np.isfinite(ran).sum(axis=0)
            if came.min() < came.max():
                reasons.append(STOPPED)
            if any(0 < many < most for many, most in zip(known, came, strict=True)):
                reasons.append(f"undefined at some seeds{_why(measure)}; the others are averaged")
            yield CurveRecord(
                arm=name,
                measure=measure,
                of=of,
                value=tuple(point.value for point in points),
                low=tuple(point.low for point in points),
                high=tuple(point.high for point in points),
                seeds=known,
                method=next((point.method for point in points if point.method), ""),
                reason="; ".join(reasons),
            )


def _endpoints(store: LoopStore, values: dict[tuple[str, str | None], Floats]) -> Iterator[EndpointRecord]:
    plan = store.manifest.plan
    names, others = plan.arm_names(), plan.compared_with()
    for (measure, of), figures in values.items():
        for endpoint in ENDPOINTS if plan.generations > 1 else (LAST,):
            numbers, ran = (_endpoint(of_all, endpoint) for of_all in (figures, values["accuracy", None]))
            for arm, name in enumerate(names):
                yield EndpointRecord(
                    arm=name,
                    against=names[others[arm]],
                    measure=measure,
                    of=of,
                    endpoint=endpoint,
                    primary=of is None and measure in plan.endpoints and endpoint != CHANGE,
                    value=_value(measure, endpoint, numbers[arm], ran[arm]),
                    difference=undefined("this arm is the one that others are compared with")
                    if arm == others[arm]
                    else statistic(_estimate(measure, differences(numbers[arm], numbers[others[arm]]))),
                )


def _endpoint(figures: Floats, endpoint: str) -> Floats:
    """Return one number a chain, (A, R); NaN where a generation that it needs is missing."""
    if endpoint == LAST:
        return figures[:, :, -1]
    if endpoint == MEAN:
        return np.asarray(figures.mean(axis=2))
    return differences(figures[:, :, -1], figures[:, :, 0])


def _why(measure: str) -> str:
    return f" ({UNDEFINED[measure]})" if measure in UNDEFINED else ""


def _with_why(measure: str, found: Estimated, numbers: Floats, ran: Floats) -> Estimated:
    """Say why a measure has no value though chains came so far: they have an accuracy, ``ran``."""
    if found.value is not None or not np.isfinite(ran[~np.isfinite(numbers)]).any():
        return found
    return found._replace(reason=f"{found.reason}{_why(measure)}")


def _value(measure: str, endpoint: str, numbers: Floats, ran: Floats) -> Statistic:
    found = _with_why(measure, _estimate(measure, numbers), numbers, ran)
    return statistic(found if endpoint == CHANGE else _cut(measure, found))


def _collapse(store: LoopStore, found: LoopMeasured, arm: int) -> CollapseRecord:
    plan = store.manifest.plan
    accuracy, largest = found.values["accuracy", None][arm], found.values["largest_class", None][arm]
    onsets = [onset for seed in range(plan.seeds) if (onset := onset_of(accuracy[seed], plan.collapse)) is not None]
    constant = largest >= CONSTANT
    many = constant.sum(axis=0) * 2 > plan.seeds
    since = next((number for number in range(plan.generations) if many[number:].all()), None)
    return CollapseRecord(
        arm=plan.arm_names()[arm],
        seeds=plan.seeds,
        collapsed=len(onsets),
        first=min(onsets, default=None),
        median=float(np.median(onsets)) if onsets else None,
        last=max(onsets, default=None),
        constant=int(constant[:, -1].sum()),
        constant_from=since,
        largest_class=statistic(_cut("largest_class", over_seeds(largest[:, -1]))),
        stopped=found.stopped[arm],
    )


def onset_of(accuracy: Floats, fall: float) -> int | None:
    """Return the generation from which on accuracy stays further below that of generation 0 than ``fall``.

    >>> onset_of(np.array([0.9, 0.7, 0.88, 0.8, 0.7]), 0.05), onset_of(np.array([0.9, 0.8, 0.89]), 0.05)
    (3, None)
    """
    known = accuracy[np.isfinite(accuracy)]
    if len(known) < 2:
        return None
    low = known < known[0] - fall
    if not low[-1]:
        return None
    above = np.flatnonzero(~low)
    return int(above[-1]) + 1


def _faults(store: LoopStore, found: LoopMeasured) -> tuple[LoopFaultRecord, ...]:
    names = store.manifest.plan.arm_names()
    return tuple(
        LoopFaultRecord(arm=names[arm], reason=reason, count=count, first=first, said=said)
        for (arm, reason), count in sorted(found.faults.items())
        for first, said in [found.first[arm, reason]]
    )


def curve(record: LoopRecord, arm: str, measure: str, of: str | None = None) -> CurveRecord | None:
    """Return one curve of a record; None where there is none."""
    return next((one for one in record.curves if (one.arm, one.measure, one.of) == (arm, measure, of)), None)


def point(found: CurveRecord | None, number: int) -> Statistic:
    """Return one generation of a curve as a Statistic with its simultaneous interval."""
    if found is None or found.value[number] is None:
        return undefined("not measured" if found is None else found.reason or "undefined in that generation")
    stat = Statistic(value=found.value[number])
    if found.low[number] is None:
        return msgspec.structs.replace(stat, reason=found.reason)
    return msgspec.structs.replace(stat, low=found.low[number], high=found.high[number], method=found.method)
