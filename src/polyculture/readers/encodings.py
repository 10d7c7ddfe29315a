"""Text that is not UTF-8: finding the place, guessing the encoding, and decoding on request."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import suppress
from encodings import aliases

from polyculture.errors import FileError, UsageError, nearest
from polyculture.readers.wording import excerpt, named

__all__ = ["codec", "decoded", "not_utf8", "nul_byte", "utf16_marked"]


def codec(encoding: str) -> str:
    """Return the codec's own name of a text encoding.

    Raises
    ------
    UsageError
        There is no such text encoding.

    Examples
    --------
    >>> codec("Latin-1")
    'iso8859-1'
    """
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeDecodeError):  # half a character of a longer encoding
            b"x".decode(encoding)  # refuses codecs that are no encodings of text (base64, rot13, zlib)
    except (LookupError, ValueError):
        name = ""
    if not name or name in _NO_FILES:
        known = {*aliases.aliases, *aliases.aliases.values(), "latin-1", "utf-8", "utf-16"}
        raise UsageError(
            f"{excerpt(encoding, limit=40)} is no known encoding.",
            hint=nearest(encoding.lower(), sorted(known)) or "Common ones: utf-8, cp1252, latin-1, utf-16.",
        )
    return name


_NO_FILES = {"idna", "punycode", "undefined", "mbcs", "oem", "raw-unicode-escape", "unicode-escape"}


def decoded(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Yield the text of ``blocks`` in UTF-8, with no byte order mark.

    Raises
    ------
    FileError
        The bytes are not of that encoding, or the text ends in the middle of a character.
    """
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line, first = 1, True
    try:
        for block in blocks:
            text = decoder.decode(block)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            line += text.count("\n")
            yield _utf8(text, encoding, name, line)
        yield _utf8(decoder.decode(b"", final=True), encoding, name, line)
    except UnicodeError as error:
        reached = line + (error.object[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0)
        raise FileError(
            f"{named(name)} is not text in {encoding}: reading stopped at about line {reached:,}.",
            hint="Leave --encoding out for UTF-8, or name another one (cp1252, latin-1, utf-16).",
        ) from error


def _utf8(text: str, encoding: str, name: str, line: int) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:  # a lone surrogate, which some codecs let through
        raise FileError(
            f"{named(name)} holds half a character before line {line + 1:,}, read as {encoding}.",
            hint="Name another encoding, or write the file again in UTF-8.",
        ) from error


def not_utf8(name: str, data: bytes, error: UnicodeDecodeError, line: int) -> FileError:
    """Return the error for bytes that are not UTF-8, with a guess of what they are.

    Parameters
    ----------
    name : str
        The file.
    data : bytes
        A piece of the file.
    error : UnicodeDecodeError
        What decoding ``data`` as UTF-8 raised.
    line : int
        The line on which ``data`` starts.
    """
    line += data.count(b"\n", 0, error.start)
    start = data.rfind(b"\n", 0, error.start) + 1
    around = data[max(start, error.start - 15) : error.start + 15].split(b"\n")[0].rstrip(b"\r")
    guess = _guess(data)
    seen = excerpt(around.decode(guess), limit=40)
    hint = f"Name its encoding with --encoding. As {guess} it would read {seen} there: --encoding {guess}."
    return FileError(f"{named(name)}, line {line:,}: the byte 0x{data[error.start]:02x} is not UTF-8.", hint=hint)


def _guess(data: bytes) -> str:
    # cp1252 is latin-1 with letters where latin-1 has control characters, so it is the better guess.
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def nul_byte(name: str, data: bytes, position: int, line: int) -> FileError:
    """Return the error for a NUL byte at ``position`` of ``data``, which starts on ``line``."""
    line += data.count(b"\n", 0, position)
    sample = data[: 1 << 12]
    message = f"{named(name)}, line {line:,}: a NUL byte, which no text has."
    if 3 * sample.count(0) >= len(sample):
        guess = "utf-16-le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf-16-be"
        return FileError(message, hint=f"This looks like UTF-16: --encoding {guess}.")
    return FileError(message, hint="The file is binary or damaged. Text in UTF-16 needs --encoding utf-16.")


def utf16_marked(name: str) -> FileError:
    """Return the error for a file that starts with the byte order mark of UTF-16."""
    return FileError(f"{named(name)} is text in UTF-16 (it says so itself).", hint="Read it with --encoding utf-16.")
