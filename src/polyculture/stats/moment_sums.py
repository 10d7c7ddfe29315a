"""Sums from which the moments of all three events follow, and that add and subtract as Tallies do.

For data in which all models judged everyone and nobody is clustered. Once a group's sums are known, those of everyone
else are a subtraction, and no table is read again. Moments from tables of any kind are made in ``moments``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from polyculture.stats._rows import Bools, Floats, Rows, column_sums
from polyculture.stats.moments import Event, Moments, moments_of_rows

__all__ = ["MOST_MODELS", "MomentSums", "moment_sums", "summable"]

MOST_MODELS = 64
"""Up to so many models, sums over pairs of models are cheaper than another look at the table."""


def summable(rows: Rows) -> bool:
    """Return whether the moments of a table follow from sums over pairs of models."""
    return rows.complete and rows.cluster is None and 0 < rows.failed.shape[1] <= MOST_MODELS


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Sums over individuals, with h the vector of failures of an individual of weight w.

    Attributes
    ----------
    count, weight, squares : float
        Individuals, sum of w, sum of w^2.
    first, second : ndarray, shape (k,)
        Sums of w h and of w^2 h.
    both : ndarray, shape (k, k)
        Sum of w^2 h h'.
    all_fail, none_fail : ndarray, shape (3,)
        Individuals, weight and squared weight of those whom all models fail, and of those whom none fails.
    plain : bool
        Whether everyone weighs 1.
    """

    count: float
    weight: float
    squares: float
    first: Floats
    second: Floats
    both: Floats
    all_fail: Floats
    none_fail: Floats
    plain: bool

    def __add__(self, other: MomentSums) -> MomentSums:
        """Return the sums of the individuals of both."""
        return self._combined(other, 1.0)

    def __sub__(self, other: MomentSums) -> MomentSums:
        """Return the sums without the individuals of ``other``, who must be among those of ``self``."""
        return self._combined(other, -1.0)

    def _combined(self, other: MomentSums, sign: float) -> MomentSums:
        names = ("count", "weight", "squares", "first", "second", "both", "all_fail", "none_fail")
        parts = {name: getattr(self, name) + sign * getattr(other, name) for name in names}
        return MomentSums(**parts, plain=self.plain and other.plain)

    def relabelled(self, event: Event, share: float) -> MomentSums:
        """Return the sums after a share of the individuals with an event got the other label.

        Those whom all models failed are then failed by none, and the other way round.
        """
        moved = (self.all_fail if event == "all_fail" else self.none_fail) * share
        sign = -1.0 if event == "all_fail" else 1.0
        return replace(
            self,
            first=self.first + sign * moved[1],
            second=self.second + sign * moved[2],
            both=self.both + sign * moved[2],
            all_fail=self.all_fail + sign * moved,
            none_fail=self.none_fail - sign * moved,
        )

    def moments(self, event: Event, skewness: float = 0.0) -> Moments:
        """Return the moments of an event; the same as `moments` of the table, but without the table.

        Third moments are not among the sums: ``skewness`` is taken as given.
        """
        rows = _no_rows(self.first.size, self.plain)
        if round(self.count) <= 0 or self.weight <= 0.0:
            return moments_of_rows(rows, event)
        return replace(_moments(self, event, rows), skewness=skewness)


