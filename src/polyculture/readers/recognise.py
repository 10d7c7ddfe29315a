"""Which format a file has, by its first bytes and never by its ending. Reads nothing else of it."""

from __future__ import annotations

from enum import Enum

from polyculture.errors import FileError
from polyculture.readers.wording import named

__all__ = ["UTF16_MARKS", "Format", "recognise"]

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Format(Enum):
    """The formats that can be read; the value is the name in words."""

    PARQUET = "Parquet"
    ARROW_FILE = "Arrow IPC"
    ARROW_STREAM = "Arrow IPC stream"
    GZIP = "gzip"
    JSON_LINES = "JSON Lines"
    DELIMITED = "delimited text"


_MAGIC = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW_FILE,
    b"\xff\xff\xff\xff": Format.ARROW_STREAM,
    b"\x1f\x8b": Format.GZIP,
}

# What people hand over by mistake, and what to do about it.
_FOREIGN = {
    b"PK\x03\x04": ("an Excel workbook or another zip archive", "Save the sheet as CSV, or unpack the archive."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the sheet as CSV."),
    b"FEA1": ("a Feather file of version 1", "Write it again as Arrow IPC (Feather version 2) or Parquet."),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "Unpack it first (unzstd FILE), or use gzip."),
    b"\xfd7zXZ\x00": ("compressed with xz", "Unpack it first (unxz FILE), or use gzip."),
    b"BZh": ("compressed with bzip2", "Unpack it first (bunzip2 FILE), or use gzip."),
    b"\x93NUMPY": ("a NumPy array", "Write it as a table with named columns: CSV or Parquet."),
    b"\x89HDF": ("an HDF5 file", "Write the table as CSV or Parquet."),
    b"SQLite format 3\x00": ("an SQLite database", "Write the table as CSV or Parquet."),
    b"%PDF": ("a PDF document", "Ask for the table behind it as CSV."),
    b"\x89PNG": ("a picture", "Give a table: CSV, Parquet, JSON Lines or Arrow IPC."),
    b"\xff\xd8\xff": ("a picture", "Give a table: CSV, Parquet, JSON Lines or Arrow IPC."),
    b"PARE": ("an encrypted Parquet file", "Decrypt it first."),
    **{
        bytes([0x80, version]): ("a pickle, which is never opened here", "Write it as CSV or Parquet.")
        for version in (2, 3, 4, 5)
    },
}

_SPACE = b" \t\r\n"


def recognise(start: bytes, name: str, *, encoded: bool = False) -> Format:
    """Return the format of a file that starts with ``start``.

    Parameters
    ----------
    start : bytes
        The first bytes of the file; a few dozen are enough.
    name : str
        The file's name, for the error.
    encoded : bool
        An encoding was given: the file is text, whatever its first bytes look like.

    Raises
    ------
    FileError
        The file is empty, or of a format that is known and cannot be read.

    Examples
    --------
    >>> recognise(b"PAR1...", "outcomes.csv")
    <Format.PARQUET: 'Parquet'>
    """
    if not start:
        raise FileError(f"{named(name)} is empty (0 bytes).", hint="Check how it was written.")
    if not encoded:
        for magic, form in _MAGIC.items():
            if start.startswith(magic):
                return form
        for magic, (what, mend) in _FOREIGN.items():
            if start.startswith(magic):
                raise FileError(f"{named(name)} is {what}, not a table that can be read.", hint=mend)
    elif start.startswith(b"\x1f\x8b"):
        return Format.GZIP
    return recognise_text(start, name)


def recognise_text(start: bytes, name: str) -> Format:
    """Return the format of text in UTF-8, after any unpacking and decoding.

    Raises
    ------
    FileError
        The text is a JSON list: not JSON Lines, and no table either.
    """
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip(_SPACE)
    # An object goes on with a key or ends; a column may well be named "{x}".
    if text.startswith(b"{") and text[1:].lstrip(_SPACE)[:1] in (b'"', b"'", b"}", b""):
        return Format.JSON_LINES
    if text.startswith(b"[") and text[1:].lstrip(_SPACE)[:1] in (b"{", b"[", b"]"):
        raise FileError(
            f"{named(name)} is one JSON list, not JSON Lines.",
            hint="Write one object a line (jq -c '.[]' FILE). Files of the HAPI layout are given by their folder.",
        )
    return Format.DELIMITED
