"""Pairs of an audit's models as the statistics of components take them, and intervals over models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET

from polyculture.audit.statistic import Statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.component_table import Component
    from polyculture.audit.similarity import Similarity
    from polyculture.stats.components import Dyads

    Floats = NDArray[np.float64]

FEWEST_COMPARED = 6  # with fewer models, permuting them gives too few arrangements
FEWEST_REGRESSED = 10
FEWEST_DRAWS = 999
QAP = "models permuted (QAP)"
JACKKNIFE = "jackknife over models"
NO_PAIRS = "pairs are not computed for more than 1,000 models"
ONE_MODEL = "rests on one model: without it there is nothing to compare"
NO_VARIATION = "the data show no variation, so that an interval would have no width"


def permutations(tests: int) -> int:
    """Return how many draws a test needs whose p-value is corrected for the number of tests."""
    return max(FEWEST_DRAWS, 20 * tests)


def pairs_of(component: Component, models: Sequence[int], similar: Similarity) -> tuple[Dyads, Floats]:
    """Return the pairs of some models with their error consistency, and whether (or how closely) they share."""
    from polyculture.stats.components import Dyads

    dyads = Dyads.of(similar.pairs.kappa.value[np.ix_(models, models)])
    return dyads, column_of(component, models, dyads)


def column_of(component: Component, models: Sequence[int], dyads: Dyads) -> Floats:
    """Return whether each pair shares a component: 1 or 0, and between 0 and 1 how close numbers and dates are."""
    from polyculture.stats.components import closeness, sharing

    values = [component.values[model] for model in models]
    if component.kind != "category":
        return closeness(np.array(values, dtype=np.float64), dyads)
    levels = {level: code for code, level in enumerate(component.levels)}
    return sharing(np.array([-1 if value is None else levels[value] for value in values], dtype=np.int64), dyads)


def usable(component: Component, similar: Similarity) -> list[int]:
    """Return the models whose value is known and that have a defined error consistency with some other."""
    defined = np.isfinite(similar.pairs.kappa.value)
    np.fill_diagonal(defined, val=False)
    return [j for j, known in enumerate(component.known) if known and defined[j].any()]


def rates_of(similar: Similarity) -> Floats:
    """Return the failure rate of each model, (k,); 0 where it judged nobody."""
    cells = similar.pairs.cells
    judged = np.diag(cells.n)
    return np.divide(np.diag(cells.both), judged, out=np.zeros(len(judged)), where=judged > 0)


def over_models(value: float, without: Floats, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Statistic:
    """Return a figure with its jackknife interval; ``without`` (n, 1) is the figure without each model."""
    from polyculture.stats.components import jackknife_variance
    from polyculture.stats.intervals import quantile

    if np.isnan(without).any():
        return Statistic(value=value, reason=ONE_MODEL)
    half = quantile(clusters=len(without)) * float(np.sqrt(jackknife_variance(without)[0]))
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    if not low < high:
        return Statistic(value=value, reason=NO_VARIATION)
    return Statistic(value=value, low=low, high=high, method=JACKKNIFE, reason=UNSET)
