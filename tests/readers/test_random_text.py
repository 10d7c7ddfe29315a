"""Random tables, random bytes and random cuts: the same cells, or an error of ours, never anything else."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from polyculture.errors import PolycultureError
from polyculture.readers import Table, open_sources

FULL = int(os.environ.get("POLYCULTURE_FUZZ", "10000"))
FAST = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
# Three kinds of random files share the number that the full run asks for.
MANY = settings(max_examples=max(FULL // 3, 100), deadline=None, suppress_health_check=list(HealthCheck))

# What csv quotes and what it does not, letters of several lengths in UTF-8, line ends, and no surrogates.
TEXT = st.text(
    st.one_of(
        st.sampled_from(list('",;\t\n\r ab01.')),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"),
    ),
    max_size=12,
)
NAMES = st.lists(TEXT.filter(bool), min_size=2, max_size=5, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(NAMES)
    rows = draw(st.lists(st.lists(TEXT, min_size=len(names), max_size=len(names)), min_size=1, max_size=8))
    return names, rows


def read(content: bytes, **options: str) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        table = open_sources([path], **options)
        # Collected here, while the file still exists.
        frame = table.frame.collect().to_native()
        return Table(frame=frame, inputs=table.inputs, rows=table.rows, warnings=table.warnings)


def written(names: list[str], rows: list[list[str]], delimiter: str, end: str) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow(names)
    writer.writerows(rows)
    return stream.getvalue().encode()


def writable(names: list[str], rows: list[list[str]], end: str) -> tuple[list[str], list[list[str]]]:
    """Return the table as the csv module can write it with these line ends.

    Before Python 3.13 it leaves a carriage return unquoted where lines end with a newline alone.
    """
    if end == "\r\n":
        return names, rows
    return names, [[cell.replace("\r", "¶") for cell in row] for row in rows]


def as_text(value: object, original: str) -> str:
    """Return a cell as it was written, where its type tells that without doubt."""
    if value is None:
        return ""
    if isinstance(value, bool):
        assert original.lower() == str(value).lower()
        return original
    if isinstance(value, float):
        assert float(original) == value or value != value  # noqa: PLR0124
        return original
    return str(value)


def check_same_cells(table: tuple[list[str], list[list[str]]], delimiter: str, end: str) -> None:
    names, rows = writable(*table, end)
    content = written(names, rows, delimiter, end)
    # A column name may itself hold the other delimiters; then a file may rightly be split otherwise.
    # And a file that starts like JSON is JSON.
    if names[0].lstrip()[:1] in ("{", "[") or any(mark in name for name in names for mark in ",;\t\r"):
        names = [f"column {i}" for i in range(len(names))]
        content = written(names, rows, delimiter, end)
    frame = read(content).frame
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == names
    found = [[as_text(v, o) for v, o in zip(r, q, strict=True)] for r, q in zip(frame.rows(), rows, strict=True)]
    assert found == rows


@FAST
@given(tables(), st.sampled_from([",", "\t", ";"]), st.sampled_from(["\n", "\r\n"]))
@example((["a", "b"], [["", ""], ["", ""]]), ",", "\n")
@example((["a", "b"], [['"', '""'], [",", "\n"]]), ",", "\r\n")
@example((["*", "^a.*$", "ab"], [["1", "true", "x"], ["0", "false", "0.5"]]), ",", "\n")
def test_the_same_cells_come_back(table: tuple[list[str], list[list[str]]], delimiter: str, end: str) -> None:
    check_same_cells(table, delimiter, end)


@pytest.mark.full
@MANY
@given(tables(), st.sampled_from([",", "\t", ";"]), st.sampled_from(["\n", "\r\n"]))
def test_the_same_cells_come_back_in_many(table: tuple[list[str], list[list[str]]], delimiter: str, end: str) -> None:
    check_same_cells(table, delimiter, end)


MAGIC = [b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x1f\x8b\x08", b"{", b"[", b"\xff\xfe", b"\xef\xbb\xbf"]
JUNK = st.one_of(
    st.binary(max_size=300),
    st.builds(lambda start, rest, end: start + rest + end, st.sampled_from(MAGIC), st.binary(max_size=200),
              st.sampled_from([b"", b"PAR1", b"ARROW1"])),
    st.text(st.sampled_from(list('a1,;\t\n\r"{}[]:\0')), max_size=120).map(str.encode),
    st.binary(max_size=200).map(gzip.compress),
    st.lists(
        st.sampled_from([b'{"a":1,"b":2}', b'{"a":"x"}', b"{}", b'{"a":', b"null", b'{"a":1,"a":2}']), max_size=6
    ).map(b"\n".join),
)  # fmt: skip


def check_junk(content: bytes, encoding: str | None) -> None:
    # Anything but an error of ours ends the test with its traceback.
    with contextlib.suppress(PolycultureError):
        table = read(content, **({} if encoding is None else {"encoding": encoding}))
        assert isinstance(table, Table)
        assert table.rows == len(table.frame)  # type: ignore[arg-type]


@FAST
@given(JUNK, st.sampled_from([None, None, None, "latin-1", "utf-16", "utf-7", "shift_jis"]))
def test_junk_gives_an_error_of_ours_or_a_table(content: bytes, encoding: str | None) -> None:
    check_junk(content, encoding)


@pytest.mark.full
@MANY
@given(JUNK, st.sampled_from([None, None, None, "latin-1", "utf-16", "utf-7", "shift_jis"]))
def test_much_junk_gives_an_error_of_ours_or_a_table(content: bytes, encoding: str | None) -> None:
    check_junk(content, encoding)


def check_cut(table: tuple[list[str], list[list[str]]], share: float, end: str) -> None:
    rows = [[f"r{i}", *row[1:-1], f"z{row[-1]}z"] for i, row in enumerate(writable(*table, end)[1])]
    names = [f"column {i}" for i in range(len(table[0]))]
    content = written(names, rows, ",", end)
    cut = int(share * len(content))
    # Where a row is whole, with or without its line end.
    whole = {}
    for count in range(len(rows) + 1):
        start = len(written(names, rows[:count], ",", end))
        whole.update(dict.fromkeys(range(start - len(end), start + 1), count))
    try:
        read_back = read(content[:cut])
    except PolycultureError:
        assert whole.get(cut, 0) == 0, "a file of whole rows was refused"
        return
    found = [
        [as_text(v, o) for v, o in zip(r, q, strict=True)] for r, q in zip(read_back.frame.rows(), rows, strict=False)
    ]  # type: ignore[attr-defined]
    if cut in whole:
        assert found == rows[: whole[cut]]
        return
    # A cut inside the last field of a row cannot be told from a file whose last line has no line end: it is
    # read with a warning, and only that one value may be short.
    assert read_back.warnings
    assert found[:-1] == rows[: len(found) - 1]
    last, full = found[-1], rows[len(found) - 1]
    assert last[:-1] == full[:-1]
    assert full[-1].startswith(last[-1])


CUT = st.floats(0, 1)


@FAST
@given(tables(), CUT, st.sampled_from(["\n", "\r\n"]))
def test_a_file_cut_off(table: tuple[list[str], list[list[str]]], share: float, end: str) -> None:
    check_cut(table, share, end)


@pytest.mark.full
@MANY
@given(tables(), CUT, st.sampled_from(["\n", "\r\n"]))
def test_many_files_cut_off(table: tuple[list[str], list[list[str]]], share: float, end: str) -> None:
    check_cut(table, share, end)
