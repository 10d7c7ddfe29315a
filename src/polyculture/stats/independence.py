"""Tests of independent failures, given how often each model fails.

Conditional on the margins (each model's number of failures) the law of who is failed by how many has no unknown
left: models are added one at a time, each to individuals drawn without replacement. How far apart observed and
expected are, with intervals, stands in ``homogeneity``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr

from polyculture.stats._profile_draws import draw_profiles, profile_p_value, same_by_draws
from polyculture.stats._rows import Floats, Ints
from polyculture.stats.excess import excess_interval
from polyculture.stats.moments import Moments

__all__ = [
    "SMALLEST_P",
    "all_fail_law",
    "draw_profiles",
    "event_p_value",
    "mid_p_all_fail",
    "mid_p_none_fail",
    "mid_p_same",
    "p_value_by_interval",
    "profile_p_value",
]

SMALLEST_P = 1e-15
"""Smaller p-values are given as this one: the windows of the exact law leave out about as much."""

_WIDEST_WINDOW = 2000
# With more models than this the expansions begin at a quarter of that width, since every step costs its square.
_FEW_MODELS = 20
_COARSE_POINTS = 161
# From this standard deviation on an expansion replaces draws.
_SMOOTH_SD = 8.0


def mid_p_all_fail(events: int, failures: ArrayLike, n: int) -> tuple[float | None, str]:
    """Return the two-sided mid-p value of the number of individuals whom all models fail.

    Parameters
    ----------
    events : int
        Individuals failed by all models.
    failures : array_like of int, shape (k,)
        Failures of each model among the n individuals, all judged by all models.
    n : int
        Individuals.

    Returns
    -------
    p : float or None
        Twice the smaller tail, half of the probability of ``events`` counted in each; None for one model.
    method : str
        How, or why not.

    Raises
    ------
    ValueError
        If a number of failures is outside 0..n, or events exceed the least of them.

    Notes
    -----
    With F_j failures of model j, X_1 = F_1 and X_j given X_{j-1} is hypergeometric(n, X_{j-1}, F_j): each
    step is exact within a window that leaves out less than 1e-15. Where a window is wider than 2,000 values (500
    with more than 20 models), the intermediate law is a normal one with the exact mean and variance, and the last
    one an Edgeworth expansion.

    Examples
    --------
    >>> p, method = mid_p_all_fail(4, [5, 5], 10)
    >>> round(p, 4), method
    (0.1071, 'exact given the margins, mid-p')
    """
    f = _checked_margins(events, failures, n)
    if f.size < 2:
        return None, "one model: there is nothing to homogenize"
    support, law = np.array([f[0]]), np.ones(1)
    widest = _WIDEST_WINDOW if f.size <= _FEW_MODELS else _WIDEST_WINDOW // 4
    for j in range(2, f.size + 1):
        mean, sd, skew = _moments_of_all_fail(f[:j], n)
        reach = 9.5 * sd + 40.0
        if 2 * reach > widest:
            if j == f.size:
                return _edgeworth(events, mean, sd, skew)
            support, law = _coarse(mean, sd)
            continue
        low, high = max(0, math.floor(mean - reach)), min(int(f[0]), math.ceil(mean + reach))
        support, law = _add_model(support, law, np.arange(low, high + 1), int(f[j - 1]), n)
        if support[0] == 0 and law[0] > 1.0 - 1e-16:
            break  # nobody is left whom a further model could fail
    below = float(law[support < events].sum())
    at = float(law[support == events].sum())
    above = float(law[support > events].sum())
    p = 2.0 * min(below + at / 2, above + at / 2)
    return float(np.clip(p, SMALLEST_P, 1.0)), "exact given the margins, mid-p"


def all_fail_law(failures: ArrayLike, n: int) -> tuple[float, float]:
    """Return mean and standard deviation of the number of individuals whom all models fail, given the margins.

    Parameters
    ----------
    failures : array_like of int, shape (k,)
        Failures of each model among the n individuals, all judged by all models.
    n : int
        Individuals.

    Raises
    ------
    ValueError
        If a number of failures is outside 0..n.

    Examples
    --------
    >>> [round(x, 3) for x in all_fail_law([5, 5], 10)]
    [2.5, 0.833]
    """
    mean, sd, _ = _moments_of_all_fail(_checked_margins(0, failures, n), n)
    return mean, sd


def mid_p_none_fail(events: int, failures: ArrayLike, n: int) -> tuple[float | None, str]:
    """Return the two-sided mid-p value of the number of individuals whom no model fails.

    The same law as `mid_p_all_fail`, of successes.

    Examples
    --------
    >>> round(mid_p_none_fail(4, [5, 5], 10)[0], 4)
    0.1071
    """
    return mid_p_all_fail(events, n - np.asarray(failures, dtype=np.int64), n)


def mid_p_same(
    events: int, failures: ArrayLike, n: int, rng: np.random.Generator, draws: int = 999
) -> tuple[float | None, str]:
    """Return the two-sided mid-p value of the number of individuals whom all models, or none, fail.

    Parameters
    ----------
    events : int
        Individuals failed by all models or by none.
    failures : array_like of int, shape (k,)
        Failures of each model among the n individuals.
    n : int
        Individuals.
    rng : numpy.random.Generator
        Source of the draws.
    draws : int
        Profiles drawn where the number is too small for its expansion.

    Returns
    -------
    p : float or None
        None for one model.
    method : str
        How, or why not.

    Raises
    ------
    ValueError
        If a number of failures is outside 0..n.

    Examples
    --------
    >>> import numpy as np
    >>> p, method = mid_p_same(9000, [3000, 3000], 10000, np.random.default_rng(0))
    >>> p, method
    (1e-15, 'Edgeworth with exact moments given the margins')
    """
    f = _checked_margins(0, failures, n)
    if f.size < 2:
        return None, "one model: there is nothing to homogenize"
    mean, sd, skew = _moments_of_same(f, n)
    return _edgeworth(events, mean, sd, skew) if sd >= _SMOOTH_SD else same_by_draws(events, f, n, rng, draws)


def event_p_value(moments: Moments, rng: np.random.Generator, draws: int = 999) -> tuple[float | None, str]:
    """Return the p-value of independence from the count of one event, by the method that fits the data.

    Parameters
    ----------
    moments : Moments
        Of any event.
    rng : numpy.random.Generator
        Source of draws, where draws are needed.
    draws : int
        Number of draws.

    Returns
    -------
    p : float or None
        The exact conditional test where all models judged everyone and nobody is weighted or clustered; else
        the p-value that belongs to the interval of the excess.
    method : str
        How, or why not.
    """
    rows = moments.rows
    if moments.n == 0:
        return None, "no individual was judged"
    if moments.judged_most <= 1:
        return None, "one model: there is nothing to homogenize"
    if not (rows.plain and rows.complete):
        return p_value_by_interval(moments)
    failures = np.rint(rows.failed_weight).astype(np.int64)
    if moments.event == "all_fail":
        return mid_p_all_fail(moments.events, failures, moments.n)
    if moments.event == "none_fail":
        return mid_p_none_fail(moments.events, failures, moments.n)
    return mid_p_same(moments.events, failures, moments.n, rng, draws)


def p_value_by_interval(moments: Moments) -> tuple[float | None, str]:
    """Return the p-value at which the interval of the excess just reaches 0.

    For weighted and clustered data and for unequal sets of models, where margins do not fix the law.

    Parameters
    ----------
    moments : Moments
        Of any event.

    Returns
    -------
    p : float or None
        Below .05 exactly where the 95 % interval leaves out 0; None where there is no interval.
    method : str
        How, or why not.
    """
    usual = excess_interval(moments)
    if usual.low is None:
        return None, usual.reason
    low, high = math.log(SMALLEST_P), 0.0
    for _ in range(40):
        middle = (low + high) / 2
        interval = excess_interval(moments, 1.0 - math.exp(middle))
        covers = interval.low is not None and interval.high is not None and interval.low <= 0.0 <= interval.high
        low, high = (middle, high) if covers else (low, middle)
    return max(math.exp((low + high) / 2), SMALLEST_P), "from the interval of the excess"


def _checked_margins(events: int, failures: ArrayLike, n: int) -> Ints:
    f = np.sort(np.asarray(failures, dtype=np.int64))
    if f.ndim != 1 or not f.size:
        raise ValueError("failures need one number a model.")
    if f[0] < 0 or f[-1] > n:
        raise ValueError(f"failures must lie between 0 and {n}, got {f[0]} to {f[-1]}.")
    if not 0 <= events <= f[0]:
        raise ValueError(f"all models cannot fail {events} individuals where one fails {f[0]}.")
    return np.asarray(f, dtype=np.int64)


def _moments_of_all_fail(f: Ints, n: int) -> tuple[float, float, float]:
    """Mean, standard deviation and skewness of X_k given the margins.

    The r-th factorial moment is (n)_r prod_j (F_j)_r / (n)_r; written relative to the r-th power of the mean,
    nothing cancels at large n.
    """
    if f[0] == 0:
        return 0.0, 0.0, 0.0
    mean = n * math.exp(float(np.log(f / n).sum()))
    logs = []
    for r in (1, 2):
        if f[0] <= r or n <= r:
            logs.append(-math.inf)
            continue
        inside = math.log1p(-r / n)
        logs.append(inside + float((np.log1p(-r / f) - inside).sum()))
    second, third = math.expm1(logs[0]), math.expm1(logs[0] + logs[1])
    variance = max(mean + mean * mean * second, 0.0)
    cubed = mean**3 * (third - 3.0 * second) + 3.0 * mean * mean * second + mean
    sd = math.sqrt(variance)
    return mean, sd, cubed / sd**3 if sd > 1e-9 else 0.0


def _moments_of_same(f: Ints, n: int) -> tuple[float, float, float]:
    """Mean, standard deviation and skewness of S = X + Y, failed by all and by none, given the margins.

    The (a, b)-th factorial moment of X and Y is (n)_{a+b} prod_j (F_j)_a (n - F_j)_b / (n)_{a+b}; those of S are
    their binomial sums.
    """
    mean_all, sd_all, _ = _moments_of_all_fail(f, n)
    mean_none, sd_none, _ = _moments_of_all_fail(np.sort(n - f), n)
    mean = mean_all + mean_none
    # The covariance by itself, so that nothing cancels at large n.
    relative = math.expm1(-(f.size - 1) * math.log1p(-1.0 / n)) if n > 1 else 0.0
    variance = max(sd_all**2 + sd_none**2 + 2.0 * mean_all * mean_none * relative, 0.0)
    sd = math.sqrt(variance)
    if sd <= 1e-9 or sd > 1000.0:  # beyond, the skewness is too small to matter
        return mean, sd, 0.0
    second = math.fsum(math.comb(2, a) * _factorial_moment(f, n, a, 2 - a) for a in range(3))
    third = math.fsum(math.comb(3, a) * _factorial_moment(f, n, a, 3 - a) for a in range(4))
    raw_second, raw_third = second + mean, third + 3.0 * second + mean
    return mean, sd, (raw_third - 3.0 * mean * raw_second + 2.0 * mean**3) / sd**3


def _factorial_moment(f: Ints, n: int, a: int, b: int) -> float:
    falling = np.prod([n - i for i in range(a + b)], dtype=np.float64)
    if falling <= 0.0:
        return 0.0
    chosen = np.prod([np.maximum(f - i, 0) for i in range(a)] + [np.ones(f.size)], axis=0)
    others = np.prod([np.maximum(n - f - i, 0) for i in range(b)] + [np.ones(f.size)], axis=0)
    shares = chosen / falling * others
    return float(falling * math.exp(float(np.log(shares).sum()))) if np.all(shares > 0.0) else 0.0


def _add_model(support: Ints, law: Floats, new: Ints, failures: int, n: int) -> tuple[Ints, Floats]:
    """One step of the chain: the law of x individuals failed so far becomes that of y failed by one more."""
    x, y = support[:, None].astype(np.float64), new[None, :].astype(np.float64)
    possible = (y <= x) & (y <= failures) & (x - y <= n - failures)
    difference = np.where(possible, x - y, 0.0)
    by_y = _log_choose(float(failures), np.minimum(new.astype(np.float64), float(failures)))
    by_x = -_log_choose(float(n), support.astype(np.float64))
    # log C(n - F, x - y) through a table of the few differences that occur
    offset = float(difference.min())
    table = _log_choose(float(n - failures), np.arange(offset, float(difference.max()) + 1.0))
    logs = table[(difference - offset).astype(np.int64)] + by_y + by_x[:, None]
    step = np.where(possible, np.exp(np.minimum(logs, 0.0)), 0.0)
    result = law @ step
    total = float(result.sum())
    return new, result / total if total > 0.0 else result


def _log_choose(n: float, x: Floats) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0))


def _coarse(mean: float, sd: float) -> tuple[Ints, Floats]:
    z = np.linspace(-8.5, 8.5, _COARSE_POINTS)
    weights = np.exp(-z * z / 2)
    return np.rint(mean + sd * z).astype(np.int64), weights / weights.sum()


def _edgeworth(events: int, mean: float, sd: float, skew: float) -> tuple[float, str]:
    z = (events - mean) / sd
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    correction = density * skew / 6 * (z * z - 1.0)
    tails = float(ndtr(z)) - correction, float(ndtr(-z)) + correction
    p = 2.0 * min(tails)
    return float(np.clip(p, SMALLEST_P, 1.0)), "Edgeworth with exact moments given the margins"
