from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from make_tally import outcomes_from_matrix, tally_from_matrix
from polyculture.errors import OutputError, TallyError
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally, build, large
from polyculture.tally.tables import RawPatterns

matrices = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.tuples(
            st.lists(st.sampled_from([0, 1, None]), min_size=k, max_size=k),
            st.sampled_from(["x", "y", None]),
            st.integers(0, 2),
        ),
        min_size=2,
        max_size=30,
    ).filter(lambda rows: all(any(row[0][j] is not None for row in rows) for j in range(len(rows[0][0]))))
)


def tally_of_rows(rows: list) -> Tally:
    k = len(rows[0][0])
    schema = {**{f"m{j}": pl.Int64 for j in range(k)}, "g": pl.String, "c": pl.Int64}
    table = pl.DataFrame([(*row[0], row[1], row[2]) for row in rows], schema=schema, orient="row")
    mapping = Mapping(outcomes="failed", models=tuple(f"m{j}" for j in range(k)), by=("g",), cluster="c")
    return Tally.of(Outcomes(table, mapping))


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_a_loop_over_rows(rows: list) -> None:
    tally = tally_of_rows(rows)
    profile = tally.profile_table()
    found = {
        (tally.cells[c][0], int(m), int(t)): int(n)
        for c, m, t, n in zip(profile.cell, profile.judged, profile.failed, profile.count, strict=True)
    }
    expected: dict = {}
    for values, group, _ in rows:
        known = [v for v in values if v is not None]
        key = (group, len(known), sum(known))
        expected[key] = expected.get(key, 0) + 1
    assert found == expected
    models = tally.model_table()
    for j in range(len(rows[0][0])):
        assert models.judged[:, j].sum() == sum(row[0][j] is not None for row in rows)
        assert models.failed[:, j].sum() == sum(row[0][j] == 1 for row in rows)


@given(matrices, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_row_order_changes_nothing(rows: list, random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)
    assert tally_of_rows(mixed) == tally_of_rows(rows)


def test_the_tally_of_two_halves_is_the_sum() -> None:
    rng = np.random.default_rng(5)
    failed = rng.random((300, 4)) < 0.4
    judged = rng.random((300, 4)) < 0.8
    groups = rng.choice(["a", "b", "c"], 300).tolist()
    clusters = rng.integers(0, 20, 300).tolist()
    weights = rng.random(300)

    def part(rows: slice) -> Tally:
        return tally_from_matrix(
            failed[rows], judged[rows], groups={"g": groups[rows]}, cluster=clusters[rows], weight=weights[rows]
        )

    whole, first, second = part(slice(None)), part(slice(0, 110)), part(slice(110, None))
    assert first + second == whole
    assert second + first == whole
    assert first != whole
    assert (first + second).cluster_count == 20


def test_models_are_matched_by_name_when_tallies_are_added() -> None:
    failed = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    left = tally_from_matrix(failed, models=["a", "b", "c"])
    right = tally_from_matrix(failed[:, ::-1], models=["c", "b", "a"])
    both = left + right
    assert both.model_table().failed.tolist() == [[4, 2, 2]]
    assert both == tally_from_matrix(np.concatenate([failed, failed]), models=["a", "b", "c"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"no_answer_policy": "missing"}, "readings of no answer"),
        ({"thresholds": {"m0": 1.0}}, "thresholds"),
        ({"groups": ("other",)}, "group columns"),
        ({"models": ("m0", "other")}, "different models"),
        ({"failure_rule": "correct"}, "failure rules"),
    ],
)
def test_tallies_made_otherwise_are_not_added(change: dict, words: str) -> None:
    tally = tally_from_matrix([[1, 0], [0, 1]], groups={"g": ["a", "b"]})
    with pytest.raises(TallyError, match=words):
        tally + dataclasses.replace(tally, **change)


def test_the_bool_of_300_models_does_not_wrap() -> None:
    tally = tally_from_matrix(np.ones((4, 300), dtype=bool))
    assert tally.profile_table().failed.tolist() == [300]


@pytest.mark.parametrize("models", [1, 8, 31, 32, 62, 63, 64, 65, 130, 1000])
def test_any_number_of_models(models: int) -> None:
    rng = np.random.default_rng(models)
    failed = rng.random((40, models)) < 0.5
    judged = rng.random((40, models)) < 0.9
    judged[:2] = True
    tally = tally_from_matrix(failed, judged)
    assert tally.individuals == 40
    assert tally.model_table().failed[0].tolist() == (failed & judged).sum(axis=0).tolist()
    assert tally.model_table().judged[0].tolist() == judged.sum(axis=0).tolist()


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64])
def test_outcomes_may_hold_a_value_for_no_answer(dtype: pl.DataType) -> None:
    table = pl.DataFrame({"a": [0, 9, 1], "b": [1, 1, -1]}, schema={"a": dtype, "b": dtype})
    tally = Tally.of(Outcomes(table, Mapping(outcomes="failed", no_answer_values=("9",), pending=("-1",))))
    assert tally.model_table().failed.tolist() == [[2, 2]]
    assert tally.model_table().judged.tolist() == [[3, 2]]
    assert tally.model_table().no_answer.tolist() == [[1, 0]]


