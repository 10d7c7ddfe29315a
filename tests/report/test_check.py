"""A check as text, JUnit, annotations, Markdown and HTML: every one escapes what it must."""

from __future__ import annotations

import io
import json
import re
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest
from rich.console import Console

from polyculture.gate.records import CheckRecord, LimitRecord
from polyculture.report.check import print_check, repr_html, value_words
from polyculture.report.check_ci import github_annotations, junit, markdown
from polyculture.report.json import json_schema, record_json

NASTY = 'a|b`c`<script>&"\n%0A::error::,]]>\x07\ud800\ufffe*x* [l](u) www.x.de'


def line(verdict: str = "broken", *, counts: bool = True, **more: object) -> LimitRecord:
    fields = {"field": "f", "rule": "at_most", "bound": 0.05, "value": 0.1, "limit": 1, "place": "limits.toml, limit 1"}
    fields |= {"verdict": verdict, "counts_as_broken": counts, **more}
    return LimitRecord(**fields)  # type: ignore[arg-type]


def record(*lines: LimitRecord) -> CheckRecord:
    count = {word: sum(one.verdict == word for one in lines) for word in ("within", "broken", "undefined")}
    return CheckRecord(
        sentence=f"A sentence {NASTY}.",
        file=f"audit {NASTY}.json",
        file_schema="polyculture/audit/1",
        version="1",
        counted_as_broken=sum(one.counts_as_broken for one in lines),
        limits=lines,
        **count,
    )


NASTY_LINE = line(field=NASTY, because=NASTY, reason=NASTY, file="limits, a:b.toml", line=7, place=NASTY)
ALLOWED = line("undefined", counts=False, value=None, reason="too few")
UNDEFINED = line("undefined", value=None, reason="too few")
WITHIN = line("within", counts=False, value=0.01)
ALL = record(NASTY_LINE, WITHIN, UNDEFINED, ALLOWED)


def test_junit_is_well_formed_and_counts_add_up() -> None:
    suites = ET.fromstring(junit(ALL))  # noqa: S314 (our own)
    (suite,) = suites
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped", "errors")} == {
        "tests": "4",
        "failures": "2",
        "skipped": "1",
        "errors": "0",
    }
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["failure"], ["skipped"]]
    assert [case[0].get("type") for case in (suite[0], suite[2])] == ["broken", "undefined"]
    assert "<script>" in str(suite[0][0].get("message"))
    assert suites.get("failures") == str(ALL.counted_as_broken)


def test_annotations_are_one_line_each_and_cannot_be_forged() -> None:
    lines = github_annotations(ALL).splitlines()
    assert [text.partition(" ")[0] for text in lines] == ["::error", "::error", "::warning"]
    properties, _, message = lines[0].removeprefix("::error ").partition("::")
    assert dict(part.split("=", 1) for part in properties.split(",")).keys() == {"file", "title", "line"}
    assert "file=limits%2C a%3Ab.toml" in properties
    assert "line=7" in properties
    assert "%250A" in message
    assert "\\x07" in message


def test_markdown_shows_text_as_it_is() -> None:
    text = markdown(ALL)
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}
    assert "<script>" not in text
    assert "a\\|b\\`c\\`&lt;script&gt;&amp;" in text
    assert "\\[l\\](u) www&#46;x.de" in text
    assert [row.split("|")[1].strip() for row in rows[2:]] == ["**broken**", "**undefined**", "within", "undefined"]


def test_html_is_escaped() -> None:
    found = repr_html(ALL)
    assert "<script>" not in found
    assert "&lt;script&gt;" in found
    ET.fromstring(found.replace("\ufffe", ""))  # noqa: S314 (our own; HTML can hold what XML cannot)
    assert found.count("<tr>") == 5


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_names_what_is_broken_and_why(width: int) -> None:
    out = io.StringIO()
    print_check(ALL, Console(file=out, width=width))
    text = " ".join(out.getvalue().split())
    assert "undefined (allowed)" in text
    assert "Undefined: f is undefined; the limit is at most 0.05 (too few). [limits.toml, limit 1]" in text
    assert "\x07" not in text
    assert max(len(one) for one in out.getvalue().splitlines()) <= width


@pytest.mark.parametrize("width", [40, 60, 70, 90, 140])
def test_no_verdict_and_no_name_is_cut_on_narrow_screens(width: int) -> None:
    field = "groups[by.sex=female].systemic_failure.difference.high"
    changed = msgspec.structs.replace(WITHIN, field=field, value=0.085794, baseline=0.05211, change=0.033684)
    out = io.StringIO()
    print_check(record(changed), Console(file=out, width=width))
    text = "".join(out.getvalue().split())
    assert all(part in text for part in ("groups[by.sex=female]", "systemic", "failure", ".difference.high"))
    assert "0.08579(was0.05211,+0.03368)" in text
    assert "within" in text
    assert "atmost0.05" in text


def test_many_numbers_show_the_broken_ones_first() -> None:
    out = io.StringIO()
    print_check(record(*[WITHIN] * 60, line(field="last")), Console(file=out, width=80))
    shown = out.getvalue()
    assert shown.index("last") < shown.index("within")
    assert "and 21 more" in shown


@pytest.mark.parametrize(
    ("value", "words"), [(0.05, "0.05"), (0.0500004, "0.0500004"), (0.1, "0.1"), (123456789.0, "123456789")]
)
def test_a_number_is_told_from_its_bound(value: float, words: str) -> None:
    assert value_words(line(value=value)) == words


def test_a_change_shows_both_numbers() -> None:
    assert value_words(line(rule="at_most_increase", value=0.3, baseline=0.2, change=0.1, against="b")) == (
        "0.3 (was 0.2, +0.1)"
    )
    change = 0.008 - 0.009
    fall = line(rule="at_most_increase", bound=0.001, value=0.008, baseline=0.009, change=change, against="b")
    assert value_words(fall) == "0.008 (was 0.009, -0.001)"


def test_the_json_is_what_the_schema_says() -> None:
    found = json.loads(record_json(ALL))
    assert found["schema"] == "polyculture/check/1"
    jsonschema.validate(found, json_schema("check"))
    found["limits"][0]["verdict"] = "passed"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, json_schema("check"))
