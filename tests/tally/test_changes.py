"""Changes: counted right, additive, symmetric, and the same in every engine and on both ways to count."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.errors import ColumnError, InputError, TallyError, UsageError, ValueInDataError
from polyculture.outcomes import Mapping, Outcomes, counting
from polyculture.tally import joined, snapshots
from polyculture.tally.changes import Changes
from polyculture.tally.snapshots import moments_of_snapshots

PLAIN = Mapping(id="id", outcomes="failed", models=("m0", "m1", "m2"))
FULL = dataclasses.replace(PLAIN, by=("sex",), cluster="site", weight="w", no_answer="missing")
LATER = dataclasses.replace(FULL, by=(), cluster=None, weight=None)


def snapshot(seed: int, rows: int = 300, missing: float = 0.15, offset: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ids = rng.permutation(rows) + offset
    failed = [
        [None if rng.random() < missing else int(value) for value in rng.random(rows) < 0.2 + 0.15 * j]
        for j in range(3)
    ]
    return pl.DataFrame({"id": ids, **{f"m{j}": column for j, column in enumerate(failed)}}).with_columns(
        sex=pl.when(pl.col("id") % 3 == 0).then(pl.lit("f")).otherwise(pl.lit("m")),
        site=pl.col("id") % 11,
        w=(pl.col("id") % 5 + 1).cast(pl.Float64),
    )


def changes(before: Any, after: Any, mapping: Mapping = FULL, later: Mapping = LATER) -> Changes:
    return Changes.of(Outcomes(before, mapping), Outcomes(after, later))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_both_ways_to_count_agree(monkeypatch: pytest.MonkeyPatch, missing: float) -> None:
    before, after = snapshot(1, missing=missing), snapshot(2, rows=250, missing=missing)
    by_pattern = changes(before, after)
    monkeypatch.setattr(joined, "MANY", 10)
    monkeypatch.setattr(joined, "_FEW_MODELS", 1)
    assert changes(before, after) == by_pattern
    assert by_pattern.matched == 250
    assert (by_pattern.only_before, by_pattern.only_after) == (50, 0)
    assert (by_pattern.judged_otherwise > 0) == (missing > 0)


def by_hand(before: pl.DataFrame, after: pl.DataFrame) -> Counter[tuple[int, ...]]:
    """Count, individual by individual: judged, failed before, after, both, and each model's state."""
    found: Counter[tuple[int, ...]] = Counter()
    later = {row["id"]: row for row in after.iter_rows(named=True)}
    for row in before.iter_rows(named=True):
        if row["id"] not in later:
            continue
        pairs = [(row[f"m{j}"], later[row["id"]][f"m{j}"]) for j in range(3)]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        key = (len(known), sum(a for a, _ in known), sum(b for _, b in known), sum(a * b for a, b in known))
        found[key] += 1
    return found


def test_counts_are_those_of_a_count_by_hand() -> None:
    before, after = snapshot(3), snapshot(4, rows=280)
    table = changes(before, after, PLAIN, PLAIN).table
    found: Counter[tuple[int, ...]] = Counter()
    for key in zip(table.judged, table.before, table.after, table.both, table.count, strict=True):
        found[tuple(int(number) for number in key[:4])] += int(key[4])
    assert found == by_hand(before, after)
    both = before.join(after, on="id", suffix="_new")
    for j in range(3):
        old, new = both[f"m{j}"], both[f"m{j}_new"]
        assert table.model_judged[:, j].sum() == (old.is_not_null() & new.is_not_null()).sum()
        assert table.model_before[:, j].sum() == ((old == 1) & new.is_not_null()).sum()
        assert table.model_both[:, j].sum() == ((old == 1) & (new == 1)).sum()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(20, 80), st.floats(0.0, 0.4))
def test_halves_add_up_and_swapping_swaps(seed: int, cut: int, missing: float) -> None:
    before, after = snapshot(seed, 100, missing), snapshot(seed + 1, 90, missing, offset=5)
    whole = changes(before, after)
    parts = [changes(before.filter(keep), after.filter(keep)) for keep in (pl.col("id") < cut, pl.col("id") >= cut)]
    assert parts[0] + parts[1] == whole
    assert parts[1] + parts[0] == whole
    backwards = whole.swapped()
    assert backwards.swapped() == whole
    forward, back = whole.table, backwards.table
    improved = (forward.model_before - forward.model_both).sum(axis=0)
    regressed = (back.model_after - back.model_both).sum(axis=0)
    np.testing.assert_array_equal(improved, regressed)
    assert changes(after, before, PLAIN, PLAIN) == changes(before, after, PLAIN, PLAIN).swapped()


def test_changes_under_other_rules_are_not_added() -> None:
    one = changes(snapshot(1), snapshot(2), PLAIN, PLAIN)
    other = changes(snapshot(1), snapshot(2))
    with pytest.raises(TallyError, match="different readings of no answer"):
        one + other


def test_no_answer_is_read_as_asked() -> None:
    before = pl.DataFrame({"id": [1, 2], "m0": ["bad", "none"], "m1": ["good", "good"]})
    after = pl.DataFrame({"id": [1, 2], "m0": ["good", "good"], "m1": ["good", "bad"]})
    mapping = Mapping(id="id", failure="decision=bad", models=("m0", "m1"), no_answer_values=("none",))
    failed = changes(before, after, mapping, mapping).table
    assert (failed.model_judged.sum(), failed.model_before.sum()) == (4, 2)
    silent = dataclasses.replace(mapping, no_answer="missing")
    missing = changes(before, after, silent, silent).table
    assert (missing.model_judged.sum(), missing.model_before.sum()) == (3, 1)


