"""The page and the charts of an experiment: checked by what they draw, and by what data text may not do."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from rich.console import Console
from sample_lab import HOSTILE, adapting, arm, effect, record, stat

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.plan import Share
from polyculture.lab.records import ComponentRecord, InteractionRecord
from polyculture.report.lab_backbones import learners_chart
from polyculture.report.lab_charts import effects_chart, is_cut, ratio_chart, size_chart
from polyculture.report.lab_faults import fault_totals
from polyculture.report.lab_sharing import html, print_sharing, repr_html


def test_the_page_says_what_the_record_says() -> None:
    page = html(record())
    assert page.count("<h1>") == 1
    for text in ("1.2 times as large", "amount &gt; 100", "800", "no systemic failure", "did not converge", "A note."):
        assert text in page or text == "800"
    assert page.count('role="img"') == 2 + 1  # both sizes of the effects, one curve
    assert "http" not in page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/2000/svg"', "").replace(
        'xmlns:xlink="http://www.w3.org/1999/xlink"', ""
    )


def test_text_from_data_stays_text() -> None:
    page = html(record(HOSTILE))
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in repr_html(record(headline=HOSTILE))


def test_the_effects_are_drawn_with_their_intervals_and_undefined_ones_left_out() -> None:
    chart = effects_chart(record().effects)
    assert chart is not None
    assert [(row["label"], row["value"], row["low"]) for row in chart.rows] == [
        ("all learners", pytest.approx(math.log2(1.2)), pytest.approx(math.log2(1.1))),
        ("trees", pytest.approx(math.log2(1.5)), pytest.approx(math.log2(1.4))),
    ]
    assert all(row["expected"] == 0.0 for row in chart.rows)
    assert effects_chart([effect(undefined("none"))]) is None


def test_ways_to_adapt_have_their_section() -> None:
    page = html(adapting(HOSTILE))
    assert "<script>" not in page
    for text in ("One way to adapt against another", "probe / lora", "0.02 to 85", "nobody was failed by all"):
        assert text in page
    assert "matrices of low rank trained beside its weights, and the classifier (rank = 4)" in page
    assert "One way to adapt" not in html(record())
    chart = learners_chart(adapting().learners)
    assert chart is not None
    assert [(row["label"], row["low"], row["high"]) for row in chart.rows] == [
        ("probe / lora", pytest.approx(math.log2(0.02)), 6.0)
    ]
    assert "Intervals that go on beyond the axis are cut at its end" in page
    assert "beyond the axis" not in html(record())
    assert chart.rows[0]["interval"] == "0.02 to 85.00"


def test_the_screen_shows_ways_to_adapt(capsys: pytest.CaptureFixture[str]) -> None:
    print_sharing(adapting(), Console(width=100))
    said = capsys.readouterr().out
    assert "H of one way to adapt / H of another" in said
    assert "+5.0 points" in said


def test_curves_are_over_training_rows_within_the_axis() -> None:
    results = [result for result in record().results if result.blocks is not None]
    chart = size_chart(results, ("fixed", "disjoint"), (0.9, 1.65))
    assert chart is not None
    assert {(row["rows"], row["arm"], row["place"]) for row in chart.rows} == {
        (400, "fixed", 0),
        (400, "disjoint", 1),
        (100, "fixed", 0),
        (100, "disjoint", 1),
    }
    assert max(row["high"] for row in chart.rows) == 1.65


def test_a_factorial_experiment_has_its_section() -> None:
    components = (
        ComponentRecord(component="rows", log_ratio=stat(0.3), ratio=stat(1.35), behind_first=undefined("itself")),
        ComponentRecord(component="seed", log_ratio=stat(0.0), ratio=stat(1.0), behind_first=stat(0.3)),
    )
    interactions = (InteractionRecord(first="rows", second="seed", log_ratio=stat(0.7), ratio=stat(2.01)),)
    most = "Sharing training rows goes with most."
    page = html(record(components=components, components_sentence=most, interactions=interactions))
    assert 'id="components"' in page
    assert "Two components together" in page
    assert "2.01" in page
    assert "Sharing training rows goes with most." in page
    assert 'id="components"' not in html(record())


def test_an_interval_is_cut_at_the_end_of_the_axis_and_only_where_it_goes_on() -> None:
    far = [Statistic(value=1.2, low=low, high=high, method="t") for low, high in ((0.02, 60.0), (1e-9, 2.0))]
    chart = ratio_chart([("a", far[0], "learner"), ("b", far[1], "learner")], title="ratio")
    assert chart is not None
    assert [row["low"] for row in chart.rows] == [pytest.approx(math.log2(0.02)), -6.0]
    assert chart.rows[1]["interval"] == "0.00 to 2.00"  # the numbers are whole
    assert [is_cut([one]) for one in far] == [False, True]
    assert is_cut([Statistic(value=1.2, low=0.0, high=2.0, method="t")])
    assert not is_cut([Statistic(value=100.0, low=70.0, high=900.0, method="t")])  # the axis reaches as far as a ratio
    assert not is_cut([undefined("none")])


def test_what_went_wrong_is_told_by_learner_and_reason_first() -> None:
    one = record("trees").faults[0]
    more = (
        one,
        msgspec.structs.replace(one, arm="disjoint", count=4),
        msgspec.structs.replace(one, reason="class missing", said="no 'rare'", count=1),
    )
    found = fault_totals(record("trees", faults=more))
    assert [(total.reason, total.times, total.trained) for total in found] == [
        ("did not converge", 7, 50 * 2 * 2),
        ("class missing", 1, 50 * 2 * 2),
    ]
    assert found[1].said == "no 'rare'"
    page = html(record("trees", faults=more))
    assert "its predictions count" in page
    assert "no &#39;rare&#39;" in page
    assert "<details><summary>3 rows: by learner, size, arm and decision-maker" in page


def test_the_terminal_stops_after_some_arms(capsys: pytest.CaptureFixture[str]) -> None:
    many = tuple(arm(f"arm {number}", 1.1) for number in range(12))
    print_sharing(record(results=many), Console(width=100))
    said = capsys.readouterr().out
    assert "arm 8" in said
    assert "arm 9" not in said
    assert "... and 3 more" in said


def test_many_arms_are_folded_and_said_in_one_line() -> None:
    few = record()
    share = Share(rows=("fixed", 0.25, 0.5, 0.75, "disjoint"), seed=("shared", "own"))
    plan = msgspec.structs.replace(few.plan, share=share)
    results = [arm(one.name, 1.1) for one in plan.arms()]
    page = html(record(plan=plan, arms=tuple(one.name for one in plan.arms()), results=tuple(results)))
    assert "<summary>10 arms</summary>" in page
    assert "10: all combinations of rows (fixed, overlap 0.75, overlap 0.5, overlap 0.25, disjoint), seed (" in page
    assert "arms</summary>" not in html(few)


def test_the_labels_of_effects_keep_what_is_shared() -> None:
    seed = msgspec.structs.replace(effect(stat(1.2), "a learner with a long name"), component="seed", level="shared")
    chart = effects_chart([effect(stat(1.2)), effect(stat(1.1), "a learner with a long name"), seed])
    assert chart is not None
    assert [row["label"] for row in chart.rows] == ["fixed", "a learne…ong name, fixed", "a learne…long name, seed"]


def test_ticks_of_ratios_near_1_differ() -> None:
    """Two digits would give 1, 1 and 1.1 for 1, 1.04 and 1.07."""
    chart = effects_chart([effect(stat(1.06))])
    assert chart is not None
    assert ".3~r" in json.dumps(chart.wide)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_shows_arms_and_effects(width: int) -> None:
    console = Console(width=width, record=True, force_terminal=False)
    with console.capture() as captured:
        print_sharing(record(HOSTILE, components_sentence="Most: rows."), console)
    text = captured.get()
    assert "\x1b[31m" not in text
    assert all(len(line) <= width for line in text.splitlines())
    for part in ("fixed", "disjoint", "8.0 %", "A note.", "Most: rows."):
        assert part in text
