"""The full ladder of nulls on 10 models x 10,000,000 individuals, after the Tally: under 30 seconds.

    python benchmarks/speed_ladder.py [--individuals 10000000] [--models 10]

Outcomes are drawn as counts of patterns under a 2PL, so that no row is made; the Tally of such data holds the same.
Prints the seconds of each null, and the ratio of their sum to the limit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from measure import machine
from polyculture.stats.moments import moments
from polyculture.stats.nulls.ladder import LADDER, Question, climb

LIMIT = 30.0


def patterns(individuals: int, models: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all patterns (2^k, k) with the number of individuals drawn for each."""
    failed = ((np.arange(2**models)[:, None] >> np.arange(models)) & 1).astype(bool)
    z, weights = np.polynomial.hermite_e.hermegauss(81)
    linear = np.linspace(-1.5, 0.5, models) + np.linspace(0.7, 1.8, models) * z[:, None]
    rates = 1.0 / (1.0 + np.exp(-linear))
    chances = np.exp(failed @ np.log(rates).T + ~failed @ np.log1p(-rates).T) @ (weights / weights.sum())
    return failed, np.random.default_rng(5).multinomial(individuals, chances / chances.sum())


def main() -> None:
    """Climb the ladder, one null at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--individuals", type=int, default=10_000_000)
    parser.add_argument("--models", type=int, default=10)
    given = parser.parse_args()
    failed, count = patterns(given.individuals, given.models)
    print(machine())
    start = time.perf_counter()
    measured = moments(np.ones_like(failed), failed, count)
    groups = np.arange(len(measured.rows.count)) % 4
    question = Question(
        measured,
        float(measured.n),
        lambda name: np.random.default_rng(list(name.encode())),
        strata=measured,
        stratum=groups.astype(np.int64),
    )
    print(f"| {given.models} models x {given.individuals:,} | seconds | expected | p |")
    print("| --- | --- | --- | --- |")
    total = time.perf_counter() - start
    for name in LADDER:
        begun, cpu = time.perf_counter(), time.process_time()
        one = climb([name], question)[0]
        seconds = time.perf_counter() - begun
        total += seconds
        expected = "undefined" if one.expected is None else f"{one.expected:.3g}"
        p = "undefined" if one.p_value is None else f"{one.p_value:.3g}"
        print(f"| {name} | {seconds:.2f} ({time.process_time() - cpu:.2f} of processor) | {expected} | {p} |")
    print(f"| all | {total:.1f} | ratio to the limit of {LIMIT:.0f} s: {total / LIMIT:.2f} | |")


if __name__ == "__main__":
    main()
