from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from polyculture.errors import ColumnError, InputError, PolycultureError, UsageError, ValueInDataError
from polyculture.outcomes import Mapping, Outcomes, survey
from polyculture.outcomes.answers import answer_counts
from polyculture.outcomes.groups import Group, is_unknown, parse_group
from polyculture.tally import Tally

TABLE = pl.DataFrame(
    {
        "who": ["a", "b", "c", "d"],
        "age": [20, 40, 60, None],
        "sex": ["f", "m", "Unknown", None],
        "y": ["good", "bad", "good", None],
        "p": ["good", "good", "bad", "bad"],
        "q": ["bad", None, "bad", "good"],
        "s1": [0.1, 0.9, 0.5, 0.5],
        "s2": [1.0, 2.0, math.nan, 4.0],
    }
)


def failing(mapping: Mapping, table: pl.DataFrame = TABLE) -> dict[str, tuple[int, int]]:
    """Model -> (judged, failed)."""
    tally = Tally.of(Outcomes(table, mapping))
    models = tally.model_table()
    return {
        name: (int(models.judged[:, j].sum()), int(models.failed[:, j].sum())) for j, name in enumerate(tally.models)
    }


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (Mapping(label="y", models=("p", "q")), {"p": (3, 2), "q": (2, 2)}),
        (Mapping(failure="decision=bad", models=("p", "q")), {"p": (4, 2), "q": (3, 2)}),
        (Mapping(failure="decision=bad", models=("p", "q"), pending=("good",)), {"p": (2, 2), "q": (2, 2)}),
        (Mapping(failure="false-negative=good", label="y", models=("p", "q")), {"p": (2, 1), "q": (2, 2)}),
        (Mapping(failure="false-positive=good", label="y", models=("p", "q")), {"p": (1, 1), "q": (0, 0)}),
        (Mapping(failure="score<0.5", models=("s1", "s2")), {"s1": (4, 1), "s2": (3, 0)}),
        (Mapping(failure="score<0.5", models=("s1", "s2"), no_answer_values=("null",)), {"s1": (4, 1), "s2": (4, 1)}),
        # Top half of four: .9 and the two tied at .5 stay together; of three scores the top two.
        (Mapping(failure="outside-top=0.5", models=("s1", "s2"), no_answer="missing"), {"s1": (4, 1), "s2": (3, 1)}),
        (Mapping(failed_when="value=bad and age>=40", models=("p", "q")), {"p": (3, 1), "q": (3, 1)}),
        (Mapping(failure="decision=bad", models=("q",), no_answer_values=("null",)), {"q": (4, 3)}),
    ],
)
def test_failure_rules_on_columns(mapping: Mapping, expected: dict) -> None:
    assert failing(mapping) == expected


def test_left_out_rows_are_counted_by_reason() -> None:
    tally = Tally.of(Outcomes(TABLE, Mapping(label="y", models=("p", "q"))))
    assert (tally.rows_read, tally.rows_used, tally.left_out) == (4, 3, {"no label": 1})


def test_models_by_default_are_the_columns_of_the_labels_type() -> None:
    assert Outcomes(TABLE, Mapping(id="who", label="y", by=("sex",))).models == ("p", "q")
    assert Outcomes(TABLE, Mapping(failure="score<1", by=("age",))).models == ("s1", "s2")


def test_models_by_default_are_the_columns_that_hold_the_decision() -> None:
    assert Outcomes(TABLE, Mapping(failure="decision=bad", by=("sex",))).models == ("y", "p", "q")
    with pytest.raises(ColumnError, match="No column holds the decision 'worst'"):
        _ = Outcomes(TABLE, Mapping(failure="decision=worst")).models


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (
            Mapping(failure="decision=goood", models=("p", "q")),
            r"No model .* 'goood'.*Did you mean 'good'\? .*'good' \(3\)",
        ),
        (Mapping(failure="false-negative=Good", label="y", models=("p",)), r"No label .* 'Good'.*Did you mean 'good'"),
    ],
)
def test_a_value_that_nobody_says_is_refused(mapping: Mapping, words: str) -> None:
    with pytest.raises(ValueInDataError, match=words):
        Tally.of(Outcomes(TABLE, mapping))


