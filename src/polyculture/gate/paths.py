"""The small language that names numbers of a result: ``groups[by.sex=F].systemic_failure.observed.high``.

Text to steps, and steps to text. How steps are followed stands in `fields`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from polyculture.errors import UsageError

__all__ = ["Condition", "Every", "Index", "Name", "Step", "Where", "parse", "split_outside_quotes", "written"]

_PLAIN = re.compile(r"[^.\[\]\"'*=,\s][^.\[\]\"'=,]*")
_PLAIN_VALUE = re.compile(r"[^\[\]\"'=,*+\s](?:[^\[\]\"'=,*+]*[^\[\]\"'=,*+\s])?")
_HINT = "Write names between dots, and selectors such as models[name=amazon] or groups[by.sex=F]."


@dataclass(frozen=True)
class Name:
    """A field of an object."""

    text: str


@dataclass(frozen=True)
class Every:
    """Every element of a list, or every field of an object."""


@dataclass(frozen=True)
class Index:
    """An element by its place, from 0."""

    at: int


@dataclass(frozen=True)
class Condition:
    """An element's ``key`` (or ``key.inner``) is ``value``; ``literal`` where * and null are letters."""

    key: str
    inner: str | None
    value: str
    literal: bool


@dataclass(frozen=True)
class Where:
    """The elements for which all conditions hold."""

    conditions: tuple[Condition, ...]


Step = Name | Every | Index | Where


def parse(text: str) -> tuple[Step, ...]:
    """Read the name of a number.

    Raises
    ------
    UsageError
        If it is none; the message shows where.

    Examples
    --------
    >>> parse("models[name=amazon].failure_rate")[1].conditions[0].value
    'amazon'
    >>> written(parse("groups[by.'age>=40'='true', by.sex=*].individuals"))
    'groups[by.age>=40=true, by.sex=*].individuals'
    """
    steps: list[Step] = []
    position, wants_name = 0, True
    while position < len(text):
        character = text[position]
        if character == "[" and not (wants_name and steps):
            end = _closing(text, position)
            steps.append(_selector(text[position + 1 : end], text))
            position, wants_name = end + 1, False
        elif character == "." and not wants_name:
            position, wants_name = position + 1, True
        elif wants_name:
            step, position = _name(text, position)
            steps.append(step)
            wants_name = False
        else:
            raise _wrong(text, position)
    if wants_name or not steps:
        raise UsageError(f"{text!r} names no field: it ends too early.", hint=_HINT)
    return tuple(steps)


def written(steps: tuple[Step, ...]) -> str:
    """Return steps as text that `parse` reads again."""
    return "".join(_written(step) for step in steps).removeprefix(".")


def _written(step: Step) -> str:
    if isinstance(step, Name):
        return f".{_quoted(step.text, _PLAIN)}"
    if isinstance(step, Every):
        return "[*]"
    if isinstance(step, Index):
        return f"[{step.at}]"
    return f"[{', '.join(_condition_text(one) for one in step.conditions)}]"


def _condition_text(one: Condition) -> str:
    key = one.key if one.inner is None else f"{one.key}.{_inner(one.inner)}"
    plain = not one.literal or (one.value != "null" and _PLAIN_VALUE.fullmatch(one.value))
    return f"{key}={one.value if plain else _in_quotes(one.value)}"


def _inner(text: str) -> str:
    return text if re.fullmatch(r"[^\[\]\"',\s](?:[^\[\]\"',]*[^\[\]\"',\s])?", text) else _in_quotes(text)


def _quoted(text: str, plain: re.Pattern[str]) -> str:
    return text if plain.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    mark = "'" if '"' in text else '"'
    return f"{mark}{text}{mark}"


def _wrong(text: str, position: int) -> UsageError:
    return UsageError(f"{text!r} names no field: {text[position:]!r} is not understood.", hint=_HINT)


def _name(text: str, position: int) -> tuple[Step, int]:
    if text[position] in "\"'":
        end = text.find(text[position], position + 1)
        if end < 0:
            raise UsageError(f"{text!r} names no field: a quotation mark is never closed.", hint=_HINT)
        return Name(text[position + 1 : end]), end + 1
    if text[position] == "*":
        return Every(), position + 1
    found = _PLAIN.match(text, position)
    if found is None:
        raise _wrong(text, position)
    return Name(found[0].rstrip()), found.end()


def _closing(text: str, position: int) -> int:
    """Return where the bracket that opens at ``position`` closes, quotes passed over."""
    quote = ""
    for at in range(position + 1, len(text)):
        if quote:
            quote = "" if text[at] == quote else quote
        elif text[at] in "\"'":
            quote = text[at]
        elif text[at] == "]":
            return at
    raise UsageError(f"{text!r} names no field: a bracket is never closed.", hint=_HINT)


def _selector(inside: str, text: str) -> Step:
    inside = inside.strip()
    if inside == "*":
        return Every()
    if re.fullmatch(r"\d{1,9}", inside):
        return Index(int(inside))
    conditions = tuple(_condition(part, text) for part in split_outside_quotes(inside, ","))
    return Where(conditions)


def _condition(part: str, text: str) -> Condition:
    pieces = split_outside_quotes(part, "=")
    value = pieces[-1].strip()
    key = "=".join(pieces[:-1]).strip()
    if len(pieces) < 2 or not key or not value:
        raise UsageError(
            f"{text!r}: the selector [{part.strip()}] is not understood.",
            hint="Write [*], a place such as [0], or KEY=VALUE, such as [name=amazon] or [by.sex=F].",
        )
    literal = len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] and value[0] not in value[1:-1]
    head, dot, rest = key.partition(".")
    return Condition(head, _unquoted(rest) if dot else None, value[1:-1] if literal else value, literal)


def _unquoted(text: str) -> str:
    whole = len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]
    return text[1:-1] if whole else text


def split_outside_quotes(text: str, mark: str) -> list[str]:
    """Split at a mark that stands outside quotes."""
    parts, start, quote = [], 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == mark:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
