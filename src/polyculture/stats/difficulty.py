"""How likely a failure is to be undone when a model only answers anew: a matter of how hard the individual is.

The blind baseline of `compare` that is adjusted for difficulty. Frames, records and words stand elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, logit

from polyculture.stats._rows import Bools, Floats

__all__ = ["Difficulty", "fit_difficulty", "redrawn"]

_GRID = np.linspace(-9.0, 9.0, 73)  # hardness in log-odds
_STEPS = 60
_INNER = 50  # of the law alone, after each step of both: it moves slowly where it matters, and costs little
_STARTS = (0.25, 0.75, 1.5, 2.5)  # standard deviations of hardness, of which the likeliest is where the search starts
_STEPS_OF_STARTS = 5
_WIDEST = 25.0


@dataclass(frozen=True, eq=False)
class Difficulty:
    """A Rasch model of one snapshot: log-odds of failure = how prone the model is + how hard the individual is.

    Attributes
    ----------
    share : (Q,) float64
        Share of individuals at each hardness of a grid; no form of its law is supposed.
    proneness : (k,) float64
        Of each model, in log-odds.
    free : (k,) bool
        Models that fail some and not all.
    always : (k,) bool
        Models that fail all.
    expected : (k + 1,) float64
        Share of individuals that the model expects to be failed by 0 ... k models.
    reason : str
        Why there is no such model; empty where there is.
    """

    share: Floats
    proneness: Floats
    free: Bools
    always: Bools
    expected: Floats
    reason: str = ""

    def undone(self, model: int, rate_before: float, rate_after: float) -> Floats:
        """Return the chance that a failure is undone by a fresh answer, by number of other models that fail.

        Parameters
        ----------
        model : int
            The model that changes.
        rate_before, rate_after : float
            Its failure rates.

        Returns
        -------
        (k,) float64
            For 0 ... k - 1 others that fail: the chance that the later version does not, where the answers of
            both versions depend on the individual's hardness and on nothing else.
        """
        return self._given(model, self._curve(rate_before)) @ (1.0 - self._curve(rate_after))

    def _given(self, model: int, own: Floats) -> Floats:
        """Return the law of hardness by number of others that fail, and what the model itself did, (k, Q)."""
        others = self.free.copy()
        others[model] = False
        sure = int(self.always.sum()) - int(self.always[model])
        rest = log_expit(-(_GRID[:, None] + self.proneness[others])).sum(axis=1)
        failing = np.clip(np.arange(len(self.free)) - sure, 0, int(others.sum()))
        log = np.log(np.maximum(self.share, 1e-300)) + rest + failing[:, None] * _GRID + np.log(np.maximum(own, 1e-300))
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _curve(self, rate: float) -> Floats:
        """Return the chance to fail at each hardness of a version with a failure rate."""
        if rate <= 0.0 or rate >= 1.0:
            return np.full(len(_GRID), float(rate >= 1.0))
        low, high = -2 * _WIDEST, 2 * _WIDEST
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if float(self.share @ expit(_GRID + middle)) < rate else (low, middle)
        return np.asarray(expit(_GRID + (low + high) / 2))


def fit_difficulty(histogram: ArrayLike, rates: ArrayLike) -> Difficulty:
    """Fit the model to how many individuals each number of models failed, and to each model's failure rate.

    Parameters
    ----------
    histogram : (k + 1,) array_like
        Individuals failed by 0 ... k models, all judged by all.
    rates : (k,) array_like
        Failure rate of each model among them; their sum is the mean number of failures.

    Returns
    -------
    Difficulty
        With a reason where it cannot be fitted.

    Notes
    -----
    Both are sufficient for a Rasch model (Andersen 1970), so that any table with these margins has the same
    likelihood. The law of hardness is free on a grid (Lindsay, Clogg and Grego 1991): simulated with two kinds of
    individuals, a normal law missed the share that churn gives by a fifth or more, the free one by a few per cent
    from five models on. Expectation-maximization from the likeliest of some normal laws, a fixed number of steps:
    the likelihood leaves much of the law open, and what it leaves open stays near its start. With two models that
    is nearly all of it, with three much. After each step of all, the law alone takes more: with too few of them, two
    kinds of individuals far apart and 4,000 of them, the share that churn gives came out .018 too low, and now .007.

    Examples
    --------
    >>> fit = fit_difficulty([500, 200, 150, 150], [0.3, 0.32, 0.33])
    >>> fit.undone(0, 0.3, 0.3).round(2).tolist()
    [0.71, 0.45, 0.21]
    """
    count, rate = np.asarray(histogram, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if count.sum() <= 0:
        return _none("no individual was judged by all models at both snapshots")
    if ((rate > 0.0) & (rate < 1.0)).sum() < 2:
        return _none("fewer than 2 models fail some and not all, so that nothing tells hard individuals from easy ones")
    return _fits(count[None, :], rate[None, :], _start(count, rate))[0]


def redrawn(
    histogram: ArrayLike, rates: ArrayLike, size: float, draws: int, rng: np.random.Generator
) -> list[Difficulty]:
    """Return fits to samples like the one at hand, for how well the model is known.

    Parameters
    ----------
    histogram, rates : array_like
        As in `fit_difficulty`.
    size : float
        How many like individuals the sample is worth.
    draws : int
        How many samples.
    rng : numpy.random.Generator
        Their source.

    Notes
    -----
    Multinomial samples of the histogram; the rates move with its mean along the logistic curve.
    """
    count, rate = np.asarray(histogram, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    share = count / count.sum()
    n = max(round(size), 1)
    seen = rng.multinomial(n, share, size=draws) / n
    moved = (seen - share) @ np.arange(len(count))
    spread = rate * (1.0 - rate)
    shifted = rate + np.outer(moved, spread / max(float(spread.sum()), 1e-300))
    inside = np.clip(shifted, 0.25 / n, 1.0 - 0.25 / n)
    return _fits(seen * n, np.where((rate > 0.0) & (rate < 1.0), inside, rate), _start(count, rate))


def _start(count: Floats, rate: Floats) -> float:
    """Return the standard deviation of hardness from which a short search gets to the highest likelihood."""
    size = len(_STARTS)
    counts, rates = np.repeat(count[None, :], size, axis=0), np.repeat(rate[None, :], size, axis=0)
    return float(_STARTS[int(np.argmax(_search(counts, rates, np.array(_STARTS), _STEPS_OF_STARTS)[2]))])


def _fits(counts: Floats, rates: Floats, start: float) -> list[Difficulty]:
    """Fit many histograms (B, k + 1) with their rates (B, k) side by side."""
    free, always = (rates[0] > 0.0) & (rates[0] < 1.0), rates[0] >= 1.0
    first, models = int(always.sum()), int(free.sum())
    share, own, _ = _search(counts, rates, np.full(len(counts), start), _STEPS)
    found = []
    for weights, prone in zip(share, own, strict=True):
        proneness = np.zeros(len(free))
        proneness[free] = prone
        numbers = np.zeros(len(free) + 1)
        numbers[first : first + models + 1] = weights @ _numbers(expit(_GRID[:, None] + prone))
        found.append(Difficulty(weights, proneness, free, always, numbers))
    return found


def _search(counts: Floats, rates: Floats, start: Floats, steps: int) -> tuple[Floats, Floats, Floats]:
    """Return the law of hardness (B, Q), the free models' proneness and the log-likelihood (B,) after some steps."""
    free, always = (rates[0] > 0.0) & (rates[0] < 1.0), rates[0] >= 1.0
    first, models = int(always.sum()), int(free.sum())
    failing = np.arange(models + 1)
    seen = counts[:, first : first + models + 1]
    n, wanted = counts.sum(axis=1, keepdims=True), rates[:, free]
    share = np.exp(-(_GRID[None, :] ** 2) / (2 * start[:, None] ** 2))
    share /= share.sum(axis=1, keepdims=True)
    own = logit(wanted) * np.sqrt(1.0 + start[:, None] ** 2 / 2.89)
    likelihood = np.zeros(len(counts))
    for _ in range(steps):
        linear = _GRID[None, :, None] + own[:, None, :]
        log = np.log(np.maximum(share, 1e-300)) + log_expit(-linear).sum(axis=2)
        given = log[:, None, :] + failing[None, :, None] * _GRID
        top = given.max(axis=2, keepdims=True)
        given = np.exp(given - top)
        total = given.sum(axis=2, keepdims=True)
        given /= total
        likelihood = (n * wanted * own).sum(axis=1) + np.einsum("bt,bt->b", seen, (top + np.log(total))[:, :, 0])
        members = np.einsum("bt,btq->bq", seen, given)
        share = _law(given, members / n, share, seen / n)
        members = share * n
        fails = expit(linear)
        expected = np.einsum("bq,bqj->bj", members, fails)
        information = np.einsum("bq,bqj->bj", members, fails * (1.0 - fails))
        step = (n * wanted - expected) / np.maximum(information, 1e-9)
        own = np.clip(own + np.clip(step, -1.0, 1.0), -_WIDEST, _WIDEST)
    return share, own, likelihood


