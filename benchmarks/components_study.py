"""How often components are found where there is nothing, and found where there is: simulated, into docs/components.md.

Models have failure rates and loadings on a difficulty of their own; models of one level of a component share a further
factor, or none does. Truths are the same figures of very many models, with kappa by integration and no individuals.

    python benchmarks/components_study.py                          # prints the rates
    python benchmarks/components_study.py --replicates 1000 --write  # and puts them into the page
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from polyculture.stats._rows import make_rows
from polyculture.stats.components import Dyads, accuracies, fit, jackknife_variance, qap, shapley_shares, sharing
from polyculture.stats.intervals import quantile
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.error_consistency import kappa, kappa_of

SEED = 20261130
PAGE = Path(__file__).resolve().parent.parent / "docs" / "components.md"
MARKS = ("<!-- study -->", "<!-- /study -->")
INDIVIDUALS = 4000
PERMUTATIONS = 199
MANY = 300  # models that a truth is taken of, six times
LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    """One kind of ecosystem: k models, the latent correlation that sharing adds, and how the components lie."""

    k: int
    first: float  # added by sharing the first component
    second: float  # added by sharing the second
    layout: str  # "random", "by accuracy" (the second follows the failure rates), "associated" (with the first)

    def key(self) -> str:
        """Return a name of the cell."""
        return f"{self.k}/{self.first:g}/{self.second:g}/{self.layout}"

    def words(self) -> str:
        """Return what kind of ecosystem it is."""
        shared = {(False, False): "nothing shared", (True, False): "the first shared", (True, True): "both shared"}
        lies = {"random": "", "by accuracy": "; the second follows accuracy", "associated": "; the second goes with it"}
        return shared[self.first > 0, self.second > 0] + lies[self.layout]


@dataclass(frozen=True, eq=False)
class Models:
    """Models drawn from the law: rates, loadings on the common factor, and levels of the two components."""

    rates: np.ndarray
    loadings: np.ndarray
    first: np.ndarray
    second: np.ndarray


def grid() -> list[Cell]:
    """Return all cells."""
    none = [Cell(k, 0.0, 0.0, layout) for layout in ("random", "by accuracy") for k in (10, 12, 24, 43, 100)]
    one = [Cell(k, 0.2, 0.0, layout) for layout in ("random", "associated") for k in (12, 24, 43)]
    return [*none, *one, *(Cell(k, 0.2, 0.1, "random") for k in (12, 24, 43, 100))]


def draw_models(cell: Cell, rng: np.random.Generator, k: int | None = None) -> Models:
    """Draw models: rates of .1 to .5, loadings that differ, six levels of each component."""
    k = k or cell.k
    rates, loadings = rng.uniform(0.1, 0.5, k), np.sqrt(rng.uniform(0.2, 0.6, k))
    first = rng.integers(6, size=k)
    second = rng.integers(6, size=k)
    if cell.layout == "by accuracy":
        second = np.minimum((np.argsort(np.argsort(rates)) * 6) // k, 5)
    elif cell.layout == "associated":
        second = np.where(rng.random(k) < 0.7, first, second)
    return Models(rates, loadings, first, second)


def draw_failures(cell: Cell, models: Models, rng: np.random.Generator) -> np.ndarray:
    """Draw who fails whom, (N, k)."""
    k = len(models.rates)
    noise = rng.normal(size=(INDIVIDUALS, 1)) * models.loadings
    for levels, size in ((models.first, cell.first), (models.second, cell.second)):
        noise = noise + np.sqrt(size) * rng.normal(size=(INDIVIDUALS, 6))[:, levels]
    rest = 1.0 - models.loadings**2 - cell.first - cell.second
    return (noise + rng.normal(size=(INDIVIDUALS, k)) * np.sqrt(rest)) < ndtri(models.rates)


def true_kappa(cell: Cell, models: Models) -> np.ndarray:
    """Return error consistency of the law itself, (k, k), by Gauss-Hermite integration."""
    rho = np.outer(models.loadings, models.loadings)
    rho = rho + cell.first * (models.first[:, None] == models.first)
    rho = np.clip(rho + cell.second * (models.second[:, None] == models.second), 0.0, 0.999)
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    q, both = ndtri(models.rates), np.zeros_like(rho)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        part = (q[:, None] - np.sqrt(rho) * node) / np.sqrt(1 - rho)
        both += weight * ndtr(part) * ndtr(part.T)
    f, g = models.rates[:, None], models.rates[None, :]
    return kappa_of(1 - f - g + 2 * both, f * g + (1 - f) * (1 - g))


def truth(cell: Cell) -> dict[str, float]:
    """Return the figures of very many models."""
    rng = np.random.default_rng([SEED, *cell.key().encode()])
    found = []
    for _ in range(6):
        models = draw_models(cell, rng, MANY)
        dyads = Dyads.of(true_kappa(cell, models))
        shared = np.column_stack([sharing(models.first, dyads), sharing(models.second, dyads)])
        z = accuracies(models.rates, dyads)
        coefficients, *_ = np.linalg.lstsq(np.column_stack([z, shared]), dyads.response, rcond=None)
        found.append([*coefficients[-2:], *shapley_shares(dyads, shared, z).share])
    names = ("first", "second", "first share", "second share")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def replicate(cell: Cell, known: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Return what one ecosystem gives: found (1 or 0) by each test, estimates, and whether intervals hold the truth."""
    models = draw_models(cell, rng)
    failed = draw_failures(cell, models, rng)
    rows = make_rows(np.ones_like(failed), failed, np.ones(len(failed)))
    dyads = Dyads.of(kappa(cells_of(rows)))
    shared = np.column_stack([sharing(models.first, dyads), sharing(models.second, dyads)])
    ones, beside = np.ones((len(dyads.one), 1)), accuracies(failed.mean(axis=0), dyads)
    together = fit(dyads, np.column_stack([beside, shared]))
    shares = shapley_shares(dyads, shared, beside)
    half = quantile(clusters=cell.k)
    found: dict[str, float] = {}
    for at, name in enumerate(("first", "second")):
        others = np.column_stack([beside, shared[:, 1 - at]])
        found[f"{name} alone"] = qap(dyads, shared[:, at], ones, rng, PERMUTATIONS).p_value <= LEVEL
        found[f"{name} together"] = qap(dyads, shared[:, at], others, rng, PERMUTATIONS).p_value <= LEVEL
        place = at - 2
        value = float(together.coefficients[place])
        off = abs(value - known[name])
        found[f"{name} estimate"] = value
        found[f"{name} sandwich"] = off <= half * np.sqrt(together.covariance[place, place])
        jackknife = float(jackknife_variance(together.without)[place])
        found[f"{name} jackknife"] = off <= half * np.sqrt(jackknife) if np.isfinite(jackknife) else np.nan
        found[f"{name} share"] = float(shares.share[at])
        found[f"{name} share held"] = float(shares.low[at] <= known[f"{name} share"] <= shares.high[at])
    return found


