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
from polyculture.stats.components import Dyads, fit, qap, shapley_shares, sharing
from polyculture.stats.components.regression import jackknife_variance
from polyculture.stats.intervals import quantile
from polyculture.stats.similarity import cells_of
from polyculture.stats.similarity.error_consistency import kappa, kappa_of

SEED = 20261130
PAGE = Path(__file__).resolve().parent.parent / "docs" / "components.md"
MARKS = ("<!-- study -->", "<!-- /study -->")
INDIVIDUALS = 1000
PERMUTATIONS = 199


@dataclass(frozen=True)
class Cell:
    """One kind of ecosystem: k models, the latent correlation that sharing adds, and how the components lie."""

    k: int
    shared: float  # by the first component
    second: float  # by the second component
    layout: str  # "random", "by accuracy" (the second follows the failure rates), "associated" (with the first)

    def key(self) -> str:
        """Return a name of the cell."""
        return f"{self.k}/{self.shared:g}/{self.second:g}/{self.layout}"


@dataclass(frozen=True, eq=False)
class Models:
    """Models drawn from the law: rates, loadings on the common factor, and levels of the two components."""

    rates: np.ndarray
    loadings: np.ndarray
    first: np.ndarray
    second: np.ndarray


def grid() -> list[Cell]:
    """Return all cells."""
    none = [Cell(k, 0.0, 0.0, layout) for k in (10, 12, 24, 43) for layout in ("random", "by accuracy")]
    one = [Cell(k, 0.2, 0.0, layout) for k in (12, 24, 43) for layout in ("random", "associated")]
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
    for levels, size in ((models.first, cell.shared), (models.second, cell.second)):
        noise = noise + np.sqrt(size) * rng.normal(size=(INDIVIDUALS, 6))[:, levels]
    rest = 1.0 - models.loadings**2 - cell.shared - cell.second
    return (noise + rng.normal(size=(INDIVIDUALS, k)) * np.sqrt(rest)) < ndtri(models.rates)


def true_kappa(cell: Cell, models: Models) -> np.ndarray:
    """Return error consistency of the law itself, (k, k), by Gauss-Hermite integration."""
    rho = np.outer(models.loadings, models.loadings)
    rho = rho + cell.shared * (models.first[:, None] == models.first)
    rho = np.clip(rho + cell.second * (models.second[:, None] == models.second), 0.0, 0.999)
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    q, both = ndtri(models.rates), np.zeros_like(rho)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        part = (q[:, None] - np.sqrt(rho) * node) / np.sqrt(1 - rho)
        both += weight * ndtr(part) * ndtr(part.T)
    f, g = models.rates[:, None], models.rates[None, :]
    return kappa_of(1 - f - g + 2 * both, f * g + (1 - f) * (1 - g))


def covariates(rates: np.ndarray, dyads: Dyads) -> np.ndarray:
    """Return what an audit takes of the accuracies of a pair."""
    from polyculture.stats.components import accuracies

    return accuracies(rates, dyads)


def truth(cell: Cell) -> dict[str, float]:
    """Return the figures of very many models."""
    rng = np.random.default_rng([SEED, *cell.key().encode()])
    found = []
    for _ in range(6):
        models = draw_models(cell, rng, 400)
        dyads = Dyads.of(true_kappa(cell, models))
        shared = np.column_stack([sharing(models.first, dyads), sharing(models.second, dyads)])
        z = covariates(models.rates, dyads)
        coefficients, *_ = np.linalg.lstsq(np.column_stack([z, shared]), dyads.response, rcond=None)
        same = shared[:, 0] > 0
        shares = shapley_shares(dyads, shared, z).share
        raw = dyads.response[same].mean() - dyads.response[~same].mean()
        found.append([*coefficients[-2:], *shares, raw])
    return dict(
        zip(("first", "second", "share", "share 2", "difference"), np.mean(found, axis=0).tolist(), strict=True)
    )


def replicate(cell: Cell, known: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Return rejections (1 or 0) and whether intervals hold the truth, of one ecosystem; NaN where undefined."""
    models = draw_models(cell, rng)
    failed = draw_failures(cell, models, rng)
    rows = make_rows(np.ones_like(failed), failed, np.ones(len(failed)))
    dyads = Dyads.of(kappa(cells_of(rows)))
    shared = np.column_stack([sharing(models.first, dyads), sharing(models.second, dyads)])
    ones, z = np.ones((len(dyads.one), 1)), covariates(failed.mean(axis=0), dyads)
    found: dict[str, float] = {}
    for at, name in enumerate(("first", "second")):
        alone = qap(dyads, shared[:, at], ones, rng, PERMUTATIONS).p_value
        found[f"{name} alone"] = alone <= 0.05
        together = qap(dyads, shared[:, at], np.column_stack([z, shared[:, 1 - at]]), rng, PERMUTATIONS).p_value
        found[f"{name} adjusted"] = together <= 0.05
    result = fit(dyads, np.column_stack([z, shared]))
    jackknife = jackknife_variance(result.without)
    half = quantile(clusters=cell.k)
    for at, name in ((-2, "first"), (-1, "second")):
        off = abs(float(result.coefficients[at]) - known[name])
        found[f"{name} estimate"] = float(result.coefficients[at])
        found[f"{name} dyadic"] = off <= half * np.sqrt(result.covariance[at, at])
        found[f"{name} jackknife"] = off <= half * np.sqrt(jackknife[at])
    plain = fit(dyads, np.column_stack([ones, shared[:, :1]]))
    off = abs(float(plain.coefficients[1]) - known["difference"])
    found["difference dyadic"] = off <= half * np.sqrt(plain.covariance[1, 1])
    found["difference jackknife"] = off <= half * np.sqrt(jackknife_variance(plain.without)[1])
    shares = shapley_shares(dyads, shared, z)
    for at, name in enumerate(("share", "share 2")):
        found[f"{name} estimate"] = float(shares.share[at])
        found[f"{name} held"] = float(shares.low[at] <= known[name] <= shares.high[at])
    return found


def run(cell: Cell, replicates: int, seed: int = SEED) -> dict[str, float]:
    """Return the mean of every figure over the replicates of one cell, with its truths."""
    known = truth(cell)
    rng = np.random.default_rng([seed, *cell.key().encode()])
    sums: dict[str, list[float]] = defaultdict(list)
    for _ in range(replicates):
        for name, value in replicate(cell, known, rng).items():
            sums[name].append(float(value))
    return {
        **{f"true {name}": value for name, value in known.items()},
        **{n: float(np.nanmean(v)) for n, v in sums.items()},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    arguments = parser.parse_args()
    for cell in grid():
        start = time.perf_counter()
        print(
            cell.key(),
            {n: round(v, 3) for n, v in run(cell, arguments.replicates).items()},
            f"{time.perf_counter() - start:.0f} s",
        )
