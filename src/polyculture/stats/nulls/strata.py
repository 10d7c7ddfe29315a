"""Independence within strata: groups, or any observed columns, may differ in every model's rate.

The product of rates of a small stratum is biased where failures are shared inside it, so it is jackknifed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polyculture.stats._profile_draws import draw_profiles
from polyculture.stats._rows import Floats, Ints
from polyculture.stats.nulls.protocol import Sets, Table
from polyculture.stats.poisson_binomial import pmf

__all__ = ["SENTENCE", "Strata", "StrataFit", "fit_strata"]

SENTENCE = (
    "Within each group every model has its own failure rate, and models fail independently there; groups may differ. "
    "Groups that are fine enough account for anything."
)

_MOST_CELLS = 40_000_000  # rows x sets x models up to which individuals are left out one at a time
_MOST_PROFILE_SETS = 2_000


@dataclass(frozen=True, eq=False)
class Strata:
    """A table whose rows belong to strata.

    Attributes
    ----------
    table : Table
        Patterns.
    stratum : ndarray of int, shape (P,)
        Stratum of each row, 0..G-1.
    sizes, failed : ndarray or None
        Where the rows are a sample: individuals (G,), and failures of each model (G, k), of everyone.
    """

    table: Table
    stratum: Ints
    sizes: Floats | None = None
    failed: Floats | None = None

    def parts(self) -> list[tuple[Ints, Table]]:
        """Return the rows and the table of every stratum that holds anybody."""
        order = np.argsort(self.stratum, kind="stable")
        bounds = np.searchsorted(self.stratum[order], np.arange(int(self.stratum.max(initial=-1)) + 2))
        rows = [order[start:end] for start, end in pairwise(bounds.tolist()) if end > start]
        return [(own.astype(np.int64), self.table.take(own)) for own in rows]


@dataclass(frozen=True, eq=False)
class StrataFit:
    """Independence within strata.

    Attributes
    ----------
    expected, corrected : float
        Expected systemic failure: with the observed rates, and jackknifed.
    influence : ndarray, shape (P,)
        Of an individual of each row on the log of what is expected.
    profile : ndarray, shape (k + 1,)
        Expected share of individuals by number of failures; empty with too many sets of models.
    log_likelihood : float
        Of the table.
    parameters, strata : int
        Rates that are free, and strata.
    relative_bias : float
        What the jackknife took off, relative to ``expected``.
    """

    expected: float
    corrected: float
    influence: Floats
    profile: Floats
    log_likelihood: float
    parameters: int
    strata: int
    relative_bias: float


def fit_strata(strata: Strata) -> StrataFit:
    """Return what independence within strata expects.

    Parameters
    ----------
    strata : Strata
        Patterns by stratum.

    Returns
    -------
    StrataFit

    Notes
    -----
    E = sum_g n_g / n mean_{i in g} prod_{j judged i} f_gj. Jackknife in each stratum: n_g E_g - (n_g - 1) times the
    mean of E_g without one individual; strata of one individual are left as they are.
    """
    table = strata.table
    n, k = table.n, table.models
    expected = corrected = likelihood = 0.0
    parameters = 0
    influence, law = np.zeros(len(table.count)), np.zeros(k + 1)
    known = strata.sizes is not None and strata.failed is not None and table.complete
    total = float(strata.sizes.sum()) if known and strata.sizes is not None else n
    parts, profiled = strata.parts(), True
    for rows, part in parts:
        sets, rates = part.sets, part.rates
        by_set, through = _products(sets, rates, part)
        own = float(sets.count @ by_set)
        better = _jackknifed(part, own)
        weight = 1.0
        if known and strata.sizes is not None and strata.failed is not None:
            g = int(strata.stratum[rows[0]])
            exact = strata.failed[g] / max(strata.sizes[g], 1.0)
            # The sample's bias is larger than that of everyone by the ratio of their sizes.
            better = strata.sizes[g] * float(np.prod(exact)) + (better - own)
            own, rates, weight = strata.sizes[g] * float(np.prod(exact)), exact, strata.sizes[g] / part.n
        expected += own
        corrected += max(better, 0.0)
        parameters += int((part.judged.any(axis=0)).sum())
        likelihood += float(part.count @ _log_probability(part, rates))
        deviation = np.divide(part.failed - rates, rates, out=np.zeros_like(part.failed), where=rates > 0.0)
        influence[rows] = by_set[sets.index] + (deviation * part.judged) @ through
        if profiled and len(sets.count) <= _MOST_PROFILE_SETS:
            law += weight * (sets.count @ pmf(rates * sets.judged))
        else:
            profiled = False
    influence = influence / max(expected / total, 1e-300) - 1.0
    return StrataFit(
        expected=expected / total,
        corrected=corrected / total,
        influence=influence,
        profile=law / law.sum() if profiled else np.zeros(0),
        log_likelihood=likelihood,
        parameters=parameters,
        strata=len(parts),
        relative_bias=(expected - corrected) / expected if expected > 0.0 else 0.0,
    )


def held_out(train: Strata, test: Strata) -> float:
    """Return the log-likelihood of one half under the rates of the other, half a failure added to each rate."""
    pooled = train.table.rates
    rates = {int(train.stratum[rows[0]]): _smoothed(part, pooled) for rows, part in train.parts()}
    return sum(
        float(part.count @ _log_probability(part, rates.get(int(test.stratum[rows[0]]), pooled)))
        for rows, part in test.parts()
    )


def draw_counts(strata: Strata, draws: int, rng: np.random.Generator) -> Ints:
    """Draw numbers of systemic failures given each model's failures in each stratum, (draws,).

    All models judged everyone; the mean is the sum of n_g prod f_gj, with no bias.
    """
    found = np.zeros(draws, dtype=np.int64)
    for _, part in strata.parts():
        failures = np.rint(part.count @ part.failed).astype(np.int64)
        found += draw_profiles(failures, round(part.n), draws, rng)[:, -1]
    return found


def _smoothed(part: Table, pooled: Floats) -> Floats:
    judged = part.count @ part.judged
    return np.asarray((part.count @ part.failed + pooled) / (judged + 1.0))


def _log_probability(part: Table, rates: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        fail, succeed = np.log(rates), np.log1p(-rates)
    fail, succeed = np.maximum(fail, -745.0), np.maximum(succeed, -745.0)
    return np.asarray(part.failed @ (fail - succeed) + part.judged @ succeed)


def _products(sets: Sets, rates: Floats, part: Table) -> tuple[Floats, Floats]:
    """Return the product of rates of each set, (M,), and how much of the mean passes through each model, (k,)."""
    by_set = np.where(sets.judged.any(axis=1), np.prod(np.where(sets.judged, rates, 1.0), axis=1), 0.0)
    judged = part.count @ part.judged
    through = np.divide((sets.count * by_set) @ sets.judged, judged, out=np.zeros(len(rates)), where=judged > 0)
    return by_set, through


def _jackknifed(part: Table, own: float) -> float:
    """Return the jackknifed sum of expected systemic failures of a stratum."""
    n, sets = part.n, part.sets
    judged, failed = part.count @ part.judged, part.count @ part.failed
    if n < 2 or len(part.count) * len(sets.count) * part.models > _MOST_CELLS:
        return own
    left_judged, left_failed = judged - part.judged, failed - part.failed
    possible = left_judged > 0
    with np.errstate(divide="ignore"):
        logs = np.log(
            np.maximum(np.divide(left_failed, left_judged, out=np.zeros_like(left_failed), where=possible), 0.0)
        )
    logs = np.maximum(logs, -1e4)
    products = np.exp(logs @ sets.judged.T.astype(np.float64)) * sets.judged.any(axis=1)
    others = products @ sets.count - products[np.arange(len(part.count)), sets.index]
    without = others / (n - 1.0)
    return n * (own - (n - 1.0) * float(part.count @ without) / n)
