"""Draws of failure profiles given the margins, for tests that have no closed law.

Models are added one at a time to a histogram of individuals; nothing is drawn individual by individual.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from polyculture.stats._rows import Bools, Floats, Ints, column_sums, row_codes
from polyculture.stats.poisson_binomial import pmf
from polyculture.stats.profile_permutation import profile_rows

__all__ = ["draw_profiles", "profile_p_value", "same_by_draws"]

# numpy draws hypergeometric numbers up to this population.
_LARGEST_POPULATION = 10**9
_FEWEST_DRAWS = 99
# Hypergeometric numbers that one test may draw (under a second); four times as many are the most that it tries.
_BUDGET = 3_000_000


def draw_profiles(failures: ArrayLike, n: int, draws: int, rng: np.random.Generator) -> Ints:
    """Draw failure profiles of independent models with given numbers of failures.

    Parameters
    ----------
    failures : array_like of int, shape (k,)
        Failures of each model among n individuals, all judged by all models.
    n : int
        Individuals, below 1e9.
    draws : int
        Number of profiles.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of int, shape (draws, k + 1)
        Individuals failed by exactly t models; each row sums to n.

    Raises
    ------
    ValueError
        If a number of failures is outside 0..n or n is too large.

    Examples
    --------
    >>> import numpy as np
    >>> profiles = draw_profiles([5, 5], 10, 1000, np.random.default_rng(0))
    >>> profiles.shape, int(profiles.sum(axis=1).min()), round(float(profiles[:, 2].mean()), 1)
    ((1000, 3), 10, 2.5)
    """
    f = np.asarray(failures, dtype=np.int64)
    if f.size and (f.min() < 0 or f.max() > n):
        raise ValueError(f"failures must lie between 0 and {n}.")
    sets = np.ones((1, f.size), dtype=np.bool_)
    return _draw(sets, np.array([n], dtype=np.int64), f, draws, rng)[:, 0, :]


def profile_p_value(
    judged: ArrayLike, failed: ArrayLike, count: ArrayLike, rng: np.random.Generator, draws: int = 999
) -> tuple[float | None, str]:
    """Return the p-value of the whole failure outcome profile under independence.

    Parameters
    ----------
    judged, failed : array_like of bool, shape (P, k)
        A pattern table.
    count : array_like of int, shape (P,)
        Individuals a pattern.
    rng : numpy.random.Generator
        Source of the draws.
    draws : int
        Draws; fewer, but at least 99, where many models and sets make a draw costly.

    Returns
    -------
    p : float or None
        Share of draws (the data among them) whose profile, by number judged, is at least as far from the
        expected one in the likelihood-ratio statistic; None where it cannot be drawn.
    method : str
        How, or why not.

    Notes
    -----
    Individuals keep their sets of models; each model's failures fall on whom it judged, without replacement. A
    chi-square law would ignore that the rates are estimated and that cells are nearly empty.
    """
    rows, reason = profile_rows(judged, failed, count)
    k = rows.judged.shape[1]
    if reason:
        return None, reason
    sets, code = (rows.judged[:1], np.zeros(rows.count.size, int)) if rows.complete else row_codes(rows.judged)
    sizes = np.rint(np.bincount(code, rows.count)).astype(np.int64)
    if sizes.sum() >= _LARGEST_POPULATION:
        return None, f"profiles are drawn for fewer than {_LARGEST_POPULATION:,} individuals"
    used = _affordable(sets, sizes, draws)
    if used == 0:
        return None, f"{sets.shape[0]:,} different sets of models are too many to draw profiles"
    failures = np.rint(column_sums(rows.count, rows.failed)).astype(np.int64)
    expected, cell = _expected(sets, sizes, failures)
    observed = np.zeros((sets.shape[0], k + 1))
    t = rows.failed_number.astype(np.int64)
    np.add.at(observed, (code, t), rows.count)
    drawn = _draw(sets, sizes, failures, used, rng)
    at_data = float(_distance(observed[None], expected, cell)[0])
    at_draws = _distance(drawn, expected, cell)
    extreme = int((at_draws >= at_data * (1.0 - 1e-12)).sum())
    return (1 + extreme) / (1 + used), f"{used} draws given the margins, likelihood ratio"


def same_by_draws(events: int, failures: Ints, n: int, rng: np.random.Generator, draws: int) -> tuple[float, str]:
    """Return the two-sided mid-p value of the number at both ends of the profile.

    Two numbers are the whole state: whom all models so far failed, and whom none did.
    """
    if n >= _LARGEST_POPULATION:
        raise ValueError(f"profiles are drawn for fewer than {_LARGEST_POPULATION:,} individuals.")
    by_all, by_none = np.zeros(draws, dtype=np.int64), np.full(draws, n, dtype=np.int64)
    by_all += failures[0]
    by_none -= failures[0]
    for number in failures[1:]:
        again = rng.hypergeometric(by_all, n - by_all, number)
        by_none -= rng.hypergeometric(by_none, n - by_all - by_none, number - again)
        by_all = again
    drawn = by_all + by_none
    at = float((drawn == events).sum())
    tails = [(0.5 + tail + at / 2) / (1 + draws) for tail in ((drawn < events).sum(), (drawn > events).sum())]
    return min(1.0, 2.0 * min(tails)), f"{draws} draws given the margins, mid-p"


def _affordable(sets: Bools, sizes: Ints, draws: int) -> int:
    """Return how many draws fit the budget: all asked for, fewer, or 0 where not even the fewest do."""
    k = sets.shape[1]
    judged = sets.sum(axis=1)
    # Of the cells of a set, those within some standard deviations of the mean are occupied.
    occupied = np.minimum(np.minimum(judged + 1, 4.0 * np.sqrt(judged) + 8.0), sizes + 1)
    cost = max(float((occupied * judged).sum()) / max(k, 1) * k / 2, 1.0)
    most = int(_BUDGET / cost)
    if most >= draws:
        return draws
    return max(most, _FEWEST_DRAWS) if most * 4 >= _FEWEST_DRAWS else 0


def _draw(sets: Bools, sizes: Ints, failures: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Draw histograms (draws, sets, k + 1): each model fails individuals drawn from those it judged."""
    if sizes.sum() >= _LARGEST_POPULATION:
        raise ValueError(f"profiles are drawn for fewer than {_LARGEST_POPULATION:,} individuals.")
    k = sets.shape[1]
    histogram = np.zeros((sets.shape[0], k + 1, draws), dtype=np.int64)  # draws last: each cell is contiguous
    histogram[:, 0, :] = sizes[:, None]
    for j in range(k):
        concerned = np.flatnonzero(sets[:, j])
        left = np.full(draws, failures[j], dtype=np.int64)
        people = np.full(draws, int(sizes[concerned].sum()), dtype=np.int64)
        for s in concerned:
            cells = histogram[s]
            # From many failures to few, so that those who move up are not drawn twice.
            for t in np.flatnonzero(cells[: j + 1].any(axis=1))[::-1]:
                here = cells[t]
                moved = rng.hypergeometric(here, people - here, left)
                people -= here
                left -= moved
                cells[t + 1] += moved
                cells[t] = here - moved
    return np.ascontiguousarray(histogram.transpose(2, 0, 1))


