"""Systemic failure, consistent success, homogeneous outcomes: observed, expected, and their distance.

The question is put to a slice of individuals, so that the whole and every group are measured alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.independence import SAMPLED_PATTERNS, independence_p
from polyculture.audit.proportion import SAMPLED, from_estimated, number, why
from polyculture.audit.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.settings import Settings
    from polyculture.audit.view import Slice
    from polyculture.stats.homogeneity import Estimate, Event, Moments


MOST_PATTERNS = 1 << 16  # of unequal judged sets, for a number of label errors
NO_LABEL = "the failure rule compares with no label"
TOO_MANY_PATTERNS = f"not counted with more than {MOST_PATTERNS:,} failure patterns of unequal sets of models"


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
    not_counted = _no_label_errors(individuals, event, settings, names)
    found = estimate(moments, census=settings.census, count_label_errors=not not_counted)
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
        ceiling_reason=why(found.ceiling, found.ceiling_reason),
        log10_expected_reason=why(found.log10_expected, found.log10_expected_reason),
        label_errors_reason=why(found.label_errors, not_counted or found.label_errors_reason),
    )
    return Measured(outcome, moments, found)


def _no_label_errors(individuals: Slice, event: Event, settings: Settings, names: Sequence[str | None]) -> str:
    """Return why label errors are not looked for, a search over all patterns at each step; empty where they are."""
    rows = individuals.rows
    if not settings.labels:
        return NO_LABEL
    if individuals.exact is not None:
        return SAMPLED_PATTERNS
    few = rows.complete or len(rows.count) <= MOST_PATTERNS or (event == "all_fail" and not names)
    return "" if few else TOO_MANY_PATTERNS


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
    from polyculture.stats.moments import moments_of_rows
    from polyculture.stats.poisson_binomial import log_product

    found, rows = moments_of_rows(individuals.table, event), individuals.rows
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
