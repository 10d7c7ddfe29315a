"""How readers quote data and name places in their errors. Knows no format."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["LIMIT", "columns", "excerpt", "named", "places"]

LIMIT = 80
"""The most characters of data that an error repeats at once."""


def excerpt(value: object, *, limit: int = LIMIT) -> str:
    r"""Return data as a quoted line of at most ``limit`` characters, control characters escaped.

    Examples
    --------
    >>> print(excerpt("two\nlines"))
    'two\nlines'
    >>> len(excerpt("x" * 1000))
    80
    """
    if isinstance(value, bytes):
        # Four bytes a character at most: the rest would be cut off anyway.
        value = value[: 4 * limit].decode("utf-8", errors="backslashreplace")
    escaped = _escaped(str(value)[: limit + 1])
    room = limit - 2
    return f"'{escaped}'" if len(escaped) <= room else f"'{escaped[: room - 1]}…'"


def named(path: object, *, limit: int = 240) -> str:
    """Return a file's name in quotation marks; of a long path the end is kept, which tells files apart.

    Examples
    --------
    >>> print(named("a/b.csv"))
    'a/b.csv'
    >>> print(named("x" * 300 + "/b.csv", limit=10))
    '…x/b.csv'
    """
    escaped = _escaped(str(path))
    room = limit - 2
    return f"'{escaped}'" if len(escaped) <= room else f"'…{escaped[-room + 1 :]}'"


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def columns(names: Iterable[object], *, limit: int = 5) -> str:
    """Return the first ``limit`` names, each quoted and clipped, and how many there are in all."""
    shown = list(names)
    text = ", ".join(excerpt(name, limit=40) for name in shown[:limit])
    return f"{text} (the first {limit} of {len(shown):,})" if len(shown) > limit else text


def places(lines: list[int], total: int) -> str:
    """Return line numbers in words: the first ones, and the number of all where there are more.

    Examples
    --------
    >>> places([3], 1)
    'line 3'
    >>> places([3, 5, 8, 9, 12], 70)
    'lines 3, 5, 8, 9, 12 (the first 5 of 70)'
    """
    listed = ", ".join(f"{line:,}" for line in lines)
    if total > len(lines):
        return f"lines {listed} (the first {len(lines)} of {total:,})"
    return f"line {listed}" if total == 1 else f"lines {listed}"
