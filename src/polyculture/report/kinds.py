"""Kinds of decision-makers for the report and the terminal: what is shown of them, in words and as charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from polyculture.audit.kinds_records import DifferenceOfDifferences, KindRecord, KindsRecord
from polyculture.audit.records import AuditRecord, GroupRecord, Outcome
from polyculture.report import words
from polyculture.report.charts import Chart, interval_row
from polyculture.report.plots import interval_rows
from polyculture.report.vega import POINTS_LABEL

if TYPE_CHECKING:
    from rich.table import Table

    from polyculture.report.terminal import Screen

__all__ = [
    "GroupRow",
    "compared_words",
    "excess_chart",
    "group_rows",
    "kind_tables",
    "kinds_verdict",
    "known_differences",
    "known_excess",
    "nothing_words",
    "show_kinds",
]

LEVEL = 0.05
MOST_ROWS = 14  # of a table on the terminal


class GroupRow(NamedTuple):
    """One group under one kind."""

    group: GroupRecord
    kind: str
    outcome: Outcome


def kinds_verdict(record: KindsRecord) -> str:
    """Return how many differences of differences leave none out, in one sentence; empty without any."""
    tested = [one for one in record.differences if one.p_adjusted is not None]
    if not tested:
        return ""
    found = [one for one in tested if one.p_adjusted is not None and one.p_adjusted < LEVEL]
    text = words.plural(len(tested), "difference")
    if not found:
        return f"Of {text} between kinds in what groups mean to them, none is seen (5 %, corrected)."
    told = "; ".join(_told(one) for one in found[:3])
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return f"Of {text} between kinds in what groups mean to them, {len(found)} are seen (5 %, corrected): {told}{more}."


def _told(one: DifferenceOfDifferences) -> str:
    return f"{one.outcome}, {compared_words(one)}, {words.statistic(one.excess_difference, 'points')}"


def compared_words(one: DifferenceOfDifferences) -> str:
    """Return what is held against what: groups, and kinds."""
    first, second = (words.by_words(by) for by in one.groups)
    kinds = " against ".join(words.shown(kind) for kind in one.kinds)
    return f"{first} against {second} under {kinds}"


def nothing_words(record: KindsRecord) -> str:
    """Return why no kind has an excess, in one sentence; empty where one has."""
    outcomes = [one for kind in record.kinds for one in (kind.systemic_failure, kind.homogeneous_outcomes)]
    if not outcomes or any(known_excess(one) for one in outcomes):
        return ""
    reason = words.reason_of(outcomes[0].difference)
    told = f" ({reason})" if reason else ""
    return f"No kind has an excess or a ratio{told}; charts and comparisons of them are left out."


def known_excess(*outcomes: Outcome | None) -> bool:
    """Return whether any of the outcomes has an excess or a ratio."""
    return any(one is not None and (one.difference.value, one.ratio.value) != (None, None) for one in outcomes)


def known_differences(record: KindsRecord) -> list[DifferenceOfDifferences]:
    """Return the differences of differences; none where not one is defined."""
    defined = any(
        (one.excess_difference.value, one.homogenization_ratio.value) != (None, None) for one in record.differences
    )
    return list(record.differences) if defined else []


def group_rows(record: KindsRecord) -> dict[str, list[GroupRow]]:
    """Return the groups of single columns under every kind, by column and group; those too small are left out."""
    found: dict[str, list[GroupRow]] = {}
    for kind in record.kinds:
        for group in kind.groups:
            if len(group.by) == 1 and group.systemic_failure is not None:
                column = next(iter(group.by))
                found.setdefault(column, []).append(GroupRow(group, kind.name, group.systemic_failure))
    for rows in found.values():
        order = list(dict.fromkeys(words.by_words(row.group.by) for row in rows))
        rows.sort(key=lambda row: order.index(words.by_words(row.group.by)))
    return found


def excess_chart(rows: list[GroupRow], outcome: str = "systemic_failure") -> Chart | None:
    """Return the excess of an outcome by group and kind, each against the group's own rates of that kind.

    Kinds of which it is defined in no group, as where one model is a kind, are left out; None where not one is.
    """
    known = {row.kind for row in rows if getattr(row.group, outcome).difference.value is not None}
    if not known:
        return None
    # The axis says points, and on a phone there is no room to say it again.
    drawn = [
        _without_unit(
            interval_row(
                index,
                f"{words.by_words(row.group.by)} · {words.shown(row.kind)}",
                getattr(row.group, outcome).difference,
                "points",
                kind_of_decision_maker=row.kind,
            )
        )
        for index, row in enumerate(row for row in rows if row.kind in known)
    ]
    title = f"excess of {outcome.replace('_', ' ')} over independence, in points"
    return Chart(
        interval_rows(drawn, "wide", title=title, label=POINTS_LABEL),
        interval_rows(drawn, "compact", title="excess, in points", label=POINTS_LABEL),
        drawn,
    )


def _without_unit(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, **{name: row[name].replace(" points", "") for name in ("text", "interval", "both")}}


def show_kinds(record: AuditRecord, screen: Screen) -> None:
    """Print kinds side by side."""
    if record.kinds is None:
        return
    screen.paragraph(record.kinds.sentence)
    if nothing := nothing_words(record.kinds):
        screen.paragraph(nothing)
    screen.blank()
    for table in kind_tables(record, screen):
        screen.show(table)
    if verdict := kinds_verdict(record.kinds):
        screen.paragraph(verdict)
    for note in record.kinds.notes:
        screen.paragraph(f"- {note}")
    screen.blank()


def kind_tables(record: AuditRecord, screen: Screen) -> Iterator[Table]:
    """Yield the tables of a terminal: kinds, the excess by group, the differences of differences."""
    kinds = record.kinds
    if kinds is None or kinds.reason:
        return
    compared = [] if nothing_words(kinds) else ["expected", "excess", "ratio (H)"]
    table = screen.table("Kinds of decision-makers", "kind", "members", "failed by all", *compared)
    for kind in kinds.kinds:
        screen.row(table, kind.name, str(len(kind.models)), *_headline(kind)[: 1 + len(compared)])
    yield table
    for column, rows in group_rows(kinds).items():
        if not known_excess(*(one for row in rows for one in (row.outcome, row.group.homogeneous_outcomes))):
            continue
        table = screen.table(f"Excess by {column} and kind, points", "group", "kind", "failed by all", "either extreme")
        for row in rows[:MOST_ROWS]:
            same = row.group.homogeneous_outcomes
            ends = [row.outcome.difference, *([same.difference] if same is not None else [])]
            cells = [words.statistic(one, "points", with_interval=not screen.narrow) for one in ends]
            screen.row(table, words.by_words(row.group.by), row.kind, *(_bare(cell) for cell in cells))
        if len(rows) > MOST_ROWS:
            screen.row(table, f"... and {len(rows) - MOST_ROWS} more, see --tables")
        yield table
    if differences := known_differences(kinds):
        table = screen.table(
            "Groups further apart under one kind, points", "compared", "outcome", "difference", "p corr."
        )
        # The least surprising are left to the report; those without a p-value come last.
        shown = sorted(differences, key=lambda one: 2.0 if one.p_adjusted is None else one.p_adjusted)
        for one in shown[:MOST_ROWS]:
            number = words.statistic(one.excess_difference, "points", with_interval=not screen.narrow)
            screen.row(table, compared_words(one), one.outcome, _bare(number), words.p_value(one.p_adjusted))
        if len(shown) > MOST_ROWS:
            screen.row(table, f"... and {len(shown) - MOST_ROWS} with larger p, see --tables")
        yield table


def _headline(kind: KindRecord) -> list[str]:
    outcome = kind.systemic_failure
    return [
        _bare(words.number(outcome.observed)),
        words.expected(outcome.expected, outcome.log10_expected),
        _bare(words.number(outcome.difference, "points")),
        _bare(words.number(outcome.ratio, "ratio")),
    ]


def _bare(text: str) -> str:
    """Return a cell without its reason or unit: the title has the unit, reasons stand in the report."""
    return "undefined" if text.startswith("undefined") else text.replace(" points", "")
