from __future__ import annotations

import narwhals as nw
import polars as pl
import pytest

from polyculture.errors import ColumnError, UsageError
from polyculture.failure import FailureRule, parse_rule


def states(rule: str, values: list[object], labels: list[object] | None = None) -> tuple[object, list[object]]:
    frame = nw.from_native(pl.DataFrame({"v": values, "y": labels or values}).lazy())
    schema = frame.collect_schema()
    label = nw.col("y") if labels else None
    judged, failed = parse_rule(rule).states(
        nw.col("v"), schema["v"], label=label, label_dtype=schema["y"], threshold=nw.lit(0.7)
    )
    columns = {"failed": failed} | ({"judged": judged} if judged is not None else {})
    table = frame.select(**columns).collect()
    return (table["judged"].to_list() if judged is not None else None), table["failed"].to_list()


@pytest.mark.parametrize(
    ("rule", "values", "labels", "judged", "failed"),
    [
        ("misclassified", ["a", "b"], ["a", "a"], None, [False, True]),
        ("decision=reject", ["reject", "hire"], None, None, [True, False]),
        ("decision=0", [0, 1], None, None, [True, False]),
        ("decision=true", [True, False], None, None, [True, False]),
        ("false-negative=sick", ["well", "sick", "well"], ["sick", "sick", "well"], [True, True, False], None),
        ("false-positive=1", [1, 0, 1], [0, 0, 1], [True, True, False], None),
        ("score<0.5", [0.4, 0.5], None, None, [True, False]),
        ("score > 2", [2.0, 2.5], None, None, [False, True]),
        ("outside-top=0.1", [0.6, 0.7], None, None, [True, False]),
        ("failed", [1, 0], None, None, [True, False]),
        ("correct", [1, 0], None, None, [False, True]),
        ("correct", [True, False], None, None, [False, True]),
    ],
)
def test_rules(rule: str, values: list, labels: list | None, judged: list | None, failed: list | None) -> None:
    found_judged, found_failed = states(rule, values, labels)
    assert found_judged == judged
    if failed is None:
        wrong = [v != y for v, y in zip(values, labels or [], strict=True)]
        failed_where_judged = [f for f, j in zip(found_failed, judged or [], strict=True) if j]
        assert failed_where_judged == [w for w, j in zip(wrong, judged or [], strict=True) if j]
    else:
        assert found_failed == failed


@pytest.mark.parametrize(
    "text",
    ["", "misclasified", "decision", "decision=", "score<x", "outside-top=0", "outside-top=2", "failed=3", "score"],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert caught.value.hint


def test_the_nearest_rule_is_named() -> None:
    with pytest.raises(UsageError, match="Did you mean 'misclassified'"):
        parse_rule("misclasified")


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(ColumnError, match="'reject'"):
        states("decision=reject", [0, 1])


def test_rules_are_said_in_words() -> None:
    assert str(FailureRule("when", "status=x")) == "failed when status=x"
    assert str(parse_rule("score<0.5")) == "score<0.5"
    for rule in ("misclassified", "decision=x", "false-negative=x", "outside-top=.1", "failed", "score>1"):
        assert parse_rule(rule).in_words()
