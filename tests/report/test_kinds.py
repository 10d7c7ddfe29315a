"""Kinds of decision-makers in every output: terminal, HTML, CSV, JSON, and the shell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.console import Console

import polyculture as pc
from polyculture.audit.records import AuditRecord
from polyculture.report.html import html
from polyculture.report.json import from_json, json_schema, to_json
from polyculture.report.kinds import compared_words, excess_chart, group_rows, kinds_verdict, nothing_words
from polyculture.report.tables import TABLES, write_tables
from polyculture.report.terminal import print_audit

NASTY = '<script>"x"</script>'


def images(kind: str = "human") -> tuple[pl.DataFrame, dict[str, list[str]]]:
    rng = np.random.default_rng(5)
    tone = np.repeat(["I-II", NASTY], 300)
    hard = rng.random(600) < 0.3
    models = np.where(hard, np.where(tone == NASTY, 0.9, 0.4), 0.2)
    columns = {f"m{j}": (rng.random(600) < models).astype(int) for j in range(3)}
    columns |= {f"e{j}": (rng.random(600) < np.where(hard, 0.5, 0.2)).astype(int) for j in range(2)}
    return pl.DataFrame({"image": np.arange(600), "tone": tone, **columns}), {"model": ["m*"], kind: ["e*"]}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def record(**more: Any) -> AuditRecord:
    frame, kinds = images()
    return pc.audit(frame, outcomes="failed", id="image", by=["tone"], kinds=kinds, noun="images", **more).record


@pytest.fixture(scope="module")
def audited() -> AuditRecord:
    return record()


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_terminal_shows_kinds_side_by_side(audited: AuditRecord, width: int) -> None:
    out = io.StringIO()
    print_audit(audited, Console(file=out, width=width))
    text = out.getvalue()
    assert "Kinds of decision-makers" in text
    assert "Groups further apart" in text
    assert max(len(line) for line in text.splitlines()) <= width


def test_the_page_holds_every_difference_and_escapes_it(audited: AuditRecord) -> None:
    page = html(audited)
    part = page[page.index('<section id="kinds"') : page.index('<section id="notes"')]
    assert NASTY not in page
    assert "&lt;script&gt;" in part
    assert part.count("<figure>") == 4
    assert part.count("model less human") == len(audited.kinds.differences)  # type: ignore[union-attr]


def test_a_census_has_no_intervals_and_no_verdict() -> None:
    census = record(census=True)
    page = html(census)
    assert kinds_verdict(census.kinds) == ""  # type: ignore[arg-type]
    assert "p corrected" not in page[page.index('<section id="kinds"') :]


def test_the_chart_draws_what_the_record_says(audited: AuditRecord) -> None:
    assert audited.kinds is not None
    rows = group_rows(audited.kinds)["tone"]
    chart = excess_chart(rows)
    assert chart is not None
    drawn = chart.rows
    assert [row["value"] for row in drawn] == [row.outcome.difference.value for row in rows]
    assert [row["kind_of_decision_maker"] for row in drawn] == ["model", "human"] * 2


def test_kinds_of_one_model_say_once_why_nothing_is_compared() -> None:
    frame, _ = images()
    kinds = {"model": ["m0"], "human": ["e0"]}
    found = pc.audit(frame, outcomes="failed", id="image", by=["tone"], kinds=kinds, noun="images").record
    assert found.kinds is not None
    reason = "No kind has an excess or a ratio (one model: there is nothing to homogenize); charts and"
    rows = group_rows(found.kinds)["tone"]
    assert excess_chart(rows) is None
    page = html(found)
    part = page[page.index('<section id="kinds"') : page.index('<section id="notes"')]
    assert part.count(reason) == 1
    assert "undefined" not in part
    assert "<figure>" not in part
    assert part.count("<table>") == 2  # kinds, and groups under each with their failure rates
    out = io.StringIO()
    print_audit(found, Console(file=out, width=120))
    text = " ".join(out.getvalue().split())
    assert text.count(reason) == 1
    assert "Groups further apart" not in text
    assert nothing_words(record().kinds) == ""  # type: ignore[arg-type]


def test_one_kind_of_one_model_leaves_the_other_as_it_was() -> None:
    frame, _ = images()
    kinds = {"model": ["m*"], "human": ["e0"]}
    found = pc.audit(frame, outcomes="failed", id="image", by=["tone"], kinds=kinds, noun="images").record
    page = html(found)
    part = page[page.index('<section id="kinds"') : page.index('<section id="notes"')]
    assert part.count("<figure>") == 3
    rows = group_rows(found.kinds)["tone"]  # type: ignore[arg-type]
    chart = excess_chart(rows)
    assert chart is not None
    assert {row["kind_of_decision_maker"] for row in chart.rows} == {"model"} < {row.kind for row in rows}
    assert "Are groups further apart" not in part
    assert any("has one member" in note for note in found.kinds.notes)  # type: ignore[union-attr]


def test_the_verdict_counts_what_is_seen(audited: AuditRecord) -> None:
    assert audited.kinds is not None
    seen = [one for one in audited.kinds.differences if one.p_adjusted < 0.05]  # type: ignore[operator]
    assert seen
    assert f", {len(seen)} are seen" in kinds_verdict(audited.kinds)


def test_every_table_is_written_and_described(audited: AuditRecord, tmp_path: Path) -> None:
    names = {path.stem for path in write_tables(audited, tmp_path / "t")}
    own = {name for name in TABLES if name.startswith("kind")}
    assert own <= names
    told = {(row["table"], row["column"]): row["unit"] for row in read(tmp_path / "t" / "dictionary.csv")}
    for name in own:
        rows = read(tmp_path / "t" / f"{name}.csv")
        assert rows
        assert all(told[name, column] for column in rows[0]), name
    rows = read(tmp_path / "t" / "kind_differences.csv")
    assert rows[0]["kinds"] == "model - human"
    assert float(rows[0]["excess_difference"]) == audited.kinds.differences[0].excess_difference.value  # type: ignore[union-attr]


def test_json_goes_there_and_back(audited: AuditRecord) -> None:
    data = to_json(audited)
    jsonschema.validate(json.loads(data), json_schema())
    assert from_json(data).kinds == audited.kinds


def test_kinds_in_the_shell_and_a_limit_on_them(shell: Callable[..., Any], tmp_path: Path) -> None:
    frame, _ = images()
    frame.write_csv(tmp_path / "images.csv")
    words = ("audit", tmp_path / "images.csv", "--outcomes", "failed", "--id", "image", "--by", "tone")
    done = shell(*words, "--kinds", "model=m*,human=e0,e1", "--json", tmp_path / "audit.json")
    assert done.status == 0
    assert "Kinds of decision-makers" in done.out
    field = "kinds.differences[*].excess_difference.high"
    assert shell("check", tmp_path / "audit.json", "--at-most", f"{field}=-1").status == 1
    field = "kinds.kinds[name=human].systemic_failure.observed.high"
    assert shell("check", tmp_path / "audit.json", "--at-most", f"{field}=0.5").status == 0
    wrong = shell(*words, "--kinds", "model=m*,human=f*")
    assert wrong.status == 2
    assert "There is no model 'f*' for the kind 'human'" in wrong.err


def test_many_groups_leave_the_terminal_one_screen_with_the_most_surprising_first() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat([f"g{i:02d}" for i in range(9)], 60)
    hard = rng.random(540) < np.where(group == "g08", 0.6, 0.1)
    columns = {f"m{j}": ((rng.random(540) < 0.2) | hard).astype(int) for j in range(3)}
    columns |= {f"e{j}": (rng.random(540) < 0.3).astype(int) for j in range(2)}
    frame = pl.DataFrame({"group": group, **columns})
    found = pc.audit(frame, outcomes="failed", by=["group"], kinds={"model": "m*", "human": "e*"}).record
    assert found.kinds is not None
    out = io.StringIO()
    print_audit(found, Console(file=out, width=100))
    told = out.getvalue().partition("Groups further apart")[2]
    assert told.count(" against g") == 14
    assert f"... and {len(found.kinds.differences) - 14} with larger p, see --tables" in told
    least = min(found.kinds.differences, key=lambda one: one.p_adjusted or 0.0)
    assert " ".join(compared_words(least).split()[:3]) in told.splitlines()[3]
    assert "... and 4 more, see --tables" in out.getvalue()
