"""Systemic failure, consistent success, homogeneous outcomes: observed, expected, and their distance.

The question is put to a slice of individuals, so that the whole and every group are measured alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.independence import independence_p
from polyculture.audit.proportion import SAMPLED, from_estimated, number
from polyculture.audit.records import Outcome
from polyculture.audit.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.settings import Settings
    from polyculture.audit.view import Slice
    from polyculture.stats.homogeneity import Estimate, Event, Moments


MOST_PATTERNS = 1 << 16  # in a group, for its number of label errors


@dataclass(frozen=True)
class Measured:
    """An outcome as a record, and the moments and estimates that comparisons are made of."""

    outcome: Outcome
    moments: Moments
    estimate: Estimate


def measure(individuals: Slice, event: Event, settings: Settings, names: Sequence[str | None] = ()) -> Measured:
    """Measure one event on some individuals.

    Parameters
    ----------
    individuals : Slice
        Everyone of the headline, or a group.
    event : {"all_fail", "none_fail", "same"}
        Systemic failure, consistent success, or either of them.
    settings : Settings
        Seed and census.
    names : sequence of str or None
        The values of the group, for its own random numbers.

    Returns
    -------
    Measured
        Without anybody, and with one model, most figures are undefined and say so.
    """
    from polyculture.stats.homogeneity import estimate

    moments = slice_moments(individuals, event)
    found = estimate(moments, census=settings.census, count_label_errors=_counts_label_errors(individuals, names))
    p_value, p_method = independence_p(individuals, moments, settings, names)
    note = SAMPLED if individuals.exact else ""
    count, _ = individuals.totals(event)
    outcome = Outcome(
        count=count,
        individuals=individuals.individuals,
        observed=from_estimated(found.observed),
        expected=number(found.expected.value),
        expected_interval=from_estimated(found.expected, note=note),
        difference=from_estimated(found.difference, note=note),
        ratio=from_estimated(found.ratio, note=note),
        ceiling=number(found.ceiling),
        ceiling_share=from_estimated(found.ceiling_share, note=note),
        log10_ratio=from_estimated(found.log10_ratio, note=note),
        log10_expected=number(found.log10_expected),
        label_errors=found.label_errors,
        p_value=p_value,
        p_method=p_method,
    )
    return Measured(outcome, moments, found)


def _counts_label_errors(individuals: Slice, names: Sequence[str | None]) -> bool:
    """Say whether the number of label errors is worth its time: a search over the whole table of patterns."""
    if individuals.exact is not None:
        return False
    return not names or len(individuals.rows.count) <= MOST_PATTERNS


def slice_moments(individuals: Slice, event: Event) -> Moments:
    """Return the moments of an event on some individuals.

    Parameters
    ----------
    individuals : Slice
        Where their patterns are a sample, the sample is weighted so that its numbers of failures are those
        of all, and what is known exactly of the expectation is put in.
    event : str
        The event.

    Returns
    -------
    Moments
        See ``stats.moments``.
    """
    from polyculture.stats.homogeneity import moments
    from polyculture.stats.poisson_binomial import log_product

    rows = individuals.rows if individuals.exact is None else raked(individuals)
    found = moments(
        rows.judged,
        rows.failed,
        rows.count,
        rows.weight if rows.weighted else None,
        rows.weight_squared if rows.weighted else None,
        rows.cluster,
        event,
    )
    if individuals.exact is None or not len(rows.count):
        return found
    # Numbers of failures that the sample missed are lost in it, but not in the exact tables.
    events, observed = individuals.totals(event)
    n = individuals.individuals
    found = replace(found, n=n, events=events, observed=observed, n_effective=found.n_effective * n / found.n)
    if not rows.complete:
        return found
    fail, succeed = float(log_product(individuals.rates)), float(log_product(1.0 - individuals.rates))
    exact = {"all_fail": fail, "none_fail": succeed, "same": float(np.logaddexp(fail, succeed))}[event]
    return replace(found, log_expected=exact, log_smoothed=exact if np.isfinite(exact) else found.log_smoothed)


def raked(individuals: Slice) -> Rows:
    """Weight sampled patterns so that individuals by number judged and number failed are as in all.

    Parameters
    ----------
    individuals : Slice
        With exact tables.

    Returns
    -------
    Rows
        Counts are whole numbers only in sum. Numbers of failures that the sample missed get a row where the
        pattern is known for certain: all models, or none.
    """
    rows, table = individuals.rows, individuals.histogram
    width = rows.models + 1
    key = rows.judged_by * width + rows.failed_by
    wanted = table.judged * width + table.failed
    missed = np.flatnonzero(~np.isin(wanted, key) & (table.judged == rows.models))
    certain = missed[(table.failed[missed] == 0) | (table.failed[missed] == rows.models)]
    if len(certain):
        rows, key = _with_certain(rows, table.failed[certain] > 0), np.concatenate([key, wanted[certain]])
    sampled, at = np.unique(key, return_inverse=True)
    place = np.clip(np.searchsorted(wanted, sampled), 0, len(wanted) - 1)
    known = wanted[place] == sampled

    def factor(exact: np.ndarray, ours: np.ndarray) -> np.ndarray:
        sums = np.bincount(at, weights=ours, minlength=len(sampled))
        return np.asarray(np.where(known, exact[place], 0.0) / sums)[at]

    by_count, by_weight = factor(table.count, rows.count), factor(table.weight, rows.weight)
    return replace(
        rows,
        count=rows.count * by_count,
        weight=rows.weight * by_weight,
        weight_squared=rows.weight_squared * by_weight**2 / by_count,
    )


def _with_certain(rows: Rows, fails: np.ndarray) -> Rows:
    ones = np.ones(len(fails))
    return Rows(
        judged=np.vstack([rows.judged, np.ones((len(fails), rows.models), dtype=np.bool_)]),
        failed=np.vstack([rows.failed, np.repeat(fails[:, None], rows.models, axis=1)]),
        count=np.concatenate([rows.count, ones.astype(np.int64)]),
        weight=np.concatenate([rows.weight, ones]),
        weight_squared=np.concatenate([rows.weight_squared, ones]),
        cluster=None if rows.cluster is None else np.concatenate([rows.cluster, -ones.astype(np.int64)]),
        weighted=rows.weighted,
    )
