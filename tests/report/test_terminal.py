from __future__ import annotations

import io
import re

import msgspec
import pytest
import sample_records as samples
from rich.cells import cell_len
from rich.console import Console

from polyculture.audit.records import AuditRecord
from polyculture.report.terminal import print_audit


def printed(record: AuditRecord, width: int = 100, encoding: str = "utf-8", **options: object) -> str:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding, newline="\n")
    print_audit(record, Console(file=file, width=width, **options))  # type: ignore[arg-type]
    file.flush()
    return buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("name", samples.ALL)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit(name: str, width: int) -> None:
    assert max(cell_len(line) for line in printed(samples.ALL[name](), width).splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_sentence_leads_and_the_numbers_follow(width: int) -> None:
    text = printed(samples.waimai(), width)
    assert text.startswith("775 of 11,987 reviews (6.5 %, 95 % interval 6.0 to 6.9 %)")
    for number in ("18.4", "17.1 to 19.7", "0.35 %", "+6.1", "72.8 %", "31.4", "12"):
        assert number in text, number


def test_one_screen() -> None:
    assert len(printed(samples.waimai(), 100).splitlines()) <= 40


def test_bars_show_observed_and_expected() -> None:
    lines = {line.split()[0]: line for line in printed(samples.waimai()).splitlines() if line[:1].isdigit()}
    assert lines["0"].rstrip().endswith("████████████████│███")
    assert lines["1"].rstrip().endswith("████     │")


def test_ascii_terminals_get_ascii() -> None:
    text = printed(samples.hostile(), 80, "ascii")
    assert text.isascii()
    assert "################|###" in text
    assert "very old / female" in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_data_text_stands_literally(encoding: str) -> None:
    text = printed(samples.hostile(), 120, encoding)
    assert "[red]x[/red]\\x1b[31m" in text
    assert "<script>alert(1)</script>" in text
    assert "[bold]were[/bold]" in text
    assert "\\u202ereversed" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_emoji_codes_are_not_replaced() -> None:
    assert ":smile:" in printed(samples.waimai((":smile:", "b", "c")))


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(samples.waimai(), force_terminal=True)
    assert "\x1b[3" not in text.replace("\x1b[3m", "")  # italics are no colour


def test_groups_show_too_few_and_unknown() -> None:
    lines = printed(samples.with_groups(), 120).splitlines()
    assert any(line.startswith("very old ") and "too few" in line for line in lines)
    assert any(line.startswith("(missing) ") and "9.0 %" in line and "unknown" not in line for line in lines)


def test_model_gaps_stand_beside_the_systemic_gap() -> None:
    text = printed(samples.with_groups(), 100)
    part = text[text.index("Gap between groups of age") :]
    assert part.index("2.1 (0.9 to 3.4)") < part.index("failed by all models") < part.index("8.3 (7.1 to 9.6)")
    assert "the same with no difference" in part


def test_undefined_numbers_say_why_once() -> None:
    text = printed(samples.one_model())
    assert text.count("Undefined: one model: there is nothing to homogenize") == 1
    assert "10^47.2" in printed(samples.many_models())


def test_warnings_and_the_other_reading_of_no_answer_are_told() -> None:
    text = " ".join(printed(samples.with_groups(), 200).split())
    assert "Warning: The group column 'age' has 2,106 missing values" in text
    assert "counted as missing, 6.4 %" in text


def test_no_profile_and_no_models_are_no_trouble() -> None:
    record = msgspec.structs.replace(samples.waimai(), profile=(), models=())
    assert "775 of 11,987" in printed(record)


def census() -> AuditRecord:
    """Return a record as a census has it: no interval, no test."""
    record = samples.with_groups()
    plain = msgspec.to_builtins(record)

    def without(value: object) -> object:
        if isinstance(value, dict):
            if {"value", "low", "high"} <= value.keys():
                return {"value": value["value"], "low": None, "high": None, "reason": "census: no sampling uncertainty"}
            tests = {"p_value", "p_adjusted", "profile_p_value", "spread_p_value", "expected_with_no_difference"}
            return {key: None if key in tests else without(item) for key, item in value.items()}
        return [without(item) for item in value] if isinstance(value, list | tuple) else value

    plain = without(plain)
    assert isinstance(plain, dict)
    plain["provenance"] |= {"census": True, "command": "", "clusters": None}
    plain["headline"], plain["notes"] = "775 of 11,987 reviews (6.5 %) were failed by all 3 models.", []
    return msgspec.convert(plain, AuditRecord)


def test_a_census_has_no_word_of_intervals_and_tests() -> None:
    text = printed(census(), 120)
    assert "Outcomes" in text
    assert "interval" not in text
    assert "p corr." not in text


def test_individuals_have_the_name_that_they_were_given() -> None:
    record = msgspec.structs.replace(samples.with_groups(), noun="applicants")
    text = printed(record, 120)
    assert "How many of 3 models fail each applicant" in text
    assert "individual" not in text.split("Warning")[0]
    assert [line.split()[1] for line in text.splitlines() if line.startswith("group ")] == ["applicants"] * 2


def test_rows_have_both_names_of_what_they_show() -> None:
    lines = printed(samples.waimai(), 120).splitlines()
    assert any(line.startswith("difference (excess)") for line in lines)
    assert any(line.startswith("ratio (H)") for line in lines)


def test_no_line_breaks_before_a_per_cent_sign() -> None:
    record = samples.waimai()
    for width in range(40, 120):
        assert not [line for line in printed(record, width).splitlines() if line.lstrip().startswith("%")]


def test_conditions_and_their_opposites_are_shown_as_groups() -> None:
    names = ("a", "b", "c")
    groups = tuple(samples.group({"age>=40": value}, 300, 20, names) for value in ("false", "true"))
    lines = printed(msgspec.structs.replace(samples.waimai(), groups=groups), 120).splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith(("not ", "age"))] == ["not age>=40", "age>=40"]


def test_who_was_not_judged_is_counted_by_model() -> None:
    record = samples.waimai()
    assert "not judged" not in printed(record)
    fewer = msgspec.structs.replace(record.models[0], judged=11_900)
    text = printed(msgspec.structs.replace(record, models=(fewer, *record.models[1:])))
    line = next(line for line in text.splitlines() if line.startswith(fewer.name))
    assert line.split()[1:4] == ["11,900", "2,114", "87"]


def test_other_numbers_of_judgements_are_told_in_words() -> None:
    text = " ".join(printed(samples.unequal_sets(), 200).split())
    assert "the 11,987 individuals judged by 3 (those judged by 2 are in --html and --json)" in text


@pytest.mark.parametrize("width", [25, 40, 50])
def test_a_very_narrow_terminal_loses_no_label_and_no_number(width: int) -> None:
    wide, narrow = printed(samples.waimai(), 70), printed(samples.waimai(), width)
    assert all(len(line) <= width for line in narrow.splitlines())
    for word in ("observed", "expected", "all fail", "none fails", "either"):
        assert word in narrow
    together = "".join(narrow.split())
    for number in re.findall(r"\d[\d.,]*", wide):
        assert number in together
