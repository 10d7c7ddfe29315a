"""Following the name of a number through a JSON document: one number, several, or why there is none.

A name that leads nowhere is an error with the nearest name. A number that is null is found, and undefined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from polyculture.errors import UsageError, first_few
from polyculture.gate.paths import Condition, Every, Index, Name, Step, Where, split_outside_quotes, written
from polyculture.gate.shape import Shape

__all__ = ["NoFieldError", "Number", "find"]

# By what the elements of a list are told apart, so that a stored result's element is found again.
_IDENTITIES = (
    *(("name",), ("by",), ("reading", "judged", "others"), ("reading",), ("judged", "before", "after")),
    *(("before", "after"), ("series",), ("snapshot",), ("models",), ("judged", "failed"), ("columns",)),
)
_LISTED = 6


class NoFieldError(UsageError):
    """A name leads to no field of a document."""


@dataclass(frozen=True)
class Number:
    """A number that a name leads to.

    Attributes
    ----------
    steps : tuple of Step
        The way to it, every selector resolved to one element.
    value : float or None
        None where it is undefined.
    low, high : float or None
        The ends of its interval, where it is the value of a statistic.
    reason : str
        Why it is undefined, or has no interval.
    """

    steps: tuple[Step, ...]
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    @property
    def field(self) -> str:
        """The way as text."""
        return written(self.steps)


@dataclass(frozen=True)
class _Spot:
    """A place on the way: the JSON there, what may stand there, the objects passed through."""

    value: Any
    shape: Shape
    steps: tuple[Step, ...] = ()
    passed: tuple[dict[str, Any], ...] = ()


def find(document: dict[str, Any], steps: tuple[Step, ...], shape: Shape) -> list[Number]:
    """Return the numbers that a name leads to, in the order of the document.

    Parameters
    ----------
    document : dict
        JSON as plain data.
    steps : tuple of Step
        The name.
    shape : Shape
        Which fields such a document may have, also where it holds null.

    Returns
    -------
    list of Number
        At least one.

    Raises
    ------
    NoFieldError
        If it leads nowhere: the message names the nearest.
    UsageError
        If it leads to what is no number.
    """
    return [_number(spot) for spot in _follow(_Spot(document, shape), steps, document)]


def _follow(spot: _Spot, rest: tuple[Step, ...], document: dict[str, Any]) -> Iterator[_Spot]:
    if not rest:
        yield spot
        return
    step, after = rest[0], rest[1:]
    if spot.value is None:
        _check_possible(spot, rest, document)
        yield replace(spot, steps=spot.steps + rest)
        return
    for following in _next(spot, step, after, document):
        yield from _follow(following, after, document)


def _next(spot: _Spot, step: Step, after: tuple[Step, ...], document: dict[str, Any]) -> list[_Spot]:
    """Return the places one step further."""
    value = spot.value
    if isinstance(step, Name):
        if isinstance(value, dict) and step.text in value:
            return [_field(spot, step.text)]
        raise _no_name(spot, step, after, document)
    if isinstance(step, Every) and isinstance(value, dict) and value:
        return [_field(spot, key) for key in value]
    if not isinstance(value, list):
        raise NoFieldError(
            f"{_place(spot)} is {_kind(value)}, and no list to select from.", hint="Leave the brackets out."
        )
    found = [place for place, element in enumerate(value) if _selected(element, place, step)]
    if not found:
        raise _no_element(spot, step)
    return [_element(spot, place) for place in found]


def _field(spot: _Spot, key: str) -> _Spot:
    return _Spot(spot.value[key], spot.shape.field(key), (*spot.steps, Name(key)), (*spot.passed, spot.value))


def _element(spot: _Spot, place: int) -> _Spot:
    return _Spot(
        spot.value[place], spot.shape.element(), (*spot.steps, _identity(spot.value[place], place)), spot.passed
    )


def _identity(element: Any, place: int) -> Step:
    """Return the selector of one element: by what it is called, else by its place."""
    if isinstance(element, dict):
        for keys in _IDENTITIES:
            if all(_tells(element.get(key)) for key in keys):
                return Where(tuple(one for key in keys for one in _conditions(key, element[key])))
    return Index(place)


def _tells(value: Any) -> bool:
    """Whether a value can stand in a selector: text, a number, or a plain list or object of such."""
    if isinstance(value, list | dict):
        inside = value if isinstance(value, list) else list(value.values())
        return bool(inside) and not any(isinstance(one, list | dict) for one in inside)
    return value is not None


def _conditions(key: str, value: Any) -> list[Condition]:
    if isinstance(value, dict):
        return [Condition(key, inner, _text(one), one is not None) for inner, one in value.items()]
    if isinstance(value, list):
        quoted = [_text(one) if re.fullmatch(r"[^\[\]\"'=,*+\s]+", _text(one)) else f'"{one}"' for one in value]
        return [Condition(key, None, "+".join(quoted), False)]
    return [Condition(key, None, _text(value), value is not None)]


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _selected(element: Any, place: int, step: Step) -> bool:
    if isinstance(step, Every):
        return True
    if isinstance(step, Index):
        return step.at == place
    if not isinstance(step, Where) or not isinstance(element, dict):
        return False
    # A group is meant by exactly the columns that are named: [by.sex=F] is no intersection of sex with another.
    named: dict[str, set[str]] = {}
    for one in step.conditions:
        if one.inner is not None:
            named.setdefault(one.key, set()).add(one.inner)
    exactly = all(isinstance(element.get(key), dict) and set(element[key]) == inner for key, inner in named.items())
    return exactly and all(_holds(one, element) for one in step.conditions)


def _holds(one: Condition, element: dict[str, Any]) -> bool:
    value = element.get(one.key, ...)
    if one.inner is not None:
        value = value[one.inner]
    if value is ... or isinstance(value, dict):
        return False
    if isinstance(value, list):
        parts = [one.value] if one.literal else split_outside_quotes(one.value, "+")
        wanted = sorted(part.strip().strip("\"'") for part in parts)
        return one.value == "*" or wanted == sorted(_text(part) for part in value)
    if one.literal:
        return value is not None and one.value == _text(value)
    pattern = ".*".join(re.escape(part) for part in one.value.split("*"))
    return re.fullmatch(pattern, _text(value), re.DOTALL) is not None


def _number(spot: _Spot) -> Number:
    """Return the number at a place; of a statistic its value with the interval."""
    value, steps = spot.value, spot.steps
    if isinstance(value, dict) and "value" in value:
        return _statistic(steps, value["value"], value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        inside = spot.passed[-1] if spot.passed else {}
        if steps[-1] == Name("value") and "low" in inside:
            return _statistic(steps, value, inside)
        return Number(steps, float(value))
    if value is None:
        return Number(steps, None, reason=_reason(spot))
    hint = "Name a number."
    if isinstance(value, dict) and value:
        hint = f"Name one of its fields: {_names(value)}."
    elif isinstance(value, list):
        hint = f"Select from it: {_place(spot)}[*]."
    raise UsageError(f"{_place(spot)} is {_kind(value)}, not a number.", hint=hint)


def _statistic(steps: tuple[Step, ...], value: float | None, statistic: dict[str, Any]) -> Number:
    reason = str(statistic.get("reason") or "")
    if value is None:
        return Number(steps, None, reason=reason or "null, without a reason")
    return Number(steps, float(value), statistic.get("low"), statistic.get("high"), reason)


def _reason(spot: _Spot) -> str:
    """Return why a field is null: its own reason, or the nearest reason or status that stands beside it."""
    name = spot.steps[-1].text if isinstance(spot.steps[-1], Name) else ""
    # The reason of a test that was not made stands where the method of one that was does.
    own = (f"{name}_reason", *(("p_method", "method") if name.endswith(("p_value", "p_adjusted")) else ()))
    for key in own if spot.passed else ():
        if isinstance(spot.passed[-1].get(key), str) and spot.passed[-1][key]:
            return str(spot.passed[-1][key])
    for one in reversed(spot.passed):
        for key in ("reason", "status"):
            if isinstance(one.get(key), str) and one[key]:
                return str(one[key])
    return "the file holds null there"


def _check_possible(spot: _Spot, rest: tuple[Step, ...], document: dict[str, Any]) -> None:
    """Refuse names that could not stand below a null either."""
    shape = spot.shape
    for position, step in enumerate(rest):
        names = shape.names()
        if isinstance(step, Name) and names and step.text not in names:
            raise _no_name(replace(spot, shape=shape, steps=spot.steps + rest[:position]), step, (), document)
        shape = shape.field(step.text) if isinstance(step, Name) else shape.element()


def _no_name(spot: _Spot, step: Name, after: tuple[Step, ...], document: dict[str, Any]) -> NoFieldError:
    """Return the error of a field that is not there, with the nearest of that object or of the whole document."""
    here = list(spot.value) if isinstance(spot.value, dict) else []
    known = list(dict.fromkeys([*here, *spot.shape.names()]))
    place = _place(spot)
    message = f"{place} has no field {step.text!r}." if spot.steps else f"There is no field {step.text!r}."
    if isinstance(spot.value, list):
        return NoFieldError(message, hint=f"It is a list: select from it, such as {place}[*].{step.text}.")
    asked, every = written((*spot.steps, step, *after)), list(_every_name(document))
    deeper = next((name for name in every if name.endswith(f".{asked}")), None)
    if deeper:
        return NoFieldError(message, hint=f"Did you mean {deeper!r}?")
    close = get_close_matches(step.text, known, n=1, cutoff=0.6)
    if close:
        return NoFieldError(message, hint=f"Did you mean {written((*spot.steps, Name(close[0]), *after))!r}?")
    anywhere = get_close_matches(asked, every, n=1, cutoff=0.6)
    if anywhere:
        return NoFieldError(message, hint=f"Did you mean {anywhere[0]!r}?")
    return NoFieldError(message, hint=f"The fields there are: {_names(known)}." if known else f"{place} has none.")


def _no_element(spot: _Spot, step: Step) -> NoFieldError:
    place, value = _place(spot), spot.value
    if not value:
        return NoFieldError(f"{place} is empty in this file, so a limit on it would check nothing.", hint=_FILL)
    asked = written((step,))
    known = list(dict.fromkeys(written((_identity(element, at),)) for at, element in enumerate(value)))
    close = get_close_matches(asked, known, n=1, cutoff=0.4)
    hint = f"Did you mean {place}{close[0]}?" if close else f"There are: {', '.join(known[:_LISTED])}."
    return NoFieldError(f"{place} has no element {asked}.", hint=hint)


_FILL = "Ask for it when the file is made (groups with --by, models of chance with --nulls), or drop the limit."


def _every_name(value: Any, before: tuple[Step, ...] = ()) -> Iterator[str]:
    """Yield the names of all numbers of a document, lists by their first element."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield written((*before, Name(key)))
            yield from _every_name(inner, (*before, Name(key)))
    elif isinstance(value, list) and value:
        yield from _every_name(value[0], (*before, Every()))


def _names(known: Any) -> str:
    return first_few(list(known), limit=12)


def _place(spot: _Spot) -> str:
    return written(spot.steps) or "the file"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "text" if isinstance(value, str) else "a number"
