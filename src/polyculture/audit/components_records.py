"""Records about what models share: components, the regression on them, families, shares, and what if."""

from __future__ import annotations

from polyculture.audit.outcome_records import Outcome
from polyculture.audit.statistic import Record, Statistic, undefined

__all__ = [
    "ComponentRecord",
    "ComponentsRecord",
    "FamilyRecord",
    "RegressionRecord",
    "RegressionTerm",
    "ShareRecord",
    "SharesRecord",
    "WhatIfRecord",
]


class ComponentRecord(Record, frozen=True, kw_only=True):
    """Likeness of pairs of models that share one component, against pairs that do not; nothing else held constant.

    ``kind`` is "category" (same or different), or "number" or "date": ``within`` and ``between`` are then undefined,
    and ``correlation`` is with closeness, by ``scale``. Pairs of ``unknown`` models, whose value is not known, take no
    part. ``correlation`` is of likeness with sharing or closeness over pairs; ``p_value`` tests it by permuting models,
    and ``p_adjusted`` is corrected over all components; ``method`` says how, or why not. ``at_like_accuracies`` is the
    coefficient of this component alone in a regression on it and the accuracies of both models.
    ``without_near_duplicates`` is the difference (of numbers and dates the correlation) without one model of each
    near-duplicate pair.
    """

    name: str
    kind: str
    scale: str
    models: int
    levels: int
    unknown: tuple[str, ...]
    pairs_within: int
    pairs_between: int
    within: Statistic
    between: Statistic
    difference: Statistic
    correlation: Statistic
    p_value: float | None = None
    p_adjusted: float | None = None
    method: str = ""
    at_like_accuracies: Statistic = undefined("not computed")
    at_like_accuracies_p_value: float | None = None
    at_like_accuracies_p_adjusted: float | None = None
    without_near_duplicates: float | None = None
    without_near_duplicates_reason: str | None = None


class RegressionTerm(Record, frozen=True, kw_only=True):
    """One component in the regression: ``components`` holds several where they could not be told apart.

    ``coefficient`` is the difference in likeness between pairs that share it and pairs that do not (numbers and dates:
    between equal values and the two farthest apart), all other terms held constant; its interval is a jackknife over
    models. ``sandwich`` is the same number with the dyadic-robust interval of Aronow and others. ``kind`` is "category"
    where any of ``components`` is one.
    """

    name: str
    components: tuple[str, ...]
    kind: str
    coefficient: Statistic
    sandwich: Statistic
    p_value: float | None = None
    p_adjusted: float | None = None
    method: str = ""


class RegressionRecord(Record, frozen=True, kw_only=True):
    """Likeness of pairs on the accuracies of the two models and on what they share.

    ``models`` are those whose value of every component in it is known; ``left_out`` names the others.
    ``accuracies_share`` is the share of the variation of likeness that goes with the two accuracies, and
    ``components_share`` the share of what they leave that goes with all components. ``reason`` says why there is no
    regression.
    """

    models: int
    pairs: int
    left_out: tuple[str, ...]
    terms: tuple[RegressionTerm, ...]
    accuracies: str
    accuracies_share: float | None = None
    components_share: float | None = None
    reason: str = ""
    accuracies_share_reason: str | None = None
    components_share_reason: str | None = None


class ShareRecord(Record, frozen=True, kw_only=True):
    """The share of the models' likeness beyond chance that is associated with sharing a component."""

    name: str
    components: tuple[str, ...]
    share: Statistic


class SharesRecord(Record, frozen=True, kw_only=True):
    """Shapley shares: ``value_function`` and ``null`` say of what, ``excess`` is what is shared out.

    ``rest`` is associated with none of the components.
    """

    value_function: str
    null: str
    excess: Statistic
    shares: tuple[ShareRecord, ...]
    rest: Statistic = undefined("not computed")


class FamilyRecord(Record, frozen=True, kw_only=True):
    """The models of one level of a component: whom all of them fail, against their own failure rates.

    ``kappa`` is the mean error consistency of their pairs; None where it is undefined.
    """

    component: str
    level: str
    models: tuple[str, ...]
    kappa: float | None
    systemic_failure: Outcome
    kappa_reason: str | None = None


class WhatIfRecord(Record, frozen=True, kw_only=True):
    """Systemic failure expected if individuals faced one model of each family, drawn at random.

    ``expected`` is what independent failures would give. ``from_all`` is that of as many models drawn without regard
    to families, and ``difference`` is ``from_all`` minus ``systemic_failure``: what drawing by families would spare.
    ``left_out`` are models of unknown family.
    """

    component: str
    families: int
    left_out: tuple[str, ...]
    systemic_failure: Statistic
    expected: float | None
    from_all: Statistic
    difference: Statistic
    sentence: str
    expected_reason: str | None = None


class ComponentsRecord(Record, frozen=True, kw_only=True):
    """What goes with the likeness of models: the table of components held against the outcomes.

    ``source`` is the table and ``sha256`` that of its file; ``without_row`` are models of the audit that it does not
    hold. ``response`` is the likeness that is compared. ``near_duplicates_left_out`` are the models that
    ``without_near_duplicates`` is computed without.
    """

    sentence: str
    source: str
    sha256: str | None
    response: str
    without_row: tuple[str, ...]
    components: tuple[ComponentRecord, ...]
    regression: RegressionRecord
    shares: SharesRecord
    families: tuple[FamilyRecord, ...]
    what_if: tuple[WhatIfRecord, ...]
    near_duplicates_left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
