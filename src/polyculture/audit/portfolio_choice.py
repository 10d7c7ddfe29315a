"""What a choice among models says, as frozen records: the fields that portfolio.json and an audit have in common.

How sets are chosen and measured stands in the other ``portfolio`` modules.
"""

from __future__ import annotations

import msgspec

from polyculture.audit.statistic import Record, Statistic


class PortfolioSet(Record, frozen=True, kw_only=True):
    """One set of models, measured on all individuals.

    ``value`` is what was to be made small (systemic failure, of the worst group where asked) or large (accuracy of
    the majority). ``removed`` and ``added`` are against today's models. ``difference`` is the value minus that of the
    chosen set. All are in-sample figures: of a set that was chosen for them they are too favourable.
    """

    models: tuple[str, ...]
    value: Statistic
    mean_failure: Statistic
    systemic_failure: Statistic
    majority: Statistic
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    worst_group: dict[str, str | None] = msgspec.field(default_factory=dict)
    difference: Statistic | None = None


class PortfolioModel(Record, frozen=True, kw_only=True):
    """One candidate: its failure rate, and the share of halves on which the chosen set holds it."""

    name: str
    failure_rate: Statistic
    chosen: bool
    today: bool
    share_of_halves: float


class AlternativeRecord(Record, frozen=True, kw_only=True):
    """Another way to use the models at hand; ``difference`` is the chosen set's held-out value minus this one."""

    name: str
    sentence: str
    value: Statistic
    difference: Statistic
    mean_failure: float


class AppealRecord(Record, frozen=True, kw_only=True):
    """Appeal from a first model to a second one, which then decides.

    ``failure`` is the rate of the first model alone, ``after_appeal_in_sample`` that of those whom both fail with the
    second model that is best on everyone, ``after_appeal`` the same held out. ``false_positives`` and
    ``added_false_positives`` are of those whom the first model rejects rightly, or should.
    """

    first: str
    second: str
    individuals: int
    failure: Statistic
    after_appeal_in_sample: Statistic
    after_appeal: Statistic
    false_positives: Statistic
    added_false_positives: Statistic


class PortfolioChoice(Record, frozen=True, kw_only=True):
    """A choice among models.

    ``held_out`` is the mean value, on the other half, of the sets chosen on random halves of the individuals;
    ``random`` that of a random set of the same choice, ``today`` today's models. Differences are ``held_out`` minus
    theirs. ``bound`` is a value that no set can beat on these data, where the search was not exact;
    ``bound_reason`` says why there is none. ``within_noise`` lists sets whose value cannot be told from that of the
    chosen one, the best first, ``within_noise_count`` counts them among the ``sets_compared``.
    """

    headline: str
    noun: str = "individuals"
    individuals: int
    seed: int
    objective: str
    choice: str
    size: int
    by: tuple[str, ...] = ()
    worst_group: bool = False
    groups: int = 0
    most_mean_failure: float | None = None
    least_mean_failure: float
    sets: int
    method: str
    exact: bool
    bound: float | None = None
    bound_reason: str = ""
    chosen: PortfolioSet
    held_out: Statistic
    held_out_mean_failure: float
    halves: int
    halves_without_a_set: int = 0
    random: Statistic
    difference_from_random: Statistic
    today: PortfolioSet
    difference_from_today: Statistic
    within_noise: tuple[PortfolioSet, ...] = ()
    within_noise_count: int = 0
    sets_compared: int = 0
    within_noise_note: str = ""
    models: tuple[PortfolioModel, ...] = ()
    alternatives: tuple[AlternativeRecord, ...] = ()
    appeals: tuple[AppealRecord, ...] = ()
    appeals_note: str = ""
    notes: tuple[str, ...] = ()
