"""The charts of a report: each function returns a specification for either size and the rows it draws.

Rows are what the record says, so tests check data and not pixels. Nothing here converts to SVG or HTML.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from polyculture.audit.records import GapRecord, GroupRecord, ModelRecord, ProfileRow, Statistic
from polyculture.report import words
from polyculture.report.vega import (
    COMPACT,
    EXPECTED,
    INK,
    MUTED,
    OBSERVED,
    PAPER,
    PERCENT_LABEL,
    POINTS_LABEL,
    RULE,
    WIDE,
    Size,
    Spec,
    base,
)

__all__ = ["Chart", "gaps_chart", "groups_chart", "models_chart", "profile_chart"]

Row = dict[str, Any]

MOST_ROWS = 40  # an interval plot with more rows is no picture; the table beneath has them all
LONGEST_LABEL = 24  # characters; the table beneath has the whole name
MOST_BARS = 12  # a profile with more rows is drawn as columns


class Chart(NamedTuple):
    """One chart: the same rows drawn for a page and for a phone, and what was left out of the picture."""

    wide: Spec
    compact: Spec
    rows: list[Row]
    note: str = ""


def profile_chart(profile: Sequence[ProfileRow]) -> Chart:
    """Return the failure outcome profile of one number of judgements: observed against expected.

    Parameters
    ----------
    profile : sequence of ProfileRow
        All rows with the same ``judged``.
    """
    k = profile[0].judged
    rows = [
        _row(index, _failures(row.failed, k), row.observed, "percent", row.expected, failed=row.failed)
        for index, row in enumerate(profile)
    ]
    title = "share of individuals"
    if len(rows) > MOST_BARS:
        return Chart(_columns(rows, k, "wide"), _columns(rows, k, "compact"), rows)
    return Chart(
        _intervals(rows, "wide", title=title, bars=True), _intervals(rows, "compact", title=title, bars=True), rows
    )


def _failures(failed: int, k: int) -> str:
    if failed == 0:
        return "no model failed"
    if k == 1:
        return "the model failed"
    return f"all {k} failed" if failed == k else f"{failed} of {k} failed"


def models_chart(models: Sequence[ModelRecord]) -> Chart:
    """Return the models' failure rates with their intervals, the highest first."""
    ordered = sorted(models, key=lambda model: -(model.failure_rate.value or 0))
    shown = ordered[:MOST_ROWS]
    rows = [_row(index, model.name, model.failure_rate, "percent") for index, model in enumerate(shown)]
    title = "failure rate"
    return Chart(
        _intervals(rows, "wide", title=title),
        _intervals(rows, "compact", title=title),
        rows,
        _left_out(len(shown), len(models), "models with the highest rates"),
    )


def groups_chart(groups: Sequence[GroupRecord]) -> Chart | None:
    """Return systemic failure by group with its interval, beside what each group's own rates expect.

    Groups that are too few have no figures and are left to the table. None where no group has any.
    """
    reported = [group for group in groups if group.systemic_failure is not None]
    largest = sorted(reported, key=lambda group: -group.individuals)[:MOST_ROWS]
    kept = [group for group in reported if any(group is other for other in largest)]
    rows = [
        _row(
            index,
            words.by_words(group.by),
            group.systemic_failure.observed,
            "percent",
            group.systemic_failure.expected,
            status=group.status,
        )
        for index, group in enumerate(kept)
        if group.systemic_failure is not None
    ]
    if not rows:
        return None
    title = "share failed by all their models"
    return Chart(
        _intervals(rows, "wide", title=title),
        _intervals(rows, "compact", title=title),
        rows,
        _left_out(len(rows), len(reported), "largest groups"),
    )


def gaps_chart(gap: GapRecord) -> Chart:
    """Return each model's gap in failure rate between the groups of a column, and the gap of systemic failure.

    The expected mark on the last row is the gap that such groups show when nothing differs.
    """
    ordered = sorted(gap.models, key=lambda model: -(model.failure_rate_difference.value or 0))[:MOST_ROWS]
    rows = [
        _row(index, model.name, model.failure_rate_difference, "gap", kind="model")
        for index, model in enumerate(ordered)
    ]
    rows.append(
        _row(
            len(rows),
            "failed by all models",
            gap.systemic_failure_difference,
            "gap",
            gap.expected_with_no_difference,
            kind="systemic",
        )
    )
    title = "largest minus smallest rate over the groups, in percentage points"
    return Chart(
        _intervals(rows, "wide", title=title, label=POINTS_LABEL),
        _intervals(rows, "compact", title="largest minus smallest rate, in points", label=POINTS_LABEL),
        rows,
        _left_out(len(ordered), len(gap.models), "models with the largest gaps"),
    )


def _left_out(drawn: int, total: int, which: str) -> str:
    return f"The chart shows the {drawn} {which} of {words.count(total)}; the table has all." if drawn < total else ""


def _row(
    order: int, label: str, value: Statistic, kind_of_number: str, expected: float | None = None, **more: Any
) -> Row:
    """Return what is drawn of one statistic; an undefined number is a row with its reason and no mark."""
    text = words.number(value, kind_of_number)
    ends = words.interval(value, kind_of_number)
    return {
        "order": order,
        "label": words.shown(label),
        "short": words.shorten(words.shown(label), LONGEST_LABEL),
        "value": value.value,
        "low": value.low,
        "high": None if value.high is not None and math.isinf(value.high) else value.high,
        "expected": expected,
        "text": text,
        "interval": ends,
        "both": f"{text} ({ends})" if ends else text,
        **more,
    }


def _intervals(rows: list[Row], size: Size, *, title: str, bars: bool = False, label: str = PERCENT_LABEL) -> Spec:
    """Return rows of label, mark with interval, expected tick, and the number in words."""
    wide = size == "wide"
    step, down = (34, 0) if wide else (50, 11)
    longest = max(len(row["short"]) for row in rows)
    left, right = (24 + 7.2 * longest, 150.0) if wide else (6.0, 16.0)
    width = (WIDE if wide else COMPACT) - left - right
    everything = [row[key] for row in rows for key in ("value", "low", "high", "expected") if row[key] is not None]
    domain = [min([0.0, *everything]), max([0.0, *everything]) or 0.01]
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
    return base(
        width,
        len(rows) * step,
        {"left": left, "right": right, "top": 2, "bottom": 46},
        data={"values": rows},
        layer=[*marks, *_texts(layer, width, size)],
    )


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
            {"type": "text", "align": "left", "baseline": "middle", "limit": 150, "yOffset": -10},
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


def _columns(rows: list[Row], k: int, size: Size) -> Spec:
    """Return a long profile as columns, with what is expected as a stepped line."""
    wide = size == "wide"
    left = 60.0 if wide else 50.0
    width = (WIDE if wide else COMPACT) - left - 14
    everything = [row[key] for row in rows for key in ("high", "value", "expected") if row[key] is not None]
    top = max(everything, default=0.01) or 0.01
    x = {
        "type": "quantitative",
        "scale": {"domain": [-0.5, k + 0.5], "nice": False},
        "axis": {"title": "number of models that failed the individual", "grid": False, "tickCount": 8, "format": "d"},
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
    return base(width, 260, {"left": left, "right": 14, "top": 8, "bottom": 46}, data={"values": rows}, layer=layers)
