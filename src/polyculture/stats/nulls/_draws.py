"""Parametric bootstrap of a fitted mixture: data drawn from it, the null fitted again, and what is left over.

No row of the data is drawn: patterns are drawn from the fit, as counts where all that can occur are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.stats._rows import Floats, Ints
from polyculture.stats.nulls._families import FactorFamily
from polyculture.stats.nulls._latent import LatentFit, expected_of
from polyculture.stats.nulls._search import ascend, inverse
from polyculture.stats.nulls.protocol import Sets, Table
from polyculture.stats.nulls.rasch import by_number_failed

if TYPE_CHECKING:
    from polyculture.stats.nulls._families import Family

__all__ = ["MOST_SIMULATED", "Draws", "draw_excess", "every_pattern"]

MOST_SIMULATED = 5_000
"""Individuals up to which whole data sets are drawn where all possible patterns are too many to be listed."""

_MOST_PATTERNS = 1 << 14
_COSTLY = 3e6  # products of one gradient above which fewer data sets are drawn
_FEWER_DRAWS = 99
_SIMULATED_SCORES = 20_000  # individuals whose scores give the law of a single step
_CHORD_STEPS = 12
_NEAR = 4e-3  # log-likelihood that may be left on the table: 9 % of an estimate's error
_FLAT = 0.05  # the same along a flat ridge, where estimates move and what they expect does not
_FALLBACK_STEPS = 15
_FLATTEST = 1e-7  # directions with less information, of 1 a parameter, are left as they are


@dataclass(frozen=True, eq=False)
class Draws:
    """What is left over a null in data drawn from it.

    Attributes
    ----------
    excess : ndarray, shape (B,)
        Observed minus expected systemic failure after the refit; draws whose refit failed are left out.
    failed : int
        Draws whose refit failed.
    method : str
        How they were made.
    """

    excess: Floats
    failed: int
    method: str


class Curvature:
    """The information at a fit, taken apart once, so that every damped step is two products.

    Parameters
    ----------
    scores : ndarray, shape (P, m)
        Scores of patterns.
    count : ndarray, shape (P,)
        Individuals with each.
    """

    def __init__(self, scores: Floats, count: Floats) -> None:
        matrix = (scores * count[:, None]).T @ scores
        size = np.sqrt(np.diag(matrix))
        self._scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
        values, self._vectors = np.linalg.eigh(matrix * self._scale * self._scale[:, None])
        self._values = np.where(values > _FLATTEST, values, np.inf)

    def step(self, gradient: Floats, damping: float) -> Floats:
        """Return the step of scoring, (m,)."""
        inner = self._vectors.T @ (self._scale * gradient) / (self._values + damping)
        return np.asarray(self._scale * (self._vectors @ inner))


def draw_excess(fit: LatentFit, table: Table, n: float, draws: int, rng: np.random.Generator) -> Draws:
    """Draw data from a fit and fit again.

    Parameters
    ----------
    fit : LatentFit
        A null at its maximum likelihood.
    table : Table
        The table it was fitted to: its size, and who judged.
    n : float
        Individuals in whom systemic failure was counted; more than the table has where it is a sample.
    draws : int
        Data sets; at most 99 where a fit is costly (two factors of 10 models, say).
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    Draws
        Patterns are drawn as multinomial counts where at most 16,384 can occur; else individuals are drawn up to
        5,000; beyond, the refit is a single step of scoring, with normal sums of scores.
    """
    sets = table.sets
    affordable = draws if _cost(fit, table) <= _COSTLY else min(draws, _FEWER_DRAWS)
    possible = every_pattern(sets) if n <= table.n * (1 + 1e-9) and not fit.exact else None
    if possible is not None:
        return _by_patterns(fit, possible, sets, affordable, rng)
    simulated = n <= min(MOST_SIMULATED, table.n * (1 + 1e-9))
    if simulated:
        return _by_individuals(fit, sets, affordable, rng)
    return _one_step(fit, table, n, draws, rng)


def _cost(fit: LatentFit, table: Table) -> float:
    """Return the products that one gradient takes."""
    points = len(fit.family.points(fit.theta).log_weight)
    return float(len(table.count) * points * (table.models + 10))


def every_pattern(sets: Sets) -> Table | None:
    """Return all patterns that can occur, with the number of individuals of their set; None where too many can."""
    sizes = sets.judged.sum(axis=1)
    if sizes.max(initial=0) > 14 or float((2.0**sizes).sum()) > _MOST_PATTERNS:
        return None
    judged, failed = [], []
    for own in sets.judged:
        models = np.flatnonzero(own)
        bits = (np.arange(2 ** len(models))[:, None] >> np.arange(len(models))) & 1
        block = np.zeros((len(bits), len(own)))
        block[:, models] = bits
        failed.append(block)
        judged.append(np.broadcast_to(own, block.shape))
    count = np.repeat(sets.count, 2**sizes)
    return Table(np.concatenate(judged), np.concatenate(failed), count)


def _counts(
    fit: LatentFit, possible: Table, sets: Sets, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Table, Ints]]:
    """Yield drawn tables, and which of the possible patterns their rows are."""
    chances = np.exp(fit.log_probability(possible))
    ends = np.cumsum(2 ** sets.judged.sum(axis=1))
    parts = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    sizes = np.rint(sets.count).astype(np.int64)
    for _ in range(draws):
        drawn = [
            rng.multinomial(size, chances[part] / chances[part].sum()) for size, part in zip(sizes, parts, strict=True)
        ]
        count = np.concatenate(drawn).astype(np.float64)
        used = np.flatnonzero(count)
        yield possible.take(used, count[used]), used


def _individuals(fit: LatentFit, sets: Sets, count: Floats, rng: np.random.Generator) -> Table:
    points = fit.family.points(fit.theta)
    weights = np.exp(points.log_weight)
    sizes = np.rint(count).astype(np.int64)
    judged = np.repeat(sets.judged, sizes, axis=0)
    place = rng.choice(len(weights), size=len(judged), p=weights / weights.sum())
    failed = (rng.random(judged.shape) < points.rates[place]) & judged
    return Table(judged, failed.astype(np.float64), np.ones(len(judged)))


def _by_patterns(fit: LatentFit, possible: Table, sets: Sets, draws: int, rng: np.random.Generator) -> Draws:
    family, theta = fit.family, fit.theta
    scores, logs = family.scores(theta, possible), fit.log_probability(possible)
    curvature = Curvature(scores, possible.count * np.exp(logs))

    def again() -> Iterator[float | None]:
        for drawn, rows in _counts(fit, possible, sets, draws, rng):
            value, gradient = float(drawn.count @ logs[rows]), drawn.count @ scores[rows]
            estimate = _refit(family, theta, drawn, curvature=curvature, gradient=gradient, value=value)
            yield None if estimate is None else _excess(family, estimate, drawn)

    return _gathered(again(), f"{draws} draws of counts of patterns from the fit, each fitted again")


def _by_individuals(fit: LatentFit, sets: Sets, draws: int, rng: np.random.Generator) -> Draws:
    family, theta, n = fit.family, fit.theta, sets.count.sum()
    # The information in one data set is too noisy where parameters are many: it comes from a larger draw.
    large = _individuals(fit, sets, sets.count * np.ceil(_SIMULATED_SCORES / n), rng)
    curvature = Curvature(family.scores(theta, large), large.count * (n / large.n))

    def again() -> Iterator[float | None]:
        for _ in range(draws):
            drawn = _individuals(fit, sets, sets.count, rng)
            small = by_number_failed(drawn) if _is_rasch(family) else drawn
            value, gradient = family.gradient(theta, small)
            estimate = _refit(family, theta, small, curvature=curvature, gradient=gradient, value=value)
            yield None if estimate is None else _excess(family, estimate, drawn)

    return _gathered(again(), f"{draws} draws of individuals from the fit, each fitted again")


def _excess(family: Family, theta: Floats, drawn: Table) -> float:
    return float(drawn.count[drawn.all_fail].sum()) / drawn.n - expected_of(family, theta, drawn.sets)


def _gathered(excess: Iterator[float | None], method: str) -> Draws:
    every = list(excess)
    found = np.array([one for one in every if one is not None])
    return Draws(found, len(every) - len(found), method)


def _is_rasch(family: Family) -> bool:
    """Whether the numbers failed are sufficient, so that a drawn table can be made small."""
    return isinstance(family, FactorFamily) and family.common and family.link == "logit"


def _refit(
    family: Family, theta: Floats, table: Table, *, curvature: Curvature, gradient: Floats, value: float
) -> Floats | None:
    """Return the estimates on a drawn table: steps with the curvature at the fit, damped where they overshoot."""
    limits = family.bounds
    damping, last, small = 0.0, np.inf, 0
    for _ in range(_CHORD_STEPS):
        step = curvature.step(gradient, damping)
        if float(step @ gradient) / 2 < _NEAR * (1.0 + damping):
            return theta
        trial = np.clip(theta + step, -limits, limits)
        trial_value, trial_gradient = family.gradient(trial, table)
        if trial_value < value:
            damping = max(8.0 * damping, 0.05)
            continue
        theta, value, gradient, last = trial, trial_value, trial_gradient, trial_value - value
        small = small + 1 if last < _FLAT / 5 else 0
        if small == 2:
            return theta
        damping = damping / 2 if damping > 0.02 else 0.0
    if last < _FLAT:
        return theta
    found = ascend(family, table, theta, _FALLBACK_STEPS, near=_NEAR)
    return found.theta if found.gain < _FLAT else None


def _one_step(fit: LatentFit, table: Table, n: float, draws: int, rng: np.random.Generator) -> Draws:
    """Draw the count of systemic failures and, given it, a normal sum of scores; refit by one step.

    Scores and their law come from individuals drawn from the fit. Where the table is a sample of n individuals,
    only its own scores move the estimates.
    """
    family, theta, sets = fit.family, fit.theta, table.sets
    size = n if fit.exact else table.n
    chance = fit.expected(sets)
    shares = sets.count / sets.count.sum()
    drawn = _individuals(fit, sets, rng.multinomial(_SIMULATED_SCORES, shares).astype(np.float64), rng)
    scores = family.scores(theta, drawn)
    ends = Table(sets.judged, sets.judged.astype(np.float64), sets.count)
    weights = sets.count * np.exp(fit.log_probability(ends)) * sets.judged.any(axis=1)
    at_end = weights @ family.scores(theta, ends) / max(weights.sum(), 1e-300)
    others = scores[~drawn.all_fail]
    spread = np.cov(others.T).reshape(len(theta), len(theta))
    values, vectors = np.linalg.eigh(spread)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    information = (1 - chance) * spread + chance * (1 - chance) * np.outer(at_end, at_end) / max(
        1 - chance, 1e-300
    ) ** 2
    solver = inverse(information * size)
    mean_of_others = -chance / max(1 - chance, 1e-300) * at_end
    within = rng.binomial(round(size), chance, size=draws)
    beyond = rng.binomial(round(n - size), chance, size=draws) if n > size else np.zeros(draws)
    noise = rng.normal(size=(draws, len(theta))) @ root.T
    left = (size - within)[:, None]
    sums = within[:, None] * at_end + left * mean_of_others + np.sqrt(left) * noise
    observed = (within + beyond) / n
    # The step is taken on the log scale of what is expected, which stays positive.
    expected = chance * np.exp(np.clip(sums @ (solver @ at_end), -50.0, 50.0))
    return Draws(observed - expected, 0, f"{draws} draws of counts and normal scores, the refit by one step")
