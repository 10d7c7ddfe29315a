"""The page and the charts of a feedback loop: checked by what they draw, and by what data text may not do."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from msgspec.structs import replace
from rich.console import Console
from sample_loop import HOSTILE, curve, record

from polyculture.audit.statistic import Statistic
from polyculture.lab.loops.records import EndpointRecord, LoopRecord, SampledRecord
from polyculture.report.json import json_schema, record_json
from polyculture.report.lab_loop import difference_kind, html, print_loop, repr_html
from polyculture.report.lab_loop_charts import Line, accounting_chart, highest_share, lines_chart
from polyculture.report.lab_loop_people import DARKEST, strata_tables, strips
from polyculture.report.lab_loop_tables import tables


def test_the_page_says_what_the_record_says() -> None:
    page = html(record())
    assert page.count("<h1>") == 1
    for text in (
        "Accuracy falls over 4 generations",
        "nearly constant in 2 of 3 seeds",
        "did not converge",
        "A note.",
        "accuracy 90.0\N{NO-BREAK SPACE}% to 60.0\N{NO-BREAK SPACE}%",
        "Failed by all decision-makers",
        'By group, in the last generation; over the generations it stands in <a href="#curves-title">',
        "Seeds whose accuracy falls more than 5.0 points below",
        "uniform over class and group",
    ):
        assert text in page, text
    assert (
        page.count('role="img" aria-labelledby') == 2 * 3 + 1
    )  # levels, gaps and both failed of each arm; one set of books
    bare = page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in bare.replace('xmlns:xlink="http://www.w3.org/1999/xlink"', "")


def test_big_numbers_are_of_those_failed_by_all_where_there_are_several() -> None:
    several, alone = html(record()), html(record(endpoints=_without(record(), "systemic_failure", "expected")))
    assert re.findall(r"<dt>(.*?)</dt>", several)[:3] == [
        "failed by all at the end (SeqClass)",
        "expected if they failed independently",
        "times as many as expected (H)",
    ]
    assert re.findall(r"<dt>(.*?)</dt>", alone)[0] == "accuracy at the end (SeqClass)"


def test_how_accuracy_changes_stands_below_a_first_sentence_of_something_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = record(headline="Both fail.", accuracy_sentence="It falls <b>.")
    assert '<p class="lead">It falls &lt;b&gt;.</p>' in html(own)
    assert '<p class="lead">' not in html(record())
    print_loop(own, Console(width=80))
    assert "Both fail.\nIt falls <b>." in capsys.readouterr().out
    assert [row["note"] for row in tables(own)["notes"][:2]] == ["Both fail.", "It falls <b>."]


def _without(own: LoopRecord, *measures: str) -> tuple[EndpointRecord, ...]:
    return tuple(one for one in own.endpoints if one.measure not in measures)


def test_text_from_data_stays_text() -> None:
    page = html(record(HOSTILE))
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in repr_html(record(HOSTILE))


def test_without_groups_or_others_the_page_leaves_them_out() -> None:
    alone = record(groups=("everyone",), decision_makers=("decision-maker 1",), accounting=(), faults=())
    page = html(alone)
    assert 'id="together"' not in page
    assert 'id="accounting"' not in page
    assert 'id="faults"' not in page
    assert "share of group" not in page


def test_lines_are_the_curves_cut_at_the_axis() -> None:
    chart = lines_chart([Line("accuracy", curve("a", "accuracy", 0.9, -0.1)), Line("none", None)], (0.0, 0.95))
    assert chart is not None
    assert [(row["generation"], round(row["value"], 2)) for row in chart.rows] == [
        (0, 0.9),
        (1, 0.8),
        (2, 0.7),
        (3, 0.6),
    ]
    assert chart.rows[0]["high"] is None
    assert max(row["high"] for row in chart.rows[1:]) <= 0.95
    assert lines_chart([Line("none", None)], (0.0, 1.0)) is None


def test_a_band_that_would_fill_the_chart_is_left_out() -> None:
    wide = replace(curve("a", "odds", 0.1, 0.0), low=(-1.0,) * 4, high=(2.0,) * 4)
    narrow = replace(wide, high=(2.0, 2.0, 0.15, 2.0))
    chart = lines_chart([Line("wide", wide), Line("narrow", narrow)], (0.0, 0.2))
    assert chart is not None
    assert [row["high"] for row in chart.rows] == [None] * 4 + [0.2, 0.2, 0.15, 0.2]


def test_books_are_of_the_rarest_stratum() -> None:
    books = record().accounting
    chart = accounting_chart(books, (0.0, 0.5))
    assert chart is not None
    first = {row["line"]: row["value"] for row in chart.rows if row["generation"] == 0}
    chosen = 5 + 25 * 3 + 4 * 5
    assert first == {
        "rarest stratum, trained on": pytest.approx(10 / chosen),
        "rarest stratum, in the pool": pytest.approx(5 / 125),
        "shortfall": pytest.approx(20 / chosen),
    }
    assert highest_share(books) == pytest.approx(20 / chosen)


def test_differences_are_shown_in_their_own_kind() -> None:
    units = record().units
    assert [difference_kind(measure, units) for measure in ("accuracy", "homogenization", "frechet")] == [
        "points",
        "ratio",
        "number",
    ]


def test_tables_and_json_hold_every_figure() -> None:
    own = tables(record())
    assert len(own["generations"]) == 4 * len(record().curves)
    assert own["generations"][1]["value_low"] == pytest.approx(0.7)
    assert {row["measure"] for row in own["endpoints"]} == set(record().units)
    jsonschema.validate(json.loads(record_json(record())), json_schema("lab-loop"))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_shows_arms_and_flags(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_loop(record(), Console(width=width))
    said = capsys.readouterr().out
    assert "* classifiers that give nearly everyone" in " ".join(said.split())
    assert "Decision-makers together" in said
    assert "falls by more than 5.0 points" in " ".join(said.split())
    assert "Among generated people class is the share of class" in " ".join(said.split())
    assert all(len(line) <= width for line in said.splitlines())


def test_shares_of_class_and_group_stand_beside_the_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    own = record()
    shares = [
        replace(own.endpoints[0], measure=measure, of=of, value=Statistic(value=share), primary=False)
        for measure, of, share in (("class_share", "yes", 0.873), ("group_share", "plain", 0.123))
    ]
    shown = record(endpoints=(*own.endpoints, *shares))
    print_loop(shown, Console(width=100))
    terminal = capsys.readouterr().out
    for page in (html(shown), repr_html(shown)):
        told = page.lower()
        table = told[told.index(">class yes among generated people") :]
        assert table.index("group plain among generated people") < table.index("equalized odds difference")
        assert "87.3" in table
        assert "12.3" in table
    assert "87.3 %" in terminal
    assert "12.3 %" in terminal
    print_loop(record(units={"accuracy": "share"}), Console(width=80))
    assert "Among generated people" not in capsys.readouterr().out


def test_strata_stand_in_a_table_an_arm_darker_where_they_are_larger() -> None:
    curves = (*record().curves, curve("SeqClass", "stratum_share", 0.4, -0.1, "no, b"))
    page = html(record(curves=curves))
    assert page.count('<caption class="hidden">Share of each stratum') == 1
    (own,) = strata_tables(record(curves=curves))
    assert (own.arm, tuple(own.generations)) == ("SeqClass", (0, 1, 2, 3))
    (row,) = own.rows
    assert (row.name, row.ideal) == ("no, b", "25.0 %")
    assert [cell.text for cell in row.cells] == ["40.0 %", "30.0 %", "20.0 %", "10.0 %"]
    assert [cell.shade for cell in row.cells] == [
        DARKEST,
        round(DARKEST * 0.75),
        round(DARKEST / 2),
        round(DARKEST / 4),
    ]
    assert 'id="strata"' not in html(record())


def test_pictures_stand_in_the_page_itself_with_words_for_those_who_do_not_see_them() -> None:
    arm = record(HOSTILE).arms[1]
    pictures = tuple(SampledRecord(arm=arm, generation=number, images=3, png="QUJD") for number in range(2))
    own = record(HOSTILE, image=(2, 14, 14), sampled=pictures)
    page = html(own)
    assert page.count('<img src="data:image/png;base64,QUJD" alt="3 sampled images of generation ') == 2
    assert "shown as red and green" in page
    assert "14 x 14 pixels, 2 channels" in page
    assert "<script>" not in page
    assert "img-src data:" in page
    assert [(one.arm, len(one.pictures)) for one in strips(own)] == [(arm, 2)]
    assert 'id="sampled"' not in html(record())
