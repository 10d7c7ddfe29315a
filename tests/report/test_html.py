from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest
import sample_records as samples
from syrupy.assertion import SnapshotAssertion

from polyculture.audit.records import AuditRecord, undefined
from polyculture.report.html import html, repr_html
from polyculture.report.markup import Footnotes, number, prose

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "line", "rect"}
PAGES = {name: html(make()) for name, make in samples.ALL.items()}


class Page(HTMLParser):
    """What a test asks of a page: elements in order, ids, headings, and whether tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def tags(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in names]


def section(page: str, name: str) -> str:
    """Return one section of a page without its charts."""
    start = page.index(f'<section id="{name}"')
    text = page[start : page.index("</section>", start)]
    return re.sub(r"<svg.*?</svg>", "<svg/>", text, flags=re.S)


@pytest.mark.parametrize("name", samples.ALL)
def test_pages_are_well_formed(name: str) -> None:
    page = Page(PAGES[name])
    assert not page.unbalanced
    assert not page.open
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for reference in (attributes.get("aria-labelledby") or "").split():
            assert reference in ids
        target = attributes.get("href") or ""
        if target.startswith("#"):
            assert target[1:] in ids


@pytest.mark.parametrize("name", samples.ALL)
def test_headings_go_down_step_by_step(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(PAGES[name]).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", samples.ALL)
def test_nothing_is_requested_and_nothing_runs(name: str) -> None:
    page = Page(PAGES[name])
    scripts = re.findall(r"<script>(.*?)</script>", PAGES[name], flags=re.S)
    assert len(scripts) == len(page.tags("script")) == (name == "many_models")
    assert not page.tags("iframe", "object", "embed", "img", "base", "form", "audio", "video")
    for tag, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")], tag
        for key in ("src", "href", "action", "xlink:href", "srcset"):
            value = attributes.get(key)
            assert value is None or value.startswith("#") or value == "data:,"
    style = PAGES[name][PAGES[name].index("<style>") : PAGES[name].index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policy = [tag["content"] for tag in page.tags("meta") if tag.get("http-equiv") == "Content-Security-Policy"]
    assert policy[0] is not None
    assert policy[0].startswith("default-src 'none'")
    # Only the script of the search field may run, and only as it is.
    allowed = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    assert re.findall(r"script-src ([^;]*);", policy[0]) == allowed


@pytest.mark.parametrize("name", samples.ALL)
def test_charts_have_a_name_and_tables_have_heads(name: str) -> None:
    page = Page(PAGES[name])
    for attributes in page.tags("svg"):
        assert attributes["role"] == "img"
        assert attributes["aria-labelledby"]
    assert all(attributes.get("scope") in {"row", "col"} for attributes in page.tags("th"))
    assert len(page.tags("table")) == len(page.tags("caption"))
    figures = PAGES[name].count("<figure>")
    assert figures == PAGES[name].count("<figcaption")
    for after in PAGES[name].split("</figure>")[1:]:
        assert "<table" in after[:4000]


def test_hostile_text_is_text() -> None:
    page = PAGES["hostile"]
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;/style&gt;=cmd|" in page
    assert "{{ 7 * 7 }} {% raw %}" in page
    assert "49" not in section(page, "notes")
    assert "\x1b" not in page
    assert "\x07" not in page
    assert "\u202e" not in page
    page.encode()


def test_hostile_notebook_view() -> None:
    view = repr_html(samples.hostile())
    assert "<script" not in view
    assert "\x1b" not in view
    rules = re.findall(r"^([^\s{}][^{}]*)\{", view[view.index("<style>") + 7 : view.index("</style>")], flags=re.M)
    assert rules
    assert all(part.strip().startswith(".polyculture-audit") for rule in rules for part in rule.split(","))


def test_sections_only_where_there_is_content() -> None:
    ids = {name: re.findall(r'<section id="([a-z-]+)"', page) for name, page in PAGES.items()}
    assert ids["one_model"] == ["outcomes", "profile", "models", "notes", "reading"]
    assert ids["with_groups"] == [
        *("outcomes", "profile", "patterns", "models", "groups", "group-homogenization", "gaps"),
        *("collection", "pairs", "nulls", "no-answer", "notes", "reading"),
    ]
    for page in PAGES.values():
        assert re.findall(r'<li><a href="#([a-z-]+)"', page) == re.findall(r'<section id="([a-z-]+)"', page)


def test_the_headline_is_the_first_heading_and_the_three_numbers_follow() -> None:
    page = PAGES["waimai"]
    assert "<h1>775 of 11,987 reviews (6.5\u00a0%, 95\u00a0% interval 6.0 to 6.9\u00a0%)" in page
    big = page[page.index('<dl class="big">') : page.index("</dl>", page.index('<dl class="big">'))]
    for text in ("6.5\u00a0%", "0.35\u00a0%", "18.4", "17.1 to 19.7", "775 of 11,987 individuals", "at most 31.4"):
        assert text in big, text


def test_where_fewer_than_one_is_expected_the_difference_leads() -> None:
    assert "Observed minus expected" in PAGES["zero_events"]
    assert "Ratio H: observed / expected" not in PAGES["zero_events"]


def test_provenance_stands_on_page_one() -> None:
    page = PAGES["with_groups"]
    start = page.index('<section class="provenance"')
    text = page[start : page.index("</section>", start)]
    record = samples.with_groups().provenance
    for wanted in (
        *("waimai.csv", "9f86d081884c…", str(record.inputs[0].sha256), "12,004 read, 11,987 used", "11 (no label)"),
        *("misclassified", "counted as failed", "seed 0", "polyculture 0.1.0", "--id example_id", "2020"),
        *("212 clusters", "14 judged by 1", "fewer than 30", "1 warning"),
    ):
        assert wanted in text, wanted
    assert start < page.index("<main")


def test_tiny_and_huge_numbers_are_powers_of_ten() -> None:
    assert "10<sup>−49.4</sup>" in PAGES["many_models"]
    assert "10<sup>47.2</sup>" in PAGES["many_models"]


def test_long_tables_are_cut_and_say_so() -> None:
    models = tuple(samples.model(f"m{j}", 1000, 100) for j in range(300))
    page = html(msgspec.structs.replace(samples.waimai(), models=models))
    assert "The first 200 of 300 rows" in section(page, "models")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("waimai", "outcomes"),
        ("waimai", "profile"),
        ("unequal_sets", "patterns"),
        ("waimai", "models"),
        ("with_groups", "groups"),
        ("with_groups", "group-homogenization"),
        ("with_groups", "gaps"),
        ("waimai", "no-answer"),
        ("hostile", "notes"),
        ("one_model", "outcomes"),
    ],
)
def test_section(name: str, part: str, snapshot: SnapshotAssertion) -> None:
    assert section(PAGES[name], part) == snapshot


def test_notebook_view(snapshot: SnapshotAssertion) -> None:
    view = repr_html(samples.waimai())
    assert re.sub(r"<style>.*?</style>", "", view, flags=re.S) == snapshot


@pytest.mark.parametrize("make", [samples.with_groups, samples.many_models])
def test_the_same_record_gives_the_same_page(make: type[AuditRecord]) -> None:
    assert html(make()) == html(make())


def test_reasons_stand_once_beneath_their_table() -> None:
    notes = Footnotes()
    assert str(notes.mark("why")) == str(notes.mark("why")) == "<sup>a</sup>"
    assert str(notes.mark("other")) == "<sup>b</sup>"
    assert str(notes.mark("")) == ""
    assert notes.items() == [("a", "why"), ("b", "other")]


def test_numbers_in_html() -> None:
    assert str(number("-1.5 to -0.3 points")) == "−1.5 to −0.3 points"
    assert str(prose("2020-21 <b>")) == "2020-21 &lt;b&gt;"
    assert str(number("6.5 %")) == "6.5\u00a0%"


def test_a_census_has_no_word_of_intervals_and_tests() -> None:
    from test_terminal import census

    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", html(census()), flags=re.S)
    text = re.sub(r"<[^>]+>", " ", page)
    assert "interval" not in text
    assert not re.search(r"\bp\b|p-value", text)


def test_individuals_have_the_name_that_they_were_given() -> None:
    page = html(msgspec.structs.replace(samples.with_groups(), noun="<i>applicants"))
    assert "&lt;i&gt;applicants judged by at least" in page
    assert "Audit of 3 models on 11,987 &lt;i&gt;applicants" in page
    assert "<i>" not in page
    for head in re.findall(r"<thead>.*?</thead>|<caption.*?</caption>|<h[1-4].*?</h[1-4]>", page, flags=re.S):
        assert "ndividual" not in head


def test_the_failure_rule_is_shown_in_words() -> None:
    source = samples.provenance(failure_rule="decision=reject", failure_rule_in_words="the model decided 'reject'")
    page = html(samples.waimai(provenance=source))
    assert 'the model decided &#39;reject&#39; <span class="faint">(decision=reject)</span>' in page
    assert "<dt>Failure</dt><dd>Here: the model decided &#39;reject&#39;.</dd>" in page


def test_what_nobody_failed_to_answer_is_not_told() -> None:
    quiet = tuple(msgspec.structs.replace(model, no_answer=0) for model in samples.waimai().models)
    page = html(samples.waimai(models=quiet, no_answer=None))
    assert "<dt>No answer</dt>" not in page
    assert PAGES["waimai"].count("<dt>No answer</dt>") == 2


def test_label_errors_only_where_they_were_counted() -> None:
    record = samples.waimai()
    names = ("systemic_failure", "consistent_success", "homogeneous_outcomes")
    without = {name: msgspec.structs.replace(getattr(record, name), label_errors=None) for name in names}
    page = html(msgspec.structs.replace(record, **without))
    assert "Label errors" not in page
    assert "wrong label" not in page
    assert PAGES["waimai"].count("Label errors") == 2


def test_logarithms_are_folded() -> None:
    part = section(PAGES["waimai"], "outcomes")
    assert "log<sub>10</sub>" not in part[: part.index("<details>")]
    assert part.count("log<sub>10</sub>") == 2


def test_who_did_not_judge_is_named() -> None:
    part = section(PAGES["unequal_sets"], "patterns")
    assert "not judged by Google" in part
    assert "did not judge" in part
    assert "did not judge" not in section(PAGES["waimai"], "patterns")
    assert "less than 1 %" not in section(PAGES["waimai"], "patterns").replace("\u00a0", " ")
    record = samples.unequal_sets()
    joint = msgspec.structs.replace(record.patterns[-1], failed=("Amazon", "Baidu"))
    page = section(html(msgspec.structs.replace(record, patterns=(joint,))), "patterns")
    assert 'Amazon and Baidu <span class="sub">not judged by Google</span>' in page


def test_gaps_that_no_model_has_are_left_out_and_told_once() -> None:
    part = section(PAGES["with_groups"], "gaps")
    assert part.count("Equalized odds is not shown: labels have more than two values.") == 2
    assert "Equalized odds: difference" not in part
    assert "Demographic parity: difference" in part
    gap = samples.gap(("age",), ("a", "b", "c"))
    nothing = undefined("nobody was selected")
    models = tuple(
        msgspec.structs.replace(m, demographic_parity_difference=nothing, demographic_parity_ratio=nothing)
        for m in gap.models
    )
    record = samples.waimai(gaps=(msgspec.structs.replace(gap, models=models),))
    part = section(html(record), "gaps")
    assert "Demographic parity is not shown: nobody was selected." in part
    assert "compares how often" not in part


def test_models_show_whom_they_did_not_judge() -> None:
    assert "Not judged" not in section(PAGES["waimai"], "models")
    fewer = msgspec.structs.replace(samples.waimai().models[0], judged=11_900)
    record = samples.waimai(models=(fewer, *samples.waimai().models[1:]), judged_too_little={1: 13})
    part = section(html(record), "models")
    assert "Not judged" in part
    assert '>11,900</td><td class="num">100</td>' in part


def test_why_there_are_no_degrees_of_freedom_is_told() -> None:
    null = msgspec.structs.replace(samples.waimai().nulls[0], residual_df=None, residual_df_reason="because")
    assert "because" in section(html(samples.waimai(nulls=(null,))), "nulls")


def test_two_models_are_both() -> None:
    rows = samples.profile_rows([60, 30, 10], [0.55, 0.38, 0.07])
    page = html(samples.waimai(profile=rows))
    assert "both models failed 10.0" in page
    assert "all 2" not in page
