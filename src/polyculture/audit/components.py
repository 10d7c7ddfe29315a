"""What goes with the likeness of models: each component by itself, all of them together, families, and what if.

How it is estimated stands in ``stats.components``; families and the what-if in ``component_families``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from polyculture.audit.component_families import families, what_if
from polyculture.audit.component_pairs import (
    FEWEST_COMPARED,
    FEWEST_REGRESSED,
    JACKKNIFE,
    NO_PAIRS,
    QAP,
    over_models,
    pairs_of,
    permutations,
    rates_of,
    usable,
)
from polyculture.audit.component_regression import regression
from polyculture.audit.component_shares import shares
from polyculture.audit.component_words import sentence
from polyculture.audit.components_records import ComponentRecord, ComponentsRecord
from polyculture.audit.contrasts import adjusted
from polyculture.audit.proportion import number
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.component_table import Component, ComponentTable
    from polyculture.audit.records import NearDuplicate
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import Similarity
    from polyculture.audit.view import View
    from polyculture.stats.components import Dyads

    Floats = NDArray[np.float64]

RESPONSE = "error consistency (kappa)"
FLAT = "likeness does not vary"
_FIGURES = ("within", "between", "difference", "correlation", "at_like_accuracies")


def components(
    view: View,
    similar: Similarity | None,
    table: ComponentTable | None,
    settings: Settings,
    *,
    duplicates: Sequence[NearDuplicate] = (),
) -> ComponentsRecord | None:
    """Ask what goes with the likeness of models.

    Parameters
    ----------
    view : View
        All individuals.
    similar : Similarity or None
        The pairs; None above 1,000 models.
    table : ComponentTable or None
        What is known of each model.
    settings : Settings
        Seed, correction, census (which drops the intervals over individuals, not those over models).
    duplicates : sequence of NearDuplicate
        Pairs that may be one model.

    Returns
    -------
    ComponentsRecord or None
        None without a table.

    Raises
    ------
    InputError
        If the table does not fit the models.
    """
    if table is None:
        return None
    models = view.tally.models
    found = table.of(models)
    spare = _spare(duplicates)
    compared = [_compared(one, models, similar, spare, settings, draws=permutations(len(found))) for one in found]
    alone = adjusted([one.p_value for one in compared], settings)
    like = adjusted([one.at_like_accuracies_p_value for one in compared], settings)
    compared = [
        replace(one, p_adjusted=p, at_like_accuracies_p_adjusted=q)
        for one, p, q in zip(compared, alone, like, strict=True)
    ]
    together = regression(found, similar, settings)
    inside, notes = families(view, found, similar, settings)
    return ComponentsRecord(
        sentence=sentence(compared, together),
        source=table.source,
        sha256=table.sha256,
        response=RESPONSE,
        without_row=table.without_row(models),
        components=tuple(compared),
        regression=together,
        shares=shares(found, similar),
        families=inside,
        what_if=what_if(view, found, settings),
        near_duplicates_left_out=tuple(spare),
        notes=notes,
    )


def _spare(duplicates: Sequence[NearDuplicate]) -> list[str]:
    """Return one model of each near-duplicate pair, so that of every such pair at most one is left."""
    spare: dict[str, None] = {}
    for pair in duplicates:
        if not any(model in spare for model in pair.models):
            spare[pair.models[1]] = None
    return list(spare)


def _compared(
    component: Component,
    models: Sequence[str],
    similar: Similarity | None,
    spare: Sequence[str],
    settings: Settings,
    *,
    draws: int,
) -> ComponentRecord:
    unknown = tuple(model for model, known in zip(models, component.known, strict=True) if not known)
    category = component.kind == "category"
    none = undefined(NO_PAIRS)
    record = ComponentRecord(
        name=component.name,
        kind=component.kind,
        scale=component.scale,
        models=sum(component.known),
        levels=len(component.levels),
        unknown=unknown,
        pairs_within=0,
        pairs_between=0,
        within=none,
        between=none,
        difference=none,
        correlation=none,
        at_like_accuracies=none,
        method=NO_PAIRS,
        without_near_duplicates_reason=NO_PAIRS,
    )
    if similar is None:
        return record
    mine = usable(component, similar)
    dyads, column = pairs_of(component, mine, similar)
    inside = int(column[dyads.known].sum()) if category else 0
    counts = {"pairs_within": inside, "pairs_between": int(dyads.known.sum()) - inside if category else 0}
    reason = _untestable(component, len(mine), column[dyads.known])
    if reason:
        none = undefined(reason)
        return replace(
            record, **counts, **dict.fromkeys(_FIGURES, none), method=reason, without_near_duplicates_reason=reason
        )
    from polyculture.stats.components import qap

    tested = qap(
        dyads,
        column,
        np.ones((len(column), 1)),
        settings.generator("components", ("alone", component.name)),
        draws,
    )
    kept = [j for j in mine if models[j] not in spare]
    return replace(
        record,
        **counts,
        **(_means(dyads, column) if category else _no_means(component)),
        correlation=_correlation(dyads, column),
        p_value=number(tested.p_value),
        method=FLAT if np.isnan(tested.p_value) else f"{QAP}, {tested.permutations:,} draws, two-sided",
        **_at_like_accuracies(component, dyads, column, rates_of(similar)[mine], settings, draws),
        **_without(component, kept, similar, any_spare=bool(spare)),
    )


def _untestable(component: Component, models: int, column: Floats) -> str:
    if models < FEWEST_COMPARED:
        return f"only {models} models have a known value and a defined kappa; at least {FEWEST_COMPARED} are needed"
    if component.kind != "category":
        return "all models have the same value" if len(component.levels) < 2 else ""
    if not (column > 0).any():
        return "no two models share it"
    return "all models share it" if (column > 0).all() else ""


def _means(dyads: Dyads, column: Floats) -> dict[str, Any]:
    """Return the mean likeness of pairs that share and of pairs that do not, and the difference."""
    from polyculture.stats.components import fit

    found = fit(dyads, np.column_stack([column, 1.0 - column]))
    within, between = found.coefficients
    apart = found.without[:, :1] - found.without[:, 1:]
    return {
        "within": over_models(float(within), found.without[:, :1], (-1.0, 1.0)),
        "between": over_models(float(between), found.without[:, 1:], (-1.0, 1.0)),
        "difference": over_models(float(within - between), apart, (-2.0, 2.0)),
    }


def _no_means(component: Component) -> dict[str, Any]:
    none = undefined(f"a {component.kind} is close or far, not the same or different: see the correlation")
    return {"within": none, "between": none, "difference": none}


def _correlation(dyads: Dyads, column: Floats) -> Statistic:
    """Return the correlation of likeness and sharing, its interval made on the Fisher z scale."""
    from polyculture.stats.components import correlation

    value, without = correlation(dyads, column)
    if np.isnan(value):
        return undefined(FLAT)
    edge = 1.0 - 1e-12
    here, without = (np.arctanh(np.clip(one, -edge, edge)) for one in (value, without))
    found = over_models(float(here), without[:, None])
    if found.low is None or found.high is None:
        return Statistic(value=value, reason=found.reason)
    return Statistic(
        value=value,
        low=float(np.tanh(found.low)),
        high=float(np.tanh(found.high)),
        method=f"{JACKKNIFE} on the Fisher z scale",
    )


def _at_like_accuracies(  # noqa: PLR0917
    component: Component, dyads: Dyads, column: Floats, rates: Floats, settings: Settings, draws: int
) -> dict[str, Any]:
    """Return the coefficient of one component beside the accuracies, and its test."""
    from polyculture.stats.components import accuracies, fit, qap

    beside = accuracies(rates, dyads)
    if dyads.models < FEWEST_REGRESSED:
        few = f"only {dyads.models} models have a known value and a defined kappa; {FEWEST_REGRESSED} are needed"
        return {"at_like_accuracies": undefined(few)}
    found = fit(dyads, np.column_stack([beside, column]))
    value = float(found.coefficients[-1])
    if np.isnan(value):
        return {"at_like_accuracies": undefined("the accuracies determine it")}
    tested = qap(dyads, column, beside, settings.generator("components", ("accuracies", component.name)), draws)
    return {
        "at_like_accuracies": over_models(value, found.without[:, -1:]),
        "at_like_accuracies_p_value": number(tested.p_value),
    }


def _without(component: Component, kept: list[int], similar: Similarity, *, any_spare: bool) -> dict[str, Any]:
    """Return the difference (of numbers and dates the correlation) without near-duplicates, or why there is none."""
    from polyculture.stats.components import correlation

    if not any_spare:
        return {"without_near_duplicates_reason": "no models are near-duplicates"}
    dyads, column = pairs_of(component, kept, similar)
    reason = _untestable(component, len(kept), column[dyads.known])
    if reason:
        return {"without_near_duplicates_reason": reason}
    if component.kind != "category":
        value = number(correlation(dyads, column)[0])
        return {"without_near_duplicates": value, "without_near_duplicates_reason": FLAT if value is None else None}
    same, known = column > 0, dyads.known
    apart = float(dyads.response[known & same].mean() - dyads.response[known & ~same].mean())
    return {"without_near_duplicates": apart}
