"""The command: options, the map file, outputs, exit status. Bad input stands in test_bad_input.py."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import polyculture as pc
from polyculture import mapfile
from polyculture.api import MappingOptions
from polyculture.commands.options import ColumnOptions
from polyculture.commands.progress import Stages
from polyculture.errors import FileError
from polyculture.outcomes import Mapping

Shell = Callable[..., object]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write 400 people judged by three models, with groups, weights and an unknown group."""
    rows = range(400)
    hard = [i % 5 == 0 for i in rows]
    said = {f"pred_{j}": ["b" if hard[i] or i % (7 + j) == 0 else "a" for i in rows] for j in range(3)}
    frame = pl.DataFrame(
        {
            "id": [f"p{i}" for i in rows],
            "true": ["a"] * 400,
            **said,
            "sex": [["f", "m", "unknown", None][i % 4] for i in rows],
            "age": [20 + i % 50 for i in rows],
            "w": [1.0 + i % 3 for i in rows],
        }
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


def audited(shell: Shell, *words: object) -> dict:
    done = shell("audit", *words, "--json", "-")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_the_shell_and_python_say_the_same(table: Path, shell: Shell) -> None:
    options = ("--label", "true", "--models", "pred_*", "--by", "sex,age>=40", "--id", "id")
    from_shell = audited(shell, table, *options)
    from_python = json.loads(pc.audit(table, label="true", models=["pred_*"], by=["sex", "age>=40"], id="id").json())
    for said in (from_shell, from_python):
        del said["provenance"]["command"]
    assert from_shell == from_python


def test_json_follows_its_schema(table: Path, shell: Shell) -> None:
    said = audited(shell, table, "--label", "true", "--models", "pred_*", "--by", "sex")
    schema = json.loads(shell("schema", "audit").out)
    jsonschema.validate(said, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**said, "individuals": "many"}, schema)


def test_the_command_stands_in_the_provenance(table: Path, shell: Shell) -> None:
    words = ["audit", str(table), "--label", "true", "--models", "pred_*", "--by", "sex,age>=40", "--json", "-"]
    said = json.loads(shell(*words).out)
    assert shlex.split(said["provenance"]["command"]) == ["polyculture", *words]
    assert said["provenance"]["inputs"][0]["sha256"] is not None
    assert said["provenance"]["version"] == pc.__version__


def test_the_same_seed_gives_the_same_bytes(table: Path, shell: Shell) -> None:
    words = ("audit", table, "--label", "true", "--models", "pred_*", "--by", "sex", "--json", "-")
    assert shell(*words).out == shell(*words).out
    assert shell(*words, "--seed", "7").out != shell(*words).out


