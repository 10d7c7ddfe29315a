"""Holding a result against limits: each number with its bound and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polyculture.audit.words import listed, plural
from polyculture.errors import UsageError
from polyculture.gate.documents import Document, refuse_other_question
from polyculture.gate.fields import NoFieldError, Number, find
from polyculture.gate.limits import CHANGES, Limit
from polyculture.gate.records import CheckRecord, LimitRecord, Rule, Verdict

__all__ = ["run"]

_ROUNDING = 1e-12  # a change is a difference of two numbers, and .8 - .7 is a little more than .1 in a computer


@dataclass(frozen=True)
class _Judged:
    """What is said of one number under one bound."""

    verdict: Verdict
    reason: str = ""
    baseline: float | None = None
    change: float | None = None


def run(document: Document, limits: Sequence[Limit], stored: Callable[[str], Document], *, version: str) -> CheckRecord:
    """Hold a result against limits.

    Parameters
    ----------
    document : Document
        The result.
    limits : sequence of Limit
        At least one.
    stored : callable
        Opens the stored result of a name.
    version : str
        Of polyculture.

    Returns
    -------
    CheckRecord
        One line a number and bound, in the order of the limits.

    Raises
    ------
    UsageError
        If a limit names no field, or a stored result is of another kind.
    """
    lines = [line for limit in limits for line in _lines(document, limit, stored)]
    counts = {word: sum(line.verdict == word for line in lines) for word in ("within", "broken", "undefined")}
    counted = sum(line.counts_as_broken for line in lines)
    return CheckRecord(
        sentence=_sentence(document.name, counts, len(lines), counted),
        file=document.name,
        file_schema=document.schema,
        sha256=document.sha256,
        version=version,
        within=counts["within"],
        broken=counts["broken"],
        undefined=counts["undefined"],
        counted_as_broken=counted,
        limits=tuple(lines),
    )


def _lines(document: Document, limit: Limit, stored: Callable[[str], Document]) -> list[LimitRecord]:
    baseline = None if limit.against is None else stored(limit.against)
    if baseline is not None:
        refuse_other_question(document, baseline)
    try:
        numbers = find(document.content, limit.steps, document.shape)
        before = {} if baseline is None else _stored_numbers(baseline, limit)
    except UsageError as error:
        raise UsageError(f"{limit.place}: {error.message}", hint=error.hint) from None
    lines = []
    for rule, bound in limit.bounds:
        if rule not in CHANGES:
            lines += [_line(limit, one, rule, bound, _bounded(one, rule, bound)) for one in numbers]
            continue
        name = str(limit.against)
        lines += [_line(limit, one, rule, bound, _changed(one, before, rule, bound, limit)) for one in numbers]
        # A number that only the stored result has would otherwise drop out unseen.
        why = f"in {name}, but no longer in {document.name}"
        found = {one.field for one in numbers}
        for one in (one for field, one in before.items() if field not in found):
            gone = Number(one.steps, None, reason=why)
            lines.append(_line(limit, gone, rule, bound, _Judged("undefined", why, one.value)))
    return lines


def _stored_numbers(baseline: Document, limit: Limit) -> dict[str, Number]:
    """Return the numbers of a stored result by name; none where it has no such field."""
    try:
        return {one.field: one for one in find(baseline.content, limit.steps, baseline.shape)}
    except NoFieldError:
        return {}


def _bounded(number: Number, rule: Rule, bound: float) -> _Judged:
    if number.value is None:
        return _Judged("undefined", number.reason)
    within = number.value <= bound if rule == "at_most" else number.value >= bound
    return _Judged("within" if within else "broken")


def _changed(number: Number, before: dict[str, Number], rule: Rule, bound: float, limit: Limit) -> _Judged:
    stored = before.get(number.field)
    if number.value is None:
        return _Judged("undefined", number.reason, None if stored is None else stored.value)
    if stored is None:
        return _Judged("undefined", f"{limit.against} does not have it")
    if stored.value is None:
        return _Judged("undefined", f"undefined in {limit.against}: {stored.reason}")
    change = number.value - stored.value
    size = {"at_most_increase": change, "at_most_decrease": -change, "at_most_change": abs(change)}[rule]
    slack = _ROUNDING * max(abs(number.value), abs(stored.value), bound)
    if size <= bound + slack:
        return _Judged("within", "", stored.value, change)
    if not limit.unless_intervals_overlap:
        return _Judged("broken", "", stored.value, change)
    return _overlapping(number, stored, change)


def _overlapping(number: Number, stored: Number, change: float) -> _Judged:
    """Judge a change beyond its bound by the two intervals; undefined where one of them is missing."""
    ends = (number.low, number.high, stored.low, stored.high)
    if stored.value is None or any(end is None for end in ends):
        why = "there are not two intervals to hold against each other"
        return _Judged("undefined", why, stored.value, change)
    low, high, stored_low, stored_high = (float(end) for end in ends if end is not None)
    if low <= stored_high and stored_low <= high:
        return _Judged("within", "beyond the bound, but the 95 % intervals overlap", stored.value, change)
    return _Judged("broken", "the 95 % intervals do not overlap", stored.value, change)


def _line(limit: Limit, number: Number, rule: Rule, bound: float, judged: _Judged) -> LimitRecord:
    return LimitRecord(
        field=number.field,
        rule=rule,
        bound=bound,
        value=number.value,
        verdict=judged.verdict,
        counts_as_broken=judged.verdict == "broken" or (judged.verdict == "undefined" and not limit.undefined_allowed),
        baseline=judged.baseline,
        change=judged.change,
        against=limit.against if rule in CHANGES else None,
        reason=judged.reason,
        because=limit.because,
        limit=limit.number,
        place=limit.place,
        file=limit.file,
        line=limit.line,
    )


def _sentence(name: str, counts: dict[str, int], lines: int, counted: int) -> str:
    """Return the result in one sentence."""
    if counts["within"] == lines:
        held = "The one number checked is" if lines == 1 else f"All {lines} numbers checked are"
        return f"{held} within the limits ({name})."
    silent = counts["broken"] + counts["undefined"] - counted
    told = {
        "within the limits": counts["within"],
        "beyond a limit": counts["broken"],
        "undefined (counts as broken)": counts["undefined"] - silent,
        "undefined (allowed)": silent,
    }
    parts = [f"{number} {'is' if number == 1 else 'are'} {words}" for words, number in told.items() if number]
    return f"Of {plural(lines, 'number')} checked, {listed(parts)} ({name})."
