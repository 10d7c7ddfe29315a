"""`compare` as users call it: two sources, one table, versions side by side, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import ColumnError, UsageError
from polyculture.report.json import json_schema

Shell = Callable[..., Any]


def table(seed: int, rows: int = 200, names: tuple[str, ...] = ("a", "b", "c")) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(99).normal(0, 1.5, rows)
    rate = 1 / (1 + np.exp(-(hard[:, None] + np.linspace(-1.2, -0.6, len(names)) - 0.2 * seed)))
    failed = (rng.random(rate.shape) < rate).astype(int)
    columns = {name: failed[:, j] for j, name in enumerate(names)}
    return pl.DataFrame({"id": range(rows), **columns, "sex": ["f", "m"] * (rows // 2)})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = (tmp_path / "before.csv", tmp_path / "after.csv")
    for seed, path in enumerate(paths):
        table(seed).write_csv(path)
    return paths


OPTIONS = ("--id", "id", "--outcomes", "failed", "--models", "a,b,c")


def test_two_files_to_screen_html_json_and_tables(shell: Shell, files: tuple[Path, Path], tmp_path: Path) -> None:
    html, out, folder = tmp_path / "c.html", tmp_path / "c.json", tmp_path / "tables"
    done = shell("compare", *files, *OPTIONS, "--by", "sex", "--html", html, "--json", out, "--tables", folder)
    assert done.status == 0, done.err
    assert "failed by all 3 models" in done.out
    assert "Improvements that undid a systemic failure" in done.out
    record = json.loads(out.read_text())
    jsonschema.validate(record, json_schema("compare"))
    assert record["schema"] == "polyculture/compare/1"
    assert [len(model["by_others"]) for model in record["changes"][0]["models"]] == [6, 6, 6]
    assert len(record["provenance"]["inputs"]) == 2
    assert html.read_text().startswith("<!doctype html>")
    names = {path.stem for path in folder.iterdir()}
    assert {"changes", "models", "by_others", "undoing", "flow", "groups", "dictionary", "provenance"} <= names
    models = pl.read_csv(folder / "models.csv")
    assert models["error_difference"].to_list() == [
        model["error"]["difference"]["value"] for model in record["changes"][0]["models"]
    ]


def test_python_and_shell_say_the_same(shell: Shell, files: tuple[Path, Path]) -> None:
    done = shell("compare", *files, *OPTIONS, "--json", "-")
    found = pc.compare(*files, id="id", outcomes="failed", models=["a", "b", "c"])
    mine, theirs = json.loads(found.json()), json.loads(done.out)
    assert mine["changes"] == theirs["changes"]
    assert repr(found) == found.headline
    assert "Failed by all models" in found._repr_html_()
    assert len(found.models.frame()) == 3
    assert found.changes[0].matched == 200
    assert len(found.frame("flow")) > 3
    with pytest.raises(UsageError, match=r"no table 'modelz'.*'models'"):
        found.frame("modelz")


def test_halves_of_the_individuals_add_up(files: tuple[Path, Path]) -> None:
    whole = pc.compare(*files, id="id", outcomes="failed", models=["a", "b", "c"]).tally.changes[0]
    frames = [pl.read_csv(path) for path in files]
    halves = [
        pc.compare(
            *(frame.filter(keep) for frame in frames), id="id", outcomes="failed", models=["a", "b", "c"]
        ).tally.changes[0]
        for keep in (pl.col("id") < 70, pl.col("id") >= 70)
    ]
    assert (halves[0] + halves[1]).table.count.sum() == whole.table.count.sum()
    assert halves[0] + halves[1] == whole


def test_versions_named_differently_are_matched() -> None:
    before, after = table(0, names=("a-1", "b", "left")), table(1, names=("joined", "a-2", "b"))
    found = pc.compare(before, after, id="id", outcomes="failed", models="*-?", match={"a-1": "a-2"})
    assert [(one.name, one.name_after) for one in found.models] == [("a-1", "a-2")]
    every = pc.compare(before.drop("sex"), after.drop("sex"), id="id", outcomes="failed", match=["a-1=a-2"])
    change = every.record.changes[0]
    assert [(one.name, one.name_after) for one in change.models] == [("a-1", "a-2"), ("b", "b")]
    assert (change.models_left, change.models_joined) == (("left",), ("joined",))
    assert any("left" in note for note in change.notes)
    listed = pc.compare(before, after, id="id", outcomes="failed", models=["a-1", "b"], match="a-1=a-2")
    assert listed.record.changes[0].models_joined == ()


def test_a_model_that_is_named_and_in_one_snapshot_only_left_or_joined(tmp_path: Path) -> None:
    before, after = table(0, names=("a-1", "b", "left")), table(1, names=("joined", "a-2", "b"))
    named = ["a-1", "b", "left", "joined"]
    long = [
        one.unpivot(index="id", on=one.columns[1:4], variable_name="by", value_name="failed") for one in (before, after)
    ]
    before.write_csv(tmp_path / "before.csv")
    of_long = {"long": True, "model": "by", "value": "failed"}
    for sources, more in (((before, after), {}), ((tmp_path / "before.csv", after), {}), (long, of_long)):
        found = pc.compare(*sources, id="id", outcomes="failed", models=named, match={"a-1": "a-2"}, **more)
        change = found.record.changes[0]
        assert [(one.name, one.name_after) for one in change.models] == [("a-1", "a-2"), ("b", "b")]
        assert (change.models_left, change.models_joined) == (("left",), ("joined",))
        with pytest.raises(ColumnError, match="no model 'lefd' in either snapshot") as error:
            pc.compare(*sources, id="id", outcomes="failed", models=["a-1", "b", "lefd"], match={"a-1": "a-2"}, **more)
        assert "'left'" in error.value.hint


def test_models_are_matched_by_name_and_not_by_place() -> None:
    before, after = table(0), table(1).select("id", "c", "b", "a")
    found = pc.compare(before, after, id="id", outcomes="failed", models=["a", "b", "c"])
    both = before.join(after, on="id", suffix="_new")
    for model in found.models:
        assert model.failed_after == both[f"{model.name}_new"].sum()


def test_versions_side_by_side_in_one_table() -> None:
    one = table(0).rename({"a": "a-1", "b": "b-1"}).with_columns(table(1).select(pl.col("a").alias("a-2"), b_2="b"))
    found = pc.compare(one, outcomes="failed", match={"a-1": "a-2", "b-1": "b_2"})
    assert found.record.changes[0].matched == 200
    joined = pc.compare(
        one.select("id", a="a-1", b="b-1"), one.select("id", a="a-2", b="b_2"), id="id", outcomes="failed"
    )
    assert found.tally.changes[0].table.count.tolist() == joined.tally.changes[0].table.count.tolist()
    assert found.record.changes[0].systemic_failure == joined.record.changes[0].systemic_failure


def stacked(snapshots: int = 4) -> pl.DataFrame:
    return pl.concat([table(seed).with_columns(date=pl.lit(f"202{seed}")) for seed in range(snapshots)])


def test_a_snapshot_column_gives_changes_and_a_trend(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    stacked().write_csv(path)
    done = shell("compare", path, *OPTIONS, "--snapshot", "date")
    assert done.status == 0, done.err
    assert done.out.startswith("Over 4 snapshots, 2020 to 2023, the share of 200 individuals failed by all models")
    found = pc.compare(stacked(), id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert [(one.before, one.after) for one in found.changes] == [("2020", "2021"), ("2021", "2022"), ("2022", "2023")]
    assert [one.series for one in found.trend] == ["systemic failure", "a", "b", "c"]
    series = found.trend[1]
    assert [point.rate.value for point in series.points] == [table(seed)["a"].mean() for seed in range(4)]
    assert "simultaneous over 4 snapshots" in str(series.points[0].rate.method)
    two = pc.compare(stacked(2), id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert two.record.trend == ()
    assert "at least 3" in two.record.trend_reason
    alone = pc.compare(table(0), table(1), id="id", outcomes="failed", models=["a", "b", "c"])
    assert two.record.changes[0].models == alone.record.changes[0].models


def test_a_model_that_one_snapshot_lacks_joins_there() -> None:
    table_ = stacked(3).with_columns(c=pl.when(pl.col("date") == "2020").then(None).otherwise(pl.col("c")))
    found = pc.compare(table_, id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert found.changes[0].models_joined == ("c",)
    assert found.changes[1].models_joined == ()
    assert [one.series for one in found.trend] == ["systemic failure", "a", "b"]


def test_individuals_of_no_two_snapshots_alike_have_no_trend() -> None:
    parts = [table(seed).with_columns(date=pl.lit(str(seed))) for seed in range(3)]
    parts[0], parts[2] = parts[0].filter(pl.col("id") < 120), parts[2].filter(pl.col("id") >= 120)
    found = pc.compare(pl.concat(parts), id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert found.record.trend == ()
    assert found.record.trend_reason == "no individual is in all snapshots"


def test_rows_of_no_snapshot_are_counted() -> None:
    parts = [stacked(2), table(2).head(7).with_columns(date=pl.lit(None, pl.String))]
    found = pc.compare(pl.concat(parts), id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert found.record.notes == ("7 rows without a value in column 'date' belong to no snapshot and are left out.",)


def test_too_many_snapshots_are_refused() -> None:
    many = pl.concat([table(0).head(2).with_columns(date=pl.lit(day)) for day in range(61)])
    with pytest.raises(UsageError, match="over 60 snapshots"):
        pc.compare(many, id="id", outcomes="failed", models=["a", "b"], snapshot="date")


def test_outcomes_that_were_read_before() -> None:
    read = [pc.read(table(seed), id="id", outcomes="failed", models=["a", "b", "c"]) for seed in (0, 1)]
    found = pc.compare(*read)
    plain = pc.compare(table(0), table(1), id="id", outcomes="failed", models=["a", "b", "c"])
    assert found.record.changes == plain.record.changes


def test_long_tables_of_two_dates() -> None:
    long = stacked(2).unpivot(index=["id", "date"], on=["a", "b", "c"], variable_name="model", value_name="failed")
    names = {"id": "id", "long": True, "model": "model", "value": "failed", "outcomes": "failed"}
    found = pc.compare(long, snapshot="date", **names)  # type: ignore[arg-type]
    wide = pc.compare(stacked(2), id="id", outcomes="failed", models=["a", "b", "c"], snapshot="date")
    assert found.record.changes[0].systemic_failure == wide.record.changes[0].systemic_failure


def test_a_repeat_shows_the_churn_of_the_earlier_version(
    shell: Shell, files: tuple[Path, Path], tmp_path: Path
) -> None:
    again = tmp_path / "again.csv"
    table(0).with_columns(a=1 - pl.col("a")).write_csv(again)
    done = shell("compare", *files, *OPTIONS, "--repeat", again, "--json", "-")
    assert done.status == 0, done.err
    models = json.loads(done.out)["changes"][0]["models"]
    assert [model["churned"]["value"] for model in models] == [1.0, 0.0, 0.0]
    assert models[0]["undoing"][0]["churn"]["value"] is not None


def test_a_group_column_that_only_the_earlier_snapshot_has() -> None:
    found = pc.compare(table(0), table(1).drop("sex"), id="id", outcomes="failed", models=["a", "b"], by=["sex"])
    assert [group.by for group in found.record.changes[0].groups] == [{"sex": "f"}, {"sex": "m"}]


def test_llmdrift(data_file: Callable[[str], Path]) -> None:
    """GPT-4 went from always "prime" to mostly "not prime": its error rose, and nobody is failed by luck alone."""
    path, name = data_file("llm/llmdrift_prime_correct.csv"), "openaichat/gpt-"
    match = {f"{name}{one}-{old}": f"{name}{one}-0613" for one, old in (("3.5-turbo", "0301"), ("4", "0314"))}
    found = pc.compare(path, id="id", outcomes="correct", match=match, noun="items")
    raw = pl.read_csv(path)
    for model in found.models:
        old, new = 1 - raw[model.name], 1 - raw[model.name_after]
        assert (model.failed_before, model.failed_after, model.failed_both) == (old.sum(), new.sum(), (old * new).sum())
    four = found.models[1]
    assert four.error.difference.value == pytest.approx(0.338)
    assert four.undoing[0].verdict == "cannot tell"
    assert "fewer than the uniform baseline; of difficulty alone these data cannot tell" in four.undoing[0].sentence
    assert found.record.changes[0].undoing[0].verdict == "cannot tell"
    assert "rough with 2 models" in four.undoing[0].sentence


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str, str]] = {
    "the same frame": (("one", "one"), {}, "same snapshot is given twice", "--match"),
    "nothing tells snapshots apart": (("one",), {}, "no two snapshots", "--snapshot"),
    "one snapshot": (("dated",), {"snapshot": "date"}, "holds one snapshot", "BEFORE and AFTER"),
    "no column": (("dated",), {"snapshot": "dat"}, "no snapshot column 'dat'", "'date'"),
    "no id": (("one", "two"), {"id": None}, "matched by their id", "--id"),
    "match is no pair": (("one", "two"), {"match": "a"}, "no pair of names", "OLD=NEW"),
    "matched twice": (("one", "two"), {"match": ["a=b", "a=c"]}, "matched twice", "once"),
    "no such old name": (
        ("one", "two"),
        {"match": {"aa": "b"}, "models": None},
        "'aa', which is no model of the earlier",
        "'a'",
    ),
    "no such new name": (
        ("one", "two"),
        {"match": {"a": "bb"}, "models": None},
        "'bb', which is no model of the later",
        "'b'",
    ),
    "a version is both": (("one",), {"match": {"a": "b", "b": "c"}}, "earlier and as a later", "once"),
    "min_cell": (("one", "two"), {"min_cell": 0}, "min_cell=0", "1 or more"),
    "min_judged": (("one", "two"), {"min_judged": 9}, "only 3 models", "3 or less"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_calls_say_what_to_do(case: str) -> None:
    known = {"one": table(0), "two": table(1), "dated": table(0).with_columns(date=pl.lit("2020"))}
    names, more, message, hint = REFUSED[case]
    options = {"id": "id", "outcomes": "failed", "models": ["a", "b", "c"], **more}
    sources = [known[name] for name in names]
    if case == "the same frame":
        sources = [known["one"]] * 2
    with pytest.raises((UsageError, ColumnError)) as caught:
        pc.compare(*sources, **options)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_same_file_twice_is_refused_by_name_and_by_content(
    shell: Shell, files: tuple[Path, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.csv"
    copy.write_bytes(files[0].read_bytes())
    for other in (files[0], tmp_path / "." / "before.csv", copy):
        done = shell("compare", files[0], other, *OPTIONS)
        assert done.status == 2
        assert "same snapshot" in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--models", "a,b,x"], "no model 'x'"),
        (["--json", "before.csv"], "would overwrite"),
        (["--snapshot", "when"], "no snapshot column"),
        (["--idd", "id"], "Unknown option"),
    ],
)
def test_wrong_words_exit_with_2(
    shell: Shell, files: tuple[Path, Path], words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files[0].parent)
    done = shell("compare", "before.csv", "after.csv", "--id", "id", "--outcomes", "failed", *words)
    assert done.status == 2
    assert message in done.err


def test_three_sources_and_tallies_are_refused(shell: Shell, files: tuple[Path, Path], tmp_path: Path) -> None:
    assert shell("compare", *files, files[0]).status == 2
    saved = tmp_path / "a.tally"
    assert shell("tally", files[0], *OPTIONS, "-o", saved).status == 0
    done = shell("compare", saved, files[1], *OPTIONS)
    assert done.status == 2
    assert "no individuals that could be matched" in done.err


def test_no_common_individual_and_no_common_model_exit_with_2(shell: Shell, files: tuple[Path, Path]) -> None:
    table(1).with_columns(pl.col("id") + 1000).write_csv(files[1])
    done = shell("compare", *files, *OPTIONS)
    assert done.status == 2
    assert "No individual of" in done.err
    table(1, names=("x", "y", "z")).drop("sex").write_csv(files[1])
    done = shell("compare", *files, "--id", "id", "--outcomes", "failed")
    assert done.status == 2
    assert "No model is in both snapshots" in done.err
    assert "--match 'a=x'" in done.err


def test_a_file_that_cannot_be_written_is_said_before_anything_is_read(shell: Shell, files: tuple[Path, Path]) -> None:
    done = shell("compare", *files, *OPTIONS, "--html", files[0].parent / "none" / "c.html")
    assert done.status == 2
    assert "no folder" in done.err


def test_the_schema_is_printed(shell: Shell) -> None:
    done = shell("schema", "compare")
    assert json.loads(done.out)["$id"] == "polyculture/compare/1"
    assert shell("schema", "comparr").status == 2


def test_a_folder_of_the_hapi_layout_is_compared_by_year(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "sa" / "waimai"
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 120)
    folder.mkdir(parents=True)
    labels = [{"example_id": str(i), "true_label": int(label)} for i, label in enumerate(truth)]
    (folder / "labels.json").write_text(json.dumps(labels))
    said = {}
    for api in ("amazon", "baidu", "google"):
        for date in ("20-03-01", "21-02-28", "22-05-01"):
            answers = np.where(rng.random(120) < 0.3, 1 - truth, truth)
            said[api, date] = answers != truth
            (folder / api).mkdir(exist_ok=True)
            rows = [
                {"example_id": str(i), "predicted_label": int(one), "confidence": 0.9} for i, one in enumerate(answers)
            ]
            (folder / api / f"{date}.json").write_text(json.dumps(rows))
    done = shell("compare", folder, "--json", "-")
    assert done.status == 0, done.err
    record = json.loads(done.out)
    assert [(one["before"], one["after"]) for one in record["changes"]] == [("2020", "2021"), ("2021", "2022")]
    first = {model["name"]: model for model in record["changes"][0]["models"]}
    for api, model in first.items():
        assert model["failed_before"] == said[api, "20-03-01"].sum()
        assert model["failed_after"] == said[api, "21-02-28"].sum()
    assert record["trend"][0]["individuals"] == 120
