"""What all charts share: the look of a Vega-Lite specification, and its conversion to SVG by vl-convert.

Specifications are plain dictionaries: importing altair to build the same would cost .3 s of every audit.
``altair.Chart.from_dict(spec)`` takes each of them. Colours are CSS variables of the page, so that one
SVG serves light, dark and print.
"""

from __future__ import annotations

import re
from threading import Thread
from typing import Any, Literal

__all__ = ["Size", "Spec", "base", "svg", "warm_up"]

Spec = dict[str, Any]
Size = Literal["wide", "compact"]

WIDE, COMPACT = 840.0, 350.0  # pixels: the width of the page's column, and of a phone
LABEL_CHARACTER = 7.9  # pixels of a character of a label in a wide font, on average

INK, MUTED, RULE = "var(--ink)", "var(--muted)", "var(--rule)"
OBSERVED, EXPECTED = "var(--observed)", "var(--expected)"
PAPER = "var(--paper)"

PERCENT_LABEL = "format(datum.value * 100, '~g') + ' %'"
NUMBER_LABEL = "format(datum.value, '~g')"
POINTS_LABEL = "format(datum.value * 100, '~g')"


def base(padding: dict[str, float] | int, **rest: Any) -> Spec:
    """Return a specification with the common look; sizes are pixels, and nothing is fitted to text."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "padding": padding,
        "autosize": "none",
        "config": _config(),
        **rest,
    }


def _config() -> Spec:
    return {
        "aria": False,
        "background": "transparent",
        "view": {"stroke": None},
        "mark": {"opacity": 1},
        "tick": {"opacity": 1},
        "concat": {"spacing": 10},
        "axis": {
            "labelColor": MUTED,
            "titleColor": MUTED,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titlePadding": 8,
            "gridColor": RULE,
            "domainColor": MUTED,
            "tickColor": RULE,
            "domain": False,
            "ticks": False,
        },
        "text": {"fill": INK, "fontSize": 13},
    }


def warm_up() -> Thread:
    """Start the renderer in the background: its start costs half a second, while files are still read.

    Returns
    -------
    Thread
        A daemon thread; nobody has to wait for it, and `svg` works with or without it.
    """

    def start() -> None:
        import vl_convert

        vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "bar"}, vl_version="6.1")

    thread = Thread(target=start, name="polyculture-charts", daemon=True)
    thread.start()
    return thread


def svg(spec: Spec) -> str:
    """Return the chart as an ``<svg>`` element without size, font or name of its own.

    The page gives them: the element scales to its container, its text takes the page's font. Text from
    data was escaped by vl-convert.
    """
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(spec, vl_version="6.1")
    text = re.sub(r' font-family="[^"]*"', "", text)
    text = re.sub(r' (?:role|aria-[a-z]+|pointer-events)="[^"]*"', "", text)
    text = re.sub(r'<path class="(?:back|fore)ground"[^>]*/>', "", text)
    text = re.sub(r' class="[^"]*"', "", text)
    text = re.sub(r'<rect[^>]*fill="transparent"[^>]*/>', "", text)
    opening = re.match(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', text)
    if opening is None:
        raise ValueError("vl-convert gave no SVG with a viewBox")
    width = opening[1].split()[2]
    return f'<svg viewBox="{opening[1]}" style="max-width:{width}px">{text[opening.end() :]}'
