from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.audit.records import Statistic, undefined
from polyculture.report import words
from polyculture.report.texts import shorten, shorten_all, shown


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.06465, "6.5 %"),
        (0.0035214, "0.35 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.9997, "99.97 %"),
        (0.9996, "99.96 %"),
        (0.99999, "99.999 %"),
        (0.1, "10.0 %"),
        (0.728, "72.8 %"),
        (1e-5, "0.0010 %"),
        (1e-90, "10^-90.0"),
        (-0.015, "-1.5 %"),
    ],
)
def test_percent_has_sensible_digits(share: float, text: str) -> None:
    assert words.percent(share) == text


@given(st.floats(min_value=1e-12, max_value=1 - 1e-9))
def test_a_share_between_none_and_all_is_never_written_as_none_or_all(share: float) -> None:
    text = words.percent(share)
    assert text != "0 %"
    assert not text.startswith("100") or share > 1 - 1e-8


@given(
    st.floats(min_value=0, max_value=1).filter(lambda x: x == 0 or x > 1e-5), st.floats(min_value=2e-6, max_value=0.4)
)
def test_the_ends_of_an_interval_differ_in_words(low: float, width: float) -> None:
    high = min(1.0, low + width)
    if high - low < 1e-6:
        return
    text = words.interval(Statistic(value=(low + high) / 2, low=low, high=high))
    first, _, last = text.removesuffix(" %").partition(" to ")
    assert first != last


def test_interval_words() -> None:
    assert words.interval(Statistic(value=0.0646, low=0.0604, high=0.0691)) == "6.0 to 6.9 %"
    assert words.interval(Statistic(value=0.064653, low=0.064601, high=0.064702)) == "6.460 to 6.470 %"
    assert words.interval(Statistic(value=0.0, low=0.0, high=0.0062)) == "0 to 0.62 %"
    assert words.interval(Statistic(value=0.061, low=0.057, high=0.066), "points") == "+5.7 to +6.6 points"
    assert words.interval(Statistic(value=0.083, low=0.071, high=0.096), "gap") == "7.1 to 9.6 points"
    assert words.interval(Statistic(value=18.4, low=17.1, high=None), "ratio") == "at least 17.1"
    assert words.interval(Statistic(value=0.0, low=None, high=2.0), "ratio") == "at most 2.00"
    assert words.interval(Statistic(value=1.0, low=0.5, high=float("inf")), "ratio") == "0.50 to no limit"
    assert words.interval(Statistic(value=18.4, reason="fewer than 10 clusters")) == ""


def test_undefined_says_why() -> None:
    assert words.statistic(undefined("no individuals")) == "undefined: no individuals"
    assert words.number(undefined("x")) == "undefined"
    assert words.ratio(None, 412.34) == "10^412.3"
    assert words.expected(0.0, -412.3) == "10^-412.3"
    assert words.expected(None) == "undefined"


def test_a_census_is_not_told_beside_every_number() -> None:
    assert words.reason_of(Statistic(value=0.1, reason="census: no interval")) == ""
    assert words.reason_of(undefined("census of nobody")) == "census of nobody"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "< .001"), (0.00099, "< .001"), (0.001, ".001"), (0.05, ".050"), (1.0, "1.000"), (None, "undefined")],
)
def test_p_values(value: float | None, text: str) -> None:
    assert words.p_value(value) == text


def test_missing_and_empty_group_values_are_told_apart() -> None:
    assert words.by_words({"sex": None}) == "(missing)"
    assert words.by_words({"sex": ""}) == '""'
    assert words.by_words({}) == "all"


@given(st.text())
def test_shown_text_is_printable_and_encodable(text: str) -> None:
    result = shown(text)
    result.encode()
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in result)
    assert not any(c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for c in result)


def test_shown_keeps_ordinary_text_of_any_script() -> None:
    for text in ("naïve", "日本語", "👩\u200d💻", "עברית", "a'b\"c<d>"):
        assert shown(text) == text
    assert shown("a\nb\x1b") == "a\\nb\\x1b"
    assert shown("\udc80") == "\\udc80"


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.integers(min_value=4, max_value=40))
def test_shortened_names_fit(names: list[str], limit: int) -> None:
    assert all(len(name) <= limit for name in shorten_all(names, limit))
    assert shorten(names[0], limit) == names[0] or len(names[0]) > limit