def test_answers_are_counted_for_each_model() -> None:
    counted = answer_counts(Outcomes(TABLE, Mapping(label="y", models=("p", "q"))))
    assert counted == {"p": [("bad", 2), ("good", 2)], "q": [("bad", 2), ("good", 1)]}
    assert answer_counts(Outcomes(TABLE, Mapping(failure="score<1", models=("s1",)))) == {}


def test_without_candidates_the_columns_are_listed() -> None:
    with pytest.raises(ColumnError, match=r"the columns left are: 'who', 'age'"):
        _ = Outcomes(TABLE.select("who", "age", y=pl.lit(True)), Mapping(label="y")).models


def test_groups_unknown_values_are_cells_of_their_own() -> None:
    tally = Tally.of(Outcomes(TABLE, Mapping(failure="decision=bad", models=("p", "q"), by=("sex", "age>=40"))))
    assert set(tally.cells) == {("f", "false"), ("m", "true"), ("Unknown", "true"), (None, None)}
    assert [is_unknown(value) for value in ("Unknown", "declined", None, "f")] == [True, True, True, False]


def test_quantile_groups_keep_ties_together_and_name_their_edges() -> None:
    table = pl.DataFrame({"x": [1, 1, 1, 2, 3, 4, 5, None], "a": [0] * 8, "b": [1] * 8})
    outcomes = Outcomes(table, Mapping(outcomes="failed", models=("a", "b"), by=("quantiles(x, 3)",)))
    tally = Tally.of(outcomes)
    assert tally.cells == (("1 or less",), ("over 1 to 3",), ("over 3",), (None,))
    assert Tally.of(outcomes).profile_table().count.tolist() == [3, 2, 2, 1]
    assert tally.thresholds == {"quantiles(x, 3) edge 1": 1.0, "quantiles(x, 3) edge 2": 3.0}


def test_edges_that_look_the_same_at_six_digits_are_printed_with_more() -> None:
    table = pl.DataFrame({"x": [1234567.0, 1234568.0, 1234569.0] * 3, "a": [0] * 9, "b": [1] * 9})
    tally = Tally.of(Outcomes(table, Mapping(outcomes="failed", models=("a", "b"), by=("quantiles(x, 3)",))))
    assert tally.cells == (("1234567 or less",), ("over 1234567 to 1234568",), ("over 1234568",))


def test_a_column_wins_over_an_expression() -> None:
    assert parse_group("age>=40", ["age", "age>=40"]) == Group("age>=40", "age>=40")


def test_snapshots_are_never_pooled() -> None:
    table = pl.DataFrame({"id": [1, 1], "year": [2020, 2021], "a": [0, 1], "b": [1, 1]})
    mapping = {"outcomes": "failed", "models": ("a", "b"), "id": "id"}
    with pytest.raises(UsageError, match="2 snapshots"):
        Outcomes(table, Mapping(snapshot="year", **mapping))
    with pytest.raises(UsageError, match="no snapshot '2019'"):
        Outcomes(table, Mapping(snapshot="year=2019", **mapping))
    assert failing(Mapping(snapshot="year=2021", **mapping), table) == {"a": (1, 1), "b": (1, 1)}


def test_long_tables_give_what_wide_ones_do() -> None:
    mapping = {"label": "y", "no_answer": "missing"}
    long = TABLE.unpivot(index=["who", "y"], on=["p", "q"], variable_name="m", value_name="v").drop_nulls("v")
    assert failing(Mapping(long=True, id="who", model="m", value="v", **mapping), long) == failing(
        Mapping(models=("p", "q"), **mapping)
    )


def test_a_long_table_may_be_judged_by_an_expression() -> None:
    table = pl.DataFrame({"who": [1, 1, 2], "firm": ["x", "y", "x"], "status": ["Rejected", "Open", None]})
    mapping = Mapping(long=True, id="who", model="firm", failed_when="status=Rejected")
    assert failing(mapping, table) == {"x": (1, 1), "y": (1, 0)}


def test_long_thresholds_are_of_each_model() -> None:
    table = pl.DataFrame({"who": [1, 2, 3, 1, 2, 3], "m": ["x"] * 3 + ["y"] * 3, "v": [1.0, 2, 3, 10, 20, 30]})
    mapping = Mapping(long=True, id="who", model="m", value="v", failure="outside-top=0.4")
    assert Outcomes(table, mapping).thresholds == {"x": 2.0, "y": 20.0}
    assert failing(mapping, table) == {"x": (3, 1), "y": (3, 1)}


