"""Tables of R and pandas, whose first column holds the names of rows and has none itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import polyculture as pc
from polyculture.errors import UsageError

ROWS = ",label,a,b\n" + "".join(f"{i},{i % 2},{i % 3 % 2},{i // 2 % 2}\n" for i in range(40))


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    path = tmp_path / "indexed.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_the_index_is_no_model_although_it_has_the_type_of_the_label(indexed: Path) -> None:
    assert pc.read(indexed, label="label").models == ("a", "b")
    assert pc.read(indexed, label="label", models="*").models == ("a", "b")


def test_the_index_is_the_id_where_that_is_asked(indexed: Path) -> None:
    audit = pc.audit(indexed, label="label", id="row")
    wrong = [i for i in range(40) if i % 3 % 2 != i % 2 and i // 2 % 2 != i % 2]
    assert audit.individuals()["row"].to_list() == wrong


def test_the_index_is_a_model_only_where_it_is_named(indexed: Path) -> None:
    assert pc.read(indexed, label="label", models=["row", "a"]).models == ("row", "a")
    with pytest.raises(UsageError, match="named as a model and as something else"):
        pc.read(indexed, label="label", id="row", models=["row", "a"]).models  # noqa: B018 (looked up when asked)


def test_a_dry_run_says_that_there_is_an_index(indexed: Path, shell: Callable[..., object]) -> None:
    done = shell("audit", indexed, "--label", "label", "--dry-run")
    line = "index of rows: 'row', the first column, which has no name"
    assert f"{line} (not used; --id row takes it for the id)\n" in done.out
    done = shell("audit", indexed, "--label", "label", "--id", "row", "--dry-run")
    assert f"{line}\n" in done.out
    assert "id: 'row'\n" in done.out


def test_a_table_of_pandas_is_read_as_it_was_written(data_file: Callable[[str], Path]) -> None:
    outcomes = pc.read(data_file("law_school.csv.gz"), failure="score<0", models=["ZFYA", "UGPA"])
    assert outcomes.index == "row"
    assert pc.Tally.of(outcomes).individuals == 21791
