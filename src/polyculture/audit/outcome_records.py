"""Records of what happens to individuals and groups: outcomes, the profile, contrasts, group homogenization, gaps."""

from __future__ import annotations

import msgspec

from polyculture.audit.statistic import Record, Statistic, undefined


class ProfileRow(Record, frozen=True, kw_only=True):
    """Individuals judged by ``judged`` models of whom exactly ``failed`` models failed them.

    ``observed`` and ``expected`` are shares of the individuals with that number of judgements.
    """

    judged: int
    failed: int
    count: int
    observed: Statistic
    expected: float


class Outcome(Record, frozen=True, kw_only=True):
    """One event (all fail, none fails, or either) observed and as independence would have it.

    ``expected`` is the mean over individuals of the probability under independent failures with the
    models' own rates, each individual by its own set of models; None only without any individual.
    ``ratio`` of systemic failure is the individual homogenization H. ``ceiling`` is the largest ratio that
    these failure rates allow, ``ceiling_share`` is difference / (largest possible difference).
    ``label_errors`` is the number of events that would have to be label errors before the interval of the
    difference reaches 0 (0 where it already does). ``p_value`` tests independence given the models' margins,
    two-sided; ``p_method`` says how, or why not. A number that is None has its reason beside it; that of
    ``expected`` is the reason of ``expected_interval``.
    """

    count: int
    individuals: int
    observed: Statistic
    expected: float | None
    expected_interval: Statistic
    difference: Statistic
    ratio: Statistic
    ceiling: float | None
    ceiling_share: Statistic
    log10_ratio: Statistic
    log10_expected: float | None
    label_errors: int | None
    p_value: float | None
    p_method: str
    ceiling_reason: str | None = None
    log10_expected_reason: str | None = None
    label_errors_reason: str | None = None


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

    ``status`` is "reported", "too few" (fewer than min_cell individuals, whatever the group: figures withheld) or
    "unknown" (the group value is missing, unknown or declined: reported, but part of no comparison).
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
