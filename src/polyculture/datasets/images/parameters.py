"""Parameters of the loaders, as a plan gives them: of the kind that is meant, or refused by name."""

from __future__ import annotations

from numbers import Real
from operator import index

from polyculture.errors import UsageError

__all__ = ["number", "whole_number"]


def whole_number(name: str, value: object, least: int) -> int:
    """Return a parameter that is a whole number.

    Raises
    ------
    UsageError
        If it is none, or below ``least``.

    Examples
    --------
    >>> whole_number("side", 28, 1)
    28
    """
    try:
        found = index(value)  # type: ignore[arg-type] # what has no index raises TypeError
    except TypeError:
        raise UsageError(f"{name} = {value!r} is no whole number.", hint=f"Give {least} or more.") from None
    if found < least:
        raise UsageError(f"{name} = {found} is too small.", hint=f"Give {least} or more.")
    return found


def number(name: str, value: object) -> float:
    """Return a parameter that is a number.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{name} = {value!r} is no number.", hint="Give a number between 0 and 1.")
    return float(value)
