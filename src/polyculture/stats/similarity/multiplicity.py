"""Predictive multiplicity (Marx and others, 2020): ambiguity, discrepancy, and the distribution of recourse.

Outcomes differ where one model fails an individual and the other does not; with more than two options two
wrong answers may differ too, which failure flags do not show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyculture.stats._rows import Bools, Floats, Rows, column_sums, covariance, row_sums
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    effective_size,
    few_clusters,
    jeffreys_limits,
    undefined,
)
from polyculture.stats.multiplicity import sidak_level

__all__ = ["Recourse", "ambiguity", "baseline_model", "discrepancy", "recourse", "share_of_individuals"]


def baseline_model(rows: Rows) -> int | None:
    """Return the model of the lowest failure rate, the one with the lower index where they tie; None without any."""
    judged = column_sums(rows.weight, rows.judged)
    failed = column_sums(rows.weight, rows.failed)
    if not np.any(judged > 0):
        return None
    rates = np.where(judged > 0, failed / np.where(judged > 0, judged, 1.0), np.inf)
    return int(np.argmin(rates))


def share_of_individuals(
    rows: Rows, events: Bools, base: Bools, *, level: float = 0.95, share: float = 1.0
) -> Estimated:
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
    size /= share
    low, high = jeffreys_limits(value * size, size, level)
    return Estimated(value, float(low), float(high), method)


def ambiguity(rows: Rows, baseline: int, share: float = 1.0) -> Estimated:
    """Return the share of the individuals judged by ``baseline`` to whom some other model gives another outcome."""
    differs = ((rows.failed != rows.failed[:, [baseline]]) & rows.judged).any(axis=1)
    return share_of_individuals(rows, differs, rows.judged[:, baseline], share=share)


def discrepancy(rows: Rows, baseline: int, share: float = 1.0) -> tuple[Estimated, int | None]:
    """Return the largest share of individuals to whom one other model gives another outcome, and that model.

    The interval holds the largest of the models' Sidak-simultaneous limits.
    """
    others = [j for j in range(rows.judged.shape[1]) if j != baseline]
    found: list[tuple[Estimated, int]] = []
    for j in others:
        base = rows.judged[:, baseline] & rows.judged[:, j]
        differs = rows.failed[:, baseline] != rows.failed[:, j]
        one = share_of_individuals(rows, differs, base, level=sidak_level(len(others)), share=share)
        if one.value is not None:
            found.append((one, j))
    if not found:
        return undefined("no other model judged the same individuals"), None
    worst, model = max(found, key=lambda item: (item[0].value or 0.0, -item[1]))
    limits = [(one.low, one.high) for one, _ in found if one.low is not None and one.high is not None]
    if not limits:
        return worst, model
    low, high = max(low for low, _ in limits), max(high for _, high in limits)
    return Estimated(worst.value, low, high, f"{worst.method}, simultaneous over {len(found)} models"), model


@dataclass(frozen=True, eq=False)
class Recourse:
    """Individuals by the share of their models that give the wanted outcome; arrays (R,)."""

    low: Floats
    high: Floats
    count: Floats
    observed: tuple[Estimated, ...]


def recourse(rows: Rows, wanted: Bools, share: float = 1.0, most: int = 21) -> Recourse:
    """Return how recourse is distributed.

    Parameters
    ----------
    rows : Rows
        The pattern table.
    wanted : (P, k) bool
        Which models give the wanted outcome; within ``rows.judged``.
    share : float
        Rows for each individual, where rows are a sample.
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
        tuple(share_of_individuals(rows, flag, everyone, share=share) for flag in flags),
    )
