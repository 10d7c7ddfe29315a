"""The charts of a comparison: specifications for either size, and the rows they draw.

Rows are what the record says, so tests check data and not pixels. Nothing here converts to SVG or HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from polyculture.audit.change_records import ByOthersRow, ChangeRecord, FlowRow, ModelChange, PairedRate, TrendRecord
from polyculture.report import words
from polyculture.report.charts import Chart, interval_row
from polyculture.report.plots import interval_rows
from polyculture.report.texts import shorten_all
from polyculture.report.vega import (
    COMPACT,
    INK,
    MUTED,
    OBSERVED,
    PAPER,
    PERCENT_LABEL,
    POINTS_LABEL,
    WIDE,
    Size,
    Spec,
    base,
)

__all__ = ["SHADES", "change_chart", "flow_chart", "others_chart", "rates_chart", "trend_chart"]

MOST_MODELS = 20
MOST_FLOW = 30  # models; a larger square is no picture
SHADES = ((0.12, 0.01), (0.25, 0.05), (0.38, 0.15), (0.5, 0.35))
"""Opacity of a cell of the flow, and the share that it ends at; more is opaque."""
_LONGEST_SNAPSHOT = 10  # characters, of a name beside that of a model
MOST_NUMBERS = 10  # models; with more there is no room for numbers in the cells


def rates_chart(change: ChangeRecord) -> Chart:
    """Return each model's failure rate at both snapshots, and the share failed by all, with intervals."""
    models = _largest(change)
    named: list[tuple[str, str, PairedRate]] = []
    # Long names of files would leave nothing of those of the models.
    sides = (change.before, change.after)
    sides = sides if max(map(len, sides)) <= _LONGEST_SNAPSHOT else ("before", "after")
    for model in models:
        same = model.name == model.name_after
        labels = [f"{model.name}, {side}" for side in sides]
        named.append((*(labels if same else (model.name, model.name_after)), model.error))
    named.append((f"all, {sides[0]}", f"all, {sides[1]}", change.systemic_failure.rate))
    rows: list[dict[str, Any]] = []
    for old, new, rate in named:
        kind = "systemic" if rate is change.systemic_failure.rate else "model"
        for label, value in ((old, rate.before), (new, rate.after)):
            rows.append(interval_row(len(rows), label, value, "percent", kind=kind))
    title = "failure rate"
    return Chart(
        interval_rows(rows, "wide", title=title),
        interval_rows(rows, "compact", title=title),
        rows,
        _left_out(len(models), len(change.models)),
    )


def change_chart(change: ChangeRecord) -> Chart:
    """Return the change of each model's failure rate and of systemic failure, in points, with paired intervals."""
    models = _largest(change)
    # By the earlier name alone: of two names beside the number neither can be read on a telephone.
    rows = [
        interval_row(index, model.name, model.error.difference, "points", kind="model")
        for index, model in enumerate(models)
    ]
    systemic = change.systemic_failure.rate.difference
    rows.append(interval_row(len(rows), "failed by all models", systemic, "points", kind="systemic"))
    return Chart(
        interval_rows(rows, "wide", title="change of the failure rate, in percentage points", label=POINTS_LABEL),
        interval_rows(rows, "compact", title="change of the failure rate, in points", label=POINTS_LABEL),
        rows,
        _left_out(len(models), len(change.models)),
    )


def _largest(change: ChangeRecord) -> list[ModelChange]:
    ordered = sorted(change.models, key=lambda model: -abs(model.error.difference.value or 0.0))
    return ordered[:MOST_MODELS]


def _left_out(drawn: int, total: int) -> str:
    return (
        f"The chart shows the {drawn} models of {total} that changed most; the table has all." if drawn < total else ""
    )


def others_chart(rows_of: Sequence[ByOthersRow]) -> Chart | None:
    """Return the share of improvements by number of other models that fail, beside both blind baselines.

    Parameters
    ----------
    rows_of : sequence of ByOthersRow
        Rows of one reading and one number of judgements.
    """
    if not rows_of or all(row.share.value is None for row in rows_of):
        return None
    k = rows_of[0].judged
    rows = [
        {
            **interval_row(
                index, _others(row.others, k), row.share, "percent", row.expected_uniform, others=row.others
            ),
            "adjusted": row.expected_adjusted,
        }
        for index, row in enumerate(rows_of)
    ]
    title = "share of improvements"
    return Chart(
        interval_rows(rows, "wide", title=title, bars=True),
        interval_rows(rows, "compact", title=title, bars=True),
        rows,
    )


def _others(others: int, judged: int) -> str:
    if others == judged - 1:
        return "the other fails" if judged == 2 else f"all {others} others fail"
    if others == 0:
        return "the other does not" if judged == 2 else "no other fails"
    return f"{others} of {judged - 1} others fail"


