"""Moments of the probabilities of models: what probabilistic CAPA and its intervals are functions of.

Made in one pass of its own, by the engine that holds the outcomes; the moments of two halves add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from threadpoolctl import threadpool_limits

from polyculture.errors import UsageError
from polyculture.outcomes.counting import fetch
from polyculture.outcomes.individuals import individuals_of
from polyculture.outcomes.probability_rows import ProbabilityRows, probability_rows
from polyculture.tally.grouped import rounded
from polyculture.tally.tables import FloatArray

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes

__all__ = ["ProbabilityTables", "probabilities_of", "tables_by_aggregates", "tables_of_arrays"]

_SWAPPED = [0, 1, 3, 2, 4]  # the quantities of a pair in the other order
_MOST_MODELS = 400
_BLOCK = 1 << 20  # numbers of one batch of (individuals, k, k)


@dataclass(frozen=True)
class ProbabilityTables:
    """Sums over individuals of weight times the products of any two quantities.

    Attributes
    ----------
    pairs : (k, k, 5, 5) float64
        Over those whom both models answered with probabilities, of: 1; the sum over options of the product of both
        probabilities; the first's and the second's probability on the right option; 1 / (options - 1). Zeros on the
        diagonal.
    together : (k + 3, k + 3) float64
        Over those whom all models answered so, of: 1; that sum of products, added up over pairs; each model's
        probability on the right option; 1 / (options - 1).
    """

    pairs: FloatArray
    together: FloatArray

    def __add__(self, other: ProbabilityTables) -> ProbabilityTables:
        return ProbabilityTables(self.pairs + other.pairs, self.together + other.together)

    def ordered(self, order: list[int]) -> ProbabilityTables:
        """Return the same with the models in another order, given by their places here."""
        places = [0, 1, *(place + 2 for place in order), len(order) + 2]
        return ProbabilityTables(self.pairs[np.ix_(order, order)], self.together[np.ix_(places, places)])

    def same(self, other: ProbabilityTables) -> bool:
        """Whether sums are equal to 1e-9."""
        return all(np.allclose(mine, other.arrays()[name], rtol=1e-9) for name, mine in self.arrays().items())

    def arrays(self) -> dict[str, FloatArray]:
        """Return the arrays by name, for saving."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}


def probabilities_of(outcomes: Outcomes) -> ProbabilityTables | None:
    """Add up what models gave probabilities to; None where the mapping names no columns of them.

    Raises
    ------
    UsageError
        If there are more than 400 models.
    """
    known = outcomes.probabilities
    if known is None:
        return None
    if len(outcomes.models) > _MOST_MODELS:
        raise UsageError(
            f"Probabilities of {len(outcomes.models):,} models are too many to compare; {_MOST_MODELS} are supported.",
            hint="Choose fewer models with --models, or drop --probabilities.",
        )
    rows = probability_rows(outcomes, known, individuals_of(outcomes))
    found = _by_batches(rows) if rows.frame.implementation.is_polars() else tables_by_aggregates(rows)
    return ProbabilityTables(rounded(found.pairs), rounded(found.together))


def _by_batches(rows: ProbabilityRows) -> ProbabilityTables:
    from polyculture.tally.engines.polars import over_batches

    k = rows.models
    parts = over_batches(nw.to_native(rows.frame.select(*_columns(rows))), lambda batch: _of(batch.to_numpy(), rows))
    # The products are many and small: threads of the linear algebra library cost far more than they give.
    with threadpool_limits(limits=1, user_api="blas"):
        return sum(parts, ProbabilityTables(np.zeros((k, k, 5, 5)), np.zeros((k + 3, k + 3))))


def _columns(rows: ProbabilityRows) -> list[str]:
    models = range(rows.models)
    return [
        "__w",
        "__c",
        *(f"__s{i}" for i in models),
        *(f"__x{i}" for i in models),
        *(f"__p{i}_{place}" for i in models for place in range(rows.options)),
    ]


def _of(table: FloatArray, rows: ProbabilityRows) -> ProbabilityTables:
    k = rows.models
    given = table[:, 2 + 2 * k :].reshape(len(table), k, rows.options)
    return tables_of_arrays(given, table[:, 2 : 2 + k], table[:, 2 + k : 2 + 2 * k], table[:, 1], table[:, 0])


