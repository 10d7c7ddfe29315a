"""Models of chance side by side: what each expects, what is left over it, and the poorest that the data do not reject.

How nulls are fitted and tested stands in ``stats.nulls``; independence, the first of them, in ``audit.independence``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from polyculture.audit.independence import independence
from polyculture.audit.proportion import SAMPLED, from_estimated, number, why
from polyculture.audit.records import NullRecord, undefined
from polyculture.audit.sums import ratio
from polyculture.errors import UsageError, first_few, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.outcome import Measured as MeasuredOutcome
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View
    from polyculture.stats.nulls.ladder import Measured, Question
    from polyculture.stats.nulls.protocol import Table
    from polyculture.tally import Tally

ALL = "all"
_KINDS = (
    "independence",
    "permutation",
    "strata",
    "equicorrelated",
    "rasch",
    "2pl",
    "factors",
    "classes",
    "both-margins",
)


def nulls(view: View, systemic: MeasuredOutcome, settings: Settings) -> tuple[NullRecord, ...]:
    """Return the records of independence and of the other nulls that were asked for.

    Parameters
    ----------
    view : View
        The individuals of the headline.
    systemic : outcome.Measured
        Their systemic failure.
    settings : Settings
        ``nulls`` names them; seed and census.

    Returns
    -------
    tuple of NullRecord
        Independence first, then in the order of the ladder; none with a single model or nobody.
    """
    first = independence(view.whole, systemic.outcome)
    names = chosen(settings.nulls, view.tally)
    if not first or not names:
        return first
    from polyculture.stats.nulls.ladder import climb, poorest_not_rejected

    asked = ["independence", *(name for name in names if name != "independence")]
    found = list(climb(asked, _question(view, systemic, settings)))
    found[0] = replace(found[0], p_value=first[0].p_value, residual_df=first[0].residual_df)
    poorest = poorest_not_rejected(found)
    ours = first[0]
    records = [_record(measured, ours.residual_df_reason, sampled=not view.tally.exact) for measured in found]
    records[0] = msgspec.structs.replace(
        records[0],
        parameters=ours.parameters,
        systemic_failure=ours.systemic_failure,
        excess=ours.excess,
        homogenization=systemic.outcome.ratio,
        p_value=ours.p_value,
        rejected=found[0].rejected,
        method=ours.method,
    )
    return tuple(msgspec.structs.replace(record, poorest_not_rejected=record.name == poorest) for record in records)


def chosen(asked: Sequence[str], tally: Tally) -> tuple[str, ...]:
    """Return the nulls that were asked for, in the order of the ladder.

    Parameters
    ----------
    asked : sequence of str
        Names, or "all" for the whole ladder; strata are part of it where there are groups.
    tally : Tally
        Whose groups they are.

    Raises
    ------
    UsageError
        If a name is of no null, or strata are asked for without groups.
    """
    if not asked:
        return ()
    from polyculture.stats.nulls.ladder import LADDER, is_null

    names = [name for given in asked for name in (LADDER if given == ALL else (given,))]
    wrong = [name for name in names if not is_null(name)]
    if wrong:
        every = f"Use all, or some of {first_few(LADDER, limit=len(LADDER))}; also factors-3, classes-4 to classes-9."
        hint = nearest(wrong[0].lower(), (*LADDER, ALL))
        raise UsageError(f"There is no model of chance {wrong[0]!r}.", hint=f"{hint} {every}".strip())
    if not tally.groups:
        if "strata" in asked:
            raise UsageError("The null 'strata' needs groups.", hint="Name group columns (--by), or leave strata out.")
        names = [name for name in names if name != "strata"]
    return tuple(sorted(dict.fromkeys(names), key=_place))


def _place(name: str) -> tuple[int, int]:
    if name in _KINDS:
        return _KINDS.index(name), 0
    kind, _, number_of = name.partition("-")
    return _KINDS.index(kind), int(number_of)


def _question(view: View, systemic: MeasuredOutcome, settings: Settings) -> Question:
    from polyculture.stats.nulls.ladder import Question

    tally, whole = view.tally, view.whole
    question = Question(
        moments=systemic.moments,
        n=float(whole.individuals),
        rng=lambda name: settings.generator("nulls", (name,)),
        sampled=None if tally.exact else float(whole.rows.individuals),
        everyone=None if tally.exact else _by_number_failed(tally),
        census=settings.census,
    )
    return _with_strata(question, view) if tally.groups else question


def _with_strata(question: Question, view: View) -> Question:
    """Put the patterns apart by group beside the question; where they are a sample, as many as everyone."""
    from polyculture.stats.moments import moments

    rows, tally = view.rows, view.tally
    kept = np.flatnonzero((rows.count > 0) & rows.judged.any(axis=1))
    rows = rows.take(kept)
    scale = 1.0 if question.sampled is None else question.n / question.sampled
    apart = moments(
        rows.judged,
        rows.failed,
        rows.count * scale,
        rows.weight * scale if rows.weighted else None,
        rows.weight_squared * scale if rows.weighted else None,
        rows.cluster,
        "all_fail",
    )
    whole = question.moments
    apart = replace(apart, observed=whole.observed, events=whole.events, n=whole.n)
    question = replace(question, strata=apart, stratum=tally.patterns.cell[kept])
    if tally.exact:
        return question
    table, profile = tally.model_table(), tally.profile_table()
    sizes = np.bincount(profile.cell, weights=profile.weight, minlength=len(tally.cells)).astype(np.float64)
    failed = np.nan_to_num(ratio(table.failed_weight, table.judged_weight)) * sizes[:, None]
    return replace(question, sizes=sizes, failed=failed)


def _by_number_failed(tally: Tally) -> Table | None:
    """Return the shares of failures of each model by how many failed; None where not all models judged everyone."""
    from polyculture.stats.nulls.protocol import Table

    tables, k = tally.tables, len(tally.models)
    if tables is None or (tables.judged < k).any():
        return None
    weight = np.bincount(tables.failed, weights=tables.weight, minlength=k + 1)
    failed = np.zeros((k + 1, k))
    np.add.at(failed, tables.failed, tables.model_failed_weight)
    used = weight > 0
    share = failed[used] / weight[used][:, None]
    scale = float(tables.count.sum()) / float(weight.sum())
    return Table(np.ones_like(share, dtype=np.bool_), share, (weight[used] * scale).astype(np.float64))


def _record(measured: Measured, no_residual: str, *, sampled: bool) -> NullRecord:
    """Return the record of one null; what leaves independence no residual degrees of freedom leaves none to others."""
    note = SAMPLED if sampled else ""
    degrees = None if no_residual else measured.residual_df
    missing = undefined(measured.reason) if measured.reason else None
    return NullRecord(
        name=measured.name,
        sentence=measured.sentence,
        parameters=measured.parameters,
        residual_df=degrees,
        residual_df_reason=(no_residual or measured.reason) if degrees is None else "",
        fits_by_construction=measured.by_construction,
        converged=not measured.reason.startswith("the fit did not converge"),
        systemic_failure=number(measured.expected),
        excess=missing or from_estimated(measured.excess, note=note),
        homogenization=missing or from_estimated(measured.homogenization, note=note),
        p_value=number(measured.p_value),
        rejected=measured.rejected,
        method=measured.method,
        smallest_detectable_excess=number(measured.smallest_detectable),
        log_likelihood=number(measured.log_likelihood),
        held_out_log_likelihood=number(measured.held_out),
        expected_profile=measured.profile,
        reason=measured.reason,
        smallest_detectable_excess_reason=why(
            measured.smallest_detectable, measured.smallest_reason or measured.reason or measured.method
        ),
        log_likelihood_reason=why(measured.log_likelihood, measured.log_likelihood_reason or measured.reason),
        held_out_log_likelihood_reason=why(measured.held_out, measured.held_out_reason or measured.reason),
    )
