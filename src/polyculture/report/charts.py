"""The charts of a report: each function returns a specification for either size and the rows it draws.

Rows are what the record says, so tests check data and not pixels. Nothing here converts to SVG or HTML.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from polyculture.audit.records import GapRecord, GroupRecord, ModelRecord, ProfileRow, Statistic
from polyculture.report import words
from polyculture.report.plots import columns, interval_rows
from polyculture.report.vega import POINTS_LABEL, Spec

__all__ = ["Chart", "gaps_chart", "groups_chart", "interval_row", "minus", "models_chart", "profile_chart"]

Row = dict[str, Any]

MOST_ROWS = 40  # an interval plot with more rows is no picture; the table beneath has them all
MOST_BARS = 12  # a profile with more rows is drawn as columns


class Chart(NamedTuple):
    """One chart: the same rows drawn for a page and for a phone, and what either leaves out."""

    wide: Spec
    compact: Spec
    rows: list[Row]
    note: str = ""
    compact_note: str = ""


def profile_chart(profile: Sequence[ProfileRow], noun: str = "individuals", *, largest: float | None = None) -> Chart:
    """Return the failure outcome profile of one number of judgements: observed against expected.

    Parameters
    ----------
    profile : sequence of ProfileRow
        All rows with the same ``judged``.
    noun : str
        What individuals are called, in the plural.
    largest : float, optional
        The end of the axis, where several profiles share one.
    """
    k = profile[0].judged
    rows = [
        interval_row(index, _failures(row.failed, k), row.observed, "percent", row.expected, failed=row.failed)
        for index, row in enumerate(profile)
    ]
    title = f"share of {words.shown(noun)}"
    if len(rows) > MOST_BARS:
        return Chart(columns(rows, k, "wide"), columns(rows, k, "compact"), rows)
    return Chart(
        interval_rows(rows, "wide", title=title, bars=True, largest=largest),
        interval_rows(rows, "compact", title=title, bars=True, largest=largest),
        rows,
    )


def _failures(failed: int, k: int) -> str:
    if failed == 0:
        return "no model failed"
    if k == 1:
        return "the model failed"
    if failed == k:
        return "both failed" if k == 2 else f"all {k} failed"
    return f"{failed} of {k} failed"


def models_chart(models: Sequence[ModelRecord]) -> Chart:
    """Return the models' failure rates with their intervals, the highest first."""
    ordered = sorted(models, key=lambda model: -(model.failure_rate.value or 0))
    shown = ordered[:MOST_ROWS]
    rows = [interval_row(index, model.name, model.failure_rate, "percent") for index, model in enumerate(shown)]
    title = "failure rate"
    return Chart(
        interval_rows(rows, "wide", title=title),
        interval_rows(rows, "compact", title=title),
        rows,
        _left_out(len(shown), len(models), "models with the highest rates"),
    )


def groups_chart(groups: Sequence[GroupRecord]) -> Chart | None:
    """Return systemic failure by group with its interval, beside what each group's own rates expect.

    Groups that are too few have no figures and are left to the table. None where no group has any.
    """
    reported = [group for group in groups if group.systemic_failure is not None]
    largest = sorted(reported, key=lambda group: -group.individuals)[:MOST_ROWS]
    kept = [group for group in reported if any(group is other for other in largest)]
    rows = [
        interval_row(
            index,
            words.by_words(group.by),
            group.systemic_failure.observed,
            "percent",
            group.systemic_failure.expected,
            status=group.status,
        )
        for index, group in enumerate(kept)
        if group.systemic_failure is not None
    ]
    if not rows:
        return None
    title = "share failed by all their models"
    return Chart(
        interval_rows(rows, "wide", title=title),
        interval_rows(rows, "compact", title=title),
        rows,
        _left_out(len(rows), len(reported), "largest groups"),
    )


def gaps_chart(gap: GapRecord) -> Chart:
    """Return each model's gap in failure rate between the groups of a column, and the gap of systemic failure.

    The expected mark on the last row is the gap that such groups show when nothing differs.
    """
    ordered = sorted(gap.models, key=lambda model: -(model.failure_rate_difference.value or 0))[:MOST_ROWS]
    rows = [
        interval_row(index, model.name, model.failure_rate_difference, "gap", kind="model")
        for index, model in enumerate(ordered)
    ]
    rows.append(
        interval_row(
            len(rows),
            "failed by all models",
            gap.systemic_failure_difference,
            "gap",
            gap.expected_with_no_difference,
            kind="systemic",
        )
    )
    title = "largest minus smallest rate over the groups, in percentage points"
    return Chart(
        interval_rows(rows, "wide", title=title, label=POINTS_LABEL),
        interval_rows(rows, "compact", title="largest minus smallest rate, in points", label=POINTS_LABEL),
        rows,
        _left_out(len(ordered), len(gap.models), "models with the largest gaps"),
    )


def _left_out(drawn: int, total: int, which: str) -> str:
    return f"The chart shows the {drawn} {which} of {words.count(total)}; the table has all." if drawn < total else ""


def interval_row(
    order: int, label: str, value: Statistic, kind_of_number: str, expected: float | None = None, **more: Any
) -> Row:
    """Return what is drawn of one statistic; an undefined number is a row with its reason and no mark."""
    text = words.number(value, kind_of_number)
    ends = words.interval(value, kind_of_number)
    return {
        "order": order,
        "label": words.shown(label),
        "value": value.value,
        "low": value.low,
        "high": None if value.high is not None and math.isinf(value.high) else value.high,
        "expected": expected,
        "text": minus(text),
        "interval": minus(ends),
        # The axis beneath says points; beside a label on a telephone there is no room for it.
        "both": minus(f"{text.removesuffix(' points')} ({ends.removesuffix(' points')})" if ends else text),
        **more,
    }


def minus(numbers: str) -> str:
    """Return numbers in words with true minus signs, as the page around the chart has them."""
    return re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", numbers)
