"""Files of tables -> one Table: recognises each, has it checked and scanned, and joins them lazily."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import narwhals as nw
import polars as pl
from polars.selectors import by_name

from polyculture.audit.records import InputFile
from polyculture.errors import ColumnError, FileError
from polyculture.readers import arrow_ipc, csv_types, delimited, encodings, json_lines, parquet
from polyculture.readers.copies import Copy, gunzipped
from polyculture.readers.csv_header import MARK
from polyculture.readers.errors import reading
from polyculture.readers.hashing import HashedFile, Progress, head
from polyculture.readers.recognise import UTF16_MARKS, Format, recognise, recognise_text
from polyculture.readers.table import Table
from polyculture.readers.wording import columns, excerpt, named

__all__ = ["open_files"]

_SCANS = {
    Format.PARQUET: parquet.scan,
    Format.ARROW_FILE: arrow_ipc.scan,
    Format.ARROW_STREAM: arrow_ipc.scan_stream,
}


@dataclass(frozen=True)
class _Part:
    """One file: its frame; ``evidence`` where the types of its columns are still open (delimited text)."""

    frame: pl.LazyFrame
    record: InputFile
    names: tuple[str, ...]
    rows: int
    evidence: Mapping[str, csv_types.Evidence] | None = None
    empty: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    index: str | None = None


def open_files(paths: Sequence[Path], *, encoding: str | None, progress: Progress | None) -> Table:
    """Open files of tables as one lazy table; see `polyculture.readers.open_sources`."""
    codec = None if encoding is None else encodings.codec(encoding)
    parts = [_open(path, codec, progress) for path in paths]
    _same_names(parts)
    frames, empty = _settle(parts)
    _same_types(parts, frames)
    order = parts[0].names
    joined = frames[0] if len(frames) == 1 else pl.concat([frame.select(by_name(*order)) for frame in frames])
    return Table(
        frame=nw.from_native(joined),
        inputs=tuple(part.record for part in parts),
        rows=sum(part.rows for part in parts),
        warnings=tuple(chain.from_iterable(part.warnings for part in parts)),
        empty=empty,
        index=next((part.index for part in parts if part.index is not None), None),
    )


def _open(path: Path, codec: str | None, progress: Progress | None) -> _Part:
    start = head(path)
    form = recognise(start, str(path), encoded=codec is not None)
    if form in _SCANS:
        frame, rows = _SCANS[form](path)
        names = tuple(frame.collect_schema().names())
        _refuse_unusable(path, names, rows)
        record = HashedFile(path, progress).record(form.value, rows)
        return _Part(frame, record, names, rows)
    return _open_text(path, form, codec, start, progress)


def _open_text(path: Path, form: Format, codec: str | None, start: bytes, progress: Progress | None) -> _Part:
    """Open delimited text or JSON Lines, unpacking and decoding it into a copy where needed."""
    name = str(path)
    hashed = HashedFile(path, progress)
    blocks: Iterator[bytes] = iter(hashed)
    packed = form is Format.GZIP
    if packed:
        blocks = gunzipped(blocks, name)
    if codec is not None:
        blocks = encodings.decoded(blocks, codec, name)
    first, blocks = _peek(blocks)
    if packed or codec is not None:
        form = _inner_form(first, name)
    elif start.startswith(UTF16_MARKS):
        raise encodings.utf16_marked(name)
    copy = None
    if form is Format.DELIMITED and _mistaken_for_deflate(first):
        copy = Copy(name)
        blocks = copy.tee(chain([MARK], _without_mark(blocks)))
    elif packed or codec is not None or (form is Format.JSON_LINES and first.startswith(MARK)):
        copy = Copy(name)
        blocks = copy.tee(_without_mark(blocks))
    suffix = ", gzip" if packed else ""
    if form is Format.JSON_LINES:
        lines = json_lines.check(blocks, name)
        frame = json_lines.scan(path if copy is None else copy.source(), lines)
        record = hashed.record(form.value + suffix, lines.rows)
        return _Part(frame, record, tuple(lines.types), lines.rows, empty=lines.empty)
    structure, warnings = delimited.inspect(blocks, name)
    with reading(path, "delimited text"):
        frame = delimited.scan(path if copy is None else copy.source(), structure)
        evidence, rows = csv_types.collect_evidence(frame, structure.columns)
    if rows != structure.rows:
        raise FileError(
            f"{named(path)}: {structure.rows:,} rows were checked and {rows:,} rows were read.",
            hint="Did the file change meanwhile? If not, please report it.",
        )
    record = hashed.record(delimited.describe(structure) + suffix, structure.rows)
    return _Part(frame, record, structure.columns, structure.rows, evidence, warnings=warnings, index=structure.index)


def _inner_form(first: bytes, name: str) -> Format:
    """Return the format of what was unpacked or decoded; only text can be."""
    if not first:
        raise FileError(f"{named(name)} holds nothing.", hint="Check how it was written.")
    if first.startswith(UTF16_MARKS):
        raise encodings.utf16_marked(name)
    form = recognise(first, name)
    if form not in (Format.JSON_LINES, Format.DELIMITED):
        raise FileError(f"{named(name)} holds {form.value} inside gzip.", hint="Unpack it first (gunzip FILE).")
    return recognise_text(first, name)


def _peek(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first block that is not empty (b"" if there is none), and all blocks."""
    for block in blocks:
        if block:
            return block, chain([block], blocks)
    return b"", iter(())


