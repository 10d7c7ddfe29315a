"""The ladder of nulls: each asked the same questions, from the poorest in parameters to the richest.

How a null is fitted stands in its own module, the form of the answer in ``measured``; here are the order, the names,
and how each kind of null is tested.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from polyculture.stats._rows import Ints
from polyculture.stats.homogeneity import CENSUS
from polyculture.stats.intervals import Estimated, undefined
from polyculture.stats.nulls import both_margins, permutation
from polyculture.stats.nulls import strata as within
from polyculture.stats.nulls._draws import Draws, draw_excess
from polyculture.stats.nulls._held_out import halves_of, held_out, strata_held_out, strata_of
from polyculture.stats.nulls._latent import LatentFit
from polyculture.stats.nulls.equicorrelated import Equicorrelated
from polyculture.stats.nulls.independence import Independence
from polyculture.stats.nulls.latent_classes import LatentClasses
from polyculture.stats.nulls.measured import (
    Measured,
    Question,
    residual_df,
    smallest_detectable,
    tested_by_interval,
    two_sided_mid_p,
    with_excess,
    with_expected,
)
from polyculture.stats.nulls.probit_factors import MOST_FACTORS, ProbitFactors
from polyculture.stats.nulls.protocol import Null, Table, table_of
from polyculture.stats.nulls.rasch import Rasch
from polyculture.stats.nulls.two_parameter import TwoParameter

__all__ = ["LADDER", "Measured", "Question", "climb", "is_null", "latent_null", "poorest_not_rejected"]

LADDER = (
    "independence",
    "permutation",
    "strata",
    "equicorrelated",
    "rasch",
    "2pl",
    "factors-1",
    "factors-2",
    "classes-2",
    "classes-3",
    "both-margins",
)
"""All nulls that are asked by default when all are asked for, the poorest first."""

BY_CONSTRUCTION = "fits by construction: as many parameters as patterns are free"
SATURATED = "no test: as many parameters as patterns are free, although the law is too narrow to fit them all"
FIXED = "fixed with both margins: every table with these margins has the same"
ONLY_WHERE_DEALT = "failures are dealt out only where nobody is weighted or in a cluster and all models judged everyone"
_FEWEST_GOOD_DRAWS = 0.9
_NOTHING = 1e-6  # excess of a null that fits by construction, as far as a search goes
_MOST_CLASSES = 9


def is_null(name: str) -> bool:
    """Whether a null has this name: those of the ladder, factors-1 to 3 and classes-2 to 9.

    Examples
    --------
    >>> is_null("classes-4"), is_null("factors-9"), is_null("rasch")
    (True, False, True)
    """
    if name in LADDER:
        return True
    kind, _, number = name.partition("-")
    if not number.isdecimal():
        return False
    return (kind == "factors" and 1 <= int(number) <= MOST_FACTORS) or (
        kind == "classes" and 2 <= int(number) <= _MOST_CLASSES
    )


def latent_null(name: str, everyone: Table | None = None) -> Null:
    """Return the null of a name that is fitted by maximum likelihood.

    Raises
    ------
    ValueError
        If the name is of no such null.
    """
    plain: dict[str, Null] = {null.name: null for null in (Independence(), Equicorrelated(), TwoParameter())}
    plain["rasch"] = Rasch(everyone)
    if name in plain:
        return plain[name]
    kind, _, number = name.partition("-")
    if kind == "factors" and number.isdecimal():
        return ProbitFactors(int(number))
    if kind == "classes" and number.isdecimal():
        return LatentClasses(int(number))
    raise ValueError(f"{name!r} is no null that is fitted by maximum likelihood.")


def climb(names: Iterable[str], question: Question) -> tuple[Measured, ...]:
    """Ask several nulls.

    Parameters
    ----------
    names : iterable of str
        Names of nulls; see `is_null`. Strata are left out where there are none.
    question : Question
        The data.

    Returns
    -------
    tuple of Measured
        In the order of the names.
    """
    table, index = table_of(question.moments.rows, question.sampled)
    halves = halves_of(question)
    found = []
    for name in names:
        if name == "strata":
            found.append(_strata(question))
        elif name == "permutation":
            found.append(_permutation(question, table))
        elif name == "both-margins":
            found.append(_both_margins(question, table))
        else:
            null = latent_null(name, question.everyone)
            found.append(_latent(null, question, table, index, halves))
    return tuple(found)


def poorest_not_rejected(measured: Iterable[Measured]) -> str | None:
    """Return the name of the null with the fewest parameters that the data do not reject; None where there is none.

    Nulls that fit by construction, and tests of the spread alone, cannot be it.
    """
    kept = [one for one in measured if one.rejected is False and not one.by_construction and one.expected is not None]
    return min(kept, key=lambda one: one.parameters).name if kept else None


def _latent(
    null: Null, question: Question, table: Table, index: Ints | None, halves: tuple[Table, Table] | None
) -> Measured:
    rng = question.rng(null.name)
    fit = null.fit(table, rng)
    bare = Measured(null.name, null.sentence, fit.parameters, residual_df(table, fit.parameters))
    if fit.reason:
        return replace(bare, reason=fit.reason, method=fit.reason)
    expected = fit.expected(table.sets)
    out, no_halves = held_out(null, fit, halves, rng)
    shown = replace(
        bare,
        expected=expected,
        log_likelihood=fit.log_likelihood,
        held_out=out,
        held_out_reason=no_halves,
        profile=tuple(float(share) for share in fit.profile(table.sets)),
    )
    if not isinstance(fit, LatentFit):
        given = _given_margins(question, table)
        if given is None:
            return replace(shown, smallest_reason=_not_dealt(question))
        return replace(shown, smallest_detectable=smallest_detectable(given.standard_deviation, question.n))
    influence = fit.influence(table) if expected > 0.0 else np.zeros(len(table.count))
    moments = with_expected(
        question, question.moments, expected, influence if index is None else influence[index], fit.exact
    )
    shown = with_excess(shown, moments, census=question.census)
    if bare.residual_df == 0:
        return _saturated(shown)
    if question.census:
        return replace(shown, method=CENSUS)
    if not question.moments.rows.plain:
        return tested_by_interval(shown, moments)
    excess = question.moments.observed - expected
    drawn = draw_excess(fit, table, question.n, question.draws, rng)
    return _tested(shown, drawn, excess=excess, n=question.n, at_bound=fit.at_bound)


def _saturated(shown: Measured) -> Measured:
    """Return a null with as many parameters as patterns are free: it fits by construction, or leaves a known rest."""
    fits = shown.excess.value is not None and abs(shown.excess.value) < _NOTHING
    reason = BY_CONSTRUCTION if fits else SATURATED

    def bare(value: Estimated) -> Estimated:
        return Estimated(value.value, None, None, "", reason)

    if fits:
        shown = replace(shown, excess=shown.excess._replace(value=0.0), homogenization=Estimated(1.0, None, None))
    return replace(
        shown,
        excess=bare(shown.excess),
        homogenization=bare(shown.homogenization),
        by_construction=fits,
        method=reason,
    )


def _tested(shown: Measured, drawn: Draws, *, excess: float, n: float, at_bound: int) -> Measured:
    draws = len(drawn.excess) + drawn.failed
    if len(drawn.excess) < _FEWEST_GOOD_DRAWS * draws:
        return replace(shown, method=f"no test: the fit did not converge in {drawn.failed} of {draws} draws")
    method = f"{drawn.method}, mid-p"
    if drawn.failed:
        method += f"; {drawn.failed} whose fit did not converge are left out"
    if at_bound:
        method += f"; {at_bound} of the estimates are at the largest value allowed"
    sd = float(drawn.excess.std(ddof=1))
    return replace(
        shown,
        p_value=two_sided_mid_p(excess, drawn.excess),
        method=method,
        smallest_detectable=smallest_detectable(sd, n),
    )


def _strata(question: Question) -> Measured:
    if question.strata is None or question.stratum is None:
        reason = "no groups were named"
        return Measured("strata", within.SENTENCE, 0, reason=reason, method=reason)
    moments = question.strata
    strata = strata_of(moments, question, question.stratum)
    out, no_halves = strata_held_out(question, moments, question.stratum)
    fit = within.fit_strata(strata)
    k = strata.table.models
    df = fit.strata * (2**k - 1) - fit.parameters if strata.table.complete and k <= 62 else None
    replaced = with_expected(question, moments, fit.corrected, fit.influence, exact=question.sizes is not None)
    shown = with_excess(
        Measured(
            "strata",
            within.SENTENCE,
            fit.parameters,
            df,
            expected=fit.corrected,
            log_likelihood=fit.log_likelihood,
            held_out=out,
            held_out_reason=no_halves,
            profile=tuple(float(share) for share in fit.profile),
        ),
        replaced,
        census=question.census,
    )
    bias = f"{fit.strata} groups; jackknife, which took off {100 * fit.relative_bias:.2g} % of what is expected"
    if question.census:
        return replace(shown, method=f"{CENSUS}; {bias}")
    if not moments.rows.plain or not strata.table.complete or question.sampled is not None:
        tested = tested_by_interval(shown, replaced)
        return replace(tested, method=f"{tested.method}; {bias}")
    rng = question.rng("strata")
    drawn = within.draw_counts(strata, question.draws, rng) / question.n
    # Given each model's failures in each group, the mean of the draws is what is expected, with no bias.
    return replace(
        shown,
        p_value=two_sided_mid_p(moments.observed, drawn),
        method=f"{question.draws} draws given the margins of each group, mid-p; {bias}",
        smallest_detectable=smallest_detectable(float(drawn.std(ddof=1)), question.n),
    )


def _given_margins(question: Question, table: Table) -> permutation.Permuted | None:
    """Return the exact law given each model's failures; None for a census and where the margins do not fix it."""
    if question.census or not (question.moments.rows.plain and table.complete):
        return None
    whole = table if question.everyone is None else question.everyone
    failures = np.rint(whole.count @ whole.failed).astype(np.int64)
    return permutation.permuted(round(question.moments.observed * question.n), failures, round(question.n))


