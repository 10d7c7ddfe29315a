"""Slices as users ask for them: in an audit, by themselves, in the shell, on the page, in the tables."""

from __future__ import annotations

import csv
import json

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

import polyculture as pc
from polyculture.errors import UsageError
from polyculture.report.html import html
from polyculture.report.json import json_schema


def table(n=3000, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    town, age = rng.choice(["x", "<y>", "z"], n), rng.integers(18, 80, n)
    hard = (town == "<y>") & (age > 55) & (rng.random(n) < share)
    failed = (rng.random((n, 3)) < 0.25) | hard[:, None]
    return pl.DataFrame({"id": np.arange(n), "town": town, "age": age}).with_columns(
        **{f"m{j}": failed[:, j].astype(int) for j in range(3)}
    )


MAPPING = {"outcomes": "failed", "models": "m*", "id": "id"}


@pytest.fixture(scope="module")
def audit():
    return pc.audit(table(), slices=["town", "age"], noun="applicants", **MAPPING)


def test_an_audit_says_what_the_search_alone_says(audit):
    alone = pc.slices(table(), ["town", "age"], noun="applicants", **MAPPING)
    assert audit.record.slices == alone.record
    assert repr(alone).startswith("Of ")
    assert "town = <y>" in alone.record.sentence
    assert alone.record.slices[0].confirmed
    assert len(alone.frame()) == len(alone.record.slices)
    assert json.loads(alone.json())["confirmed"] == alone.record.confirmed
    assert pc.audit(table(), **MAPPING).record.slices is None


def test_all_takes_what_is_named_for_nothing_else(audit):
    assert pc.slices(table(), noun="applicants", **MAPPING).record == audit.record.slices
    assert audit.record.slices.columns == ("town", "age")


def test_json_holds_to_its_schema(audit):
    said = json.loads(audit.json())
    Draft202012Validator(json_schema()).validate(said)
    assert said["slices"]["slices"][0]["conditions"][0].startswith("town")


def test_the_page_names_the_slice_escaped(audit):
    page = html(audit.record)
    section = page[page.index('<section id="slices"') :].split("</section>")[0]
    assert "Who is failed" in section
    assert "&lt;y&gt;" in section
    assert "<y>" not in section
    assert "<svg " in section
    assert "against the rest of" in section
    assert "Holm" in section
    assert "&lt;y&gt;" in pc.slices(table(), ["town"], **MAPPING)._repr_html_()


def test_a_page_without_a_confirmed_slice_says_so():
    found = pc.audit(table(share=0.0), slices=["town", "age"], **MAPPING)
    assert "none has more excess systemic failure" in found.record.slices.sentence
    page = html(found.record)
    assert "none has more excess systemic failure" in page


def test_tables_have_a_row_a_slice_and_a_meaning_a_column(audit, tmp_path):
    folder = audit.tables(tmp_path / "t")
    told = {
        (row["table"], row["column"]): row
        for row in csv.DictReader((folder / "dictionary.csv").read_text(encoding="utf-8").splitlines())
    }
    for name in ("slices", "slice_parents"):
        rows = list(csv.DictReader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
        assert rows
        assert rows[0]["slice"] == "1"
        for column in rows[0]:
            assert told[name, column]["unit"], column
    assert audit.frame("slices")["confirmed"].to_list()[0] is True


def test_the_shell_prints_the_slice(shell, tmp_path):
    table().write_csv(tmp_path / "a.csv")
    words = ["audit", tmp_path / "a.csv", "--outcomes", "failed", "--models", "m*", "--id", "id"]
    done = shell(*words, "--slices", "town,age")
    assert done.status == 0
    assert "Slices, on those not searched" in done.out
    assert "town = <y> and age over" in " ".join(done.out.split())
    everything = shell(*words, "--slices", "all", "--slices-by", "systemic-failure", "--json", "-")
    assert json.loads(everything.out)["slices"]["measure"] == "systemic-failure"


@pytest.mark.parametrize(
    ("words", "says"), [(["--slices", "twon"], "Did you mean 'town'"), (["--slices", "m0"], "taken for a model")]
)
def test_wrong_columns_end_with_status_2(shell, tmp_path, words, says):
    table(n=300).write_csv(tmp_path / "a.csv")
    done = shell("audit", tmp_path / "a.csv", "--outcomes", "failed", "--models", "m*", *words)
    assert done.status == 2
    assert says in done.err


def test_wrong_calls(audit):
    with pytest.raises(UsageError, match="min_cell=0"):
        pc.slices(table(), ["town"], min_cell=0, **MAPPING)
    with pytest.raises(UsageError, match="say already"):
        pc.slices(pc.read(table(), **MAPPING), ["town"], id="id")
