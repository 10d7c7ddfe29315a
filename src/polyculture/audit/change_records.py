"""What a comparison of snapshots says, as frozen records whose fields are the fields of compare.json.

How they are computed stands in the other ``change`` modules, how they look in ``report``.
"""

from __future__ import annotations

import msgspec

from polyculture.audit.records import Provenance
from polyculture.audit.statistic import Record, Statistic, undefined

__all__ = [
    "COMPARE_SCHEMA",
    "ByOthersRow",
    "ChangeRecord",
    "CompareRecord",
    "FlowRow",
    "GroupChange",
    "ModelChange",
    "PairedRate",
    "SnapshotRecord",
    "SystemicChange",
    "TrendPoint",
    "TrendRecord",
    "Undoing",
]

COMPARE_SCHEMA = "polyculture/compare/1"


class PairedRate(Record, frozen=True, kw_only=True):
    """A rate of the same individuals at two snapshots. ``difference`` is after minus before, paired by individual.

    ``p_adjusted`` is corrected (Benjamini-Hochberg) over the models of this comparison.
    """

    before: Statistic
    after: Statistic
    difference: Statistic
    p_value: float | None
    p_method: str
    p_adjusted: float | None = None
    p_adjusted_reason: str = "one test alone"


class SystemicChange(Record, frozen=True, kw_only=True):
    """Systemic failure at both snapshots: individuals failed by all their models.

    ``undone`` were failed by all before and are not now, ``new`` the other way round, ``kept`` both times.
    ``expected_before`` and ``expected_after`` are what independent failures at the models' own rates would give.
    """

    individuals: int
    count_before: int
    count_after: int
    kept: int
    undone: int
    new: int
    rate: PairedRate
    expected_before: float | None
    expected_after: float | None
    expected_reason: str = ""


class ByOthersRow(Record, frozen=True, kw_only=True):
    """Failures and successes of a model before, by how many other models fail the individual.

    ``reading`` says at which snapshot the others are read. ``judged`` models judged these individuals at both
    snapshots, ``others`` of them besides this one fail. ``potential`` were failed by the model before, ``improved``
    of them are not failed after; ``at_risk`` were not failed before, ``regressed`` of them are now. ``net`` is
    improved minus regressed. ``expected_uniform`` and ``expected_adjusted`` are the shares of improvements expected
    here by the two blind baselines.
    """

    reading: str
    judged: int
    others: int
    potential: int
    improved: int
    improvement_rate: Statistic
    at_risk: int
    regressed: int
    regression_rate: Statistic
    net: int
    share: Statistic
    expected_uniform: float | None
    expected_adjusted: float | None
    expected_uniform_reason: str = ""
    expected_adjusted_reason: str = ""


class Undoing(Record, frozen=True, kw_only=True):
    """How many improvements undo a systemic failure: all other models fail the individual.

    ``share`` is among improvements. ``uniform`` is the share expected if each failure were as likely to be undone;
    ``adjusted`` if the new version's answer depended on nothing but how hard the individual is. ``churn`` is the
    share among the improvements that a repeat of the earlier version shows. ``net_share`` is of improvements less
    regressions. ``trend`` is the odds ratio of being undone for each further model that fails the individual;
    ``trend_adjusted`` what difficulty alone would give. ``verdict`` is "fewer than blind", "fewer than uniform",
    "between", "more than blind", "more than adjusted", "not told apart from blind", "cannot tell" (where it
    would rest on the adjusted baseline: any verdict with 2 models, that there are more with 3) or "undefined".
    """

    reading: str
    potential: int
    improved: int
    regressed: int
    potential_systemic: int
    improved_systemic: int
    regressed_systemic: int
    net: int
    net_systemic: int
    share: Statistic
    uniform: float | None
    difference_uniform: Statistic
    p_value: float | None
    p_method: str
    adjusted: Statistic
    difference_adjusted: Statistic
    net_share: Statistic
    trend: Statistic
    trend_adjusted: float | None
    uniform_reason: str = ""
    trend_adjusted_reason: str = ""
    churn: Statistic = undefined("no repeat of the earlier version was given")
    verdict: str = "undefined"
    sentence: str = ""


