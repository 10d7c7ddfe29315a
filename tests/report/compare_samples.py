"""Comparisons for the tests of the outputs, computed from small made-up tables; by name in `ALL`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl

from polyculture.audit.change_records import CompareRecord
from polyculture.comparison import compare

HOSTILE = "<script>alert('x')</script>\u202e=1+1"


@cache
def _table(seed: int, rows: int, models: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(5).normal(0, 1.5, rows)
    rate = 1 / (1 + np.exp(-(hard[:, None] + np.linspace(-1.4, -0.4, models) - 0.15 * seed)))
    failed = (rng.random(rate.shape) < rate).astype(int)
    return pl.DataFrame({"id": range(rows), **{f"m{j}": failed[:, j] for j in range(models)}}).with_columns(
        sex=pl.when(pl.col("id") % 3 == 0).then(pl.lit("f")).otherwise(pl.lit("m")), site=pl.col("id") % 20
    )


def _stacked(snapshots: int, rows: int, models: int) -> pl.DataFrame:
    parts = [_table(seed, rows, models).with_columns(date=pl.lit(f"{2010 + seed}")) for seed in range(snapshots)]
    return pl.concat(parts)


def _two(models: int, **more: object) -> CompareRecord:
    names = [f"m{j}" for j in range(models)]
    return compare(
        _table(0, 300, models),
        _table(1, 300, models),
        id="id",
        outcomes="failed",
        models=names,
        **more,  # type: ignore[arg-type]
    ).record


@cache
def plain() -> CompareRecord:
    return _two(3)


@cache
def groups() -> CompareRecord:
    return _two(4, by=["sex"], cluster="site")


@cache
def census() -> CompareRecord:
    return _two(3, census=True)


@cache
def one_model() -> CompareRecord:
    return _two(1)


@cache
def wide() -> CompareRecord:
    return _two(26)


@cache
def hostile() -> CompareRecord:
    rename = {"m0": HOSTILE, "m1": "organisation/a-very-long-name-of-a-model-2024-01-01-instruct"}
    before, after = (_table(seed, 300, 3).rename(rename) for seed in (0, 1))
    names = [*rename.values(), "m2"]
    return compare(before, after, id="id", outcomes="failed", models=names, by=["sex"], noun=HOSTILE).record


@cache
def trend() -> CompareRecord:
    return compare(_stacked(4, 200, 3), id="id", outcomes="failed", models=["m0", "m1", "m2"], snapshot="date").record


@cache
def many() -> CompareRecord:
    return compare(_stacked(15, 60, 2), id="id", outcomes="failed", models=["m0", "m1"], snapshot="date").record


ALL: dict[str, Callable[[], CompareRecord]] = {
    one.__name__: one for one in (plain, groups, census, one_model, wide, hostile, trend, many)
}