def flow_chart(flow: Sequence[FlowRow]) -> Chart | None:
    """Return how individuals went from one number of failing models to another, as a heat map.

    Parameters
    ----------
    flow : sequence of FlowRow
        Rows of one number of judgements.
    """
    if not flow:
        return None
    k = flow[0].judged
    if not 1 < k <= MOST_FLOW:
        return None
    known = {(row.before, row.after): row for row in flow}
    rows = []
    for before in range(k + 1):
        for after in range(k + 1):
            row = known.get((before, after))
            share = row.share if row is not None else 0.0
            rows.append(
                {
                    "before": before,
                    "after": after,
                    "count": row.count if row is not None else 0,
                    "share": share,
                    "shade": _shade(share),
                    "text": words.count(row.count) if row is not None else "0",
                }
            )
    return Chart(_heat(rows, k, "wide"), _heat(rows, k, "compact"), rows)


def _shade(share: float) -> float:
    """Return the opacity of a cell: by the square root of its share, in steps, so that rare moves are seen."""
    return 0.0 if share <= 0 else next((step for step, most in SHADES if share < most), 1.0)


def _heat(rows: list[dict[str, Any]], k: int, size: Size) -> Spec:
    wide = size == "wide"
    room = 460.0 if wide else COMPACT - 64.0
    side = min(56.0 if wide else 48.0, room / (k + 1))
    length = side * (k + 1)
    axis = {"grid": False, "labelAngle": 0, "titlePadding": 8}
    x = {
        "field": "after",
        "type": "ordinal",
        "scale": {"padding": 0},
        "axis": {**axis, "title": "models that fail after"},
    }
    y = {
        "field": "before",
        "type": "ordinal",
        "scale": {"padding": 0},
        "axis": {**axis, "title": "models that fail before"},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "fill": OBSERVED, "stroke": PAPER, "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "fillOpacity": {"field": "shade", "type": "quantitative", "scale": None}},
        }
    ]
    if k <= MOST_NUMBERS and side >= 30:
        text = {"type": "text", "baseline": "middle", "fontSize": 12 if wide else 11}
        for condition, colour in (("datum.shade < 0.7", INK), ("datum.shade >= 0.7", PAPER)):
            layers.append(
                {
                    "transform": [{"filter": condition}],
                    "mark": {**text, "fill": colour},
                    "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}},
                }
            )
    padding = {"left": 50.0, "right": 14.0, "top": 6.0, "bottom": 48.0}
    return base(padding, width=length, height=length, data={"values": rows}, layer=layers)


def trend_chart(trend: TrendRecord) -> Chart:
    """Return one series over all snapshots with its band."""
    rows = [
        {
            "order": index,
            "snapshot": words.shown(point.snapshot),
            "value": point.rate.value,
            "low": point.rate.low,
            "high": point.rate.high,
            "text": words.number(point.rate),
        }
        for index, point in enumerate(trend.points)
    ]
    return Chart(_line(rows, "wide"), _line(rows, "compact"), rows)


def _line(rows: list[dict[str, Any]], size: Size) -> Spec:
    wide = size == "wide"
    left, right = (60.0, 24.0) if wide else (52.0, 18.0)
    width = (WIDE if wide else COMPACT) - left - right
    everything = [row[key] for row in rows for key in ("value", "low", "high") if row[key] is not None]
    short = shorten_all([row["snapshot"] for row in rows], 14 if wide else 9)
    rows = [{**row, "short": name} for row, name in zip(rows, short, strict=True)]
    every = max(1, -(-len(rows) // (10 if wide else 4)))  # labels that fit
    labels = {row["order"]: row["short"] for row in rows if row["order"] % every == 0}
    x = {
        "field": "order",
        "type": "quantitative",
        "scale": {"domain": [-0.2, len(rows) - 0.8], "nice": False, "zero": False},
        "axis": {
            "title": None,
            "grid": False,
            "values": sorted(labels),
            "labelExpr": " : ".join([*(f"datum.value == {at} ? {_quoted(name)}" for at, name in labels.items()), "''"]),
        },
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, max(everything, default=0.01) or 0.01], "nice": True},
        "axis": {"title": None, "labelExpr": PERCENT_LABEL, "tickCount": 5, "grid": True},
    }
    has_band = "isValid(datum.low) && isValid(datum.high)"
    layers: list[Spec] = [
        {
            "transform": [{"filter": has_band}],
            "mark": {"type": "area", "fill": OBSERVED, "fillOpacity": 0.18},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "stroke": OBSERVED, "strokeWidth": 2},
            "encoding": {"x": x, "y": {**y, "field": "value"}},
        },
        {
            "mark": {"type": "point", "filled": True, "fill": OBSERVED, "stroke": PAPER, "size": 70, "opacity": 1},
            "encoding": {"x": x, "y": {**y, "field": "value"}},
        },
    ]
    if len(rows) <= (12 if wide else 5):
        layers.append(
            {
                "mark": {"type": "text", "dy": -12, "fontSize": 12, "fill": MUTED},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "value"},
                    "text": {"field": "text", "type": "nominal"},
                },
            }
        )
    padding = {"left": left, "right": right, "top": 16.0, "bottom": 34.0}
    return base(padding, width=width, height=170 if wide else 140, data={"values": rows}, layer=layers)


def _quoted(name: str) -> str:
    """Return text from data as a string of the chart's expression language, which is JSON's."""
    return json.dumps(name)
