"""AuditRecord to one screen of a terminal: the headline, then small tables.

Data text is shown literally (no markup, no control characters, nothing the terminal cannot encode).
Nothing depends on colour; narrow terminals get fewer columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from polyculture.audit.records import AuditRecord, GapRecord, GroupRecord, Outcome, ProfileRow, Statistic
from polyculture.report import words
from polyculture.report.components import print_components
from polyculture.report.kinds import show_kinds
from polyculture.report.ladder import ladder_rows, verdict
from polyculture.report.portfolio import show_choice
from polyculture.report.similarity import near_duplicate_words, suspect_words
from polyculture.report.slices import slices_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["Screen", "print_audit"]

NARROW = 92  # below this many columns intervals move out of the tables of models, profile and groups
STACKED = 58  # below, not even three columns of numbers fit, and tables become lists
MOST_MODELS = 12
MOST_GROUPS = 14
MOST_PROFILE = 12

_HELD = "\N{SYMBOL FOR SPACE}"


def print_audit(record: AuditRecord, console: Console) -> None:
    """Print an audit, the sentence that matters first.

    Parameters
    ----------
    record : AuditRecord
        What an audit returned.
    console : rich.console.Console
        Where to; its width, encoding and colour system are respected.
    """
    screen = Screen(console)
    screen.paragraph(record.headline, style="bold")
    screen.blank()
    screen.show(_outcomes(record, screen))
    for table in _profiles(record, screen):
        screen.show(table)
    screen.show(_models(record, screen))
    for line in _likeness(record):
        screen.paragraph(line)
    if record.collection is not None:
        screen.blank()
    print_components(record, screen)
    for table in _groups(record, screen):
        screen.show(table)
    for gap in record.gaps:
        screen.show(_gap(gap, screen))
    if record.slices is not None:
        screen.paragraph(record.slices.sentence)
        screen.blank()
        if record.slices.confirmed:
            screen.show(slices_table(record.slices, screen, record.noun))
    if len(record.nulls) > 1:
        screen.show(_ladder(record, screen))
        screen.paragraph(verdict(record))
    if record.kinds is not None:
        show_kinds(record, screen)
    if record.portfolio is not None:
        screen.paragraph(record.portfolio.headline)
        screen.blank()
        show_choice(record.portfolio, screen)
    for line in _remarks(record):
        screen.paragraph(line)


class Screen:
    """A console that takes data text literally and knows what it can show."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.narrow = console.width < NARROW
        self.stacked = console.width < STACKED
        self.bar_length = 0 if self.stacked else 10 if console.width < 70 else 20
        self.encoding = console.encoding or "utf-8"
        unicode = self._encodes("█│") and not console.legacy_windows
        self.full, self.mark = ("█", "│") if unicode else ("#", "|")

    def _encodes(self, text: str) -> bool:
        try:
            text.encode(self.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def text(self, value: object) -> str:
        """Return text that this terminal can show, control characters visible."""
        shown = words.shown(value)
        if self._encodes(shown):
            return shown
        shown = shown.replace(" · ", " / ")
        try:
            return shown.encode(self.encoding, "backslashreplace").decode(self.encoding)
        except LookupError:
            return shown.encode("ascii", "backslashreplace").decode("ascii")

    def paragraph(self, value: str, style: str = "") -> None:
        """Print a paragraph; no line breaks between a number and its per cent sign."""
        from rich.text import Text

        text = self.text(value)
        # Rich breaks lines at every kind of space, so a character that is none stands in while it does.
        held = _HELD if _HELD not in text else " "
        lines = Text(re.sub(r"(?<=\d) (?=%)", held, text)).wrap(self.console, self.console.width)
        for line in lines:
            self.console.print(Text(line.plain.rstrip().replace(held, " "), style=style), highlight=False)

    def blank(self) -> None:
        """Print an empty line."""
        self.console.print()

    def table(self, title: str, *columns: str) -> Table:
        """Return an empty table: the first column is left-aligned, the others right."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(self.text(title), style="bold"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            padding=(0, 1) if self.console.width >= 70 else (0, 1, 0, 0),
            pad_edge=False,
            show_edge=False,
            header_style="",
        )
        for index, column in enumerate(columns):
            table.add_column(
                Text(self.text(column)),
                justify="left" if index == 0 else "right",
                no_wrap=index > 0,
                min_width=10 if index == 0 else None,
                overflow="fold",
            )
        return table

    def row(self, table: Table, *cells: str) -> None:
        """Add a row of literal text."""
        from rich.text import Text

        table.add_row(*(Text(self.text(cell)) for cell in cells))

    def show(self, table: Table) -> None:
        """Print a table; where there is no room for columns, a line a cell, so that nothing is cut."""
        if self.stacked:
            self._list(table)
        else:
            self.console.print(table, highlight=False)
        self.blank()

    def _list(self, table: Table) -> None:
        self.paragraph(str(table.title), style="bold")
        heads = [str(column.header) for column in table.columns]
        for cells in zip(*(column.cells for column in table.columns), strict=True):
            label, *values = (str(cell) for cell in cells)
            if label:
                self.paragraph(f"{heads[0]} {label}".strip())
            for head, value in zip(heads[1:], values, strict=True):
                if value:
                    self.paragraph(f"  {head}: {value}" if head else f"  {value}")

    def bar(self, observed: float | None, expected: float | None, largest: float) -> str:
        """Return a bar of the observed share with a stroke where the expected one would end."""
        if largest <= 0 or observed is None:
            return ""
        filled = round(observed / largest * self.bar_length)
        cells = [self.full] * filled + [" "] * (self.bar_length - filled)
        if expected is not None:
            cells[min(self.bar_length - 1, round(expected / largest * self.bar_length))] = self.mark
        return "".join(cells).rstrip()


def _outcomes(record: AuditRecord, screen: Screen) -> Table:
    """Return the three outcomes, one column each; on a narrow terminal the intervals stand beneath."""
    outcomes = (record.systemic_failure, record.consistent_success, record.homogeneous_outcomes)
    title = "Outcomes" if record.provenance.census else "Outcomes, with 95 % intervals"
    table = screen.table(title, "", "all fail", "none fails", "either")
    screen.row(table, record.noun, *(words.count(outcome.count) for outcome in outcomes))
    lines: tuple[tuple[str, list[Statistic], str], ...] = (
        ("observed", [outcome.observed for outcome in outcomes], "percent"),
        ("expected", [_expected_statistic(outcome) for outcome in outcomes], "percent"),
        ("difference (excess)", [outcome.difference for outcome in outcomes], "points"),
        ("ratio (H)", [outcome.ratio for outcome in outcomes], "ratio"),
    )
    for name, statistics, kind in lines:
        numbers = [words.number(statistic, kind).replace(" points", "") for statistic in statistics]
        ends = [words.interval(statistic, kind).replace(" points", "") for statistic in statistics]
        if kind == "ratio":
            numbers = [_ratio(outcome) for outcome in outcomes]
        if name == "expected":
            numbers = [words.expected_of(outcome) for outcome in outcomes]
        if screen.narrow:
            screen.row(table, name, *numbers)
            if any(ends):
                screen.row(table, "", *ends)
        else:
            pairs = zip(numbers, ends, strict=True)
            screen.row(table, name, *(f"{number} ({end})" if end else number for number, end in pairs))
    screen.row(table, "ceiling", *(words.ratio(outcome.ceiling) for outcome in outcomes))
    return table


def _expected_statistic(outcome: Outcome) -> Statistic:
    """Return the expected share with its interval, for the interval alone where it has one."""
    if outcome.expected_interval.value is None:
        return Statistic(value=outcome.expected)
    return outcome.expected_interval


def _short(text: str) -> str:
    """Return a cell without its reason: reasons stand beneath the tables."""
    return "undefined" if text.startswith("undefined") else text


def _ratio(outcome: Outcome) -> str:
    if outcome.ratio.value is None:
        return words.ratio(None, outcome.log10_ratio.value)
    return words.number(outcome.ratio, "ratio")


def _profiles(record: AuditRecord, screen: Screen) -> list[Table]:
    """Return the profile of the most common number of judgements, its middle left out where it is long."""
    sizes: dict[int, list[ProfileRow]] = {}
    for row in record.profile:
        sizes.setdefault(row.judged, []).append(row)
    if not sizes:
        return []
    judged, rows = max(sizes.items(), key=lambda item: sum(row.count for row in item[1]))
    title = f"How many of {words.plural(judged, 'model')} fail each {words.one_of(record.noun)}"
    if len(sizes) > 1:
        people = words.number_of(sum(row.count for row in rows), record.noun)
        others = words.listed([words.count(size) for size in sorted(sizes) if size != judged])
        title += f": the {people} judged by {judged} (those judged by {others} are in --html and --json)"
    columns = ["failed by", record.noun, "observed", "expected"]
    if not screen.stacked:
        columns.append(f"({screen.mark} expected)" if screen.bar_length > 10 else "")
    table = screen.table(title, *columns)
    if not screen.stacked:
        table.columns[-1].justify = "left"
    largest = max(max(row.expected or 0.0, row.observed.value or 0.0) for row in rows)
    kept = rows if len(rows) <= MOST_PROFILE else [*rows[: MOST_PROFILE // 2], *rows[-MOST_PROFILE // 2 :]]
    for index, row in enumerate(kept):
        if len(kept) < len(rows) and index == MOST_PROFILE // 2:
            screen.row(table, "...", *[""] * (len(columns) - 1))
        cells = [str(row.failed), words.count(row.count), words.number(row.observed), words.expected(row.expected)]
        bar = [] if screen.stacked else [screen.bar(row.observed.value, row.expected, largest)]
        screen.row(table, *cells, *bar)
    return [table]


def _models(record: AuditRecord, screen: Screen) -> Table:
    models = sorted(record.models, key=lambda model: -(model.failure_rate.value or 0))
    no_answer = any(model.no_answer for model in models)
    everyone = record.individuals + sum(record.judged_too_little.values())
    not_judged = any(model.judged < everyone for model in models)
    optional = [name for name, shown in (("not judged", not_judged), ("no answer", no_answer)) if shown]
    table = screen.table("Models", "model", "judged", "failed", *optional, "failure rate")
    for model in models[:MOST_MODELS]:
        cells = [model.name, words.count(model.judged), words.count(model.failed)]
        if not_judged:
            cells.append(words.count(everyone - model.judged))
        if no_answer:
            cells.append(words.count(model.no_answer))
        rate = words.statistic(model.failure_rate, with_interval=not screen.narrow)
        screen.row(table, *cells, _short(rate))
    if len(models) > MOST_MODELS:
        screen.row(table, f"... and {len(models) - MOST_MODELS} with lower rates")
    return table


def _likeness(record: AuditRecord) -> Iterable[str]:
    """Yield how many independent models these count as, and which may be one."""
    if record.collection is not None:
        yield record.collection.sentence
        if record.collection.near_duplicates:
            yield near_duplicate_words(record.collection)
    if record.suspect_keys is not None:
        yield suspect_words(record.suspect_keys)


def _groups(record: AuditRecord, screen: Screen) -> list[Table]:
    """Return a table for the groups of each column or intersection."""
    columns: dict[tuple[str, ...], list[GroupRecord]] = {}
    for group in record.groups:
        columns.setdefault(tuple(group.by), []).append(group)
    return [_group_table(by, groups, record, screen) for by, groups in columns.items()]


def _group_table(by: tuple[str, ...], groups: list[GroupRecord], record: AuditRecord, screen: Screen) -> Table:
    tested = [] if record.provenance.census else ["p corr."]
    title = f"Failed by all, by {words.listed(by)}"
    table = screen.table(title, "group", record.noun, "observed", "expected", "ratio (H)", *tested)
    for group in groups[:MOST_GROUPS]:
        name = words.by_words(group.by)
        outcome = group.systemic_failure
        if outcome is None:
            screen.row(table, name, words.count(group.individuals), group.status)
            continue
        corrected = "" if group.contrast is None else words.p_value(group.contrast.p_adjusted)
        observed = words.statistic(outcome.observed, with_interval=not screen.narrow)
        screen.row(
            table,
            name,
            words.count(group.individuals),
            _short(observed),
            words.expected(outcome.expected, outcome.log10_expected),
            _short(_ratio(outcome)),
            *([corrected] if tested else []),
        )
    if len(groups) > MOST_GROUPS:
        screen.row(table, f"... and {len(groups) - MOST_GROUPS} more, see --tables")
    return table


def _gap(gap: GapRecord, screen: Screen) -> Table:
    """Return the models' gaps above the gap of systemic failure that they do not show."""
    table = screen.table(f"Gap between groups of {words.listed(gap.by)}, points", "", "largest - smallest")
    models = sorted(gap.models, key=lambda model: -(model.failure_rate_difference.value or 0))
    for model in models[:6]:
        text = words.statistic(model.failure_rate_difference, "gap", with_interval=not screen.narrow)
        screen.row(table, model.name, _short(text.replace(" points", "")))
    if len(models) > 6:
        screen.row(table, f"... and {len(models) - 6} models with smaller gaps")
    text = words.statistic(gap.systemic_failure_difference, "gap", with_interval=not screen.narrow)
    screen.row(table, "failed by all models", _short(text.replace(" points", "")))
    if gap.expected_with_no_difference is not None:
        none = words.points(gap.expected_with_no_difference, unit=False, sign=False)
        screen.row(table, "the same with no difference", none)
    elif gap.expected_with_no_difference_reason and not gap.expected_with_no_difference_reason.startswith("census"):
        screen.row(table, "the same with no difference", "undefined")
    return table


def _ladder(record: AuditRecord, screen: Screen) -> Table:
    """Return what each model of chance expects, and what is left over it."""
    census = record.provenance.census
    degrees_head, p_head = [] if screen.narrow else ["df"], [] if census else ["p"]
    columns = ["model of chance", "par.", *degrees_head, "expected", "excess", *p_head, ""]
    table = screen.table("Failed by all, under models of chance (excess in points)", *columns)
    table.columns[-1].justify = "left"
    for row in ladder_rows(record.nulls):
        excess = words.statistic(row.null.excess, "points", with_interval=not screen.narrow).replace(" points", "")
        degrees = [] if screen.narrow else [_short(row.residual_df)]
        outcome = row.outcome.replace(" (the poorest)", " <-")
        p = [] if census else [_short(row.p)]
        screen.row(table, row.name, row.parameters, *degrees, _short(row.expected), _short(excess), *p, outcome)
    return table


def _remarks(record: AuditRecord) -> Iterable[str]:
    """Yield warnings, notes, and the reasons of what is undefined in the outcomes."""
    for warning in record.provenance.warnings:
        yield f"Warning: {warning}"
    reasons: dict[str, None] = {}
    for outcome in (record.systemic_failure, record.consistent_success, record.homogeneous_outcomes):
        for statistic in (outcome.observed, outcome.difference, outcome.ratio):
            if words.reason_of(statistic):
                reasons[words.reason_of(statistic)] = None
        if outcome.ceiling_reason:
            reasons[outcome.ceiling_reason] = None
    for gap in record.gaps:
        if gap.expected_with_no_difference_reason and not record.provenance.census:
            reasons[gap.expected_with_no_difference_reason] = None
    for reason in reasons:
        yield f"Undefined: {reason}"
    other = record.no_answer
    if other is not None:
        outcome = other.systemic_failure
        yield (
            f"No answer counts as {other.counted_as}; counted as {other.other}, "
            f"{words.statistic(outcome.observed)} are failed by all and "
            f"{words.expected(outcome.expected, outcome.log10_expected)} would be expected."
        )
    yield from (f"- {note}" for note in record.notes)