def _mistaken_for_deflate(first: bytes) -> bool:
    """Return whether Polars would try to unpack this text: "x^2,y" starts like a zlib stream.

    It looks at the first bytes only, so a byte order mark before them keeps it from that.
    """
    start = first.removeprefix(MARK)[:2]
    return len(start) == 2 and start[0] & 0x0F == 8 and int.from_bytes(start, "big") % 31 == 0


def _without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    first, rest = _peek(iter(blocks))
    if first:
        next(rest)
        yield first.removeprefix(MARK)
    yield from rest


def _refuse_unusable(path: Path, names: Sequence[str], rows: int) -> None:
    if rows == 0:
        raise FileError(f"{named(path)} holds no rows.", hint="Check how it was written: were rows filtered out?")
    if "" in names:
        raise ColumnError(f"{named(path)}: column {names.index('') + 1} has no name.", hint="Name it.")
    if len(names) < 2:
        raise ColumnError(
            f"{named(path)} has {'only one column, ' + columns(names) if names else 'no columns'}.",
            hint="An audit needs at least a column for each model.",
        )


def _settle(parts: Sequence[_Part]) -> tuple[list[pl.LazyFrame], tuple[str, ...]]:
    """Give the text columns their types, decided over all text files; return the frames and empty columns."""
    text = [
        csv_types.TextFile(part.record.name, part.frame, part.evidence) for part in parts if part.evidence is not None
    ]
    types, blank = csv_types.decide(text, parts[0].names)
    empty = set(blank).intersection(*(part.empty for part in parts if part.evidence is None))
    frames = [part.frame if part.evidence is None else csv_types.typed(part.frame, types) for part in parts]
    return frames, tuple(name for name in parts[0].names if name in empty)


def _same_names(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        missing = [name for name in first.names if name not in set(part.names)]
        extra = [name for name in part.names if name not in set(first.names)]
        if missing or extra:
            says = [f"lacks {columns(missing)}"] if missing else []
            says += [f"has {columns(extra)} besides"] if extra else []
            raise ColumnError(
                f"{named(part.record.name)} {' and '.join(says)}, compared with {named(first.record.name)}.",
                hint="Files that are read together must have the same columns.",
            )


def _same_types(parts: Sequence[_Part], frames: Sequence[pl.LazyFrame]) -> None:
    first = frames[0].collect_schema() if len(frames) > 1 else {}
    for part, frame in zip(parts[1:], frames[1:], strict=True):
        schema = frame.collect_schema()
        for name, dtype in first.items():
            if schema[name] != dtype:
                raise ColumnError(
                    f"Column {excerpt(name, limit=40)} is {dtype} in {named(parts[0].record.name)} "
                    f"and {schema[name]} in {named(part.record.name)}.",
                    hint="Files that are read together must agree in the types of their columns.",
                )
