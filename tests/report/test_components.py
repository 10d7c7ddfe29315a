"""Components in the outputs: what is drawn and told is what the record says, escaped."""

from __future__ import annotations

import io

import sample_records as samples
from component_samples import BREAK_OUT, component, with_components
from rich.console import Console

from polyculture.audit.records import undefined
from polyculture.report.components import MOST_ROWS, components_chart, context, named, print_components
from polyculture.report.html import html
from polyculture.report.terminal import Screen

ENDS = ("value", "low", "high")


def printed(record, width=100):
    out = io.StringIO()
    print_components(record, Screen(Console(file=out, width=width, force_terminal=False)))
    return out.getvalue()


def test_the_chart_holds_pairs_that_share_against_pairs_that_do_not():
    record = with_components().components
    chart = components_chart(record.components)
    (row,) = chart.rows
    assert (row["value"], row["low"], row["high"]) == tuple(getattr(record.components[0].within, end) for end in ENDS)
    assert row["expected"] == 0.31
    assert chart.rows[0]["both"] == "0.52, others 0.31"
    assert components_chart((component("x", within=undefined("no two models share it")),)) is None


def test_the_section_says_all_and_escapes_it():
    page = html(with_components())
    section = page.partition('id="components"')[2].partition("</section>")[0]
    assert "<b onclick" not in page
    assert "&lt;b onclick=x&gt;vendor&lt;/b&gt;" in section
    assert "too narrow below 100 models" in section
    assert "known of only 2 of 3 models" in section
    assert "Whom all models of a family fail" in section
    assert "Amazon and Baidu" in section
    assert "\N{MINUS SIGN}0.012" in section
    assert 'href="#components"' in page
    assert 'id="components"' not in html(samples.waimai())


def test_what_is_not_known_and_may_be_the_same_is_told():
    told = " ".join(context(with_components())["component_words"])
    assert "no row of Google" in told
    assert "Without Baidu" in told
    assert f"{BREAK_OUT} 0.19" in told
    assert "no families: 1 of 2" in told
    assert context(samples.waimai())["component_words"] == ()


def test_a_regression_that_is_not_there_says_why():
    import msgspec

    record = with_components()
    none = msgspec.structs.replace(record.components.regression, terms=(), reason="too few models")
    record = msgspec.structs.replace(record, components=msgspec.structs.replace(record.components, regression=none))
    assert context(record)["component_variation"] == "There is no regression of all together: too few models."


def test_the_screen_shows_components_and_what_if():
    text = printed(with_components())
    assert text.startswith("Pairs of models that share")
    assert "0.52" in text
    assert "0.31" in text
    assert "correlation" in text
    assert ".004" in text
    assert "one model for each of the 2 values" in text
    assert printed(samples.waimai()) == ""


def test_many_components_and_names_are_cut_and_counted():
    import msgspec

    record = with_components()
    many = tuple(component(f"c{i}") for i in range(MOST_ROWS + 3))
    record = msgspec.structs.replace(record, components=msgspec.structs.replace(record.components, components=many))
    assert "... and 3 more, see --tables" in printed(record)
    assert named([f"m{i}" for i in range(9)]) == "m0, m1, m2, m3, m4 and 4 more"
