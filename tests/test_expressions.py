from __future__ import annotations

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture import expressions
from polyculture.errors import ColumnError, PolycultureError, UsageError

TABLE = pl.DataFrame(
    {
        "status": ["Rejected", "Open", None, "on hold"],
        "score": [0.2, 0.9, 0.5, None],
        "n": [1, 2, 3, 4],
        "my col": [True, False, True, None],
    }
)


def evaluate(text: str) -> list[bool | None]:
    frame = nw.from_native(TABLE.lazy())
    columns = {name: (nw.col(name), dtype) for name, dtype in frame.collect_schema().items()}
    result = frame.select(x=expressions.compile(expressions.parse(text), columns)).collect()
    return result["x"].to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("status=Rejected", [True, False, None, False]),
        ("status == 'on hold'", [False, False, None, True]),
        ("status != Rejected", [False, True, None, True]),
        ("score<0.5", [True, False, False, None]),
        ("score >= .5 and n < 3", [False, True, False, False]),
        ("n=1 or n=4", [True, False, False, True]),
        ("not n in [1, 2]", [False, False, True, True]),
        ("n not in [1,2]", [False, False, True, True]),
        ("score in [1, 0.5]", [False, False, True, None]),
        ("n=1 or n=2 and n=3", [True, False, False, False]),
        ("(n=1 or n=2) and n=2", [False, True, False, False]),
        ("`my col`=true", [True, False, True, None]),
        ("status=null", [False, False, True, False]),
        ("status != null", [True, True, False, True]),
        ("status in [Open, null]", [False, True, True, False]),
        ("n >= 2 & n <= 3 | n = 1", [True, True, True, False]),
        ("n > -1", [True, True, True, True]),
    ],
)
def test_values(text: str, expected: list[bool | None]) -> None:
    assert evaluate(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "status", "status =", "= 3", "n in 3", "(n=1", "n=1)", "n=1 n=2", "n=1 and", "n in [1", "'n'=1", "n = ="],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        expressions.parse(text)


@pytest.mark.parametrize("text", ["n='1'", "status=1", "`my col`=1", "score=true", "n in [1, x]"])
def test_types_are_never_converted(text: str) -> None:
    with pytest.raises(ColumnError, match="Types are never converted silently"):
        evaluate(text)


def test_a_misspelt_column_is_named_with_the_nearest() -> None:
    with pytest.raises(ColumnError, match=r"no column 'scoer'.*Did you mean 'score'"):
        evaluate("scoer<1")


def test_columns_of_names_each_once() -> None:
    assert expressions.columns_of(expressions.parse("a=1 and (b=2 or not a=3)")) == ("a", "b")


def test_deep_nesting_is_refused_not_a_crash() -> None:
    with pytest.raises(UsageError, match="nested"):
        expressions.parse("(" * 5000 + "n=1" + ")" * 5000)
    with pytest.raises(UsageError, match="nested"):
        expressions.parse("not " * 5000 + "n=1")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    problem = None
    try:
        expressions.parse(text)
    except PolycultureError as caught:
        problem = caught
    assert problem is None or problem.hint
