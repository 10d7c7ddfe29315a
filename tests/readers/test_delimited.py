"""Delimited text: what is read, and the error of everything that is not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from polyculture.errors import ColumnError, FileError, PolycultureError, UsageError
from polyculture.readers import Table, open_sources
from polyculture.readers.strict_csv import check


def write(folder: Path, content: bytes | str, name: str = "outcomes.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> pl.DataFrame:
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    return frame


def read(folder: Path, content: bytes | str, **options: str) -> pl.DataFrame:
    return cells(open_sources([write(folder, content)], **options))


FAULTS = {
    "too few fields": ("id,a,b\n1,0,1\n2,0\n3,1,1\n", FileError, ["line 3", "2 fields", "3"]),
    "too many fields": ("id,a,b\n1,0,1\n2,0,1,1\n", FileError, ["line 3", "4 fields", "quotation"]),
    "several bad rows": (
        "id,a,b\n" + "1,0\n" * 7 + "2,0,1\n",
        FileError,
        ["line 2", "lines 2, 3, 4, 5, 6 (the first 5 of 7)"],
    ),
    "line numbers count newlines in fields": ('id,a,b\n"x\n\ny",0,1\n2,0\n', FileError, ["line 5", "2 fields"]),
    "a blank line in the middle": ("id,a\n1,0\n\n2,1\n", FileError, ["line 3", "blank"]),
    "cut off in the last row": ("id,a,b\n1,0,1\n2,0", FileError, ["cut off", "line 3", "2 of 3"]),
    "cut off in a quoted field": ('id,a,b\n1,0,1\n2,0,"x\n', FileError, ["cut off", "line 3", "quoted"]),
    "a column named twice": ("id,a,b,a\n1,0,1,0\n", ColumnError, ["'a'", "more than one"]),
    "a later column without a name": ("id,a,\n1,0,1\n", ColumnError, ["column 3", "no name", "only the first"]),
    "two columns without a name": (",a,\n1,0,1\n", ColumnError, ["column 3 has no name"]),
    "no name, and the name it would get is taken": (",row,b\n1,0,1\n", ColumnError, ["column 1", "'row'", "rename"]),
    "a quoted empty name": ('id,"",b\n1,0,1\n', ColumnError, ["column 2"]),
    "one column": ("a\n1\n0\n", ColumnError, ["only one column", "'a'"]),
    "one column cut by pipes": ("a|b\n1|0\n", ColumnError, ["only one column", "comma, tab or semicolon"]),
    "header only": ("id,a,b\n", FileError, ["no rows"]),
    "header only, no line end": ("id,a,b", FileError, ["no rows"]),
    "header and blank lines": ("id,a,b\n\n\n", FileError, ["no rows"]),
    "empty": ("", FileError, ["empty"]),
    "blank": ("\n\n", FileError, ["first line is blank"]),
    "only a byte order mark": ("\ufeff", FileError, ["blank"]),
    "a NUL byte": (b"id,a\n1,0\n2,\x00\n", FileError, ["line 3", "NUL"]),
    "latin-1": ("id,a\n1,naïve\n".encode("latin-1"), FileError, ["line 2", "0xef", "--encoding", "naïve"]),
    "utf-16 with its mark": ("id,a\n1,0\n".encode("utf-16"), FileError, ["UTF-16", "--encoding utf-16"]),
    "utf-16 without": ("id,a\n1,0\n".encode("utf-16-le"), FileError, ["NUL", "--encoding utf-16-le"]),
    "utf-16 big-endian without": ("id,a\n1,0\n".encode("utf-16-be"), FileError, ["NUL", "--encoding utf-16-be"]),
    "a stray quotation mark": ('id,a\n1,5" pipe\n', FileError, ["line 2", "quotation mark", "double"]),
    "text after a quoted field": ('id,a\n1,"x"y\n', FileError, ["line 2", "after the end of a quoted field"]),
    "a quoted field never closed": (
        'id,a\n1,"x\n2,y\n3,"z"\n',
        FileError,
        ["line 4", "quoted field that opens on line 2"],
    ),
    "carriage returns alone": (b"id,a\r1,0\r2,1\r", FileError, ["line 1", "carriage return"]),
    "a carriage return inside": (b"id,a\r\n1,x\ry\r\n", FileError, ["line 2", "carriage return"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named(fault: str, tmp_path: Path, refused: Callable[..., None]) -> None:
    content, kind, words = FAULTS[fault]
    refused(write(tmp_path, content), kind, words)


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "empty"])
def test_fault_is_named_the_same_in_gzip(fault: str, tmp_path: Path, refused: Callable[..., None]) -> None:
    content, kind, words = FAULTS[fault]
    packed = gzip.compress(content.encode() if isinstance(content, str) else content)
    refused(write(tmp_path, packed, "outcomes.csv.gz"), kind, words)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("fault", FAULTS)
def test_check_does_not_depend_on_the_blocks(fault: str, size: int) -> None:
    content, _, _ = FAULTS[fault]
    data = content.encode() if isinstance(content, str) else content
    messages = []
    for blocks in ([data], [data[i : i + size] for i in range(0, len(data), size)]):
        with pytest.raises(PolycultureError) as caught:
            check(blocks, "x.csv")
        # The text around a stray mark is all there is in the block; a count of bad rows may stop there too.
        messages.append(
            str(caught.value).split(", near")[0].split(" As ")[0].split(" This looks")[0].split(" The file is")[0]
        )
    assert messages[0] == messages[1]


def test_an_error_shows_little_of_the_data_and_no_control_characters(tmp_path: Path) -> None:
    with pytest.raises(ColumnError) as caught:
        read(tmp_path, "x\x1b[31m" + "y" * 5000 + "\n1\n")
    assert len(str(caught.value)) < 600
    assert "\x1b" not in str(caught.value)
    assert "\\x1b" in str(caught.value)


def test_a_hundred_repeated_names_are_clipped(tmp_path: Path) -> None:
    names = [f"column {i} {'x' * 200}" for i in range(100)]
    with pytest.raises(ColumnError, match="the first 5 of 100") as caught:
        read(tmp_path, ",".join(names * 2) + "\n" + ",".join("1" * 200) + "\n")
    assert len(str(caught.value)) < 600


ODD_NAMES = [
    "a b",
    'say "hi"',
    "x,y",
    "two\nlines",
    "😀",
    "<script>alert(1)</script>",
    "=cmd()",
    " lead",
    "a\tb",
    "a;b",
]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_names_are_kept_exactly(delimiter: str, tmp_path: Path) -> None:
    header = delimiter.join('"' + name.replace('"', '""') + '"' for name in ODD_NAMES)
    row = delimiter.join("1" for _ in ODD_NAMES)
    frame = read(tmp_path, f"{header}\n{row}\n{row}\n")
    assert frame.columns == ODD_NAMES
    assert frame.height == 2


TYPES = {
    "integers": (["0", "-7", "", "12"], pl.Int64, [0, -7, None, 12]),
    "decimals": (["0", "0.5", "", "1e-05"], pl.Float64, [0.0, 0.5, None, 1e-05]),
    "infinite": (["1", "inf", "-Infinity", "2.5"], pl.Float64, [1.0, float("inf"), float("-inf"), 2.5]),
    "nothing but NaN": (["NaN", "NaN"], pl.String, ["NaN", "NaN"]),
    "true and false": (["true", "", "false"], pl.Boolean, [True, None, False]),
    "True and False": (["True", "False"], pl.Boolean, [True, False]),
    "two spellings of true": (["True", "false"], pl.String, ["True", "false"]),
    "leading zeros": (["7", "007"], pl.String, ["7", "007"]),
    "leading zeros after a minus": (["7", "-07"], pl.String, ["7", "-07"]),
    "a plus": (["49", "+49"], pl.String, ["49", "+49"]),
    "a space": (["1", " 1"], pl.String, ["1", " 1"]),
    "an integer beyond 64 bits": (["1", "12345678901234567890"], pl.String, ["1", "12345678901234567890"]),
    "a long integer among decimals": (["0.5", "9007199254740993"], pl.String, ["0.5", "9007199254740993"]),
    "18 digits": (["1", "123456789012345678"], pl.Int64, [1, 123456789012345678]),
    "mixed": (["1", "x"], pl.String, ["1", "x"]),
    "1 and true": (["1", "true"], pl.String, ["1", "true"]),
    "dates stay text": (["2020-01-31", "2021-12-01"], pl.String, ["2020-01-31", "2021-12-01"]),
    "underscores": (["1_000", "2"], pl.String, ["1_000", "2"]),
    "hexadecimal": (["0x10", "2"], pl.String, ["0x10", "2"]),
    "decimal comma": (['"0,5"', '"1,5"'], pl.String, ["0,5", "1,5"]),
    "quoted numbers": (['"1"', '"0"'], pl.Int64, [1, 0]),
    "all empty": (["", '""', ""], pl.String, [None, None, None]),
}


@pytest.mark.parametrize("case", TYPES)
def test_types(case: str, tmp_path: Path) -> None:
    values, dtype, expected = TYPES[case]
    table = open_sources([write(tmp_path, "id,v\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))])
    frame = cells(table)
    assert frame.schema["v"] == dtype
    assert frame["v"].to_list() == expected
    assert table.empty == (("v",) if case == "all empty" else ())
    assert frame.schema["id"] == pl.Int64


def test_nan_in_a_column_of_numbers_is_a_float(tmp_path: Path) -> None:
    frame = read(tmp_path, "id,v\n1,NaN\n2,1\n")
    assert frame["v"].is_nan().to_list() == [True, False]


@pytest.mark.parametrize(
    ("late", "dtype"),
    [("0.5", pl.Float64), ("007", pl.String), ("x", pl.String), ("true", pl.String), ("3", pl.Int64)],
)
def test_type_is_decided_by_the_last_row_too(late: str, dtype: pl.DataType, tmp_path: Path) -> None:
    assert read(tmp_path, "id,v\n" + "1,1\n" * 5000 + f"2,{late}\n").schema["v"] == dtype


@pytest.mark.parametrize(
    ("late", "dtype"), [("0.5", pl.Float64), ("1", pl.Int64), ("x", pl.String), ("true", pl.Boolean)]
)
def test_type_after_thousands_of_empty_fields(late: str, dtype: pl.DataType, tmp_path: Path) -> None:
    assert read(tmp_path, "id,v\n" + "1,\n" * 5000 + f"2,{late}\n").schema["v"] == dtype


def test_nan_first_and_numbers_late(tmp_path: Path) -> None:
    assert read(tmp_path, "id,v\n" + "1,NaN\n" * 3000 + "2,1.5\n").schema["v"] == pl.Float64


def test_booleans_that_turn_to_words_late(tmp_path: Path) -> None:
    frame = read(tmp_path, "id,v\n" + "1,true\n" * 3000 + "2,maybe\n")
    assert frame.schema["v"] == pl.String
    assert frame["v"][-1] == "maybe"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_blank_lines_at_the_end(end: str, tmp_path: Path) -> None:
    table = open_sources([write(tmp_path, f"id,a{end}1,0{end}2,1{end}{end}{end}")])
    assert cells(table).rows() == [(1, 0), (2, 1)]
    assert table.rows == 2
    assert table.warnings == ()


def test_a_last_row_without_line_end_is_read_with_a_warning(tmp_path: Path) -> None:
    table = open_sources([write(tmp_path, "id,a\n1,0\n2,1")])
    assert cells(table).rows() == [(1, 0), (2, 1)]
    assert "no line end" in table.warnings[0]


def test_byte_order_mark_is_accepted_silently(tmp_path: Path) -> None:
    frame = read(tmp_path, "\ufeffid,a\n1,0\n")
    assert frame.columns == ["id", "a"]
    frame = read(tmp_path, '\ufeff"id",a\n1,0\n')
    assert frame.columns == ["id", "a"]


@pytest.mark.parametrize(
    ("text", "names", "form"),
    [
        ("id,a\n1,0\n", ["id", "a"], "CSV"),
        ("id\ta\n1\t0\n", ["id", "a"], "TSV"),
        ("id;a\n1;0\n", ["id", "a"], "CSV with semicolons"),
        ("id;a\n1;0,5\n2;0,7\n", ["id", "a"], "CSV with semicolons"),
        ("id,a;b\n1,0\n", ["id", "a;b"], "CSV"),
        ('id\ttext\n1\t"a, b"\n2\tc, d\n', ["id", "text"], "TSV"),
        ('id,text\n1,"a;b;c\td"\n', ["id", "text"], "CSV"),
        ("a,b;c,d\n1;2\n", ["a,b", "c,d"], "CSV with semicolons"),
    ],
)
def test_delimiter(text: str, names: list[str], form: str, tmp_path: Path) -> None:
    table = open_sources([write(tmp_path, text, "x.txt")])
    assert cells(table).columns == names
    assert table.inputs[0].format == form


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-8-sig", "shift_jis"])
def test_encoding_is_decoded(encoding: str, tmp_path: Path) -> None:
    word = "日本" if encoding == "shift_jis" else "naïve"
    content = f"id,{word}\n1,{word}\n".encode(encoding)
    frame = read(tmp_path, content, encoding=encoding)
    assert frame.columns == ["id", word]
    assert frame[word].to_list() == [word]
    packed = write(tmp_path, gzip.compress(content), "x.csv.gz")
    assert cells(open_sources([packed], encoding=encoding)).equals(frame)


def test_unknown_encoding_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'latin"):
        read(tmp_path, "id,a\n1,0\n", encoding="latin-l")
    for codec in ("rot13", "base64", "zlib", "undefined", "no such thing\0"):
        with pytest.raises(UsageError, match="no known encoding"):
            read(tmp_path, "id,a\n1,0\n", encoding=codec)


def test_wrong_encoding_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"not text in ascii.*line 3"):
        read(tmp_path, "id,a\n1,x\n2,ï\n", encoding="ascii")
    with pytest.raises(FileError, match="not text in utf-16"):
        read(tmp_path, "id,a\n1,x\n".encode("utf-16")[:-1], encoding="utf-16")


def test_gzip_cut_off_or_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(("id,a\n" + "".join(f"{i},{i % 2}\n" for i in range(5000))).encode())
    with pytest.raises(FileError, match="cut off"):
        read(tmp_path, packed[:-20])
    with pytest.raises(FileError, match=r"cut off|damaged"):
        read(tmp_path, packed[:-4] + b"\0\0\0\0")
    with pytest.raises(FileError, match="damaged"):
        read(tmp_path, packed[:500] + b"\xff" * 40 + packed[540:])


def test_gzip_of_several_members_and_padding(tmp_path: Path) -> None:
    content = gzip.compress(b"id,a\n1,0\n") + gzip.compress(b"2,1\n") + b"\0" * 20
    assert read(tmp_path, content).rows() == [(1, 0), (2, 1)]


def test_gzip_of_nothing_and_of_a_binary(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds nothing"):
        read(tmp_path, gzip.compress(b""))
    with pytest.raises(FileError, match="Parquet inside gzip"):
        read(tmp_path, gzip.compress(b"PAR1" + b"\0" * 50 + b"PAR1"))


def test_large_copy_goes_to_a_file_and_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.readers.copies.IN_MEMORY", 1000)
    rows = [(i, i % 2) for i in range(2000)]
    content = "id,a\n" + "".join(f"{i},{a}\n" for i, a in rows)
    assert read(tmp_path, gzip.compress(content.encode())).rows() == rows


def test_no_room_for_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.readers.copies.IN_MEMORY", 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(FileError, match="TMPDIR"):
        read(tmp_path, gzip.compress(b"id,a\n" + b"1,0\n" * 100))


def test_fields_with_newlines_across_the_parser_s_chunks(tmp_path: Path) -> None:
    texts = ['he said "hi", and left', "two\nlines, \r\n'x'", "naïve 😀 " * 3, "plain", "\n\n,,\n"]
    rows = [(i, texts[i * i % 5] * (1 + i % 7), i % 2) for i in range(90_000)]
    content = "id,text,a\n" + "".join('{},"{}",{}\n'.format(i, t.replace('"', '""'), a) for i, t, a in rows)
    assert len(content) > 5_000_000
    assert read(tmp_path, content).rows() == rows


def test_three_thousand_columns(tmp_path: Path) -> None:
    names = [f"m{j}" for j in range(3000)]
    table = open_sources([write(tmp_path, ",".join(names) + "\n" + (",".join("01" * 1500) + "\n") * 3)])
    frame = cells(table)
    assert frame.shape == (3, 3000)
    assert set(frame.dtypes) == {pl.Int64()}


def test_a_record_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.readers.strict_csv._LONGEST_RECORD", 1 << 20)
    monkeypatch.setattr("polyculture.readers.hashing.BLOCK", 1 << 16)
    with pytest.raises(FileError, match=r"line 2: the record .* never closed"):
        read(tmp_path, 'id,a\n1,"' + "x\n" * (1 << 21))
    with pytest.raises(FileError, match=r"line 1: the record .* no line end"):
        read(tmp_path, "x" * (1 << 21))


def test_hash_size_rows_and_progress(tmp_path: Path) -> None:
    import hashlib

    content = b"id,a\n1,0\n2,1\n"
    path = write(tmp_path, content)
    seen: list[tuple[str, int, int]] = []
    table = open_sources([path], progress=lambda *step: seen.append(step))
    (record,) = table.inputs
    assert record.sha256 == hashlib.sha256(content).hexdigest()
    assert (record.name, record.format, record.bytes, record.rows) == (str(path), "CSV", len(content), 2)
    assert seen == [(str(path), len(content), len(content))]


@pytest.mark.parametrize("name", ["x^2", "x\x01", "h\x81"])
def test_a_name_that_starts_like_a_zlib_stream(name: str, tmp_path: Path) -> None:
    for mark in ("", "\ufeff"):
        frame = read(tmp_path, f"{mark}{name},b\n1,0\n")
        assert frame.columns == [name, "b"]
        assert frame.rows() == [(1, 0)]


def test_reading_is_lazy(tmp_path: Path) -> None:
    table = open_sources([write(tmp_path, "id,a\n1,0\n")])
    assert isinstance(table.frame.to_native(), pl.LazyFrame)


@pytest.mark.parametrize("header", [",a,b", '"",a,b', '"","a","b"', "\ufeff,a,b"])
def test_a_first_column_without_a_name_is_an_index_of_rows(header: str, tmp_path: Path) -> None:
    table = open_sources([write(tmp_path, f"{header}\n7,0,1\n8,1,1\n")])
    assert table.index == "row"
    frame = cells(table)
    assert frame.columns == ["row", "a", "b"]
    assert frame["row"].to_list() == [7, 8]


def test_a_column_named_row_is_no_index(tmp_path: Path) -> None:
    assert open_sources([write(tmp_path, "row,a,b\n7,0,1\n8,1,1\n")]).index is None


def test_files_with_an_index_are_read_together(tmp_path: Path) -> None:
    paths = [write(tmp_path, f",a,b\n{n},0,1\n", f"{n}.csv") for n in (1, 2)]
    assert cells(open_sources(paths))["row"].to_list() == [1, 2]
