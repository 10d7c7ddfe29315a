"""A choice among models as every output shows it: sentences, the chart, the terminal. Computes nothing.

HTML stands in the templates of the folder ``portfolio``, which an audit with a choice shows as a section.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyculture.audit.portfolio_words import value_words
from polyculture.report import words
from polyculture.report.charts import Chart, interval_row
from polyculture.report.plots import interval_rows
from polyculture.report.sections import figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from polyculture.audit.portfolio_choice import PortfolioChoice, PortfolioSet
    from polyculture.audit.portfolio_records import PortfolioRecord
    from polyculture.audit.statistic import Statistic
    from polyculture.report.terminal import Screen

__all__ = ["choice_context", "context", "portfolio_chart", "print_portfolio", "show_choice"]

MOST_MODELS = 12


def measure_words(record: PortfolioChoice) -> str:
    """Return what is measured: failed by every member, or a right majority, of whom."""
    what = "failed by every member" if record.objective == "systemic-failure" else "a right majority"
    return f"{what}, worst group of {words.listed(list(record.by))}" if record.worst_group else what


def search_words(record: PortfolioChoice) -> str:
    """Say how the set was found, and how far from the best it can be."""
    what = {"set": f"set of {record.size}", "swap": "swap", "addition": "addition"}[record.choice]
    if record.exact:
        return f"The best {what} on all {record.noun}: {record.method}."
    text = f"Found by search ({record.method}) among {words.ratio(float(record.sets))} sets, perhaps not the best"
    if record.bound == 0.0:
        return f"{text}: the bound on what the best could be says nothing here (0 %)."
    if record.bound is not None:
        return f"{text}: no set of {record.size} has less than {words.percent(record.bound)} on these data."
    return f"{text}; how far the best could be is not known: {record.bound_reason}."


def comparison_words(record: PortfolioChoice) -> Iterator[str]:
    """Yield the held-out value against a random choice and against today's models."""
    value, kind = value_words(record.held_out), "points"
    yield (
        f"Held out, {value} of {record.noun} are {measure_words(record)}"
        if record.objective == "systemic-failure"
        else f"Held out, {value} of {record.noun} get {measure_words(record)}"
    ) + f" ({words.number(record.chosen.value)} on the {record.noun} for which the set was chosen)."
    yield (
        f"Against a random choice: {words.statistic(record.difference_from_random, kind)}. "
        f"Against today's {words.plural(len(record.today.models), 'model')}: "
        f"{words.statistic(record.difference_from_today, kind)}."
    )


def noise_words(record: PortfolioChoice) -> str:
    """Say how many sets cannot be told from the chosen one."""
    if not record.sets_compared:
        return f"Other sets were not compared: {record.within_noise_note}." if record.within_noise_note else ""
    return (
        f"{words.count(record.within_noise_count)} of {words.count(record.sets_compared)} other sets cannot be told "
        f"from it ({record.within_noise_note})."
    )


def set_name(one: PortfolioSet, *, choice: str) -> str:
    """Return a set by its members; a swap or an addition by what changes."""
    if choice == "set" or not one.added:
        names = [words.shown(name) for name in one.models]
        return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:7])} and {len(names) - 7} more"
    added = f"+ {words.listed([words.shown(name) for name in one.added])}"
    if choice == "addition" or not one.removed:
        return added
    return f"{added} - {words.listed([words.shown(name) for name in one.removed])}"


def portfolio_chart(record: PortfolioChoice) -> Chart:
    """Return the chosen set held out beside a random choice, today's models and the alternatives.

    The tick on the first row is the value of the chosen set on those for whom it was chosen.
    """
    named: list[tuple[str, Statistic]] = [("chosen, held out", record.held_out), ("random choice", record.random)]
    named += [(one.name, one.value) for one in record.alternatives if one.name != "random sets"]
    rows = [
        interval_row(
            index,
            name,
            value,
            "percent",
            record.chosen.value.value if not index else None,
            kind="systemic" if not index else "",
        )
        for index, (name, value) in enumerate(named)
    ]
    title = f"share of {words.shown(record.noun)} {measure_words(record)}"
    short = "share failed by every member" if record.objective == "systemic-failure" else "share with a right majority"
    return Chart(interval_rows(rows, "wide", title=title), interval_rows(rows, "compact", title=short), rows)


