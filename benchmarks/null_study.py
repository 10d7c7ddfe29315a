"""How often each null is rejected by data from every other null: simulated, and written into docs/nulls.md.

    python benchmarks/null_study.py --replicates 60 --of-true 300 [--workers 2] [--write]   the table of docs/nulls.md
    python benchmarks/null_study.py --subset                                      what continuous integration repeats

A row is the law that made the data, a column the null that was fitted to them. On the diagonal and right of it in a
nested chain the null holds, and should be rejected in 5 % of data sets (--of-true: data sets of these alone); elsewhere
a high rate is power.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtr, ndtri

from polyculture.stats.moments import Moments, moments
from polyculture.stats.nulls.ladder import Question, climb

DOCS = Path(__file__).resolve().parent.parent / "docs" / "nulls.md"
BEGIN, END = "<!-- null_study begins -->", "<!-- null_study ends -->"
INDIVIDUALS, MODELS, DRAWS = 2000, 5, 99
RATES = np.array([0.15, 0.25, 0.3, 0.4, 0.5])
FITTED = (
    *("permutation", "strata", "equicorrelated", "rasch", "2pl", "factors-1", "factors-2"),
    *("classes-2", "classes-3", "both-margins"),
)
# Which fitted nulls hold the law of a row, so that they should be rejected at the nominal rate.
HOLDS = {
    "independence": set(FITTED),
    "strata": {"strata", "classes-2", "classes-3"},
    "equicorrelated": {"equicorrelated", "factors-1", "factors-2"},
    "rasch": {"rasch", "2pl", "both-margins"},
    "2pl": {"2pl"},
    "factors-1": {"factors-1", "factors-2"},
    "factors-2": {"factors-2"},
    "classes-2": {"classes-2", "classes-3"},
    "classes-3": {"classes-3"},
}
SLOPES = np.array([0.3, 0.8, 1.0, 1.6, 2.2])
TWO_FACTORS = np.array([[1.2, 0.0], [1.2, 0.3], [0.6, 0.6], [0.3, 1.2], [0.0, 1.2]])


def rates_of(law: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return each individual's failure rates (N, k), and the group of each."""
    n = INDIVIDUALS
    group, z = rng.integers(0, 2, n), rng.normal(size=(n, 2))
    one = z[:, :1]
    if law == "independence":
        rates = np.broadcast_to(RATES, (n, MODELS))
    elif law == "strata":
        rates = np.where(group[:, None] == 0, RATES / 2, np.minimum(RATES * 1.6, 0.9))
    elif law == "equicorrelated":
        rates = ndtr(ndtri(RATES) * np.sqrt(2.0) + one)
    elif law == "rasch":
        rates = expit(1.4 * ndtri(RATES) * 1.6 + 1.8 * one)
    elif law == "2pl":
        rates = expit(1.6 * ndtri(RATES) + SLOPES * one)
    elif law == "factors-1":
        rates = ndtr(ndtri(RATES) * np.sqrt(1 + (0.7 * SLOPES) ** 2) + 0.7 * SLOPES * one)
    elif law == "factors-2":
        rates = ndtr(ndtri(RATES) * np.sqrt(1 + (TWO_FACTORS**2).sum(axis=1)) + z @ TWO_FACTORS.T)
    else:
        kinds = {
            "classes-2": (np.array([0.75, 0.25]), np.array([RATES * 0.5, RATES[::-1] + 0.35])),
            "classes-3": (
                np.array([0.6, 0.2, 0.2]),
                np.array([RATES * 0.4, [0.8, 0.8, 0.2, 0.15, 0.3], [0.2, 0.3, 0.85, 0.9, 0.9]]),
            ),
        }
        shares, inside = kinds[law]
        rates = inside[rng.choice(len(shares), size=n, p=shares)]
    return np.asarray(rates), group


