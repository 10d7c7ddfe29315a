"""What a check says, as frozen records whose fields are the fields of check.json."""

from __future__ import annotations

from typing import Literal

from polyculture.audit.statistic import Record

__all__ = ["SCHEMA", "CheckRecord", "LimitRecord", "Rule", "Verdict"]

SCHEMA = "polyculture/check/1"

Rule = Literal["at_most", "at_least", "at_most_increase", "at_most_decrease", "at_most_change"]
Verdict = Literal["within", "broken", "undefined"]


class LimitRecord(Record, frozen=True, kw_only=True):
    """One bound on one number.

    ``field`` names the number with its selectors resolved, ``limit`` the number of the limit that asked for it and
    ``place`` where it was asked for. ``baseline`` and ``change`` (value - baseline) are of limits against a stored
    result. An undefined number has a ``reason``; it counts as broken unless the limit says that it may be undefined.
    """

    field: str
    rule: Rule
    bound: float
    value: float | None
    verdict: Verdict
    counts_as_broken: bool
    baseline: float | None = None
    change: float | None = None
    against: str | None = None
    reason: str = ""
    because: str = ""
    limit: int
    place: str
    file: str | None = None
    line: int | None = None


class CheckRecord(Record, frozen=True, kw_only=True):
    """A result held against limits, as written to check.json.

    ``within``, ``broken`` and ``undefined`` count the lines by verdict, ``counted_as_broken`` those that make the
    command end with status 1. ``sha256`` is of the file as read; None for a result held in memory.
    """

    schema: str = SCHEMA
    sentence: str
    file: str
    file_schema: str
    sha256: str | None = None
    version: str
    within: int
    broken: int
    undefined: int
    counted_as_broken: int
    limits: tuple[LimitRecord, ...]
