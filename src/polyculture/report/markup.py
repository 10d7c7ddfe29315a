"""Words to HTML: escaping, typographic minus signs and powers, and the footnotes of a table.

All text goes through `text` or `number`; both escape. Numbers themselves are made in ``words``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_lowercase
from typing import Any

from markupsafe import Markup, escape

from polyculture.audit.records import Outcome, Statistic
from polyculture.audit.words import capital
from polyculture.report import words

__all__ = ["FILTERS", "Footnotes", "number", "prose", "text"]

_UNIT = re.compile(r"(?<=\d) (?=%)")
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")
_POWER = re.compile(r"10\^(-?[\d.]+)")


def text(value: object) -> Markup:
    """Return data text escaped, its control characters made visible."""
    return escape(words.shown(value))


def number(value: object) -> Markup:
    """Return a number in words as HTML: a true minus sign, 10 to a raised power, no break before %.

    >>> str(number("-1.5 points")), str(number("10^-89.0"))
    ('\u22121.5 points', '10<sup>\u221289.0</sup>')
    """
    return Markup(_MINUS.sub("\u2212", str(prose(value))))  # noqa: S704 - escaped by prose


def prose(value: object) -> Markup:
    """Return a sentence of ours that may hold data: escaped, with raised powers, no break before %."""
    escaped = _POWER.sub(_raised, str(text(value)))
    return Markup(_UNIT.sub("\u00a0", escaped))  # noqa: S704 - escaped above


def _raised(power: re.Match[str]) -> str:
    exponent = power[1].replace("-", "\u2212")
    return f"10<sup>{exponent}</sup>"


class Footnotes:
    """The reasons beneath a table, each said once and marked by a letter."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def mark(self, reason: str | None) -> Markup:
        """Return the raised letter of a reason; nothing where there is none."""
        if not reason:
            return Markup("")
        if reason not in self.reasons:
            self.reasons.append(reason)
        return Markup("<sup>{}</sup>").format(letters(self.reasons.index(reason)))

    def items(self) -> list[tuple[str, str]]:
        """Return letter and reason in order."""
        return [(letters(index), reason) for index, reason in enumerate(self.reasons)]

    def statistic(self, value: Statistic, kind: str = "percent", *, unit: bool = True) -> Markup:
        """Return a number above its interval, or a marked "undefined"; points without unit where asked."""
        reason = words.reason_of(value)
        if value.value is None:
            return self.none(reason)
        ends, shown_number = words.interval(value, kind), words.number(value, kind)
        if not unit:
            ends, shown_number = ends.removesuffix(" points"), shown_number.removesuffix(" points")
        mark = self.mark(reason)
        if not ends:
            return Markup('<span class="n">{}{}</span>').format(number(shown_number), mark)
        return Markup('<span class="n">{}</span> <span class="ci">{}{}</span>').format(
            number(shown_number), number(ends), mark
        )

    def none(self, reason: str | None) -> Markup:
        """Return a marked "undefined" in the place of a number that does not exist."""
        return Markup('<span class="none">undefined</span>{}').format(self.mark(reason))

    def plain(self, value: Statistic, kind: str = "number") -> Markup:
        """Return a number without its interval, or a marked "undefined"."""
        if value.value is None:
            return self.statistic(value, kind)
        return number(words.number(value, kind))

    def ratio(self, outcome: Outcome) -> Markup:
        """Return the ratio of an outcome; as a power of ten where it does not fit a float."""
        log10 = outcome.log10_ratio
        if outcome.ratio.value is not None or log10.value is None:
            return self.statistic(outcome.ratio, "ratio")
        shown = number(words.ratio(None, log10.value))
        return Markup('<span class="n">{}{}</span>').format(shown, self.mark(words.reason_of(outcome.ratio)))


def letters(index: int) -> str:
    """Return a, b, ... z, aa, ab, ... for 0, 1, ...

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    first, second = divmod(index, 26)
    return ("" if first == 0 else letters(first - 1)) + ascii_lowercase[second]


FILTERS: dict[str, Callable[..., Any]] = {
    "shown": text,
    "num": number,
    "prose": prose,
    "count": lambda value: number(words.count(value)),
    "expected": lambda value: number(words.expected(value)),
    "cap": lambda value: text(capital(str(value))),
    "percent": lambda value: number(words.percent(value)),
    "ratio": lambda value: number(words.ratio(value)),
    "pvalue": lambda value: number(words.p_value(value)),
}
