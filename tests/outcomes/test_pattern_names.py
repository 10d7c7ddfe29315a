"""Columns whose names Polars reads as patterns: they may stand there, but never let other columns answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import ColumnError
from polyculture.outcomes import Mapping, Outcomes
from polyculture.readers import open_sources

NAMES = ["*", "^a.*$", "^$"]
CSV = '"{}",ab,ac,who\n1,0,1.5,x\n1,1,2.5,y\n0,1,0.5,z\n'


@pytest.mark.parametrize("name", NAMES)
def test_a_file_keeps_each_cell_in_its_own_column(tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    first.write_text(CSV.format(name))
    second.write_text(f"ab,ac,who,{name}\n0,1.5,x,7.5\n")
    frame = open_sources([first]).frame.collect().to_native()
    assert frame.to_dict(as_series=False) == {
        name: [1, 1, 0],
        "ab": [0, 1, 1],
        "ac": [1.5, 2.5, 0.5],
        "who": ["x", "y", "z"],
    }
    both = open_sources([first, second]).frame.collect().to_native()
    assert both[name].to_list() == [1.0, 1.0, 0.0, 7.5]
    assert both["ab"].to_list() == [0, 1, 1, 0]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_that_nothing_is_asked_of_may_have_such_a_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "one.csv"
    path.write_text(CSV.format(name))
    found = pc.audit(path, models=["ab"], outcomes="failed", by=["who"], min_judged=1)
    assert [(one.name, one.failed) for one in found.record.models] == [("ab", 2)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["polars", "pandas", "duckdb"])
@pytest.mark.parametrize(
    "mapping",
    [
        {"outcomes": "failed"},
        {"outcomes": "failed", "models": ["{}", "ab"]},
        {"outcomes": "failed", "models": ["ab", "ac"], "by": ["{}"]},
        {"outcomes": "failed", "models": ["ab", "ac"], "by": ["quantiles({}, 2)"]},
        {"label": "{}", "models": ["ab", "ac"]},
        {"outcomes": "failed", "models": ["ab", "ac"], "id": "{}"},
        {"outcomes": "failed", "models": ["ab", "ac"], "weight": "{}"},
        {"outcomes": "failed", "models": ["ab", "ac"], "snapshot": "{}=1"},
        {"failed_when": "`{}` = 1 and value = 1", "models": ["ab", "ac"]},
        {"failure": "decision=1"},
        {"long": True, "id": "ab", "model": "{}", "value": "ac", "outcomes": "failed"},
    ],
)
def test_a_column_in_use_is_refused_by_name(name: str, kind: str, mapping: dict[str, Any]) -> None:
    table = pl.DataFrame({name: [1, 1, 0], "ab": [0, 1, 1], "ac": [1, 1, 0]})
    frame: Any = table if kind == "polars" else table.to_pandas()
    if kind == "duckdb":
        frame = pytest.importorskip("duckdb").from_df(frame)
    given = {key: _filled(value, name) for key, value in mapping.items()}
    with pytest.raises(ColumnError, match="stands for other columns") as raised:
        assert Outcomes(frame, Mapping(**given)).models
    assert repr(name) in raised.value.message
    assert "--models" in raised.value.hint


def _filled(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_filled(one, name) for one in value]
    return value.format(name) if isinstance(value, str) else value


def test_a_float_column_of_such_a_name_does_not_touch_the_others() -> None:
    table = pl.DataFrame({"*": [0.5, float("nan"), 1.0], "a": [1, 0, 1], "b": ["x", "y", "x"]})
    outcomes = Outcomes(table, Mapping(outcomes="failed", models=("a",), by=("b",)))
    assert nw.to_native(outcomes.frame).collect()["b"].to_list() == ["x", "y", "x"]


def test_models_of_a_long_table_may_be_called_so(tmp_path: Path) -> None:
    rows = [(i, model, flag) for i in range(4) for model, flag in (("*", "=1"), ("^a.*$", "0"), ("ab", "=1"))]
    table = pl.DataFrame(rows, schema=["id", "model", "value"], orient="row")
    found = pc.audit(table, long=True, id="id", model="model", value="value", failure="decision==1", min_judged=1)
    assert {one.name: one.failed for one in found.record.models} == {"*": 4, "^a.*$": 0, "ab": 4}
    only = table.filter(pl.col("model") != "^a.*$")
    found = pc.audit(only, long=True, id="id", model="model", value="value", failure="decision==1")
    found.list_failed_by_all(tmp_path / "all.csv")
    listed = pl.read_csv(tmp_path / "all.csv")
    assert listed.columns == ["id", "*", "ab"]
    assert listed["*"].to_list() == ["'=1"] * 4
