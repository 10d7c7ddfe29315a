"""NaN is a missing value, from whatever the rows come: pandas knows no difference, so that nobody else may make one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import ColumnError

COLUMNS: dict[str, list[float]] = {
    "age": [20.0, math.nan, 60.0, 45.0] * 10,
    "a": [0.1, 0.9, math.nan, 0.5] * 10,
    "b": [0.2, math.nan, math.nan, 0.7] * 10,
}


def _of_csv(folder: Path) -> Path:
    path = folder / "scores.csv"
    rows = zip(*COLUMNS.values(), strict=True)
    path.write_text("age,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    assert "nan" in path.read_text(encoding="utf-8")
    return path


def _of_parquet(folder: Path) -> Path:
    pl.DataFrame(COLUMNS).write_parquet(folder / "scores.parquet")
    return folder / "scores.parquet"


def _of_duckdb(folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    return connection.from_arrow(pl.DataFrame(COLUMNS).to_arrow())


SOURCES: list[Callable[[Path], Any]] = [
    *(lambda _: pl.DataFrame(COLUMNS), lambda _: pl.LazyFrame(COLUMNS), lambda _: pd.DataFrame(COLUMNS)),
    *(lambda _: pl.DataFrame(COLUMNS).to_arrow(), _of_csv, _of_parquet, _of_duckdb),
]
IDS = ["polars", "lazy", "pandas", "arrow", "csv", "parquet", "duckdb"]
MAPPING: dict[str, Any] = {"failure": "score<0.4", "models": ["a", "b"], "min_judged": 1}


@pytest.mark.parametrize("source", SOURCES, ids=IDS)
def test_a_score_that_is_no_number_was_not_given(source: Callable[[Path], Any], tmp_path: Path) -> None:
    audit = pc.audit(source(tmp_path), by=["age>=40"], **MAPPING)
    assert [(model.judged, model.failed, model.no_answer) for model in audit.models] == [(30, 10, 0), (20, 10, 0)]
    assert audit.record.judged_too_little == {0: 10}
    # A missing age is neither below 40 nor above.
    groups = {group.by["age>=40"]: group.individuals for group in audit.groups}
    assert groups == {"false": 10, "true": 10, None: 10}


@pytest.mark.parametrize("source", SOURCES, ids=IDS)
def test_it_is_no_answer_where_empty_cells_are(source: Callable[[Path], Any], tmp_path: Path) -> None:
    audit = pc.audit(source(tmp_path), no_answer_values=["null"], **MAPPING)
    assert [(model.judged, model.failed, model.no_answer) for model in audit.models] == [(40, 20, 10), (40, 30, 20)]


@pytest.mark.parametrize("of", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_the_value_of_a_long_table(of: Callable[[dict[str, list[Any]]], Any]) -> None:
    long = {"id": [*range(40)] * 2, "m": ["a"] * 40 + ["b"] * 40, "score": COLUMNS["a"] + COLUMNS["b"]}
    audit = pc.audit(of(long), id="id", long=True, model="m", value="score", failure="score<0.4", min_judged=1)
    assert [model.judged for model in audit.models] == [30, 20]


def test_it_cannot_be_named_as_an_answer() -> None:
    with pytest.raises(ColumnError, match="cannot be looked for") as caught:
        pc.audit(pl.DataFrame(COLUMNS), no_answer_values=["nan"], **MAPPING)
    assert "NaN is a missing value" in caught.value.hint
    assert "--no-answer-values null" in caught.value.hint