def test_no_answer_is_kept_apart_and_read_both_ways() -> None:
    table = pl.DataFrame({"y": ["a", "a", "b"], "p": ["a", "error", "error"], "q": ["b", "a", None]})
    tally = Tally.of(Outcomes(table, Mapping(label="y", no_answer_values=("error",))))
    assert tally.model_table().failed.tolist() == [[2, 1]]
    assert tally.model_table().judged.tolist() == [[3, 2]]
    assert tally.model_table().no_answer.tolist() == [[2, 0]]
    assert tally.no_answer_reasons == {"p": {"error": 2}}
    missing = tally.with_no_answer("missing")
    assert missing.model_table().failed.tolist() == [[0, 1]]
    assert missing.model_table().judged.tolist() == [[1, 2]]
    assert missing.with_no_answer("failed") == tally


@pytest.mark.parametrize(("silent", "judged", "no_answer"), [((), [2, 0], [0, 0]), (("null",), [2, 1], [0, 1])])
def test_an_empty_value_of_a_long_row_is_read_as_in_a_wide_table(silent: tuple, judged: list, no_answer: list) -> None:
    table = pl.DataFrame({"who": [1, 1, 2], "model": ["p", "q", "p"], "said": ["a", None, "b"], "y": ["a", "a", "a"]})
    mapping = Mapping(long=True, id="who", model="model", value="said", label="y", no_answer_values=silent)
    tally = Tally.of(Outcomes(table, mapping))
    assert tally.model_table().judged.tolist() == [judged]
    assert tally.model_table().no_answer.tolist() == [no_answer]
    assert tally.no_answer_reasons == ({"q": {"empty": 1}} if silent else {})


def test_where_and_min_judged_restrict_individuals() -> None:
    tally = tally_from_matrix([[1, 1], [1, 0], [0, 0]], [[1, 1], [1, 0], [1, 1]], groups={"g": ["a", "a", "b"]})
    assert tally.restricted_to_min_judged().individuals == 2
    first = tally.where([0])
    assert first.individuals == 2
    assert first.cells == tally.cells
    assert first.model_table().failed.tolist() == [[2, 1], [0, 0]]


def test_binary_labels_become_a_label_class() -> None:
    tally = tally_from_matrix([[1, 0], [0, 0]], labels=[1, 0], groups={"g": ["a", "b"]})
    assert tally.binary_labels
    assert tally.selection == "predicted 1"
    assert sorted(tally.patterns.label_class.tolist()) == [0, 1]
    third = pl.DataFrame({"y": [0, 1], "a": [0, 2], "b": [1, 1], "g": ["x", "y"]})
    assert not Tally.of(Outcomes(third, Mapping(label="y", models=("a", "b"), by=("g",)))).binary_labels


def test_answers_that_are_none_or_pending_leave_labels_two_valued() -> None:
    table = pl.DataFrame({"y": ["a", "b"], "p": ["error", "b"], "q": ["b", "later"], "g": ["x", "y"]})
    mapping = Mapping(label="y", models=("p", "q"), by=("g",), no_answer_values=("error",), pending=("later",))
    assert Tally.of(Outcomes(table, mapping)).binary_labels
    assert not Tally.of(Outcomes(table, dataclasses.replace(mapping, pending=()))).binary_labels


def test_counts_stand_for_individuals() -> None:
    tally = tally_from_matrix([[1, 1], [0, 0]], count=[30, 70])
    assert tally.individuals == 100
    rows = tally_from_matrix([[1, 1]] * 30 + [[0, 0]] * 70)
    assert tally == dataclasses.replace(rows, rows_read=2, rows_used=2)


@pytest.mark.parametrize("policy", ["failed", "missing"])
@pytest.mark.parametrize("complete", [True, False])
def test_large_outcomes_keep_exact_tables(monkeypatch: pytest.MonkeyPatch, policy: str, complete: bool) -> None:
    rng = np.random.default_rng(11)
    values = rng.choice(["right", "wrong", "error", None], (3000, 25), p=[0.6, 0.3, 0.05, 0.05])
    if complete:
        values = rng.choice(["right", "wrong"], (3000, 25))
    table = pl.DataFrame({f"m{j}": values[:, j].tolist() for j in range(25)}).with_columns(
        g=pl.Series(rng.choice(["x", "y"], 3000)), w=pl.Series(rng.random(3000))
    )
    mapping = Mapping(
        models="m*", failure="decision=wrong", by=("g",), no_answer=policy, no_answer_values=("error",), weight="w"
    )
    whole = Tally.of(Outcomes(table, mapping))
    monkeypatch.setattr(build, "MANY", 100)
    monkeypatch.setattr(large, "SAMPLE", 500)
    found = Tally.of(Outcomes(table, mapping))
    assert whole.exact
    assert not found.exact
    assert 400 < (found.sampled or 0) <= 500
    for table_name in ("profile_table", "model_table"):
        mine, theirs = getattr(found, table_name)(), getattr(whole, table_name)()
        for entry in dataclasses.fields(mine):
            np.testing.assert_allclose(getattr(mine, entry.name), getattr(theirs, entry.name), rtol=1e-9)
    judged, failed = whole.patterns.judged.astype(int), whole.patterns.failed.astype(int)
    count = whole.patterns.count[:, None]
    assert found.tables is not None
    np.testing.assert_array_equal(found.tables.both_failed, failed.T @ (failed * count))
    np.testing.assert_array_equal(found.tables.both_judged, judged.T @ (judged * count))