def test_without_an_id_the_list_names_rows() -> None:
    failed = Outcomes(TABLE, Mapping(label="y", models=("p", "q"))).individuals_failed_by_all()
    assert failed.collect().to_native().select("row", "p", "q").rows() == [(3, "bad", "bad")]


@pytest.mark.parametrize("long", [False, True])
def test_individuals_failed_by_all_are_listed_with_every_answer(long: bool) -> None:
    table = TABLE.select("who", "sex", "y", "p", "q").drop_nulls("y")
    mapping = Mapping(id="who", label="y", by=("sex",), models=("p", "q"))
    if long:
        table = table.unpivot(index=["who", "sex", "y"], on=["p", "q"], variable_name="m", value_name="v")
        table = table.drop_nulls("v")
        mapping = Mapping(id="who", label="y", by=("sex",), long=True, model="m", value="v")
    outcomes = Outcomes(table, mapping)
    assert outcomes.individuals_failed_by_all().collect().to_native().to_dicts() == [
        {"who": "c", "sex": "Unknown", "y": "good", "p": "bad", "q": "bad"}
    ]
    least_one = outcomes.individuals_failed_by_all(1).collect().to_native()
    assert sorted(least_one["who"].to_list()) == ["b", "c"]


def table(**columns: list) -> pl.DataFrame:
    return pl.DataFrame({"id": [1, 2, 3], "g": ["x", "y", "z"], "a": [0, 1, 1], "b": [1, 1, 0], **columns})


MAPPING: dict[str, Any] = {"outcomes": "failed", "models": ("a", "b"), "id": "id"}


@pytest.mark.parametrize(
    ("columns", "change", "kind", "words"),
    [
        ({"a": [0, 2, 1]}, {}, ValueInDataError, r"'a'.*other than 0, 1 and missing: row 2 \(2\)"),
        ({"a": [0.0, math.inf, 1.0]}, {}, ValueInDataError, r"row 2 \(inf\)"),
        ({"a": [math.nan] * 3}, {}, ColumnError, "nothing but missing values"),
        ({"a": ["0", "1", "1"]}, {}, ColumnError, "holds text, but outcomes must be 0/1"),
        ({"a": [None, None, None]}, {}, ColumnError, "nothing but missing values"),
        ({"a": pl.Series([None] * 3, dtype=pl.Int64)}, {}, ColumnError, "nothing but missing values"),
        ({"id": [1, 1, 2]}, {}, ValueInDataError, r"1 id repeated in column 'id'.*: 1\."),
        ({"w": [1.0, -1.0, 1.0]}, {"weight": "w"}, ValueInDataError, "on 1 rows: row 2"),
        (
            {"w": [1.0, math.inf, math.nan]},
            {"weight": "w"},
            ValueInDataError,
            r"row 2 \(inf\), row 3 \(nan\)",
        ),
        ({"w": [1, None, 1]}, {"weight": "w"}, ValueInDataError, "row 2"),
        ({"w": ["1", "2", "3"]}, {"weight": "w"}, ColumnError, "weight column 'w' holds text"),
        ({"n": [1.5, 2, 3]}, {"count": "n"}, ValueInDataError, "row 1"),
        ({}, {"by": ("g",), "max_groups": 2}, ColumnError, "has 3 values or more, over the 2 allowed"),
        ({}, {"by": ("h",)}, ColumnError, "no column 'h' to group by"),
        ({}, {"by": ("quantiles(g, 4)",)}, ColumnError, "holds text, not numbers"),
        ({}, {"models": ("a", "bb")}, ColumnError, "no model 'bb'"),
        ({}, {"models": ("a", "a")}, UsageError, "named twice"),
        ({}, {"models": ("a", "id")}, UsageError, "as a model and as something else"),
        ({}, {"label": "nothing"}, ColumnError, "no column 'nothing'.*for label"),
        ({"w": [1e300, 1, 1]}, {"weight": "w"}, ValueInDataError, "out of range"),
        ({"w": [0, 0, 0]}, {"weight": "w"}, ValueInDataError, "0 on every row"),
        ({"s": [{"x": 1}] * 3}, {"by": ("s",)}, ColumnError, "named for by, holds Struct"),
        ({}, {"by": ("quantiles(a)",)}, UsageError, "no form of quantiles"),
        ({}, {"min_judged": 3}, UsageError, "only 2 models"),
        ({"c": [1, None, 2]}, {"cluster": "c"}, ColumnError, "empty on some rows"),
    ],
)
def test_bad_data_is_refused_with_place_and_mend(columns: dict, change: dict, kind: type, words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        Tally.of(Outcomes(table(**columns), Mapping(**{**MAPPING, **change})))
    assert isinstance(caught.value, PolycultureError)
    assert caught.value.hint


def test_too_many_groups_below_the_first_rows_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "_FIRST_ROWS", 1)
    with pytest.raises(ColumnError, match="has 3 values or more, over the 2 allowed"):
        Tally.of(Outcomes(table(), Mapping(**MAPPING, by=("g",), max_groups=2)))


