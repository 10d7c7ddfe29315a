"""Predictive multiplicity (Marx and others, 2020): ambiguity, discrepancy, and the distribution of recourse.

Outcomes differ where one model fails an individual and the other does not; with more than two options two
wrong answers may differ too, which failure flags do not show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats, Rows, covariance, row_sums
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    effective_size,
    few_clusters,
    jeffreys_limits,
    undefined,
)
from polyculture.stats.multiplicity import sidak_level
from polyculture.stats.similarity.cells import Cells

__all__ = ["Recourse", "ambiguity", "baseline_model", "discrepancy", "recourse", "share_of_individuals"]


def baseline_model(cells: Cells) -> int | None:
    """Return the model of the lowest failure rate, the one with the lower index where they tie; None without any."""
    judged, failed = np.diag(cells.n), np.diag(cells.both)
    if not np.any(judged > 0):
        return None
    rates = np.where(judged > 0, failed / np.where(judged > 0, judged, 1.0), np.inf)
    return int(np.argmin(rates))


def share_of_individuals(rows: Rows, events: Bools, base: Bools, *, level: float = 0.95) -> Estimated:
    """Return the share of individuals with an event among ``base``, (P,) flags of rows.

    Jeffreys; with weights of the size of a plain sample in which the share varies as much, with clusters of
    Korn and Graubard's.
    """
    weight = rows.weight * base
    total = float(weight.sum())
    if total <= 0:
        return undefined("no such individual")
    value = min(1.0, float(weight @ (events & base)) / total)
    count = float(rows.count[base].sum())
    size, method = count, "Jeffreys"
    influence = base * (events - value) / (total / rows.total_weight)
    variance = 0.0 if rows.plain else float(covariance(rows, influence)[0, 0]) / rows.total_weight**2
    plain = value * (1 - value) / count
    if rows.clusters is None and not rows.plain:
        kish = count * float((rows.weight_squared * base).sum()) / total**2
        size = count / max(variance / plain if plain > 0 and variance > 0 else kish, 1.0)
    if rows.clusters is not None:
        if rows.clusters < FEWEST_CLUSTERS:
            return Estimated(value, reason=few_clusters(rows.clusters))
        effect = variance / plain if plain > 0 and variance > 0 else count / rows.clusters
        size = effective_size(count, max(effect, 1e-12), rows.clusters, level)
        method = f"Jeffreys, Korn-Graubard effective size, {rows.clusters} clusters"
    low, high = jeffreys_limits(value * size, size, level)
    return Estimated(value, float(low), float(high), method)


def ambiguity(rows: Rows, baseline: int) -> Estimated:
    """Return the share of the individuals judged by ``baseline`` to whom some other model gives another outcome."""
    differs = ((rows.failed != rows.failed[:, [baseline]]) & rows.judged).any(axis=1)
    return share_of_individuals(rows, differs, rows.judged[:, baseline])


def discrepancy(rows: Rows, cells: Cells, baseline: int) -> tuple[Estimated, int | None]:
    """Return the largest share of individuals to whom one other model gives another outcome, and that model.

    Parameters
    ----------
    rows : Rows
        The pattern table, for intervals where individuals have weights or come in clusters.
    cells : Cells
        The four cells of every pair.
    baseline : int
        h0, the model with which the others are compared.

    Returns
    -------
    discrepancy : Estimated
        The interval holds the largest of the models' Sidak-simultaneous limits.
    model : int or None
        The model that differs most, the first of them; None where no other judged the same individuals.
    """
    n = cells.n[baseline]
    others = np.flatnonzero((n > 0) & (np.arange(len(n)) != baseline))
    if not len(others):
        return undefined("no other model judged the same individuals"), None
    differing = (cells.first + cells.second)[baseline, others]
    model = int(others[np.argmax(differing / n[others])])
    level = sidak_level(int((np.arange(len(n)) != baseline).sum()))
    if rows.plain:
        worst = Estimated(float((differing / n[others]).max()), None, None, "Jeffreys")
        lows, highs = jeffreys_limits(differing, n[others], level)
        low, high = float(lows.max()), float(highs.max())
    else:
        found = {j: _differing(rows, baseline, j, level) for j in others.tolist()}
        worst = found[model]
        if worst.low is None or worst.high is None:
            return worst, model
        low = max(one.low for one in found.values() if one.low is not None)
        high = max(one.high for one in found.values() if one.high is not None)
    return Estimated(worst.value, low, high, f"{worst.method}, simultaneous over {len(others)} models"), model


def _differing(rows: Rows, baseline: int, other: int, level: float) -> Estimated:
    base = rows.judged[:, baseline] & rows.judged[:, other]
    return share_of_individuals(rows, rows.failed[:, baseline] != rows.failed[:, other], base, level=level)


@dataclass(frozen=True, eq=False)
class Recourse:
    """Individuals by the share of their models that give the wanted outcome; arrays (R,)."""

    low: Floats
    high: Floats
    count: Floats
    observed: tuple[Estimated, ...]


def recourse(rows: Rows, wanted: Bools, most: int = 21) -> Recourse:
    """Return how recourse is distributed.

    Parameters
    ----------
    rows : Rows
        The pattern table.
    wanted : (P, k) bool
        Which models give the wanted outcome; within ``rows.judged``.
    most : int
        Where there are more different shares than this, they are put into tenths.

    Returns
    -------
    Recourse
        ``low`` = ``high`` for single shares; tenths hold their upper end, the first its lower too.
    """
    ones = np.ones(rows.judged.shape[1])
    judged, given = row_sums(rows.judged, ones), row_sums(wanted, ones)
    value = np.round(given / np.where(judged > 0, judged, 1.0), 12)
    distinct = np.unique(value)
    if len(distinct) > most:
        edges = np.linspace(0.0, 1.0, 11)
        place = np.clip(np.ceil(value * 10).astype(np.int64) - 1, 0, 9)
        low, high, flags = edges[:-1], edges[1:], [place == b for b in range(10)]
    else:
        low = high = distinct
        flags = [value == one for one in distinct]
    everyone = judged > 0
    return Recourse(
        low,
        high,
        np.array([float(rows.count[flag].sum()) for flag in flags]),
        tuple(share_of_individuals(rows, flag, everyone) for flag in flags),
    )