@pytest.mark.parametrize("outcomes", ["failed", "correct"])
def test_complete_indicators_take_the_short_way_and_give_the_same(
    monkeypatch: pytest.MonkeyPatch, outcomes: str
) -> None:
    rng = np.random.default_rng(2)
    table = pl.DataFrame((rng.random((2000, 22)) < 0.3).astype(np.int8)).with_columns(g=pl.lit("x"))
    mapping = Mapping(outcomes=outcomes, by=("g",))
    whole = Tally.of(Outcomes(table, mapping))
    monkeypatch.setattr(build, "MANY", 100)
    found = Tally.of(Outcomes(table, mapping))
    assert found.tables is not None
    np.testing.assert_array_equal(found.model_table().failed, whole.model_table().failed)
    failed = whole.patterns.failed.astype(int)
    np.testing.assert_array_equal(found.tables.both_failed, failed.T @ (failed * whole.patterns.count[:, None]))


@pytest.mark.parametrize("value", [None, 2])
def test_incomplete_indicators_are_seen_on_the_short_way(monkeypatch: pytest.MonkeyPatch, value: int | None) -> None:
    rng = np.random.default_rng(2)
    table = pl.DataFrame((rng.random((2000, 22)) < 0.3).astype(np.int8))
    first = pl.Series("column_0", [value, *table["column_0"].to_list()[1:]], dtype=pl.Int8)
    table = table.with_columns(first)
    monkeypatch.setattr(build, "MANY", 100)
    outcomes = Outcomes(table, Mapping(outcomes="failed"))
    if value is None:
        assert Tally.of(outcomes).model_table().judged[0, 0] == 1999
    else:
        with pytest.raises(Exception, match=r"other than 0, 1 and missing: row 1"):
            Tally.of(outcomes)


def test_sampled_tallies_add_up_to_a_sample_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    table = pl.DataFrame((rng.random((4000, 21)) < 0.3).astype(np.int8)).with_row_index("id")
    mapping = Mapping(id="id", outcomes="failed")
    monkeypatch.setattr(build, "MANY", 100)
    monkeypatch.setattr(large, "SAMPLE", 300)
    whole = Tally.of(Outcomes(table, mapping))
    halves = Tally.of(Outcomes(table[:1000], mapping)) + Tally.of(Outcomes(table[1000:], mapping))
    assert halves == whole
    assert whole.sampled == 300


def test_save_and_load_give_the_same_tally_and_the_same_bytes(tmp_path: Path) -> None:
    tally = tally_from_matrix([[1, 0], [1, 1]], groups={"<g>": ["a", None]}, cluster=["x", "y"])
    first, second = tmp_path / "one.tally", tmp_path / "two.tally"
    tally.save(first)
    Tally.load(first).save(second)
    assert Tally.load(first) == tally
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.tally", "two.tally"]


def test_files_that_are_no_tally_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TallyError, match="no file"):
        Tally.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(TallyError, match="no Tally"):
        Tally.load(tmp_path / "text")
    with pytest.raises(OutputError, match="there is no folder"):
        tally_from_matrix([[1, 0]]).save(tmp_path / "none" / "x.tally")


def test_a_damaged_tally_is_refused_or_unchanged(tmp_path: Path) -> None:
    tally, path = tally_from_matrix([[1, 0], [1, 1]]), tmp_path / "x.tally"
    tally.save(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert Tally.load(path) == tally, place
        except TallyError as refusal:
            assert refusal.hint  # noqa: PT017


def test_merging_patterns_is_idempotent() -> None:
    raw = tally_from_matrix([[1, 0], [1, 0], [0, 0]]).raw
    assert isinstance(raw, RawPatterns)
    assert raw.merged().count.tolist() == raw.count.tolist()
    assert raw.count.sum() == 3


def test_outcomes_of_a_matrix_are_lazy() -> None:
    outcomes = outcomes_from_matrix([[1, 0]])
    assert outcomes.models == ("m0", "m1")
