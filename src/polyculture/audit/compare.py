"""The comparison: every question about two or more snapshots asked once, and the answers in one record."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from polyculture.audit.change_models import model_changes, over_all_models, with_churn
from polyculture.audit.change_records import ChangeRecord, CompareRecord, SnapshotRecord
from polyculture.audit.change_systemic import flow, group_changes, mean_error, systemic_change
from polyculture.audit.change_trend import trends
from polyculture.audit.change_words import change_headline, change_notes, compare_headline
from polyculture.audit.settings import Settings
from polyculture.failure import known_rule

if TYPE_CHECKING:
    from polyculture.audit.records import Provenance
    from polyculture.tally import SnapshotTally
    from polyculture.tally.changes import Changes

__all__ = ["Step", "compare_run"]

NO_TREND = "a trend needs at least 3 snapshots"
NOBODY_IN_ALL = "no individual is in all snapshots"


@dataclass(frozen=True)
class Step:
    """What two consecutive snapshots gave: their names, the counts, and who came and went.

    ``repeat`` are the changes from the earlier version to its own repeat, where there is one.
    """

    before: str
    after: str
    changes: Changes
    models_left: tuple[str, ...] = ()
    models_joined: tuple[str, ...] = ()
    repeat: Changes | None = None
    notes: tuple[str, ...] = field(default=())


def compare_run(
    tally: SnapshotTally,
    *,
    provenance: Provenance,
    seed: int = 0,
    min_cell: int = 30,
    census: bool = False,
    noun: str = "individuals",
) -> CompareRecord:
    """Say what changed between snapshots.

    Parameters
    ----------
    tally : SnapshotTally
        The counts that everything is a function of.
    provenance : Provenance
        Where the outcomes come from; copied into the record.
    seed : int
        Seed of the samples that show how well difficulty is known.
    min_cell : int
        Groups of fewer individuals have their figures withheld.
    census : bool
        The individuals are all there are: no intervals, no tests.
    noun : str
        What individuals are called, in the plural.
    """
    settings = Settings(seed=seed, min_cell=min_cell, census=census, noun=noun)
    changes = tuple(change(step, settings) for step in _steps(tally))
    moments = tally.moments
    known = moments is not None and bool(moments.count.any())
    trend = trends(moments, tally.names, settings) if moments is not None and known else ()
    return CompareRecord(
        provenance=_with_words(provenance),
        headline=compare_headline(changes, trend, noun),
        snapshots=_snapshots(tally),
        changes=changes,
        trend=trend,
        trend_reason="" if trend else tally.no_moments or (NO_TREND if moments is None else NOBODY_IN_ALL),
        notes=tally.notes,
        noun=noun,
    )


def _steps(tally: SnapshotTally) -> list[Step]:
    return [
        Step(*names, counts, tally.left(place), tally.joined(place), repeat=tally.repeat if place == 0 else None)
        for place, (names, counts) in enumerate(zip(pairwise(tally.names), tally.changes, strict=True))
    ]


def _snapshots(tally: SnapshotTally) -> tuple[SnapshotRecord, ...]:
    thresholds = [*(one.thresholds[0] for one in tally.changes), tally.changes[-1].thresholds[1]]
    return tuple(
        SnapshotRecord(name=name, source=source, rows=rows, models=models, thresholds=edges)
        for name, source, rows, models, edges in zip(
            *(tally.names, tally.sources, tally.rows, tally.models), thresholds, strict=True
        )
    )


def _with_words(provenance: Provenance) -> Provenance:
    """Say the failure rule in words, where it has others."""
    rule = known_rule(provenance.failure_rule)
    return replace(provenance, failure_rule_in_words="" if rule is None else rule.in_words())


def change(step: Step, settings: Settings) -> ChangeRecord:
    """Return what changed between two snapshots."""
    counts = step.changes
    everyone = counts.table
    counted = everyone.take(everyone.judged >= counts.least)
    models = model_changes(counts, everyone, settings)
    if step.repeat is not None:
        models = with_churn(models, model_changes(step.repeat, step.repeat.table, settings))
    rows, undoing = over_all_models(counts, everyone, models, settings)
    short: dict[int, int] = {}
    for judged, count in zip(everyone.judged.tolist(), everyone.count.tolist(), strict=True):
        if judged < counts.least:
            short[judged] = short.get(judged, 0) + count
    record = ChangeRecord(
        before=step.before,
        after=step.after,
        headline="",
        individuals=int(counted.count.sum()),
        matched=counts.matched,
        only_before=counts.only_before,
        only_after=counts.only_after,
        relabelled=counts.relabelled,
        judged_otherwise=counts.judged_otherwise,
        judged_too_little=dict(sorted(short.items())),
        models_left=step.models_left,
        models_joined=step.models_joined,
        systemic_failure=systemic_change(counts, counted, settings),
        mean_error=mean_error(counts, counted, settings),
        models=models,
        by_others=rows,
        undoing=undoing,
        flow=flow(counted),
        groups=group_changes(counts, counted, settings),
    )
    return replace(
        record,
        headline=change_headline(record, settings.noun),
        notes=(*step.notes, *change_notes(record, counts, settings)),
    )
