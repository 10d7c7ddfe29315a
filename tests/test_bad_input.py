"""Bad input through the real command: exit status, a message with place and mend, nothing half-written.

One case an entry of the list that the project promises to refuse well. Random files stand in test_fuzz.py,
outputs in test_bad_output.py.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import FileError, UsageError

Shell = Callable[..., Any]
LABELLED = "id,true,one,two\n1,a,a,b\n2,b,b,b\n3,a,b,b\n4,b,a,a\n"
LABEL = ("--label", "true", "--models", "one,two")


@dataclass(frozen=True)
class Case:
    """A file that must be refused, and the words that the message must hold."""

    content: bytes | str | pl.DataFrame | None
    says: tuple[str, ...]
    options: tuple[str, ...] = LABEL
    name: str = "outcomes.csv"
    says_not: tuple[str, ...] = field(default=())


def frame(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"true": ["a", "b", "a"], "one": ["a", "b", "b"], "two": ["b", "b", "a"], **columns})


def damaged_footer() -> bytes:
    import io

    buffer = io.BytesIO()
    frame().write_parquet(buffer)
    data = bytearray(buffer.getvalue())
    data[-300:-8] = bytes(292)
    return bytes(data)


CASES = {
    "no such file": Case(None, ("There is no file", "outcomes.csv")),
    "a misspelt file": Case(
        None, ("There is no file", "outcome.csv", "Did you mean 'outcomes.csv'?"), name="outcome.csv"
    ),
    "empty file": Case(b"", ("outcomes.csv", "empty", "Check how it was written")),
    "only a line break": Case("\n", ("outcomes.csv",)),
    "header only": Case("id,true,one,two\n", ("outcomes.csv", "no rows")),
    "one column": Case("true\na\nb\n", ("outcomes.csv", "one column"), ("--label", "true")),
    "a model column all null": Case(
        "true,one,two\na,a,\nb,b,\n", ("'two'", "nothing but missing values", "Leave it out with --models")
    ),
    "no column of the label's type": Case(
        "true,one,two\na,1,2\nb,2,3\n", ("label 'true'", "--models"), ("--label", "true")
    ),
    "label 1, prediction text": Case(
        frame(true=[1, 2, 1]), ("'one' holds text", "'true' holds numbers", '1 is not "1"', "cast"), name="o.parquet"
    ),
    "label text, prediction 1": Case(
        frame(one=[1, 2, 1]), ("'one' holds numbers", "'true' holds text", "cast"), name="o.parquet"
    ),
    "label True, prediction 'true'": Case(
        frame(true=[True, False, True], one=["true", "false", "true"], two=["true", "true", "true"]),
        ("'one' holds text", "'true' holds truth values", "cast"),
        name="o.parquet",
    ),
    "an id twice": Case(
        "id,true,one,two\n7,a,a,b\n7,b,b,b\n8,a,a,a\n", ("id repeated", "'id'", "7"), (*LABEL, "--id", "id")
    ),
    "an individual and model twice": Case(
        "id,model,said,true\n1,m,a,a\n1,m,b,a\n1,n,a,a\n2,m,a,a\n",
        ("individual and model repeated", "'id' and 'model'", "'m'"),
        ("--long", "--id", "id", "--model", "model", "--value", "said", "--label", "true"),
    ),
    "10,000 groups": Case(
        "true,one,two,town\n" + "".join(f"a,a,b,town {i}\n" for i in range(10_000)),
        ("'town'", "10,000 values", "quantiles(town, 4)", "--max-groups"),
        (*LABEL, "--by", "town"),
    ),
    "a negative weight": Case(
        "true,one,two,w\na,a,b,1.5\na,a,b,-2\n", ("'w'", "weight", "negative", "row 2"), (*LABEL, "--weight", "w")
    ),
    "a weight that is no number": Case(
        frame(w=[1.0, float("nan"), 2.0]), ("'w'", "weight", "row 2"), (*LABEL, "--weight", "w"), name="o.parquet"
    ),
    "an infinite weight": Case(
        frame(w=[1.0, 2.0, float("inf")]), ("'w'", "weight", "row 3"), (*LABEL, "--weight", "w"), name="o.parquet"
    ),
    "a weight in words": Case(
        "true,one,two,w\na,a,b,heavy\na,a,b,light\n", ("'w'", "holds text", "Cast"), (*LABEL, "--weight", "w")
    ),
    "a broken count": Case(
        "true,one,two,n\na,a,b,2.5\na,a,b,1\n", ("'n'", "count", "row 1", "whole number"), (*LABEL, "--count", "n")
    ),
    "an outcome that is neither 0 nor 1": Case(
        "one,two\n0,1\n2,1\n", ("'one'", "0, 1", "row 2", "--failure"), ("--outcomes", "failed", "--models", "one,two")
    ),
    "an infinite outcome": Case(
        pl.DataFrame({"one": [0.0, float("inf")], "two": [0.0, 1.0]}),
        ("'one'", "row 2"),
        ("--outcomes", "failed"),
        name="o.parquet",
    ),
    "a column named twice": Case(
        "true,one,one\na,a,b\nb,b,b\n",
        ("outcomes.csv", "more than one column is named 'one'", "its own name"),
        ("--label", "true", "--models", "one"),
    ),
    "too few fields": Case(
        "true,one,two\na,a,b\nb,b\na,a,a\n", ("outcomes.csv", "line 3", "2 fields", "3"), says_not=("line 2",)
    ),
    "too many fields": Case(
        "true,one,two\na,a,b\nb,b,b,b\na,a,a\n", ("outcomes.csv", "line 3", "4 fields", "3"), says_not=("line 2",)
    ),
    "latin-1": Case("true,one,two\né,é,è\nè,è,è\n".encode("latin-1"), ("outcomes.csv", "UTF-8", "--encoding")),
    "an unknown encoding": Case(
        LABELLED, ("'klingon' is no known encoding", "utf-8"), (*LABEL, "--encoding", "klingon")
    ),
    "cut off within quotes": Case('true,one,two\na,a,b\nb,b,"b\n', ("outcomes.csv", "quote", "line 3")),
    "cut off within a row": Case("true,one,two\na,a,b\nb,b", ("outcomes.csv", "line 3")),
    "cut off gzip": Case(
        __import__("gzip").compress(LABELLED.encode() * 1)[:-9], ("outcomes.csv.gz",), name="outcomes.csv.gz"
    ),
    "a damaged footer": Case(damaged_footer(), ("o.parquet", "damaged", "again"), name="o.parquet"),
    "a cut off Parquet file": Case(b"PAR1" + bytes(100), ("o.parquet", "cut off", "whole file"), name="o.parquet"),
    "an Excel workbook": Case(b"PK\x03\x04" + bytes(60), ("o.xlsx", "Excel", "CSV"), name="o.xlsx"),
    "a pickle": Case(b"\x80\x04" + bytes(60), ("o.pkl", "pickle", "never opened"), name="o.pkl"),
    "broken JSON Lines": Case('{"true": "a", "one": "a"}\n{"true": \n', ("o.jsonl", "line 2"), name="o.jsonl"),
    "no such label": Case(LABELLED, ("'treu'", "Did you mean 'true'?"), ("--label", "treu")),
    "no such model": Case(LABELLED, ("'onne'", "Did you mean 'one'?"), ("--label", "true", "--models", "onne,two")),
    "no such group": Case(LABELLED, ("'sex'", "The columns are"), (*LABEL, "--by", "sex")),
    "nothing says what failure is": Case(LABELLED, ("what counts as failure", "--label"), ()),
    "a misspelt rule": Case(LABELLED, ("'mislabelled'", "misclassified"), (*LABEL, "--failure", "mislabelled")),
    "a broken expression": Case(LABELLED, ("one=", "value"), ("--models", "one,two", "--failed-when", "one=")),
    "two rules": Case(
        LABELLED, ("failure", "outcomes"), (*LABEL, "--failure", "misclassified", "--outcomes", "failed")
    ),
    "a misspelt option": Case(LABELLED, ("--lable", "Did you mean --label?"), ("--lable", "true")),
    "a word for a number": Case(LABELLED, ("--min-cell", "many"), (*LABEL, "--min-cell", "many")),
    "a negative cell": Case(LABELLED, ("min_cell", "-1"), (*LABEL, "--min-cell=-1")),
    "a negative seed": Case(LABELLED, ("seed", "-1"), (*LABEL, "--seed=-1")),
    "an address on the network": Case(None, ("nothing is fetched",), name="https://example.org/x.csv"),
    "no such bundled data": Case(None, ("hapi:", "WAIMAI"), (), name="hapi:WAIMI"),
}


def write(case: Case, folder: Path) -> str:
    """Write the file of a case and return how the command names it."""
    if ":" in case.name:
        return case.name
    if case.name == "outcome.csv":
        (folder / "outcomes.csv").write_text(LABELLED)
    path = folder / case.name
    match case.content:
        case bytes():
            path.write_bytes(case.content)
        case str():
            path.write_text(case.content, encoding="utf-8")
        case pl.DataFrame():
            case.content.write_parquet(path)
    return str(path)


def outputs(folder: Path) -> list[str]:
    """Return options for every output, into a folder that must stay empty."""
    folder.mkdir()
    words = []
    for option, name in (("json", "a.json"), ("html", "a.html"), ("tables", "t"), ("failed-by-all", "f.csv")):
        words += [f"--{option}", str(folder / name)]
    return words


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bad_input_is_refused(case: Case, tmp_path: Path, shell: Callable[..., object]) -> None:
    source = write(case, tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    done = shell("audit", source, *case.options, *outputs(tmp_path / "out"))
    assert done.status == 2, done
    assert done.out == ""
    assert done.err.startswith("polyculture: error: ")
    assert "Traceback" not in done.err
    for words in case.says:
        assert words in done.err
    for words in case.says_not:
        assert words not in done.err
    assert list((tmp_path / "out").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == before | {"out"}


def test_an_encoding_that_is_named_is_read(tmp_path: Path, shell: Callable[..., object]) -> None:
    path = tmp_path / "o.csv"
    path.write_bytes("true,one,two\né,é,è\nè,è,è\n".encode("latin-1"))
    done = shell("audit", path, *LABEL, "--encoding", "latin-1", "--json", "-")
    assert done.status == 0, done.err


@pytest.mark.parametrize(("encoding", "options"), [("utf-8-sig", ()), ("utf-16", ("--encoding", "utf-16"))])
def test_a_byte_order_mark_is_no_part_of_the_first_name(
    encoding: str, options: tuple[str, ...], tmp_path: Path, shell: Callable[..., object]
) -> None:
    path = tmp_path / "o.csv"
    path.write_bytes("true,one,two\na,a,b\nb,b,b\n".encode(encoding))
    done = shell("audit", path, *LABEL, *options, "--dry-run")
    assert done.status == 0, done.err
    assert "label: 'true'" in done.out


def test_text_in_utf_16_is_refused_with_the_option_that_reads_it(tmp_path: Path, shell: Callable[..., object]) -> None:
    path = tmp_path / "o.csv"
    path.write_bytes(LABELLED.encode("utf-16"))
    done = shell("audit", path, *LABEL)
    assert done.status == 2
    assert "--encoding utf-16" in done.err


HOSTILE = (
    'a "quoted" name',
    "a, comma",
    "a\nnew line",
    "emoji 🦆 name",
    "<script>alert(1)</script>",
    "=cmd()",
    "'; DROP TABLE x; --",
    "{{ 7 * 7 }}",
    "[bold]markup[/bold]",
    "back`tick",
)


def test_hostile_names_and_values_are_data(tmp_path: Path, shell: Callable[..., object]) -> None:
    rows = 60
    columns: dict[str, list[object]] = {
        name: [i % 2, *[(i + j) % 3 == 0 for j in range(1, rows)]] for i, name in enumerate(HOSTILE)
    }
    table = pl.DataFrame({name: [int(bool(value)) for value in values] for name, values in columns.items()})
    table = table.with_columns(pl.Series("<b>group</b>", [HOSTILE[i % 2 + 4] for i in range(rows)]))
    path = tmp_path / "hostile.parquet"
    table.write_parquet(path)
    done = shell("audit", path, "--outcomes", "failed", "--by", "<b>group</b>", *outputs(tmp_path / "out"))
    assert done.status == 0, done.err
    page = (tmp_path / "out" / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<b>group" not in page
    assert "{{ 7 * 7 }}" in page
    with (tmp_path / "out" / "f.csv").open(encoding="utf-8", newline="") as file:
        assert set(HOSTILE) <= set(next(csv.reader(file)))
    assert "\x1b" not in done.out


def test_three_thousand_models(tmp_path: Path, shell: Callable[..., object]) -> None:
    columns = {f"m{j}": [int((i * j) % 7 == 0) for i in range(40)] for j in range(3000)}
    path = tmp_path / "wide.parquet"
    pl.DataFrame(columns).write_parquet(path)
    done = shell("audit", path, "--outcomes", "failed", "--json", tmp_path / "a.json", "--quiet")
    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "a.json").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("audit", ""), "Argument 2"),
        (("check", "", "--at-most", "individuals=3"), "Argument 2"),
        (("check", "a.json", "--limits", ""), "--limits"),
        (("compare", "hapi:waimai", "", "--id", "id"), "Argument 3"),
        (("compare", "hapi:waimai", "hapi:yelp", "--repeat", " "), "--repeat"),
        (("reproduce", "ecosystem-level", "--data", ""), "--data"),
        (("reproduce", "ecosystem-level", "--data="), "--data"),
        (("portfolio", "hapi:waimai", "--today", ""), "--today"),
        (("audit", "hapi:waimai", "--by", ""), "--by"),
        (("tally", "hapi:waimai", "-o", ""), "-o"),
    ],
)
def test_empty_text_is_no_name(shell: Shell, words: tuple[str, ...], named: str) -> None:
    """A variable of the shell that is not set: as a path it would be the current folder."""
    done = shell(*words)
    assert done.status == 2
    assert f"{named} needs a name or a value, not ''" in done.err
    assert "Traceback" not in done.err


def test_empty_text_may_stand_for_a_value_of_the_data(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("one,two\n1,0\n0,1\n")
    assert "needs a name" not in shell("audit", path, "--outcomes", "failed", "--pending", "").err


def test_empty_text_is_no_name_in_python() -> None:
    for call in (pc.audit, pc.read, pc.compare, pc.portfolio, lambda name: pc.slices(name, ["a"])):
        with pytest.raises(UsageError, match="A source has no name"):
            call("")
    for name in ("ecosystem-level", "law-school", "acs"):
        with pytest.raises(UsageError, match="data is empty text"):
            pc.reproduce(name, data="")
    with pytest.raises(FileError, match="has no name"):
        pc.check("", [{"field": "individuals", "at_least": 1}])
