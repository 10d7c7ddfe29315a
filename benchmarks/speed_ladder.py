"""The full ladder of nulls on 10 models x 10,000,000 individuals, after the Tally: under 30 seconds.

    python benchmarks/speed_ladder.py [--individuals 10000000] [--models 10]
    python benchmarks/speed_ladder.py --models 100

Outcomes are drawn under a 2PL, as counts of patterns where these are few, else as what a Tally holds of many models:
the patterns of a sample of 100,000 and the failures of everyone by number failed. No row is made.
Prints the seconds of each null, and the ratio of their sum to the limit, which is stated for 10 models.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from measure import machine
from polyculture.stats.moments import moments
from polyculture.stats.nulls.ladder import LADDER, Question, climb
from polyculture.stats.nulls.protocol import Table

LIMIT = 30.0
MOST_LISTED = 16
SAMPLE = 100_000


def law(models: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the failure rates (81, models) at points of a difficulty, and the weights of the points."""
    z, weights = np.polynomial.hermite_e.hermegauss(81)
    linear = np.linspace(-1.5, 0.5, models) + np.linspace(0.7, 1.8, models) * z[:, None]
    return 1.0 / (1.0 + np.exp(-linear)), weights / weights.sum()


def everyone(individuals: int, models: int) -> Question:
    """Return the question where every pattern is counted."""
    failed = ((np.arange(2**models)[:, None] >> np.arange(models)) & 1).astype(bool)
    rates, weights = law(models)
    chances = np.exp(failed @ np.log(rates).T + ~failed @ np.log1p(-rates).T) @ weights
    count = np.random.default_rng(5).multinomial(individuals, chances / chances.sum())
    measured = moments(np.ones_like(failed), failed, count)
    return with_groups(Question(measured, float(measured.n), generator))


def sampled(individuals: int, models: int) -> Question:
    """Return the question where patterns are a sample, and failures by number failed are of everyone."""
    rates, weights = law(models)
    rng = np.random.default_rng(5)

    def drawn(size: int) -> np.ndarray:
        return rng.random((size, models)) < rates[rng.choice(len(weights), size, p=weights)]

    by_number, failures = np.zeros(models + 1), np.zeros((models + 1, models))
    for _ in range(-(-individuals // SAMPLE)):
        block = drawn(SAMPLE)
        number = block.sum(axis=1)
        by_number += np.bincount(number, minlength=models + 1)
        np.add.at(failures, number, block)
    patterns, count = np.unique(block, axis=0, return_counts=True)
    measured = moments(np.ones_like(patterns), patterns, count * (by_number.sum() / SAMPLE))
    measured = replace(measured, observed=by_number[-1] / by_number.sum(), events=by_number[-1])
    used = by_number > 0
    share = failures[used] / by_number[used][:, None]
    table = Table(np.ones_like(share, dtype=np.bool_), share, by_number[used] * (SAMPLE / by_number.sum()))
    return with_groups(
        Question(measured, float(by_number.sum()), generator, sampled=float(SAMPLE), everyone=table),
        by_number.sum(),
        failures.sum(axis=0),
    )


def with_groups(question: Question, size: float = 0.0, failures: np.ndarray | None = None) -> Question:
    """Deal the patterns to four groups; where they are a sample, everyone's sizes and failures to the groups alike."""
    groups = np.arange(len(question.moments.rows.count), dtype=np.int64) % 4
    question = replace(question, strata=question.moments, stratum=groups)
    if failures is None:
        return question
    return replace(question, sizes=np.full(4, size / 4), failed=np.tile(failures / 4, (4, 1)))


def generator(name: str) -> np.random.Generator:
    """Return the source of randomness of a null."""
    return np.random.default_rng(list(name.encode()))


def main() -> None:
    """Climb the ladder, one null at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--individuals", type=int, default=10_000_000)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--nulls", default="", help="names with commas between, in place of the whole ladder")
    given = parser.parse_args()
    print(machine())
    start = time.perf_counter()
    question = (everyone if given.models <= MOST_LISTED else sampled)(given.individuals, given.models)
    print(f"| {given.models} models x {given.individuals:,} | seconds | expected | p |")
    print("| --- | --- | --- | --- |")
    total = 0.0 if question.sampled else time.perf_counter() - start
    for name in given.nulls.split(",") if given.nulls else LADDER:
        begun, cpu = time.perf_counter(), time.process_time()
        with threadpool_limits(1, "blas"):  # as an audit does
            one = climb([name], question)[0]
        seconds = time.perf_counter() - begun
        total += seconds
        expected = "undefined" if one.expected is None else f"{one.expected:.3g}"
        p = "undefined" if one.p_value is None else f"{one.p_value:.3g}"
        print(
            f"| {name} | {seconds:.2f} ({time.process_time() - cpu:.2f} of processor) | {expected} | {p} |", flush=True
        )
    print(f"| all | {total:.1f} | ratio to the limit of {LIMIT:.0f} s: {total / LIMIT:.2f} | |")


if __name__ == "__main__":
    main()
