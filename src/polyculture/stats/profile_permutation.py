"""The profile test by shuffling individuals, for judged sets so many that there is no short histogram to draw on.

With few different sets ``independence.profile_p_value`` draws whole histograms and is faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from polyculture.stats._rows import Bools, Floats, Ints, Rows, make_rows, row_codes
from polyculture.stats.poisson_binomial import pmf

__all__ = ["permutation_cost", "profile_p_by_permutation", "profile_rows"]

_FEWEST_DRAWS = 99
# Individuals times models times draws that one test may shuffle (about three seconds at most).
_BUDGET = 200_000_000


def permutation_cost(individuals: int, models: int, draws: int = 999) -> int:
    """Return how many judgements a test shuffles, at most the budget; 0 where not even 99 draws fit it."""
    each = max(individuals * models, 1)
    used = min(draws, _BUDGET // each)
    return used * each if used >= _FEWEST_DRAWS else 0


def profile_rows(judged: ArrayLike, failed: ArrayLike, count: ArrayLike) -> tuple[Rows, str]:
    """Return a pattern table, checked, and why its profile cannot be tested; empty where it can."""
    rows = make_rows(judged, failed, count)
    several = rows.count.size and int(rows.judged_number.max()) >= 2
    return rows, "" if several else "one model: there is nothing to homogenize"


def profile_p_by_permutation(
    judged: ArrayLike, failed: ArrayLike, count: ArrayLike, rng: np.random.Generator, draws: int = 999
) -> tuple[float | None, str]:
    """Return the p-value of the whole failure outcome profile under independence, by dealing failures out anew.

    Parameters
    ----------
    judged, failed, count
        As in ``independence.profile_p_value``.
    rng : numpy.random.Generator
        Source of the shuffles.
    draws : int
        Shuffles; fewer, but at least 99, where individuals are many.

    Returns
    -------
    p : float or None
        Share of shuffles (the data among them) whose profile, by number judged, is at least as far from the
        expected one in the likelihood-ratio statistic; None where individuals are too many.
    method : str
        How, or why not.

    Notes
    -----
    Each model's failures are dealt out anew among the individuals whom it judged. Conditional on the number of
    failures of each model this is the law under independence, as in ``independence.profile_p_value``.

    Examples
    --------
    >>> import numpy as np
    >>> failed = np.repeat([[1, 1], [0, 0]], 50, axis=0)
    >>> p, method = profile_p_by_permutation(np.ones_like(failed), failed, [1] * 100, np.random.default_rng(0))
    >>> p, method
    (0.001, '999 shuffles given the margins, likelihood ratio')
    """
    rows, reason = profile_rows(judged, failed, count)
    k = rows.judged.shape[1]
    if reason:
        return None, reason
    individuals = round(rows.n)
    cost = permutation_cost(individuals, k, draws)
    if cost == 0:
        return None, f"{individuals:,} individuals with unequal sets of models are too many to shuffle"
    used = cost // (individuals * k)
    times = np.rint(rows.count).astype(np.int64)
    asked = np.repeat(rows.judged, times, axis=0)
    failed_by = np.repeat(rows.failed, times, axis=0)
    sizes, size = np.unique(asked.sum(axis=1), return_inverse=True)
    cell_of = size * (k + 1)
    expected = _expected(asked, cell_of, sizes.size, failed_by.sum(axis=0))
    at_data = _distance(cell_of + failed_by.sum(axis=1), expected)
    deal = _dealer(asked, failed_by, rng)
    extreme = sum(_distance(cell_of + deal(), expected) >= at_data * (1.0 - 1e-12) for _ in range(used))
    return (1 + extreme) / (1 + used), f"{used} shuffles given the margins, likelihood ratio"


def _dealer(asked: Bools, failed: Bools, rng: np.random.Generator) -> Callable[[], Ints]:
    """Return a function that deals failures out anew and gives each individual's number of them."""
    if asked.all():
        by_model = np.ascontiguousarray(failed.T)
        return lambda: np.asarray(rng.permuted(by_model, axis=1).sum(axis=0, dtype=np.int64))
    members = [np.flatnonzero(column) for column in asked.T]
    failures = failed.sum(axis=0).tolist()

    def deal() -> Ints:
        t = np.zeros(asked.shape[0], dtype=np.int64)
        for own, number in zip(members, failures, strict=True):
            t[own[rng.permutation(own.size)[:number]]] += 1
        return t

    return deal


def _expected(asked: Bools, cell_of: Ints, sizes: int, failures: Ints) -> Floats:
    """Return the expected individuals by size of the judged set and number failed, as one row of cells."""
    sets, code = row_codes(asked)
    k = asked.shape[1]
    people = asked.sum(axis=0)
    rates = np.divide(failures, people, out=np.zeros(k), where=people > 0)
    expected = np.zeros(sizes * (k + 1))
    size = np.bincount(code)
    first = np.unique(code, return_index=True)[1]
    cells = cell_of[first][:, None] + np.arange(k + 1)
    # A model that did not judge counts as one that never fails.
    np.add.at(expected, cells.ravel(), (size[:, None] * pmf(np.where(sets, rates, 0.0))).ravel())
    return expected


def _distance(cells: Ints, expected: Floats) -> float:
    observed = np.bincount(cells, minlength=expected.size)
    return float(2.0 * xlogy(observed, observed / np.maximum(expected, math.exp(-700.0))).sum())
