"""What all records are made of: the base of a record, and a number with its interval or a reason.

Nothing is computed here.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType


class Record(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """Base of all records: frozen, keyword-only, written to JSON field by field; shown without what is not set."""


class Statistic(Record, frozen=True, kw_only=True):
    """A number with its 95 % interval, or the reason why there is none.

    ``value`` None means that the number itself is undefined; ``low`` and ``high`` None beside a value
    mean that only the interval is undefined. In both cases ``reason`` says why. ``method`` names how
    the interval was made. A one-sided interval has the natural bound of the quantity at its open end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


def undefined(reason: str) -> Statistic:
    """Return the Statistic of a number that does not exist, with the reason."""
    return Statistic(value=None, reason=reason)