def run(cell: Cell, replicates: int, seed: int = SEED) -> dict[str, float]:
    """Return the mean of every figure over the replicates of one cell, with its truths under ``true ...``."""
    known = truth(cell)
    rng = np.random.default_rng([seed, *cell.key().encode()])
    sums: dict[str, list[float]] = defaultdict(list)
    for _ in range(replicates):
        for name, value in replicate(cell, known, rng).items():
            sums[name].append(float(value))
    truths = {f"true {name}": value for name, value in known.items()}
    return {**truths, **{name: float(np.nanmean(values)) for name, values in sums.items()}}


def table(results: list[tuple[Cell, dict[str, float]]], replicates: int) -> str:
    """Return the study as Markdown: how often each component is found, and how often intervals hold the truth."""
    heads = ["ecosystem", "models", "first found: alone, together", "second found: alone, together"]
    heads += ["coefficients (truth)", "jackknife, sandwich hold it", "shares (truth)", "hold it"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for cell, one in results:
        two = [f"{one[f'{name} alone']:.3f}, {one[f'{name} together']:.3f}" for name in ("first", "second")]
        estimates = [
            f"{_number(one[f'{name} estimate'])} ({_number(one[f'true {name}'])})" for name in ("first", "second")
        ]
        held = [np.mean([one[f"first {kind}"], one[f"second {kind}"]]) for kind in ("jackknife", "sandwich")]
        shares = [
            f"{_number(one[f'{name} share'])} ({_number(one[f'true {name} share'])})" for name in ("first", "second")
        ]
        share_held = np.mean([one["first share held"], one["second share held"]])
        cells = [cell.words(), str(cell.k), *two, ", ".join(estimates), f"{held[0]:.3f}, {held[1]:.3f}"]
        lines.append(f"| {' | '.join([*cells, ', '.join(shares), f'{share_held:.3f}'])} |")
    lines += ["", f"{replicates} ecosystems a row, {INDIVIDUALS:,} individuals each, tests at 5 % without correction."]
    return "\n".join(lines)


def _number(value: float) -> str:
    """Return three decimals, zero without a sign."""
    return f"{round(value, 3) + 0.0:.3f}"


def write(text: str) -> None:
    """Put the table between its marks in the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> None:
    """Run all cells and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    results = []
    for cell in grid():
        start = time.perf_counter()
        results.append((cell, run(cell, arguments.replicates)))
        print(f"{cell.key()}: {time.perf_counter() - start:.0f} s", flush=True)
    text = table(results, arguments.replicates)
    print(text)
    if arguments.write:
        write(text)


if __name__ == "__main__":
    main()
