"""What the user may name, and how several files become one table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from polyculture.errors import ColumnError, FileError, UsageError
from polyculture.readers import Table, open_sources


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def cells(table: Table) -> pl.DataFrame:
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    return frame


def test_several_files_and_globs_in_order(tmp_path: Path) -> None:
    write(tmp_path, "b1.csv", "id,m\n3,1\n")
    write(tmp_path, "b2.csv", "m,id\n0,4\n")
    first = write(tmp_path, "a.csv", "id,m\n1,1\n2,0\n")
    table = open_sources([first, str(tmp_path / "b*.csv")])
    assert cells(table).rows() == [(1, 1), (2, 0), (3, 1), (4, 0)]
    assert [Path(item.name).name for item in table.inputs] == ["a.csv", "b1.csv", "b2.csv"]
    assert [item.rows for item in table.inputs] == [2, 1, 1]
    assert table.rows == 4


def test_files_of_several_formats(tmp_path: Path) -> None:
    first = write(tmp_path, "a.csv", "id,m\na,1\n")
    second = write(tmp_path, "b.jsonl", '{"id":"b","m":0}\n')
    pl.DataFrame({"m": [1], "id": ["c"]}).write_parquet(tmp_path / "c.parquet")
    table = open_sources([first, second, tmp_path / "c.parquet"])
    assert cells(table).rows() == [("a", 1), ("b", 0), ("c", 1)]


def test_parts_have_the_types_of_the_whole(tmp_path: Path) -> None:
    rows = ["100,1,", "200,0,", "007,0.5,x"]
    whole = cells(open_sources([write(tmp_path, "whole.csv", "id,m,g\n" + "\n".join(rows) + "\n")]))
    for i, row in enumerate(rows):
        write(tmp_path, f"part{i}.csv", f"id,m,g\n{row}\n")
    parts = open_sources([tmp_path / "part*.csv"])
    assert cells(parts).equals(whole)
    assert whole.schema == {"id": pl.String(), "m": pl.Float64(), "g": pl.String()}
    assert parts.empty == ()


def test_long_integers_beside_decimals_of_another_file_stay_exact(tmp_path: Path) -> None:
    one = write(tmp_path, "1.csv", "id,m\n9007199254740993,1\n")
    two = write(tmp_path, "2.csv", "id,m\n0.5,1\n")
    assert cells(open_sources([one, two]))["id"].to_list() == ["9007199254740993", "0.5"]


def test_a_column_that_is_empty_in_all_files(tmp_path: Path) -> None:
    one = write(tmp_path, "1.csv", "id,m,n\n1,,\n")
    two = write(tmp_path, "2.csv", "id,m,n\n2,,5\n")
    assert open_sources([one, two]).empty == ("m",)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("id,m\n1,1\n", "id,n\n1,1\n", ["lacks 'm'", "has 'n' besides"]),
        ("id,m\n1,1\n", "id,m,n\n1,1,1\n", ["has 'n' besides"]),
        ("id,m\n1,1\n", "id,m\n2,x\n", ["'m'", "numbers", "text"]),
        ("id,m\n1,true\n", "id,m\n2,0\n", ["'m'", "true/false", "numbers"]),
    ],
)
def test_files_that_do_not_agree(first: str, second: str, words: list[str], tmp_path: Path) -> None:
    one, two = write(tmp_path, "one.csv", first), write(tmp_path, "two.csv", second)
    with pytest.raises(ColumnError) as caught:
        open_sources([one, two])
    for word in [str(one), str(two), *words]:
        assert word in str(caught.value)


def test_typed_files_that_do_not_agree(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1], "m": [1]}).write_parquet(tmp_path / "one.parquet")
    pl.DataFrame({"id": [1], "m": ["1"]}).write_parquet(tmp_path / "two.parquet")
    with pytest.raises(ColumnError, match=r"'m' is Int64 in '.*one.parquet' and String in '.*two.parquet'"):
        open_sources([tmp_path / "*.parquet"])


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "outcomes.csv", "id,m\n1,1\n")
    with pytest.raises(FileError, match=r"Did you mean 'outcomes.csv'"):
        open_sources([tmp_path / "outcome.csv"])
    with pytest.raises(FileError, match=r"folder .*oucomes' does not exist"):
        open_sources([tmp_path / "oucomes" / "x.csv"])


def test_globs(tmp_path: Path) -> None:
    write(tmp_path, "odd[1].csv", "id,m\n1,1\n")
    assert open_sources([tmp_path / "odd[1].csv"]).rows == 1
    write(tmp_path, "odd[2].jsonl", '{"id":1,"m":1}\n')
    write(tmp_path, "odd2.jsonl", '{"id":2,"m":0}\n')
    assert cells(open_sources([tmp_path / "odd[2].jsonl"])).rows() == [(1, 1)]
    pl.DataFrame({"id": [1], "m": [1]}).write_parquet(tmp_path / "odd[3].parquet")
    pl.DataFrame({"id": [2], "m": [1]}).write_parquet(tmp_path / "odd3.parquet")
    assert cells(open_sources([tmp_path / "odd[3].parquet"])).rows() == [(1, 1)]
    (tmp_path / "deep" / "er").mkdir(parents=True)
    write(tmp_path / "deep" / "er", "x.csv", "id,m\n1,1\n")
    assert open_sources([f"{tmp_path}/deep/**/*.csv"]).rows == 1
    with pytest.raises(FileError, match="matches nothing"):
        open_sources([tmp_path / "*.arrow"])
    with pytest.raises(FileError, match="matches only folders"):
        open_sources([tmp_path / "de*"])


def test_the_same_file_twice(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "id,m\n1,1\n")
    (tmp_path / "link.csv").symlink_to(path)
    for sources in ([path, path], [path, tmp_path / "*.csv"]):
        with pytest.raises(UsageError, match="more than once"):
            open_sources(sources)


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no files"):
        open_sources([tmp_path])
    path = write(tmp_path, "a.csv", "id,m\n1,1\n")
    with pytest.raises(FileError, match=r"no layout that is known.*\*\.csv"):
        open_sources([tmp_path])
    with pytest.raises(UsageError, match="together with other sources"):
        open_sources([path, tmp_path])


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.csv", "id,m\n1,1\n")

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything, so the refusal is made up
    with pytest.raises(FileError, match=r"permission denied.*chmod"):
        open_sources([path])


def test_no_ordinary_file() -> None:
    with pytest.raises(FileError, match="no ordinary file"):
        open_sources(["/dev/null"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04abc", "Excel"),
        (b"\x80\x04\x95abc", "pickle"),
        (b"\x93NUMPY\x01", "NumPy"),
        (b"BZh9abc", "bunzip2"),
        (b"\x28\xb5\x2f\xfdabc", "zstd"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_files_that_are_no_tables(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "outcomes.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        open_sources([path])


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_sources("hapi:fer+").noun == "face images"
    assert open_sources(["HAPI:WaiMai"]).rows == 8
    path = write(tmp_path, "a.csv", "id,m\n1,1\n")
    with pytest.raises(UsageError, match="together with other sources"):
        open_sources([path, "hapi:waimai"])
    with pytest.raises(UsageError, match="--encoding"):
        open_sources(["hapi:waimai"], encoding="utf-8")
    with pytest.raises(UsageError, match="Did you mean 'WAIMAI'"):
        open_sources(["hapi:waimay"])
    with pytest.raises(FileError, match="Did you mean 'hapi:waimai'"):
        open_sources(["hpi:waimai"])
    with pytest.raises(UsageError, match="nothing is fetched"):
        open_sources(["https://example.org/outcomes.csv"])
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "hapi:mine", "id,m\n1,1\n")
    assert open_sources(["hapi:mine"]).inputs[0].format == "CSV"


def test_no_source() -> None:
    with pytest.raises(UsageError, match="No source"):
        open_sources([])
    with pytest.raises(FileError, match="NUL"):
        open_sources(["a\0b"])
    for source in ("x" * 5000, "~nobody-of-this-name/x.csv"):
        with pytest.raises(FileError, match="no file"):
            open_sources([source])


def test_importing_readers_is_light() -> None:
    code = (
        "import sys, polyculture.readers, polyculture.datasets as d; d.listing();"
        "sys.exit(bool({'polars', 'numpy', 'narwhals'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
