"""The ladder of nulls as every output shows it: names and verdicts in words, rows of its table, its chart.

Reads an AuditRecord and computes nothing. HTML stands in the template, the terminal's table in ``terminal``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from polyculture.audit.records import AuditRecord, NullRecord, Outcome
from polyculture.report import words
from polyculture.report.charts import Chart, minus
from polyculture.report.plots import interval_rows

__all__ = ["LadderRow", "ladder_chart", "ladder_rows", "name", "verdict"]

_NAMES = {
    "independence": "independence",
    "permutation": "permutation",
    "strata": "independence within groups",
    "equicorrelated": "equicorrelated",
    "rasch": "Rasch",
    "2pl": "two-parameter (2PL)",
    "both-margins": "both margins fixed",
}


class LadderRow(NamedTuple):
    """One null in words: what it is called, how it came out, and its numbers as cells."""

    null: NullRecord
    name: str
    outcome: str
    expected: str
    parameters: str
    residual_df: str
    p: str
    held_out: str
    smallest: str


def name(null: str) -> str:
    """Return a null's name in words.

    >>> name("classes-3"), name("factors-1"), name("rasch")
    ('3 latent classes', '1 probit factor', 'Rasch')
    """
    kind, _, number = null.partition("-")
    if kind == "classes" and number.isdecimal():
        return f"{number} latent classes"
    if kind == "factors" and number.isdecimal():
        return words.plural(int(number), "probit factor")
    return _NAMES.get(null, null)


def ladder_rows(nulls: Sequence[NullRecord]) -> list[LadderRow]:
    """Return the ladder's rows in their order."""
    return [
        LadderRow(
            null=null,
            name=name(null.name),
            outcome=_outcome(null),
            expected=words.expected(null.systemic_failure),
            parameters=words.count(null.parameters),
            residual_df="undefined" if null.residual_df is None else _degrees(null.residual_df),
            p=words.p_value(null.p_value),
            held_out="" if null.held_out_log_likelihood is None else f"{null.held_out_log_likelihood:.4f}",
            smallest=""
            if null.smallest_detectable_excess is None
            else words.points(null.smallest_detectable_excess, unit=False, sign=False),
        )
        for null in nulls
    ]


def _degrees(value: int) -> str:
    return words.count(value) if value < 1_000_000 else words.ratio(float(value))


def _outcome(null: NullRecord) -> str:
    if null.systemic_failure is None:
        return "undefined" if null.rejected is None else f"spread {'rejected' if null.rejected else 'not rejected'}"
    if null.fits_by_construction:
        return "fits by construction"
    if null.rejected is None:
        return "not tested"
    if null.rejected:
        return "rejected"
    return "not rejected (the poorest)" if null.poorest_not_rejected else "not rejected"


def verdict(record: AuditRecord) -> str:
    """Return the sentence on the poorest null that the data do not reject; empty where only one null was asked."""
    if len(record.nulls) < 2:
        return ""
    tested = [null for null in record.nulls if null.rejected is not None and null.systemic_failure is not None]
    if not tested:
        return "No model of chance could be tested."
    observed = words.number(record.systemic_failure.observed)
    poorest = next((null for null in record.nulls if null.poorest_not_rejected), None)
    if poorest is None:
        return (
            f"The data reject every one of {words.plural(len(tested), 'model')} of chance that could be tested: "
            f"{observed} failed by all is not what any of them would expect."
        )
    smallest = poorest.smallest_detectable_excess
    told = "" if smallest is None else f" (an excess of {words.points(smallest, sign=False)} would be found)"
    return (
        f"The poorest model of chance that the data do not reject at 5 % is {name(poorest.name)}, with "
        f"{words.plural(poorest.parameters, 'parameter')}: {words.expected(poorest.systemic_failure)} would be "
        f"expected, {observed} was observed{told}."
    )


def ladder_chart(nulls: Sequence[NullRecord], systemic_failure: Outcome, noun: str = "individuals") -> Chart | None:
    """Return what each null expects beside what was observed with its interval; None where none expects anything.

    Parameters
    ----------
    nulls : sequence of NullRecord
        The ladder.
    systemic_failure : Outcome
        What was observed.
    noun : str
        What individuals are called, in the plural.
    """
    drawn = [null for null in nulls if null.systemic_failure is not None]
    if len(drawn) < 2 or systemic_failure.observed.value is None:
        return None
    observed = systemic_failure.observed
    rows: list[dict[str, Any]] = []
    for order, null in enumerate(drawn):
        excess = minus(words.number(null.excess, "points"))
        expected = minus(words.expected(null.systemic_failure))
        rows.append(
            {
                "order": order,
                "label": name(null.name),
                "value": observed.value,
                "low": observed.low,
                "high": observed.high,
                "expected": null.systemic_failure,
                "text": expected,
                "interval": f"excess {excess}",
                "both": f"{expected}, excess {excess}",
                "null": null.name,
                "outcome": _outcome(null),
            }
        )
    title = f"share of {words.shown(noun)} that all models fail"
    return Chart(interval_rows(rows, "wide", title=title), interval_rows(rows, "compact", title=title), rows)
