"""Trials and individuals as parquet, and back: what the files of a store hold, byte for byte the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import FileError, first_few
from polyculture.lab.trial import UNKNOWN, Fault, Outcome, setting_of, tested

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


def read_chunk(path: Path, manifest: Manifest, trials: range) -> Iterator[Outcome]:
    """Read the trials of a chunk.

    Parameters
    ----------
    path : Path
        Its file.
    manifest : Manifest
        Of the store.
    trials : range
        The trials that it holds by its number.

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
        if (held := table["trial"].to_list()) != list(trials):
            raise ValueError(f"it holds trials {first_few(held)}, not {trials[0]} to {trials[-1]}")
        for row in table.iter_rows(named=True):
            _check_setting(row, manifest)
            rows = np.array(row["individual"], dtype=np.int32)
            flags = pl.Series(row["failed"], dtype=pl.Boolean).cast(pl.Int8).fill_null(UNKNOWN).to_numpy()
            faults = tuple(
                Fault(arms[one["arm"]], makers[one["decision_maker"]], one["reason"], one["said"])
                for one in row["faults"]
            )
            setting = setting_of(manifest.plan, row["trial"])
            yield Outcome(setting, rows, flags.reshape(len(arms), len(makers), len(rows)), faults)
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise FileError(
            f"{str(path)!r} does not hold what its plan says: {error}.", hint="Delete it, and run again."
        ) from error


def _check_setting(row: dict[str, Any], manifest: Manifest) -> None:
    """Refuse a trial of another plan: other learner, blocks or seeds at its number, or individuals unknown."""
    plan, setting = manifest.plan, setting_of(manifest.plan, row["trial"])
    wanted = {
        "learner": plan.learners[setting.learner].shown(),
        "blocks": plan.blocks[setting.blocks],
        "partition_seed": setting.partition_seed,
        "model_seed": setting.model_seed,
    }
    for name, value in wanted.items():
        if row[name] != value:
            raise ValueError(f"trial {row['trial']} has {name} {row[name]!r}, not {value!r}")
    if len(row["individual"]) != tested(plan, manifest.individuals):
        raise ValueError(f"trial {row['trial']} tests {len(row['individual'])} individuals")
    if not 0 <= min(row["individual"]) <= max(row["individual"]) < manifest.individuals:
        raise ValueError(f"trial {row['trial']} tests individuals that are not in the data")


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
    except FileNotFoundError:
        raise FileError(
            f"There is no {str(path)!r}.", hint="Run the same command again: it is then written anew."
        ) from None
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
