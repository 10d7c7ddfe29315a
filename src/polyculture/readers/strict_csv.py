"""The structure of delimited text, checked byte by byte before anything parses it.

Polars reads a short row as nulls and renames repeated headers; here both are errors that name the line.
The check is exact for quoted fields (RFC 4180) and works on blocks of whole records with numpy. It decides
neither types nor values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from polyculture.errors import FileError
from polyculture.readers import csv_header
from polyculture.readers.csv_header import DELIMITERS, MARK
from polyculture.readers.csv_marks import NEWLINE, QUOTE, RETURN, Marks
from polyculture.readers.encodings import not_utf8, nul_byte
from polyculture.readers.wording import excerpt, named, places

__all__ = ["Structure", "check"]

_SHOWN = 5
_LONGEST_RECORD = 1 << 26


@dataclass(frozen=True)
class Structure:
    """What the check has found.

    Parameters
    ----------
    delimiter : str
        Comma, tab or semicolon.
    columns : tuple of str
        The names in the header, exactly as written.
    rows : int
        Records after the header, without blank lines at the end.
    header_lines : int
        Physical lines of the header (more than one if a name holds a newline).
    quoted : bool
        Whether any quotation mark occurs.
    blank_end : bool
        Whether blank lines follow the last record.
    open_end : bool
        Whether the last record has no line end, so that its last value may have been cut off.
    index : str or None
        The name given to the first column, where the header has none.
    """

    delimiter: str
    columns: tuple[str, ...]
    rows: int
    header_lines: int
    quoted: bool
    blank_end: bool
    open_end: bool
    index: str | None = None


def check(blocks: Iterable[bytes], name: str) -> Structure:
    """Check the structure of delimited text in UTF-8.

    Parameters
    ----------
    blocks : iterable of bytes
        The text in pieces of any size.
    name : str
        The file's name, for errors.

    Raises
    ------
    FileError
        Rows with too few or too many fields, a quoted field that never ends, a stray quotation mark, a
        line end that is none, NUL bytes, bytes that are not UTF-8, no rows, nothing at all.
    ColumnError
        A column named twice or, but for the first, not at all, or a single column.
    """
    scanner = _Scanner(name)
    pending = b""
    enough = 0
    for block in blocks:
        pending += block
        if len(pending) < enough:
            continue
        consumed = scanner.take(pending, final=False)
        pending = pending[consumed:]
        # A record that is longer than its block is looked at again only when twice as much is there.
        enough = 2 * len(pending) if consumed == 0 else 0
        if len(pending) > _LONGEST_RECORD:
            raise scanner.too_long(pending)
    scanner.finish(pending)
    return scanner.structure()


class _Scanner:
    """The state of the check between blocks of whole records."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.delimiter = ","
        self.columns: tuple[str, ...] = ()
        self.index: str | None = None
        self.line = 1  # the physical line on which the next record starts
        self.records = 0
        self.header_lines = 0
        self.quoted = False
        self.blank: list[int] = []  # lines of blank records not yet followed by another one
        self.blank_total = 0
        self.wrong: list[tuple[int, int]] = []  # (line, fields) of the first records that do not fit
        self.wrong_total = 0
        self.open_line = 0  # the line of a last record that has no line end

    def take(self, data: bytes, *, final: bool) -> int:
        """Check the whole records in ``data``; return how many bytes they are."""
        if (position := data.find(0)) >= 0:
            raise nul_byte(self.name, data, position, self.line)
        if not self.header_lines:
            if not final and b"\n" not in data:
                return 0
            self.delimiter = csv_header.sniff(data[: 1 << 18])
        skip = len(MARK) if not self.header_lines and data.startswith(MARK) else 0
        marks = Marks(data, self.delimiter)
        consumed = int(marks.ends[-1]) + 1 if marks.ends.size else 0
        checked = len(data) if final else consumed
        self._check_encoding(data[:checked])
        self._check_line_ends(data, marks, checked)
        self._check_quotes(data, marks, checked)
        if final and marks.inside:
            self._raise_first(self._unclosed(marks))
        if consumed:
            self._count(data, marks, skip)
            self.line += int(np.searchsorted(marks.newlines, consumed))
        return consumed

    def finish(self, pending: bytes) -> None:
        """Check what is left: the last record if it has no line end, or a field that never ends."""
        if pending.strip(b"\r"):
            # Where the rest is a record that never ends, one more newline changes nothing.
            self.open_line = self.line
            self.take(pending + b"\n", final=True)
        if self.header_lines == 0:
            raise FileError(f"{named(self.name)} is blank: it holds no text.", hint="Check how it was written.")
        self._raise_first(None)
        if self.records - self.blank_total <= 1:
            raise FileError(
                f"{named(self.name)} holds a header and no rows.",
                hint="Check how it was written: were rows filtered out?",
            )

    def too_long(self, pending: bytes) -> FileError:
        """Return the error of a record that does not end."""
        what = "a quotation mark that is never closed" if b'"' in pending else "no line end"
        return FileError(
            f"{named(self.name)}, line {self.line:,}: the record that starts here is longer than "
            f"{_LONGEST_RECORD >> 20} MiB and has {what}.",
            hint="Check that line: is this a text file with one record a line?",
        )

    def structure(self) -> Structure:
        """Return what was found."""
        return Structure(
            delimiter=self.delimiter,
            columns=self.columns,
            rows=self.records - self.blank_total - 1,
            header_lines=self.header_lines,
            quoted=self.quoted,
            blank_end=self.blank_total > 0,
            open_end=self.open_line > 0,
            index=self.index,
        )

    def _check_encoding(self, data: bytes) -> None:
        if data.isascii():
            return
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._raise_first(not_utf8(self.name, data, error, self.line))

    def _check_line_ends(self, data: bytes, marks: Marks, checked: int) -> None:
        if data.find(b"\r", 0, checked) < 0:
            return
        octets = np.frombuffer(data, np.uint8)[:checked]
        returns = np.flatnonzero(octets == RETURN)
        following = octets[np.minimum(returns + 1, checked - 1)]
        lone = returns[(following != NEWLINE) & ~marks.is_inside(returns)]
        if lone.size:
            line = self._line_of(marks, int(lone[0]))
            self._raise_first(
                FileError(
                    f"{named(self.name)}, line {line:,}: a carriage return that ends no line.",
                    hint="Lines must end with LF or CR LF. Write the file again (tr '\\r' '\\n'), or quote the field.",
                )
            )

    def _check_quotes(self, data: bytes, marks: Marks, checked: int) -> None:
        quotes = marks.quotes[marks.quotes < checked]
        if not quotes.size:
            return
        self.quoted = True
        octets = np.frombuffer(data, np.uint8)
        opening = np.arange(quotes.size) % 2 == 0
        start_of_file = len(MARK) if not self.header_lines and data.startswith(MARK) else 0
        before = octets[np.maximum(quotes - 1, 0)]
        after = octets[np.minimum(quotes + 1, len(data) - 1)]
        delimiter = ord(self.delimiter)
        # A quotation mark inside a quoted field is doubled: it closes the field and opens it again at once.
        good_open = (before == delimiter) | (before == NEWLINE) | (before == QUOTE) | (quotes == start_of_file)
        good_close = (after == delimiter) | (after == NEWLINE) | (after == QUOTE) | (after == RETURN)
        good_close |= quotes == len(data) - 1
        bad = np.flatnonzero(np.where(opening, ~good_open, ~good_close))
        if not bad.size:
            return
        at = int(quotes[bad[0]])
        line = self._line_of(marks, at)
        text = excerpt(data[max(at - 20, 0) : at + 20].decode("utf-8", "ignore"))
        if opening[bad[0]]:
            what = f"a quotation mark inside a field that is not quoted, near {text}."
        else:
            opened = self._line_of(marks, int(quotes[bad[0] - 1]))
            what = f"text after the end of a quoted field that opens on line {opened:,}, near {text}."
        self._raise_first(
            FileError(
                f"{named(self.name)}, line {line:,}: {what}",
                hint='Put the whole field in quotation marks and double the ones inside: "5"" pipe".',
            )
        )

    def _count(self, data: bytes, marks: Marks, skip: int) -> None:
        """Compare the number of fields of every whole record with the header's."""
        ends = marks.ends
        starts = np.concatenate(([skip], ends[:-1] + 1))
        fields = marks.fields
        first = 0
        if not self.header_lines:
            self._read_header(data[skip : int(ends[0])], marks, skip)
            first = 1
        self.records += int(ends.size)
        different = np.flatnonzero(fields[first:] != len(self.columns)) + first
        octets = np.frombuffer(data, np.uint8)
        length = ends[different] - starts[different]
        is_blank = (length == 0) | ((length == 1) & (octets[starts[different]] == RETURN))
        last_full = int(ends.size) - 1
        blanks = different[is_blank]
        trailing = 0
        while trailing < blanks.size and blanks[-1 - trailing] == last_full - trailing:
            trailing += 1
        if ends.size - first > trailing and self.blank_total:
            # Another record follows, so the blank lines seen before are not the end of the file.
            self._wrong_lines([(line, 0) for line in self.blank], self.blank_total)
            self.blank, self.blank_total = [], 0
        at_end = different >= ends.size - trailing
        bad = different[~at_end]
        bad_fields = np.where(is_blank[~at_end], 0, fields[bad])
        shown = [
            (self._line_of(marks, int(starts[i])), int(found))
            for i, found in zip(bad[:_SHOWN], bad_fields[:_SHOWN], strict=True)
        ]
        self._wrong_lines(shown, int(bad.size))
        for i in different[at_end][: _SHOWN - len(self.blank)]:
            self.blank.append(self._line_of(marks, int(starts[i])))
        self.blank_total += trailing

    def _wrong_lines(self, shown: list[tuple[int, int]], total: int) -> None:
        self.wrong = (self.wrong + shown)[:_SHOWN]
        self.wrong_total += total

    def _read_header(self, record: bytes, marks: Marks, skip: int) -> None:
        if not record.strip(b"\r"):
            raise FileError(f"{named(self.name)}: the first line is blank.", hint="It must hold the column names.")
        text = record.removesuffix(b"\r")
        self.header_lines = 1 + record.count(b"\n")
        separators = [int(at) - skip for at in marks.separators[: int(marks.fields[0]) - 1]]
        written = csv_header.names(text, separators)
        self.columns = csv_header.with_index(written)
        self.index = None if self.columns == written else csv_header.INDEX
        csv_header.check_names(self.columns, self.name, self.delimiter)

    def _line_of(self, marks: Marks, position: int) -> int:
        return self.line + int(np.searchsorted(marks.newlines, position))

    def _unclosed(self, marks: Marks) -> FileError:
        line = self._line_of(marks, int(marks.quotes[-1]))
        return FileError(
            f"{named(self.name)} ends inside a quoted field that opens on line {line:,}: it looks cut off.",
            hint="Get the whole file, or close that field with a quotation mark.",
        )

    def _raise_first(self, error: FileError | None) -> None:
        """Raise what stands first in the file: rows that do not fit, or else ``error``."""
        if not self.wrong_total:
            if error is not None:
                raise error
            return
        (line, found), expected = self.wrong[0], len(self.columns)
        if self.wrong_total == 1 and line == self.open_line and found < expected:
            raise FileError(
                f"{named(self.name)} looks cut off: line {line:,}, the last one, has {found} of {expected} fields "
                "and no line end.",
                hint="Get the whole file, or delete that line.",
            )
        what = "is blank" if found == 0 else f"has {found} {'field' if found == 1 else 'fields'}"
        message = f"{named(self.name)}, line {line:,} {what} where the header has {expected}."
        if self.wrong_total > 1:
            message += f" Rows that do not fit: {places([line for line, _ in self.wrong], self.wrong_total)}."
        mark = DELIMITERS[self.delimiter]
        hint = f"A field that holds a {mark} must stand in quotation marks; a missing value still needs its {mark}."
        raise FileError(message, hint=hint) from error
