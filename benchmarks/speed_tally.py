"""How long the Tally pass takes, as a ratio to a bare Polars streaming scan that counts failures by group.

    python benchmarks/speed_tally.py [small]

Writes its Parquet files to a temporary folder (2 GB at most) and removes them. ``small`` divides all rows by 100.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measure import Measured, answer, in_process, machine

SEED = 20260101
CHUNK = 1_000_000
GROUPS = ("north", "east", "south", "west", "unknown")


@dataclass(frozen=True)
class Case:
    """One table: its size, what its cells hold, and the largest ratio allowed (None: only stated)."""

    name: str
    rows: int
    models: int
    kind: str
    limit: float | None


CASES = (
    Case("complete 0/1", 10_000_000, 10, "plain", 2.0),
    Case("labels and nulls", 10_000_000, 10, "labels", 4.0),
    Case("complete 0/1", 100_000_000, 10, "plain", 2.0),
    Case("labels and nulls", 100_000_000, 10, "labels", 4.0),
    Case("complete 0/1, with pairs", 10_000_000, 100, "plain", 3.0),
    Case("labels and nulls, with pairs", 10_000_000, 100, "labels", None),
)


def write(case: Case, path: Path) -> None:
    """Write a table in which individuals differ in difficulty, so that failures are shared."""
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED)
    writer = None
    for start in range(0, case.rows, CHUNK):
        size = min(CHUNK, case.rows - start)
        difficulty = rng.random(size, dtype=np.float32)
        columns: dict[str, Any] = {
            "group": pl.Series(rng.integers(0, len(GROUPS), size)).replace_strict(
                dict(enumerate(GROUPS)), return_dtype=pl.String
            )
        }
        label = rng.integers(0, 2, size, dtype=np.int8)
        if case.kind == "labels":
            columns["label"] = label
        for j in range(case.models):
            failed = (rng.random(size, dtype=np.float32) + difficulty < 0.3 + 0.3 * j / case.models).astype(np.int8)
            if case.kind == "plain":
                columns[f"m{j}"] = failed
            else:
                missing = rng.random(size, dtype=np.float32) < 0.05
                columns[f"m{j}"] = pl.Series(np.where(failed, 1 - label, label)).set(pl.Series(missing), None)
        table = pl.DataFrame(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def names(models: str) -> list[str]:
    """Return the names of the model columns."""
    return [f"m{j}" for j in range(int(models))]


def scan(path: str, models: str, kind: str) -> int:
    """Count failures by group, and nothing else."""
    columns = [pl.col(name) for name in names(models)]
    failed = [column.sum() if kind == "plain" else (column != pl.col("label")).sum() for column in columns]
    counted = pl.scan_parquet(path).group_by("group").agg(pl.len(), *[one.name.suffix("_f") for one in failed])
    return counted.collect(engine="streaming").height


def outcomes(path: str, models: str, kind: str) -> Any:
    """Return the table as Outcomes."""
    from polyculture.outcomes import Mapping, Outcomes

    says = {"outcomes": "failed"} if kind == "plain" else {"label": "label"}
    return Outcomes(pl.scan_parquet(path), Mapping(models=tuple(names(models)), by=("group",), **says))


def tally(path: str, models: str, kind: str) -> int:
    """Make the Tally."""
    from polyculture.tally import Tally

    return Tally.of(outcomes(path, models, kind)).individuals


def after(path: str, models: str, kind: str) -> float:
    """Return the seconds that everything after the pass takes: the audit, the report and the JSON."""
    import polyculture as pc
    from polyculture.tally import Tally

    made = Tally.of(outcomes(path, models, kind))
    start = time.perf_counter()
    audit = pc.audit(made)
    seconds = time.perf_counter() - start
    audit.json()
    return seconds


def row(case: Case, path: Path) -> str:
    """Measure a case and return its row of the table."""
    arguments = (str(path), str(case.models), case.kind)
    in_process("scan", *arguments, repeat=1)  # warms the file
    scanned: Measured = in_process("scan", *arguments)
    made: Measured = in_process("tally", *arguments)
    rest: Measured = in_process("after", *arguments, repeat=1)
    ratio = made.best / scanned.best
    limit = "stated" if case.limit is None else f"{case.limit:g}"
    cells = (
        f"{case.rows:.0e} x {case.models}".replace("e+0", "e"),
        case.name,
        f"{scanned.best:.2f} s",
        f"{made.best:.2f} s",
        f"{ratio:.2f}",
        limit,
        f"{rest.result:.2f} s",
        f"{max(made.peak, rest.peak):.2f} GiB",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure all cases and print a table."""
    divide = 100 if sys.argv[1:] == ["small"] else 1
    print(machine())
    print("| rows x models | cells | scan | Tally pass | ratio | limit | audit after the pass | peak memory |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        sized = Case(case.name, case.rows // divide, case.models, case.kind, case.limit)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "outcomes.parquet"
            write(sized, path)
            print(row(sized, path), flush=True)


if __name__ == "__main__" and not answer({"scan": scan, "tally": tally, "after": after}):
    main()
