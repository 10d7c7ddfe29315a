"""The table of components as CSV, TOML, mapping and frame; each fault is refused with its place and its mend."""

from __future__ import annotations

import hashlib

import pandas as pd
import polars as pl
import pytest

from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError
from polyculture.readers.components import read_components

ROWS = {"a": {"vendor": "x, y", "size": "7"}, "b": {"vendor": "z", "size": ""}}


def write(tmp_path, content, name="parts.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_csv(tmp_path):
    content = '\ufeffmodel, vendor,size\r\na,"x, y",7\r\n\r\nb,z,\r\n'
    path = write(tmp_path, content)
    found = read_components(path)
    assert found.rows == ROWS
    assert (found.source, found.text) == (str(path), True)
    assert found.sha256 == hashlib.sha256(content.encode()).hexdigest()


def test_a_toml(tmp_path):
    path = write(tmp_path, '[models."a.b"]\nvendor = "x"\nsize = 7\nreleased = 2024-05-13\n[models.c]\n', "p.toml")
    found = read_components(str(path))
    released = found.rows["a.b"]["released"]
    assert (found.rows["a.b"]["size"], released.isoformat(), found.rows["c"], found.text) == (
        7,
        "2024-05-13",
        {},
        False,
    )


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, lambda table: pl.DataFrame(table).lazy()])
def test_a_frame_and_a_mapping(make):
    found = read_components(make({"vendor": ["x", None], "model": ["a", "b"], "size": [7.0, 8.0]}))
    assert found.rows["a"] == {"vendor": "x", "size": 7.0}
    assert read_components({"a": {"vendor": "x"}}).rows == {"a": {"vendor": "x"}}


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        ("name,vendor\na,x\n", ColumnError, "the first column must be 'model', and is 'name'. Write a header"),
        ("", ColumnError, "the first column must be 'model', and is ''"),
        ("model,vendor,vendor\n", ColumnError, "the column 'vendor' stands there twice"),
        ("model,,x\n", ColumnError, "a column has no name"),
        ("model,vendor\na,x,y\n", ValueInDataError, "line 2 has 3 cells, and the header 2. Put text"),
        ("model,vendor\na,x\na,y\n", ValueInDataError, "line 3: the model 'a' stands there twice"),
        ("model,vendor\n,x\n", ValueInDataError, "line 2 names no model"),
        ('model,vendor\na,"x\n', FileError, "unexpected end of data"),
        (b"model,vendor\na,\xff\n", FileError, "is not UTF-8 (byte 15). Save it as UTF-8."),
    ],
)
def test_what_a_csv_may_not_hold(tmp_path, content, error, says):
    with pytest.raises(error) as caught:
        read_components(write(tmp_path, content))
    assert says in str(caught.value)
    assert "parts.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        ("[model.a]\nvendor = 'x'\n", FileError, "has no table [models]. Did you mean 'model'?"),
        ("models = 3\n", FileError, "has no table [models]"),
        ("[models.a\n", FileError, "is no TOML"),
        ("[models]\na = 'x'\n", UsageError, "the entry 'a' is no model with its components"),
    ],
)
def test_what_a_toml_may_not_hold(tmp_path, content, error, says):
    with pytest.raises(error) as caught:
        read_components(write(tmp_path, content, "parts.toml"))
    assert says in str(caught.value)


def test_what_is_no_table():
    for source, says in (
        ({1: {"vendor": "x"}}, "the entry 1 is no model"),
        ({"a": {1: "x"}}, "'a' has the component 1"),
        (7, "A int is no table of components"),
    ):
        with pytest.raises(UsageError, match=says):
            read_components(source)
    with pytest.raises(ColumnError, match=r"has no column 'model'. Did you mean 'Model'"):
        read_components(pl.DataFrame({"Model": ["a"], "vendor": ["x"]}))
    with pytest.raises(ValueInDataError, match="Row 2 of the table of components names no model"):
        read_components(pl.DataFrame({"model": ["a", None], "vendor": ["x", "y"]}))
    with pytest.raises(ValueInDataError, match=r"Row 2.*'a' stands there twice"):
        read_components(pl.DataFrame({"model": ["a", "a"], "vendor": ["x", "y"]}))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileError, match="There is no file"):
        read_components(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a folder"):
        read_components(tmp_path)
