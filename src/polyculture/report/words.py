"""What the outputs say of a Statistic or a group, with text from data made safe to show.

The words for numbers stand in ``audit.words``, which the headline and the notes use too.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from polyculture.audit.records import AuditRecord, Outcome, Statistic
from polyculture.audit.words import (
    all_models,
    capital,
    count,
    decimals_for,
    decimals_of,
    expected,
    group_value,
    group_words,
    interval,
    listed,
    number,
    number_of,
    one_of,
    p_value,
    percent,
    plural,
    points,
    power_of_ten,
    ratio,
    share,
)
from polyculture.report.texts import shorten, shown

__all__ = [
    "all_models",
    "by_words",
    "capital",
    "count",
    "decimals_for",
    "decimals_of",
    "expected",
    "expected_of",
    "group_value",
    "group_words",
    "interval",
    "listed",
    "number",
    "number_of",
    "one_of",
    "p_value",
    "percent",
    "plural",
    "points",
    "power_of_ten",
    "ratio",
    "reason_of",
    "rule_of",
    "share",
    "shorten",
    "shown",
    "statistic",
    "undefined",
]


def expected_of(outcome: Outcome) -> str:
    """Return the expected share of an outcome, to the places of its interval."""
    return expected(outcome.expected, outcome.log10_expected, outcome.expected_interval)


def reason_of(statistic: Statistic) -> str:
    """Return the reason of an undefined number or interval, or an empty string.

    That a census has no intervals is said once for the whole audit, not beside every number.
    """
    reason = "" if statistic.reason is UNSET else str(statistic.reason)
    return "" if reason.startswith("census") and statistic.value is not None else reason


def undefined(reason: str) -> str:
    """Return the words for a number that does not exist.

    >>> undefined("no individuals"), undefined("")
    ('undefined: no individuals', 'undefined')
    """
    return f"undefined: {shown(reason)}" if reason else "undefined"


def statistic(value: Statistic, kind: str = "percent", *, with_interval: bool = True) -> str:
    """Return a number with its interval in brackets, or why it is undefined.

    Examples
    --------
    >>> statistic(Statistic(value=0.0646, low=0.0604, high=0.0691))
    '6.5 % (6.0 to 6.9 %)'
    >>> statistic(Statistic(value=None, reason="no individuals"))
    'undefined: no individuals'
    """
    if value.value is None:
        return undefined(reason_of(value))
    text = number(value, kind)
    ends = interval(value, kind) if with_interval else ""
    return f"{text} ({ends})" if ends else text


def by_words(by: Mapping[str, str | None]) -> str:
    """Return the values of a group, those of intersections joined by a middle dot.

    >>> by_words({"sex": "female", "age>=40": None}), by_words({"sex": "female", "age>=40": "false"})
    ('female · (missing)', 'female · not age>=40')
    """
    return " · ".join(shown(group_value(column, value)) or '""' for column, value in by.items()) or "all"


def rule_of(record: AuditRecord) -> str:
    """Return what counts as failure, in words where the rule has some."""
    source = record.provenance
    return source.failure_rule_in_words or source.failure_rule