def test_shortened_names_stay_apart() -> None:
    names = [f"organisation-{i % 7}/a-model-with-a-long-name-{i:02d}b-instruct" for i in range(60)]
    assert len(set(shorten_all(names, 24))) == 60


@given(
    st.floats(min_value=1e-5, max_value=0.9999),
    st.floats(min_value=0.0, max_value=0.99),
    st.floats(min_value=0.0, max_value=0.99),
    st.sampled_from(["percent", "points", "gap", "ratio"]),
)
def test_a_number_and_its_interval_have_the_same_places(value: float, down: float, up: float, kind: str) -> None:
    size = 1.0 if kind != "ratio" else 40.0
    whole = Statistic(value=value * size, low=value * (1 - down) * size, high=(value + (1 - value) * up) * size)
    numbers = [words.number(whole, kind), *words.interval(whole, kind).split(" to ")]
    places = {
        len(number.split()[0].partition(".")[2]) for number in numbers if number.split()[0] not in {"0", "+0", "100"}
    }
    assert len(places) == 1, numbers


def test_an_interval_that_leaves_one_out_does_not_look_as_if_it_held_it() -> None:
    above = Statistic(value=1.0077, low=1.0013, high=1.0141)
    assert words.statistic(above, "ratio") == "1.008 (1.001 to 1.014)"
    assert words.interval(Statistic(value=0.99, low=0.981, high=0.9996), "ratio") == "0.9810 to 0.9996"
    assert words.interval(Statistic(value=1.01, low=0.999, high=1.02), "ratio") == "1.00 to 1.02"


def test_ratios_above_and_below_ten_have_the_same_places() -> None:
    assert words.statistic(Statistic(value=10.21, low=9.5, high=11.0), "ratio") == "10.2 (9.5 to 11.0)"
    assert words.statistic(Statistic(value=9.5, low=8.0, high=12.31), "ratio") == "9.50 (8.00 to 12.31)"
    assert words.statistic(Statistic(value=0.05, low=0.0003, high=0.12)) == "5.00 % (0.03 to 12.00 %)"


def test_lists_and_all_models_in_words() -> None:
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed([]) == ""
    assert words.all_models(2) == "both models"


def test_groups_of_conditions_and_of_truth_values() -> None:
    assert words.by_words({"age>=40": "true"}) == "age>=40"
    assert words.by_words({"sex": "f", "age>=40": "false"}) == "f · not age>=40"
    assert words.by_words({"sex = f or age < 20": "false"}) == "not (sex = f or age < 20)"
    assert words.by_words({"veteran": "true"}) == "veteran = true"
    assert words.by_words({"age>=40": None}) == "(missing)"


def test_the_headline_writes_numbers_as_the_report_does() -> None:
    from polyculture.audit import headline

    assert headline.number is words.number
    assert headline.interval is words.interval


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (1e-9, -0.01, 0.02, "0.00 points (-1.00 to +2.00 points)"),
        (-1e-9, -0.1, 0.2, "0.0 points (-10.0 to +20.0 points)"),
        (-0.0003, -0.001, 0.0016, "-0.030 points (-0.100 to +0.160 points)"),
        (4e-7, -2e-7, 8e-7, "+0.000040 points (-0.000020 to +0.000080 points)"),
        (0.0611, 0.05, 0.07, "+6.1 points (+5.0 to +7.0 points)"),
    ],
)
def test_a_difference_near_0_has_the_digits_of_its_interval(value: float, low: float, high: float, said: str) -> None:
    assert words.statistic(Statistic(value=value, low=low, high=high, method="m"), "points") == said


def test_a_tiny_difference_is_a_power_of_ten_of_points() -> None:
    assert words.points(4e-7) == "+10^-4.4 points"  # 4e-7 as a share, 4e-5 in points
    assert words.points(-4e-7) == "-10^-4.4 points"