class ModelChange(Record, frozen=True, kw_only=True):
    """One model at two snapshots, on the individuals that it judged at both.

    ``improved`` were failed before only, ``regressed`` after only. ``churned`` is the share of individuals whose
    outcome differs between the earlier version and its repeat, where one was given.
    """

    name: str
    name_after: str
    judged: int
    failed_before: int
    failed_after: int
    failed_both: int
    error: PairedRate
    improved: int
    regressed: int
    net: int
    changed: Statistic
    churned: Statistic
    by_others: tuple[ByOthersRow, ...] = ()
    undoing: tuple[Undoing, ...] = ()


class FlowRow(Record, frozen=True, kw_only=True):
    """Individuals judged by ``judged`` models, failed by ``before`` of them before and by ``after`` of them after.

    ``share`` is of all individuals judged by so many models.
    """

    judged: int
    before: int
    after: int
    count: int
    share: float


class GroupChange(Record, frozen=True, kw_only=True):
    """One group: its systemic failure and its mean error at both snapshots; too few means figures withheld."""

    by: dict[str, str | None]
    individuals: int
    status: str
    systemic_failure: SystemicChange | None = None
    mean_error: PairedRate | None = None


class ChangeRecord(Record, frozen=True, kw_only=True):
    """What changed between two snapshots.

    ``individuals`` are those of the headline: in both snapshots, and judged by at least ``min_judged`` of the models
    compared at both. ``matched`` are in both, ``only_before`` and ``only_after`` in one. ``relabelled`` have another
    label and are left out. ``judged_otherwise`` were judged by other models of these at the two snapshots: a model
    counts for them only where it judged them twice. ``judged_too_little`` counts who is matched and not in the
    headline by the number of models. ``mean_error`` is the mean over individuals of the share of models that fail.
    ``by_others`` and ``undoing`` are over all models together.
    """

    before: str
    after: str
    headline: str
    individuals: int
    matched: int
    only_before: int
    only_after: int
    relabelled: int
    judged_otherwise: int
    judged_too_little: dict[int, int] = msgspec.field(default_factory=dict)
    models_left: tuple[str, ...] = ()
    models_joined: tuple[str, ...] = ()
    systemic_failure: SystemicChange
    mean_error: PairedRate
    models: tuple[ModelChange, ...]
    by_others: tuple[ByOthersRow, ...] = ()
    undoing: tuple[Undoing, ...] = ()
    flow: tuple[FlowRow, ...] = ()
    groups: tuple[GroupChange, ...] = ()
    notes: tuple[str, ...] = ()


class TrendPoint(Record, frozen=True, kw_only=True):
    """One series at one snapshot; the interval is part of a band that holds for all snapshots of the series."""

    snapshot: str
    failed: float
    rate: Statistic


class TrendRecord(Record, frozen=True, kw_only=True):
    """A model, or systemic failure, over all snapshots, on the individuals that all of them have.

    ``slope`` is the mean change from one snapshot to the next. ``p_adjusted`` is corrected over all series.
    """

    series: str
    individuals: int
    points: tuple[TrendPoint, ...]
    slope: Statistic
    p_value: float | None
    p_adjusted: float | None
    p_method: str


class SnapshotRecord(Record, frozen=True, kw_only=True):
    """One snapshot as it was read."""

    name: str
    source: str
    rows: int
    models: tuple[str, ...]
    thresholds: dict[str, float] = msgspec.field(default_factory=dict)


class CompareRecord(Record, frozen=True, kw_only=True):
    """The whole comparison, as written to compare.json; ``changes`` are between consecutive snapshots."""

    schema: str = COMPARE_SCHEMA
    provenance: Provenance
    headline: str
    snapshots: tuple[SnapshotRecord, ...]
    changes: tuple[ChangeRecord, ...]
    trend: tuple[TrendRecord, ...] = ()
    trend_reason: str = ""
    notes: tuple[str, ...] = ()
    noun: str = "individuals"
