"""JSON Lines: every line is checked to be one flat object whose keys keep their types, then scanned lazily.

Lists and objects inside a line are kept as their JSON text.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import polars as pl

from polyculture.errors import ColumnError, FileError
from polyculture.readers.encodings import not_utf8, nul_byte
from polyculture.readers.wording import excerpt, named

__all__ = ["Lines", "check", "scan"]

_KINDS: dict[type, str] = {
    bool: "true/false",
    int: "an integer",
    float: "a decimal number",
    str: "text",
    list: "a list or object",
    dict: "a list or object",
}
_TYPES: dict[str, pl.DataType] = {
    "true/false": pl.Boolean(),
    "an integer": pl.Int64(),
    "a decimal number": pl.Float64(),
    "text": pl.String(),
    "a list or object": pl.String(),
}
_NUMBERS = {"an integer", "a decimal number"}
_LONG_INTEGER = re.compile(rb"\d{19}")
_KEY = re.compile(rb'"\s*:')
_LONGEST_LINE = 1 << 26


@dataclass(frozen=True)
class Lines:
    """What the check has found: rows, the type of each key, and keys that are null everywhere."""

    rows: int
    types: dict[str, pl.DataType]
    empty: tuple[str, ...]


def check(blocks: Iterable[bytes], name: str) -> Lines:
    """Check that every line is a JSON object and that no key changes its type.

    Parameters
    ----------
    blocks : iterable of bytes
        The text in UTF-8, in pieces of any size.
    name : str
        The file's name, for errors.

    Raises
    ------
    FileError
        A line is no JSON object, or there is none at all, or the last one is cut off.
    ColumnError
        A key changes its type, or stands twice in a line, or there is only one.
    """
    checker = _Checker(name)
    pending = b""
    for block in blocks:
        pending += block
        cut = pending.rfind(b"\n") + 1
        checker.take(pending[:cut])
        pending = pending[cut:]
        if len(pending) > _LONGEST_LINE:
            raise FileError(
                f"{named(name)}, line {checker.line:,} is longer than {_LONGEST_LINE >> 20} MiB.",
                hint="JSON Lines holds one object a line.",
            )
    checker.take(pending, last=True)
    return checker.lines()


def scan(source: bytes | Path, lines: Lines) -> pl.LazyFrame:
    """Return the checked lines as a lazy frame."""
    # Polars takes a path as a pattern here, and has no option against it.
    plain = source if isinstance(source, bytes) else glob.escape(str(source))
    return pl.scan_ndjson(plain, schema=lines.types)


class _Checker:
    """The state of the check between blocks of whole lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = 1
        self.rows = 0
        self._decoder = msgspec.json.Decoder()
        self._kinds: dict[str, dict[str, int]] = {}  # key -> kind -> the line where it was first seen
        self._shapes: set[tuple[tuple[str, ...], tuple[type, ...]]] = set()

    def take(self, block: bytes, *, last: bool = False) -> None:
        """Check a block of whole lines."""
        if (position := block.find(0)) >= 0:
            raise nul_byte(self.name, block, position, self.line)
        try:
            block.decode("utf-8") if not block.isascii() else None
        except UnicodeDecodeError as error:
            raise not_utf8(self.name, block, error, self.line) from error
        long_integers = _LONG_INTEGER.search(block) is not None
        keys = 0
        for number, item in self._objects(block, last=last):
            keys += len(item)
            self.rows += 1
            shape = (tuple(item), tuple(map(type, item.values())))
            if shape not in self._shapes:
                self._shapes.add(shape)
                self._learn(item, number)
            if long_integers:
                self._refuse_long_integers(item, number)
        # Every key is followed by a colon: more of them than keys means nested objects, text that looks like a
        # key, or a key that stands twice, of which any JSON reader keeps only one.
        if len(_KEY.findall(block)) > keys:
            self._refuse_repeated_keys(block)
        self.line += block.count(b"\n")

    def _objects(self, block: bytes, *, last: bool) -> Iterator[tuple[int, dict[str, object]]]:
        for offset, line in enumerate(block.split(b"\n")):
            if not line or line.isspace():
                continue
            number = self.line + offset
            try:
                item = self._decoder.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise self._bad_line(line, number, error, last=last) from error
            if not isinstance(item, dict):
                raise FileError(
                    f"{named(self.name)}, line {number:,} is {excerpt(line, limit=40)}, not an object.",
                    hint='Each line of JSON Lines is one object: {"id": 1, "a": "x"}.',
                )
            yield number, item

    def _bad_line(self, line: bytes, number: int, error: Exception, *, last: bool) -> FileError:
        if last and self.rows:
            return FileError(
                f"{named(self.name)} looks cut off: line {number:,}, the last one, is incomplete and has no line end.",
                hint="Get the whole file, or delete that line.",
            )
        if re.search(rb"\b(?:NaN|-?Infinity)\b", line):
            hint = "JSON has no NaN and no Infinity: write null."
        elif number == 1 and line.strip() == b"{":
            hint = "Write each object on one line (jq -c . FILE)."
        else:
            hint = f"Mend the line, which starts {excerpt(line, limit=40)}."
        return FileError(f"{named(self.name)}, line {number:,} is not valid JSON ({excerpt(error)}).", hint=hint)

    def _learn(self, item: dict[str, object], number: int) -> None:
        for key, value in item.items():
            kinds = self._kinds.setdefault(key, {})
            if value is None:
                continue
            kinds.setdefault(_KINDS[type(value)], number)
            if len(kinds) > 1 and not kinds.keys() <= _NUMBERS:
                (first, one), (second, other) = list(kinds.items())[:2]
                raise ColumnError(
                    f"{named(self.name)}: {excerpt(key, limit=40)} is {first} on line {one:,} and {second} on "
                    f"line {other:,}.",
                    hint="Write all values of a key with one type.",
                )

    def _refuse_long_integers(self, item: dict[str, object], number: int) -> None:
        for key, value in item.items():
            if type(value) is int and not -(2**63) <= value < 2**63:
                raise ColumnError(
                    f"{named(self.name)}, line {number:,}: the integer under {excerpt(key, limit=40)} "
                    "needs more than 64 bits.",
                    hint="Write it as text, in quotation marks.",
                )

    def _refuse_repeated_keys(self, block: bytes) -> None:
        for offset, line in enumerate(block.split(b"\n")):
            if line and not line.isspace():
                json.loads(line, object_pairs_hook=partial(self._unique, self.line + offset))

    def _unique(self, number: int, pairs: list[tuple[str, object]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise ColumnError(
                f"{named(self.name)}, line {number:,}: {excerpt(repeated, limit=40)} stands twice in one object.",
                hint="Give every key its own name.",
            )

    def lines(self) -> Lines:
        """Return what was found."""
        if not self.rows:
            raise FileError(f"{named(self.name)} holds no line of JSON.", hint="Check how it was written.")
        if "" in self._kinds:
            raise ColumnError(f"{named(self.name)}: a key is the empty text.", hint="Name it.")
        if len(self._kinds) < 2:
            raise ColumnError(
                f"{named(self.name)} has {'only one key' if self._kinds else 'no keys'}.",
                hint="An audit needs at least a column for each model.",
            )
        types = {}
        for key, kinds in self._kinds.items():
            kind = "a decimal number" if len(kinds) > 1 else next(iter(kinds), "text")
            types[key] = _TYPES[kind]
        empty = tuple(key for key, kinds in self._kinds.items() if not kinds)
        return Lines(self.rows, types, empty)