def _law(given: Floats, first: Floats, share: Floats, seen: Floats) -> Floats:
    """Return the law of hardness after further steps of its own, the models' proneness as it is.

    Parameters
    ----------
    given : (B, k + 1, Q) float64
        Law of hardness by number of failures, under ``share``.
    first : (B, Q) float64
        The law after one step.
    share : (B, Q) float64
        The law that ``given`` rests on.
    seen : (B, k + 1) float64
        Shares of individuals by number of failures.
    """
    ratio, law = first / np.maximum(share, 1e-300), first
    for _ in range(_INNER):
        moved = given * ratio[:, None, :]
        weight = seen / np.maximum(moved.sum(axis=2), 1e-300)
        law = np.einsum("bt,btq->bq", weight, moved)
        ratio = law / np.maximum(share, 1e-300)
    return law


def _numbers(rates: Floats) -> Floats:
    """Return the law of the number of failures at each row of rates, (Q, k + 1)."""
    law = np.zeros((len(rates), rates.shape[1] + 1))
    law[:, 0] = 1.0
    for column in rates.T:
        law[:, 1:] = law[:, 1:] * (1.0 - column)[:, None] + law[:, :-1] * column[:, None]
        law[:, 0] *= 1.0 - column
    return law


def _none(reason: str) -> Difficulty:
    nothing = np.zeros(0, dtype=np.bool_)
    return Difficulty(np.zeros(0), np.zeros(0), nothing, nothing, np.zeros(0), reason)
