"""A table of models and their components: what is known of each, and what kind of value a component has.

Reading it from a file stands in ``readers.components``; what goes with it is asked in ``components``.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from polyculture.errors import ColumnError, InputError, ValueInDataError, nearest

__all__ = ["Component", "ComponentTable"]

Value = str | float | None

CATEGORY, NUMBER, DATE = "category", "number", "date"
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
_WIDE = 10.0  # positive numbers whose largest is so many times the smallest are compared by their logarithms


@dataclass(frozen=True)
class Component:
    """One component of the models of an audit.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"category", "number", "date"}
        Categories are the same or not; numbers and dates lie closer or farther apart.
    scale : str
        How values are compared, in words.
    values : tuple of str, float or None
        One a model; None where it is not known. Dates are days, wide numbers natural logarithms.
    """

    name: str
    kind: str
    scale: str
    values: tuple[Value, ...]

    @property
    def known(self) -> tuple[bool, ...]:
        """Which models have a value."""
        return tuple(value is not None for value in self.values)

    @property
    def levels(self) -> tuple[Value, ...]:
        """The different values, in order."""
        return tuple(sorted({value for value in self.values if value is not None}, key=lambda v: (str(type(v)), v)))


@dataclass(frozen=True)
class ComponentTable:
    """Models and their components as they were given.

    Attributes
    ----------
    source : str
        Where the table comes from, for messages and for the record.
    rows : mapping of str to mapping
        Model -> component -> value: text, a number, a date, true or false, or None.
    sha256 : str or None
        Of the file.
    text : bool
        Whether the values are the text of a file, in which numbers and dates are yet to be recognised. Else text
        that looks like a number stays text.
    """

    source: str
    rows: Mapping[str, Mapping[str, Any]]
    sha256: str | None = None
    text: bool = False

    def of(self, models: Sequence[str]) -> tuple[Component, ...]:
        """Return the components of these models.

        Raises
        ------
        InputError
            If the table is empty, or holds a model that is none of these; the message names the nearest.
        ColumnError
            If a component has values of different types.
        ValueInDataError
            If a value is of no type that can be compared.
        """
        if not self.rows:
            raise InputError(f"{self.source} holds no model.", hint="Give one row a model.")
        for name in self.rows:
            if name not in models:
                free = [model for model in models if model not in self.rows]
                hint = nearest(name, free) or nearest(name, models)
                raise InputError(
                    f"{self.source} has the model {name!r}, which is none of those audited.",
                    hint=f"{hint} Correct the name, or drop it from the table.".strip(),
                )
        names = list(dict.fromkeys(component for row in self.rows.values() for component in row))
        if not names:
            raise InputError(f"{self.source} names models but no component.", hint="Add a column such as vendor.")
        return tuple(self._component(name, models) for name in names)

    def without_row(self, models: Sequence[str]) -> tuple[str, ...]:
        """Return the models that the table does not hold."""
        return tuple(model for model in models if model not in self.rows)

    def _component(self, name: str, models: Sequence[str]) -> Component:
        given = {model: self._known(self.rows.get(model, {}).get(name), name, model) for model in models}
        known = {model: value for model, value in given.items() if value is not None}
        kinds = {_kind(value): model for model, value in known.items()}
        if len(kinds) > 1:
            (one, first), (other, second) = list(kinds.items())[:2]
            raise ColumnError(
                f"{self.source}: {name!r} of {first!r} is a {one} ({known[first]!r}), and of {second!r} a {other} "
                f"({known[second]!r}).",
                hint="Give all models values of one type.",
            )
        kind = next(iter(kinds), CATEGORY)
        if kind == CATEGORY:
            texts = {model: str(value).strip() for model, value in known.items()}
            if known and all(_DATE.fullmatch(text) for text in texts.values()):
                days = {model: _day(text, self.source, name, model) for model, text in texts.items()}
                return self._numbers(name, DATE, "days apart", days, models)
            if self.text and known and all(_is_number(text) for text in texts.values()):
                return self._sizes(name, {model: float(text) for model, text in texts.items()}, models)
            return Component(name, CATEGORY, "the same or not", tuple(texts.get(model) for model in models))
        if kind == DATE:
            days = {model: float(value.toordinal()) for model, value in known.items()}
            return self._numbers(name, DATE, "days apart", days, models)
        return self._sizes(name, {model: float(value) for model, value in known.items()}, models)

    def _known(self, value: Any, name: str, model: str) -> Any:
        """Return a value as text, float or date; None where it says that it is not known."""
        from polyculture.outcomes.groups import is_unknown

        # Of pandas, which need not be there: missing text or number, and missing date.
        if value is None or type(value).__name__ in {"NAType", "NaTType"}:
            return None
        if isinstance(value, Real) and math.isnan(_float(value)):
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return None if is_unknown(value) else value
        if isinstance(value, Real) and math.isfinite(number := _float(value)):
            return number
        if isinstance(value, dt.datetime):
            return value.date()
        if isinstance(value, dt.date):
            return value
        raise ValueInDataError(
            f"{self.source}: {name!r} of {model!r} is {value!r}, which cannot be compared.",
            hint="Give text, a finite number, a date (2024-05-13), or leave it out where it is not known.",
        )

    def _sizes(self, name: str, sizes: Mapping[str, float], models: Sequence[str]) -> Component:
        low, high = min(sizes.values()), max(sizes.values())
        if low > 0 and high >= _WIDE * low:
            logs = {model: math.log(size) for model, size in sizes.items()}
            return self._numbers(name, NUMBER, "difference of logarithms", logs, models)
        return self._numbers(name, NUMBER, "difference", sizes, models)

    @staticmethod
    def _numbers(name: str, kind: str, scale: str, values: Mapping[str, float], models: Sequence[str]) -> Component:
        return Component(name, kind, scale, tuple(values.get(model) for model in models))


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return CATEGORY
    return NUMBER if isinstance(value, float) else DATE


def _float(value: Real) -> float:
    """Return a number as a float; one too large for it is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _day(text: str, source: str, name: str, model: str) -> float:
    """Return the day of an ISO date as a number; of a month its middle."""
    try:
        return float(dt.date.fromisoformat(text if len(text) > 7 else f"{text}-15").toordinal())
    except ValueError:
        raise ValueInDataError(
            f"{source}: {name!r} of {model!r} is {text!r}, which is no day.", hint="Write dates as 2024-05-13."
        ) from None
