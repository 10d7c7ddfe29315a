"""What choosing models gains by chance, and how often the held-out interval holds the truth: docs/portfolio.md.

    python benchmarks/portfolio_study.py [--replicates 200] [--write]

Individuals are hard or easy (one fifth is hard), and models fail independently given that. "Alike" models have the
same rates, so that every set is as good as any other; "different" ones have not.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from polyculture.audit.portfolio_measures import Measures
from polyculture.audit.portfolio_people import people_of
from polyculture.audit.portfolio_question import question
from polyculture.audit.portfolio_search import choose, held_out
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally

DOCS = Path(__file__).resolve().parent.parent / "docs" / "portfolio.md"
BEGIN, END = "<!-- portfolio_study begins -->", "<!-- portfolio_study ends -->"
HARD = 0.2
CELLS = (("alike", 300, 15, 3), ("alike", 1000, 6, 2), ("different", 300, 8, 3), ("different", 1000, 6, 2))
SPLITS = 10


def rates_of(kind: str, models: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the models' failure rates among the hard and the easy, (k,) each."""
    if kind == "alike":
        return np.full(models, 0.565), np.full(models, 0.17)
    return np.linspace(0.45, 0.8, models), np.linspace(0.1, 0.3, models)


def truth(kind: str, models: int, chosen: tuple[int, ...]) -> float:
    """Return the systemic failure of a set in the population."""
    hard, easy = rates_of(kind, models)
    places = list(chosen)
    return float(HARD * np.prod(hard[places]) + (1 - HARD) * np.prod(easy[places]))


def replicate(kind: str, individuals: int, models: int, size: int, seed: int) -> tuple[float, float, float, bool]:
    """Return in-sample and held-out value, the truth of the sets chosen, and whether the interval holds it."""
    rng = np.random.default_rng(seed)
    hard, easy = rates_of(kind, models)
    failed = rng.random((individuals, models)) < np.where(rng.random((individuals, 1)) < HARD, hard, easy)
    frame = pl.DataFrame(failed.astype(int), schema=[f"m{j}" for j in range(models)])
    people = people_of(
        Tally.of(Outcomes(frame, Mapping(outcomes="failed"))), worst_group=False, min_cell=30, census=False
    )
    asked = question(people.models, people.judged, people.rates, (), size=size)
    found = choose(people, asked)
    kept = held_out(people, asked, found, np.random.default_rng(seed), SPLITS)
    measures = Measures(people, asked)
    inside, outside = measures.of_set(found.places).share, measures.value(kept.lost, kept.counted).share
    assert inside is not None
    assert outside is not None
    aim = float(np.mean([truth(kind, models, one) for one in kept.sets]))
    low, high = outside.interval.low, outside.interval.high
    return inside.value, outside.value, aim, bool(low is not None and high is not None and low <= aim <= high)


def study(replicates: int) -> str:
    """Return the table."""
    lines = [
        "| models | individuals | set | in sample | held out | truth of the sets chosen | best there is | coverage |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, individuals, models, size in CELLS:
        found = np.array([replicate(kind, individuals, models, size, seed) for seed in range(replicates)])
        best = min(truth(kind, models, one) for one in combinations(range(models), size))
        inside, outside, aim, covered = found.mean(axis=0)
        lines.append(
            f"| {models} {kind} | {individuals:,} | {size} | {inside:.4f} | {outside:.4f} | {aim:.4f} | {best:.4f} | "
            f"{covered:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the study, print the table, and write it into docs where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    text = study(given.replicates)
    print(text)
    if given.write:
        told = (
            f"Means over {given.replicates} data sets a row, {SPLITS} halvings each "
            "(`python benchmarks/portfolio_study.py --write`)."
        )
        before, rest = DOCS.read_text(encoding="utf-8").split(BEGIN)
        DOCS.write_text(f"{before}{BEGIN}\n{text}\n\n{told}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
