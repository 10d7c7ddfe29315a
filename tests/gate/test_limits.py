"""Limits as they are written: each wrong line is refused with its place and a mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.errors import FileError, PolycultureError, UsageError
from polyculture.gate.limits import from_options, from_tables, read_limits

FIELD = 'field = "individuals"\n'


def limits_file(folder: Path, text: str) -> Path:
    path = folder / "limits.toml"
    path.write_text(text, encoding="utf-8")
    return path


WRONG = {
    "no TOML": ("[[limit]", "is no TOML"),
    "nothing": ("", "holds no limits"),
    "a table for a list": ("[limit]\n" + FIELD + "at_most = 1", "holds no limits"),
    "unknown at the top": ("[[limits]]\n" + FIELD, "Did you mean 'limit'?"),
    "unknown key": (
        "[[limit]]\n" + FIELD + "at_mst = 1",
        "limit 1: there is no key 'at_mst' in a limit. Did you mean 'at_most'?",
    ),
    "no field": ("[[limit]]\nat_most = 1", "limit 1 names no field"),
    "field no text": ("[[limit]]\nfield = 1\nat_most = 1", "field is 1, but must be text"),
    "field no name": ("[[limit]]\nfield = 'a['\nat_most = 1", "limit 1: 'a[' names no field"),
    "no bound": ("[[limit]]\n" + FIELD, "limit 1 has no bound"),
    "text bound": ("[[limit]]\n" + FIELD + "at_most = '5 %'", "at_most is '5 %', but must be a number"),
    "true bound": ("[[limit]]\n" + FIELD + "at_most = true", "at_most is True, but must be a number"),
    "NaN bound": ("[[limit]]\n" + FIELD + "at_most = nan", "at_most is nan, which bounds nothing"),
    "infinite bound": ("[[limit]]\n" + FIELD + "at_least = -inf", "at_least is -inf, which bounds nothing"),
    "no number between": (
        "[[limit]]\n" + FIELD + "at_most = 1\nat_least = 2",
        "at_least 2 is above at_most 1: no number is within",
    ),
    "change from nothing": ("[[limit]]\n" + FIELD + "at_most_increase = 1", "names no result to measure it from"),
    "nothing to compare": ("[[limit]]\n" + FIELD + "at_most = 1\nagainst = 'b.json'", "bounds no change"),
    "negative change": (
        "against = 'b.json'\n[[limit]]\n" + FIELD + "at_most_increase = -1",
        "for the other way, at_most_decrease",
    ),
    "undefined misspelt": ("[[limit]]\n" + FIELD + "at_most = 1\nundefined = 'ok'", "undefined is 'ok'"),
    "overlap no truth value": (
        "against = 'b.json'\n[[limit]]\n" + FIELD + "at_most_change = 1\nunless_intervals_overlap = 'yes'",
        "must be true or false",
    ),
    "second limit": ("[[limit]]\n" + FIELD + "at_most = 1\n[[limit]]\n" + FIELD, "limit 2 has no bound"),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_with_place_and_mend(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(PolycultureError) as caught:
        read_limits(limits_file(tmp_path, text))
    assert says in str(caught.value)
    assert "limits.toml" in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_not_there_a_folder_and_other_encodings(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="There is no file"):
        read_limits(tmp_path / "none.toml")
    with pytest.raises(FileError, match="is a folder"):
        read_limits(tmp_path)
    (tmp_path / "limits.toml").write_bytes("[[limit]]\nbecause = 'für'".encode("latin-1"))
    with pytest.raises(FileError, match="is not UTF-8"):
        read_limits(tmp_path / "limits.toml")


def test_lines_and_paths_are_those_of_the_file(tmp_path: Path) -> None:
    text = f"against = 'old/audit.json'\n\n[[limit]]\n{FIELD}at_most = 1\n\n  [[ limit ]]\n{FIELD}at_most_change = 2\n"
    first, second = read_limits(limits_file(tmp_path, text))
    assert (first.line, second.line) == (3, 7)
    assert first.against is None
    assert second.against == str(tmp_path / "old/audit.json")
    (other,) = [one for one in read_limits(limits_file(tmp_path, text), "new.json") if one.against]
    assert other.against == "new.json"


def test_where_lines_cannot_be_told_none_is_claimed(tmp_path: Path) -> None:
    inline = limits_file(tmp_path, 'limit = [{field = "a", at_most = 1}]')
    assert [one.line for one in read_limits(inline)] == [None]
    quoted = limits_file(tmp_path, '[[limit]]\nfield = "a"\nat_most = 1\nbecause = """\n[[limit]]\n"""')
    assert [one.line for one in read_limits(quoted)] == [None]


def test_options_split_at_the_last_equals_sign() -> None:
    (limit,) = from_options({"at_most": ["models[name=a].failure_rate=0.05"]}, None)
    assert limit.field == "models[name=a].failure_rate"
    assert limit.bounds == (("at_most", 0.05),)


@pytest.mark.parametrize("text", ["individuals", "=1", "individuals=", "individuals=x", "individuals=nan"])
def test_an_option_that_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--at-most"):
        from_options({"at_most": [text]}, None)


def test_dictionaries_are_limits_too() -> None:
    assert from_tables([{"field": "a", "at_most": 1, "undefined": "allow"}])[0].undefined_allowed
    with pytest.raises(UsageError, match="There are no limits"):
        from_tables([])
    with pytest.raises(UsageError, match="must be a dictionary"):
        from_tables(["a"])  # type: ignore[list-item]
