"""The comparison in every output: page, notebook, terminal, JSON and tables, also with hostile names."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import compare_samples as samples
import pytest
from msgspec.structs import replace
from rich.console import Console
from test_html import Page

from polyculture.audit.change_frames import change_tables
from polyculture.audit.change_records import CompareRecord
from polyculture.report import compare_charts as charts
from polyculture.report.compare_html import compare_html, compare_repr_html
from polyculture.report.compare_terminal import print_comparison
from polyculture.report.json import record_json
from polyculture.report.tables import write_compare_tables

RECORDS = {name: make() for name, make in samples.ALL.items()}
PAGES = {name: compare_html(record) for name, record in RECORDS.items()}
named = pytest.mark.parametrize("name", samples.ALL)


@named
def test_pages_are_well_formed_and_ask_for_nothing(name: str) -> None:
    page = Page(PAGES[name])
    assert page.unbalanced == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [link["href"] or "" for link in page.tags("a")]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(ids)
    assert not page.tags("script", "iframe", "object")
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", PAGES[name])


@named
def test_every_chart_has_a_caption_and_every_table_a_heading(name: str) -> None:
    page = Page(PAGES[name])
    captions = {attributes["id"] for attributes in page.tags("figcaption")}
    for svg in page.tags("svg"):
        assert svg["role"] == "img"
        assert svg["aria-labelledby"] in captions
    assert PAGES[name].count("<caption") == len(page.tags("table"))


def test_text_from_data_is_escaped_everywhere() -> None:
    page = PAGES["hostile"]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "<script>alert" not in compare_repr_html(RECORDS["hostile"])


@named
def test_words_stay_neutral(name: str) -> None:
    text = re.sub(r"<svg.*?</svg>|<style>.*?</style>|<[^>]+>", " ", PAGES[name], flags=re.S)
    assert not re.search(r"\b(?:guilty|compliant|proves|explains|ignores?)\b", text, re.IGNORECASE)


def test_charts_draw_what_the_record_says() -> None:
    change = RECORDS["plain"].changes[0]
    drawn = charts.change_chart(change).rows
    assert [row["value"] for row in drawn][-1] == change.systemic_failure.rate.difference.value
    flow = charts.flow_chart(change.flow)
    assert flow is not None
    assert sum(row["count"] for row in flow.rows) == change.individuals
    rows = [row for row in change.by_others if row.reading == "before"]
    others = charts.others_chart(rows)
    assert others is not None
    assert [(row["value"], row["expected"], row["adjusted"]) for row in others.rows] == [
        (row.share.value, row.expected_uniform, row.expected_adjusted) for row in rows
    ]
    assert len(charts.rates_chart(change).rows) == 2 * len(change.models) + 2
    assert "(shades change at 1, 5, 15 and 35 %)" in PAGES["plain"]
    trend = charts.trend_chart(RECORDS["trend"].trend[0])
    assert [row["low"] for row in trend.rows] == [point.rate.low for point in RECORDS["trend"].trend[0].points]


def test_names_of_snapshots_are_shown_as_they_are_and_leave_room_for_models() -> None:
    record = RECORDS["plain"]
    change = replace(record.changes[0], before="north-2020.csv", after="2021")
    page = compare_html(replace(record, changes=(change,)))
    assert "From north-2020.csv to 2021" in page
    assert "North" not in page
    assert {row["label"].rpartition(", ")[2] for row in charts.rates_chart(change).rows} == {"before", "after"}
    short = charts.rates_chart(replace(change, before="2020")).rows
    assert {row["label"].rpartition(", ")[2] for row in short} == {"2020", "2021"}


@named
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_fits_its_width(name: str, width: int) -> None:
    out = io.StringIO()
    print_comparison(RECORDS[name], Console(file=out, width=width, color_system=None))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in out.getvalue()
    flat = " ".join(" ".join(lines).split())
    assert flat.startswith(" ".join(RECORDS[name].headline.split())[:30])


@named
def test_tables_hold_the_record_and_the_dictionary_every_column(name: str, tmp_path: Path) -> None:
    written = write_compare_tables(RECORDS[name], tmp_path / "tables")
    read = {path.stem: list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))) for path in written}
    described = {(row[0], row[1]): row for row in read["dictionary"][1:]}
    for table, rows in read.items():
        for column in rows[0]:
            meaning, unit = described[table, column][2:]
            assert meaning != column.replace("_", " ") or column in meaning, (table, column)
            assert unit, (table, column)
    assert len(read["models"]) == 1 + sum(len(change.models) for change in RECORDS[name].changes)


def test_a_second_comparison_leaves_no_table_of_the_first(tmp_path: Path) -> None:
    write_compare_tables(RECORDS["trend"], tmp_path)
    assert (tmp_path / "trend.csv").exists()
    write_compare_tables(RECORDS["plain"], tmp_path)
    assert not (tmp_path / "trend.csv").exists()


@named
def test_json_comes_back_as_the_same_record(name: str) -> None:
    import msgspec

    assert msgspec.json.decode(record_json(RECORDS[name]), type=CompareRecord) == RECORDS[name]


def test_many_changes_show_the_latest_and_say_so() -> None:
    page = PAGES["many"]
    assert "earlier changes not shown" in page
    assert len(re.findall(r'<section id="change-', page)) == 12
    assert len(change_tables(RECORDS["many"])["changes"]) == 14
