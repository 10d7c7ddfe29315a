"""Every measure of every pair of models at once, with intervals and reasons; what the measures are stands beside."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from polyculture.stats._rows import Bools, Floats, Rows
from polyculture.stats.similarity.capa import (
    ProbabilityMoments,
    SoftAgreement,
    capa_labels,
    capa_probabilities,
    capa_variance,
    variance_of_all,
)
from polyculture.stats.similarity.cells import Cells
from polyculture.stats.similarity.design import effective_sizes
from polyculture.stats.similarity.error_consistency import kappa, kappa_influence
from polyculture.stats.similarity.limits import (
    FISHER,
    LOGIT,
    Measure,
    fisher_limits,
    logit_limits,
    undefined_where,
)
from polyculture.stats.similarity.overlap import jaccard, jaccard_influence, share_of, union
from polyculture.stats.similarity.phi import phi, phi_influence

__all__ = ["Answers", "PairSimilarity", "pair_similarity"]

NOBODY = "no individual was judged by both"
CONSTANT = "a model fails nobody, or everybody, of those whom both judged"
NO_PROBABILITIES = "no individual was answered by both with probabilities"
SURE = "a model gives the right option all probability, or none, on everybody whom both answered"
NEITHER = "neither fails anybody whom both judged"
NOT_BOTH = "both are never wrong on the same individual"
FLAGS = "needs the answers, not only who was failed"
TWO = "with two options two wrong answers are always the same"
FEW_ANSWERED = "fewer than 30 individuals whom both answered with probabilities: no interval"
FEWEST_ANSWERED = 30
_ROUNDING = 1e-12
FEW_CLUSTERS = "fewer than 10 clusters hold individuals whom both judged: descriptive only"


@dataclass(frozen=True, eq=False)
class Answers:
    """What pairs of models answered, on the scale of the cells, each (k, k).

    Attributes
    ----------
    same_wrong : ndarray
        Individuals on whom both are wrong with the same answer.
    chance : ndarray
        Mean of 1 / (options - 1) over the individuals whom both judged.
    chance_both_wrong : ndarray
        The same over those on whom both are wrong.
    words : str
        Where the number of options comes from.
    """

    same_wrong: Floats
    chance: Floats
    chance_both_wrong: Floats
    words: str


@dataclass(frozen=True)
class AllProbabilities:
    """The sampling variance of CAPA of all models, NaN where unknown, and the effective number of whom all answered."""

    variance: float
    items: float


@dataclass(frozen=True, eq=False)
class PairSimilarity:
    """All measures of all pairs, and what collections of models are measured by.

    ``observed`` and ``expected`` are the agreements that CAPA is made of; ``baseline`` is the chance that two
    wrong answers are the same, NaN where it is not known; ``wrong`` is the row's model's failure rate as CAPA has it:
    1 less the mean probability on the right option where it is of probabilities. ``of_all`` is there where it is so.
    """

    phi: Measure
    kappa: Measure
    capa: Measure
    jaccard: Measure
    agree_when_both_wrong: Measure
    agree_when_either_wrong: Measure
    baseline: Floats
    observed: Floats
    expected: Floats
    wrong: Floats
    capa_method: str
    cells: Cells
    size: Floats
    of_all: AllProbabilities | None = None


def pair_similarity(
    cells: Cells,
    rows: Rows | None = None,
    *,
    answers: Answers | None = None,
    two_options: bool = False,
    probabilities: ProbabilityMoments | None = None,
) -> PairSimilarity:
    """Measure every pair of models.

    Parameters
    ----------
    cells : Cells
        Individuals, or their weights, in the four cells of every pair.
    rows : Rows, optional
        The pattern table that the cells are of, for weights and clusters; None where everyone counts 1.
    answers : Answers, optional
        What pairs answered; without them only exact-match CAPA is known.
    two_options : bool
        Whether there are two options: failure flags then tell the answers, unless ``answers`` are given too
        (a model may have given none).
    probabilities : ProbabilityMoments, optional
        For probabilistic CAPA, which then takes the place of the other.

    Returns
    -------
    PairSimilarity
        NaN with a reason where a measure is undefined.
    """
    if two_options:
        ones = np.ones_like(cells.n)
        same = cells.both if answers is None else answers.same_wrong
        answers = Answers(same, ones, ones, "two options")
    influences = [phi_influence(cells), kappa_influence(cells), jaccard_influence(cells)]
    sizes = [cells.n] * 3 if rows is None or rows.plain else effective_sizes(rows, cells, influences)
    phi_size, kappa_size, jaccard_size = sizes
    few = np.isnan(kappa_size)
    nobody = cells.n <= 0
    first, second = cells.both + cells.first, cells.both + cells.second
    constant = (first <= 0) | (first >= cells.n) | (second <= 0) | (second >= cells.n)
    either = union(cells)
    if probabilities is None:
        agreement = _capa(cells, kappa_size, answers, nobody, constant)
    else:
        agreement = _soft_capa(cells, kappa_size, probabilities)
    jaccard_value = jaccard(cells)
    overlap = _share(jaccard_value, jaccard_size, share_of(either, cells.n), (nobody, NOBODY), (either <= 0, NEITHER))
    same_both, same_either = _agreement(cells, answers, kappa_size, nobody, two_options=two_options)
    return PairSimilarity(
        phi=_correlation(phi, phi_influence, cells, phi_size, (nobody, NOBODY), (constant, CONSTANT)),
        kappa=_correlation(kappa, kappa_influence, cells, kappa_size, (nobody, NOBODY), (constant, CONSTANT)),
        capa=_without_clusters(agreement.capa, few),
        jaccard=overlap,
        agree_when_both_wrong=same_both,
        agree_when_either_wrong=same_either,
        baseline=np.full(few.shape, np.nan) if answers is None else answers.chance_both_wrong,
        observed=agreement.observed,
        expected=agreement.expected,
        wrong=agreement.wrong,
        capa_method=agreement.method,
        cells=cells,
        size=kappa_size,
        of_all=agreement.of_all,
    )


def _correlation(
    measure: Callable[[Cells], Floats],
    influence: Callable[[Cells], Floats],
    cells: Cells,
    size: Floats,
    *conditions: tuple[Bools, str],
) -> Measure:
    """Return a measure in -1 ... 1 that is a function of the four cells, with its limits."""
    why, reasons = undefined_where(*conditions)
    value = np.where(why > 0, np.nan, measure(cells))
    smoothed = cells.smoothed(size)
    psi = influence(smoothed)
    n = smoothed.n
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.sum(smoothed.stacked / n * psi**2, axis=0) / n
    low, high = fisher_limits(value, measure(smoothed), variance)
    return _without_clusters(Measure(value, low, high, FISHER, why, reasons), np.isnan(size))


def _without_clusters(measure: Measure, few: Bools) -> Measure:
    """Drop the limits where there are too few clusters, and those of undefined values."""
    gone = few | np.isnan(measure.value)
    why = np.where((measure.why == 0) & few, len(measure.reasons), measure.why)
    return replace(
        measure,
        low=np.where(gone, np.nan, measure.low),
        high=np.where(gone, np.nan, measure.high),
        why=why,
        reasons=(*measure.reasons, FEW_CLUSTERS),
    )


def _share(value: Floats, size: Floats, base: Floats, *conditions: tuple[Bools, str]) -> Measure:
    """Return a share of some of the individuals: ``base`` of the effective ``size`` of all."""
    why, reasons = undefined_where(*conditions)
    value = np.where(why > 0, np.nan, value)
    among = np.nan_to_num(base) * size
    low, high = logit_limits(value * among, among)
    return _without_clusters(Measure(value, low, high, LOGIT, why, reasons), np.isnan(size))


def _agreement(
    cells: Cells, answers: Answers | None, size: Floats, nobody: Bools, *, two_options: bool
) -> tuple[Measure, Measure]:
    """Return the shares of same answers where both are wrong, and where either is."""
    either = union(cells)
    conditions = ((nobody, NOBODY), (either <= 0, NEITHER))
    if answers is None:
        unknown = np.full(nobody.shape, np.nan)
        flags = (~nobody, FLAGS)
        none = _share(unknown, size, unknown, (nobody, NOBODY), flags)
        return none, none
    both = ((cells.both <= 0) | two_options, TWO if two_options else NOT_BOTH)
    return (
        _share(share_of(answers.same_wrong, cells.both), size, share_of(cells.both, cells.n), *conditions, both),
        _share(share_of(answers.same_wrong, either), size, share_of(either, cells.n), *conditions),
    )


@dataclass(frozen=True, eq=False)
class _Agreement:
    """CAPA, what it is made of, and of what, in words."""

    capa: Measure
    observed: Floats
    expected: Floats
    wrong: Floats
    method: str
    of_all: AllProbabilities | None = None


def _soft_capa(cells: Cells, size: Floats, moments: ProbabilityMoments) -> _Agreement:
    """Return CAPA of probabilities; ``size`` is the effective number of individuals of the cells."""
    found = capa_probabilities(moments.pairs)
    sure = (found.right <= 0) | (found.right >= 1 - _ROUNDING)
    why, reasons = undefined_where((found.items <= 0, NO_PROBABILITIES), (sure | sure.T, SURE))
    value = np.where(why > 0, np.nan, found.value)
    with np.errstate(divide="ignore", invalid="ignore"):
        answered = size * (found.items / cells.n)
        variance = found.variance / answered
        low, high = fisher_limits(value, value, variance)
    enough = answered >= FEWEST_ANSWERED
    known = enough & (why == 0)
    of_all = _of_all(moments.together, found, variance, answered, known)
    why = np.where((why == 0) & (answered < FEWEST_ANSWERED), len(reasons), why)
    low, high = np.where(enough, low, np.nan), np.where(enough, high, np.nan)
    method = FISHER.removesuffix(", 1/2 added per cell")
    capa = Measure(value, low, high, method, why, (*reasons, FEW_ANSWERED))
    return _Agreement(capa, found.observed, found.expected, 1 - found.right, "probabilities", of_all)


def _of_all(
    together: Floats, found: SoftAgreement, variance: Floats, answered: Floats, known: Bools
) -> AllProbabilities:
    """Return how CAPA of all models varies: as much less than one individual's influence as CAPA of pairs does."""
    single, items = variance_of_all(together)
    known = known & ~np.eye(len(known), dtype=np.bool_)
    if not known.any():
        return AllProbabilities(math.nan, 0.0)
    less = float(variance[known].mean() / found.variance[known].mean()) if found.variance[known].any() else math.nan
    return AllProbabilities(single * less, items / float(found.items[known].mean()) * float(answered[known].mean()))


