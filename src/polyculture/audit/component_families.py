"""Families: the models of one level of a component. Whom all of a family fail, and what one of each would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.component_words import what_if_sentence
from polyculture.audit.components_records import FamilyRecord, WhatIfRecord
from polyculture.audit.outcome import measure
from polyculture.audit.proportion import SAMPLED, from_estimated, number
from polyculture.audit.rows import merge
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import undefined
from polyculture.audit.view import Slice
from polyculture.audit.words import number_of

if TYPE_CHECKING:
    from polyculture.audit.component_table import Component
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import Similarity
    from polyculture.audit.view import View

MOST_FAMILIES = 60  # of one component, the largest


def families(
    view: View, found: Sequence[Component], similar: Similarity | None, settings: Settings
) -> tuple[tuple[FamilyRecord, ...], tuple[str, ...]]:
    """Measure systemic failure inside each family of two or more models.

    Parameters
    ----------
    view : View
        All individuals.
    found : sequence of Component
        The components; numbers and dates have no families.
    similar : Similarity or None
        The pairs, for the mean likeness inside.
    settings : Settings
        Seed and census.

    Returns
    -------
    tuple of FamilyRecord
        By component, the largest family first. Individuals are those whom two models of the family judged
        (``min_judged`` or all of a smaller family).
    tuple of str
        Notes: what was left out, and whether counts are those of a sample.
    """
    records: list[FamilyRecord] = []
    notes: list[str] = []
    for component in (one for one in found if one.kind == "category"):
        members = members_of(component)
        several = sorted((-len(models), str(level)) for level, models in members.items() if len(models) > 1)
        for _, level in several[:MOST_FAMILIES]:
            records.append(_family(view, component, level, members[level], similar, settings))
        if len(several) > MOST_FAMILIES:
            notes.append(f"The {MOST_FAMILIES} largest families of {len(several)} by {component.name} are measured.")
        single = len(members) - len(several)
        if single:
            notes.append(
                f"Values of {component.name} with one model, which are no families: {single} of {len(members)}."
            )
    if records and not view.tally.exact:
        sampled = number_of(view.merged.rows.individuals, settings.noun)
        notes.append(f"Families rest on a sample of {sampled}, and counts are of the sample.")
    return tuple(records), tuple(notes)


def members_of(component: Component) -> dict[str, list[int]]:
    """Return the models of each level."""
    members: dict[str, list[int]] = {}
    for model, value in enumerate(component.values):
        if value is not None:
            members.setdefault(str(value), []).append(model)
    return members


def _family(  # noqa: PLR0917
    view: View,
    component: Component,
    level: str,
    members: list[int],
    similar: Similarity | None,
    settings: Settings,
) -> FamilyRecord:
    rows = view.merged.rows
    judged, failed = rows.judged[:, members], rows.failed[:, members]
    least = min(view.tally.min_judged, len(members))
    enough = judged.sum(axis=1) >= least
    ours = merge(replace(rows, judged=judged, failed=failed).take(enough)).rows
    kappa = None
    if similar is not None:
        alike = similar.pairs.kappa.value[np.ix_(members, members)][np.triu_indices(len(members), 1)]
        kappa = number(float(np.nanmean(alike))) if np.isfinite(alike).any() else None
    return FamilyRecord(
        component=component.name,
        level=level,
        models=tuple(view.tally.models[j] for j in members),
        kappa=kappa,
        kappa_reason="no pair of them has a defined error consistency" if kappa is None else None,
        systemic_failure=measure(Slice(ours), "all_fail", settings, (component.name, level)).outcome,
    )


def what_if(view: View, found: Sequence[Component], settings: Settings) -> tuple[WhatIfRecord, ...]:
    """Ask what would be expected of one model of each family, for each component with families.

    Parameters
    ----------
    view : View
        All individuals.
    found : sequence of Component
        The components.
    settings : Settings
        Census, and what individuals are called.

    Returns
    -------
    tuple of WhatIfRecord
        Exact over all draws of models; intervals are over individuals.
    """
    return tuple(_what_if(view, one, settings) for one in found if one.kind == "category")


def _what_if(view: View, component: Component, settings: Settings) -> WhatIfRecord:
    from polyculture.stats.components import one_of_each

    members, models = members_of(component), view.tally.models
    left_out = tuple(model for model, known in zip(models, component.known, strict=True) if not known)
    if len(members) < 2 or all(len(inside) == 1 for inside in members.values()):
        one = "there is one family only" if len(members) == 1 else "no family has two models"
        none = undefined(one if members else "no family is known")
        return WhatIfRecord(
            component=component.name,
            families=len(members),
            left_out=left_out,
            systemic_failure=none,
            expected=None,
            expected_reason=str(none.reason),
            from_all=none,
            difference=none,
            sentence=what_if_sentence(component.name, len(members), settings.noun, none, none, none),
        )
    family = np.full(len(models), -1, dtype=np.int64)
    for code, level in enumerate(sorted(members)):
        family[members[level]] = code
    tally = view.tally
    drawn = one_of_each(
        Slice(view.merged.rows).table,
        family,
        min_judged=tally.min_judged,
        census=CENSUS if settings.census else "",
    )
    note = "" if tally.exact else SAMPLED
    observed, from_all, difference = (
        from_estimated(one, note=note) for one in (drawn.observed, drawn.from_all, drawn.difference)
    )
    return WhatIfRecord(
        component=component.name,
        families=len(members),
        left_out=left_out,
        systemic_failure=observed,
        expected=number(drawn.expected),
        expected_reason=drawn.observed.reason if drawn.expected is None else None,
        from_all=from_all,
        difference=difference,
        sentence=what_if_sentence(component.name, len(members), settings.noun, observed, from_all, difference),
    )
