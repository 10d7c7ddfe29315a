"""Numbers that must be resolved on the whole table before any cell has a state: quantiles and top shares."""

from __future__ import annotations

import math
from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.errors import ColumnError
from polyculture.expressions import kind_of
from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.groups import Group

if TYPE_CHECKING:
    from polyculture.outcomes.outcomes import Outcomes

__all__ = ["group_edges", "top_thresholds"]


def _ranked(frame: nw.LazyFrame[Any], value: nw.Expr, levels: Sequence[float], *, from_top: bool) -> list[float]:
    """Return the values at given shares of the ranked, present values; ties are not broken.

    Values are counted, sorted and summed up by the engine. Its quantile function is not used, since
    engines differ in how they define it.
    """
    counted = frame.select(value=value).drop_nulls().group_by("value").agg(times=nw.len())
    total = int(fetch_rows(counted.select(total=nw.col("times").sum()))[0]["total"] or 0)
    if total == 0:
        return []
    # Ordering is ascending only, so the top is ranked by the negated value.
    order = -nw.col("value") if from_top else nw.col("value")
    ranked = counted.with_columns(order=order).with_columns(seen=nw.col("times").cum_sum().over(order_by="order"))
    # Rounded before the ceiling, since .1 * 30 is a little over 3 in floating point.
    ranks = [max(1, math.ceil(round(level * total, 9))) for level in levels]
    first = {f"at_{i}": nw.when(nw.col("seen") >= rank).then(nw.col("order")).min() for i, rank in enumerate(ranks)}
    row = fetch_rows(ranked.select(**first))[0]
    return [float(-row[name] if from_top else row[name]) for name in first]


def group_edges(
    frame: nw.LazyFrame[Any], groups: Sequence[Group], schema: TypeMapping[str, Any]
) -> dict[str, tuple[float, ...]]:
    """Return the inner edges of each quantile group; equal edges are merged, since ties stay together.

    Raises
    ------
    ColumnError
        If the column holds no numbers.
    """
    edges = {}
    for group in groups:
        if not group.bins:
            continue
        if kind_of(schema[group.column]) != "numbers":
            raise ColumnError(
                f"{group.name!r}: column {group.column!r} holds {kind_of(schema[group.column])}, not numbers.",
                hint="Group by the column itself, or cast it to numbers.",
            )
        found = _ranked(frame, nw.col(group.column), group.quantile_levels(), from_top=False)
        edges[group.name] = tuple(sorted(set(found)))
    return edges


def top_thresholds(outcomes: Outcomes) -> dict[str, float]:
    """Return for each model the least score inside its top share Q; everyone tied with it is inside too.

    Raises
    ------
    ColumnError
        If a model gave no score at all.
    """
    share = outcomes.rule.number()
    found = {}
    for name in outcomes.models:
        frame, column = outcomes.frame, name
        if outcomes.mapping.long:
            frame, column = frame.filter(nw.col(str(outcomes.mapping.model)) == name), str(outcomes.mapping.value)
        value = nw.col(column)
        top = _ranked(frame, value, [share], from_top=True)
        if not top:
            raise ColumnError(f"The model {name!r} gave no score.", hint="Leave it out with --models.")
        found[name] = top[0]
    return found