def moment_sums(rows: Rows) -> MomentSums:
    """Return the sums of a table.

    Parameters
    ----------
    rows : Rows
        A table that is `summable`.

    Returns
    -------
    MomentSums

    Raises
    ------
    ValueError
        If the table is not summable.

    Examples
    --------
    >>> import numpy as np
    >>> from polyculture.stats._rows import make_rows
    >>> failed = np.array([[1, 1], [1, 0], [0, 0]], dtype=bool)
    >>> both = moment_sums(make_rows(np.ones_like(failed), failed, [10, 10, 20]))
    >>> one = moment_sums(make_rows(np.ones_like(failed), failed, [4, 4, 10]))
    >>> (both - one).moments("all_fail").observed == 6 / 22
    True
    """
    if not summable(rows):
        raise ValueError("sums need complete tables without clusters, and at most 64 models.")
    k = rows.failed.shape[1]
    both = np.zeros((k, k))
    step = max(1, (1 << 14) // k)
    for start in range(0, rows.count.size, step):
        part = slice(start, start + step)
        failed = rows.failed[part].astype(np.float64)
        both += (failed * rows.weight_squared[part][:, None]).T @ failed

    def ends(chosen: Bools) -> Floats:
        return np.array([rows.count[chosen].sum(), rows.weight[chosen].sum(), rows.weight_squared[chosen].sum()])

    return MomentSums(
        count=rows.n,
        weight=rows.total_weight,
        squares=float(rows.weight_squared.sum()),
        first=rows.failed_weight,
        second=rows.failed_weight if rows.plain else column_sums(rows.weight_squared, rows.failed),
        both=both,
        all_fail=ends(rows.failed_number == k),
        none_fail=ends(rows.failed_number == 0),
        plain=rows.plain,
    )


def _no_rows(models: int, plain: bool) -> Rows:
    none, nobody = np.zeros((0, models), dtype=np.bool_), np.zeros(0)
    return Rows(none, none, nobody, nobody, nobody, None, None, None, complete=True, plain=plain)


@dataclass(frozen=True, eq=False)
class _Linear:
    """log E of an event, and its influence as a linear form ``slope @ h + level`` of an individual's failures."""

    log_expected: float
    slope: Floats
    level: float
    bias: float
    log_smoothed: float
    empty: int


def _end(sums: MomentSums, fails: bool, variances: Floats) -> _Linear:
    rates = sums.first / sums.weight if fails else 1.0 - sums.first / sums.weight
    positive = rates > 1e-12
    inverse = np.divide(1.0, rates, out=np.zeros_like(rates), where=positive)
    logs = np.log(np.where(positive, rates, 0.5 / (sums.count + 1.0)))
    smoothed, empty = float(logs.sum()), int((~positive).sum())
    level = -float(positive.sum()) + (0.0 if fails else float(inverse.sum()))
    bias = float(variances @ inverse**2) / 2.0
    return _Linear(-math.inf if empty else smoothed, inverse if fails else -inverse, level, bias, smoothed, empty)


def _linear(sums: MomentSums, event: Event) -> _Linear:
    rates = np.clip(sums.first / sums.weight, 0.0, 1.0)
    variances = (sums.second * (1.0 - 2.0 * rates) + rates**2 * sums.squares) / sums.weight**2
    if event != "same":
        return _end(sums, event == "all_fail", variances)
    ends = [_end(sums, fails, variances) for fails in (True, False)]
    log_expected = float(np.logaddexp(ends[0].log_expected, ends[1].log_expected))
    defined = math.isfinite(log_expected)
    shares = [math.exp(end.log_expected - log_expected) if defined else 0.0 for end in ends]
    return _Linear(
        log_expected,
        shares[0] * ends[0].slope + shares[1] * ends[1].slope,
        shares[0] * ends[0].level + shares[1] * ends[1].level,
        shares[0] ** 2 * ends[0].bias + shares[1] ** 2 * ends[1].bias,
        float(np.logaddexp(ends[0].log_smoothed, ends[1].log_smoothed)),
        0 if defined else max(end.empty for end in ends),
    )


def _moments(sums: MomentSums, event: Event, rows: Rows) -> Moments:
    all_in, none_in = event in {"all_fail", "same"}, event in {"none_fail", "same"}
    events, weight, squares = sums.all_fail * all_in + sums.none_fail * none_in
    everyone = round(events) == round(sums.count)
    observed = 1.0 if everyone else min(max(float(weight) / sums.weight, 0.0), 1.0)
    form = _linear(sums, event)
    linear = float(sums.second @ form.slope)
    var_log = float(form.slope @ sums.both @ form.slope) + 2.0 * form.level * linear + form.level**2 * sums.squares
    at_events = all_in * float(sums.all_fail[2]) * (float(form.slope.sum()) + form.level)
    at_events += none_in * float(sums.none_fail[2]) * form.level
    shared = at_events - observed * (linear + form.level * sums.squares)
    var_observed = max(float(squares) * (1.0 - 2.0 * observed) + observed**2 * sums.squares, 0.0)
    # A difference of large sums: what is left of rounding is no variance.
    scale = form.level**2 * sums.squares
    var_log = var_log / sums.weight**2 if var_log > 1e-13 * scale else 0.0
    spread = math.sqrt(var_log * var_observed) * sums.weight
    defined = math.isfinite(form.log_expected)
    effect = _design_effect(sums, observed, var_observed)
    rates = sums.first / sums.weight
    largest = {"all_fail": rates.min(), "none_fail": 1.0 - rates.max(), "same": 1.0 - (rates.max() - rates.min())}
    return Moments(
        event=event,
        n=round(sums.count),
        n_effective=sums.count / max(effect, 1.0),
        events=round(float(events)),
        observed=observed,
        log_expected=form.log_expected,
        var_log_expected=var_log if defined else math.nan,
        correlation=float(np.clip(shared / spread, -1.0, 1.0)) if defined and spread > 0.0 else 0.0,
        max_observed=float(largest[event]),
        design_effect=effect,
        clusters=None,
        judged_most=sums.first.size,
        log_smoothed=form.log_smoothed,
        var_log_smoothed=var_log + math.pi**2 / 2 * form.empty,
        bias_log_expected=form.bias,
        degrees=None,
        degrees_observed=None,
        degrees_expected=None,
        skewness=0.0,
        rows=rows,
    )


def _design_effect(sums: MomentSums, observed: float, var_observed: float) -> float:
    if sums.plain:
        return 1.0
    binomial = observed * (1.0 - observed)
    if var_observed > 0.0 and binomial > 0.0:
        return var_observed * sums.count / (sums.weight**2 * binomial)
    return sums.squares * sums.count / sums.weight**2
