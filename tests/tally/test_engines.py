"""Every engine gives the same integers, and no row leaves it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from polyculture.outcomes import Mapping, Outcomes, counting
from polyculture.tally import Tally, build, grouped, large

ROWS = 400
WIDE = Mapping(
    id="id",
    label="truth",
    models=("p0", "p1", "p2", "p3"),
    by=("sex", "age>=40", "quantiles(age, 4)"),
    no_answer_values=("error",),
    pending=("later",),
    weight="weight",
    cluster="site",
)
LONG = dataclasses.replace(WIDE, models=None, long=True, model="model", value="value")


def wide_table() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    answers = ["a", "b", None, "error", "later"]
    return pl.DataFrame(
        {
            "id": [f"person {i}" for i in range(ROWS)],
            "sex": rng.choice(["f", "m", None], ROWS).tolist(),
            "age": rng.integers(18, 80, ROWS),
            "truth": rng.choice(["a", "b"], ROWS),
            **{f"p{j}": rng.choice(answers, ROWS, p=[0.5, 0.3, 0.1, 0.05, 0.05]).tolist() for j in range(4)},
            "weight": rng.random(ROWS),
            "site": rng.integers(0, 12, ROWS),
        }
    )


def long_table() -> pl.DataFrame:
    keep = ["id", "sex", "age", "truth", "weight", "site"]
    return wide_table().unpivot(index=keep, on=list(WIDE.models or ()), variable_name="model", value_name="value")


def many_models_table() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    failed = rng.random((ROWS, 30)) < rng.uniform(0.05, 0.6, 30)
    columns = {f"m{j}": failed[:, j].astype(np.int8) for j in range(30)}
    return pl.DataFrame({"id": range(ROWS), "group": rng.choice(["x", "y"], ROWS), **columns})


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(("table", "mapping"), [(wide_table, WIDE), (long_table, LONG)], ids=["wide", "long"])
def test_the_same_integers_in_every_engine(
    as_engine: Callable[[pl.DataFrame], Any], table: Callable[[], pl.DataFrame], mapping: Mapping
) -> None:
    streamed = Tally.of(Outcomes(table().lazy(), mapping))
    found = Tally.of(Outcomes(as_engine(table()), mapping))
    assert found == streamed
    assert found.individuals == ROWS
    assert found.no_answer_reasons == streamed.no_answer_reasons
    assert len(streamed.raw.count) > 300


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
def test_exact_tables_and_pairs_are_the_same_in_every_engine(
    as_engine: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = Mapping(id="id", outcomes="failed", by=("group",))
    table = many_models_table()
    whole = Tally.of(Outcomes(table.lazy(), mapping))
    assert whole.exact
    monkeypatch.setattr(build, "MANY", 100)
    monkeypatch.setattr(large, "SAMPLE", 50)
    found = Tally.of(Outcomes(as_engine(table), mapping))
    assert not found.exact
    assert found.sampled == 50 or 20 < (found.sampled or 0) < 50
    for name in ("cell", "judged", "failed", "count"):
        np.testing.assert_array_equal(getattr(found.profile_table(), name), getattr(whole.profile_table(), name))
    np.testing.assert_array_equal(found.model_table().failed, whole.model_table().failed)
    failed = whole.patterns.failed.astype(np.int64)
    assert found.tables is not None
    np.testing.assert_array_equal(found.tables.both_failed, failed.T @ (failed * whole.patterns.count[:, None]))
    assert (found.tables.both_judged == ROWS).all()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
def test_only_small_results_leave_the_engine(
    as_engine: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []

    def counted(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        result = original(frame)
        fetched.append(len(result))
        return result

    original = counting.fetch
    monkeypatch.setattr(counting, "fetch", counted)
    monkeypatch.setattr(grouped, "fetch", counted)
    rows = pl.concat([many_models_table().select("group", "m1", "m2")] * 5)
    tally = Tally.of(Outcomes(as_engine(rows), Mapping(outcomes="failed", by=("group",))))
    assert tally.individuals == 5 * ROWS
    assert fetched
    assert max(fetched) <= 8
