"""What if individuals faced one model of each family, drawn at random? Exact, from the pattern table.

Draws of different families are independent, so that the mean over all draws is a product over families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from polyculture.stats._rows import Floats, Ints, Rows, covariance, row_sums
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    Interval,
    effective_size,
    few_clusters,
    jeffreys,
    mover_difference,
    no_interval,
    undefined,
)

__all__ = ["OneOfEach", "one_of_each"]

NOBODY = "no individual was judged by enough of them"


@dataclass(frozen=True)
class OneOfEach:
    """Systemic failure where one model of each family is drawn, and where as many are drawn from all models.

    ``expected`` is what independence at the models' own rates gives; ``difference`` is drawn from all models minus
    one of each family.
    """

    observed: Estimated
    expected: float | None
    from_all: Estimated
    difference: Estimated


def one_of_each(rows: Rows, family: Ints, *, min_judged: int = 2, census: str = "") -> OneOfEach:
    """Return expected systemic failure with one model drawn from each family.

    Parameters
    ----------
    rows : Rows
        The pattern table.
    family : (k,) int64
        The family of each model, 0 ... L - 1; a negative number is a model of none.
    min_judged : int
        Fewest drawn models that must have judged an individual.
    census : str
        Where not empty, the reason why there are no intervals.

    Returns
    -------
    OneOfEach
        An individual whom fewer drawn models judged has no part in that draw.

    Examples
    --------
    >>> from polyculture.stats._rows import make_rows
    >>> failed = np.array([[1, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0]], dtype=bool)
    >>> rows = make_rows(np.ones_like(failed), failed, [1, 1, 2])
    >>> found = one_of_each(rows, np.array([0, 0, 1, 1]))
    >>> found.observed.value, found.expected
    (0.25, 0.140625)
    """
    families = int(family.max(initial=-1)) + 1
    inside = family >= 0
    least = min(min_judged, families)
    if families < 2 or not len(rows.count):
        return OneOfEach(undefined(NOBODY), None, undefined(NOBODY), undefined(NOBODY))
    member = (family[:, None] == np.arange(families)) & inside[:, None]
    size = member.sum(axis=0).astype(np.float64)
    fails = row_sums(rows.failed, member / size)
    silent = 1.0 - row_sums(rows.judged, member / size)
    happened, counted = _products(fails, silent, least)
    rates = np.nan_to_num(rows.failed_weight / np.where(rows.judged_weight > 0, rows.judged_weight, np.nan))
    chance, _ = _products(row_sums(rows.judged, member * rates[:, None] / size), silent, least)
    drawn, drawn_of = _random(rows, inside, families, least)
    one, one_influence = _ratio(rows, happened, counted)
    all_, all_influence = _ratio(rows, drawn, drawn_of)
    if one is None or all_ is None:
        return OneOfEach(undefined(NOBODY), None, undefined(NOBODY), undefined(NOBODY))
    expected, _ = _ratio(rows, chance, counted)
    joint = covariance(rows, one_influence, all_influence)
    limits = [_interval(rows, value, float(joint[i, i]), census) for i, value in enumerate((one, all_))]
    spread = float(np.sqrt(joint[0, 0] * joint[1, 1]))
    together = float(joint[0, 1]) / spread if spread > 0 else 0.0
    between = no_interval(limits[0].reason or limits[1].reason)
    if limits[0].low is not None and limits[1].low is not None:
        between = mover_difference(all_, limits[1], one, limits[0], together)
    return OneOfEach(
        observed=Estimated(one, *limits[0]),
        expected=expected,
        from_all=Estimated(all_, *limits[1]),
        difference=Estimated(all_ - one, *between),
    )


def _products(fails: Floats, silent: Floats, least: int) -> tuple[Floats, Floats]:
    """Return for each row the chance that all drawn models that judged fail, and that enough judged; (P, L) -> (P,).

    Both with at least ``least`` judgements among the drawn models: those with fewer are taken off the products.
    """
    happened = np.prod(fails + silent, axis=1) - _few(fails, silent, least)
    return np.maximum(happened, 0.0), np.maximum(1.0 - _few(1.0 - silent, silent, least), 0.0)


def _few(parts: Floats, silent: Floats, least: int) -> Floats:
    """Return the chance of fewer than ``least`` draws of a kind and otherwise silent ones; (P, L) -> (P,)."""
    few = np.zeros((len(parts), least))
    few[:, 0] = 1.0
    for family in range(parts.shape[1]):
        shifted = np.zeros_like(few)
        shifted[:, 1:] = few[:, :-1] * parts[:, family, None]
        few = few * silent[:, family, None] + shifted
    return np.asarray(few.sum(axis=1))


def _random(rows: Rows, inside: np.ndarray, drawn: int, least: int) -> tuple[Floats, Floats]:
    """Return the same for ``drawn`` models taken from all of them without regard to families."""
    ones = inside.astype(np.float64)
    judged, failed = row_sums(rows.judged, ones), row_sums(rows.failed, ones)
    everyone = float(ones.sum())
    silent = everyone - judged
    happened, counted = _without_success(failed + silent, everyone, drawn), np.ones(len(judged))
    for number in range(least):  # so many of the drawn ones judged
        happened -= _hypergeometric(failed, silent, everyone, drawn, number)
        counted -= _hypergeometric(judged, silent, everyone, drawn, number)
    return np.maximum(happened, 0.0), np.maximum(counted, 0.0)


def _without_success(allowed: Floats, everyone: float, drawn: int) -> Floats:
    return np.exp(_log_choose(allowed, float(drawn)) - _log_choose(np.full_like(allowed, everyone), float(drawn)))


def _hypergeometric(marked: Floats, silent: Floats, everyone: float, drawn: int, number: int) -> Floats:
    """Return the chance to draw ``number`` marked models and otherwise silent ones."""
    logs = _log_choose(marked, float(number)) + _log_choose(silent, float(drawn - number))
    return np.exp(logs - _log_choose(np.full_like(marked, everyone), float(drawn)))


def _log_choose(n: Floats, r: float) -> Floats:
    possible = np.where(n >= r, n, r)
    logs = gammaln(possible + 1) - gammaln(r + 1) - gammaln(possible - r + 1)
    return np.where(n >= r, logs, -np.inf)


def _ratio(rows: Rows, events: Floats, base: Floats) -> tuple[float | None, Floats]:
    """Return the weighted ratio of sums, and what an individual of each row adds to it."""
    total = float(rows.weight @ base)
    if total <= 0:
        return None, np.zeros(len(base))
    value = min(1.0, float(rows.weight @ events) / total)
    return value, (events - value * base) / total


def _interval(rows: Rows, value: float, variance: float, census: str) -> Interval:
    """Jeffreys with the number of like individuals in whom a yes or no of that rate varies as much."""
    if census:
        return no_interval(census)
    if rows.clusters is not None and rows.clusters < FEWEST_CLUSTERS:
        return no_interval(few_clusters(rows.clusters))
    plain = value * (1.0 - value)
    kish = rows.total_weight**2 / float(rows.weight_squared.sum())
    if rows.clusters is not None:
        effect = max(variance * rows.n / plain, 1e-12) if plain > 0 and variance > 0 else rows.n / rows.clusters
        size = effective_size(rows.n, effect, rows.clusters)
        method = f"Jeffreys of the effective size, {rows.clusters} clusters"
    else:
        size = plain / variance if plain > 0 and variance > 0 else kish
        method = "Jeffreys of the effective size"
    return jeffreys(value * size, size)._replace(method=method)
