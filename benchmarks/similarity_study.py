"""How often the intervals of similarity hold the truth: simulated, and written into docs/similarity.md.

Every replicate goes through the functions that an audit calls. Truths are integrals over the normal factor of
the law that makes the data, put into the definitions of the measures; no sample is involved.

    python benchmarks/similarity_study.py                 # all cells; takes up where it was interrupted
    python benchmarks/similarity_study.py --subset        # four cells, fixed seed; exit 1 where a target is missed
    python benchmarks/similarity_study.py --write-only    # the table from the results at hand
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from polyculture.stats._rows import make_rows
from polyculture.stats.similarity import cells_from_tables, cells_of, pair_similarity
from polyculture.stats.similarity.capa import capa_labels
from polyculture.stats.similarity.collection import capa_of_all, effective_number, fleiss, mean_phi
from polyculture.stats.similarity.error_consistency import kappa, kappa_of, observed_and_expected
from polyculture.stats.similarity.overlap import jaccard
from polyculture.stats.similarity.phi import phi

SEED = 20261130
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "similarity.jsonl"
PAGE = ROOT / "docs" / "similarity.md"
MARKS = ("<!-- study -->", "<!-- /study -->")
FACTOR, CLUSTER = 0.3, 0.1  # shares of the common factor and of the cluster in the latent variance of a failure
REPLICATES = 1000
PAIRS = ("phi", "kappa", "capa", "jaccard")
COLLECTION = ("mean_phi", "n_eff", "fleiss", "capa_of_all")
RATES: dict[str, float | tuple[float, float]] = {"0.05": 0.05, "0.2": 0.2, "0.5": 0.5, "0.02-0.5": (0.02, 0.5)}
TARGET = (0.93, 0.97)


@dataclass(frozen=True)
class Cell:
    """One cell of the grid."""

    n: int
    k: int
    rates: str
    law: str  # "independent" or "homogenized"
    clusters: int  # 0: none
    missing: float = 0.0

    def failure_rates(self) -> np.ndarray:
        """Return the models' failure rates."""
        value = RATES[self.rates]
        return np.linspace(*value, self.k) if isinstance(value, tuple) else np.full(self.k, value)

    def shared(self) -> float:
        """Return the share of latent variance that two failures of one individual have in common."""
        return (FACTOR if self.law == "homogenized" else 0.0) + (CLUSTER if self.clusters else 0.0)

    def key(self) -> str:
        """Return a name of the cell that orders and identifies it."""
        return f"{self.n}/{self.k}/{self.rates}/{self.law}/{self.clusters}/{self.missing:g}"


def grid() -> Iterator[Cell]:
    """Yield all cells, small ones first."""
    for n in (200, 1000, 5000):
        for k in (3, 10, 40):
            for rates in RATES:
                for law in ("independent", "homogenized"):
                    yield Cell(n, k, rates, law, 0)
                    yield Cell(n, k, rates, law, 40)
            yield Cell(n, k, "0.2", "homogenized", 0, 0.3)


def subset() -> list[Cell]:
    """Return the cells that run everywhere."""
    return [
        Cell(1000, 5, "0.2", "homogenized", 0),
        Cell(1000, 5, "0.2", "independent", 0),
        Cell(1000, 5, "0.2", "homogenized", 40),
        Cell(2000, 10, "0.02-0.5", "homogenized", 0, 0.2),
    ]


def joint(cell: Cell) -> np.ndarray:
    """Return the probability that two models fail the same individual, (k, k), by Gauss-Hermite integration."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    shared = cell.shared()
    chance = ndtr((ndtri(cell.failure_rates())[None, :] - np.sqrt(shared) * nodes[:, None]) / np.sqrt(1 - shared))
    found = (chance * (weights / weights.sum())[:, None]).T @ chance
    np.fill_diagonal(found, cell.failure_rates())
    return found


def truth(cell: Cell) -> dict[str, float]:
    """Return the measures of the law itself."""
    both, f = joint(cell), cell.failure_rates()
    cells = cells_from_tables(np.ones_like(both), both, np.repeat(f[:, None], cell.k, axis=1))
    upper = np.triu_indices(cell.k, 1)
    covariance = both - np.outer(f, f)
    np.fill_diagonal(covariance, f * (1 - f))
    agree, _ = observed_and_expected(cells)
    mean = f.mean()
    exact, observed, expected = capa_labels(cells, np.zeros_like(both), 0.0)
    first = (0, 1)
    return {
        "phi": float(phi(cells)[first]),
        "kappa": float(kappa(cells)[first]),
        "capa": float(exact[first]),
        "jaccard": float(jaccard(cells)[first]),
        "mean_phi": float(phi(cells)[upper].mean()),
        "n_eff": float(cell.k * (f * (1 - f)).sum() / covariance.sum()),
        "fleiss": float(kappa_of(agree[upper].mean(), np.array(mean**2 + (1 - mean) ** 2))),
        "capa_of_all": float(kappa_of(observed[upper].mean(), expected[upper].mean())),
    }


def replicate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Return (low, high) of every measure; None where there is no interval."""
    noise = rng.normal(size=(cell.n, cell.k)) * np.sqrt(1 - cell.shared())
    if cell.law == "homogenized":
        noise += rng.normal(size=(cell.n, 1)) * np.sqrt(FACTOR)
    cluster = np.arange(cell.n) % cell.clusters if cell.clusters else None
    if cluster is not None:
        noise += rng.normal(size=cell.clusters)[cluster][:, None] * np.sqrt(CLUSTER)
    judged = rng.random(noise.shape) >= cell.missing
    failed = (noise < ndtri(cell.failure_rates())) & judged
    rows = make_rows(judged, failed, np.ones(cell.n), cluster=cluster)
    cells = cells_of(rows)
    pairs = pair_similarity(cells, rows)
    found: dict[str, Any] = {}
    for name in PAIRS:
        measure = getattr(pairs, name)
        low, high = float(measure.low[0, 1]), float(measure.high[0, 1])
        found[name] = None if np.isnan(low) else (low, high)
    for name, one in (
        ("mean_phi", mean_phi(rows, cells)),
        ("n_eff", effective_number(rows, cells)),
        ("fleiss", fleiss(rows)),
        ("capa_of_all", capa_of_all(rows, pairs)),
    ):
        found[name] = None if one.low is None else (one.low, one.high)
        found[f"{name}_warned"] = bool(one.reason)
    return found


