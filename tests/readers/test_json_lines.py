"""JSON Lines: types, faults, and what is never silently dropped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from polyculture.errors import ColumnError, FileError
from polyculture.readers import Table, open_sources


def write(folder: Path, content: bytes | str, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> pl.DataFrame:
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    return frame


def test_types_nulls_missing_keys_and_nested_values(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "n": 1, "x": 1, "ok": True, "none": None, "deep": {"k": [1, "é"]}},
        {"id": "b", "n": None, "x": 0.5, "ok": False, "none": None, "deep": [1]},
        {"id": "007", "x": 2, "late": "new"},
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    table = open_sources([write(tmp_path, content + "\n\n")])
    frame = cells(table)
    assert frame.schema == {
        "id": pl.String(),
        "n": pl.Int64(),
        "x": pl.Float64(),
        "ok": pl.Boolean(),
        "none": pl.String(),
        "deep": pl.String(),
        "late": pl.String(),
    }
    assert frame["id"].to_list() == ["a", "b", "007"]
    assert frame["n"].to_list() == [1, None, None]
    assert frame["x"].to_list() == [1.0, 0.5, 2.0]
    assert frame["ok"].to_list() == [True, False, None]
    assert frame["late"].to_list() == [None, None, "new"]
    assert [json.loads(text) for text in frame["deep"].drop_nulls()] == [{"k": [1, "é"]}, [1]]
    assert table.empty == ("none",)
    assert (table.rows, table.inputs[0].rows, table.inputs[0].format) == (3, 3, "JSON Lines")


FAULTS = {
    "bad line": ('{"a":1,"b":2}\n{"a":1,,}\n', FileError, ["line 2", "not valid JSON", '{"a":1,,}']),
    "cut off": ('{"a":1,"b":2}\n{"a":1,"b', FileError, ["cut off", "line 2"]),
    "no object": ('{"a":1,"b":2}\n[1,2]\n', FileError, ["line 2", "not an object"]),
    "NaN": ('{"a":1,"b":NaN}\n', FileError, ["line 1", "write null"]),
    "pretty-printed": ('{\n  "a": 1\n}\n', FileError, ["line 1", "one line"]),
    "one list": ('[\n{"a": 1, "b": 2}]\n', FileError, ["one JSON list", "jq"]),
    "changed type": (
        '{"a":1,"b":2}\n{"a":null,"b":3}\n{"a":"1","b":3}\n',
        ColumnError,
        ["'a'", "an integer on line 1", "text on line 3"],
    ),
    "true and 1": ('{"a":true,"b":2}\n{"a":1,"b":3}\n', ColumnError, ["'a'", "true/false", "an integer"]),
    "list and text": ('{"a":[],"b":2}\n{"a":"x","b":3}\n', ColumnError, ["a list or object on line 1"]),
    "repeated key": ('{"a":1,"b":2}\n{"a":1,"b":2,"a" : 3}\n', ColumnError, ["line 2", "'a'", "twice"]),
    "long integer": ('{"a":1,"b":2}\n{"a":9223372036854775808,"b":2}\n', ColumnError, ["line 2", "64 bits"]),
    "one key": ('{"a":1}\n', ColumnError, ["only one key"]),
    "no key": ("{}\n", ColumnError, ["no keys"]),
    "empty key": ('{"":1,"b":2}\n', ColumnError, ["empty text"]),
    "not UTF-8": (b'{"a":1,"b":2}\n{"a":1,"b":"\xef"}\n', FileError, ["line 2", "0xef", "--encoding"]),
    "NUL": (b'{"a":1,"b":2}\n\0', FileError, ["line 2", "NUL"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named(fault: str, tmp_path: Path, refused: Callable[..., None]) -> None:
    content, kind, words = FAULTS[fault]
    refused(write(tmp_path, content), kind, words)


def test_key_that_changes_its_type_late(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match=r"line 1 and text on line 30,001"):
        open_sources([write(tmp_path, '{"a":1,"b":2}\n' * 30_000 + '{"a":"x","b":2}\n')])


def test_text_that_looks_like_a_key_is_no_repeated_key(tmp_path: Path) -> None:
    line = json.dumps({"a": 'say "x": y', "b": {"a": 1}})
    assert cells(open_sources([write(tmp_path, line + "\n")]))["a"].to_list() == ['say "x": y']


def test_long_integers_that_fit(tmp_path: Path) -> None:
    values = [2**63 - 1, -(2**63)]
    content = "".join(json.dumps({"a": value, "b": 1}) + "\n" for value in values)
    assert cells(open_sources([write(tmp_path, content)]))["a"].to_list() == values


@pytest.mark.parametrize("wrap", [gzip.compress, lambda text: b"\xef\xbb\xbf" + text, bytes])
def test_packed_or_marked(wrap: object, tmp_path: Path) -> None:
    content = wrap('{"a":"ï","b":1}\r\n{"a":"x","b":2}'.encode())  # type: ignore[operator]
    frame = cells(open_sources([write(tmp_path, content)]))
    assert frame.rows() == [("ï", 1), ("x", 2)]


def test_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a":"ï","b":1}\n'.encode("utf-16"))
    assert cells(open_sources([path], encoding="utf-16")).rows() == [("ï", 1)]


def test_names_are_kept_exactly(tmp_path: Path) -> None:
    names = ["a b", 'say "hi"', "two\nlines", "😀", "<script>", "=cmd()"]
    content = json.dumps(dict.fromkeys(names, 1)) + "\n"
    assert cells(open_sources([write(tmp_path, content)])).columns == names
