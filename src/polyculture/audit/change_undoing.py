"""Do improvements reach those whom all models fail? Shares against the two blind baselines.

The counts stand in ``change_others``, the baselines in ``stats``, the words in ``change_verdict``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.audit.change_by_others import NONE_UNDONE, expected_shares, repeated_share
from polyculture.audit.change_others import Keyed, Reading, keyed, pooled_moves
from polyculture.audit.change_records import ByOthersRow, Undoing
from polyculture.audit.change_verdict import reason_of, with_verdict
from polyculture.audit.proportion import from_estimated, number, statistic
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
    uniform, adjusted = expected_shares(weights, expected)
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
    known = None if np.isnan(adjusted[at & complete]).any() or not (at & complete).any() else adjusted[at & complete]
    adjusted_share = None if known is None else float(known.sum())
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
            adjusted=adjusted_share,
            adjusted_reason=_adjusted_reason(adjusted_share, expected.reason),
            difference_adjusted=_from_known(own, adjusted_share, expected.reason),
            net_share=_net_share(totals),
            trend=statistic(trend.value, reason=CENSUS)
            if sample.census and trend.value is not None
            else from_estimated(trend),
            trend_adjusted=_trend_adjusted(sizes["potential"], numbers, expected),
        )
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
    adjusted = _mixed([(one.improved, one.adjusted) for one in own])
    reason = next((one.adjusted_reason for one in own if one.improved and one.adjusted is None), "")
    return with_verdict(
        Undoing(
            reading=reading,
            **totals,
            share=share,
            uniform=uniform,
            difference_uniform=_from_known(share, uniform, "the model failed nobody before"),
            p_value=None,
            p_method="see the models",
            adjusted=adjusted,
            adjusted_reason=_adjusted_reason(adjusted, reason),
            difference_adjusted=_from_known(share, adjusted, reason),
            net_share=_net_share(totals),
            trend=undefined("see the models"),
            trend_adjusted=None,
        )
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


def _from_known(share: Statistic, baseline: float | None, reason: str) -> Statistic:
    """Return a share minus a baseline that is taken as known."""
    if share.value is None or baseline is None:
        return undefined(reason if share.value is not None and reason else reason_of(share) or "no failure was undone")
    if share.low is None or share.high is None:
        return Statistic(value=share.value - baseline, reason=share.reason)
    method = f"{share.method}, the baseline taken as known"
    return Statistic(value=share.value - baseline, low=share.low - baseline, high=share.high - baseline, method=method)


def _adjusted_reason(value: float | None, reason: str) -> str:
    return "" if value is not None else reason or "no individual failed before was judged by all models twice"


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
        p_method="",
        adjusted=None,
        adjusted_reason=reason,
        difference_adjusted=nothing,
        net_share=nothing,
        trend=nothing,
        trend_adjusted=None,
        sentence=f"Whether improvements undo systemic failures is undefined: {reason}.",
    )
