"""Where the delimiters, newlines and quotation marks of a piece of delimited text stand: byte positions, no errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["NEWLINE", "QUOTE", "RETURN", "Marks", "Positions"]

NEWLINE, RETURN, QUOTE = 10, 13, 34

Positions = npt.NDArray[np.int64]


class Marks:
    """Where the delimiters, newlines and quotation marks of a piece of text stand.

    ``data`` starts outside quotation marks. ``ends`` are the newlines that end a record, ``separators`` the
    delimiters that end a field, ``fields`` the number of fields of each ended record, ``newlines`` all newlines.
    """

    def __init__(self, data: bytes, delimiter: str) -> None:
        octets = np.frombuffer(data, np.uint8)
        has_quotes = b'"' in data
        wanted = (octets == ord(delimiter)) | (octets == NEWLINE)
        if has_quotes:
            wanted |= octets == QUOTE
        at = np.flatnonzero(wanted)
        kind = octets[at]
        newline = kind == NEWLINE
        self.newlines: Positions = at[newline]
        self.quotes: Positions = np.zeros(0, np.int64)
        self.inside = False
        if has_quotes:
            quote = kind == QUOTE
            self.quotes = at[quote]
            self.inside = self.quotes.size % 2 == 1
            # Only parity matters, so a sum that wraps in 8 bits is right.
            outside = (np.cumsum(quote, dtype=np.uint8) & 1 == 0) & ~quote
            at, newline = at[outside], newline[outside]
        self.separators: Positions = at[~newline]
        ends = np.flatnonzero(newline)
        self.ends: Positions = at[ends]
        self.fields: Positions = np.diff(ends, prepend=-1)

    def is_inside(self, positions: Positions) -> npt.NDArray[np.bool_]:
        """Return which positions lie inside quotation marks."""
        inside: npt.NDArray[np.bool_] = np.searchsorted(self.quotes, positions) % 2 == 1
        return inside
