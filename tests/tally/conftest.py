"""A Spark session, and one table in every engine, for the tests of engines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        reason = "Java is not installed, so Spark cannot run"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(params=["polars eager", "pandas", "duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def as_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[pl.DataFrame], Any]]:
    number = count()  # so that two tables can be held at once
    if request.param == "polars eager":
        yield lambda table: table
    elif request.param == "pandas":
        yield lambda table: table.to_pandas()
    elif request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:

            def relation(table: pl.DataFrame) -> Any:
                name = f"held{next(number)}"
                connection.register(name, table.to_arrow())
                return connection.table(name)

            yield relation
    else:
        session = request.getfixturevalue("spark")

        def frame(table: pl.DataFrame) -> Any:
            path = tmp_path / f"held{next(number)}.parquet"
            table.write_parquet(path)
            return session.read.parquet(str(path))

        yield frame
