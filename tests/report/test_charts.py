from __future__ import annotations

import warnings
from collections.abc import Iterator
from xml.etree import ElementTree

import msgspec
import pytest
import sample_records as samples

from polyculture.audit.records import undefined
from polyculture.report import charts, heatmap, vega
from polyculture.report.charts import Chart
from polyculture.report.components import components_chart


def every_chart() -> Iterator[tuple[str, Chart]]:
    for name, make in samples.ALL.items():
        record = make()
        largest = max(row.judged for row in record.profile)
        yield f"{name}-profile", charts.profile_chart([row for row in record.profile if row.judged == largest])
        yield f"{name}-models", charts.models_chart(record.models)
        if record.patterns:
            yield f"{name}-patterns", heatmap.patterns_chart(record.patterns)
        groups = charts.groups_chart(record.groups)
        if groups is not None:
            yield f"{name}-groups", groups
        for index, gap in enumerate(record.gaps):
            yield f"{name}-gaps-{index}", charts.gaps_chart(gap)
        if record.components is not None:
            drawn = components_chart(record.components.components)
            assert drawn is not None
            yield f"{name}-components", drawn


CHARTS = dict(every_chart())


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314 - our own SVG


def test_the_profile_draws_what_the_record_says() -> None:
    record = samples.waimai()
    rows = charts.profile_chart(record.profile).rows
    assert [row["label"] for row in rows] == ["no model failed", "1 of 3 failed", "2 of 3 failed", "all 3 failed"]
    for drawn, row in zip(rows, record.profile, strict=True):
        assert (drawn["value"], drawn["low"], drawn["high"]) == (
            row.observed.value,
            row.observed.low,
            row.observed.high,
        )
        assert drawn["expected"] == row.expected
    assert rows[3]["text"] == "6.5 %"
    assert rows[3]["interval"] == "6.0 to 6.9 %"


def test_models_are_drawn_from_the_highest_rate_down_and_the_cut_is_told() -> None:
    chart = charts.models_chart(samples.many_models().models)
    assert len(chart.rows) == 40
    values = [row["value"] for row in chart.rows]
    assert values == sorted(values, reverse=True)
    assert "40 models with the highest rates of 60" in chart.note
    assert charts.models_chart(samples.waimai().models).note == ""


def test_groups_draw_the_interval_and_their_own_expectation_but_none_of_too_few() -> None:
    groups = [group for group in samples.with_groups().groups if tuple(group.by) == ("age",)]
    chart = charts.groups_chart(groups)
    assert chart is not None
    assert [row["label"] for row in chart.rows] == ["younger", "middle", "older", "(missing)"]
    assert [row["status"] for row in chart.rows] == ["reported"] * 3 + ["unknown"]
    older = groups[2].systemic_failure
    assert older is not None
    assert (chart.rows[2]["low"], chart.rows[2]["high"]) == (older.observed.low, older.observed.high)
    assert chart.rows[2]["expected"] == older.expected


def test_groups_without_any_figure_have_no_chart() -> None:
    assert charts.groups_chart([group for group in samples.with_groups().groups if group.status == "too few"]) is None


def test_gaps_end_with_systemic_failure_and_the_gap_of_no_difference() -> None:
    gap = samples.with_groups().gaps[0]
    rows = charts.gaps_chart(gap).rows
    assert [row["kind"] for row in rows] == ["model", "model", "model", "systemic"]
    assert [row["label"] for row in rows[:3]] == ["Amazon", "Google", "Baidu"]
    assert rows[-1]["value"] == gap.systemic_failure_difference.value
    assert rows[-1]["expected"] == gap.expected_with_no_difference
    assert rows[-1]["text"] == "8.3 points"


