"""All components together: likeness of pairs regressed on what models share and how accurate they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from polyculture.audit.component_pairs import (
    FEWEST_REGRESSED,
    NO_PAIRS,
    QAP,
    column_of,
    over_models,
    permutations,
    rates_of,
    usable,
)
from polyculture.audit.components_records import RegressionRecord, RegressionTerm
from polyculture.audit.contrasts import adjusted
from polyculture.audit.proportion import number
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.component_table import Component
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import Similarity
    from polyculture.stats.components import Dyads, Fit

    Floats = NDArray[np.float64]

ENOUGH_FOR_SANDWICH = 100
INSEPARABLE = 0.9
SANDWICH = "dyadic-robust sandwich (Aronow, Samii and Assenova), t with models - 1 degrees of freedom"


@dataclass(frozen=True, eq=False)
class Term:
    """Components that take part as one column, which is the mean of theirs."""

    components: tuple[Component, ...]
    column: Floats

    @property
    def name(self) -> str:
        """Their names."""
        return " + ".join(component.name for component in self.components)

    @property
    def kind(self) -> str:
        """Category where one of them is."""
        kinds = [component.kind for component in self.components]
        return "category" if "category" in kinds else kinds[0]


@dataclass(frozen=True, eq=False)
class Design:
    """The pairs, the columns of accuracies, and the terms; or why there are none."""

    models: list[int]
    dyads: Dyads
    accuracies: Floats
    terms: tuple[Term, ...]
    excluded: dict[str, str]


def design_of(found: Sequence[Component], similar: Similarity) -> Design | str:
    """Return what is regressed, or the reason why nothing can be."""
    from polyculture.stats.components import Dyads, accuracies

    excluded: dict[str, str] = {}
    for component in found:
        known, everyone = len(usable(component, similar)), len(similar.models)
        if known < FEWEST_REGRESSED:
            excluded[component.name] = (
                f"only {known} models have a known value and a defined kappa; {FEWEST_REGRESSED} are needed"
            )
        elif 2 * known < everyone:  # the others would be lost to all components
            excluded[component.name] = f"known of only {known} of {everyone} models, fewer than half"
    chosen = [component for component in found if component.name not in excluded]
    while True:
        if not chosen:
            return next(iter(excluded.values()), "there is no component")
        models = sorted(set.intersection(*(set(usable(component, similar)) for component in chosen)))
        if len(models) < FEWEST_REGRESSED:
            return f"only {len(models)} models have all values known; {FEWEST_REGRESSED} are needed"
        dyads = Dyads.of(similar.pairs.kappa.value[np.ix_(models, models)])
        columns = [column_of(component, models, dyads) for component in chosen]
        flat = [one for one, column in zip(chosen, columns, strict=True) if np.ptp(column[dyads.known]) <= 0]
        if not flat:
            break
        for component in flat:
            excluded[component.name] = "all pairs share it, or none does"
            chosen.remove(component)
    terms = _merged(chosen, columns, dyads)
    return Design(models, dyads, accuracies(rates_of(similar)[models], dyads), terms, excluded)


def _merged(chosen: Sequence[Component], columns: Sequence[Floats], dyads: Dyads) -> tuple[Term, ...]:
    """Put components together whose sharing correlates above .9 over pairs, one by one."""
    groups: list[tuple[list[Component], list[Floats]]] = []
    for component, column in zip(chosen, columns, strict=True):
        for members, theirs in groups:
            if any(association(column, other, dyads) > INSEPARABLE for other in theirs):
                members.append(component)
                theirs.append(column)
                break
        else:
            groups.append(([component], [column]))
    return tuple(Term(tuple(members), np.mean(theirs, axis=0)) for members, theirs in groups)


def association(one: Floats, other: Floats, dyads: Dyads) -> float:
    """Return the correlation of two columns over the pairs whose likeness is known."""
    return float(np.corrcoef(one[dyads.known], other[dyads.known])[0, 1])


def regression(found: Sequence[Component], similar: Similarity | None, settings: Settings) -> RegressionRecord:
    """Regress likeness on sharing and accuracies.

    Parameters
    ----------
    found : sequence of Component
        The components of the models.
    similar : Similarity or None
        The pairs.
    settings : Settings
        Seed and correction.

    Returns
    -------
    RegressionRecord
        Terms whose coefficient does not exist say why; with too few models it has no terms, and a reason.
    """
    design = NO_PAIRS if similar is None else design_of(found, similar)
    if isinstance(design, str) or similar is None:
        return RegressionRecord(
            models=0,
            pairs=0,
            left_out=(),
            terms=(),
            accuracies="",
            reason=str(design),
            accuracies_share_reason=str(design),
            components_share_reason=str(design),
        )
    from polyculture.stats.components import fit

    columns = np.column_stack([design.accuracies, *(term.column for term in design.terms)])
    fitted = fit(design.dyads, columns)
    alone = fit(design.dyads, design.accuracies)
    terms = [_term(place, design, fitted, settings) for place in range(len(design.terms))]
    corrected = adjusted([term.p_value for term in terms], settings)
    shown = [replace(term, p_adjusted=p) for term, p in zip(terms, corrected, strict=True)]
    shown += [
        RegressionTerm(
            name=one.name,
            components=(one.name,),
            kind=one.kind,
            coefficient=undefined(why),
            sandwich=undefined(why),
            method=why,
        )
        for one in found
        if (why := design.excluded.get(one.name))
    ]
    left = alone.residual_share
    degree = 3 if design.accuracies.shape[1] > 5 else 2
    return RegressionRecord(
        models=len(design.models),
        pairs=fitted.pairs,
        left_out=tuple(name for j, name in enumerate(similar.models) if j not in set(design.models)),
        terms=tuple(shown),
        accuracies=f"mean and distance of the two failure rates, polynomial of degree {degree}",
        accuracies_share=number(1.0 - left),
        components_share=number(1.0 - fitted.residual_share / left) if left > 0 else None,
        accuracies_share_reason="likeness does not vary" if np.isnan(left) else None,
        components_share_reason=None if left > 0 else "the accuracies leave nothing",
    )


def _term(place: int, design: Design, fitted: Fit, settings: Settings) -> RegressionTerm:
    from polyculture.stats.components import qap

    term = design.terms[place]
    names = tuple(component.name for component in term.components)
    others = [other.column for at, other in enumerate(design.terms) if at != place]
    why = _inseparable(term.column, others, design)
    at = design.accuracies.shape[1] + place
    value = float(fitted.coefficients[at])
    if why or np.isnan(value):
        why = why or "the accuracies and the other components determine it"
        none = undefined(why)
        return RegressionTerm(
            name=term.name, components=names, kind=term.kind, coefficient=none, sandwich=none, method=why
        )
    tested = qap(
        design.dyads,
        term.column,
        np.column_stack([design.accuracies, *others]),
        settings.generator("components", ("together", *names)),
        permutations(len(design.terms)),
    )
    return RegressionTerm(
        name=term.name,
        components=names,
        kind=term.kind,
        coefficient=over_models(value, fitted.without[:, at : at + 1]),
        sandwich=_sandwich(value, float(fitted.covariance[at, at]), len(design.models)),
        p_value=number(tested.p_value),
        method="likeness does not vary"
        if np.isnan(tested.p_value)
        else f"{QAP} by double semi-partialling, {tested.permutations:,} draws, two-sided",
    )


def _inseparable(column: Floats, others: Sequence[Floats], design: Design) -> str:
    """Say that the other components together tell a component, above a correlation of .9; empty where not."""
    if not others:
        return ""
    known = design.dyads.known
    against = np.column_stack([np.ones(int(known.sum())), *(other[known] for other in others)])
    ours = column[known]
    solved, *_ = np.linalg.lstsq(against, ours, rcond=None)
    left = float(((ours - against @ solved) ** 2).sum() / ((ours - ours.mean()) ** 2).sum())
    together = float(np.sqrt(max(0.0, 1.0 - left)))
    return f"not separable from the other components (correlation {together:.2f})" if together > INSEPARABLE else ""


def _sandwich(value: float, variance: float, models: int) -> Statistic:
    from polyculture.stats.intervals import quantile

    half = quantile(clusters=models) * float(np.sqrt(variance))
    if half <= 0:
        return Statistic(value=value, reason="the estimated variance is not positive")
    warning = ""
    if models < ENOUGH_FOR_SANDWICH:
        warning = f"too narrow below {ENOUGH_FOR_SANDWICH} models: rely on the test and on the jackknife"
    return Statistic(
        value=value,
        low=value - half,
        high=value + half,
        method=SANDWICH,
        **({"reason": warning} if warning else {}),
    )
