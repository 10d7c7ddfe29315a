"""Values of keywords and options that cannot be used: refused by name, before anything is computed or written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.cli import main
from polyculture.errors import ColumnError, FileError, PolycultureError, UsageError

TABLE = pl.DataFrame({f"m{j}": [(i >> j) % 2 for i in range(64)] for j in range(4)})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kinds": 5}, "kinds=5"),
        ({"kinds": ["a=m0", "b=m1"]}, "names no kinds"),
        ({"kinds": ""}, "names no kinds"),
        ({"kinds": "\0"}, "cannot be read"),
        ({"kinds": "k" * 3000}, "cannot be read"),
        ({"kinds": {"a": ["m0"], "b": [1]}}, "kind 'b' is [1]"),
        ({"kinds": {"a": ["m0"], "b": None}}, "kind 'b' is None"),
        ({"kinds": {1: ["m0"], "b": ["m1"]}}, "the kind 1 has no name"),
        ({"kinds": {" ": ["m0"], "b": ["m1"]}}, "has no name"),
        ({"components": ""}, "has no name"),
        ({"components": "\0.csv"}, "cannot be read"),
        ({"components": {"m0": {"size": 10**400}, "m1": {"size": 1}}}, "cannot be compared"),
        ({"components": {"m0": {"": "x"}}}, "has the component ''"),
        ({"nulls": 3}, "nulls=3"),
        ({"nulls": ["rasch", 3]}, "are no names"),
        ({"nulls": "Rash"}, "Did you mean 'rasch'?"),
        ({"noun": 5}, "noun=5"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"min_cell": "a"}, "min_cell='a'"),
    ],
)
def test_an_audit_refuses_them(given: dict[str, Any], says: str) -> None:
    with pytest.raises(PolycultureError) as raised:
        pc.audit(TABLE, outcomes="failed", **given)
    assert says in str(raised.value)
    assert raised.value.hint


def test_components_of_numpy_and_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    numbers: dict[str, dict[str, Any]] = {
        "m0": {"size": np.int64(3)},
        "m1": {"size": np.float32(2)},
        "m2": {"size": pandas.NA},
    }
    found = pc.audit(TABLE, outcomes="failed", components=numbers).record.components
    assert found is not None
    days = pandas.to_datetime(["2020-01-01", None, "2021-01-01"])
    dated = pandas.DataFrame({"model": ["m0", "m1", "m2"], "released": days})
    plain: dict[str, dict[str, Any]] = {
        "m0": {"released": dt.date(2020, 1, 1)},
        "m1": {"released": None},
        "m2": {"released": dt.date(2021, 1, 1)},
    }
    one, other = (pc.audit(TABLE, outcomes="failed", components=table) for table in (dated, plain))
    assert one.record.components == other.record.components
    twice = pandas.DataFrame([["m0", "m1"]], columns=["model", "model"])
    with pytest.raises(ColumnError, match="cannot be read"):
        pc.audit(TABLE, outcomes="failed", components=twice)


def test_a_panel_takes_a_level_for_ratings_only_and_no_interval_of_a_census() -> None:
    with pytest.raises(UsageError, match="level='ordinal' is about ratings"):
        pc.panel(TABLE, outcomes="failed", level="ordinal")
    assert "alpha of this judge is undefined" in pc.panel(TABLE, models=["m0"]).sentence
    alpha = pc.panel(TABLE, census=True).record.alpha  # type: ignore[union-attr]
    sampled = pc.panel(TABLE).record.alpha  # type: ignore[union-attr]
    assert (alpha.value, alpha.low, alpha.high) == (sampled.value, None, None)
    assert sampled.low is not None
    assert "census" in str(alpha.reason)


@pytest.mark.parametrize("role", ["weight", "cluster"])
def test_alpha_leaves_no_weight_and_no_cluster_out_in_silence(role: str) -> None:
    named: Any = {role: "m3"}
    with pytest.raises(UsageError, match=f"the {role} 'm3' cannot be used"):
        pc.panel(TABLE, models=["m0", "m1", "m2"], **named)


@pytest.mark.parametrize("limits", [5, "", {"field": "seed", "at_most": 10**400}])
def test_limits_that_are_none(limits: Any) -> None:
    with pytest.raises((UsageError, FileError)) as raised:
        pc.check(pc.audit(TABLE, outcomes="failed"), limits)
    assert raised.value.hint


def test_a_reproduction_that_is_none() -> None:
    with pytest.raises(UsageError, match="There is no reproduction None"):
        pc.reproduce(None)  # type: ignore[arg-type]


def test_suspect_keys_are_of_single_items() -> None:
    table = pl.DataFrame({"id": [1, 2], "n": [2, 3], "key": ["x", "y"], "a": ["x", "z"], "b": ["y", "z"]})
    with pytest.raises(UsageError, match="a row stands for several here \\(count 'n'\\)"):
        pc.audit(table, id="id", count="n", label="key", models=["a", "b"], suspect_keys=True)


@pytest.mark.parametrize(
    ("command", "option", "content", "output"),
    [
        ("audit", "--map", 'outcomes = "failed"', "--json"),
        ("audit", "--kinds", 'a = "m0"\nb = "m1"', "--html"),
        ("audit", "--components", "model,vendor\nm0,x\nm1,y\n", "--json"),
        ("panel", "--map", 'outcomes = "failed"', "--json"),
        ("tally", "--map", 'outcomes = "failed"', "--output"),
    ],
)
def test_no_output_takes_the_place_of_a_file_that_an_option_names(
    command: str, option: str, content: str, output: str, tmp_path: Path
) -> None:
    source, named = tmp_path / "t.csv", tmp_path / "named.toml"
    if option == "--components":
        named = named.with_suffix(".csv")
    TABLE.write_csv(source)
    named.write_text(content)
    rest = [] if option == "--map" else ["--outcomes", "failed"]
    assert main([command, str(source), option, str(named), *rest, output, str(named), "--quiet"]) == 2
    assert named.read_text() == content


@pytest.mark.parametrize("text", ["kinds = 3", '"" = "m0"\nb = "m1"', 'a = "m0"\n[b]\nc = 1'])
def test_kinds_in_a_file_that_are_none(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, named = tmp_path / "t.csv", tmp_path / "k.toml"
    TABLE.write_csv(source)
    named.write_text(text)
    assert main(["audit", str(source), "--outcomes", "failed", "--kinds", str(named), "--quiet"]) == 2
    error = capsys.readouterr().err
    assert "k.toml: " in error
    assert "--kinds" in error


def test_a_bound_in_a_shell_is_named_with_its_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    pc.audit(TABLE, outcomes="failed").json(path)
    assert main(["check", str(path), "--at-most", "seed=5%"]) == 2
    error = capsys.readouterr().err
    assert "--at-most 'seed=5%'" in error
    assert "Write --at-most seed=0.05" in error


def test_no_folder_takes_the_place_of_a_source_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, table, own = (tmp_path / name for name in ("models.csv", "components.csv", "groups.csv"))
    TABLE.write_csv(source)
    table.write_text("model,vendor\nm0,x\nm1,x\nm2,y\n")
    own.write_text("somebody's own")
    before = source.read_text()
    command = ["audit", str(source), "--outcomes", "failed", "--quiet", "--tables", str(tmp_path)]
    assert main(command) == 2
    assert f"--tables would overwrite {str(source)!r}, which is a source" in capsys.readouterr().err
    assert source.read_text() == before
    renamed = source.rename(tmp_path / "decisions.csv")
    command[1] = str(renamed)
    assert main([*command, "--components", str(table)]) == 2
    assert "components.csv" in capsys.readouterr().err
    assert not (tmp_path / "profile.csv").exists()
    # A file that no earlier audit wrote stays; one that an earlier audit wrote goes with it.
    assert main(command) == 0
    assert own.read_text() == "somebody's own"
    assert main(command) == 0
    assert not own.exists()


def test_no_output_takes_the_place_of_a_source_that_a_pattern_or_a_folder_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.csv", "b.csv"):
        TABLE.write_csv(tmp_path / name)
    before = (tmp_path / "b.csv").read_text()
    for source, known in ((str(tmp_path / "*.csv"), "is a source"), (str(tmp_path), "is in a source")):
        assert main(["audit", source, "--outcomes", "failed", "--json", str(tmp_path / "b.csv"), "--quiet"]) == 2
        assert known in capsys.readouterr().err
    assert (tmp_path / "b.csv").read_text() == before


def test_a_folder_inside_one_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TABLE.write_csv(tmp_path / "t.csv")
    page, tables = tmp_path / "a.html", tmp_path / "new" / "deep"
    command = ["audit", str(tmp_path / "t.csv"), "--outcomes", "failed", "--quiet"]
    assert main([*command, "--html", str(page), "--tables", str(tables)]) == 2
    error = capsys.readouterr().err
    assert f"--tables: there is no folder {str(tables.parent)!r}" in error
    assert "mkdir" in error
    assert not page.exists()
