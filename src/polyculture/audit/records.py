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
from polyculture.audit.kinds_records import (
    DifferenceOfDifferences,
    KindContrast,
    KindGroupDifference,
    KindRecord,
    KindsRecord,
)
from polyculture.audit.outcome_records import (
    Contrast,
    GapRecord,
    GroupHomogenization,
    GroupModel,
    GroupRecord,
    ModelGap,
    Outcome,
    ProfileRow,
)
from polyculture.audit.portfolio_choice import PortfolioChoice
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
from polyculture.audit.slice_records import SliceParent, SliceRecord, SlicesRecord
from polyculture.audit.statistic import Record, Statistic, undefined

__all__ = [
    "SCHEMA",
    "AgreementRecord",
    "AuditRecord",
    "CollectionRecord",
    "ComponentRecord",
    "ComponentsRecord",
    "Contrast",
    "DifferenceOfDifferences",
    "FamilyRecord",
    "GapRecord",
    "GroupHomogenization",
    "GroupModel",
    "GroupRecord",
    "InputFile",
    "KindContrast",
    "KindGroupDifference",
    "KindRecord",
    "KindsRecord",
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
    "SliceParent",
    "SliceRecord",
    "SlicesRecord",
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


class Pattern(Record, frozen=True, kw_only=True):
    """One failure pattern: which models judged, which of them failed, and how many individuals."""

    judged: tuple[str, ...]
    failed: tuple[str, ...]
    count: int
    share: float
    expected: float


class NullRecord(Record, frozen=True, kw_only=True):
    """What one null model (model of chance) expects, and what is left over it.

    ``reason`` says why a null is undefined; ``systemic_failure`` is then None. ``residual_df`` is None where it does
    not exist; ``residual_df_reason`` then says why. ``fits_by_construction`` is set where it has as many parameters as
    patterns are free and fits them all: then nothing is tested. ``excess`` is observed minus expected,
    ``homogenization`` observed over expected. ``log_likelihood`` is of all individuals, ``held_out_log_likelihood`` of
    one individual on average under the fit to the half of the data without it. ``expected_profile`` holds the
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
    slices: SlicesRecord | None = None
    components: ComponentsRecord | None = None
    nulls: tuple[NullRecord, ...] = ()
    kinds: KindsRecord | None = None
    portfolio: PortfolioChoice | None = None
    no_answer: NoAnswerRecord | None = None
    notes: tuple[str, ...] = ()
    noun: str = "individuals"
