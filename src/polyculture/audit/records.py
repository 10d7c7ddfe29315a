"""What an audit says, as frozen records whose fields are the fields of audit.json.

Records hold numbers and words, nothing else: how they are computed stands in the other modules of
this package, how they look stands in ``report``.
"""

from __future__ import annotations

import msgspec

from polyculture.audit.components_records import (
    ComponentRecord,
    ComponentsRecord,
    FamilyRecord,
    RegressionRecord,
    RegressionTerm,
    ShareRecord,
    SharesRecord,
    WhatIfRecord,
)
from polyculture.audit.outcome_record import Outcome
from polyculture.audit.similarity_records import (
    AgreementRecord,
    CollectionRecord,
    Merge,
    NearDuplicate,
    PairRecord,
    PanelMember,
    PanelRecord,
    RecourseRow,
    SuspectKey,
    SuspectKeysRecord,
)
from polyculture.audit.statistic import Record, Statistic, undefined

__all__ = [
    "SCHEMA",
    "AgreementRecord",
    "AuditRecord",
    "CollectionRecord",
    "ComponentRecord",
    "ComponentsRecord",
    "Contrast",
    "FamilyRecord",
    "GapRecord",
    "GroupHomogenization",
    "GroupModel",
    "GroupRecord",
    "InputFile",
    "Merge",
    "ModelGap",
    "ModelRecord",
    "NearDuplicate",
    "NoAnswerRecord",
    "NullRecord",
    "Outcome",
    "PairRecord",
    "PanelMember",
    "PanelRecord",
    "Pattern",
    "ProfileRow",
    "Provenance",
    "Record",
    "RecourseRow",
    "RegressionRecord",
    "RegressionTerm",
    "ShareRecord",
    "SharesRecord",
    "Statistic",
    "SuspectKey",
    "SuspectKeysRecord",
    "WhatIfRecord",
    "undefined",
]

SCHEMA = "polyculture/audit/1"


class InputFile(Record, frozen=True, kw_only=True):
    """One source that was read. ``sha256`` and ``bytes`` are None for a frame or a bundled table."""

    name: str
    format: str
    sha256: str | None = None
    bytes: int | None = None
    rows: int | None = None


class Provenance(Record, frozen=True, kw_only=True):
    """Where the numbers come from and how the data were understood.

    ``failure_rule_in_words`` is empty where the rule is a condition, which has no other words.
    """

    inputs: tuple[InputFile, ...]
    rows_read: int
    rows_used: int
    left_out: dict[str, int]
    failure_rule: str
    no_answer: str
    min_judged: int
    min_cell: int
    version: str
    command: str
    seed: int
    period: str | None = None
    note: str | None = None
    thresholds: dict[str, float] = msgspec.field(default_factory=dict)
    weighted: bool = False
    clusters: int | None = None
    census: bool = False
    warnings: tuple[str, ...] = ()
    failure_rule_in_words: str = ""


class ModelRecord(Record, frozen=True, kw_only=True):
    """One model on all individuals that it judged."""

    name: str
    judged: int
    failed: int
    no_answer: int
    failure_rate: Statistic
    no_answer_rate: Statistic
    no_answer_reasons: dict[str, int] = msgspec.field(default_factory=dict)


class ProfileRow(Record, frozen=True, kw_only=True):
    """Individuals judged by ``judged`` models of whom exactly ``failed`` models failed them.

    ``observed`` and ``expected`` are shares of the individuals with that number of judgements.
    """

    judged: int
    failed: int
    count: int
    observed: Statistic
    expected: float


class Pattern(Record, frozen=True, kw_only=True):
    """One failure pattern: which models judged, which of them failed, and how many individuals."""

    judged: tuple[str, ...]
    failed: tuple[str, ...]
    count: int
    share: float
    expected: float


class GroupModel(Record, frozen=True, kw_only=True):
    """One model inside one group."""

    name: str
    judged: int
    failed: int
    no_answer: int
    failure_rate: Statistic


class Contrast(Record, frozen=True, kw_only=True):
    """A group against everyone else whose group is known: points, ratio, test, corrected test.

    ``signs_disagree`` is set where the contrast of H and the contrast of the excess point in
    different directions and the interval of at least one of them leaves no difference out, so that neither
    may be read alone. Where there is no test, ``method`` says why, for both p-values.
    """

    difference: Statistic
    ratio: Statistic
    excess_difference: Statistic
    homogenization_ratio: Statistic
    p_value: float | None
    p_adjusted: float | None
    method: str
    signs_disagree: bool = False


class GroupRecord(Record, frozen=True, kw_only=True):
    """One group, or one intersection of groups; figures are against the group's own failure rates.

    ``status`` is "reported", "too few" (fewer than min_cell individuals: figures withheld) or "unknown"
    (the group value is missing, unknown or declined: reported, but part of no comparison).
    """

    by: dict[str, str | None]
    individuals: int
    status: str
    systemic_failure: Outcome | None = None
    consistent_success: Outcome | None = None
    homogeneous_outcomes: Outcome | None = None
    profile: tuple[ProfileRow, ...] = ()
    models: tuple[GroupModel, ...] = ()
    contrast: Contrast | None = None