def tables_of_arrays(
    given: FloatArray, seen: FloatArray, right: FloatArray, chance: FloatArray, weight: FloatArray
) -> ProbabilityTables:
    """Return the sums over rows that are at hand, in batches.

    Parameters
    ----------
    given : (n, k, options)
        Probabilities; 0 where a model gave none, and beyond an individual's options.
    seen, right : (n, k)
        1 where a model gave probabilities, else 0; its probability on the right option.
    chance, weight : (n,)
        1 / (options - 1), and the weight.
    """
    k = given.shape[1]
    total = ProbabilityTables(np.zeros((k, k, 5, 5)), np.zeros((k + 3, k + 3)))
    step = max(1, _BLOCK // k**2)
    for start in range(0, len(given), step):
        here = slice(start, start + step)
        total = total + _block(given[here], seen[here], right[here], chance[here], weight[here])
    return total


def _block(p: FloatArray, s: FloatArray, x: FloatArray, c: FloatArray, w: FloatArray) -> ProbabilityTables:
    """Return the sums over a few rows; the arguments are those of `tables_of_arrays`."""
    k = p.shape[1]
    same = np.matmul(p, p.transpose(0, 2, 1))
    weighted = same * w[:, None, None]
    sw, xw, cw = s * w[:, None], x * w[:, None], (c * w)[:, None]
    right, same_right, squared = xw.T @ s, np.einsum("nij,ni->ij", weighted, x), (xw * x).T @ s
    right_chance = (x * cw).T @ s
    sums = {
        (0, 0): sw.T @ s,
        (0, 1): weighted.sum(axis=0),
        (0, 2): right,
        (0, 3): right.T,
        (0, 4): (s * cw).T @ s,
        (1, 1): np.einsum("nij,nij->ij", weighted, same),
        (1, 2): same_right,
        (1, 3): same_right.T,
        (1, 4): np.einsum("nij,n->ij", weighted, c),
        (2, 2): squared,
        (2, 3): xw.T @ x,
        (2, 4): right_chance,
        (3, 3): squared.T,
        (3, 4): right_chance.T,
        (4, 4): (s * cw * c[:, None]).T @ s,
    }
    pairs = np.zeros((k, k, 5, 5))
    for (a, b), found in sums.items():
        pairs[:, :, a, b] = pairs[:, :, b, a] = found
    pairs[np.arange(k), np.arange(k)] = 0.0
    of_pairs = (np.square(p.sum(axis=1)).sum(axis=1) - np.square(p).sum(axis=(1, 2))) / 2
    every = np.column_stack([np.ones_like(c), of_pairs, x, c]) * s.prod(axis=1)[:, None]
    return ProbabilityTables(pairs, every.T @ (every * w[:, None]))


def _of_pairs(upper: FloatArray, k: int) -> FloatArray:
    """Spread the sums of pairs i < j over both orders."""
    found = np.zeros((k, k, 5, 5))
    one, other = np.triu_indices(k, 1)
    found[one, other] = upper
    found[other, one] = upper[:, _SWAPPED][:, :, _SWAPPED]
    return found


def tables_by_aggregates(rows: ProbabilityRows, chunk: int = 20) -> ProbabilityTables:
    """Add up sums of products, those of some pairs a query: what every engine with SQL can do."""
    k = rows.models
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    parts = [
        _sums_of_products(rows, [_of_pair(pair, rows.options) for pair in pairs[start : start + chunk]])
        for start in range(0, len(pairs), chunk)
    ]
    upper = np.concatenate(parts) if parts else np.zeros((0, 5, 5))
    return ProbabilityTables(_of_pairs(upper, k), _sums_of_products(rows, [_of_everybody(rows)])[0])


def _sums_of_products(rows: ProbabilityRows, several: Sequence[Sequence[nw.Expr]]) -> FloatArray:
    """Return for each list of m quantities the (m, m) sums of weighted products."""
    size = len(several[0])
    places = [(n, a, b) for n in range(len(several)) for a in range(size) for b in range(a, size)]
    named = {f"q{n}_{a}": value for n, quantities in enumerate(several) for a, value in enumerate(quantities)}
    sums = {f"m{n}_{a}_{b}": (nw.col("__w") * nw.col(f"q{n}_{a}") * nw.col(f"q{n}_{b}")).sum() for n, a, b in places}
    row: dict[str, Any] = fetch(rows.frame.select(nw.col("__w"), **named).select(**sums)).rows(named=True)[0]
    found = np.zeros((len(several), size, size))
    for n, a, b in places:
        found[n, a, b] = found[n, b, a] = float(row[f"m{n}_{a}_{b}"] or 0.0)
    return found


def _product(factors: Sequence[nw.Expr]) -> nw.Expr:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _same(pair: tuple[int, int], options: int) -> nw.Expr:
    total = nw.lit(0.0)
    for place in range(options):
        total = total + nw.col(f"__p{pair[0]}_{place}") * nw.col(f"__p{pair[1]}_{place}")
    return total


def _of_pair(pair: tuple[int, int], options: int) -> list[nw.Expr]:
    both = _product([nw.col(f"__s{i}") for i in pair])
    # A product of probabilities is 0 where either is missing; the rest is not.
    return [both, _same(pair, options), *(nw.col(f"__x{i}") * both for i in pair), nw.col("__c") * both]


def _of_everybody(rows: ProbabilityRows) -> list[nw.Expr]:
    k = rows.models
    everybody = _product([nw.col(f"__s{i}") for i in range(k)])
    products = nw.lit(0.0)
    for place in range(rows.options):
        # Of all pairs at once: the square of the sum, less the squares.
        total, squares = nw.lit(0.0), nw.lit(0.0)
        for i in range(k):
            value = nw.col(f"__p{i}_{place}")
            total, squares = total + value, squares + value * value
        products = products + (total * total - squares) * 0.5
    return [
        everybody,
        products * everybody,
        *(nw.col(f"__x{i}") * everybody for i in range(k)),
        nw.col("__c") * everybody,
    ]
