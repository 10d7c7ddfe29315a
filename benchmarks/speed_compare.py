"""The speed of `compare`: 1e7 individuals x 10 models at two snapshots, from Parquet; limit 15 s.

    python benchmarks/speed_compare.py [ROWS] [MODELS]

The later file holds the same individuals in another order, so that nothing but the join can match them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import answer, in_process, machine

LIMIT = 15.0


def write(folder: Path, rows: int, models: int) -> None:
    """Write two snapshots of the same individuals; how hard they are is shared."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(4)
    hard = rng.normal(size=rows).astype(np.float32)
    for number, name in enumerate(("before", "after")):
        order = rng.permutation(rows) if number else np.arange(rows)
        columns = {"id": pl.Series(order)}
        for j in range(models):
            rate = 1 / (1 + np.exp(-(1.2 * hard[order] - 1.5 + 0.1 * (j % 10) - 0.2 * number)))
            columns[f"m{j}"] = pl.Series((rng.random(rows, dtype=np.float32) < rate).astype(np.int8))
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")


def compared(folder: str) -> int:
    """Compare, whole: the join, the counts, intervals, baselines."""
    import polyculture as pc

    paths = [Path(folder) / f"{name}.parquet" for name in ("before", "after")]
    return pc.compare(*paths, id="id", outcomes="failed").record.changes[0].matched


def main() -> None:
    """Write the data, compare, and print the table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    models = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows, models)
        print(machine())
        found = in_process("compared", folder, repeat=3)
    assert found.result == rows, found.result
    print("| individuals x models | best | median | limit | peak memory |")
    print("| --- | --- | --- | --- | --- |")
    limit = f"{LIMIT:.0f} s" if (rows, models) == (10_000_000, 10) else "stated"
    print(f"| {rows:,} x {models} | {found.best:.2f} s | {found.middle:.2f} s | {limit} | {found.peak:.2f} GiB |")


if __name__ == "__main__":
    if not answer({"compared": compared}):
        main()