def test_patterns_are_cells_of_models_by_patterns() -> None:
    record = samples.waimai()
    rows = heatmap.patterns_chart(record.patterns).rows
    assert len(rows) == 8 * 3
    for row in rows:
        pattern = record.patterns[row["pattern"] - 1]
        assert (row["state"] == "failed") == (row["model"] in pattern.failed)
        assert (row["share"], row["expected"]) == (pattern.share, pattern.expected)
    assert {row["heat"] for row in rows if row["pattern"] == 1} == {0}
    assert {row["heat"] for row in rows if row["pattern"] == 2} == {1}


def test_a_model_that_did_not_judge_is_no_failure_and_no_success() -> None:
    rows = heatmap.patterns_chart(samples.unequal_sets().patterns).rows
    assert [row["model"] for row in rows if row["state"] == "not judged"] == ["Google"]


def test_the_rest_of_the_patterns_is_summed_and_told() -> None:
    record = samples.many_models()
    chart = heatmap.patterns_chart(record.patterns)
    rest = sum(pattern.share for pattern in record.patterns[30:])
    assert len({row["pattern"] for row in chart.rows}) == 30
    assert f"the other {len(record.patterns) - 30} listed hold {rest * 100:.1f} % of individuals" in chart.note
    assert "Of 60 models it shows the 40" in chart.note
    assert chart.compact_note == "This narrow screen shows the first 12 patterns and the first 20 models of them."
    assert heatmap.patterns_chart(samples.waimai().patterns).compact_note == ""


def test_an_undefined_number_is_a_row_without_a_mark() -> None:
    models = list(samples.waimai().models)
    models[1] = msgspec.structs.replace(models[1], failure_rate=undefined("judged nobody"))
    chart = charts.models_chart(models)
    assert chart.rows[-1]["value"] is None
    assert chart.rows[-1]["text"] == "undefined"
    vega.svg(chart.wide)


@pytest.mark.parametrize(
    "name", ["waimai-profile", "many_models-profile", "hostile-patterns", "with_groups-groups", "with_groups-gaps-0"]
)
def test_specifications_are_vega_lite(name: str) -> None:
    altair = pytest.importorskip("altair")
    for spec in (CHARTS[name].wide, CHARTS[name].compact):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            altair.Chart.from_dict(spec)


@pytest.mark.parametrize("name", ["with_groups-profile", "hostile-models", "hostile-groups", "hostile-patterns"])
def test_svg_is_well_formed_and_takes_colours_and_font_of_the_page(name: str) -> None:
    for spec in (CHARTS[name].wide, CHARTS[name].compact):
        text = vega.svg(spec)
        root = parsed(text)
        assert root.get("viewBox")
        assert root.get("width") is None
        assert "font-family" not in text
        assert "<script" not in text
        assert "<img" not in text
        assert "\x1b" not in text
        colours = {
            element.get(kind)
            for element in root.iter()
            for kind in ("fill", "stroke")
            if element.get(kind) not in (None, "none")
        }
        assert all(str(colour).startswith("var(--") for colour in colours), colours


def test_names_stand_in_the_picture_as_they_are() -> None:
    text = vega.svg(CHARTS["hostile-models"].wide)
    words = [element.text for element in parsed(text).iter("text")]
    assert samples.FORMULA in words
    assert "[red]x[/red]\\x1b[31m" in words


def test_a_chart_is_no_wider_than_a_phone() -> None:
    for name, chart in CHARTS.items():
        width = float(vega.svg(chart.compact).split('viewBox="0 0 ')[1].split(" ")[0])
        assert width <= 360, name


def test_a_thousand_models_can_be_drawn() -> None:
    profile = samples.profile_rows([10] * 1001, [0.001] * 1001)
    chart = charts.profile_chart(profile)
    assert len(chart.rows) == 1001
    assert len(vega.svg(chart.wide)) < 300_000


def test_the_renderer_can_be_started_ahead() -> None:
    thread = vega.warm_up()
    thread.join(60)
    assert not thread.is_alive()
    assert "<svg" in vega.svg(charts.models_chart(samples.waimai().models).wide)