def test_every_output_is_written(table: Path, shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done = shell(
        "audit", table, "--label", "true", "--models", "pred_*", "--id", "id", "--by", "sex",
        "--json", out / "a.json", "--html", out / "a.html", "--tables", out / "t", "--failed-by-all", out / "f.csv",
    )  # fmt: skip
    assert done.status == 0, done.err
    said = json.loads((out / "a.json").read_bytes())
    assert (out / "a.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    listed = pl.read_csv(out / "f.csv")
    assert listed.height == said["systemic_failure"]["count"]
    assert {"id", "true", "pred_0", "pred_1", "pred_2"} <= set(listed.columns)
    assert (listed["pred_0"] != listed["true"]).all()
    assert pl.read_csv(out / "t" / "models.csv")["name"].to_list()
    assert f"Written: {out / 'a.html'}" in done.out
    assert {path.name for path in out.iterdir()} == {"a.json", "a.html", "t", "f.csv"}
    assert "of 400 individuals" in done.out.replace("\n", " ")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_those_failed_by_all_in_every_format(ending: str, table: Path, shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / f"f.{ending}"
    words = ("--label", "true", "--models", "pred_*", "--id", "id", "--quiet", "--failed-by-all", path)
    assert shell("audit", table, *words).status == 0
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[ending]
    frame = pc.audit(table, label="true", models="pred_*", id="id").individuals()
    assert read(path)["id"].to_list() == frame["id"].to_list()


def test_a_list_of_another_ending_is_refused(table: Path, shell: Shell, tmp_path: Path) -> None:
    done = shell("audit", table, "--label", "true", "--failed-by-all", tmp_path / "f.xlsx")
    assert done.status == 2
    assert ".csv" in done.err


def test_quiet_is_quiet(table: Path, shell: Shell) -> None:
    done = shell("audit", table, "--label", "true", "--models", "pred_*", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_dry_run_says_what_was_understood_and_writes_nothing(table: Path, shell: Shell, tmp_path: Path) -> None:
    words = ("--label", "true", "--models", "pred_*", "--by", "sex,age>=40", "--dry-run")
    done = shell("audit", table, *words, "--html", tmp_path / "a.html")
    assert done.status == 0, done.err
    for line in (
        "rows in: 400",
        "rows used: 400",
        "models: 3 ('pred_0', 'pred_1', 'pred_2')",
        "label: 'true'",
        "counts as failure: misclassified, that is: the model's answer differs from the label",
        "group 'sex': 3 values, 25.0 % of rows missing, 25.0 % unknown or declined",
        "group 'age>=40': 2 values, 0.0 % of rows missing, 0.0 % unknown or declined",
    ):
        assert line in done.out.splitlines()
    assert not (tmp_path / "a.html").exists()


def test_dry_run_counts_what_is_left_out(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "o.csv"
    path.write_text("true,one,two\na,a,b\n,a,b\nb,,b\n")
    done = shell("audit", path, "--label", "true", "--dry-run")
    assert "left out, no label: 1" in done.out
    assert "rows used: 2" in done.out
    assert "empty cells of 'one': 1 (not judged)" in done.out


def test_by_may_be_repeated_and_hold_commas(table: Path, shell: Shell) -> None:
    once = audited(shell, table, "--label", "true", "--models", "pred_*", "--by", "sex,quantiles(age, 2)")
    twice = audited(shell, table, "--label", "true", "--models", "pred_*", "--by", "sex", "--by", "quantiles(age, 2)")
    assert once["groups"] == twice["groups"]
    assert {key for group in once["groups"] for key in group["by"]} == {"sex", "quantiles(age, 2)"}


class TestMapFile:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "map.toml"
        path.write_text(text)
        return path

    @pytest.mark.parametrize("head", ["", "[columns]\n"])
    def test_it_says_the_same_as_the_options(self, head: str, table: Path, shell: Shell, tmp_path: Path) -> None:
        path = self.write(tmp_path, f'{head}label = "true"\nmodels = "pred_*"\nby = ["sex"]\nmin-judged = 3\n')
        with_file = audited(shell, table, "--map", path)
        with_options = audited(
            shell, table, "--label", "true", "--models", "pred_*", "--by", "sex", "--min-judged", "3"
        )
        for said in (with_file, with_options):
            del said["provenance"]["command"]
        assert with_file == with_options
        assert with_file["provenance"]["min_judged"] == 3

    def test_the_command_line_wins(self, table: Path, shell: Shell, tmp_path: Path) -> None:
        path = self.write(tmp_path, 'label = "true"\nmodels = ["pred_0", "pred_1"]\nby = "sex"\n')
        said = audited(shell, table, "--map", path, "--models", "pred_1,pred_2")
        assert sorted(model["name"] for model in said["models"]) == ["pred_1", "pred_2"]
        assert said["groups"]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('lable = "true"\n', ("'lable'", "Did you mean 'label'?")),
            ('[colums]\nlabel = "true"\n', ("'colums'",)),
            ("label = 3\n", ("label is 3", "must be text")),
            ('long = "yes"\n', ("long", "true or false")),
            ('by = ["sex", 3]\n', ("by", "list of texts")),
            ("min_judged = true\n", ("min_judged", "whole number")),
            ('label = "a"\n[columns]\nlabel = "b"\n', ("'label'", "both")),
            ('failed-when = "a=1"\nfailed_when = "a=2"\n', ("twice",)),
            ("label = \n", ("no TOML", "line 1")),
            ("columns = 3\n", ("[columns]",)),
        ],
    )
    def test_mistakes_are_named(
        self, text: str, says: tuple[str, ...], table: Path, shell: Shell, tmp_path: Path
    ) -> None:
        done = shell("audit", table, "--map", self.write(tmp_path, text))
        assert done.status == 2
        assert "map.toml" in done.err
        for words in says:
            assert words in done.err

    def test_a_missing_file_a_folder_and_other_bytes(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="There is no file"):
            mapfile.read_map(tmp_path / "none.toml")
        with pytest.raises(FileError, match="is a folder"):
            mapfile.read_map(tmp_path)
        (tmp_path / "m.toml").write_bytes(b'label = "\xff"')
        with pytest.raises(FileError, match="is not UTF-8"):
            mapfile.read_map(tmp_path / "m.toml")


def test_one_word_means_the_same_everywhere() -> None:
    """The fields of Mapping, the long options, the keys of the map file and the keywords of Python."""
    words = {field.name for field in fields(Mapping)}
    assert words == set(mapfile.MAPPING_KEYS)
    assert words == set(MappingOptions.__annotations__)
    assert words == {field.name for field in fields(ColumnOptions)} - {"map", "encoding"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b , c", ("a", "b", "c")),
        ("race in [a, b],sex", ("race in [a, b]", "sex")),
        ("`a, b` = 1,c", ("`a, b` = 1", "c")),
        ("o'neill,b", ("o'neill", "b")),
        ("'a, b',c", ("a, b", "c")),
        ("name='x,y'", ("name='x,y'",)),
        ("", ()),
        ("a,,b,", ("a", "b")),
    ],
)
def test_lists_are_split_outside_quotes_and_brackets(text: str, parts: tuple[str, ...]) -> None:
    assert mapfile.split_list(text) == parts


def test_tallies_of_halves_give_the_audit_of_the_whole(table: Path, shell: Shell, tmp_path: Path) -> None:
    frame = pl.read_csv(table)
    halves = []
    for name, part in (("first", frame.head(150)), ("second", frame.tail(250))):
        part.write_csv(tmp_path / f"{name}.csv")
        words = ("--label", "true", "--models", "pred_*", "--by", "sex", "-o", tmp_path / f"{name}.tally")
        done = shell("tally", tmp_path / f"{name}.csv", *words)
        assert done.status == 0, done.err
        halves.append(tmp_path / f"{name}.tally")
    whole = audited(shell, table, "--label", "true", "--models", "pred_*", "--by", "sex")
    added = audited(shell, *halves)
    for said in (whole, added):
        del said["provenance"]
    assert added == whole


def test_a_tally_takes_no_options_about_columns(table: Path, shell: Shell, tmp_path: Path) -> None:
    shell("tally", table, "--label", "true", "--models", "pred_*", "-o", tmp_path / "t.tally")
    done = shell("audit", tmp_path / "t.tally", "--label", "true")
    assert done.status == 2
    assert "A Tally says already" in done.err
    done = shell("audit", tmp_path / "t.tally", "--failed-by-all", tmp_path / "f.csv")
    assert done.status == 2
    assert "holds no rows" in done.err
    done = shell("audit", tmp_path / "t.tally", table)
    assert done.status == 2
    assert "is a Tally and" in done.err


def test_a_tally_named_twice_is_refused_and_its_file_is_in_the_provenance(
    table: Path, shell: Shell, tmp_path: Path
) -> None:
    saved = tmp_path / "t.tally"
    shell("tally", table, "--label", "true", "--models", "pred_*", "-o", saved)
    done = shell("audit", saved, saved)
    assert done.status == 2
    assert "counted twice" in done.err
    inputs = audited(shell, saved)["provenance"]["inputs"]
    assert [(one["name"], one["format"], len(one["sha256"])) for one in inputs] == [(str(saved), "Tally", 64)]


def test_dry_run_says_what_is_in_a_tally(table: Path, shell: Shell, tmp_path: Path) -> None:
    saved = tmp_path / "t.tally"
    shell("tally", table, "--label", "true", "--models", "pred_*", "--by", "sex", "-o", saved)
    done = shell("audit", saved, "--dry-run")
    assert done.status == 0, done.err
    assert "group 'sex': 3 values, 25.0 % of rows missing, 25.0 % unknown or declined" in done.out.splitlines()
    assert "counts as failure: misclassified" in done.out.splitlines()


def test_a_map_names_what_stands_on_the_command_line(table: Path, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('noun = "applicants"\n')
    done = shell("audit", table, "--map", tmp_path / "m.toml")
    assert done.status == 2
    assert "--noun stands on the command line" in done.err


def test_what_was_read_otherwise_is_said(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("one,two,three\n" + "1,0,\n0,1,\n" * 20)
    warnings = audited(shell, path, "--outcomes", "failed", "--no-answer-values", "9")["provenance"]["warnings"]
    assert warnings == [
        "No cell holds '9', which was named as no answer.",
        "Column 'three' is empty and was not taken for a model.",
    ]


def test_tally_needs_a_place(table: Path, shell: Shell) -> None:
    done = shell("tally", table, "--label", "true")
    assert done.status == 2
    assert "--output" in done.err


def test_datasets_lists_what_is_bundled(shell: Shell) -> None:
    done = shell("datasets")
    assert done.status == 0
    for name in ("hapi:WAIMAI", "hapi:FER+", "german_credit"):
        assert name in done.out
    listed = json.loads(shell("datasets", "--json").out)
    assert len(listed) == 13
    assert next(one for one in listed if one["name"] == "hapi:WAIMAI")["individuals"] == 11_987


def test_a_bundled_name_in_any_case(shell: Shell) -> None:
    assert audited(shell, "hapi:Fer+")["individuals"] == 6358


def test_unknown_words(shell: Shell) -> None:
    done = shell("audt", "x")
    assert done.status == 2
    assert 'Did you mean "audit"?' in done.err
    done = shell("schema", "adit")
    assert done.status == 2
    assert "Did you mean 'audit'?" in done.err
    assert shell("audit").status == 2


def test_version(shell: Shell) -> None:
    assert shell("--version").out.strip() == pc.__version__


def test_a_fault_of_ours_is_no_fault_of_the_user(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret place")

    monkeypatch.setattr("polyculture.tally.Tally.of", broken)
    done = shell("audit", "hapi:waimai")
    assert done.status == 70
    assert "a fault of polyculture itself: ZeroDivisionError: a secret place" in done.err
    assert "POLYCULTURE_DEBUG=1" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("POLYCULTURE_DEBUG", "1")
    from polyculture.cli import main

    with pytest.raises(ZeroDivisionError):
        main(["audit", "hapi:waimai"])


def test_little_memory_is_said(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def starve(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("polyculture.tally.Tally.of", starve)
    done = shell("audit", "hapi:waimai")
    assert done.status == 2
    assert "not enough memory" in done.err


def test_stages_appear_only_after_a_while(capfd: pytest.CaptureFixture[str]) -> None:
    hasty = Stages(shown=True, delay=60)
    hasty("Reading")
    hasty.stop()
    assert capfd.readouterr().err == ""
    slow = Stages(shown=True, delay=0)
    slow("Counting [outcomes]")
    slow._timer.join()
    assert slow._status is not None
    assert str(slow._status.status) == "Counting [outcomes] ..."
    slow.stop()
    assert slow._status is None
    hidden = Stages(shown=False, delay=0)
    hidden("Reading")
    hidden.stop()
    assert capfd.readouterr().err == ""
