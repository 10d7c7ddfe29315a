"""Shares of the models' likeness beyond chance, by Shapley value, where the conditions for them hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.component_pairs import JACKKNIFE, NO_PAIRS, over_models
from polyculture.audit.component_regression import design_of
from polyculture.audit.components_records import ShareRecord, SharesRecord
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.component_regression import Design, Term
    from polyculture.audit.component_table import Component
    from polyculture.audit.similarity import Similarity

    Floats = NDArray[np.float64]

FEWEST_LEVELS = 5
VALUE_FUNCTION = (
    "what the mean error consistency of pairs would be lower by, in the regression on a set of components and the "
    "two accuracies, if no two models shared any of them; over the mean error consistency"
)
NULL = "no two models share any of the components (value 0)"


def shares(found: Sequence[Component], similar: Similarity | None) -> SharesRecord:
    """Share out the likeness beyond chance over the components.

    Parameters
    ----------
    found : sequence of Component
        The components of the models.
    similar : Similarity or None
        The pairs.

    Returns
    -------
    SharesRecord
        A share is undefined with its reason with fewer than 10 models or 5 levels, and for numbers and dates, which
        have no state of sharing nothing; such components are held constant instead.
    """
    design = NO_PAIRS if similar is None else design_of(found, similar)
    if isinstance(design, str):
        none = undefined(design)
        every = tuple(ShareRecord(name=one.name, components=(one.name,), share=none) for one in found)
        return SharesRecord(value_function=VALUE_FUNCTION, null=NULL, excess=none, shares=every, rest=none)
    refused = {term.name: _no_share(term, design) for term in design.terms}
    players = [term for term in design.terms if not refused[term.name]]
    constant = [term.column for term in design.terms if refused[term.name]]
    values, excess, rest = _shapley(design, players, constant)
    records = [
        ShareRecord(
            name=term.name,
            components=tuple(one.name for one in term.components),
            share=values.get(term.name) or undefined(refused[term.name]),
        )
        for term in design.terms
    ]
    records += [
        ShareRecord(name=name, components=(name,), share=undefined(why)) for name, why in design.excluded.items()
    ]
    return SharesRecord(
        value_function=VALUE_FUNCTION,
        null=NULL,
        excess=excess,
        shares=tuple(records),
        rest=rest,
    )


def _no_share(term: Term, design: Design) -> str:
    for component in term.components:
        if component.kind != "category":
            return f"a {component.kind} has no state of sharing nothing; it is held constant"
        levels = {component.values[model] for model in design.models}
        if len(levels) < FEWEST_LEVELS:
            return f"only {len(levels)} levels; a share needs {FEWEST_LEVELS}. It is held constant"
    return ""


def _shapley(
    design: Design, players: Sequence[Term], constant: Sequence[Floats]
) -> tuple[dict[str, Statistic], Statistic, Statistic]:
    """Return the share of each term by name, what is shared out, and the share that is left."""
    from polyculture.stats.components import MOST_PLAYERS, fit, shapley_shares

    dyads = design.dyads
    mean = fit(dyads, np.ones((len(dyads.one), 1)))
    excess = over_models(float(mean.coefficients[0]), mean.without, (-1.0, 1.0))
    why = "" if players else "no component has shares"
    if len(players) > MOST_PLAYERS:
        why = f"more than {MOST_PLAYERS} components: merge some of them"
    elif excess.value is None or excess.low is None or excess.low <= 0:
        why = "the mean error consistency is not above 0 beyond doubt, so that there is nothing to share out"
    if why:
        none = undefined(why)
        return {term.name: none for term in players}, excess, none
    covariates = np.column_stack([design.accuracies, *constant])
    found = shapley_shares(dyads, np.column_stack([term.column for term in players]), covariates)

    def one(value: float, low: float, high: float) -> Statistic:
        if not low < high:
            return Statistic(value=value, reason="no interval: a component rests on one model")
        return Statistic(value=value, low=low, high=high, method=JACKKNIFE)

    named = {
        term.name: one(float(found.share[at]), float(found.low[at]), float(found.high[at]))
        for at, term in enumerate(players)
    }
    return named, excess, one(found.rest, found.rest_low, found.rest_high)