def test_individuals_with_another_label_are_left_out_and_counted() -> None:
    before = pl.DataFrame({"id": [1, 2, 3], "y": ["a", "b", "a"], "m0": ["a", "a", "b"]})
    after = pl.DataFrame({"id": [1, 2, 3], "y": ["b", "b", "a"], "m0": ["a", "a", "a"]})
    mapping = Mapping(id="id", label="y", models=("m0",))
    found = changes(before, after, mapping, mapping)
    assert (found.relabelled, found.matched, found.only_before) == (1, 2, 0)


def test_other_label_sets_are_refused() -> None:
    before = pl.DataFrame({"id": [1, 2], "y": ["a", "b"], "m0": ["a", "a"]})
    after = before.with_columns(y=pl.Series(["positive", "b"]), m0=pl.Series(["b", "b"]))
    mapping = Mapping(id="id", label="y", models=("m0",))
    with pytest.raises(ColumnError, match=r"other labels.*'a'.*'positive'"):
        changes(before, after, mapping, mapping)


def test_no_common_id_shows_both() -> None:
    with pytest.raises(InputError, match="No individual") as caught:
        changes(snapshot(1), snapshot(2, offset=1000), PLAIN, PLAIN)
    assert "begin with" in caught.value.hint


def test_ids_of_other_types_are_refused_and_other_widths_are_not() -> None:
    before, after = snapshot(1), snapshot(2)
    with pytest.raises(ColumnError, match=r"numbers.*text"):
        changes(before, after.with_columns(pl.col("id").cast(pl.String)), PLAIN, PLAIN)
    narrow = changes(before.with_columns(pl.col("id").cast(pl.Int32)), after, PLAIN, PLAIN)
    assert narrow == changes(before, after, PLAIN, PLAIN)


def test_a_repeated_id_is_refused() -> None:
    twice = pl.concat([snapshot(2), snapshot(2).head(1)])
    with pytest.raises(ValueInDataError, match="repeated"):
        changes(snapshot(1), twice, PLAIN, PLAIN)


def test_no_id_and_counted_rows_are_refused() -> None:
    no_id = dataclasses.replace(PLAIN, id=None)
    with pytest.raises(UsageError, match="matched by their id"):
        changes(snapshot(1), snapshot(2), no_id, no_id)
    counted = dataclasses.replace(PLAIN, count="n")
    tables = [snapshot(seed).with_columns(n=pl.lit(2)) for seed in (1, 2)]
    with pytest.raises(UsageError, match="stand for several"):
        changes(tables[0], tables[1], counted, counted)


def test_versions_side_by_side_need_no_id() -> None:
    table = snapshot(1).rename({"m0": "a-1", "m1": "b-1", "m2": "a-2"}).with_columns(n=pl.lit(3))
    mapping = Mapping(outcomes="failed", models=("a-1",), count="n")
    whole = Outcomes(table, mapping)
    found = Changes.of(whole, dataclasses.replace(whole, mapping=dataclasses.replace(mapping, models=("a-2",))))
    assert found.matched == 3 * 300
    assert found.table.model_before.sum() == 3 * table.filter(pl.col("a-2").is_not_null())["a-1"].sum()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("few", [True, False], ids=["patterns", "sums"])
def test_the_same_integers_in_every_engine(
    as_engine: Callable[[pl.DataFrame], Any], few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [snapshot(1), snapshot(2, rows=280)]
    expected = changes(*(table.lazy() for table in tables))
    moments = moments_of_snapshots([Outcomes(tables[0], FULL), Outcomes(tables[1], LATER)])
    if not few:
        monkeypatch.setattr(joined, "MANY", 10)
    held = [as_engine(table) for table in tables]
    assert changes(*held) == expected
    found = moments_of_snapshots([Outcomes(held[0], FULL), Outcomes(held[1], LATER)])
    np.testing.assert_array_equal(found.count, moments.count)
    np.testing.assert_allclose(found.both, moments.both, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("few", [True, False], ids=["patterns", "sums"])
def test_the_join_is_the_engines(
    as_engine: Callable[[pl.DataFrame], Any], few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is brought back are counts: with two models at most 16 combinations of 2,000 individuals."""
    fetched: list[int] = []

    def counted(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        result = original(frame)
        fetched.append(len(result))
        return result

    original = counting.fetch
    for module in (counting, joined, snapshots):
        monkeypatch.setattr(module, "fetch", counted)
    if not few:
        monkeypatch.setattr(joined, "MANY", 10)
        monkeypatch.setattr(joined, "_FEW_MODELS", 1)
    mapping = dataclasses.replace(PLAIN, models=("m0", "m1"))
    held = [Outcomes(as_engine(snapshot(seed, 2000, missing=0.0)), mapping) for seed in (1, 2)]
    assert Changes.of(*held).matched == 2000
    moments_of_snapshots(held)
    assert len(fetched) >= 2
    assert max(fetched) <= 16


def test_moments_of_snapshots_are_sums_over_individuals() -> None:
    tables = [snapshot(seed, missing=0.1) for seed in (1, 2, 3)]
    found = moments_of_snapshots([Outcomes(table, PLAIN) for table in tables])
    rows = [table.sort("id") for table in tables]
    failed = np.stack([row.select("m0", "m1", "m2").to_numpy().astype(float) for row in rows])  # S, N, k
    judged = ~np.isnan(failed).any(axis=0)
    for j in range(3):
        own = failed[:, judged[:, j], j]
        assert found.count[j] == own.shape[1]
        np.testing.assert_allclose(found.both[0, j], own @ own.T)
    enough = judged.sum(axis=1) >= 2
    all_fail = np.array([((one == 1) | ~judged).all(axis=1)[enough] for one in failed], dtype=float)
    np.testing.assert_allclose(found.both[0, 3], all_fail @ all_fail.T)
