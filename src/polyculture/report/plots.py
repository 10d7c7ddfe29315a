"""The two forms of plot that the charts use: rows with intervals, and columns for a long profile.

Rows in, specification out; what a row means stands in ``charts``.
"""

from __future__ import annotations

from typing import Any

from polyculture.report.texts import shorten_all
from polyculture.report.vega import (
    COMPACT,
    EXPECTED,
    INK,
    LABEL_CHARACTER,
    MUTED,
    OBSERVED,
    PAPER,
    PERCENT_LABEL,
    RULE,
    WIDE,
    Size,
    Spec,
    base,
)

__all__ = ["LONGEST_LABEL", "columns", "interval_rows"]

Row = dict[str, Any]
LONGEST_LABEL = 24  # characters; the table beneath has the whole name


def interval_rows(
    rows: list[Row],
    size: Size,
    *,
    title: str,
    bars: bool = False,
    label: str = PERCENT_LABEL,
    largest: float | None = None,
) -> Spec:
    """Return rows of label, mark with interval, expected tick, and the number in words.

    ``largest`` is the end of the axis, where several plots share one.
    """
    wide = size == "wide"
    step, down = (34, 0) if wide else (50, 11)
    short = shorten_all([row["label"] for row in rows], LONGEST_LABEL)
    rows = [{**row, "short": name} for row, name in zip(rows, short, strict=True)]
    longest = max(map(len, short))
    left, right = (24 + LABEL_CHARACTER * longest, 150.0) if wide else (6.0, 16.0)
    width = (WIDE if wide else COMPACT) - left - right
    ends = ("value", "low", "high", "expected", "adjusted")
    everything = [row[key] for row in rows for key in ends if row.get(key) is not None]
    domain = [min([0.0, *everything]), largest or max([0.0, *everything]) or 0.01]
    x = {
        "type": "quantitative",
        "scale": {"domain": domain, "nice": 4, "zero": True},
        "axis": {"labelExpr": label, "title": title, "tickCount": 5, "grid": True},
    }
    across = {"y": {"field": "order", "type": "ordinal", "axis": None, "scale": {"type": "band", "padding": 0}}}

    def layer(mark: Spec, only: str = "true", **encoding: Any) -> Spec:
        return {
            "transform": [{"filter": only}],
            "mark": {"yOffset": down, **mark},
            "encoding": {**across, **encoding},
        }

    marks = _interval_marks(layer, x, width, bars=bars, adjusted=any(row.get("adjusted") is not None for row in rows))
    return base(
        {"left": left, "right": right, "top": 2, "bottom": 46},
        width=width,
        height=len(rows) * step,
        data={"values": rows},
        layer=[*marks, *_texts(layer, width, size)],
    )


def _interval_marks(layer: Any, x: Spec, width: float, *, bars: bool, adjusted: bool) -> list[Spec]:
    """Return a bar or a point with its interval, and ticks of what is expected, on an axis ``x``."""
    at, low, high = ({**x, "field": name} for name in ("value", "low", "high"))
    has_interval = "isValid(datum.low) && isValid(datum.high)"
    marks = [
        layer({"type": "bar", "size": 16, "fill": OBSERVED}, "isValid(datum.value)", x=at)
        if bars
        else layer({"type": "rule", "stroke": RULE, "strokeWidth": 1}, x={"value": 0}, x2={"value": width}),
        layer(
            {"type": "rule", "stroke": INK if bars else OBSERVED, "strokeWidth": 1.5 if bars else 3},
            has_interval,
            x=low,
            x2={"field": "high"},
        ),
        *(
            layer({"type": "tick", "thickness": 1.5, "size": 9, "color": INK}, f"isValid(datum.{end['field']})", x=end)
            for end in ((low, high) if bars else ())
        ),
        layer(
            {"type": "tick", "thickness": 7, "size": 24, "color": PAPER},
            "isValid(datum.expected)",
            x={**x, "field": "expected"},
        ),
        layer(
            {"type": "tick", "thickness": 3, "size": 24, "color": EXPECTED},
            "isValid(datum.expected)",
            x={**x, "field": "expected"},
        ),
    ]
    if adjusted:
        diamond = {"type": "point", "shape": "diamond", "size": 90, "fill": PAPER, "stroke": EXPECTED, "strokeWidth": 2}
        marks.append(layer(diamond, "isValid(datum.adjusted)", x={**x, "field": "adjusted"}))
    if not bars:
        shape = {"condition": {"test": "datum.kind == 'systemic'", "value": "diamond"}, "value": "circle"}
        marks.append(
            layer(
                {
                    "type": "point",
                    "filled": True,
                    "fill": OBSERVED,
                    "stroke": PAPER,
                    "strokeWidth": 1.5,
                    "opacity": 1,
                    "size": 110,
                },
                "isValid(datum.value)",
                x=at,
                shape=shape,
            )
        )
    return marks


