"""The tree of errors; every message says where the trouble is and what to do.

    PolycultureError
    ├── InputError            the data cannot be read or means something else than asked (exit status 2)
    │   ├── FileError         a file is missing, damaged, cut off, in another encoding, or not writable
    │   ├── ColumnError       a column is missing, repeated, or of a type that does not fit
    │   └── ValueInDataError  a cell holds what it may not: a repeated id, a negative weight, NaN
    ├── UsageError            the call is wrong: options that exclude each other, a misspelt rule
    ├── TallyError            Tallies that cannot be added, or a Tally file that is none
    └── OutputError           a result could not be written (no space, no permission)

Nothing here knows of frames, files or the command line.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "ColumnError",
    "FileError",
    "InputError",
    "OutputError",
    "PolycultureError",
    "TallyError",
    "UsageError",
    "ValueInDataError",
    "first_few",
    "nearest",
]


class PolycultureError(Exception):
    """Base of every error that polyculture raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, with its place (file, column, row).
    hint : str, optional
        What to do about it, as an imperative sentence.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(PolycultureError):
    """The data cannot be read, or does not mean what was asked."""


class FileError(InputError):
    """A file is missing, damaged, cut off, or in another encoding."""


class ColumnError(InputError):
    """A column is missing, repeated, or of a type that does not fit."""


class ValueInDataError(InputError):
    """A cell of the data holds a value that it may not hold."""


class UsageError(PolycultureError):
    """The call itself is wrong."""


class TallyError(PolycultureError):
    """Tallies that cannot be added, or a file that is not a Tally."""


class OutputError(PolycultureError):
    """A result could not be written."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?`` for the known name closest to ``name``, or an empty string."""
    matches = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"Did you mean {matches[0]!r}?" if matches else ""


def first_few(values: Iterable[object], *, total: int | None = None, limit: int = 5) -> str:
    """Return the first ``limit`` values as text, with the number of all where there are more."""
    shown = list(values)
    count = len(shown) if total is None else total
    text = ", ".join(repr(value) for value in shown[:limit])
    return f"{text} (the first {limit} of {count:,})" if count > limit else text
