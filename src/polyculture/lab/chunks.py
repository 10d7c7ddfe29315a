"""Trials and individuals as parquet, and back: what the files of a store hold, byte for byte the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import FileError
from polyculture.lab.trial import UNKNOWN, Fault, Outcome, setting_of

if TYPE_CHECKING:
    import polars as pl

    from polyculture.lab.data import Described, Prepared
    from polyculture.lab.plan import Plan
    from polyculture.lab.store import Manifest

__all__ = ["GROUPS", "chunk_bytes", "individuals_bytes", "parquet", "read_chunk"]

GROUPS = "group: "
"""What the names of group columns begin with, so that none can be the id."""


def chunk_bytes(plan: Plan, outcomes: list[Outcome]) -> bytes:
    """Return the parquet file of some trials: a row a trial, outcomes in the order arm, decision-maker, individual."""
    import polars as pl

    arms, makers = [arm.name for arm in plan.arms()], plan.decision_makers()
    failed = np.stack([outcome.failed.ravel() for outcome in outcomes])
    flags = pl.Series(values=failed.ravel()).replace(UNKNOWN, None).cast(pl.Boolean).reshape(failed.shape)
    faults = [
        [
            {"arm": arms[fault.arm], "decision_maker": makers[fault.model], "reason": fault.reason, "said": fault.said}
            for fault in outcome.faults
        ]
        for outcome in outcomes
    ]
    text = dict.fromkeys(("arm", "decision_maker", "reason", "said"), pl.String)
    table = pl.DataFrame(
        {
            "trial": pl.Series([outcome.setting.trial for outcome in outcomes], dtype=pl.Int32),
            "learner": [plan.learners[outcome.setting.learner].shown() for outcome in outcomes],
            "blocks": pl.Series([plan.blocks[outcome.setting.blocks] for outcome in outcomes], dtype=pl.Int32),
            "partition_seed": pl.Series([outcome.setting.partition_seed for outcome in outcomes], dtype=pl.Int32),
            "model_seed": pl.Series([outcome.setting.model_seed for outcome in outcomes], dtype=pl.Int32),
            "individual": pl.Series([outcome.rows for outcome in outcomes], dtype=pl.List(pl.Int32)),
            "failed": flags.arr.to_list(),
            "faults": pl.Series(faults, dtype=pl.List(pl.Struct(text))),
        }
    )
    buffer = BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def read_chunk(path: Path, manifest: Manifest) -> Iterator[Outcome]:
    """Read the trials of a chunk.

    Raises
    ------
    FileError
        If it cannot be read, or does not hold what the manifest says.
    """
    import polars as pl

    table = parquet(path)
    arms = {name: index for index, name in enumerate(manifest.arms)}
    makers = {name: index for index, name in enumerate(manifest.decision_makers)}
    try:
        for row in table.iter_rows(named=True):
            rows = np.array(row["individual"], dtype=np.int32)
            flags = pl.Series(row["failed"], dtype=pl.Boolean).cast(pl.Int8).fill_null(UNKNOWN).to_numpy()
            faults = tuple(
                Fault(arms[one["arm"]], makers[one["decision_maker"]], one["reason"], one["said"])
                for one in row["faults"]
            )
            setting = setting_of(manifest.plan, row["trial"])
            yield Outcome(setting, rows, flags.reshape(len(arms), len(makers), len(rows)), faults)
    except (KeyError, ValueError, pl.exceptions.PolarsError) as error:
        raise FileError(
            f"{str(path)!r} does not hold what its plan says: {error}.", hint="Delete it, and run again."
        ) from error


def parquet(path: Path) -> pl.DataFrame:
    """Read a parquet file of the store.

    Raises
    ------
    FileError
        If it cannot be read.
    """
    import polars as pl

    try:
        return pl.read_parquet(path.read_bytes())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileError(
            f"{str(path)!r} cannot be read: {str(error).splitlines()[0]}",
            hint="Delete it and run the same command again: it is then written anew.",
        ) from None


def individuals_bytes(data: Prepared, plan: Described) -> bytes:
    """Return the parquet file of who there is: ids and group values, in the order of the data."""
    import polars as pl

    columns: dict[str, Any] = {"id": data.ids.tolist()}
    for index, name in enumerate(plan.data.groups if data.cells else ()):
        columns[GROUPS + name] = [None if cell < 0 else data.cells[cell][index] for cell in data.cell.tolist()]
    buffer = BytesIO()
    pl.DataFrame(columns, schema_overrides=dict.fromkeys(columns, pl.String)).write_parquet(
        buffer, compression="zstd", statistics=False
    )
    return buffer.getvalue()
