"""The p-value of the spread of group products when group labels are shuffled.

Individuals are not shuffled one by one: counts of patterns are drawn, or, with many patterns, the rates themselves.
"""

from __future__ import annotations

import numpy as np

from polyculture.stats._group_rates import GroupRates
from polyculture.stats._rows import Bools, Floats, Ints, row_codes

__all__ = ["spread_p_value"]

# Patterns times groups times shuffles up to which counts are drawn, and numbers that the normal law may draw.
_MOST_EXACT = 500_000
_BUDGET = 60_000_000
_FEWEST_DRAWS = 99


def spread_p_value(rates: GroupRates, rng: np.random.Generator, draws: int) -> tuple[float, str]:
    """Return the share of shuffles whose spread is at least that of the data.

    Parameters
    ----------
    rates : GroupRates
        Of individuals of weight 1 without clusters.
    rng : numpy.random.Generator
        Source of the shuffles.
    draws : int
        Number of shuffles.

    Returns
    -------
    p : float
        With the data counted among the shuffles.
    method : str
        How labels were shuffled.
    """
    rows = rates.rows
    sizes = np.add.reduceat(rows.count, rates.starts[:-1])
    patterns, counts = _patterns(rates)
    if counts.size * rates.kept.size * draws <= _MOST_EXACT and rows.n < 1e9:
        spreads = _by_counts(rates, patterns.astype(np.float64), counts, sizes, rng, draws)
        method = f"{draws} shuffles of the group labels"
    else:
        used = int(np.clip(_BUDGET / rates.failed.size, _FEWEST_DRAWS, draws))
        spreads = _by_normal_law(rates, sizes, rng, used)
        method = f"{used} shuffles of the group labels, by the normal law of the rates"
    observed = float(np.exp(rates.log_products - rates.log_expected).var(ddof=1))
    extreme = int((spreads >= observed * (1.0 - 1e-9)).sum())
    return (1 + extreme) / (1 + spreads.size), method


def _patterns(rates: GroupRates) -> tuple[Bools, Ints]:
    """Return distinct patterns (judged masks, then failed masks) and their counts; the rows, where they are many."""
    rows = rates.rows
    both = np.concatenate([rows.judged, rows.failed], axis=1)
    if rows.count.size > _MOST_EXACT // _FEWEST_DRAWS:
        return both, np.rint(rows.count).astype(np.int64)
    patterns, code = row_codes(both)
    return patterns, np.rint(np.bincount(code, rows.count)).astype(np.int64)


def _by_counts(  # noqa: PLR0917 (the parts of one shuffle)
    rates: GroupRates,
    table: Floats,
    counts: Ints,
    sizes: Floats,
    rng: np.random.Generator,
    draws: int,
) -> Floats:
    """Deal individuals to the groups: what is left of each pattern is drawn without replacement."""
    k = table.shape[1] // 2
    left = np.repeat(counts[:, None], draws, axis=1)
    people = np.full(draws, int(counts.sum()), dtype=np.int64)
    logs = np.empty((sizes.size, draws))
    for g in range(sizes.size):
        dealt = left.copy() if g == sizes.size - 1 else _deal(left, people, int(sizes[g]), rng)
        left -= dealt
        people -= int(sizes[g])
        both = dealt.T.astype(np.float64) @ table
        with np.errstate(divide="ignore", invalid="ignore"):
            logs[g] = (np.log(both[:, k:]) - np.log(both[:, :k])).sum(axis=1)
    # A shuffled group in which a model judges nobody has no product; it counts as the expected one.
    logs = np.where(np.isnan(logs), rates.log_expected, logs)
    return np.asarray(np.exp(np.minimum(logs - rates.log_expected, 700.0)).var(axis=0, ddof=1))


def _deal(
    left: Ints,
    people: Ints,
    size: int,
    rng: np.random.Generator,
) -> Ints:
    dealt = np.zeros_like(left)
    wanted = np.full(people.shape, size, dtype=np.int64)
    rest = people.copy()
    for p in range(left.shape[0]):
        rest -= left[p]
        dealt[p] = rng.hypergeometric(left[p], rest, wanted)
        wanted -= dealt[p]
    return dealt


def _by_normal_law(rates: GroupRates, sizes: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """Draw the rates of groups around the pooled ones, with the covariance of individuals."""
    rows, k = rates.rows, rates.failed.shape[1]
    pooled = rates.failed.sum(axis=0) / rates.judged.sum(axis=0)
    judged_share = rates.judged.sum(axis=0) / rows.n
    gram = np.zeros((k, k))
    step = max(1, (1 << 14) // k)
    for start in range(0, rows.count.size, step):
        part = slice(start, start + step)
        residual = (rows.failed[part] - rows.judged[part] * pooled) / judged_share
        gram += (residual * rows.count[part][:, None]).T @ residual
    # Models that always agree make the matrix singular: a grain of noise of their own lets it be factored.
    gram[np.diag_indices(k)] += 1e-8 * float(np.trace(gram)) / k
    root = np.linalg.cholesky(gram / rows.n)
    share = sizes / sizes.sum()
    spreads = np.empty(draws)
    step = max(1, 2_000_000 // rates.failed.size)
    for start in range(0, draws, step):
        some = spreads[start : start + step]
        noise = rng.standard_normal((some.size, sizes.size, k)) / np.sqrt(sizes)[None, :, None]
        moved = (noise - (share @ noise)[:, None, :]) @ root.T
        with np.errstate(divide="ignore"):
            logs = np.log(np.clip(pooled + moved, 0.0, 1.0)).sum(axis=2)
        some[:] = np.exp(np.minimum(logs - rates.log_expected, 700.0)).var(axis=1, ddof=1)
    return spreads
