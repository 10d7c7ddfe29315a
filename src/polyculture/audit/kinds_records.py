"""Records about kinds of decision-makers that judge the same individuals: each by itself, and against each other."""

from __future__ import annotations

from polyculture.audit.outcome_records import GapRecord, GroupHomogenization, GroupRecord, Outcome, ProfileRow
from polyculture.audit.statistic import Record, Statistic


class KindRecord(Record, frozen=True, kw_only=True):
    """One kind of decision-makers: its own profile, outcomes and groups, against its own failure rates.

    ``individuals`` are those whom at least ``min_judged`` of this kind judged; ``mean_failure_rate`` is over
    its members.
    """

    name: str
    models: tuple[str, ...]
    individuals: int
    mean_failure_rate: float | None
    profile: tuple[ProfileRow, ...]
    systemic_failure: Outcome
    consistent_success: Outcome
    homogeneous_outcomes: Outcome
    groups: tuple[GroupRecord, ...] = ()
    group_homogenization: GroupHomogenization | None = None
    gaps: tuple[GapRecord, ...] = ()
    mean_failure_rate_reason: str | None = None


class KindContrast(Record, frozen=True, kw_only=True):
    """Two kinds on the same individuals: the first less the second, of the excess, and the ratio of the two H.

    ``by`` names the group, and is empty for everyone. ``outcome`` is "systemic failure" or "homogeneous outcomes".
    """

    outcome: str
    kinds: tuple[str, str]
    by: dict[str, str | None]
    excess_difference: Statistic
    homogenization_ratio: Statistic
    p_value: float | None
    method: str


class KindGroupDifference(Record, frozen=True, kw_only=True):
    """Two groups under one kind: the first less the second, of the excess, and the ratio of the two H."""

    outcome: str
    kind: str
    groups: tuple[dict[str, str | None], dict[str, str | None]]
    excess_difference: Statistic
    homogenization_ratio: Statistic


class DifferenceOfDifferences(Record, frozen=True, kw_only=True):
    """By how much two groups are further apart under one kind than under another.

    ``excess_difference`` is (first group - second group) of the first kind, less the same of the second kind.
    ``homogenization_ratio`` is the ratio of H between the groups under the first kind, over the same under the
    second. ``p_value`` tests that the difference is 0, ``p_adjusted`` is corrected over all differences of the same
    outcome. The covariance between kinds is that of the same individuals.
    """

    outcome: str
    kinds: tuple[str, str]
    groups: tuple[dict[str, str | None], dict[str, str | None]]
    excess_difference: Statistic
    homogenization_ratio: Statistic
    p_value: float | None
    p_adjusted: float | None
    method: str


class KindsRecord(Record, frozen=True, kw_only=True):
    """Kinds of decision-makers side by side. ``reason`` says why there is nothing to say, where there is not."""

    sentence: str
    kinds: tuple[KindRecord, ...] = ()
    contrasts: tuple[KindContrast, ...] = ()
    group_differences: tuple[KindGroupDifference, ...] = ()
    differences: tuple[DifferenceOfDifferences, ...] = ()
    models_of_no_kind: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
