"""How often 95 % intervals hold the truth, and how often tests reject true nulls: simulated, and written to docs.

Every replicate goes through the functions that an audit calls. Truths are computed from the law that makes the
data (products, or a fine sum over the normal factor), never by an estimator.

    python benchmarks/coverage_study.py                 # all cells; takes up where it was interrupted
    python benchmarks/coverage_study.py --subset        # five cells, fixed seed, under a minute
    python benchmarks/coverage_study.py --write-only    # tables from the results at hand
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from coverage_tables import write
from polyculture.stats.contrasts import contrast
from polyculture.stats.group_homogenization import group_homogenization
from polyculture.stats.homogeneity import estimate, moments
from polyculture.stats.independence import event_p_value

SEED = 20261130
SUBSET_SEED = 2
ROOT = Path(__file__).resolve().parent.parent
GROUP_SHARES = np.array([0.5, 0.3, 0.2])
SHIFT = 0.3  # of the last group, on the normal scale, where groups differ
FACTOR = 0.3  # share of the common factor in the latent variance of a failure
CLUSTER = 0.1  # share of the cluster in it
REPLICATES = 1000
HEAVY_REPLICATES = 250  # where N x k is 100,000 or more
HEAVIEST_REPLICATES = 100  # where N x k is 1,000,000
# Figures that cost more are taken in the first replicates only.
LIGHT = {"contrasts": 400, "groups": 400, "spread": 400}
HEAVY = {"contrasts": 120, "groups": 60, "spread": 60}

INTERVALS = ("SF", "E", "excess", "H", "success_excess", "group_difference", "average", "uniform", "worst")
CORRECTED = ("average_corrected", "uniform_corrected", "worst_corrected")
TESTS = ("independence", "group_contrast", "spread")
RATES: dict[str, float | tuple[float, float]] = {
    "0.01": 0.01,
    "0.05": 0.05,
    "0.2": 0.2,
    "0.5": 0.5,
    "0.02-0.5": (0.02, 0.5),
}


@dataclass(frozen=True)
class Cell:
    """One cell of the grid."""

    n: int
    k: int
    rates: str
    law: str  # "independent" or "homogenized"
    clusters: int  # 0: none

    def failure_rates(self) -> np.ndarray:
        """Return the models' failure rates in the groups that are not shifted."""
        value = RATES[self.rates]
        return np.linspace(*value, self.k) if isinstance(value, tuple) else np.full(self.k, value)

    def key(self) -> str:
        """Return a name of the cell that orders and identifies it."""
        return f"{self.n}/{self.k}/{self.rates}/{self.law}/{self.clusters}"


def grid() -> Iterator[Cell]:
    """Yield all cells."""
    for n in (200, 2000, 20000):
        for k in (3, 10, 50):
            for rates in RATES:
                for law in ("independent", "homogenized"):
                    for clusters in (0, 40):
                        yield Cell(n, k, rates, law, clusters)
    for n in (200, 2000):
        for rates in ("0.2", "0.5"):
            for law in ("independent", "homogenized"):
                yield Cell(n, 3, rates, law, 15)


def subset() -> list[Cell]:
    """Return the cells that continuous integration repeats; all within the targets in the full study."""
    return [
        Cell(2000, 3, "0.2", "independent", 0),
        Cell(2000, 3, "0.2", "homogenized", 0),
        Cell(2000, 10, "0.5", "homogenized", 0),
        Cell(2000, 3, "0.2", "homogenized", 40),
        Cell(2000, 3, "0.5", "independent", 40),
    ]


# ---- truth ---------------------------------------------------------------------------------------------------

_NODES = np.linspace(-10, 10, 8001)
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()


def thresholds(cell: Cell) -> np.ndarray:
    """Return latent thresholds (groups, k): a model fails whose latent variable lies below."""
    shift = SHIFT if cell.law == "homogenized" else 0.0
    return ndtri(cell.failure_rates()) + np.array([0.0, 0.0, shift])[:, None]


