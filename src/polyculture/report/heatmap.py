"""The chart of failure patterns: which models fail together, as a heat map under bars of frequency.

Columns are patterns, the most frequent first; rows are models. Nothing here converts to SVG or HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from polyculture.audit.records import Pattern
from polyculture.report import words
from polyculture.report.charts import Chart
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
    WIDE,
    Size,
    Spec,
    base,
)

__all__ = ["MOST_MODELS", "MOST_PATTERNS", "heat", "legend", "patterns_chart"]

MOST_PATTERNS = 30
MOST_MODELS = 40
PHONE_PATTERNS, PHONE_MODELS = 12, 20  # more cells than that are dust on a phone

_HEAT = (("10 % or more", 0.1), ("1 to 10 %", 0.01), ("less than 1 %", 0.0))


def heat(share: float) -> int:
    """Return the shade of a pattern: 0 for 10 % of individuals or more, 1 down to 1 %, 2 below."""
    return next(index for index, (_, least) in enumerate(_HEAT) if share >= least)


def legend(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return swatch and meaning of each kind of cell that the chart has; others need no words."""
    shades = {row["heat"] for row in rows if row["state"] == "failed"}
    states = {row["state"] for row in rows}
    found = [(f"heat{shade}", f"failed, pattern of {_HEAT[shade][0]}") for shade in sorted(shades)]
    kinds = (("not failed", "hollow", "did not fail"), ("not judged", "stroke", "did not judge"))
    return found + [(swatch, meaning) for state, swatch, meaning in kinds if state in states]


def patterns_chart(patterns: Sequence[Pattern], noun: str = "individuals") -> Chart:
    """Return the most frequent failure patterns as a heat map of models by patterns.

    Parameters
    ----------
    patterns : sequence of Pattern
        The most frequent first. The first 30 are drawn, the rest is summed in the note.
    noun : str
        What individuals are called, in the plural.

    Returns
    -------
    Chart
        Its rows are the cells: pattern, model, state ("failed", "not failed", "not judged") and the
        pattern's share and expected share.
    """
    drawn = patterns[:MOST_PATTERNS]
    failures: Counter[str] = Counter()
    for pattern in patterns:
        for name in pattern.judged:
            failures[name] += 0
        for name in pattern.failed:
            failures[name] += pattern.count
    models = [name for name, _ in failures.most_common(MOST_MODELS)]
    rows: list[dict[str, Any]] = [
        {
            "pattern": index + 1,
            "model": words.shown(name),
            "row": row,
            "state": _state(name, pattern),
            "heat": heat(pattern.share),
            "share": pattern.share,
            "expected": pattern.expected,
        }
        for index, pattern in enumerate(drawn)
        for row, name in enumerate(models)
    ]
    few = [row for row in rows if row["pattern"] <= PHONE_PATTERNS and row["row"] < PHONE_MODELS]
    return Chart(
        _draw(drawn, rows, models, "wide"),
        _draw(drawn[:PHONE_PATTERNS], few, models[:PHONE_MODELS], "compact"),
        rows,
        _note(patterns, len(models), len(failures), noun),
        _compact_note(len(drawn), len(models)),
    )


def _state(name: str, pattern: Pattern) -> str:
    if name in pattern.failed:
        return "failed"
    return "not failed" if name in pattern.judged else "not judged"


def _note(patterns: Sequence[Pattern], models: int, of_models: int, noun: str) -> str:
    parts = []
    rest = patterns[MOST_PATTERNS:]
    if rest:
        share = words.percent(sum(pattern.share for pattern in rest))
        parts.append(
            f"The chart shows the {MOST_PATTERNS} most frequent patterns; the other "
            f"{words.count(len(rest))} listed hold {share} of {words.shown(noun)}."
        )
    if models < of_models:
        parts.append(f"Of {words.count(of_models)} models it shows the {models} with the most failures.")
    return " ".join(parts)


