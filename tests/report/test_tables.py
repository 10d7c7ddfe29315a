from __future__ import annotations

import csv
from pathlib import Path

import pytest
import sample_records as samples

from polyculture.errors import OutputError
from polyculture.report import tables
from polyculture.report.tables import TABLES, guarded, write_tables


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", samples.ALL)
def test_every_column_of_every_table_is_in_the_dictionary(tmp_path: Path, name: str) -> None:
    paths = write_tables(samples.ALL[name](), tmp_path / "tables")
    told = {(row["table"], row["column"]): row for row in read(tmp_path / "tables" / "dictionary.csv")}
    for path in paths:
        assert path.stem in TABLES
        with path.open(encoding="utf-8", newline="") as file:
            for column in next(csv.reader(file)):
                row = told[path.stem, column]
                assert len(row["meaning"]) > 3
                assert row["unit"]


def test_numbers_are_whole(tmp_path: Path) -> None:
    record = samples.with_groups()
    write_tables(record, tmp_path / "t")
    rows = read(tmp_path / "t" / "models.csv")
    assert [row["name"] for row in rows] == ["Amazon", "Baidu", "Google"]
    assert float(rows[0]["failure_rate"]) == record.models[0].failure_rate.value
    assert float(rows[0]["failure_rate_low"]) == record.models[0].failure_rate.low
    groups = read(tmp_path / "t" / "groups.csv")
    assert [row["status"] for row in groups[:5]] == ["reported", "reported", "reported", "too few", "unknown"]
    assert groups[4]["by_age"] == "(missing)"
    assert groups[3]["systemic_failure_observed"] == ""
    homogenization = read(tmp_path / "t" / "group_homogenization.csv")
    assert [row["by"] for row in homogenization] == ["age | sex", "age", "sex"]
    assert homogenization[0]["reliable"] == "false"
    provenance = {row["field"]: row["value"] for row in read(tmp_path / "t" / "provenance.csv")}
    assert provenance["rows_read"] == "12004"
    assert provenance["input 1 sha256"] == record.provenance.inputs[0].sha256
    assert provenance["rows left out: no label"] == "11"


def test_all_tables_of_the_brief_are_written(tmp_path: Path) -> None:
    names = {path.stem for path in write_tables(samples.with_groups(), tmp_path / "t")}
    assert {"models", "profile", "outcomes", "groups", "group_models", "group_homogenization", "gaps"} <= names
    assert {"patterns", "pairs", "nulls", "provenance", "dictionary"} <= names


def test_no_cell_is_a_formula_or_moves_a_terminal(tmp_path: Path) -> None:
    for path in write_tables(samples.hostile(), tmp_path / "t"):
        content = path.read_text(encoding="utf-8")
        assert "\x1b" not in content
        assert "\u202e" not in content
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                for cell in row:
                    try:
                        float(cell)
                    except ValueError:
                        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")), (path.name, cell)
    assert read(tmp_path / "t" / "models.csv")[1]["name"] == "'=cmd()"


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1"])
def test_guard(text: str) -> None:
    assert guarded(text) == "'" + text


def test_the_dictionary_tells_of_the_guard(tmp_path: Path) -> None:
    write_tables(samples.waimai(), tmp_path / "t")
    assert "apostrophe" in (tmp_path / "t" / "dictionary.csv").read_text(encoding="utf-8")


def test_other_files_stay_and_old_tables_go(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write_tables(samples.with_groups(), folder)
    (folder / "mine.csv").write_text("mine")
    write_tables(samples.one_model(), folder)
    assert (folder / "mine.csv").read_text() == "mine"
    assert not (folder / "groups.csv").exists()
    assert len(read(folder / "models.csv")) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


def test_the_same_record_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_tables(samples.with_groups(), tmp_path / "a")
    second = write_tables(samples.with_groups(), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_an_interrupted_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupt(path: Path, data: bytes) -> None:
        calls.append(path)
        path.write_bytes(data)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(tables, "atomic_write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_tables(samples.waimai(), tmp_path / "t")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_parent_and_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"no folder .*Make it first"):
        write_tables(samples.waimai(), tmp_path / "no" / "t")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="it is a file"):
        write_tables(samples.waimai(), tmp_path / "file")
