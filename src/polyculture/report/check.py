"""A check on the terminal and in a notebook: each number with its bound and verdict, the broken ones in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup

from polyculture.gate.records import CheckRecord, LimitRecord
from polyculture.report.words import shown

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["bound_words", "explanation", "print_check", "repr_html", "value_words"]

MOST_ROWS = 40
FIELD = 34  # columns that names of fields and what stands between columns need at least
_WORDS = {
    "at_most": "at most",
    "at_least": "at least",
    "at_most_increase": "rise of at most",
    "at_most_decrease": "fall of at most",
    "at_most_change": "change of at most",
}


def bound_words(line: LimitRecord) -> str:
    """Return the bound in words.

    >>> bound_words(LimitRecord(field="f", rule="at_most", bound=0.05, value=0.1, verdict="broken",
    ...                         counts_as_broken=True, limit=1, place=""))
    'at most 0.05'
    """
    text = f"{_WORDS[line.rule]} {line.bound:.12g}"
    return text if line.against is None else f"{text} from {line.against}"


def value_words(line: LimitRecord) -> str:
    """Return the number, with as many digits as it takes to tell it from its bound; of a change both numbers."""
    if line.value is None:
        return "undefined"
    if line.change is None or line.baseline is None:
        return _apart(line.value, line.bound)
    sign = "+" if line.change >= 0 else "-"
    change = _apart(abs(line.change), line.bound)
    return f"{_short(line.value)} (was {_short(line.baseline)}, {sign}{change})"


def explanation(line: LimitRecord) -> str:
    """Return one line in words: what, how much, the bound, and why it matters."""
    text = f"{line.field} is {value_words(line)}; the limit is {bound_words(line)}"
    if line.reason:
        text += f" ({line.reason})"
    return f"{text}. {line.because}".strip() if line.because else f"{text}."


def print_check(record: CheckRecord, console: Console) -> None:
    """Print a check, the sentence that matters first."""
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.sentence, style="bold")
    screen.blank()
    # The order of the limits, unless they are many: then what is not within comes first.
    few = len(record.limits) <= MOST_ROWS
    lines = record.limits if few else sorted(record.limits, key=lambda line: line.verdict == "within")
    rows = [(line.field, value_words(line), _bound_short(line), _verdict(line)) for line in lines[:MOST_ROWS]]
    more = "" if few else f"... and {len(lines) - MOST_ROWS} more, see --json"
    if sum(max((len(row[place]) for row in rows), default=0) for place in (1, 2, 3)) + FIELD <= console.width:
        table = screen.table("Limits", "field", "value", "bound", "verdict")
        for row in rows:
            screen.row(table, *row)
        if more:
            screen.row(table, more)
        screen.show(table)
    else:  # a table would be cut where it says what the number is
        for field, value, bound, verdict in rows:
            screen.paragraph(f"- {verdict}: {field} is {value}, {bound}")
        if more:
            screen.paragraph(more)
        screen.blank()
    remarks = list(_remarks(record))
    for text in remarks[:MOST_ROWS]:
        screen.paragraph(text)
    if len(remarks) > MOST_ROWS:
        screen.paragraph(f"... and {len(remarks) - MOST_ROWS} more, see --json")


def repr_html(record: CheckRecord) -> str:
    """Return a check as an HTML table whose style touches nothing outside of it."""
    head = Markup("<tr>") + Markup("").join(
        Markup('<th style="text-align:left">{}</th>').format(name)
        for name in ("field", "value", "bound", "verdict", "reason", "because")
    )
    rows = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(shown(cell)) for cell in cells))
        for cells in (
            (line.field, value_words(line), bound_words(line), _verdict(line), line.reason, line.because)
            for line in record.limits
        )
    )
    return str(
        Markup(
            "<div><p><strong>{}</strong></p>\n<table>\n<thead>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>"
        ).format(shown(record.sentence), head, rows)
    )


def _remarks(record: CheckRecord) -> Iterable[str]:
    for line in record.limits:
        if line.verdict != "within":
            yield f"{_verdict(line).capitalize()}: {explanation(line)} [{line.place}]"
        elif line.reason:
            yield f"Within: {explanation(line)} [{line.place}]"


def _verdict(line: LimitRecord) -> str:
    return line.verdict if line.verdict != "undefined" or line.counts_as_broken else "undefined (allowed)"


def _bound_short(line: LimitRecord) -> str:
    """Return the bound without the name of the stored result, which stands beneath the table."""
    return f"{_WORDS[line.rule]} {line.bound:.12g}"


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.12g}"


def _apart(value: float, bound: float) -> str:
    value = float(f"{value:.12g}")  # the rest is what a difference of two numbers leaves in a computer
    for digits in range(4, 17):
        text = f"{value:.{digits}g}" if abs(value) < 10_000 else f"{value:.{max(digits, 12)}g}"
        if (float(text) > bound) == (value > bound) and (float(text) < bound) == (value < bound):
            return text
    return repr(value)