def context(record: PortfolioRecord) -> dict[str, Any]:
    """Return everything that the template needs beside the record."""
    sections = (
        (True, "chosen", "What was chosen"),
        (bool(record.within_noise), "near", "Sets that cannot be told from it"),
        (bool(record.models), "models", "The models"),
        (bool(record.alternatives), "alternatives", "Other ways to use these models"),
        (bool(record.appeals), "appeals", "Appeal to a second model"),
        (bool(record.notes or record.provenance.warnings), "notes", "Notes"),
        (True, "reading", "How to read these numbers"),
    )
    return {
        "contents": [(name, title) for shown, name, title in sections if shown],
        "noun": record.noun,
        "one": words.one_of(record.noun),
        "rule": record.provenance.failure_rule_in_words or record.provenance.failure_rule,
        "any_no_answer": record.provenance.no_answer != "failed",
        "big_numbers": _big_numbers(record),
        "census": record.provenance.census,
        **choice_context(record),
    }


def choice_context(choice: PortfolioChoice) -> dict[str, Any]:
    """Return what the templates of the folder ``portfolio`` need beside the choice."""
    return {
        "measure": measure_words(choice),
        "search": search_words(choice),
        "comparison": list(comparison_words(choice)),
        "noise": noise_words(choice),
        "figure": figure("portfolio", portfolio_chart(choice)),
        "set_name": set_name,
        "labelled": any(one.added_false_positives.value is not None for one in choice.appeals),
    }


def _big_numbers(record: PortfolioChoice) -> list[dict[str, str]]:
    none = record.held_out.value == 0.0 and record.held_out.high is not None
    held = {
        "name": "observed",
        "label": f"Chosen, held out: {measure_words(record)}",
        "value": value_words(record.held_out) if none else words.number(record.held_out),
        "interval": "" if none else words.interval(record.held_out),
        "reason": words.reason_of(record.held_out),
        "below": "none held out; 95 % upper limit" if none else "",
    }
    return [
        held,
        _big("expected", "A random choice", record.random, "percent"),
        _big("today", f"Today: {words.plural(len(record.today.models), 'model')}", record.today.value, "percent"),
    ]


def _big(name: str, label: str, value: Statistic, kind: str) -> dict[str, str]:
    return {
        "name": name,
        "label": label,
        "value": words.number(value, kind),
        "interval": words.interval(value, kind),
        "reason": words.reason_of(value),
        "below": "",
    }


def print_portfolio(record: PortfolioRecord, console: Console) -> None:
    """Print a choice among models, the sentence that matters first.

    Parameters
    ----------
    record : PortfolioRecord
        What `portfolio` found.
    console : rich.console.Console
        Where to.
    """
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.headline, style="bold")
    for line in (*comparison_words(record), search_words(record), noise_words(record)):
        if line:
            screen.paragraph(line)
    screen.blank()
    show_choice(record, screen)
    _print_alternatives(record, screen)
    _print_appeals(record, screen)
    for note in record.notes:
        screen.paragraph(f"Note: {note}")


def show_choice(record: PortfolioChoice, screen: Screen) -> None:
    """Print the chosen set, those that cannot be told from it, and today's models."""
    table = screen.table("Sets, on all of them", "", "value", "mean failure")
    rows = [(f"chosen: {set_name(record.chosen, choice=record.choice)}", record.chosen)]
    rows += [(set_name(one, choice=record.choice), one) for one in record.within_noise[:4]]
    rows.append((f"today: {set_name(record.today, choice='set')}", record.today))
    for name, one in rows:
        value = words.statistic(one.value, with_interval=not screen.narrow).partition(":")[0]
        screen.row(table, name, value, words.number(one.mean_failure))
    screen.show(table)


def _print_alternatives(record: PortfolioChoice, screen: Screen) -> None:
    table = screen.table("Other ways to use these models", "", "value", "chosen - this, points")
    for one in record.alternatives:
        value = words.statistic(one.value, with_interval=not screen.narrow).partition(":")[0]
        gap = words.statistic(one.difference, "points", with_interval=not screen.narrow).partition(":")[0]
        screen.row(table, one.name, value, gap.replace(" points", ""))
    screen.show(table)


def _print_appeals(record: PortfolioChoice, screen: Screen) -> None:
    if not record.appeals:
        return
    labelled = any(one.added_false_positives.value is not None for one in record.appeals)
    more = ["false positives added"] if labelled else []
    table = screen.table("Appeal to a second model, held out", "first, then second", "alone", "after appeal", *more)
    for one in record.appeals[:MOST_MODELS]:
        cells = [words.number(one.failure), value_words(one.after_appeal)]
        cells += [value_words(one.added_false_positives)] if labelled else []
        screen.row(table, f"{one.first}, then {one.second}", *cells)
    screen.show(table)
    if not labelled:
        reason = words.reason_of(record.appeals[0].added_false_positives)
        screen.paragraph(f"False positives that appeals add are undefined: {reason}.")