class GroupHomogenization(Record, frozen=True, kw_only=True):
    """Group homogenization (2211.13972): plain values, and values corrected for small groups.

    Every ``*_corrected`` is the jackknifed value. ``relative_bias`` is the largest estimated relative
    bias of a group's product; above .25 ``reliable`` is false. ``spread_p_method`` says how the p-value was made, or
    why there is none. ``left_out`` counts individuals that are
    part of no product, by reason; groups of fewer than ``min_cell`` are among them.
    """

    by: tuple[str, ...]
    groups: int
    individuals: int
    average: Statistic
    uniform: Statistic
    worst: Statistic
    spread: Statistic
    worst_group: dict[str, str | None]
    average_corrected: Statistic
    uniform_corrected: Statistic
    worst_corrected: Statistic
    spread_p_value: float | None
    relative_bias: float | None
    reliable: bool
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    spread_corrected: Statistic = undefined("not computed")
    spread_p_method: str = ""
    relative_bias_reason: str | None = None


class ModelGap(Record, frozen=True, kw_only=True):
    """Group gaps of one model, fairlearn's definitions: max - min and min / max over groups."""

    name: str
    failure_rate_difference: Statistic
    failure_rate_ratio: Statistic
    demographic_parity_difference: Statistic
    demographic_parity_ratio: Statistic
    equalized_odds_difference: Statistic
    equalized_odds_ratio: Statistic


class GapRecord(Record, frozen=True, kw_only=True):
    """Gaps between the groups of one column: model by model, and of systemic failure.

    ``systemic_failure_difference`` is max - min over groups; ``expected_with_no_difference`` is the
    mean gap that these group sizes show when the group labels are shuffled. With two groups the intervals of the
    gap and its test are those of the contrast between them, so that an interval may reach beyond 0 or 1.
    ``p_method`` says how the test was made, or why there is none.
    """

    by: tuple[str, ...]
    groups: int
    models: tuple[ModelGap, ...]
    systemic_failure_difference: Statistic
    systemic_failure_ratio: Statistic
    expected_with_no_difference: float | None
    p_value: float | None
    highest: dict[str, str | None]
    lowest: dict[str, str | None]
    selection: str
    p_method: str = ""
    expected_with_no_difference_reason: str | None = None


class NullRecord(Record, frozen=True, kw_only=True):
    """What one null model (model of chance) expects, and what is left over it.

    ``reason`` says why a null is undefined; ``systemic_failure`` is then None. ``residual_df`` is None where it does
    not exist; ``residual_df_reason`` then says why. ``fits_by_construction`` is set where
    it has as many parameters as patterns are free: then nothing is tested. ``excess`` is observed minus expected,
    ``homogenization`` observed over expected. ``log_likelihood`` is of all individuals, ``held_out_log_likelihood``
    of one individual on average under the fit to the half of the data without it. ``expected_profile`` holds the
    expected share of individuals by number of failures, from none to all models. ``smallest_detectable_excess`` is
    found in 80 % of data sets by a test at 5 %; ``rejected`` is by that test, and ``poorest_not_rejected`` marks the
    null with the fewest parameters that is not. ``method`` says how it was tested, or why not.
    """

    name: str
    parameters: int
    residual_df: int | None
    systemic_failure: float | None
    excess: Statistic
    p_value: float | None
    method: str
    sentence: str = ""
    residual_df_reason: str = ""
    fits_by_construction: bool = False
    converged: bool = True
    homogenization: Statistic = undefined("not asked for")
    rejected: bool | None = None
    poorest_not_rejected: bool = False
    smallest_detectable_excess: float | None = None
    log_likelihood: float | None = None
    held_out_log_likelihood: float | None = None
    expected_profile: tuple[float, ...] = ()
    reason: str = ""
    smallest_detectable_excess_reason: str | None = None
    log_likelihood_reason: str | None = None
    held_out_log_likelihood_reason: str | None = None


class NoAnswerRecord(Record, frozen=True, kw_only=True):
    """The headline under the other reading of "no answer", where any model gave none."""

    counted_as: str
    other: str
    individuals: int
    systemic_failure: Outcome


class AuditRecord(Record, frozen=True, kw_only=True):
    """The whole audit, as written to audit.json.

    ``group_homogenization`` is over all group columns crossed; where there are several, each column
    by itself stands in ``group_homogenization_by_column``. ``judged_too_little`` counts individuals
    by the number of models that judged them, where that is below ``min_judged``. ``noun`` is what individuals
    are called, in the plural.
    """

    schema: str = SCHEMA
    provenance: Provenance
    headline: str
    individuals: int
    judged_too_little: dict[int, int] = msgspec.field(default_factory=dict)
    seed: int
    models: tuple[ModelRecord, ...]
    profile: tuple[ProfileRow, ...]
    profile_p_value: float | None = None
    profile_p_method: str = ""
    systemic_failure: Outcome
    consistent_success: Outcome
    homogeneous_outcomes: Outcome
    patterns: tuple[Pattern, ...] = ()
    patterns_note: str = ""
    groups: tuple[GroupRecord, ...] = ()
    group_homogenization: GroupHomogenization | None = None
    group_homogenization_by_column: tuple[GroupHomogenization, ...] = ()
    gaps: tuple[GapRecord, ...] = ()
    pairs: tuple[PairRecord, ...] = ()
    collection: CollectionRecord | None = None
    panel: PanelRecord | None = None
    suspect_keys: SuspectKeysRecord | None = None
    components: ComponentsRecord | None = None
    nulls: tuple[NullRecord, ...] = ()
    no_answer: NoAnswerRecord | None = None
    notes: tuple[str, ...] = ()
    noun: str = "individuals"
