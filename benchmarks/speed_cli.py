"""How long the command takes, as a process: --help, and the audit of WAIMAI's rows as CSV with the HTML report.

    python benchmarks/speed_cli.py

The rows are made from the bundled counts: 11,987 reviews, a column a service.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

from measure import machine

PROCESSES = 5


def write_rows(path: Path) -> None:
    """Write WAIMAI's outcomes as one row a review, with labels, in random order."""
    import polyculture as pc

    counts = pc.datasets.hapi("waimai").frame.collect().to_native()
    failed = counts.select(pl.exclude("count").repeat_by("count").explode())
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, failed.height)
    rows = failed.select(
        pl.Series("review", np.arange(failed.height)),
        pl.Series("true", label),
        *[pl.Series(f"pred_{name}", np.where(failed[name] == 1, 1 - label, label)) for name in failed.columns],
    )
    rows.sample(fraction=1, shuffle=True, seed=1).write_csv(path)


def seconds(*words: str) -> float:
    """Return the median seconds of several processes."""
    found = []
    for _ in range(PROCESSES + 1):  # the first one warms the files
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "polyculture.cli", *words], stdout=subprocess.DEVNULL, check=True)
        found.append(time.perf_counter() - start)
    return median(found[1:])


def main() -> None:
    """Measure and print a table."""
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        rows, page = Path(folder) / "waimai.csv", Path(folder) / "waimai.html"
        write_rows(rows)
        options = ("--label", "true", "--models", "pred_*", "--id", "review")
        cases = (
            ("python -c pass", None, None),
            ("polyculture --help", ("--help",), 0.3),
            ("polyculture audit waimai.csv", ("audit", str(rows), *options), None),
            ("polyculture audit waimai.csv --html", ("audit", str(rows), *options, "--html", str(page)), 2.5),
        )
        print(f"| command | median of {PROCESSES} processes | limit |")
        print("| --- | --- | --- |")
        for name, words, limit in cases:
            taken = seconds(*words) if words is not None else bare()
            print(f"| `{name}` | {taken:.2f} s | {'' if limit is None else f'{limit:g} s'} |")


def bare() -> float:
    """Return the median seconds of a Python that does nothing, to read the others by."""
    found = []
    for _ in range(PROCESSES):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        found.append(time.perf_counter() - start)
    return median(found)


if __name__ == "__main__":
    main()
