"""Similarity of a whole collection: mean phi, the effective number of models, Fleiss' kappa, CAPA for all.

Every estimate is a mean over individuals or a function of such means, so its variance is that of one
individual's influence on it, or of a cluster's. Multiplicity of predictions stands in ``multiplicity``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from polyculture.stats._rounding import NO_VARIANCE, difference
from polyculture.stats._rows import (
    Floats,
    Rows,
    cluster_totals,
    column_sums,
    covariance,
    degrees_of_totals,
    row_sums,
    skewness,
    take,
)
from polyculture.stats.intervals import (
    FEWEST_CLUSTERS,
    Estimated,
    few_clusters,
    undefined,
)
from polyculture.stats.similarity.cells import Cells
from polyculture.stats.similarity.error_consistency import kappa_of
from polyculture.stats.similarity.pairs import PairSimilarity
from polyculture.stats.similarity.phi import phi

__all__ = ["CoFailures", "capa_of_all", "co_failing", "effective_number", "fleiss", "mean_phi"]

FEWEST_JOINT = 5
FEWEST_FREEDOM = 30
ROUGH = "a few individuals whom many models fail make most of it: the interval is rough"
ROUGH_CLUSTERS = "may be too narrow: a few clusters make most of it"
_BLOCK_CELLS = 1 << 22
_SYMMETRIC = 1e-9
_WIDEST = 600.0  # on a log scale: beyond, limits are those of the range anyway
TOO_FEW_VARY = "fewer than two models fail some individuals but not all"
NOTHING_IN_COMMON = "some two models judged nobody in common"
FEW_OF_ALL = "fewer than 30 individuals were answered by all models with probabilities"
NO_VARIATION = "the number of failing models does not vary"
NO_PAIR = "no two models judged the same individuals and failed some of them but not all"


def _quadratic(left: Floats, weights: Floats, right: Floats) -> Floats:
    """Return sum over a, b of left[i, a] weights[a, b] right[i, b] for each row i."""
    return np.asarray(np.einsum("ia,ia->i", left @ weights, right))


def _by_blocks(rows: Rows, influence: Callable[[Rows], Floats]) -> Floats:
    """Return influence values of all rows, a block at a time: floats of all rows would not fit memory."""
    step = max(1, _BLOCK_CELLS // max(1, rows.judged.shape[1]))
    parts = [influence(take(rows, slice(start, start + step))) for start in range(0, len(rows.count), step)]
    return np.concatenate(parts)


@dataclass(frozen=True)
class _Spread:
    """The variance of an estimate, the degrees of freedom that its influence values leave it, and their skewness."""

    variance: float
    freedom: float
    warning: str = ""
    skewness: float = 0.0

    def sides(self, scale: float = 1.0) -> tuple[float, float]:
        """Return how far an interval reaches below and above, on a scale on which the estimate moves ``scale`` times.

        Between clusters that share hard cases a variance is estimated, and the estimate and its standard error are
        low together: too few intervals would reach up far enough. Hall's cubic transformation (1992) of the
        studentized mean of the cluster totals takes their skewness out.
        """
        quantile = float(stdtrit(max(self.freedom, 1.0), 0.975))
        unit = math.sqrt(self.variance) * scale
        below, above = _unskewed(quantile, self.skewness) * unit, -_unskewed(-quantile, self.skewness) * unit
        return min(below, _WIDEST), min(above, _WIDEST)


def _unskewed(quantile: float, skew: float) -> float:
    """Return t of which t + skew t^2 / 3 + skew^2 t^3 / 27 + skew / 6 is ``quantile``; skew is that of the sum."""
    if abs(skew) < _SYMMETRIC:
        return quantile
    return 3.0 / skew * (math.cbrt(1.0 + skew * (quantile - skew / 6.0)) - 1.0)


def _spread(rows: Rows, influence: Floats, share: float) -> _Spread:
    """Return the variance of a weighted mean of influence values, centred first.

    A few individuals whom many models fail can make most of it; then the variance itself is uncertain, by
    their kurtosis: the degrees of freedom are those of a chi-square with that uncertainty (Satterthwaite).
    """
    centred = influence - float(rows.weight @ influence) / rows.total_weight
    variance = float(covariance(rows, centred)[0, 0]) / rows.total_weight**2 * share
    totals = cluster_totals(rows, centred)
    if totals is not None and rows.clusters is not None:
        # As for systemic failure: about the jackknife's variance, and fewer degrees of freedom for uneven totals.
        wider = (rows.clusters / max(rows.clusters - 1.0, 1.0)) ** 2
        freedom = degrees_of_totals(totals, rows.clusters)
        warning = ROUGH_CLUSTERS if freedom < FEWEST_CLUSTERS else ""
        return _Spread(variance * wider, freedom, warning, skewness(rows, centred))
    second, fourth = float(rows.count @ centred**2), float(rows.count @ centred**4)
    n = rows.n
    kurtosis = n * fourth / second**2 if second > 0 else 3.0
    freedom = 2.0 * n / share / max(kurtosis - 1.0, 1e-9)
    return _Spread(variance, freedom, ROUGH if freedom < FEWEST_FREEDOM else "")


def _ranged(value: float, lowest: float, spread: _Spread, rows: Rows, note: str = "") -> Estimated:
    """Return a value between ``lowest`` and 1 with its interval; ``share`` is rows for each individual.

    Fisher's z is the logit of the range -1 ... 1. Where models seldom fail the range is -f / (1 - f) ... 1, and
    its logit keeps the coverage that z loses (simulated: .93 to .96 instead of .84 at 8 joint failures).
    """
    if rows.clusters is not None and rows.clusters < FEWEST_CLUSTERS:
        return Estimated(value, reason=few_clusters(rows.clusters))
    up, down = 1.0 - value, value - lowest
    if up <= 0 or down <= 0 or spread.variance <= NO_VARIANCE:
        return Estimated(value, reason="the data show no variation to make an interval of")
    below, above = spread.sides((1.0 - lowest) / (up * down))
    ends = [lowest + (1.0 - lowest) / (1.0 + up / down * math.exp(side)) for side in (below, -above)]
    method = f"delta method on the logit of the range from {lowest:.2g} to 1{note}"
    return Estimated(value, ends[0], ends[1], method, spread.warning)


def _lowest(f: Floats, g: Floats, expected: Floats, *, two_options: bool) -> Floats:
    """Return the least kappa of pairs whose failures, and wrong answers, are as far apart as rates allow.

    With two options wrong answers are the same, so that always-wrong models agree.
    """
    observed = np.abs(1 - f - g) if two_options else np.maximum(1 - f - g, 0)
    return np.nan_to_num(kappa_of(observed, expected), nan=0.0)


def mean_phi(rows: Rows, cells: Cells, share: float = 1.0) -> Estimated:
    """Return the mean of phi over all pairs for which it is defined.

    Parameters
    ----------
    rows : Rows
        The pattern table, for the interval.
    cells : Cells
        The four cells of every pair.
    share : float
        Rows for each individual that the cells hold: below 1 where the cells are of everyone, and the rows, which
        show how individuals vary, are only some of them.

    Notes
    -----
    The influence of an individual on one phi is z w - phi (z^2 + w^2) / 2 with standardized failures; on the
    mean it is the mean over pairs, each divided by the share of individuals that the pair judged.
    """
    values = phi(cells)
    np.fill_diagonal(values, np.nan)
    known = ~np.isnan(values)
    pairs = int(known.sum())
    if not pairs:
        return undefined(NO_PAIR)
    value = difference(float(values[values > 0].sum()), -float(values[values < 0].sum())) / pairs
    weights = np.where(known, rows.total_weight / share / np.where(known, cells.n, 1.0), 0.0)
    judged = column_sums(rows.weight, rows.judged)
    rate = column_sums(rows.weight, rows.failed) / np.where(judged > 0, judged, 1.0)
    spread = np.sqrt(rate * (1 - rate))
    usable = spread > 0

    def influence(part: Rows) -> Floats:
        z = np.where(part.judged & usable, (part.failed - rate) / np.where(usable, spread, 1.0), 0.0)
        # Of a pair counts only an individual whom both judged: z^2 is taken where the other judged too.
        alone = _quadratic(z * z, weights * np.nan_to_num(values), part.judged.astype(np.float64))
        return np.asarray((_quadratic(z, weights, z) - alone) / pairs)

    # Of two failures that exclude each other, as far as rates allow.
    odds = np.sqrt(rate / (1 - np.where(usable, rate, 0.0)))
    lowest = -float(np.minimum(np.outer(odds, odds), 1.0)[known].sum() / pairs)
    return _ranged(value, lowest, _spread(rows, _by_blocks(rows, influence), share), rows)


class CoFailures:
    """Numbers of models, and of individuals whom two or more fail: what n_eff rests on."""

    def __init__(self, models: int, constant: int, individuals: float) -> None:
        self.models, self.constant, self.individuals = models, constant, individuals


def co_failing(rows: Rows, share: float = 1.0) -> CoFailures:
    """Count the models that vary, those that do not, and the individuals whom two or more models fail."""
    varying = _varying(rows)
    failed_by = row_sums(rows.failed[:, varying], np.ones(int(varying.sum())))
    joint = float(rows.count[failed_by >= 2].sum()) / share
    return CoFailures(int(varying.sum()), int((~varying).sum()), joint)


def _varying(rows: Rows) -> np.ndarray:
    failed = column_sums(rows.count, rows.failed)
    judged = column_sums(rows.count, rows.judged)
    return np.asarray((failed > 0) & (failed < judged))


def effective_number(rows: Rows, cells: Cells, share: float = 1.0) -> Estimated:
    """Return the effective number of models, n_eff = k * sum f (1 - f) / Var(t).

    Parameters
    ----------
    rows, cells, share
        As in `mean_phi`.

    Returns
    -------
    Estimated
        k / (1 + (k - 1) phi) where rates and correlations are equal; it may exceed k. Models that fail
        nobody or everybody are left out of k. The interval is by the delta method on the log scale; there
        is none where fewer than 5 individuals are failed by two or more models.

    Notes
    -----
    Where not everyone was judged by all models, Var(t) is the sum of the covariances of pairs, each over
    the individuals whom both judged.
    """
    varying = np.flatnonzero(_varying(rows))
    k = len(varying)
    if k < 2:
        return undefined(TOO_FEW_VARY)
    square = np.ix_(varying, varying)
    a, one, n = cells.both[square], (cells.both + cells.first)[square], cells.n[square]
    if np.any(n <= 0):
        return undefined(NOTHING_IN_COMMON)
    rate, other = one / n, one.T / n
    cross = a / n - rate * other
    own = np.diag(rate) * (1 - np.diag(rate))
    cross[np.diag_indices(k)] = own
    top, bottom = float(own.sum()), float(cross.sum())
    if bottom <= 0:
        return undefined(NO_VARIATION)
    value = k * top / bottom
    joint = co_failing(rows, share).individuals
    if joint < FEWEST_JOINT:
        return Estimated(value, reason="fewer than 5 individuals are failed by two or more models")
    if rows.clusters is not None and rows.clusters < FEWEST_CLUSTERS:
        return Estimated(value, reason=few_clusters(rows.clusters))
    weights = rows.total_weight / share / n

    def influence(part: Rows) -> Floats:
        return _log_influence(part, varying, rate, cross, weights)

    spread = _spread(rows, _by_blocks(rows, influence), share)
    # Var(t) cannot be less than that of a whole number with this mean; above it, on the log scale.
    rest = float(np.diag(rate).sum() % 1.0)
    least = rest * (1 - rest) / (k * top) if rows.complete else 0.0
    beyond = 1.0 / value - least
    if beyond <= 0 or spread.variance <= 0:
        return Estimated(value, reason="the data show no variation to make an interval of")
    below, above = spread.sides(1.0 / value / beyond)
    low, high = (1.0 / (least + beyond * math.exp(side)) for side in (below, -above))
    return Estimated(value, low, high, "delta method on the log scale", spread.warning)


def _log_influence(rows: Rows, varying: np.ndarray, rate: Floats, cross: Floats, m: Floats) -> Floats:
    """Return the influence of an individual of each row on log n_eff."""
    f, o = rows.failed[:, varying].astype(np.float64), rows.judged[:, varying].astype(np.float64)
    own = np.diag(rate)
    spread = own * (1 - own)
    by_model = np.diag(m) * (o * (np.square(f - own) - spread))
    pairs = _quadratic(f, m, f) - 2 * _quadratic(f, m * rate.T, o) + _quadratic(o, m * (rate * rate.T - cross), o)
    return np.asarray(by_model.sum(axis=1) / spread.sum() - pairs / cross.sum())


def fleiss(rows: Rows) -> Estimated:
    """Return Fleiss' kappa of failures: agreement of any two models on an individual, beyond the mean rate.

    Parameters
    ----------
    rows : Rows
        A table of patterns; only how many models judged and failed an individual is used. Individuals judged by one
        model are left out; each other counts alike, however many models judged.
    """
    m, t = (row_sums(x, np.ones(rows.judged.shape[1])) for x in (rows.judged, rows.failed))
    used = (m >= 2).astype(np.float64)
    weight = float(rows.weight @ used)
    if weight <= 0:
        return undefined("no individual was judged by two models")
    pairs = np.where(used > 0, m * (m - 1), 1.0)
    agree = (t * (t - 1) + (m - t) * (m - t - 1)) / pairs
    observed = float((rows.weight * used) @ agree) / weight
    judged = float((rows.weight * used) @ m) / weight
    rate = float((rows.weight * used) @ t) / weight / judged
    expected = rate * rate + (1 - rate) ** 2
    if expected >= 1.0 - 1e-14:
        return undefined("the models fail nobody, or everybody")
    value = difference(observed, expected) / (1 - expected)
    by_rate = (4 * rate - 2) * (t - rate * m) / judged
    influence = (agree - observed) / (1 - expected) - (1 - observed) / (1 - expected) ** 2 * by_rate
    scaled = used * influence * rows.total_weight / weight
    lowest = -min(rate, 1 - rate) / max(rate, 1 - rate)
    return _ranged(value, lowest, _spread(rows, scaled, 1.0), rows)


def capa_of_all(rows: Rows, similarity: PairSimilarity, share: float = 1.0) -> Estimated:
    """Return CAPA of many models: observed and expected agreement averaged over pairs, then their ratio.

    Parameters
    ----------
    rows, share
        As in `mean_phi`.
    similarity : PairSimilarity
        The pairs, with their observed and expected agreement.

    Notes
    -----
    The interval is that of the same ratio for agreement of failures, which the patterns show for every
    individual, times the mean ratio of the standard errors of CAPA to those of error consistency over
    pairs: the answers of an individual are not kept. That of probabilities is by the delta method over those whom all
    models answered.
    """
    chosen = np.triu(~np.isnan(similarity.observed) & ~np.isnan(similarity.expected), 1)
    if not chosen.any():
        return undefined("no two models judged the same individual")
    expected = float(similarity.expected[chosen].mean())
    if expected >= 1.0 - 1e-14:
        return undefined("all models are always right: agreement by chance alone is complete")
    value = difference(float(similarity.observed[chosen].mean()), expected) / (1 - expected)
    if rows.clusters is not None and rows.clusters < FEWEST_CLUSTERS:
        return Estimated(value, reason=few_clusters(rows.clusters))
    f, g = similarity.wrong[chosen], similarity.wrong.T[chosen]
    if similarity.of_all is not None:
        if similarity.of_all.items < FEWEST_FREEDOM or not math.isfinite(similarity.of_all.variance):
            return Estimated(value, reason=FEW_OF_ALL)
        lowest = float(_lowest(f, g, similarity.expected[chosen], two_options=False).mean())
        return _ranged(value, lowest, _Spread(similarity.of_all.variance, similarity.of_all.items - 1), rows)
    spread = _agreement_spread(rows, similarity.cells, chosen, share)
    ratio = _standard_errors(similarity, chosen)
    if ratio is None:
        return Estimated(value, reason="no pair has an interval of its own")
    exact = similarity.capa_method.endswith("two options")
    note = "" if exact else ", with the standard errors of pairs for the answers"
    lowest = float(_lowest(f, g, similarity.expected[chosen], two_options=exact).mean())
    return _ranged(value, lowest, replace(spread, variance=spread.variance * (1.0 if exact else ratio**2)), rows, note)


def _agreement_spread(rows: Rows, cells: Cells, chosen: np.ndarray, share: float) -> _Spread:
    """Return how averaged error consistency varies."""
    pairs = int(chosen.sum())
    both_ways = (chosen | chosen.T).astype(np.float64)
    p = cells.shares()
    f, g = np.nan_to_num(p.both + p.first), np.nan_to_num(p.both + p.second)
    observed = float((p.both + p.neither)[chosen].mean())
    expected = float((f * g + (1 - f) * (1 - g))[chosen].mean())
    if expected >= 1.0 - 1e-14:
        return _Spread(0.0, 1.0)
    weights = both_ways * rows.total_weight / share / np.where(cells.n > 0, cells.n, 1.0)
    level = weights * np.nan_to_num(p.both + p.neither)
    # d expected / d f of the row's model is 2 g - 1 in each of its pairs.
    slope = weights * (2 * g - 1)

    def influence(part: Rows) -> Floats:
        failed, judged = part.failed.astype(np.float64), part.judged.astype(np.float64)
        right = judged - failed
        agree = _quadratic(failed, weights, failed) + _quadratic(right, weights, right)
        moved = _quadratic(failed, slope, judged) - _quadratic(judged, slope * f, judged)
        first = (agree - _quadratic(judged, level, judged)) / (2 * pairs) / (1 - expected)
        return np.asarray(first - (1 - observed) / (1 - expected) ** 2 * moved / pairs)

    return _spread(rows, _by_blocks(rows, influence), share)


def _standard_errors(similarity: PairSimilarity, chosen: np.ndarray) -> float | None:
    """Return the mean ratio of standard errors of CAPA and of error consistency, from their intervals."""
    widths = []
    for measure in (similarity.capa, similarity.kappa):
        with np.errstate(invalid="ignore", divide="ignore"):
            z = (np.arctanh(measure.high) - np.arctanh(measure.low)) * (1 - np.square(measure.value))
        widths.append(z)
    usable = chosen & np.isfinite(widths[0]) & np.isfinite(widths[1]) & (widths[1] > 0)
    return float((widths[0][usable] / widths[1][usable]).mean()) if usable.any() else None