def drawn(law: str, seed: int) -> tuple[Moments, Moments, np.ndarray]:
    """Return the moments of one data set, those with groups apart, and the group of each of their rows."""
    rng = np.random.default_rng([seed, *law.encode()])
    rates, group = rates_of(law, rng)
    failed = rng.random(rates.shape) < rates
    whole, count = np.unique(failed, axis=0, return_counts=True)
    apart, many = np.unique(np.column_stack([failed, group == 1]), axis=0, return_counts=True)
    return (
        moments(np.ones_like(whole), whole, count),
        moments(np.ones_like(apart[:, :-1]), apart[:, :-1], many),
        apart[:, -1].astype(np.int64),
    )


def rejections(law: str, fitted: tuple[str, ...], seed: int) -> list[float]:
    """Return 1 for each fitted null that one data set rejects, 0 where it does not, NaN where there was no test."""
    whole, apart, stratum = drawn(law, seed)
    question = Question(
        whole,
        float(whole.n),
        lambda name: np.random.default_rng([seed, *name.encode()]),
        strata=apart,
        stratum=stratum,
        draws=DRAWS,
    )
    return [np.nan if one.rejected is None else float(one.rejected) for one in climb(fitted, question)]


def study(
    laws: list[str], fitted: tuple[str, ...], replicates: int, of_true: int, workers: int
) -> dict[str, np.ndarray]:
    """Return rejection rates by law: (fitted nulls, 2), the rate and the number of tests.

    Nulls that hold are fitted to the first ``of_true`` data sets of a law where these are more than ``replicates``.
    """
    found = {}
    mapper: Callable[..., object] = map
    pool = ProcessPoolExecutor(workers) if workers > 1 else None
    if pool is not None:
        mapper = pool.map
    for law in laws:
        rows = np.full((max(replicates, of_true), len(fitted)), np.nan)
        rows[:replicates] = list(mapper(partial(rejections, law, fitted), range(replicates)))
        holds = [column for column, name in enumerate(fitted) if name in HOLDS[law]]
        true_nulls = tuple(fitted[column] for column in holds)
        more = range(replicates, len(rows))
        if more and holds:
            rows[np.ix_(more, holds)] = list(mapper(partial(rejections, law, true_nulls), more))
        tests = np.isfinite(rows).sum(axis=0)
        found[law] = np.column_stack([np.nansum(rows, axis=0) / np.maximum(tests, 1), tests])
        print(law, found[law][:, 0].round(2).tolist(), flush=True)
    if pool is not None:
        pool.shutdown()
    return found


def table(found: dict[str, np.ndarray], fitted: tuple[str, ...]) -> str:
    """Return the rates as a Markdown table; rates at which a true null is rejected stand in bold."""
    lines = [f"| data from | {' | '.join(fitted)} |", "| --- |" + " --- |" * len(fitted)]
    for law, rates in found.items():
        cells = []
        for name, (rate, tests) in zip(fitted, rates, strict=True):
            text = f"{rate:.2f}" if tests else "-"
            cells.append(f"**{text}**" if name in HOLDS[law] else text)
        lines.append(f"| {law} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the study, print the table, and write it into docs where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--of-true", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--subset", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    laws, fitted = list(HOLDS), FITTED
    if given.subset:
        laws, fitted = ["independence", "rasch"], ("permutation", "equicorrelated", "rasch", "2pl")
    found = study(laws, fitted, given.replicates, given.of_true, given.workers)
    text = table(found, fitted)
    print(text)
    if given.write:
        of_true = max(given.replicates, given.of_true)
        told = (
            f"{given.replicates} data sets a row, {of_true} of nulls that hold (in bold); {INDIVIDUALS:,} individuals, "
            f"{MODELS} models, {DRAWS} draws a test. A rate of .05 in bold has a standard error of "
            f"{np.sqrt(0.05 * 0.95 / of_true):.3f}."
        )
        before, rest = DOCS.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        DOCS.write_text(f"{before}{BEGIN}\n{told}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