def truth(cell: Cell) -> dict[str, float]:
    """Return the true value of every figure."""
    cut = thresholds(cell)
    rates = ndtr(cut)
    if cell.law == "independent":
        by_group, success = rates.prod(axis=1), (1 - rates).prod(axis=1)
    else:
        given = ndtr((cut[:, None, :] - np.sqrt(FACTOR) * _NODES[None, :, None]) / np.sqrt(1 - FACTOR))
        by_group, success = given.prod(axis=2) @ _WEIGHTS, (1 - given).prod(axis=2) @ _WEIGHTS
    pooled = GROUP_SHARES @ rates
    log_expected, products = np.log(pooled).sum(), rates.prod(axis=1)
    systemic, expected = float(GROUP_SHARES @ by_group), float(np.exp(log_expected))
    weights = np.exp(cell.k * (np.log(GROUP_SHARES) - np.log(GROUP_SHARES.max())))
    return {
        "SF": systemic,
        "E": expected,
        "excess": systemic - expected,
        "H": systemic / expected,
        "success_excess": float(GROUP_SHARES @ success - (1 - pooled).prod()),
        "group_difference": float(by_group[2] - by_group[0]),
        "average": float(weights @ products / weights.sum() / expected),
        "uniform": float(products.mean() / expected),
        "worst": float(products.max() / expected),
    }


# ---- data ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """One simulated table: rows, their counts, groups and clusters."""

    failed: np.ndarray
    count: np.ndarray
    group: np.ndarray
    null_group: np.ndarray
    cluster: np.ndarray | None


def simulate(cell: Cell, rng: np.random.Generator) -> Data:
    """Draw individuals, groups and clusters (of unequal size)."""
    n, k = cell.n, cell.k
    group = np.searchsorted(np.cumsum(GROUP_SHARES)[:-1], rng.random(n)).astype(np.int64)
    null_group = np.searchsorted(np.cumsum(GROUP_SHARES)[:-1], rng.random(n)).astype(np.int64)
    cluster = None
    if cell.clusters:
        sizes = np.linspace(0.4, 1.6, cell.clusters)
        cluster = rng.choice(cell.clusters, n, p=sizes / sizes.sum())
    cut = thresholds(cell)
    if cell.law == "independent":
        chance = np.broadcast_to(ndtr(cut[0]), (1, k))
        if cluster is not None:
            effect = rng.standard_normal((cell.clusters, k)) * np.sqrt(CLUSTER)
            chance = ndtr((cut[0] - effect) / np.sqrt(1 - CLUSTER))[cluster]
    else:
        own = FACTOR - (CLUSTER if cell.clusters else 0.0)
        factor = rng.standard_normal(n) * np.sqrt(own)
        if cluster is not None:
            factor += (rng.standard_normal(cell.clusters) * np.sqrt(CLUSTER))[cluster]
        if isinstance(RATES[cell.rates], tuple):
            chance = ndtr((cut[group] - factor[:, None]) / np.sqrt(1 - FACTOR))
        else:
            chance = ndtr((cut[group, :1] - factor[:, None]) / np.sqrt(1 - FACTOR))
    failed = rng.random((n, k), dtype=np.float32) < chance
    return _compact(Data(failed, np.ones(n), group, null_group, cluster), cell)


def _compact(data: Data, cell: Cell) -> Data:
    """Count equal rows where that makes the table much smaller."""
    if cell.k > 10 or (cell.k == 10 and cell.clusters):
        return data
    code = data.failed @ (1 << np.arange(cell.k))
    code = (code * 3 + data.group) * 3 + data.null_group
    if data.cluster is not None:
        code = code * cell.clusters + data.cluster
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    cluster = None if data.cluster is None else data.cluster[first]
    return Data(data.failed[first], count.astype(float), data.group[first], data.null_group[first], cluster)


# ---- one replicate -------------------------------------------------------------------------------------------


def replicate(cell: Cell, data: Data, rng: np.random.Generator, parts: frozenset[str]) -> dict[str, Any]:
    """Return the interval of every figure and the p-value of every test."""
    judged = np.ones_like(data.failed)

    def part(rows: Any, event: Any = "all_fail") -> Any:
        cluster = None if data.cluster is None else data.cluster[rows]
        return moments(judged[rows], data.failed[rows], data.count[rows], cluster=cluster, event=event)

    result: dict[str, Any] = {}
    if "everyone" in parts:
        whole = part(slice(None))
        found = estimate(whole, count_label_errors=False)
        result |= {"SF": found.observed, "E": found.expected, "excess": found.difference, "H": found.ratio}
        success = estimate(part(slice(None), "none_fail"), count_label_errors=False)
        result["success_excess"] = success.difference
        if cell.law == "independent":
            result["independence"] = event_p_value(whole, rng)[0]
    if "contrasts" in parts:
        result["group_difference"] = contrast(part(data.group == 2), part(data.group == 0)).difference
        result["group_contrast"] = contrast(part(data.null_group == 2), part(data.null_group == 0)).p_value
    if "groups" in parts:
        shares = _homogenization(data, data.group, None)
        result |= {name: getattr(shares, name) for name in ("average", "uniform", "worst", *CORRECTED)}
        result["unreliable"] = not shares.reliable
    if "spread" in parts and not cell.clusters:
        result["spread"] = _homogenization(data, data.null_group, rng).spread_p_value
    return result


