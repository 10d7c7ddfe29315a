"""Moments of the probabilities of every pair of models: what probabilistic CAPA and its interval are functions of.

Made in one pass of its own, by the engine that holds the outcomes; the moments of two halves add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from polyculture.errors import UsageError
from polyculture.outcomes.counting import fetch
from polyculture.outcomes.individuals import individuals_of
from polyculture.outcomes.probability_rows import ProbabilityRows, probability_rows
from polyculture.tally.grouped import rounded
from polyculture.tally.tables import FloatArray

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes

__all__ = ["QUANTITIES", "moments_by_aggregates", "moments_of_arrays", "probability_moments"]

QUANTITIES = ("one", "same", "right_first", "right_second", "chance")
"""Of an individual whom both models answered with probabilities: 1; the sum over options of the product of both
probabilities; each one's probability on the right option; 1 / (options - 1)."""

_SWAPPED = [0, 1, 3, 2, 4]
_MOST_MODELS = 400
_BLOCK = 1 << 21  # numbers of one batch of (individuals, pairs, 5)


def probability_moments(outcomes: Outcomes) -> FloatArray | None:
    """Add up what pairs of models gave probabilities to.

    Parameters
    ----------
    outcomes : Outcomes
        The lazy frame and its mapping.

    Returns
    -------
    (k, k, 5, 5) float64 or None
        For each pair the sums over individuals of weight times the products of any two of ``QUANTITIES``, over those
        whom both models answered with probabilities; zeros on the diagonal. None without probabilities.

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
    if rows.frame.implementation.is_polars():
        from polyculture.tally.engines.polars import over_batches

        names = _columns(rows)
        parts = over_batches(nw.to_native(rows.frame.select(*names)), lambda batch: _of_batch(batch.to_numpy(), rows))
        found = sum(parts, np.zeros((rows.models, rows.models, 5, 5)))
    else:
        found = moments_by_aggregates(rows)
    return rounded(np.asarray(found))


def _columns(rows: ProbabilityRows) -> list[str]:
    models = range(rows.models)
    return [
        "__w",
        "__c",
        *(f"__s{i}" for i in models),
        *(f"__x{i}" for i in models),
        *(f"__p{i}_{place}" for i in models for place in range(rows.options)),
    ]


def _of_batch(table: FloatArray, rows: ProbabilityRows) -> FloatArray:
    k = rows.models
    given = table[:, 2 + 2 * k :].reshape(len(table), k, rows.options)
    return moments_of_arrays(given, table[:, 2 : 2 + k], table[:, 2 + k : 2 + 2 * k], table[:, 1], table[:, 0])


def moments_of_arrays(
    given: FloatArray, seen: FloatArray, right: FloatArray, chance: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the moments of all pairs at once, in batches.

    Parameters
    ----------
    given : (n, k, options)
        Probabilities; 0 where a model gave none, and beyond an individual's options.
    seen, right : (n, k)
        1 where a model gave probabilities, else 0; its probability on the right option.
    chance, weight : (n,)
        1 / (options - 1), and the weight.

    Returns
    -------
    (k, k, 5, 5)
        As in `probability_moments`.
    """
    k = given.shape[1]
    one, other = np.triu_indices(k, 1)
    total = np.zeros((len(one), 5, 5))
    step = max(1, _BLOCK // max(5 * len(one), 1))
    for start in range(0, len(given), step):
        here = slice(start, start + step)
        p, s, x = given[here], seen[here], right[here]
        both = s[:, one] * s[:, other]
        same = np.matmul(p, p.transpose(0, 2, 1))[:, one, other]
        quantities = np.stack(
            [both, same * both, x[:, one] * both, x[:, other] * both, chance[here, None] * both]
        )  # (5, n, pairs)
        weighted = quantities * weight[here, None]
        total += np.matmul(quantities.transpose(2, 0, 1), weighted.transpose(2, 1, 0))
    return _of_pairs(total, k)


def _of_pairs(upper: FloatArray, k: int) -> FloatArray:
    """Spread the moments of pairs i < j over both orders."""
    found = np.zeros((k, k, 5, 5))
    one, other = np.triu_indices(k, 1)
    found[one, other] = upper
    found[other, one] = upper[:, _SWAPPED][:, :, _SWAPPED]
    return found


def moments_by_aggregates(rows: ProbabilityRows, chunk: int = 20) -> FloatArray:
    """Add up moments as sums of products, some pairs a query: what every engine with SQL can do."""
    pairs = list(zip(*(index.tolist() for index in np.triu_indices(rows.models, 1)), strict=True))
    upper = np.zeros((len(pairs), 5, 5))
    places = [(a, b) for a in range(5) for b in range(a, 5)]
    for start in range(0, len(pairs), chunk):
        here = pairs[start : start + chunk]
        products: dict[str, nw.Expr] = {"__w": nw.col("__w")}
        for n, pair in enumerate(here):
            products |= {f"q{n}_{a}": value for a, value in enumerate(_quantities(pair, rows.options))}
        sums = {
            f"m{n}_{a}_{b}": (nw.col("__w") * nw.col(f"q{n}_{a}") * nw.col(f"q{n}_{b}")).sum()
            for n in range(len(here))
            for a, b in places
        }
        found: dict[str, Any] = fetch(rows.frame.select(**products).select(**sums)).rows(named=True)[0]
        for n in range(len(here)):
            for a, b in places:
                upper[start + n, a, b] = upper[start + n, b, a] = float(found[f"m{n}_{a}_{b}"] or 0.0)
    return _of_pairs(upper, rows.models)


def _quantities(pair: Sequence[int], options: int) -> list[nw.Expr]:
    i, j = pair
    both = nw.col(f"__s{i}") * nw.col(f"__s{j}")
    same = nw.lit(0.0)
    for place in range(options):
        same = same + nw.col(f"__p{i}_{place}") * nw.col(f"__p{j}_{place}")
    # Probabilities are 0 where their own model gave none, but not where the other did.
    return [both, same, nw.col(f"__x{i}") * both, nw.col(f"__x{j}") * both, nw.col("__c") * both]
