"""The ladder in words, in the terminal, as a chart and as a section."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import polyculture as pc
from polyculture.report import html as report_html
from polyculture.report.ladder import ladder_chart, ladder_rows, name, verdict
from polyculture.report.terminal import print_audit


@pytest.fixture(scope="module")
def record():
    import polars as pl

    rng = np.random.default_rng(8)
    z = rng.normal(size=(800, 1))
    failed = rng.random((800, 3)) < 1 / (1 + np.exp(1 - 1.4 * z))
    frame = pl.DataFrame({f"m{j}": failed[:, j].astype(int) for j in range(3)})
    names = ["permutation", "equicorrelated", "rasch", "classes-2", "both-margins"]
    return pc.audit(frame, outcomes="failed", nulls=names).record


def test_names_and_outcomes(record):
    rows = {row.null.name: row for row in ladder_rows(record.nulls)}
    assert rows["classes-2"].outcome == "fits by construction"
    assert rows["both-margins"].outcome == "spread not rejected"
    assert rows["independence"].outcome == "rejected"
    assert [row.outcome for row in rows.values()].count("not rejected (the poorest)") == 1
    assert rows["rasch"].parameters == "4"
    assert rows["both-margins"].expected == "undefined"
    assert name("something-else") == "something-else"


def test_verdict_names_the_poorest_or_says_that_there_is_none(record):
    import msgspec

    poorest = next(null for null in record.nulls if null.poorest_not_rejected)
    assert f"do not reject at 5 % is {name(poorest.name)}, with 4 parameters" in verdict(record)
    gone = [msgspec.structs.replace(null, poorest_not_rejected=False) for null in record.nulls]
    assert "reject every one of 4 models of chance" in verdict(msgspec.structs.replace(record, nulls=tuple(gone)))
    alone = msgspec.structs.replace(record, nulls=record.nulls[:1])
    assert verdict(alone) == ""


def test_chart_shows_each_expectation_beside_the_observed(record):
    chart = ladder_chart(record.nulls, record.systemic_failure)
    assert [row["null"] for row in chart.rows] == [
        null.name for null in record.nulls if null.systemic_failure is not None
    ]
    for row, null in zip(chart.rows, (n for n in record.nulls if n.systemic_failure is not None), strict=True):
        assert row["expected"] == null.systemic_failure
        assert (row["value"], row["low"], row["high"]) == (
            record.systemic_failure.observed.value,
            record.systemic_failure.observed.low,
            record.systemic_failure.observed.high,
        )
    assert ladder_chart(record.nulls[:1], record.systemic_failure) is None


def test_the_chart_has_true_minus_signs(record):
    import msgspec

    excess = msgspec.structs.replace(record.nulls[0].excess, value=-0.0051)
    below = msgspec.structs.replace(record.nulls[0], excess=excess)
    row = ladder_chart((below, *record.nulls[1:]), record.systemic_failure).rows[0]
    assert row["interval"] == "excess \N{MINUS SIGN}0.51 points"
    assert row["both"].endswith(", excess \N{MINUS SIGN}0.51 points")


@pytest.mark.parametrize("width", [60, 110])
def test_terminal_and_page_show_the_ladder(record, width):
    out = io.StringIO()
    print_audit(record, Console(file=out, width=width, no_color=True))
    text = " ".join(out.getvalue().split())
    assert "under models of chance" in text
    assert "poorest model of chance" in text
    assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= width
    page = report_html.html(record)
    assert "What each model of chance supposes" in page
    assert "ladder-caption" in page
    assert "redescribes shared failure" in page


def test_a_census_shows_no_test(record):
    import msgspec

    census = msgspec.structs.replace(record, provenance=msgspec.structs.replace(record.provenance, census=True))
    for shown, has in ((record, True), (census, False)):
        section = report_html.html(shown).partition('id="nulls"')[2].partition("</section>")[0]
        assert ("Smallest excess found" in section) is has
        assert ('class="num">p</th>' in section) is has
        screen = io.StringIO()
        print_audit(shown, Console(file=screen, width=120))
        head = next(line for line in screen.getvalue().splitlines() if line.startswith("model of chance"))
        assert ("p" in head.split()) is has
