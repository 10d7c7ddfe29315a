"""A comparison on one screen of a terminal: the headline, the models, whom improvements reached, the trend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.change_records import ChangeRecord, CompareRecord, PairedRate, TrendRecord
from polyculture.audit.change_words import short_versions
from polyculture.report import words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from polyculture.report.terminal import Screen

__all__ = ["print_comparison"]

MOST_MODELS = 12
MOST_FLOW = 8  # models; a wider table does not fit a screen
MOST_CHANGES = 4
MOST_GROUPS = 14
LONGEST_HEAD = 12  # characters of a snapshot's name at the head of a column


def print_comparison(record: CompareRecord, console: Console) -> None:
    """Print a comparison, the sentence that matters first.

    Parameters
    ----------
    record : CompareRecord
        What a comparison returned.
    console : rich.console.Console
        Where to; its width, encoding and colour system are respected.
    """
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.headline, style="bold")
    screen.blank()
    if record.trend:
        screen.show(_trend(record.trend, screen))
    for change in record.changes[-MOST_CHANGES:]:
        _change(change, screen, alone=len(record.changes) == 1)
    if len(record.changes) > MOST_CHANGES:
        hidden = len(record.changes) - MOST_CHANGES
        screen.paragraph(f"{words.plural(hidden, 'earlier change')} not shown: see --html, --tables or --json.")
    for note in record.notes:
        screen.paragraph(f"Note: {note}")


def _change(change: ChangeRecord, screen: Screen, *, alone: bool) -> None:
    if not alone:
        screen.paragraph(change.headline, style="bold")
        screen.blank()
    if change.individuals == 0:
        return
    if change.undoing:
        screen.paragraph(change.undoing[0].sentence)
        screen.blank()
    screen.show(_rates(change, screen))
    if change.by_others:
        screen.show(_undoing(change, screen))
    if 2 <= len(change.models) <= MOST_FLOW:
        screen.show(_flow(change, screen))
    if change.groups:
        screen.show(_groups(change, screen))
    for note in change.notes:
        screen.paragraph(f"Note: {note}")
    screen.blank()


def _rates(change: ChangeRecord, screen: Screen) -> Table:
    p_values = any(model.error.p_value is not None for model in change.models)
    sides = [change.before, change.after]
    sides = sides if max(map(len, sides)) <= LONGEST_HEAD else ["before", "after"]
    heads = ["model", *sides, "change (points)", *(["p"] if p_values else [])]
    table = screen.table("Failure rates of the same individuals", *(_short(head) for head in heads))
    ordered = sorted(change.models, key=lambda model: -abs(model.error.difference.value or 0.0))
    rows: list[tuple[str, PairedRate]] = [("failed by all", change.systemic_failure.rate), ("mean", change.mean_error)]
    rows += [(short_versions(model), model.error) for model in ordered[:MOST_MODELS]]
    for label, rate in rows:
        p_value = rate.p_adjusted if rate.p_adjusted is not None else rate.p_value
        cells = [label, _value(rate, "before"), _value(rate, "after"), _difference(rate, screen)]
        screen.row(table, *cells, *([words.p_value(p_value)] if p_values else []))
    if len(ordered) > MOST_MODELS:
        screen.row(table, f"... and {len(ordered) - MOST_MODELS} that changed less")
    return table


def _short(text: str) -> str:
    return words.shorten(words.shown(text), 24)


def _value(rate: PairedRate, side: str) -> str:
    value = rate.before if side == "before" else rate.after
    return words.number(value) if value.value is not None else "undefined"


def _difference(rate: PairedRate, screen: Screen) -> str:
    if rate.difference.value is None:
        return "undefined"
    ends = "" if screen.narrow else words.interval(rate.difference, "points").removesuffix(" points")
    told = words.number(rate.difference, "points").removesuffix(" points")
    return f"{told} ({ends})" if ends else told


def _undoing(change: ChangeRecord, screen: Screen) -> Table:
    table = screen.table(
        f"Improvements that undid a systemic failure (others as in {_short(change.before)})",
        *("model", "improved", "regressed", "undid", "share", "uniform", "difficulty"),
    )
    rows = [("all models", change.undoing[0])] if change.undoing else []
    rows += [(short_versions(model), model.undoing[0]) for model in change.models[:MOST_MODELS] if model.undoing]
    for label, one in rows:
        screen.row(
            table,
            label,
            words.count(one.improved),
            words.count(one.regressed),
            words.count(one.improved_systemic),
            words.statistic(one.share, with_interval=not screen.narrow).partition(":")[0],
            "undefined" if one.uniform is None else words.percent(one.uniform),
            "undefined" if one.adjusted.value is None else words.percent(one.adjusted.value),
        )
    return table


def _flow(change: ChangeRecord, screen: Screen) -> Table:
    models = len(change.models)
    rows = [row for row in change.flow if row.judged == models]
    table = screen.table(
        "Failing models: before down, after across",
        *("models", *(str(number) for number in range(models + 1))),
    )
    for before in range(models + 1):
        counts = [
            sum(row.count for row in rows if (row.before, row.after) == (before, after)) for after in range(models + 1)
        ]
        screen.row(table, str(before), *(words.count(count) for count in counts))
    return table


def _groups(change: ChangeRecord, screen: Screen) -> Table:
    table = screen.table(
        "Failed by all their models, by group", "group", "individuals", "before", "after", "change (points)"
    )
    for group in change.groups[:MOST_GROUPS]:
        count = words.count(group.individuals)
        if group.systemic_failure is None:
            screen.row(table, words.by_words(group.by), count, group.status)
            continue
        rate = group.systemic_failure.rate
        cells = (_value(rate, "before"), _value(rate, "after"), _difference(rate, screen))
        screen.row(table, words.by_words(group.by), count, *cells)
    if len(change.groups) > MOST_GROUPS:
        screen.row(table, f"... and {len(change.groups) - MOST_GROUPS} more groups")
    return table


def _trend(trend: tuple[TrendRecord, ...], screen: Screen) -> Table:
    first = trend[0].points
    shown = first if len(first) <= 5 else (first[0], first[-1])
    table = screen.table(
        "Over all snapshots, on the individuals that all of them have",
        *("", *(_short(point.snapshot) for point in shown), "points a snapshot"),
    )
    for series in trend[: MOST_MODELS + 1]:
        rates = {point.snapshot: words.number(point.rate) for point in series.points}
        ends = words.interval(series.slope, "points").removesuffix(" points")
        slope = words.number(series.slope, "points").removesuffix(" points")
        told = f"{slope} ({ends})" if ends and not screen.narrow else slope
        label = "failed by all" if series is trend[0] else series.series
        screen.row(table, label, *(rates[point.snapshot] for point in shown), told)
    return table
