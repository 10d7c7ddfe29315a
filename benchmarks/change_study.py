"""How well the baseline of `compare` that is adjusted for difficulty holds what churn alone gives.

    python benchmarks/change_study.py [REPLICATES]

Both versions answer by the individual's hardness alone, with a gain: then the share of improvements that undo a
systemic failure differs from the adjusted baseline by chance only, and its interval should hold 0 in 93 % or more.
Laws of hardness: normal, two kinds, skewed. Prints a table; 200 replicates take about half an hour on 2 idle cores.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import polars as pl

from polyculture.audit.compare import Step, change
from polyculture.audit.settings import Settings
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally.changes import Changes

LAWS = ("normal", "two kinds", "skewed")


def hardness(law: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the hardness of n individuals, in log-odds."""
    if law == "normal":
        return rng.normal(0.0, 1.5, n)
    if law == "two kinds":
        return rng.choice([-1.5, 3.75], n, p=[0.8, 0.2]) + rng.normal(0.0, 0.45, n)
    return 1.95 * (rng.exponential(size=n) - 1.0)


def snapshot(hard: np.ndarray, models: int, gain: float, rng: np.random.Generator) -> Outcomes:
    """Draw who is failed by each model."""
    proneness = np.linspace(-1.5, -0.3, models) - gain
    failed = rng.random((len(hard), models)) < 1 / (1 + np.exp(-(hard[:, None] + proneness)))
    names = [f"m{j}" for j in range(models)]
    table = pl.DataFrame({"id": np.arange(len(hard)), **dict(zip(names, failed.T.astype(np.int8), strict=True))})
    return Outcomes(table, Mapping(id="id", outcomes="failed", models=tuple(names)))


def main() -> None:
    """Print, for each cell, how often the intervals hold 0 and how far the baselines are off."""
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = np.random.default_rng(20)
    print(f"{replicates} replicates a cell; pooled over models, others read before")
    print(
        "| individuals | models | hardness | adjusted holds 0 | uniform holds 0 | share - adjusted | share - uniform |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n, models, law in product((600, 3_000), (3, 5, 10), LAWS):
        held = {"adjusted": 0, "uniform": 0}
        off: dict[str, list[float]] = {"adjusted": [], "uniform": []}
        for seed in range(replicates):
            hard = hardness(law, n, rng)
            counted = Changes.of(snapshot(hard, models, 0.0, rng), snapshot(hard, models, 0.4, rng))
            found = change(Step("before", "after", counted), Settings(seed=seed)).undoing[0]
            for name in held:
                difference = getattr(found, f"difference_{name}")
                held[name] += (difference.low or 0.0) <= 0.0 <= (difference.high or 0.0)
                off[name].append(difference.value or 0.0)
        shares = " | ".join(f"{held[name] / replicates:.2f}" for name in ("adjusted", "uniform"))
        means = " | ".join(f"{np.mean(off[name]):+.3f}" for name in ("adjusted", "uniform"))
        print(f"| {n:,} | {models} | {law} | {shares} | {means} |", flush=True)


if __name__ == "__main__":
    main()