def _not_dealt(question: Question) -> str:
    return CENSUS if question.census else ONLY_WHERE_DEALT


def _permutation(question: Question, table: Table) -> Measured:
    k = table.models
    bare = Measured("permutation", permutation.SENTENCE, k, residual_df(table, k))
    found = _given_margins(question, table)
    if found is None:
        reason = _not_dealt(question)
        return replace(bare, reason=reason, method=reason)
    independent = Independence().fit(table, question.rng("permutation"))
    profile = tuple(float(share) for share in independent.profile(table.sets))
    given = "a law of numbers of failures that are given: it has no likelihood"
    shown = replace(bare, expected=found.expected, profile=profile, log_likelihood_reason=given, held_out_reason=given)
    return replace(
        with_excess(shown, question.moments, census=False),
        p_value=found.p_value,
        method=found.method,
        smallest_detectable=smallest_detectable(found.standard_deviation, question.n),
    )


def _both_margins(question: Question, table: Table) -> Measured:
    k = table.models
    given = "a law of tables whose margins are given: it has no likelihood"
    bare = Measured(
        "both-margins",
        both_margins.SENTENCE,
        k,
        excess=undefined(FIXED),
        homogenization=undefined(FIXED),
        reason=FIXED,
        log_likelihood_reason=given,
        held_out_reason=given,
    )
    if question.census:
        return replace(bare, method=CENSUS)
    if not question.moments.rows.plain:
        return replace(bare, method="failures are dealt out only where nobody is weighted or in a cluster")
    found = both_margins.spread_p_value(table, question.rng("both-margins"), question.draws)
    method = found.method
    if found.observed is not None and found.expected is not None:
        method += f"; standard deviation {found.observed:.3g}, {found.expected:.3g} expected"
    spread = "the test is of the spread over pairs, not of an excess"
    return replace(bare, p_value=found.p_value, method=method, smallest_reason=spread)
