"""The charts of a feedback loop: measures over the generations with bands over seeds, and the books of selections.

Each function returns specifications and the rows it draws, as ``charts`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from polyculture.lab.loops.records import AccountingRecord, CurveRecord
from polyculture.report import words
from polyculture.report.charts import Chart
from polyculture.report.vega import COMPACT, EXPECTED, MUTED, OBSERVED, PAPER, PERCENT_LABEL, Spec, base

__all__ = ["LOOK", "Line", "accounting_chart", "ends", "highest_share", "lines_chart"]

Row = dict[str, Any]
NUMBER_LABEL = "format(datum.value, '~g')"
LOOK: tuple[tuple[str, list[int], str, str], ...] = (
    (OBSERVED, [1, 0], "circle", "dot"),
    (MUTED, [2, 2], "square", "dotted"),
    (EXPECTED, [6, 3], "diamond", "dashed"),
)
"""Colour, dashes, shape and swatch of the first, second and third line of a chart."""


class Line(NamedTuple):
    """One line of a chart; the curve may be missing."""

    name: str
    curve: CurveRecord | None


def lines_chart(lines: Sequence[Line], limits: tuple[float, float], *, percent: bool = True) -> Chart | None:
    """Return up to three measures over the generations with their bands; None where none is defined.

    Parameters
    ----------
    lines : sequence of Line
        In the order of `LOOK`.
    limits : tuple of float
        Ends of the axis, the same for all arms. A band that fills it in every generation is left out.
    percent : bool
        Whether the axis is in percent.
    """
    rows = [
        {
            "generation": number,
            "line": line.name,
            "place": place,
            "value": value,
            "low": None if low is None else max(low, limits[0]),
            "high": None if high is None else min(high, limits[1]),
        }
        for place, line in enumerate(lines)
        if line.curve is not None
        for number, (value, low, high) in enumerate(zip(line.curve.value, line.curve.low, line.curve.high, strict=True))
        if value is not None
    ]
    for place in range(len(lines)):
        own = [row for row in rows if row["place"] == place]
        if all((row["low"], row["high"]) == limits for row in own):
            for row in own:
                row["low"] = row["high"] = None
    return _chart(rows, limits, percent)


def accounting_chart(records: Sequence[AccountingRecord], limits: tuple[float, float]) -> Chart | None:
    """Return the books of one arm and purpose: the rarest stratum in pool and training set, and the shortfall.

    Parameters
    ----------
    records : sequence of AccountingRecord
        Of one arm and purpose, every generation and stratum.
    limits : tuple of float
        Ends of the axis.
    """
    return _chart(_books(records), limits, percent=True)


def highest_share(records: Sequence[AccountingRecord]) -> float:
    """Return the highest share that `accounting_chart` draws."""
    return max((row["value"] for row in _books(records)), default=0.0)


def _books(records: Sequence[AccountingRecord]) -> list[Row]:
    rows: list[Row] = []
    for number in sorted({one.generation for one in records}):
        own = [one for one in records if one.generation == number]
        pool, chosen = sum(one.pool for one in own), sum(one.taken + one.filled for one in own)
        if not pool or not chosen:
            continue
        rarest = min(own, key=lambda one: one.pool)
        values = ((rarest.taken + rarest.filled) / chosen, rarest.pool / pool, rarest.shortfall / chosen)
        names = ("rarest stratum, trained on", "rarest stratum, in the pool", "shortfall")
        rows += [
            {"generation": number, "line": name, "place": place, "value": value, "low": None, "high": None}
            for place, (name, value) in enumerate(zip(names, values, strict=True))
        ]
    return rows


def _chart(rows: list[Row], limits: tuple[float, float], percent: bool) -> Chart | None:
    if not rows:
        return None
    spec = _lines(rows, limits, PERCENT_LABEL if percent else NUMBER_LABEL)
    return Chart(spec, spec, rows)


def _lines(rows: list[Row], limits: tuple[float, float], label: str) -> Spec:
    left, right = 46.0, 16.0
    last = max(row["generation"] for row in rows)
    x = {
        "field": "generation",
        "type": "quantitative",
        "scale": {"domain": [0, max(last, 1)], "nice": False},
        "axis": {"title": "generation", "format": "d", "grid": False, "tickCount": min(last, 8) or 1, "tickMinStep": 1},
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": limits, "nice": False, "zero": False},
        "axis": {"title": None, "labelExpr": label, "tickCount": 5},
    }
    layers: list[Spec] = []
    places = sorted({row["place"] for row in rows}, reverse=True)
    for place in places:  # bands first, so that no band covers a line
        colour = LOOK[place][0]
        layers.append(
            {
                "transform": [{"filter": f"datum.place === {place} && isValid(datum.low) && isValid(datum.high)"}],
                "mark": {"type": "area", "fill": colour, "opacity": 0.14},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            }
        )
    for place in places:
        colour, dash, shape, _ = LOOK[place]
        only = [{"filter": f"datum.place === {place}"}]
        layers += [
            {
                "transform": only,
                "mark": {"type": "line", "stroke": colour, "strokeWidth": 2, "strokeDash": dash},
                "encoding": {"x": x, "y": {**y, "field": "value"}},
            },
            {
                "transform": only,
                "mark": {
                    "type": "point",
                    "filled": True,
                    "fill": colour,
                    "stroke": PAPER,
                    "strokeWidth": 1,
                    "opacity": 1,
                    "size": 34,
                    "shape": shape,
                },
                "encoding": {"x": x, "y": {**y, "field": "value"}},
            },
        ]
    padding = {"left": left, "right": right, "top": 8.0, "bottom": 46.0}
    return base(padding, width=COMPACT - left - right, height=190, data={"values": rows}, layer=layers)


def ends(values: Sequence[float | None]) -> str:
    """Return the first and the last value of a curve in words, for those who do not see it.

    >>> ends([0.71, 0.7, 0.52])
    '71.0 % to 52.0 %'
    """
    known = [value for value in values if value is not None]
    if not known:
        return "undefined"
    return f"{words.percent(known[0])} to {words.percent(known[-1])}"
