"""The failure outcome profile: how many models failed an individual, observed and under independence.

By number of judgements m and of failures t. The ends t = m and t = 0 have their own question, `outcome`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import SAMPLED, Design, design_of, design_shares, plain_shares, scaled
from polyculture.audit.records import ProfileRow
from polyculture.audit.rows import mask_keys
from polyculture.audit.sums import binned, row_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.records import Outcome, Statistic
    from polyculture.audit.rows import Rows
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import Slice

_WORK = 5e7  # multiplications spent on the baseline of unequal judged sets before they are thinned out


def profile(
    individuals: Slice, settings: Settings, *, systemic_failure: Outcome, consistent_success: Outcome
) -> tuple[ProfileRow, ...]:
    """Return the profile of some individuals with its baseline.

    Parameters
    ----------
    individuals : Slice
        Those of the headline, or of a group.
    settings : Settings
        Whether this is a census.
    systemic_failure, consistent_success : Outcome
        Where all individuals are judged by equally many models, the ends of the profile are these outcomes,
        and have their intervals.

    Returns
    -------
    tuple of ProfileRow
        For each number of judgements m that occurs, t = 0 ... m. ``observed`` is among those judged by m
        models. ``expected`` is the Poisson-binomial probability of t under the slice's own failure rates,
        averaged over the judged sets of these individuals (2307.05862, P_base).
    """
    table = individuals.histogram
    expected = baseline(individuals)
    found: list[ProfileRow] = []
    sizes = np.unique(table.judged)
    for judged in sizes:
        at = table.judged == judged
        count = np.zeros(judged + 1, dtype=np.int64)
        count[table.failed[at]] = table.count[at]
        weight = np.zeros(judged + 1)
        weight[table.failed[at]] = table.weight[at]
        observed = _observed(individuals, int(judged), count, weight, settings)
        if len(sizes) == 1:
            observed[0], observed[-1] = consistent_success.observed, systemic_failure.observed
        found += [
            ProfileRow(
                judged=int(judged),
                failed=failed,
                count=int(count[failed]),
                observed=observed[failed],
                expected=float(expected[int(judged)][failed]),
            )
            for failed in range(int(judged) + 1)
        ]
    return tuple(found)


def baseline(individuals: Slice) -> dict[int, NDArray[np.float64]]:
    """Return the distribution of the number of failures under independence, by number of judgements.

    Parameters
    ----------
    individuals : Slice
        Their judged sets and failure rates.

    Returns
    -------
    dict of int to (m + 1,) float64
        Means over the individuals judged by m models. With very many different sets of very many models an
        even selection of the sets stands for all; where a sample holds nobody judged by m, m models of the
        mean rate do.
    """
    from polyculture.stats.poisson_binomial import pmf

    rows, rates = individuals.rows, np.nan_to_num(individuals.rates)
    if rows.complete:
        return {rows.models: pmf(rates)} if len(rows.count) else {}
    key = mask_keys(rows.judged)
    # Rows come by judged set: a run is a set. Were a set in two runs, it would only be computed twice.
    first = np.flatnonzero(np.diff(key, prepend=-1))
    weight = np.add.reduceat(rows.weight, first) if len(first) else np.zeros(0)
    size = row_counts(rows.judged[first])
    sizes = np.unique(size)
    limit = max(int(_WORK / (rows.models * rows.models * len(sizes))), 16)
    found = {}
    for judged in sizes:
        sets = np.flatnonzero(size == judged)
        if len(sets) > limit:
            sets = sets[np.linspace(0, len(sets) - 1, limit).astype(np.int64)]
        masks = rows.judged[first[sets]]
        own = np.broadcast_to(rates, masks.shape)[masks].reshape(len(sets), int(judged))
        found[int(judged)] = np.average(pmf(own), axis=0, weights=weight[sets])
    mean = float(np.average(rates, weights=individuals.judged))
    missed = set(individuals.histogram.judged.tolist()) - found.keys()
    return found | {judged: pmf(np.full(judged, mean)) for judged in missed}


def _observed(
    individuals: Slice,
    judged: int,
    count: NDArray[np.int64],
    weight: NDArray[np.float64],
    settings: Settings,
) -> list[Statistic]:
    rows = individuals.rows
    base = np.full(judged + 1, count.sum(), dtype=np.int64)
    if rows.plain:
        return plain_shares(count, base, census=settings.census)
    ours = rows.judged_by == judged
    design = _design(rows_failed=rows.failed_by[ours], judged=judged, rows=rows.take(ours))
    if individuals.exact is None:
        return design_shares(design, base, census=settings.census)
    share = weight / weight.sum()
    factor = float(count.sum()) / max(int(rows.count[ours].sum()), 1)
    return design_shares(scaled(design, share, factor), base, census=settings.census, note=SAMPLED)


def _design(rows_failed: NDArray[np.int64], judged: int, rows: Rows) -> Design:
    size = judged + 1
    shown = binned(rows_failed, rows.weight, size)
    each = np.ones(size)
    events = base = None
    if rows.cluster is not None:
        clusters, at = np.unique(rows.cluster, return_inverse=True)
        events = binned(at * size + rows_failed, rows.weight, len(clusters) * size).reshape(-1, size)
        base = np.repeat(events.sum(axis=1, keepdims=True), size, axis=1)
    return design_of(
        shown=shown,
        total=each * rows.weight.sum(),
        squared=each * rows.weight_squared.sum(),
        squared_events=binned(rows_failed, rows.weight_squared, size),
        count=each * rows.count.sum(),
        cluster_events=events,
        cluster_base=base,
    )
