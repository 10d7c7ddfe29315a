"""The record of one event on some individuals: everyone, a group, or what a family of models decided.

How it is computed stands in ``outcome``.
"""

from __future__ import annotations

from polyculture.audit.statistic import Record, Statistic

__all__ = ["Outcome"]


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
