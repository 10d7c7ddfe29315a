"""A panel on the terminal: the answer, the majority against independent members, and each member left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.records import AgreementRecord, PanelRecord
from polyculture.report import words

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["majority_words", "print_panel"]

MOST_MEMBERS = 20


def majority_words(record: PanelRecord, noun: str = "individuals") -> str:
    """Return the accuracy of the majority against independence, in one sentence; ties are stated."""
    text = f"Most members do not fail {words.statistic(record.majority)} of {noun}"
    if record.independent is not None:
        text += (
            f"; if members of the same failure rates failed independently, most would not fail "
            f"{words.expected(record.independent)} (difference {words.statistic(record.difference, 'points')})"
        )
    elif record.independent_reason:
        text += f"; what independent members would reach is {words.undefined(record.independent_reason)}"
    ties = "" if record.ties is None else f" Ties count as half: {words.percent(record.ties)} of {noun}"
    if ties and record.ties_independent is not None:
        ties += f", {words.percent(record.ties_independent)} expected"
    return f"{text}.{ties}{'.' if ties else ''}"


def print_panel(record: PanelRecord | AgreementRecord, console: Console, noun: str = "individuals") -> None:
    """Print what a panel is worth.

    Parameters
    ----------
    record : PanelRecord or AgreementRecord
        What `panel` found.
    console : rich.console.Console
        Where to.
    noun : str
        What is judged, in the plural.
    """
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.sentence, style="bold")
    if isinstance(record, AgreementRecord):
        return
    screen.paragraph(majority_words(record, noun))
    screen.blank()
    table = screen.table("Members", "member", "accuracy", "n_eff without", "majority without")
    reasons: dict[str, None] = {}
    members = sorted(record.members, key=lambda member: -(member.accuracy.value or 0.0))
    for member in members[:MOST_MEMBERS]:
        without = "undefined" if member.n_eff_without is None else words.ratio(member.n_eff_without)
        majority = "undefined" if member.majority_without is None else words.percent(member.majority_without)
        for reason in (member.n_eff_without_reason, member.majority_without_reason):
            if reason:
                reasons[reason] = None
        accuracy = words.statistic(member.accuracy, with_interval=not screen.narrow).partition(":")[0]
        screen.row(table, member.name, accuracy, without, majority)
    if len(members) > MOST_MEMBERS:
        screen.row(table, f"... and {len(members) - MOST_MEMBERS} with lower accuracy")
    screen.show(table)
    for reason in reasons:
        screen.paragraph(words.capital(words.undefined(reason)))
