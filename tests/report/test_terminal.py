from __future__ import annotations

import io

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
    assert any(line.startswith("(missing) (unknown)") and "9.0 %" in line for line in lines)


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
