"""How often the intervals of CAPA of probabilities hold the truth: simulated, and written into docs/similarity.md.

Models give softmax probabilities of scores that share a factor of the item. Every replicate goes through the
functions that an audit calls; the truth is that of a sample of half a million items, drawn once a cell.

    python benchmarks/probability_study.py                  # 200 replicates a cell, a minute
    python benchmarks/probability_study.py --replicates 20  # a look, without writing
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polyculture.stats._rows import make_rows
from polyculture.stats.intervals import Estimated
from polyculture.stats.similarity import PairSimilarity, cells_of, pair_similarity
from polyculture.stats.similarity.capa import ProbabilityMoments
from polyculture.stats.similarity.collection import capa_of_all
from polyculture.tally.probabilities import ProbabilityTables, tables_of_arrays

SEED = 20261201
PAGE = Path(__file__).resolve().parent.parent / "docs" / "similarity.md"
MARKS = ("<!-- probability study -->", "<!-- /probability study -->")
REPLICATES = 200
BIG, PART = 500_000, 20_000
SIZES = (40, 200)


@dataclass(frozen=True)
class Cell:
    """One law of the data."""

    words: str
    models: int
    fewest: int
    most: int
    sharp: float
    shared: float


CELLS = (
    Cell("2 options, soft", 3, 2, 2, 1.0, 0.5),
    Cell("2 to 5 options, soft", 3, 2, 5, 1.0, 1.0),
    Cell("2 to 5 options, soft", 10, 2, 5, 1.0, 1.0),
    Cell("2 to 5 options, sharp", 3, 2, 5, 4.0, 1.0),
    Cell("4 options, nothing shared", 3, 4, 4, 2.0, 0.0),
)


def draw(rng: np.random.Generator, cell: Cell, n: int) -> tuple[ProbabilityTables, NDArray[np.bool_]]:
    """Return the tables of n items and who failed them; the first option is the right one."""
    offered = rng.integers(cell.fewest, cell.most + 1, n)
    score = rng.normal(size=(n, cell.models, cell.most)) + cell.shared * rng.normal(size=(n, 1, cell.most))
    score[:, :, 0] += np.linspace(0.5, 2.0, cell.models) + cell.shared * rng.normal(size=(n, 1))
    score = np.where(np.arange(cell.most) < offered[:, None, None], cell.sharp * score, -np.inf)
    given = np.exp(score - score.max(axis=2, keepdims=True))
    given /= given.sum(axis=2, keepdims=True)
    right = given[:, :, 0]
    tables = tables_of_arrays(given, np.ones_like(right), right, 1.0 / (offered - 1.0), np.ones(n))
    return tables, given.argmax(axis=2) != 0


def measured(tables: ProbabilityTables, failed: NDArray[np.bool_]) -> tuple[PairSimilarity, Estimated]:
    """Return CAPA of pairs and of all, as an audit has them."""
    rows = make_rows(np.ones_like(failed), failed, np.ones(len(failed)))
    moments = ProbabilityMoments(tables.pairs, tables.together)
    found = pair_similarity(cells_of(rows), rows, probabilities=moments)
    return found, capa_of_all(rows, found)


def covered(rng: np.random.Generator, cell: Cell, n: int, replicates: int) -> tuple[float, float]:
    """Return the shares of replicates in which the intervals of the first pair and of all hold the truth."""
    parts = [draw(rng, cell, PART) for _ in range(BIG // PART)]
    whole = sum((tables for tables, _ in parts[1:]), parts[0][0])
    truth, of_all = measured(whole, np.concatenate([failed for _, failed in parts]))
    pair, every = float(truth.capa.value[0, 1]), float(of_all.value or 0.0)
    held = np.zeros(2)
    for _ in range(replicates):
        found, together = measured(*draw(rng, cell, n))
        held[0] += found.capa.low[0, 1] <= pair <= found.capa.high[0, 1]
        held[1] += together.low is not None and together.high is not None and together.low <= every <= together.high
    return float(held[0] / replicates), float(held[1] / replicates)


def table(replicates: int) -> str:
    """Return the Markdown table of all cells."""
    lines = ["| probabilities | models | items | CAPA of a pair | CAPA, all |", "| --- | --- | --- | --- | --- |"]
    for place, cell in enumerate(CELLS):
        for n in SIZES:
            pair, every = covered(np.random.default_rng([SEED, place, n]), cell, n, replicates)
            lines.append(f"| {cell.words} | {cell.models} | {n} | {pair:.3f} | {every:.3f} |")
    return "\n".join([*lines, "", f"{len(CELLS) * len(SIZES)} cells, {replicates:,} replicates each."])


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, print, and write the page where all replicates were made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    replicates = parser.parse_args(arguments).replicates
    text = table(replicates)
    print(text)
    if replicates >= REPLICATES:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