def _capa(cells: Cells, size: Floats, answers: Answers | None, nobody: Bools, constant: Bools) -> _Agreement:
    same = np.zeros_like(cells.n) if answers is None else answers.same_wrong
    chance = np.zeros_like(cells.n) if answers is None else answers.chance
    value, observed, expected = capa_labels(cells, same, chance)
    why, reasons = undefined_where((nobody, NOBODY), (constant, CONSTANT))
    value = np.where(why > 0, np.nan, value)
    smoothed = cells.smoothed(size)
    # Where wrong answers can differ there are five cells, and 1/2 is added to each of them.
    alike = np.nan_to_num(share_of(same, cells.both)) * (smoothed.both - 0.5)
    extra = 0.0 if answers is None or np.array_equal(same, cells.both) else 0.5
    smoothed = replace(smoothed, both=smoothed.both + extra)
    alike = alike + (0.0 if answers is None else 0.5)
    centre, _, _ = capa_labels(smoothed, alike, chance)
    low, high = fisher_limits(value, centre, capa_variance(smoothed, alike, chance))
    words = "exact match of failure flags" if answers is None else f"answers, {answers.words}"
    wrong = share_of(cells.both + cells.first, cells.n)
    return _Agreement(Measure(value, low, high, FISHER, why, reasons), observed, expected, wrong, words)