def run(cell: Cell, replicates: int, seed: int = SEED) -> dict[str, Any]:
    """Simulate one cell: coverage of each interval among the replicates that have one, and their number."""
    start, known = time.perf_counter(), truth(cell)
    rng = np.random.default_rng([seed, *cell.key().encode()])
    held: dict[str, list[bool]] = defaultdict(list)
    warned: dict[str, int] = defaultdict(int)
    for _ in range(replicates):
        found = replicate(cell, rng)
        for name, value in known.items():
            limits = found[name]
            warned[name] += bool(found.get(f"{name}_warned"))
            if limits is not None:
                held[name].append(limits[0] <= value <= limits[1])
    f = cell.failure_rates()
    both = joint(cell)
    return {
        "key": cell.key(),
        **asdict(cell),
        "replicates": replicates,
        "joint_failures": cell.n * float(both[0, 1]) * (1 - cell.missing) ** 2,
        "failures": cell.n * float(f.min()) * (1 - cell.missing),
        "truth": known,
        "coverage": {name: float(np.mean(held[name])) if held[name] else None for name in known},
        "intervals": {name: len(held[name]) for name in known},
        "warned": dict(warned),
        "seconds": time.perf_counter() - start,
    }


def targeted(result: dict[str, Any]) -> bool:
    """Whether the promise of 93 to 97 % is made here: 5 joint failures and failures a model, 30 clusters or none."""
    return (
        result["joint_failures"] >= 5
        and result["failures"] >= 5
        and (not result["clusters"] or result["clusters"] >= 30)
    )


def missed(result: dict[str, Any]) -> list[str]:
    """Return the measures whose coverage is off target by more than twice the error of the simulation."""
    error = 2 * np.sqrt(0.95 * 0.05 / result["replicates"])
    off = []
    for name, share in result["coverage"].items():
        if share is None or result["intervals"][name] < result["replicates"] / 2:
            continue
        mostly_warned = result["warned"].get(name, 0) > result["replicates"] / 2
        if share < TARGET[0] - error and not mostly_warned and targeted(result):
            off.append(f"{result['key']} {name} {share:.3f}")
    return off


def table(results: list[dict[str, Any]]) -> str:
    """Return the study as Markdown: a row a kind of cell, the least and the mean coverage of each measure."""
    names = (*PAIRS, *COLLECTION)
    heads = {"capa": "CAPA", "n_eff": "n_eff", "mean_phi": "mean phi", "fleiss": "Fleiss", "capa_of_all": "CAPA, all"}
    lines = [
        "| individuals | models | cells | " + " | ".join(heads.get(name, name) for name in names) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in names) + " |",
    ]
    kinds: dict[tuple[str, int, int], list[dict[str, Any]]] = defaultdict(list)
    for result in results:
        where = "enough failures" if targeted(result) else "few failures"
        kinds[where, result["n"], result["k"]].append(result)
    for (where, n, k), members in sorted(kinds.items()):
        cells = []
        for name in names:
            shares = [
                one["coverage"][name]
                for one in members
                if one["coverage"][name] is not None and one["intervals"][name] >= one["replicates"] / 2
            ]
            cells.append(f"{np.mean(shares):.3f} ({min(shares):.3f})" if shares else "no interval")
        lines.append(f"| {n:,}, {where} | {k} | {len(members)} | " + " | ".join(cells) + " |")
    replicates = sorted({result["replicates"] for result in results})
    lines += ["", f"{len(results)} cells, {' or '.join(map(str, replicates))} replicates each."]
    return "\n".join(lines)


def write(results: list[dict[str, Any]]) -> None:
    """Put the table between its marks in the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{table(results)}\n\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> int:
    """Run the cells that are missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subset", action="store_true")
    parser.add_argument("--write-only", action="store_true")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--most", type=int, default=None, help="run so many missing cells at most")
    arguments = parser.parse_args()
    if arguments.subset:
        off = [line for cell in subset() for line in missed(run(cell, min(arguments.replicates, 300)))]
        print("\n".join(off) or "all intervals of the subset hold the truth as promised")
        return bool(off)
    RESULTS.parent.mkdir(exist_ok=True)
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    results = {json.loads(line)["key"]: json.loads(line) for line in lines}
    if not arguments.write_only:
        with RESULTS.open("a", encoding="utf-8") as file:
            for cell in [cell for cell in grid() if cell.key() not in results][: arguments.most]:
                result = run(cell, arguments.replicates)
                results[cell.key()] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                print(f"{cell.key()}: {result['seconds']:.0f} s", *missed(result))
    write(list(results.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
