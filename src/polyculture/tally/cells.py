"""The order of cells: by their values, numbers by size, missing values last."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

__all__ = ["Cell", "in_order"]

Cell = tuple[str | None, ...]
_LEADING_NUMBER = re.compile(r"^(?:over )?([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def _value_key(value: str | None) -> tuple[bool, float, str]:
    if value is None:
        return True, math.inf, ""
    number = _LEADING_NUMBER.match(value)
    return False, float(number.group(1)) if number else math.inf, value


def in_order(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the distinct cells in order.

    Examples
    --------
    >>> in_order([("10",), (None,), ("9",), ("9",)])
    (('9',), ('10',), (None,))
    """
    return tuple(sorted(set(cells), key=lambda cell: tuple(_value_key(value) for value in cell)))
