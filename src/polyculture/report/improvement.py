"""Changes between the years of a reproduction, on the page and on the terminal: whom improvements reach.

Reads the record and computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from polyculture.claims.records import Improvement, UndoingShare
from polyculture.report import words
from polyculture.report.charts import MOST_ROWS, Chart, interval_row
from polyculture.report.plots import interval_rows

if TYPE_CHECKING:
    from polyculture.report.terminal import Screen

__all__ = ["ImprovementRow", "improvement_rows", "show_improvements", "undoing_chart", "years"]

MOST_ON_SCREEN = 12


class ImprovementRow(NamedTuple):
    """One service in two years, with its share in either reading."""

    change: Improvement
    earlier: UndoingShare | None
    later: UndoingShare | None


def years(one: Improvement) -> str:
    """Return the two years, as "2020 to 2021"."""
    return f"{one.before} to {one.after}"


def _short(one: Improvement) -> str:
    return f"{one.before}-{one.after[-2:]}"


def improvement_rows(found: Sequence[Improvement]) -> list[ImprovementRow]:
    """Return a row a service and pair of years."""
    return [ImprovementRow(one, _reading(one, "before"), _reading(one, "after")) for one in found]


def _reading(one: Improvement, reading: str) -> UndoingShare | None:
    return next((share for share in one.undoing if share.reading == reading), None)


def undoing_chart(rows: Sequence[ImprovementRow]) -> Chart | None:
    """Return the share of improvements that undo a systemic failure, others in the earlier year, beside both baselines.

    Those with the most improvements where there are too many to draw; None where no share is defined.
    """
    known = [row for row in rows if row.earlier is not None and row.earlier.share.value is not None]
    most = sorted(known, key=lambda row: -row.change.improved)[:MOST_ROWS]
    kept = [row for row in known if any(row is other for other in most)]
    drawn = [
        {
            **interval_row(
                index,
                f"{row.change.dataset}, {row.change.model}, {_short(row.change)}",
                row.earlier.share,
                "percent",
                row.earlier.uniform,
                reading="before",
            ),
            "adjusted": row.earlier.adjusted.value,
        }
        for index, row in enumerate(kept)
        if row.earlier is not None
    ]
    if not drawn:
        return None
    title = "share of improvements that undo a systemic failure"
    left_out = f"The chart shows the {len(kept)} of {len(known)} with the most improvements; the table has all."
    note = left_out if len(kept) < len(known) else ""
    return Chart(interval_rows(drawn, "wide", title=title), interval_rows(drawn, "compact", title=title), drawn, note)


def show_improvements(found: Sequence[Improvement], screen: Screen) -> None:
    """Print each service's change, those with the most improvements where there are many."""
    if not found:
        return
    rows = sorted(improvement_rows(found), key=lambda row: -row.change.improved)[:MOST_ON_SCREEN]
    title = "Improvement between years: errors and shares in %, the others as in the earlier year"
    table = screen.table(
        title, "data set, service", "year", "error", "then", "net", "undo systemic", "uniform", "difficulty"
    )
    for row in rows:
        one, share = row.change, row.earlier
        shares = ["undefined"] * 3
        if share is not None:
            shares = [words.number(share.share), words.expected(share.uniform), words.number(share.adjusted)]
        numbers = [words.number(one.error.before), words.number(one.error.after), f"{one.net:+,}", *shares]
        cells = (_bare(number) for number in numbers)
        screen.row(table, f"{one.dataset}, {one.model}", _short(one), *cells)
    screen.show(table)
    if len(rows) < len(found):
        screen.paragraph(f"... and {len(found) - len(rows)} more with fewer improvements, see --out")
        screen.blank()


def _bare(text: str) -> str:
    return "undefined" if text.startswith("undefined") else text.removesuffix(" %")