def _compact_note(patterns: int, models: int) -> str:
    parts = [f"the first {PHONE_PATTERNS} patterns"] if patterns > PHONE_PATTERNS else []
    parts += [f"the first {PHONE_MODELS} models"] if models > PHONE_MODELS else []
    return f"This narrow screen shows {words.listed(parts)} of them." if parts else ""


def _draw(patterns: Sequence[Pattern], rows: list[dict[str, Any]], models: list[str], size: Size) -> Spec:
    wide = size == "wide"
    # Names beside the cells, or the axis of the bars, whichever is wider.
    short = shorten_all([words.shown(name) for name in models], 24 if wide else 16)
    left = max(50.0, 20 + LABEL_CHARACTER * max(len(name) for name in short))
    most = (WIDE if wide else COMPACT) - left - 16
    column = min(60.0 if wide else 34.0, most / max(1, len(patterns)))
    line = 26 if len(models) <= 12 else 17
    x: Spec = {
        "field": "pattern",
        "type": "ordinal",
        "scale": {"type": "band", "padding": 0},
        "axis": None,
    }
    bars = [
        {
            "pattern": index + 1,
            "share": pattern.share,
            "expected": pattern.expected,
            "text": words.percent(pattern.share),
        }
        for index, pattern in enumerate(patterns)
    ]
    names = [{"row": row, "model": name} for row, name in enumerate(short)]
    width = column * len(patterns)
    return base(
        4,
        vconcat=[
            _bars(bars, x, width, column, size),
            _cells(rows, names, x, (width, len(models) * line), min(column, line) - 5),
        ],
        autosize={"type": "pad"},
    )


def _bars(rows: list[dict[str, Any]], x: Spec, width: float, column: float, size: Size) -> Spec:
    y = {
        "type": "quantitative",
        "scale": {"domainMin": 0, "nice": True},
        "axis": {"labelExpr": PERCENT_LABEL, "tickCount": 4, "title": None},
    }
    expected = {"x": x, "y": {**y, "field": "expected"}}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "fill": OBSERVED, "width": max(2, column * 0.62)},
            "encoding": {"x": x, "y": {**y, "field": "share"}},
        },
        {"mark": {"type": "tick", "thickness": 6, "size": column * 0.8, "color": PAPER}, "encoding": expected},
        {"mark": {"type": "tick", "thickness": 2.5, "size": column * 0.8, "color": EXPECTED}, "encoding": expected},
    ]
    if size == "wide" and column >= 44:
        layers.append(
            {
                "transform": [{"calculate": "max(datum.share, datum.expected)", "as": "top"}],
                "mark": {"type": "text", "baseline": "bottom", "dy": -5, "fontSize": 12},
                "encoding": {"x": x, "y": {**y, "field": "top"}, "text": {"field": "text"}},
            }
        )
    return {"width": width, "height": 130, "data": {"values": rows}, "layer": layers}


def _cells(
    rows: list[dict[str, Any]], names: list[dict[str, Any]], x: Spec, size: tuple[float, float], side: float
) -> Spec:
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": {"type": "band", "padding": 0}}
    square = {"type": "point", "shape": "square", "opacity": 1, "size": side * side}
    return {
        "width": size[0],
        "height": size[1],
        "layer": [
            *(
                {
                    "data": {"values": [row for row in rows if row["state"] == "failed" and row["heat"] == shade]},
                    "mark": {**square, "filled": True, "fill": f"var(--heat-{shade})", "stroke": None},
                    "encoding": {"x": x, "y": y},
                }
                for shade in range(len(_HEAT))
            ),
            {
                "data": {"values": [row for row in rows if row["state"] == "not failed"]},
                "mark": {**square, "filled": False, "stroke": MUTED, "strokeWidth": 1, "size": side * side * 0.45},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": [row for row in rows if row["state"] == "not judged"]},
                "mark": {**square, "shape": "stroke", "filled": False, "stroke": MUTED, "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": names},
                "mark": {
                    "type": "text",
                    "align": "right",
                    "baseline": "middle",
                    "limit": 180,
                    "fill": INK,
                },
                "encoding": {"x": {"value": -12}, "y": y, "text": {"field": "model"}},
            },
        ],
    }
