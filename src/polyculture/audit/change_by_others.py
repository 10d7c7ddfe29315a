"""Rows of improvements and regressions by the number of other models that fail, with what the baselines expect.

What is said of the row at which all others fail stands in ``change_undoing``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.change_others import Keyed, Reading, keyed, pooled_moves
from polyculture.audit.change_records import ByOthersRow
from polyculture.audit.proportion import Design, design_shares, number
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.change_shares import Sample
    from polyculture.stats.difficulty import Difficulty
    from polyculture.tally.changes import ChangeTable

    Floats = NDArray[np.float64]

NONE_UNDONE = "no failure was undone"
NOBODY_HERE = "nobody is at this number of others"
NOBODY_FAILED = "nobody was failed before"
NOT_BY_ALL = "not all models judged these individuals at both snapshots"
OF_A_MODEL = "undefined for one of the models"


@dataclass(frozen=True)
class Expected:
    """What difficulty alone would give at each key, (K,): chance that a failure is undone; or the reason why not.

    ``redrawn`` holds the same from fits to samples like the one at hand, (B, K).
    """

    undone: Floats | None
    reason: str = ""
    redrawn: Floats | None = None


def expected_by_difficulty(
    fits: Sequence[Difficulty], keys: Keyed, models: int, model: int, rates: tuple[float, float]
) -> Expected:
    """Return the chances of a model at the keys where all models judged.

    Parameters
    ----------
    fits : sequence of Difficulty
        Of the snapshot at which the others are read: the fit, then those to samples like the one at hand.
    keys : Keyed
        The keys.
    models, model : int
        Number of models, and which of them changes.
    rates : (float, float)
        Its failure rates before and after, among those whom all judged.
    """
    if fits[0].reason:
        return Expected(None, fits[0].reason)
    chance = np.full((len(fits), len(keys.judged)), np.nan)
    complete = keys.judged == models
    if complete.any():
        chance[:, complete] = [one.undone(model, *rates) for one in fits]
    return Expected(chance[0], redrawn=chance[1:])


def rows_of_model(
    sample: Sample, numbers: Keyed, weights: Keyed, expected: Expected, reading: Reading
) -> tuple[ByOthersRow, ...]:
    """Return a row for each number of others; shares by weight, counts in individuals."""
    improvement = sample.shares(weights.improved, weights.potential, numbers.potential)
    regression = sample.shares(weights.regressed, weights.at_risk, numbers.at_risk)
    whole = np.repeat(weights.improved.sum(axis=1, keepdims=True), len(weights.judged), axis=1)
    count = np.repeat(numbers.improved.sum(axis=1, keepdims=True), len(weights.judged), axis=1)
    share = sample.shares(weights.improved, whole, count)
    uniform, adjusted = expected_shares(weights, expected)
    return _rows(
        numbers,
        reading,
        improvement=improvement,
        regression=regression,
        share=share,
        uniform=uniform,
        adjusted=adjusted,
        reason=expected.reason or NOT_BY_ALL,
    )


def rows_of_all(
    sample: Sample, table: ChangeTable, reading: Reading, uniform: Floats, adjusted: Floats
) -> tuple[ByOthersRow, ...]:
    """Return the same over all models together: an individual may be improved by several."""
    moves = keyed(table, pooled_moves(table), reading)
    total = moves.improved.sum(axis=1)
    keys = range(len(moves.judged))
    improvement = [repeated_share(sample, table, moves.improved[:, k], moves.potential[:, k]) for k in keys]
    regression = [repeated_share(sample, table, moves.regressed[:, k], moves.at_risk[:, k]) for k in keys]
    share = [repeated_share(sample, table, moves.improved[:, k], total) for k in keys]
    count = table.count[:, None]
    numbers = Keyed(
        moves.judged,
        moves.others,
        *(part * count for part in (moves.potential, moves.improved, moves.at_risk, moves.regressed)),
    )
    return _rows(
        numbers,
        reading,
        improvement=improvement,
        regression=regression,
        share=share,
        uniform=uniform,
        adjusted=adjusted,
        reason=OF_A_MODEL,
    )


def _rows(
    numbers: Keyed,
    reading: Reading,
    *,
    improvement: list[Statistic],
    regression: list[Statistic],
    share: list[Statistic],
    uniform: Floats,
    adjusted: Floats,
    reason: str,
) -> tuple[ByOthersRow, ...]:
    counts = {
        name: np.rint(getattr(numbers, name).sum(axis=0)).astype(np.int64)
        for name in ("potential", "improved", "at_risk", "regressed")
    }
    return tuple(
        ByOthersRow(
            reading=reading,
            judged=int(numbers.judged[k]),
            others=int(numbers.others[k]),
            **{name: int(values[k]) for name, values in counts.items()},
            improvement_rate=improvement[k] if counts["potential"][k] else undefined(NOBODY_HERE),
            regression_rate=regression[k] if counts["at_risk"][k] else undefined(NOBODY_HERE),
            net=int(counts["improved"][k] - counts["regressed"][k]),
            share=share[k] if counts["improved"].any() else undefined(NONE_UNDONE),
            expected_uniform=number(float(uniform[k])),
            expected_adjusted=number(float(adjusted[k])),
            expected_uniform_reason="" if np.isfinite(uniform[k]) else NOBODY_FAILED,
            expected_adjusted_reason="" if np.isfinite(adjusted[k]) else reason,
        )
        for k in range(len(numbers.judged))
    )


def expected_shares(weights: Keyed, expected: Expected) -> tuple[Floats, Floats]:
    """Return the shares of improvements that the baselines expect at each key; NaN where undefined."""
    potential = weights.potential.sum(axis=0)
    nothing = np.full(len(potential), np.nan)
    if potential.sum() <= 0:
        return nothing, nothing
    uniform = potential / potential.sum()
    return uniform, nothing if expected.undone is None else adjusted_shares(potential, expected.undone)


def adjusted_shares(potential: Floats, undone: Floats) -> Floats:
    """Return the shares of improvements at each key, (K,), from the chances that a failure is undone."""
    complete = ~np.isnan(undone)
    improved = np.where(complete, potential * np.nan_to_num(undone), 0.0)
    if improved.sum() <= 0:
        return np.full(len(potential), np.nan)
    return np.where(complete, improved / improved.sum(), np.nan)


def repeated_share(sample: Sample, table: ChangeTable, events: Floats, base: Floats) -> Statistic:
    """Return a share of improvements, several of which may be of one individual; ``events``, ``base`` (R,) a head."""
    total = round(float(table.count @ base))
    mass = float(table.weight @ base)
    if total == 0 or mass <= 0:
        return undefined(NONE_UNDONE)
    share = float(table.weight @ events) / mass
    residual = events - share * base
    squared = table.weight_squared if sample.weighted else table.count.astype(np.float64)
    clusters = None
    if sample.cluster is not None:
        sums = sample.by_cluster((table.weight * residual)[:, None])
        based = sample.by_cluster((table.weight * base)[:, None])
        if sums is None or based is None:
            return undefined(NONE_UNDONE)
        clusters = np.array([int(np.count_nonzero(based))])
        variance = float((sums**2).sum()) / mass**2 * clusters[0] / max(clusters[0] - 1, 1)
        alike = mass**2 / float((based**2).sum())
    else:
        variance = float(squared @ residual**2) / mass**2
        alike = mass**2 / float(squared @ base**2)
    size = share * (1.0 - share) / variance if variance > 0 and 0 < share < 1 else alike
    size = min(size, float(total))
    effect = None if clusters is None else np.array([total / size])
    design = Design(np.array([share]), np.array([size]), effect, clusters)
    return design_shares(design, np.array([total]), census=sample.census)[0]
