"""The charts of a component-sharing experiment: effects with intervals, and H against the training size.

Each function returns specifications and the rows it draws, as ``charts`` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from polyculture.audit.statistic import Statistic
from polyculture.lab.records import ArmRecord, EffectRecord
from polyculture.report import words
from polyculture.report.charts import Chart
from polyculture.report.plots import LONGEST_LABEL, interval_rows
from polyculture.report.vega import COMPACT, EXPECTED, MUTED, OBSERVED, WIDE, Size, Spec, base

__all__ = ["MOST_CURVES", "effects_chart", "is_cut", "ratio_chart", "size_chart"]

Row = dict[str, Any]
MOST_CURVES = 3
REACHES = (6.0, 10.0, 20.0, 40.0, 100.0, math.inf)
"""How far an axis of ratios may reach either way, as logarithms to base 2: 1/64 to 64, further where a ratio is. The
axis is extended to whole steps, and these are some, so that an interval that is cut goes to its end."""
NUMBER_LABEL = "format(datum.value, '~g')"
RATIO_LABEL = "format(pow(2, datum.value), '.3~r')"


def effects_chart(effects: Sequence[EffectRecord]) -> Chart | None:
    """Return how much larger H is where a component is shared, a row a learner; 1 is marked on each.

    Rows hold logarithms to base 2, so that half as large is as far from 1 as twice.

    None where no effect is defined.
    """
    drawn = [effect for effect in effects if effect.ratio.value is not None]
    several = len({(effect.component, effect.level) for effect in drawn}) > 1
    return ratio_chart(
        [
            (_label(effect, several), effect.ratio, "systemic" if effect.learner is None else "learner")
            for effect in drawn
        ],
        title="H where it is shared / H where it is not",
    )


def ratio_chart(entries: Sequence[tuple[str, Statistic, str]], *, title: str) -> Chart | None:
    """Return ratios with their intervals on a logarithmic axis, a row each, 1 marked; None where none is defined.

    Parameters
    ----------
    entries : sequence of (str, Statistic, str)
        Label, ratio, and kind of the mark: "systemic" or "learner".
    title : str
        Of the axis.
    """
    ends = _ends([ratio for _, ratio, _ in entries])
    rows = [
        {
            "order": order,
            "label": words.shown(label),
            "value": _logarithm(ratio.value),
            "low": _within(_logarithm(ratio.low), ends),
            "high": _within(_logarithm(ratio.high), ends),
            "expected": 0.0,
            "text": words.number(ratio, "ratio"),
            "interval": words.interval(ratio, "ratio"),
            "both": words.statistic(ratio, "ratio"),
            "kind": kind,
        }
        for order, (label, ratio, kind) in enumerate(entries)
        if ratio.value is not None
    ]
    if not rows:
        return None
    return Chart(
        interval_rows(rows, "wide", title=title, label=RATIO_LABEL),
        interval_rows(rows, "compact", title=title, label=RATIO_LABEL),
        rows,
    )


def _label(effect: EffectRecord, several: bool) -> str:
    learner = effect.learner or "all learners"
    if not several:
        return learner
    what = effect.level if effect.component == "rows" else effect.component
    if effect.learner is None:
        return what
    return f"{words.shorten(learner, max(6, LONGEST_LABEL - len(what) - 2))}, {what}"


def _logarithm(ratio: float | None) -> float | None:
    """Return the logarithm of a ratio to base 2; None where it is infinite."""
    return None if ratio is None or ratio <= 0.0 or math.isinf(ratio) else math.log2(ratio)


def is_cut(ratios: Sequence[Statistic]) -> bool:
    """Return whether `ratio_chart` draws an interval of these only up to the end of its axis."""
    ends = _ends(ratios)
    drawn = [ratio for ratio in ratios if ratio.value is not None and None not in {ratio.low, ratio.high}]
    found = [(_logarithm(end), end) for ratio in drawn for end in (ratio.low, ratio.high)]
    return any(logarithm is None or abs(logarithm) > ends for logarithm, _ in found)


def _ends(ratios: Sequence[Statistic]) -> float:
    """Return how far the axis reaches either way: a few endless intervals must not flatten all others."""
    values = [abs(value) for ratio in ratios if (value := _logarithm(ratio.value)) is not None]
    return next(reach for reach in REACHES if reach > max(values, default=0.0))


def _within(value: float | None, ends: float) -> float | None:
    return None if value is None else min(max(value, -ends), ends)


def size_chart(results: Sequence[ArmRecord], arms: Sequence[str], limits: tuple[float, float]) -> Chart | None:
    """Return H of one learner by arm against the number of training rows; None where none is defined.

    Parameters
    ----------
    results : sequence of ArmRecord
        Of one learner, a row an arm and size.
    arms : sequence of str
        At most three, in the order of colours: observed, muted, expected.
    limits : tuple of float
        Ends of the axis of H, the same for all learners.
    """
    rows = [
        {
            "rows": result.training_rows,
            "arm": result.arm,
            "place": list(arms).index(result.arm),
            "value": result.homogenization.value,
            "low": None if result.homogenization.low is None else max(result.homogenization.low, limits[0]),
            "high": None if result.homogenization.high is None else min(result.homogenization.high, limits[1]),
        }
        for result in results
        if result.arm in arms and result.homogenization.value is not None
    ]
    if not rows:
        return None
    return Chart(_curves(rows, len(arms), limits, "wide"), _curves(rows, len(arms), limits, "compact"), rows)


def _curves(rows: list[Row], arms: int, limits: tuple[float, float], size: Size) -> Spec:
    left, right = 46.0, 16.0
    width = (WIDE if size == "wide" else COMPACT) - left - right
    ticks = sorted({row["rows"] for row in rows})
    ends = (ticks[0] / 1.15, ticks[-1] * 1.15)
    x = {
        "field": "rows",
        "type": "quantitative",
        "scale": {"type": "log", "domain": ends, "nice": False},
        "axis": {"title": "training rows of each", "values": ticks, "format": "d", "grid": False, "labelOverlap": True},
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": limits, "nice": True, "zero": False},
        "axis": {"title": None, "labelExpr": NUMBER_LABEL, "tickCount": 5},
    }
    layers: list[Spec] = [
        {
            "data": {"values": [{"rows": end, "value": 1.0} for end in ends]},
            "mark": {"type": "line", "stroke": MUTED, "strokeWidth": 1, "strokeDash": [2, 3]},
            "encoding": {"x": x, "y": {**y, "field": "value"}},
        }
    ]
    for place in range(arms):
        colour, dash = _LOOK[place if place < arms - 1 or arms == 1 else -1]
        only = [{"filter": f"datum.place === {place}"}]
        aside = (place - (arms - 1) / 2) * 5
        layers += [
            {
                "transform": [*only, {"filter": "isValid(datum.low) && isValid(datum.high)"}],
                "mark": {"type": "rule", "stroke": colour, "strokeWidth": 1.5, "xOffset": aside},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "transform": only,
                "mark": {"type": "line", "stroke": colour, "strokeWidth": 2, "strokeDash": dash, "xOffset": aside},
                "encoding": {"x": x, "y": {**y, "field": "value"}},
            },
            {
                "transform": only,
                "mark": {
                    "type": "point",
                    "filled": True,
                    "fill": colour,
                    "opacity": 1,
                    "size": 45,
                    "xOffset": aside,
                    "shape": ("circle", "square", "diamond")[place],
                },
                "encoding": {"x": x, "y": {**y, "field": "value"}},
            },
        ]
    padding = {"left": left, "right": right, "top": 8.0, "bottom": 46.0}
    return base(padding, width=width, height=200, data={"values": rows}, layer=layers)


_LOOK: tuple[tuple[str, list[int]], ...] = ((OBSERVED, [1, 0]), (MUTED, [2, 2]), (EXPECTED, [6, 3]))
