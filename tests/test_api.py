"""What Python users call: sources of every kind, results as records and frames."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import polyculture as pc
from polyculture.errors import ColumnError, InputError, UsageError

FRAME = pl.DataFrame(
    {
        "id": list(range(200)),
        "one": [int(i % 4 == 0) for i in range(200)],
        "two": [int(i % 4 == 0 or i % 7 == 0) for i in range(200)],
        "sex": ["f" if i % 2 else "m" for i in range(200)],
    }
)
MAPPING = {"outcomes": "failed", "id": "id", "models": ["one", "two"], "by": ["sex"]}


def without_provenance(audit: pc.Audit) -> dict:
    said = json.loads(audit.json())
    del said["provenance"]
    return said


@pytest.fixture(scope="module")
def audit() -> pc.Audit:
    return pc.audit(FRAME, **MAPPING)


def test_every_kind_of_source_says_the_same(audit: pc.Audit, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.head(90).write_csv(tmp_path / "p1.csv")
    FRAME.tail(110).write_csv(tmp_path / "p2.csv")
    outcomes = pc.read(FRAME, **MAPPING)
    sources = [
        FRAME.lazy(),
        FRAME.to_arrow(),
        pd.DataFrame(FRAME.to_dict()),
        tmp_path / "a.parquet",
        str(tmp_path / "p*.csv"),
    ]
    sources += [[tmp_path / "p1.csv", tmp_path / "p2.csv"]]
    expected = without_provenance(audit)
    for source in sources:
        assert without_provenance(pc.audit(source, **MAPPING)) == expected, type(source)
    for source in (outcomes, pc.Tally.of(outcomes)):
        assert without_provenance(pc.audit(source)) == expected, type(source)
    relation = duckdb.from_arrow(FRAME.to_arrow())
    assert without_provenance(pc.audit(relation, **MAPPING)) == expected


def test_by_may_be_given_with_the_audit(audit: pc.Audit) -> None:
    outcomes = pc.read(FRAME, **{key: value for key, value in MAPPING.items() if key != "by"})
    assert pc.audit(outcomes).groups.frame().is_empty()
    assert pc.audit(outcomes, by=["sex"]).groups == audit.groups


def test_results_have_the_names_of_the_json(audit: pc.Audit) -> None:
    said = json.loads(audit.json())
    assert audit.systemic_failure.ratio.value == said["systemic_failure"]["ratio"]["value"]
    assert [model.name for model in audit.models] == [model["name"] for model in said["models"]]
    assert len(audit.profile) == 3
    assert audit.profile[-1].failed == 2
    assert audit.headline == said["headline"] == repr(audit)
    assert audit.provenance.failure_rule == "failed"
    for name in ("models", "profile", "patterns", "groups", "gaps", "pairs", "nulls"):
        assert len(getattr(audit, name)) == len(said[name]), name


def test_results_are_frozen(audit: pc.Audit) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.record = None  # type: ignore[misc, assignment]
    with pytest.raises(AttributeError):
        audit.systemic_failure.count = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        audit.models[0] = None  # type: ignore[index]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (FRAME, pl.DataFrame),
        (FRAME.lazy(), pl.DataFrame),
        (FRAME.to_arrow(), pa.Table),
        (pd.DataFrame(FRAME.to_dict()), pd.DataFrame),
    ],
    ids=["polars", "lazy", "pyarrow", "pandas"],
)
def test_frames_are_of_the_kind_that_was_given(source: object, kind: type) -> None:
    audit = pc.audit(source, **MAPPING)
    assert isinstance(audit.models.frame(), kind)
    assert isinstance(audit.frame("group_models"), kind)
    assert isinstance(audit.individuals(), kind)


def test_a_statistic_becomes_five_columns(audit: pc.Audit) -> None:
    columns = audit.models.frame().columns
    for end in ("", "_low", "_high", "_method", "_reason"):
        assert f"failure_rate{end}" in columns
    assert audit.outcomes.frame()["outcome"].to_list() == [
        "systemic failure",
        "consistent success",
        "homogeneous outcomes",
    ]


def test_an_unknown_table_is_named(audit: pc.Audit) -> None:
    with pytest.raises(UsageError, match="Did you mean 'models'"):
        audit.frame("modles")


def test_individuals_are_those_whom_all_failed(audit: pc.Audit) -> None:
    found = audit.individuals()
    assert found["id"].to_list() == [i for i in range(200) if i % 4 == 0]
    assert found.height == audit.systemic_failure.count
    assert {"one", "two", "sex"} <= set(found.columns)


def test_a_tally_lists_nobody() -> None:
    audit = pc.audit(pc.Tally.of(pc.read(FRAME, **MAPPING)))
    with pytest.raises(UsageError, match="holds no rows"):
        audit.individuals()


def test_files_are_written(audit: pc.Audit, tmp_path: Path) -> None:
    assert audit.report(tmp_path / "a.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert audit.json(tmp_path / "a.json") == (tmp_path / "a.json").read_text(encoding="utf-8")
    assert (audit.tables(tmp_path / "t") / "models.csv").exists()


def test_notebooks_get_html(audit: pc.Audit) -> None:
    assert "<" in audit._repr_html_()
    assert "<table" in audit.models._repr_html_()


def test_the_map_file_works_in_python(audit: pc.Audit, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('outcomes = "failed"\nid = "id"\nmodels = ["one", "two"]\nby = ["id"]\n')
    assert without_provenance(pc.audit(FRAME, map=tmp_path / "m.toml", by=["sex"])) == without_provenance(audit)


def test_bundled_outcomes_as_a_table_and_by_address() -> None:
    table = pc.datasets.hapi("waimai")
    assert without_provenance(pc.audit(table)) == without_provenance(pc.audit("hapi:WAIMAI"))
    assert pc.read(table).noun == "reviews"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pc.audit(3, outcomes="failed"), "no frame"),
        (lambda: pc.audit([]), "empty list"),
        (lambda: pc.audit([FRAME]), "list of paths"),
        (lambda: pc.audit(FRAME, outcomes="failed", by="sex"), "Give a list"),
        (lambda: pc.audit(FRAME, outcomes="failed", encoding="latin-1"), "Only files"),
        (lambda: pc.audit(FRAME, outcomes="failed", min_cell=0), "min_cell=0"),
        (lambda: pc.audit(FRAME, outcomes="failed", seed=-1), "seed=-1"),
        (lambda: pc.audit(pc.read(FRAME, **MAPPING), map="x.toml"), "read()"),
        (lambda: pc.audit(pc.Tally.of(pc.read(FRAME, **MAPPING)), by=["sex"]), "A Tally says already"),
    ],
)
def test_wrong_calls_say_what_to_do(call: object, says: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)


def test_a_file_that_goes_away_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    FRAME.write_parquet(path)
    outcomes = pc.read(path, **MAPPING)
    path.unlink()
    with pytest.raises(InputError, match="removed while it was read"):
        pc.audit(outcomes)


def test_a_misspelt_keyword_is_named_with_the_nearest() -> None:
    frame = pl.DataFrame({"a": [1, 0], "b": [1, 1]})
    with pytest.raises(UsageError, match=r"no keyword 'modles'.*Did you mean 'models'"):
        pc.audit(frame, outcomes="failed", modles=["a", "b"])
    with pytest.raises(ColumnError, match=r"Give a list: models=\['a', 'b'\]"):
        pc.audit(frame, outcomes="failed", models="a,b")
