"""How well a null foretells individuals that it was not fitted to: each half under the fit to the other.

Individuals are split by their counts, clusters as wholes; no row is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyculture.stats._rows import Floats, Ints
from polyculture.stats.homogeneity import Moments
from polyculture.stats.nulls import strata as within
from polyculture.stats.nulls._latent import LatentFit
from polyculture.stats.nulls.measured import Question
from polyculture.stats.nulls.protocol import Fit, Null, Table, table_of
from polyculture.stats.nulls.rasch import Rasch
from polyculture.stats.nulls.strata import Strata

__all__ = ["halves_of", "held_out", "strata_held_out", "strata_of"]


def strata_of(moments: Moments, question: Question, stratum: Ints, weight: Floats | None = None) -> Strata:
    rows = moments.rows
    total = rows.n if question.sampled is None else question.sampled
    count = (rows.weight if weight is None else weight) * (total / rows.total_weight)
    table = Table(rows.judged, rows.failed.astype(np.float64), count)
    if weight is None:
        return Strata(table, stratum, question.sizes, question.failed)
    used = count > 0
    return Strata(table.take(used), stratum[used])


def _split(moments: Moments, rng: np.random.Generator) -> Floats:
    """Return the share of each row's individuals in the first half: whole clusters, or individuals by their count."""
    rows = moments.rows
    if rows.cluster is not None:
        side = rng.random(int(rows.cluster.max(initial=0)) + 1) < 0.5
        return np.where(rows.cluster >= 0, side[rows.cluster], rng.random(len(rows.count)) < 0.5).astype(np.float64)
    whole = np.maximum(np.rint(rows.count), 1.0).astype(np.int64)
    return np.asarray(rng.binomial(whole, 0.5) / whole)


def halves_of(question: Question) -> tuple[Table, Table] | None:
    """Split individuals in two; None where a model varies in the whole and not in a half."""
    share = _split(question.moments, question.rng("halves"))
    rows = question.moments.rows
    total = rows.n if question.sampled is None else question.sampled
    halves = []
    for part in (share, 1.0 - share):
        table, _ = table_of(replace(rows, weight=rows.weight * part, count=rows.count * part), total / 2)
        halves.append(table.take(table.count > 0))
    whole, _ = table_of(rows, question.sampled)
    varies = (whole.rates > 0.0) & (whole.rates < 1.0)
    if any(half.n <= 0 or not np.array_equal(varies, (half.rates > 0.0) & (half.rates < 1.0)) for half in halves):
        return None
    return halves[0], halves[1]


def held_out(
    null: Null, fit: Fit, halves: tuple[Table, Table] | None, rng: np.random.Generator
) -> tuple[float | None, str]:
    """Return the mean log-likelihood of an individual under the fit to the half that it is not in, or why not."""
    if halves is None:
        return None, "a model fails some individuals and not others in the whole, but not in each half of them"
    total = 0.0
    for train, test in (halves, halves[::-1]):
        found = _without_everyone(null).fit(train, rng, fit if isinstance(fit, LatentFit) else None)
        if found.reason:
            return None, f"in a half of the individuals {found.reason}"
        total += float(test.count @ found.log_probability(test))
    return total / (halves[0].n + halves[1].n), ""


def _without_everyone(null: Null) -> Null:
    return Rasch() if isinstance(null, Rasch) else null


def strata_held_out(question: Question, moments: Moments, stratum: Ints) -> tuple[float | None, str]:
    share = _split(moments, question.rng("halves"))
    weights = [moments.rows.weight * part for part in (share, 1.0 - share)]
    if min(float(weight.sum()) for weight in weights) <= 0.0:
        return None, "a half of the individuals is empty"
    halves = [strata_of(moments, question, stratum, weight) for weight in weights]
    total = within.held_out(halves[0], halves[1]) + within.held_out(halves[1], halves[0])
    return total / (halves[0].table.n + halves[1].table.n), ""
