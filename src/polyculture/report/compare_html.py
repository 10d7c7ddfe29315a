"""CompareRecord to one self-contained HTML file, and to the compact view of a notebook.

Templates hold the words and the structure, ``compare_charts`` the pictures. Nothing is computed or fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from polyculture.audit.change_records import (
    ByOthersRow,
    ChangeRecord,
    CompareRecord,
    FlowRow,
    ModelChange,
    TrendRecord,
    Undoing,
)
from polyculture.audit.change_words import short_versions, versions
from polyculture.report import compare_charts as charts
from polyculture.report import words
from polyculture.report.html import environment, template_text
from polyculture.report.sections import MOST_TABLE_ROWS, Figure, figure

__all__ = ["compare_html", "compare_repr_html"]

MOST_CHANGES = 12  # each has charts and tables; the rest stand in the tables and the JSON
MOST_SERIES = 9


class OneChange(NamedTuple):
    """What the section of one change shows beside its record."""

    name: str
    title: str
    record: ChangeRecord
    judged: int
    others: Sequence[ByOthersRow]
    others_after: Sequence[ByOthersRow]
    flow: Sequence[FlowRow]
    square: list[list[int]]
    rates: Figure | None
    changes: Figure | None
    improvements: Figure | None
    flows: Figure | None


def compare_html(record: CompareRecord) -> str:
    """Return the report as one HTML page that requests nothing from anywhere.

    Parameters
    ----------
    record : CompareRecord
        What a comparison returned.

    Returns
    -------
    str
        HTML with inline styles and SVG charts; all text from data is escaped.
    """
    changes = [_one(index, change) for index, change in enumerate(record.changes[-MOST_CHANGES:])]
    page: str = (
        environment()
        .get_template("compare.html.jinja")
        .render(
            record=record,
            style=template_text("report.css"),
            contents=_contents(record, changes),
            changes=changes,
            hidden=len(record.changes) - len(changes),
            big=_big_numbers(record),
            noun=record.noun,
            one=words.one_of(record.noun),
            census=record.provenance.census,
            most_rows=MOST_TABLE_ROWS,
            trends=[(trend, _trend(index, trend)) for index, trend in enumerate(record.trend[:MOST_SERIES])],
            versions=versions,
            undoings=_undoings,
            shade_ends=f"{words.listed([f'{100 * most:g}' for _, most in charts.SHADES])} %",
        )
    )
    return page


def compare_repr_html(record: CompareRecord) -> str:
    """Return a compact view for notebooks: the headline and what each model did.

    Parameters
    ----------
    record : CompareRecord
        What a comparison returned.

    Returns
    -------
    str
        An HTML fragment whose style touches nothing outside of it.
    """
    view: str = (
        environment()
        .get_template("compare-notebook.html.jinja")
        .render(record=record, style=template_text("notebook.css"), change=record.changes[-1], versions=versions)
    )
    return view


def _trend(index: int, trend: TrendRecord) -> Figure | None:
    return figure(f"trend-{index}", charts.trend_chart(trend))


def _contents(record: CompareRecord, changes: Sequence[OneChange]) -> list[tuple[str, str]]:
    found = [("trend", "Over all snapshots")] if record.trend else []
    found += [(change.name, change.title) for change in changes]
    if record.notes or record.provenance.warnings:
        found.append(("notes", "Warnings and notes"))
    return [*found, ("reading", "How to read these numbers")]


def _one(index: int, change: ChangeRecord) -> OneChange:
    judged = _most_judged(change.flow)
    others, after = (
        [row for row in change.by_others if (row.judged, row.reading) == (judged, reading)]
        for reading in ("before", "after")
    )
    flow = [row for row in change.flow if row.judged == judged]
    known = {(row.before, row.after): row.count for row in flow}
    any_models = bool(change.individuals) and bool(change.models)
    return OneChange(
        name=f"change-{index}",
        title=f"from {words.shown(change.before)} to {words.shown(change.after)}",
        record=change,
        judged=judged,
        others=others,
        others_after=after,
        flow=flow,
        square=[[known.get((b, a), 0) for a in range(judged + 1)] for b in range(judged + 1)],
        rates=figure(f"rates-{index}", charts.rates_chart(change)) if any_models else None,
        changes=figure(f"changed-{index}", charts.change_chart(change)) if any_models else None,
        improvements=figure(f"improvements-{index}", charts.others_chart(others)),
        flows=figure(f"flow-{index}", charts.flow_chart(flow)),
    )


def _most_judged(flow: Sequence[FlowRow]) -> int:
    """Return the number of judgements that most individuals have."""
    totals: dict[int, int] = {}
    for row in flow:
        totals[row.judged] = totals.get(row.judged, 0) + row.count
    return max(totals, key=lambda judged: (totals[judged], judged), default=0)


def _big_numbers(record: CompareRecord) -> list[dict[str, Any]]:
    """Return the three large numbers of page one: systemic failure before, after, and its change."""
    change = record.changes[-1]
    systemic = change.systemic_failure
    rate = systemic.rate
    of = words.number_of(systemic.individuals, record.noun)
    moved = f"{words.count(systemic.undone)} undone, {words.count(systemic.new)} new"
    before, after = (f"{words.count(count)} of {of}" for count in (systemic.count_before, systemic.count_after))
    return [
        _big("expected", f"Failed by every model, {change.before}", rate.before, before),
        _big("observed", f"Failed by every model, {change.after}", rate.after, after),
        _big("change", "Change", rate.difference, moved, "points"),
    ]


def _big(name: str, label: str, value: Any, below: str, kind: str = "percent") -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "value": words.number(value, kind),
        "interval": words.interval(value, kind),
        "reason": words.reason_of(value),
        "below": below,
    }


def _undoings(models: Sequence[ModelChange], place: int) -> list[tuple[str, Undoing]]:
    """Return name and record of the models that have others, in one reading."""
    return [(short_versions(model), model.undoing[place]) for model in models if model.undoing]
