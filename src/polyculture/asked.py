"""Values of keywords that a notebook can give and a shell cannot: numbers that are text, names that are none.

What columns mean is checked in ``outcomes.mapping``.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from polyculture.errors import UsageError

__all__ = ["check_asked", "check_noun"]


def check_asked(*, min_cell: int, seed: int, noun: str | None, nulls: Sequence[str] | str) -> tuple[str, ...]:
    """Refuse values that cannot be used before anything is read, and return the names of nulls.

    Raises
    ------
    UsageError
        The message names the keyword.
    """
    for name, value, least in (("min_cell", min_cell, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral):
            raise UsageError(f"{name}={value!r} is no whole number.", hint=f"Give {least} or more.")
        if value < least:
            raise UsageError(f"{name}={value} is too small.", hint=f"Give {least} or more.")
    check_noun(noun)
    listed = (nulls,) if isinstance(nulls, str) else nulls
    if not isinstance(listed, Sequence) or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"nulls={nulls!r} are no names.", hint='Give a list of names, or "all".')
    return tuple(listed)


def check_noun(noun: str | None) -> None:
    """Refuse what is no word for the individuals."""
    if noun is not None and not isinstance(noun, str):
        raise UsageError(f"noun={noun!r} is no text.", hint='Give what individuals are, in the plural: noun="reviews".')