@pytest.mark.parametrize(
    ("label", "answers", "words"),
    [
        ([1, 0, 1], ["1", "0", "1"], "holds text, the label 'y' holds numbers"),
        ([True, False, True], ["true"] * 3, "truth"),
    ],
)
def test_labels_and_answers_of_different_types_are_refused(label: list, answers: list, words: str) -> None:
    with pytest.raises(ColumnError, match=words):
        Outcomes(pl.DataFrame({"y": label, "p": answers}), Mapping(label="y", models=("p",)))


def test_a_repeated_pair_of_a_long_table_is_refused() -> None:
    rows = pl.DataFrame({"who": [1, 1], "m": ["x", "x"], "v": [1, 0]})
    with pytest.raises(ValueInDataError, match=r"1 individual and model repeated.*\(1, 'x'\)"):
        Tally.of(Outcomes(rows, Mapping(long=True, id="who", model="m", value="v", outcomes="failed")))


def test_an_individual_of_two_groups_is_refused() -> None:
    rows = pl.DataFrame({"who": [1, 1], "m": ["x", "y"], "v": [1, 0], "g": ["a", "b"]})
    with pytest.raises(ValueInDataError, match="individual 1 has several values in column 'g'"):
        Tally.of(Outcomes(rows, Mapping(long=True, id="who", model="m", value="v", outcomes="failed", by=("g",))))


def test_a_weight_of_0_counts_nobody_and_breaks_nothing() -> None:
    rows = pl.DataFrame({"w": [0.0, 1.0, 2.0], "a": [1, 0, 1], "b": [1, 1, 0]})
    patterns = Tally.of(Outcomes(rows, Mapping(outcomes="failed", weight="w"))).patterns
    assert sorted(patterns.weight.tolist()) == [0.0, 1.0, 2.0]
    assert patterns.count.tolist() == [1, 1, 1]


def test_pandas_frames_of_mixed_types_or_repeated_names_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ColumnError, match="cannot be read column by column"):
        Outcomes(pandas.DataFrame({"a": [1, "1"], "b": [0, 1]}), Mapping(outcomes="failed"))
    with pytest.raises(ColumnError, match="cannot be read column by column"):
        Outcomes(pandas.DataFrame([[1, 0]], columns=["a", "a"]), Mapping(outcomes="failed"))


def test_no_rows_and_no_frame_are_refused() -> None:
    with pytest.raises(InputError, match="holds no rows"):
        Tally.of(Outcomes(table().clear(), Mapping(**MAPPING)))
    with pytest.raises(UsageError, match="list is no frame"):
        Outcomes([1, 2], Mapping(**MAPPING))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"outcomes": "wrong"},
        {"outcomes": "failed", "failure": "misclassified"},
        {"failure": "misclassified"},
        {"outcomes": "failed", "long": True},
        {"outcomes": "failed", "model": "m"},
        {"outcomes": "failed", "no_answer": "perhaps"},
        {"outcomes": "failed", "min_judged": 0},
        {"outcomes": "failed", "by": "sex"},
        {"outcomes": "failed", "by": ("a", "a")},
        {"outcomes": "failed", "count": "n", "weight": "w"},
        {"outcomes": "failed", "count": "n", "long": True},
        {"outcomes": "failed", "by": 3},
        {"outcomes": "failed", "by": [["g"]]},
        {"outcomes": "failed", "models": [1, 2]},
        {"outcomes": "failed", "min_judged": "2"},
        {"outcomes": "failed", "id": 1},
        {"outcomes": "failed", "long": "yes"},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict) -> None:
    with pytest.raises(UsageError) as caught:
        Mapping(**options)
    assert caught.value.hint
