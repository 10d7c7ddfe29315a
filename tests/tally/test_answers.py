"""Same wrong answers of pairs: the same on every engine and layout, additive, saved, and none where there are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally, answers, large
from polyculture.tally.engines import polars as polars_engine

ROWS = 300
MODELS = tuple(f"p{j}" for j in range(4))
WIDE = Mapping(id="id", label="truth", models=MODELS, no_answer_values=("error",), pending=("later",))
LONG = Mapping(
    id="id", label="truth", long=True, model="model", value="value", no_answer_values=("error",), pending=("later",)
)


def table(models=4, seed=7):
    rng = np.random.default_rng(seed)
    values = ["a", "b", "c", "d", None, "error", "later"]
    return pl.DataFrame(
        {
            "id": [f"item {i}" for i in range(ROWS)],
            "truth": rng.choice(["a", "b", "c", None], ROWS, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
            **{
                f"p{j}": rng.choice(values, ROWS, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05]).tolist()
                for j in range(models)
            },
            "weight": rng.integers(1, 9, ROWS) / 4,
            "times": rng.integers(1, 4, ROWS),
        }
    )


def by_hand(frame, models=MODELS, times=None):
    """Count same wrong answers row by row."""
    found = np.zeros((len(models), len(models)))
    for row in frame.rows(named=True):
        if row["truth"] is None:
            continue
        wrong = [None if row[name] in {None, "error", "later", row["truth"]} else row[name] for name in models]
        for i, one in enumerate(wrong):
            for j, other in enumerate(wrong):
                found[i, j] += (one is not None and one == other) * (row[times] if times else 1)
    return found


def longer(frame):
    return frame.unpivot(index=["id", "truth", "weight"], on=list(MODELS), variable_name="model", value_name="value")


def test_counts_are_those_by_hand():
    found = Tally.of(Outcomes(table(), WIDE)).answers
    assert found.values == ("a", "b", "c", "d")
    assert (found.options, found.chance) == (4, 1 / 3)
    assert np.array_equal(found.same_wrong, by_hand(table()))
    assert np.array_equal(found.same_wrong_weight, found.same_wrong)


def test_a_long_table_gives_the_same():
    assert Tally.of(Outcomes(longer(table()), LONG)).answers.same(Tally.of(Outcomes(table(), WIDE)).answers)


@pytest.mark.parametrize("few_values", [64, 0])
def test_many_models_are_compared_by_numbers(monkeypatch, few_values):
    monkeypatch.setattr(polars_engine, "_FEW_VALUES", few_values)
    models = tuple(f"p{j}" for j in range(12))
    mapping = Mapping(label="truth", models=models, no_answer_values=("error",), pending=("later",))
    found = Tally.of(Outcomes(table(12), mapping)).answers
    assert np.array_equal(found.same_wrong, by_hand(table(12), models))


def test_weights_and_counts():
    weighted = Tally.of(
        Outcomes(
            table(),
            Mapping(label="truth", models=MODELS, weight="weight", no_answer_values=("error",), pending=("later",)),
        )
    )
    assert np.allclose(weighted.answers.same_wrong_weight, by_hand(table(), times="weight"))
    assert np.array_equal(weighted.answers.same_wrong, by_hand(table()))
    counted = Tally.of(
        Outcomes(
            table(),
            Mapping(label="truth", models=MODELS, count="times", no_answer_values=("error",), pending=("later",)),
        )
    )
    assert np.array_equal(counted.answers.same_wrong, by_hand(table(), times="times"))


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_duckdb_gives_the_same(layout):
    duckdb = pytest.importorskip("duckdb")
    frame, mapping = (table(), WIDE) if layout == "wide" else (longer(table()), LONG)
    rows = frame.to_arrow()
    relation = duckdb.connect().from_arrow(rows)
    assert Tally.of(Outcomes(relation, mapping)).answers.same(Tally.of(Outcomes(table(), WIDE)).answers)


@pytest.mark.spark
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_spark_gives_the_same(spark, layout):
    frame, mapping = (table(), WIDE) if layout == "wide" else (longer(table()), LONG)
    rows = spark.createDataFrame(frame.rows(), schema=frame.columns)
    assert Tally.of(Outcomes(rows, mapping)).answers.same(Tally.of(Outcomes(table(), WIDE)).answers)


def test_two_halves_add_up_whatever_the_order_of_models():
    frame = table()
    turned = Mapping(label="truth", models=MODELS[::-1], no_answer_values=("error",), pending=("later",))
    half = Mapping(label="truth", models=MODELS, no_answer_values=("error",), pending=("later",))
    both = Tally.of(Outcomes(frame[:100], half)) + Tally.of(Outcomes(frame[100:], turned))
    assert both.answers.same(Tally.of(Outcomes(frame, half)).answers)
    assert both == Tally.of(Outcomes(frame, half))


def test_a_different_same_answer_makes_another_tally():
    frame = pl.DataFrame({"truth": ["a", "a", "b"], "p": ["b", "c", "a"], "q": ["b", "c", "c"]})
    other = frame.with_columns(q=pl.Series(["c", "b", "c"]))
    mapping = Mapping(label="truth", models=("p", "q"))
    one, two = Tally.of(Outcomes(frame, mapping)), Tally.of(Outcomes(other, mapping))
    assert np.array_equal(one.raw.failed, two.raw.failed)
    assert one != two
    assert one.answers.same_wrong[0, 1] == 2


def test_saved_and_loaded(tmp_path: Path):
    tally = Tally.of(Outcomes(table(), WIDE))
    tally.save(tmp_path / "a.tally")
    again = Tally.load(tmp_path / "a.tally")
    assert again == tally
    assert again.answers.values == tally.answers.values


def test_open_answers_have_no_options(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(answers, "MOST_VALUES", 3)
    tally = Tally.of(Outcomes(table(), WIDE))
    assert (tally.answers.values, tally.answers.options, tally.answers.chance) == (None, None, 0.0)
    tally.save(tmp_path / "a.tally")
    assert Tally.load(tmp_path / "a.tally").answers.values is None


def test_none_where_there_are_no_answers_or_patterns_tell_them():
    flags = pl.DataFrame({"p": [0, 1], "q": [1, 1]})
    assert Tally.of(Outcomes(flags, Mapping(outcomes="failed"))).answers is None
    two = pl.DataFrame({"truth": [0, 1, 1], "p": [0, 1, 0], "q": [1, 1, 0], "g": ["x", "y", "x"]})
    assert Tally.of(Outcomes(two, Mapping(label="truth", models=("p", "q"), by=("g",)))).answers is None


def test_some_cells_have_none_since_pairs_are_over_everyone():
    frame = table().with_columns(g=pl.Series(["x", "y"] * (ROWS // 2)))
    mapping = Mapping(label="truth", models=MODELS, by=("g",), no_answer_values=("error",), pending=("later",))
    tally = Tally.of(Outcomes(frame, mapping))
    assert tally.where([0]).answers is None
    assert tally.where([0, 1]).answers is tally.answers


def test_large_tables_know_who_failed_where_the_other_judged(monkeypatch):
    monkeypatch.setattr("polyculture.tally.build.MANY", 50)
    rng = np.random.default_rng(1)
    failed = rng.random((ROWS, 25)) < 0.4
    judged = rng.random((ROWS, 25)) < 0.7
    values = np.where(judged, failed.astype(float), np.nan)
    frame = pl.DataFrame(values, schema=[f"m{j}" for j in range(25)]).fill_nan(None)
    tables = Tally.of(Outcomes(frame, Mapping(outcomes="failed"))).tables
    flags, known = (failed & judged).astype(int), judged.astype(int)
    assert np.array_equal(tables.first_failed, flags.T @ known)
    assert np.array_equal(tables.both_judged, known.T @ known)
    assert large.SAMPLE > 0
