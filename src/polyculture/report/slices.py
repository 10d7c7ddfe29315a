"""Slices as the outputs show them: their chart, the terminal's table, the notebook. Computes nothing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from polyculture.audit.slice_words import name_of
from polyculture.report import words
from polyculture.report.charts import Chart, interval_row
from polyculture.report.plots import interval_rows

if TYPE_CHECKING:
    from rich.table import Table

    from polyculture.audit.records import SliceRecord, SlicesRecord
    from polyculture.report.terminal import Screen

__all__ = ["searched_words", "slices_chart", "slices_html", "slices_table"]


def searched_words(found: SlicesRecord, noun: str) -> str:
    """Say what was searched, on whom, and how slices were tested."""
    columns = words.listed([words.shown(column) for column in found.columns])
    how = "every combination" if found.exhaustive else "combinations (with a third condition only of the best pairs)"
    looked, reported = (
        words.number_of(number, noun) for number in (found.search_individuals, found.report_individuals)
    )
    text = (
        f"Searched: {how} of up to three of {words.plural(found.conditions, 'condition')} on {columns}, on {looked}; "
        f"reported on {reported}. How: {found.method}."
    )
    if found.left_out:
        left = words.listed([f"{words.shown(name)} ({reason})" for name, reason in found.left_out.items()])
        text += f" Not searched: {left}."
    return text


def shown_slices(found: SlicesRecord) -> list[SliceRecord]:
    """Return the slices that were confirmed."""
    return [one for one in found.slices if one.confirmed]


def slices_chart(found: SlicesRecord) -> Chart | None:
    """Return systemic failure of the confirmed slices beside what their own rates expect; None without any."""
    rows: list[dict[str, Any]] = [
        interval_row(index, name_of(one), one.systemic_failure, "percent", one.expected)
        for index, one in enumerate(shown_slices(found))
    ]
    if not rows:
        return None
    title = "share failed by all their models"
    return Chart(interval_rows(rows, "wide", title=title), interval_rows(rows, "compact", title=title), rows)


def slices_table(found: SlicesRecord, screen: Screen, noun: str) -> Table:
    """Return the confirmed slices for a terminal."""
    census = all(one.p_value is None for one in found.slices)
    heads = ["slice", noun, "failed by all", "expected", "excess", *([] if census else ["p corr."])]
    table = screen.table("Slices, on those not searched", *heads)
    for one in shown_slices(found):
        failed = words.statistic(one.systemic_failure, with_interval=not screen.narrow).partition(":")[0]
        excess = words.number(one.excess, "points").replace(" points", "")
        cells = [words.count(one.individuals), failed, words.expected(one.expected), excess]
        screen.row(table, name_of(one), *cells, *([] if census else [words.p_value(one.p_adjusted)]))
    return table


def slices_html(found: SlicesRecord) -> str:
    """Return a small HTML table of the confirmed slices for notebooks."""
    heads = ("Slice", "Individuals", "Failed by all", "Expected", "Excess", "p, corrected")
    rows = [
        (
            name_of(one),
            words.count(one.individuals),
            words.statistic(one.systemic_failure),
            words.expected(one.expected),
            words.statistic(one.excess, "points"),
            words.p_value(one.p_adjusted),
        )
        for one in shown_slices(found)
    ]
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(words.shown(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<p>{escape(words.shown(found.sentence))}</p>{table}"
