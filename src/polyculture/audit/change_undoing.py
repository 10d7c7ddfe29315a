"""Do improvements reach those whom all models fail? Shares against the two blind baselines.

The counts stand in ``change_others``, the baselines in ``stats``, the words in ``change_verdict``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from polyculture.audit.change_by_others import (
    NOBODY_FAILED,
    NONE_UNDONE,
    adjusted_shares,
    expected_shares,
    repeated_share,
)
from polyculture.audit.change_others import Keyed, Reading, keyed, pooled_moves
from polyculture.audit.change_records import ByOthersRow, Undoing
from polyculture.audit.change_verdict import reason_of, with_verdict
from polyculture.audit.proportion import from_estimated, interval_of, number, statistic
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.change_by_others import Expected
    from polyculture.audit.change_shares import Sample
    from polyculture.tally.changes import ChangeTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ONE_MODEL = "with one model there are no others"
_LEAST_SPREAD = 0.02  # of log odds: models that share no more failures than by chance leave nothing to vary
NO_TREND = "what difficulty expects is the same at all numbers of others, or nobody could be improved"
NO_NET = "regressions are as many as improvements or more, so that a share of the net does not exist"


def undoing_of_model(
    sample: Sample, numbers: Keyed, weights: Keyed, *, expected: Expected, reading: Reading, models: int
) -> Undoing:
    """Return how many improvements of one model undo a systemic failure, against both baselines."""
    from polyculture.stats.change import share_against_uniform, trend_over_others

    at = numbers.systemic
    totals = _totals(numbers)
    if not len(numbers.judged):
        return _undefined(reading, totals, ONE_MODEL)
    event, base = weights.improved[:, at].sum(axis=1), weights.improved.sum(axis=1)
    share = sample.shares(event[:, None], base[:, None], numbers.improved.sum(axis=1)[:, None])[0]
    if totals["improved"] == 0:
        share = undefined(NONE_UNDONE)
    uniform, _ = expected_shares(weights, expected)
    effect = sample.design_effect(event, base, numbers.improved.sum(axis=1))
    sums = {name: getattr(weights, name).sum(axis=0) for name in ("potential", "improved")}
    scale = 1.0 if not sample.weighted else float(numbers.potential.sum()) / max(float(sums["potential"].sum()), 1e-300)
    sizes = {name: values * scale for name, values in sums.items()}
    difference, p_value, method = share_against_uniform(
        float(sizes["improved"][at].sum()),
        float(sizes["potential"][at].sum()),
        float(sizes["improved"][~at].sum()),
        float(sizes["potential"][~at].sum()),
        effect,
    )
    trend = trend_over_others(sizes["improved"], sizes["potential"], numbers.others, effect)
    complete = numbers.judged == models
    own = _complete_share(sample, numbers, weights, complete) if not complete.all() else share
    adjusted = _adjusted(sums["potential"], at, expected)
    return with_verdict(
        Undoing(
            reading=reading,
            **totals,
            share=share,
            uniform=number(float(uniform[at].sum())),
            difference_uniform=statistic(difference.value, reason=CENSUS)
            if sample.census and difference.value is not None
            else from_estimated(difference),
            p_value=None if sample.census else number(p_value),
            p_method=CENSUS if sample.census else method,
            adjusted=adjusted,
            difference_adjusted=_against(own, adjusted),
            net_share=_net_share(totals),
            trend=statistic(trend.value, reason=CENSUS)
            if sample.census and trend.value is not None
            else from_estimated(trend),
            trend_adjusted=(steepness := _trend_adjusted(sizes["potential"], numbers, expected)),
            uniform_reason="" if uniform[at].sum() >= 0 else NOBODY_FAILED,
            trend_adjusted_reason="" if steepness is not None else expected.reason or NO_TREND,
        ),
        models,
    )


def undoing_of_all(
    sample: Sample, table: ChangeTable, rows: tuple[ByOthersRow, ...], own: list[Undoing], reading: Reading
) -> Undoing:
    """Return the same over all models together; the baselines are those of the models, by their improvements."""
    moves = keyed(table, pooled_moves(table), reading)
    at = moves.systemic
    totals: dict[str, Any] = {
        name: sum(getattr(row, name) for row in rows) for name in ("potential", "improved", "regressed", "net")
    } | {
        f"{name}_systemic": sum(getattr(row, name) for row in rows if row.others == row.judged - 1)
        for name in ("potential", "improved", "regressed", "net")
    }
    if not rows:
        return _undefined(reading, totals, ONE_MODEL)
    share = repeated_share(sample, table, moves.improved[:, at].sum(axis=1), moves.improved.sum(axis=1))
    if totals["improved"] == 0:
        share = undefined(NONE_UNDONE)
    uniform = _mixed([(one.improved, one.uniform) for one in own])
    adjusted = _mixed_statistic([(one.improved, one.adjusted) for one in own])
    return with_verdict(
        Undoing(
            reading=reading,
            **totals,
            share=share,
            uniform=uniform,
            difference_uniform=_against(share, _known(uniform)),
            p_value=None,
            p_method="see the models",
            adjusted=adjusted,
            difference_adjusted=_against(share, adjusted),
            net_share=_net_share(totals),
            trend=undefined("see the models"),
            trend_adjusted=None,
            uniform_reason="" if uniform is not None else NONE_UNDONE,
            trend_adjusted_reason="see the models",
        ),
        table.model_judged.shape[1],
    )


def _totals(numbers: Keyed) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("potential", "improved", "regressed"):
        sums = np.rint(getattr(numbers, name).sum(axis=0)).astype(np.int64)
        found |= {name: int(sums.sum()), f"{name}_systemic": int(sums[numbers.systemic].sum())}
    for ending in ("", "_systemic"):
        found[f"net{ending}"] = found[f"improved{ending}"] - found[f"regressed{ending}"]
    return found


def _complete_share(sample: Sample, numbers: Keyed, weights: Keyed, complete: NDArray[np.bool_]) -> Statistic:
    """Return the share among the individuals whom all models judged: what the adjusted baseline is about."""
    at = numbers.systemic & complete
    event, base = weights.improved[:, at].sum(axis=1), weights.improved[:, complete].sum(axis=1)
    return sample.shares(event[:, None], base[:, None], numbers.improved[:, complete].sum(axis=1)[:, None])[0]


def _trend_adjusted(potential: Floats, numbers: Keyed, expected: Expected) -> float | None:
    from polyculture.stats.change import trend_over_others

    if expected.undone is None:
        return None
    known = ~np.isnan(expected.undone)
    return number(
        trend_over_others(
            potential[known] * expected.undone[known], potential[known], numbers.others[known].astype(np.float64)
        ).value
    )


def _adjusted(potential: Floats, at: NDArray[np.bool_], expected: Expected) -> Statistic:
    """Return the share that difficulty alone would give, with an interval for how well difficulty is known."""
    from polyculture.stats.intervals import Interval, quantile

    if expected.undone is None:
        return undefined(expected.reason)
    value = float(np.nansum(adjusted_shares(potential, expected.undone)[at]))
    if not np.isfinite(adjusted_shares(potential, expected.undone)[at]).any():
        return undefined("no individual failed before was judged by all models twice")
    if expected.redrawn is None or len(expected.redrawn) < 2:
        return statistic(value, reason=CENSUS)
    drawn = np.array([np.nansum(adjusted_shares(potential, chances)[at]) for chances in expected.redrawn])
    if not 0.0 < value < 1.0 or not ((drawn > 0.0) & (drawn < 1.0)).all():
        return statistic(value, reason="at 0 or at 1, so that an interval on the log odds does not exist")
    spread = float(np.log(drawn / (1.0 - drawn)).std(ddof=1))
    if spread < _LEAST_SPREAD:
        return statistic(value, reason="these data show no difference of difficulty, so that all samples give the same")
    ends = [1.0 / (1.0 + math.exp(-(math.log(value / (1.0 - value)) + side * quantile() * spread))) for side in (-1, 1)]
    return statistic(value, Interval(ends[0], ends[1], f"{len(drawn)} redrawn fits, on the log odds"))


def _known(value: float | None) -> Statistic:
    """Return a baseline that has no interval of its own."""
    return undefined("the model failed nobody before") if value is None else Statistic(value=value)


def _against(share: Statistic, baseline: Statistic) -> Statistic:
    """Return a share minus a baseline; where that has no interval it is taken as known."""
    from polyculture.stats.intervals import mover_difference

    if share.value is None or baseline.value is None:
        return undefined(reason_of(share) if share.value is None else reason_of(baseline))
    value = share.value - baseline.value
    if share.low is None or share.high is None:
        return Statistic(value=value, reason=share.reason)
    if baseline.low is None or baseline.high is None:
        method = f"{share.method}, the baseline taken as known"
        return Statistic(value=value, low=share.low - baseline.value, high=share.high - baseline.value, method=method)
    interval = mover_difference(share.value, interval_of(share), baseline.value, interval_of(baseline))
    return statistic(value, interval)


def _mixed_statistic(parts: list[tuple[int, Statistic]]) -> Statistic:
    """Return the mean of baselines that rest on one fit, and so move together, by the number of improvements."""
    used = [(size, one) for size, one in parts if size > 0]
    missing = next((one for _, one in used if one.value is None), None)
    if not used or missing is not None:
        return undefined(NONE_UNDONE if missing is None else reason_of(missing))
    value, low, high = (_mixed([(size, getattr(one, name)) for size, one in used]) for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return Statistic(value=value, reason=next((one.reason for _, one in used if one.low is None), UNSET))
    return Statistic(value=value, low=low, high=high, method=used[0][1].method)


def _net_share(totals: dict[str, Any]) -> Statistic:
    if totals["net"] <= 0:
        return undefined(NO_NET)
    reason = "a share of a difference of counts may lie outside 0 to 1, and has no interval here"
    return Statistic(value=totals["net_systemic"] / totals["net"], reason=reason)


def _mixed(parts: list[tuple[int, float | None]]) -> float | None:
    """Return the mean of baselines by the number of improvements; None where one is missing."""
    used = [(size, value) for size, value in parts if size > 0]
    if not used or any(value is None for _, value in used):
        return None
    total = sum(size for size, _ in used)
    return math.fsum(size * value for size, value in used if value is not None) / total


def _undefined(reading: Reading, totals: dict[str, Any], reason: str) -> Undoing:
    nothing = undefined(reason)
    return Undoing(
        reading=reading,
        **totals,
        share=nothing,
        uniform=None,
        difference_uniform=nothing,
        p_value=None,
        p_method=reason,
        adjusted=nothing,
        difference_adjusted=nothing,
        net_share=nothing,
        trend=nothing,
        trend_adjusted=None,
        uniform_reason=reason,
        trend_adjusted_reason=reason,
        sentence=f"Whether improvements undo systemic failures is undefined: {reason}.",
    )
