"""Both margins fixed: how often each model fails, and how many models fail each individual.

Systemic failure, the profile and the mean co-failure of pairs are then fixed too: only how unevenly pairs share
failures can be tested. Draws are curveball trades between two models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats, Ints
from polyculture.stats.nulls.protocol import Table

__all__ = ["MOST_INDIVIDUALS", "SENTENCE", "Spread", "spread_p_value"]

SENTENCE = (
    "Every model fails as often, and every individual is failed by as many models, as in the data; only which models "
    "fail together is left to chance. It cannot test systemic failure, which is fixed with the margins."
)
MOST_INDIVIDUALS = 20_000
"""Individuals of a sample that is tested where there are too many different patterns for counts."""

_MOST_MODELS_OF_COUNTS = 12
_LARGEST_POPULATION = 10**9
_BURN_IN_SWEEPS = 5


@dataclass(frozen=True)
class Spread:
    """How unevenly pairs of models share failures.

    Attributes
    ----------
    observed, expected : float or None
        Standard deviation over pairs of the correlation of failures, and its mean over draws.
    p_value : float or None
        Two-sided, mid-p.
    method : str
        How, or why not.
    """

    observed: float | None
    expected: float | None
    p_value: float | None
    method: str


def spread_p_value(table: Table, rng: np.random.Generator, draws: int = 199) -> Spread:
    """Test whether pairs of models share failures more unevenly than both margins account for.

    Parameters
    ----------
    table : Table
        Patterns with whole counts.
    rng : numpy.random.Generator
        Source of the draws.
    draws : int
        Tables drawn.

    Returns
    -------
    Spread
        Undefined with fewer than three models that fail some and not all.

    Notes
    -----
    A trade takes those who are failed by exactly one of two models and deals them anew, each model keeping its number
    (Strona et al. 2014). With at most 12 models that all judged everyone, those with like answers of the other models
    are dealt as counts, by a multivariate hypergeometric law, so that the cost does not depend on their number.
    """
    used = (table.rates > 0.0) & (table.rates < 1.0)
    if int(used.sum()) < 3:
        return Spread(None, None, None, "fewer than three models fail some individuals and not others")
    counts = np.rint(table.count).astype(np.int64)
    chain: _Counts | _Individuals
    k = table.models
    if table.complete and k <= _MOST_MODELS_OF_COUNTS and counts.sum() < _LARGEST_POPULATION:
        chain, who = _Counts(table.failed, counts), f"{int(counts.sum()):,} individuals"
    else:
        if counts.sum() > MOST_INDIVIDUALS:
            counts = _some(counts, rng)
        rows = np.repeat(np.arange(len(counts)), counts)
        chain = _Individuals(table.failed[rows] > 0.5, table.judged[rows])
        who = f"{len(rows):,} individuals"
    pairs = [(j, m) for j in range(k) for m in range(j + 1, k) if used[j] and used[m]]
    observed = chain.spread(used)
    found = np.empty(draws)
    per_draw = max(len(pairs), 20) if k <= _MOST_MODELS_OF_COUNTS else 2 * k
    for _ in range(_BURN_IN_SWEEPS):
        _sweep(chain, pairs, per_draw, rng)
    for b in range(draws):
        _sweep(chain, pairs, per_draw, rng)
        found[b] = chain.spread(used)
    tolerance = 1e-9 * max(abs(observed), 1e-12)
    below, above = float((found < observed - tolerance).sum()), float((found > observed + tolerance).sum())
    tied = draws - below - above
    p = min(1.0, 2.0 * (0.5 + min(below, above) + tied / 2) / (draws + 1))
    method = f"spread of pair correlations, {draws} draws by curveball trades on {who}, mid-p"
    return Spread(observed, float(found.mean()), p, method)


def _some(counts: Ints, rng: np.random.Generator) -> Ints:
    """Return the counts of a sample of individuals."""
    if counts.sum() >= _LARGEST_POPULATION:
        return rng.multinomial(MOST_INDIVIDUALS, counts / counts.sum()).astype(np.int64)
    return rng.multivariate_hypergeometric(counts, MOST_INDIVIDUALS, method="marginals").astype(np.int64)


def _sweep(chain: _Counts | _Individuals, pairs: list[tuple[int, int]], trades: int, rng: np.random.Generator) -> None:
    for index in rng.integers(len(pairs), size=trades):
        first, second = pairs[index]
        chain.trade(first, second, rng)


def _spread(both: Floats, one: Floats, other: Floats, judged: Floats, used: Bools) -> float:
    """Return the standard deviation over pairs of phi; tables (k, k): failures of both, of the first, of the second."""
    upper = np.triu(used[:, None] & used[None, :], 1) & (judged > 0)
    n, first, second = judged[upper], one[upper], other[upper]
    variance = first * (n - first) * second * (n - second)
    kept = variance > 0
    phi = (n * both[upper] - first * second)[kept] / np.sqrt(variance[kept])
    return float(phi.std()) if len(phi) else 0.0


class _Counts:
    """Number of individuals with each of the 2^k patterns."""

    def __init__(self, failed: Floats, count: Ints) -> None:
        self.k = failed.shape[1]
        code = (failed > 0.5) @ (1 << np.arange(self.k)[::-1])
        self.cells = np.bincount(code, weights=count, minlength=2**self.k).astype(np.int64)
        self._bits = ((np.arange(2**self.k)[:, None] >> np.arange(self.k)[::-1]) & 1).astype(np.float64)

    def trade(self, j: int, m: int, rng: np.random.Generator) -> None:
        """Deal those whom exactly one of two models fails anew."""
        axes = np.moveaxis(self.cells.reshape([2] * self.k), (j, m), (0, 1))
        first, second = axes[1, 0].copy(), axes[0, 1].copy()
        pool = (first + second).ravel()
        own = int(first.sum())
        if own == 0 or own == int(pool.sum()):
            return
        occupied = np.flatnonzero(pool)
        dealt = np.zeros_like(pool)
        dealt[occupied] = rng.multivariate_hypergeometric(pool[occupied], own, method="marginals")
        axes[1, 0] = dealt.reshape(first.shape)
        axes[0, 1] = (pool - dealt).reshape(first.shape)

    def spread(self, used: Bools) -> float:
        """Return the spread of the pairs' correlations."""
        both = (self._bits * self.cells[:, None]).T @ self._bits
        one = np.broadcast_to(np.diag(both)[:, None], both.shape)
        return _spread(both, one, one.T, np.full_like(both, float(self.cells.sum())), used)


class _Individuals:
    """Failures (k, N) of individuals, one by one."""

    def __init__(self, failed: Bools, judged: Bools) -> None:
        self.failed = np.ascontiguousarray(failed.T)
        self.judged = np.ascontiguousarray(judged.T)
        asked = self.judged.astype(np.float64)
        self._asked, self._both_judged = asked, asked @ asked.T

    def trade(self, j: int, m: int, rng: np.random.Generator) -> None:
        """Deal those whom exactly one of two models fails, of those whom both judged, anew."""
        differ = np.flatnonzero((self.failed[j] != self.failed[m]) & self.judged[j] & self.judged[m])
        if len(differ) < 2:
            return
        dealt = rng.permutation(self.failed[j][differ])
        self.failed[j][differ] = dealt
        self.failed[m][differ] = ~dealt

    def spread(self, used: Bools) -> float:
        """Return the spread of the pairs' correlations."""
        values = self.failed.astype(np.float64)
        one = values @ self._asked.T
        return _spread(values @ values.T, one, one.T, self._both_judged, used)