def _expected(sets: Bools, sizes: Ints, failures: Ints) -> tuple[Floats, Ints]:
    """Return the expected counts of the cells (number judged, t), and the cell of each (set, t)."""
    k = sets.shape[1]
    people = (sets * sizes[:, None]).sum(axis=0)
    rates = np.divide(failures, people, out=np.zeros(k), where=people > 0)
    judged = sets.sum(axis=1)
    cell = judged[:, None] * (k + 1) + np.arange(k + 1)[None, :]
    counts = np.zeros((k + 1) ** 2)
    # A model that did not judge counts as one that never fails.
    np.add.at(counts, cell.ravel(), (sizes[:, None] * pmf(np.where(sets, rates, 0.0))).ravel())
    return counts, cell.astype(np.int64)


def _distance(histograms: Floats | Ints, expected: Floats, cell: Ints) -> Floats:
    """Likelihood-ratio statistic of each histogram (draws, sets, k + 1) against the expected cells."""
    draws = histograms.shape[0]
    used, place = np.unique(cell, return_inverse=True)
    merged = np.zeros((draws, used.size))
    if cell.shape[0] == 1:
        merged[:, place.ravel()] = histograms.reshape(draws, -1)
    else:
        np.add.at(merged.T, place.ravel(), histograms.reshape(draws, -1).T.astype(np.float64))
    baseline = np.maximum(expected[used], math.exp(-700.0))
    return np.asarray(2.0 * xlogy(merged, merged / baseline).sum(axis=1))
