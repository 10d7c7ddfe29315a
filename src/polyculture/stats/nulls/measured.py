"""What every null is asked, and the form of its answer: excess with interval, p-value, smallest detectable excess.

Which nulls there are, and how each comes to its numbers, stands in ``ladder``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from polyculture.stats._rows import Floats, Ints, covariance
from polyculture.stats.homogeneity import Moments, estimate
from polyculture.stats.independence import p_value_by_interval
from polyculture.stats.intervals import Estimated, undefined
from polyculture.stats.moments import has_event
from polyculture.stats.nulls.protocol import Table

__all__ = [
    "LEVEL",
    "Measured",
    "Question",
    "residual_df",
    "smallest_detectable",
    "tested_by_interval",
    "two_sided_mid_p",
    "with_excess",
    "with_expected",
]

LEVEL = 0.05
_POWER = 1.959964 + 0.841621  # 80 % power of a two-sided test at 5 %
NO_FIT = undefined("the null has no fit")


@dataclass(frozen=True, eq=False)
class Question:
    """What all nulls are asked about.

    Attributes
    ----------
    moments : Moments
        Of systemic failure; its rows are the patterns.
    n : float
        Individuals in whom systemic failure was counted.
    sampled : float or None
        Individuals whose patterns are known, where they are a sample.
    strata : Moments or None, stratum : ndarray or None
        The same with rows apart by group, and the group of each row.
    sizes, failed : ndarray or None
        Individuals (G,) and failures (G, k) by group of everyone, where patterns are a sample.
    everyone : Table or None
        Rows by number of failures of everyone, where patterns are a sample.
    census : bool
        Whether there is no sampling error.
    draws : int
        Data sets drawn from every null.
    rng : callable
        Gives the Generator of a null by its name.
    """

    moments: Moments
    n: float
    rng: Callable[[str], np.random.Generator]
    sampled: float | None = None
    strata: Moments | None = None
    stratum: Ints | None = None
    sizes: Floats | None = None
    failed: Floats | None = None
    everyone: Table | None = None
    census: bool = False
    draws: int = 199


@dataclass(frozen=True)
class Measured:
    """A null and what is left over it.

    Attributes
    ----------
    name, sentence : str
        What it is.
    parameters : int
        Free parameters.
    residual_df : int or None
        Free patterns less parameters; None where not all models judged everyone, or there are more than 62.
    expected : float or None
        Expected systemic failure; None where ``reason`` says why.
    excess, homogenization : Estimated
        Observed minus expected, and observed over expected.
    log_likelihood, held_out : float or None
        Of all individuals, and of an individual under the fit to the other half.
    profile : tuple of float
        Expected share of individuals by number of failures.
    p_value : float or None, method : str
        Of the null, and how it was tested or why not.
    smallest_detectable : float or None
        Excess that is found in 80 % of data sets at 5 %.
    by_construction : bool
        Whether it has as many parameters as patterns are free.
    reason : str
        Why nothing is known.
    log_likelihood_reason, held_out_reason, smallest_reason : str
        Why that number alone is not known; empty where it is, or where ``reason`` (for the last ``method``) says it.
    """

    name: str
    sentence: str
    parameters: int
    residual_df: int | None = None
    expected: float | None = None
    excess: Estimated = field(default=NO_FIT)
    homogenization: Estimated = field(default=NO_FIT)
    log_likelihood: float | None = None
    held_out: float | None = None
    profile: tuple[float, ...] = ()
    p_value: float | None = None
    method: str = ""
    smallest_detectable: float | None = None
    by_construction: bool = False
    reason: str = ""
    log_likelihood_reason: str = ""
    held_out_reason: str = ""
    smallest_reason: str = ""

    @property
    def rejected(self) -> bool | None:
        """Whether the data reject the null at 5 %; None where there is no test."""
        return None if self.p_value is None else self.p_value < LEVEL


def residual_df(table: Table, parameters: int) -> int | None:
    """Return the number of free patterns less the parameters, at least 0."""
    if not table.complete or table.models > 62:
        return None
    return max(int(2**table.models) - 1 - parameters, 0)


def with_expected(question: Question, moments: Moments, expected: float, influence: Floats, exact: bool) -> Moments:
    """Return the moments with what another null expects in place of what independence does."""
    rows = moments.rows
    happened = has_event(moments).astype(np.float64) - moments.observed
    both = covariance(rows, happened, influence) / rows.total_weight**2
    variance, correlation = float(both[1, 1]), 0.0
    if both[0, 0] > 0.0 and variance > 0.0:
        correlation = float(np.clip(both[0, 1] / math.sqrt(both[0, 0] * variance), -1.0, 1.0))
    if question.sampled is not None and not exact:
        # The estimates rest on the sample only, and it is but a part of those in whom the event was counted.
        variance *= question.n / question.sampled
        correlation *= math.sqrt(question.sampled / question.n)
    log_expected = math.log(expected) if expected > 0.0 else -math.inf
    if not math.isfinite(log_expected):
        return replace(moments, log_expected=log_expected)
    return replace(
        moments,
        log_expected=log_expected,
        var_log_expected=variance,
        correlation=correlation,
        log_smoothed=log_expected,
        var_log_smoothed=variance,
    )


def with_excess(shown: Measured, moments: Moments, *, census: bool) -> Measured:
    """Return the null with excess and ratio, from the moments of `with_expected`."""
    found = estimate(moments, census=census, count_label_errors=False)
    return replace(shown, excess=found.difference, homogenization=found.ratio)


def two_sided_mid_p(value: float, draws: Floats) -> float:
    """Return twice the smaller tail of a value among draws, ties counted by half and the value among them.

    >>> round(two_sided_mid_p(3.0, np.arange(9.0)), 2)
    0.8
    """
    tolerance = 1e-12
    below, above = float((draws < value - tolerance).sum()), float((draws > value + tolerance).sum())
    tied = len(draws) - below - above
    return min(1.0, 2.0 * (0.5 + min(below, above) + tied / 2) / (len(draws) + 1))


def smallest_detectable(sd: float, n: float) -> float:
    """Return the excess found with 80 % power at 5 %.

    Where almost nothing is expected the test rejects at one event, which 1.61 expected events show in 80 % of data.
    """
    return max(_POWER * sd, -math.log(0.2) / n)


def tested_by_interval(shown: Measured, moments: Moments) -> Measured:
    """Return the null with the test that belongs to the interval of its excess."""
    p, method = p_value_by_interval(moments)
    low, high = shown.excess.low, shown.excess.high
    smallest = None
    if p is not None and low is not None and high is not None:
        smallest = smallest_detectable((high - low) / (2 * 1.959964), moments.n_effective)
    return replace(
        shown, p_value=p, method=method, smallest_detectable=smallest, smallest_reason=shown.excess.reason if p else ""
    )
