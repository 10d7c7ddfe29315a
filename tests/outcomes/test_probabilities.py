"""Columns of probabilities: found by a pattern, turned into answers, and refused with place and mend."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import ColumnError, PolycultureError, UsageError, ValueInDataError
from polyculture.outcomes import Mapping
from polyculture.tally.by_columns import usable_columns

COLUMNS: dict[str, list[Any]] = {
    "item": [1, 2, 3, 4],
    "truth": ["A", "B", "C", "A"],
    "one:A": [0.6, 0.2, 0.3, 0.5],
    "one:B": [0.4, 0.8, 0.3, 0.5],
    "one:C": [None, None, 0.4, None],
    "two:A": [0.1, 0.5, 0.2, None],
    "two:B": [0.9, 0.5, 0.2, None],
    "two:C": [None, None, 0.6, None],
}
GIVEN: dict[str, Any] = {"id": "item", "label": "truth", "probabilities": "{model}:{option}"}


def frame(**changed: list[Any]) -> pl.DataFrame:
    named = {name.replace("_", ":"): values for name, values in changed.items()}
    return pl.DataFrame({**COLUMNS, **named})


def answers(table: pl.DataFrame, *models: str, **more: Any) -> list[list[Any]]:
    columns = pc.read(table, **{**GIVEN, **more}).frame.collect().to_polars()
    return [columns[name].to_list() for name in models]


def test_the_most_probable_option_is_the_answer_and_the_first_of_equal_ones() -> None:
    assert answers(frame(), "one", "two") == [["A", "B", "C", "A"], ["B", "A", "C", None]]
    backwards = frame().select("item", "truth", *(f"{m}:{o}" for m in ("one", "two") for o in "CBA"))
    assert answers(backwards, "one", "two") == answers(frame(), "one", "two")


def test_a_column_of_answers_wins() -> None:
    table = frame().with_columns(one=pl.Series(["B", "B", "B", "B"]))
    assert answers(table, "one", "two")[0] == ["B"] * 4
    failed = pc.audit(table, **GIVEN).record.models
    assert [(model.name, model.judged, model.failed) for model in failed] == [("one", 4, 3), ("two", 3, 2)]


def test_models_that_give_no_probabilities_have_not_judged() -> None:
    found = pc.audit(frame(), **GIVEN).record
    assert [(model.name, model.judged, model.failed) for model in found.models] == [("one", 4, 0), ("two", 3, 2)]
    silent = pc.audit(frame(), **GIVEN, no_answer_values=["null"]).record
    assert [(model.judged, model.no_answer) for model in silent.models] == [(4, 0), (4, 1)]
    assert silent.pairs[0].both_judged == 4


def test_options_are_read_as_the_type_of_the_label() -> None:
    digits = {"A": "2", "B": "10", "C": "9"}
    names = {f"{m}:{o}": f"p({digit}|{m})" for m in ("one", "two") for o, digit in digits.items()}
    table = frame().rename(names).with_columns(truth=pl.col("truth").replace_strict({"A": 2, "B": 10, "C": 9}))
    found = answers(table, "one", "two", probabilities="p({option}|{model})")
    assert found == [[2, 10, 9, 2], [10, 2, 9, None]]


def test_models_are_chosen_and_other_columns_that_fit_the_pattern_left_alone() -> None:
    table = frame().with_columns(**{"cost:total": pl.Series([3.0, 4.0, 5.0, 6.0]), "site:name": pl.lit("x")})
    outcomes = pc.read(table, **GIVEN, models=["o*", "two"], by=["site:name"])
    assert outcomes.models == ("one", "two")
    assert usable_columns(outcomes) == ("cost:total", "site:name")
    assert pc.read(table, **GIVEN, models="two", by=["site:name"]).models == ("two",)


def test_the_dry_run_says_which_pattern() -> None:
    lines = pc.api.understand(pc.read(frame(), **GIVEN)).lines()
    assert "probabilities: '{model}:{option}'" in lines
    assert "answers of 'one': 'A' 2, 'B' 1, 'C' 1" in lines


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"one_A": [0.6, 0.2, 0.3, 1.5]}, r"'one:A' of the table holds no probability on 1 rows: row 4 \(1.5\)"),
        ({"one_A": [0.6, -0.2, 0.3, 0.5]}, r"'one:A'.*row 2 \(-0.2\)"),
        ({"one_A": [0.6, float("inf"), 0.3, 0.5]}, r"'one:A'.*row 2 \(inf\)"),
        ({"two_B": [0.9, 0.5, 0.3, None]}, r"two:A \+ two:B \+ two:C of the table do not sum to 1 .*row 3 \(1.1"),
        ({"two_B": [0.9, 0.500002, 0.2, None]}, r"do not sum to 1 on 1 rows: row 2"),
        ({"two_B": [0.9, 0.5, None, None], "two_C": [None, None, 0.8, None]}, r"'two' gives no.*'B'.*on 1 rows: row 3"),
        ({"truth": ["A", "B", "C", "C"]}, r"label 'truth' of the table is no option.*row 4 \('C'\)"),
        ({"truth": ["A", "B", "D", "A"]}, r"label 'truth' of the table is no option.*row 3 \('D'\)"),
        ({"one_A": [0.6, 0.2, 0.3, 1.0], "one_B": [0.4, 0.8, 0.3, None]}, r"single option on 1 rows: row 4"),
    ],
)
def test_wrong_probabilities_are_refused_with_their_place(changed: dict[str, list[Any]], words: str) -> None:
    with pytest.raises(ValueInDataError, match=words) as caught:
        pc.audit(frame(**changed), **GIVEN)
    assert caught.value.hint


def test_other_engines_name_the_item() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = connection.from_arrow(frame(one_A=[0.6, 0.2, 0.3, 1.5]).to_arrow())
        with pytest.raises(ValueInDataError, match=r"'one:A'.*item=4"):
            pc.audit(relation, **GIVEN)


def test_rounding_is_no_fault() -> None:
    thirds = {f"one_{o}": [1 / 3] * 4 for o in "ABC"} | {f"two_{o}": [0.333333, 0.2, 0.1, 0.333333] for o in "AB"}
    thirds["two_C"] = [0.333333, 0.6, 0.8, 0.333334]
    assert pc.audit(frame(**thirds), **GIVEN).record.pairs[0].capa.value is not None


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ({"probabilities": "{model}"}, UsageError, r"does not hold \{model\} and \{option\} once each"),
        ({"probabilities": "{model}:{option}:{option}"}, UsageError, "once each"),
        ({"probabilities": "{model}{option}"}, UsageError, "nothing between"),
        ({"probabilities": "{model}/{option}"}, ColumnError, "No column is named like.*columns are: 'item'"),
        ({"options": 4}, UsageError, "both say which answers"),
        ({"long": True, "model": "m", "value": "v"}, UsageError, "long and probabilities exclude"),
        ({"label": None, "outcomes": "failed"}, UsageError, "label names the right one"),
        ({"failure": "false-negative=A"}, UsageError, "label names the right one"),
        ({"models": ["one", "too"]}, ColumnError, "no model 'too' with.*Did you mean 'two'"),
        ({"models": ["one", "item"]}, UsageError, "as a model and as something else"),
        ({"models": ["one", "said"]}, ColumnError, "'said' of the table has no columns of probabilities"),
        ({"label": "number"}, ColumnError, "option 'A' of the probabilities is no value of the label 'number'"),
        ({"models": ["cost"]}, ColumnError, "one option only of the model 'cost': 'cost:total'"),
        ({"models": ["site"]}, ColumnError, "'site:name' holds text, not numbers"),
    ],
)
def test_wrong_calls_are_refused(more: dict[str, Any], kind: type[PolycultureError], words: str) -> None:
    table = frame().with_columns(said=pl.lit("A"), number=pl.lit(1))
    table = table.with_columns(pl.lit(1.0).alias("cost:total"), pl.lit("x").alias("site:name"))
    with pytest.raises(kind, match=words) as caught:
        pc.read(table, **{**GIVEN, "models": ["one", "two"], **more})
    assert caught.value.hint


def test_a_pattern_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="probabilities=3 is not a text"):
        Mapping(label="truth", probabilities=3)  # type: ignore[arg-type]
