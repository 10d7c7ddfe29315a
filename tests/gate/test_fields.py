"""Names of numbers: read, followed through a document, and the nearest where they lead nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.errors import UsageError
from polyculture.gate.fields import NoFieldError, find
from polyculture.gate.paths import parse, written
from polyculture.gate.shape import shape_of

SHAPE = shape_of("polyculture/audit/1")


def stat(value: float | None, **more: object) -> dict[str, object]:
    return {"value": value, "low": None, "high": None, **more}


DOCUMENT = {
    "headline": "text",
    "individuals": 100,
    "models": [
        {"name": "a.b", "failure_rate": stat(0.1, low=0.05, high=0.2)},
        {"name": "a*", "failure_rate": stat(0.2)},
        {"name": 'say "so"', "failure_rate": stat(None, reason="no individual was judged")},
    ],
    "groups": [
        {"by": {"sex": "F"}, "individuals": 60, "status": "reported", "systemic_failure": {"observed": stat(0.3)}},
        {"by": {"sex": None}, "individuals": 3, "status": "too few", "systemic_failure": None},
        {"by": {"sex": "F", "age>=40": "true"}, "individuals": 30, "systemic_failure": {"observed": stat(0.4)}},
    ],
    "gaps": [{"by": ["sex"], "groups": 2}, {"by": ["age", "sex"], "groups": 4}],
    "profile": [{"judged": 3, "failed": 0, "count": 7}, {"judged": 3, "failed": 1, "count": 8}],
    "group_homogenization": None,
    "nulls": [],
    "provenance": {"thresholds": {"m.x": 0.5}},
}


def values(name: str) -> list[float | None]:
    return [one.value for one in find(DOCUMENT, parse(name), SHAPE)]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("individuals", [100]),
        ("models[name=a.b].failure_rate", [0.1]),
        ("models[name=a.b].failure_rate.value", [0.1]),
        ("models[name=a.b].failure_rate.high", [0.2]),
        ("models[name='a*'].failure_rate", [0.2]),  # in quotes a star is a letter
        ("models[name=a*].failure_rate", [0.1, 0.2]),
        ("models[0].failure_rate", [0.1]),
        ("models.*.failure_rate", [0.1, 0.2, None]),
        ("models[*].failure_rate", [0.1, 0.2, None]),
        ("groups[by.sex=F].individuals", [60]),  # not the intersection with age
        ("groups[by.sex=*].individuals", [60, 3]),
        ("groups[by.sex=null].individuals", [3]),
        ("groups[by.sex=F, by.age>=40=true].individuals", [30]),
        ('groups[by.sex=F, by."age>=40"="true"].systemic_failure.observed', [0.4]),
        ("gaps[by=sex].groups", [2]),
        ("gaps[by=sex+age].groups", [4]),
        ("profile[judged=3, failed=1].count", [8]),
        ("provenance.thresholds.'m.x'", [0.5]),
        ("provenance.thresholds[*]", [0.5]),
    ],
)
def test_a_name_leads_to_its_numbers(name: str, wanted: list[float | None]) -> None:
    assert values(name) == wanted


def test_every_number_has_a_name_that_leads_to_it_alone() -> None:
    """The resolved name of an element finds this element again, whatever its name holds."""
    for name in ("models[*].failure_rate", "groups[*].individuals", "gaps[*].groups", "profile[*].count"):
        for one in find(DOCUMENT, parse(name), SHAPE):
            assert find(DOCUMENT, parse(one.field), SHAPE) == [one], one.field


@given(st.text(st.characters(exclude_characters="\"'", exclude_categories=("Cs",)), min_size=1))
def test_any_name_of_a_model_can_be_selected(name: str) -> None:
    document = {"models": [{"name": name, "judged": 1}, {"name": name + "x", "judged": 2}]}
    found = find(document, parse("models[*].judged"), SHAPE)[0]
    assert find(document, parse(found.field), SHAPE) == [found]
    assert written(parse(found.field)) == found.field


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("models[2].failure_rate", "no individual was judged"),
        ("models[2].failure_rate.high", "no individual was judged"),
        ("groups[by.sex=null].systemic_failure.observed.high", "too few"),
        ("group_homogenization.worst.value", "the file holds null there"),
    ],
)
def test_a_number_that_is_null_is_undefined_with_its_reason(name: str, reason: str) -> None:
    (found,) = find(DOCUMENT, parse(name), SHAPE)
    assert found.value is None
    assert found.reason == reason


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("indviduals", "'individuals'"),
        ("modles[name=a].failure_rate", "'models[name=a].failure_rate'"),
        ("groups[by.sex=F].systemic_failure.observd", "systemic_failure.observed'"),
        ("failure_rate.value", "'models[*].failure_rate.value'"),
        ("group_homogenization.wrst.value", "'group_homogenization.worst'"),  # below a null, by the schema
        ("models[name=a.c].failure_rate", "models[name=a.b]"),
        ("groups[by.sex=M].individuals", "groups[by.sex=F]"),
        ("groups[by.gender=F].individuals", "groups[by.sex=F]"),
        ("models.failure_rate", "models[*].failure_rate"),
        ("nulls[*].excess", "--nulls"),
        ("zzz", "The fields there are: 'headline'"),
    ],
)
def test_a_name_that_leads_nowhere_gets_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(NoFieldError) as caught:
        find(DOCUMENT, parse(name), SHAPE)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("headline", "text, not a number"),
        ("models", "a list, not a number"),
        ("models[0]", "an object, not a number"),
        ("individuals[0]", "no list to select from"),
    ],
)
def test_what_is_no_number_is_refused(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find(DOCUMENT, parse(name), SHAPE)


@pytest.mark.parametrize(
    "name", ["", ".", "a.", "a..b", "a[", "a[]", "a[x]", "a[=x]", "a[x=]", 'a."b', "a]b", "a[0]b", "=", "a.[0]"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"names no field|not understood"):
        parse(name)


@given(st.text())
def test_random_text_is_a_name_or_a_usage_error(text: str) -> None:
    try:
        steps = parse(text)
    except UsageError:
        return
    assert steps
