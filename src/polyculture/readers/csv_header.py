"""The first line of delimited text: which delimiter it uses, and the names of the columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from polyculture.errors import ColumnError
from polyculture.readers.wording import columns, excerpt, named

__all__ = ["DELIMITERS", "INDEX", "MARK", "check_names", "names", "sniff", "with_index"]

MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""

INDEX = "row"
"""The name of a first column without one, in which R and pandas write the names of rows."""

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon"}

_SHOWN = 5


def sniff(start: bytes) -> str:
    r"""Return the delimiter of text that starts with ``start``: comma unless only another one fits.

    A delimiter fits if it stands in the header and as often in each of the next lines. Where none fits,
    the one that stands in the header is returned, comma first, so that the check can name the bad line.

    Examples
    --------
    >>> sniff(b"id;a;b\n1;0,5;0\n")
    ';'
    >>> sniff(b"id,a;b\n1,0\n")
    ','
    """
    lines = re.sub(rb'"[^"]*"?', b"", start.removeprefix(MARK)).split(b"\n")
    # The last line may be cut by the size of the sample.
    whole = [line for line in (lines[:-1] or lines)[:200] if line.strip(b"\r")]
    counts = {mark: [line.count(mark.encode()) for line in whole] for mark in DELIMITERS}
    present = [mark for mark, found in counts.items() if found and found[0]]
    fitting = [mark for mark in present if len(set(counts[mark])) == 1]
    return (fitting or present or [","])[0]


def names(record: bytes, separators: Sequence[int]) -> tuple[str, ...]:
    """Return the names in a header record of checked structure, exactly as written.

    Parameters
    ----------
    record : bytes
        The record without its line end.
    separators : sequence of int
        Where the delimiters between its fields stand.
    """
    pieces = [record[a + 1 : b] for a, b in zip([-1, *separators], [*separators, len(record)], strict=True)]
    return tuple(
        (piece[1:-1].replace(b'""', b'"') if piece.startswith(b'"') else piece).decode("utf-8") for piece in pieces
    )


def with_index(names: Sequence[str]) -> tuple[str, ...]:
    """Name the first column where it has no name and no other column has the one that it gets.

    >>> with_index(["", "a"]), with_index(["", "row"]), with_index(["a", ""])
    (('row', 'a'), ('', 'row'), ('a', ''))
    """
    return (INDEX, *names[1:]) if names[0] == "" and INDEX not in names else tuple(names)


def check_names(names: Sequence[str], file: str, delimiter: str) -> None:
    """Refuse a single column, and columns without a name of their own, after `with_index`.

    Raises
    ------
    ColumnError
        With the names, or the places of columns without one.
    """
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if len(names) == 1:
        raise ColumnError(
            f"{named(file)} has only one column, {excerpt(names[0], limit=40)}.",
            hint="An audit needs at least a column for each model. Fields are told apart by comma, tab or semicolon.",
        )
    unnamed = [str(place) for place, name in enumerate(names, start=1) if not name]
    if unnamed:
        which = f"column {unnamed[0]} has" if len(unnamed) == 1 else f"columns {', '.join(unnamed[:_SHOWN])} have"
        raise ColumnError(
            f"{named(file)}: {which} no name in the header.",
            hint=f"A first column without a name is read as {INDEX!r}, but there is one of that name: rename one."
            if unnamed == ["1"]
            else "Name it: only the first column may go without, as an index of rows.",
        )
    if repeated:
        raise ColumnError(
            f"{named(file)}: more than one column is named {columns(repeated)}.",
            hint=f"Give every column its own name ({len(names)} columns, told apart by {DELIMITERS[delimiter]}).",
        )