def _homogenization(data: Data, group: np.ndarray, rng: np.random.Generator | None) -> Any:
    return group_homogenization(
        np.ones_like(data.failed),
        data.failed,
        data.count,
        None,
        None,
        group,
        3,
        data.cluster,
        rng,
        draws=99 if data.count.sum() <= 200 else 399,
    )


# ---- a cell --------------------------------------------------------------------------------------------------


def run(cell: Cell, replicates: int, seed: int = SEED, *, every: bool = False) -> dict[str, Any]:
    """Return the tallies of one cell; with ``every``, of all figures in all replicates."""
    # The seed of a cell depends on the cell alone, so that cells can be run in any order.
    rng = np.random.default_rng([seed, *(ord(c) for c in cell.key())])
    true, started = truth(cell), time.perf_counter()
    size = cell.n * cell.k
    heavy = size >= 100_000
    if heavy:
        replicates = min(replicates, HEAVIEST_REPLICATES if size >= 1_000_000 else HEAVY_REPLICATES)
    tallies: dict[str, dict[str, int]] = {}
    for number in range(replicates):
        data = simulate(cell, rng)
        limits = HEAVY if heavy else LIGHT
        parts = frozenset({"everyone"} | {name for name, most in limits.items() if every or number < most})
        for name, found in replicate(cell, data, rng, parts).items():
            tally = tallies.setdefault(name, dict.fromkeys(("tried", "defined", "hit", "below", "above"), 0))
            tally["tried"] += 1
            if name in TESTS or name == "unreliable":
                tally["defined"] += found is not None
                tally["hit"] += found is not None and bool(found if name == "unreliable" else found <= 0.05)
                continue
            value = true[name.removesuffix("_corrected")]
            if found.low is None:
                continue
            tally["defined"] += 1
            # An interval is below the truth when its upper limit is.
            tally["below"] += found.high < value * (1 - 1e-9) if value > 0 else found.high < value
            tally["above"] += found.low > value * (1 + 1e-9) if value > 0 else found.low > value
    for name, tally in tallies.items():
        if name not in TESTS and name != "unreliable":
            tally["hit"] = tally["defined"] - tally["below"] - tally["above"]
    return {
        "cell": asdict(cell),
        "key": cell.key(),
        "truth": true,
        "replicates": replicates,
        "tallies": tallies,
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    """Run the cells that are missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subset", action="store_true")
    parser.add_argument("--write-only", action="store_true")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--commit", default="unknown", help="of the code that was studied, for the table")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "coverage.jsonl")
    arguments = parser.parse_args()
    if arguments.subset:
        for cell in subset():
            print(json.dumps(run(cell, min(arguments.replicates, 400), SUBSET_SEED, every=True)))
        return
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    arguments.results.touch()
    if not arguments.write_only:
        _take(arguments.replicates, arguments.results)
    found = {line["key"]: line for line in _lines(arguments.results)}
    results = [found[cell.key()] for cell in grid() if cell.key() in found]
    missing = sum(1 for _ in grid()) - len(results)
    write(results, missing=missing, seed=SEED, commit=arguments.commit, docs=ROOT / "docs")


def _lines(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def _take(replicates: int, results: Path) -> None:
    """Run the cells that are missing, small ones first."""
    done = {line["key"] for line in _lines(results)}
    for cell in sorted(grid(), key=lambda cell: cell.n * cell.k):
        if cell.key() in done:
            continue
        result = run(cell, replicates)
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(cell.key(), result["seconds"], "s", flush=True)


if __name__ == "__main__":
    main()
