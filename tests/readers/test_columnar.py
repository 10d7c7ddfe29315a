"""Parquet and Arrow IPC: read lazily as they are; damaged, cut off or unusable files are named."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import narwhals as nw
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyculture.errors import ColumnError, FileError, PolycultureError
from polyculture.readers import open_sources
from polyculture.readers.errors import FOREIGN, translate

FRAME = pl.DataFrame({"id": ["a", "b", "007"], "m": [1, 0, None], "x": [0.5, None, 1.0], "ok": [True, False, None]})


def write(folder: Path, form: str) -> Path:
    path = folder / "outcomes.bin"
    {"Parquet": FRAME.write_parquet, "Arrow IPC": FRAME.write_ipc, "Arrow IPC stream": FRAME.write_ipc_stream}[form](
        path
    )
    return path


FORMS = ["Parquet", "Arrow IPC", "Arrow IPC stream"]


@pytest.mark.parametrize("form", FORMS)
def test_read_as_it_is(form: str, tmp_path: Path) -> None:
    path = write(tmp_path, form)
    table = open_sources([path])
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    assert frame.equals(FRAME)
    assert frame.schema == FRAME.schema
    (record,) = table.inputs
    assert (record.format, record.rows, table.rows) == (form, 3, 3)
    assert record.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert record.bytes == path.stat().st_size


@pytest.mark.parametrize("form", FORMS)
def test_cut_off(form: str, tmp_path: Path) -> None:
    path = write(tmp_path, form)
    whole = path.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 9, len(whole) // 2, 16, 9):
        path.write_bytes(whole[:cut])
        if form == "Arrow IPC stream" and cut >= len(whole) - 9:
            continue  # the end mark of a stream may be missing
        with pytest.raises(FileError, match=r"damaged|cut off") as caught:
            open_sources([path])
        assert str(path) in str(caught.value)
        assert caught.value.hint


def test_damaged_parquet_footer(tmp_path: Path) -> None:
    path = write(tmp_path, "Parquet")
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[:-8] + b"\xff\xff\xff\x7f" + b"PAR1")
    with pytest.raises(FileError, match="damaged Parquet footer"):
        open_sources([path])
    path.write_bytes(whole[: -8 - size] + b"\xff" * size + whole[-8:])
    with pytest.raises(FileError, match=r"damaged or cut off: it starts as Parquet"):
        open_sources([path])


def test_damaged_page_shows_when_collected_and_is_translated(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.parquet"
    pl.DataFrame({"a": range(10_000), "b": range(10_000)}).write_parquet(path, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[20:400] = b"\xff" * 380
    path.write_bytes(whole)
    table = open_sources([path])
    with pytest.raises(nw.exceptions.ComputeError) as caught:
        table.frame.collect()
    error = translate(caught.value, table.inputs)
    assert isinstance(error, FileError)
    assert str(path) in str(error)
    assert "could not be read to its end" in str(error)


@pytest.mark.parametrize("form", ["Parquet", "Arrow IPC stream"])
def test_a_column_named_twice(form: str, tmp_path: Path) -> None:
    path = tmp_path / "twice"
    table = pa.table([[1], [2]], names=["a", "a"])
    if form == "Parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as sink:
            sink.write_table(table)
    with pytest.raises((ColumnError, FileError), match=r"same name|two columns have one name"):
        open_sources([path])


@pytest.mark.parametrize(
    ("frame", "kind", "words"),
    [
        (FRAME.clear(), FileError, "no rows"),
        (FRAME.select("id"), ColumnError, "only one column, 'id'"),
        (FRAME.rename({"m": ""}), ColumnError, "column 2 has no name"),
    ],
)
def test_unusable(frame: pl.DataFrame, kind: type[Exception], words: str, tmp_path: Path) -> None:
    path = tmp_path / "outcomes.parquet"
    frame.write_parquet(path)
    with pytest.raises(kind, match=words):
        open_sources([path])


def test_removed_before_it_is_collected(tmp_path: Path) -> None:
    path = write(tmp_path, "Parquet")
    table = open_sources([path])
    path.unlink()
    with pytest.raises(FOREIGN) as caught:
        table.frame.collect()
    assert "was removed while it was read" in str(translate(caught.value, table.inputs))


def test_translate_names_files_and_clips() -> None:
    from polyculture.audit.records import InputFile

    inputs = tuple(InputFile(name=f"part{i}.csv", format="CSV") for i in range(5))
    error = translate(pl.exceptions.ComputeError("bad \x1b[31m" + "x" * 500 + "\nmore"), inputs)
    assert "'part0.csv'" in str(error)
    assert "5 files" in str(error)
    assert len(str(error)) < 400
    assert "\x1b" not in str(error)
    assert "more" not in str(error)
    known = FileError("mine")
    assert translate(known, inputs) is known
    assert "memory" in str(translate(MemoryError(), inputs))
    assert isinstance(translate(KeyError("x"), ()), PolycultureError)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), form=st.sampled_from(FORMS))
def test_flipped_bytes_give_an_error_of_ours_or_a_table(data: st.DataObject, form: str, tmp_path: Path) -> None:
    path = write(tmp_path, form)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    # What is raised when the frame is collected goes through translate; anything else ends the test.
    with contextlib.suppress(PolycultureError):
        table = open_sources([path])
        with contextlib.suppress(*FOREIGN):
            table.frame.collect()