def _texts(layer: Any, width: float, size: Size) -> list[Spec]:
    """Return the row's name and its number: beside the plot on a page, above the mark on a phone."""
    name = {"field": "short", "type": "nominal"}
    number = {"field": "text", "type": "nominal"}
    ends = {"field": "interval", "type": "nominal"}
    if size == "wide":
        return [
            layer({"type": "text", "align": "right", "baseline": "middle", "limit": 180}, x={"value": -12}, text=name),
            layer(
                {"type": "text", "align": "left", "baseline": "middle", "fontWeight": 600, "limit": 150, "yOffset": -6},
                x={"value": width + 14},
                text=number,
            ),
            layer(
                {
                    "type": "text",
                    "align": "left",
                    "baseline": "middle",
                    "fontSize": 12,
                    "fill": MUTED,
                    "limit": 150,
                    "yOffset": 9,
                },
                x={"value": width + 14},
                text=ends,
            ),
        ]
    return [
        layer(
            {"type": "text", "align": "left", "baseline": "middle", "limit": 136, "yOffset": -10},
            x={"value": 0},
            text=name,
        ),
        layer(
            {
                "type": "text",
                "align": "right",
                "baseline": "middle",
                "fontSize": 12,
                "fill": MUTED,
                "limit": 170,
                "yOffset": -10,
            },
            x={"value": width},
            text={"field": "both", "type": "nominal"},
        ),
    ]


def columns(rows: list[Row], k: int, size: Size) -> Spec:
    """Return a long profile as columns, with what is expected as a stepped line."""
    wide = size == "wide"
    left = 60.0 if wide else 50.0
    width = (WIDE if wide else COMPACT) - left - 14
    everything = [row[key] for row in rows for key in ("high", "value", "expected") if row[key] is not None]
    top = max(everything, default=0.01) or 0.01
    x = {
        "type": "quantitative",
        "scale": {"domain": [-0.5, k + 0.5], "nice": False},
        "axis": {"title": "number of models that failed", "grid": False, "tickCount": 8, "format": "d"},
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": True},
        "axis": {"title": None, "labelExpr": PERCENT_LABEL, "tickCount": 5},
    }

    def from_to(start: str, end: str) -> list[Spec]:
        return [
            {"calculate": f"datum.failed {start}", "as": "from"},
            {"calculate": f"datum.failed {end}", "as": "to"},
        ]

    layers: list[Spec] = [
        {
            "transform": [{"filter": "datum.value > 0"}, *from_to("- 0.4", "+ 0.4")],
            "mark": {"type": "rect", "fill": OBSERVED},
            "encoding": {
                "x": {**x, "field": "from"},
                "x2": {"field": "to"},
                "y": {**y, "field": "value"},
                "y2": {"datum": 0},
            },
        }
    ]
    if k <= 100:
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
                "mark": {"type": "rule", "stroke": INK, "strokeWidth": 1},
                "encoding": {
                    "x": {**x, "field": "failed"},
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                },
            }
        )
    layers.append(
        {
            "mark": {"type": "line", "stroke": EXPECTED, "strokeWidth": 2.5, "interpolate": "step"},
            "encoding": {"x": {**x, "field": "failed"}, "y": {**y, "field": "expected"}},
        }
    )
    padding = {"left": left, "right": 14.0, "top": 8.0, "bottom": 46.0}
    return base(padding, width=width, height=260, data={"values": rows}, layer=layers)
