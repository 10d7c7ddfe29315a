"""A small line with its band, for a cell of a table: numbers in, SVG out, in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

__all__ = ["axis_of", "sparkline"]

WIDTH, HEIGHT, EDGE = 132, 36, 3

Values = Sequence[float | None]


def axis_of(lines: Sequence[Values], least: float | None = None, most: float | None = None) -> tuple[float, float]:
    """Return the ends of an axis that several lines share: their range, and half of it more on either side.

    Parameters
    ----------
    lines : sequence of sequence of float or None
        Their values.
    least, most : float, optional
        Between which every value lies by its nature.

    Examples
    --------
    >>> axis_of([[0.5, 0.7], [None, 0.9]], 0.0, 1.0), axis_of([[2.0, 2.0]]), axis_of([[None]])
    ((0.3, 1.0), (1.0, 3.0), (0.0, 1.0))
    """
    known = [value for line in lines for value in line if value is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    more = 0.5 * (high - low) or 0.5 * abs(high) or 0.5
    ends = round(low - more, 10), round(high + more, 10)
    return (
        ends[0] if least is None else max(ends[0], least),
        ends[1] if most is None else min(ends[1], most),
    )


def sparkline(values: Values, low: Values, high: Values, axis: tuple[float, float], said: str) -> Markup:
    """Return a line over the generations, with its band where there is one; both are cut at the axis.

    Parameters
    ----------
    values, low, high : sequence of float or None
        One a generation; where a value is None the line is broken.
    axis : tuple of float
        Its ends.
    said : str
        What it shows, for those who do not see it.
    """
    across = (WIDTH - 2 * EDGE) / max(len(values) - 1, 1)
    span = (axis[1] - axis[0]) or 1.0

    def at(number: int, value: float) -> str:
        share = (min(max(value, axis[0]), axis[1]) - axis[0]) / span
        return f"{EDGE + number * across:.1f},{HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE):.1f}"

    parts = []
    bands = zip(values, low, high, strict=True)
    for there, run in groupby(enumerate(bands), lambda one: None not in one[1]):
        own = list(run)
        if there and len(own) > 1:
            ends = [at(n, top) for n, (_, _, top) in own if top is not None]
            ends += [at(n, bottom) for n, (_, bottom, _) in reversed(own) if bottom is not None]
            parts.append(f'<polygon points="{" ".join(ends)}"/>')
    for there, points in groupby(enumerate(values), lambda one: one[1] is not None):
        line = [at(number, value) for number, value in points if value is not None]
        if there:
            parts.append(f'<polyline points="{" ".join(line)}"/>')
            x, _, y = line[-1].partition(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="2"/>')
    inner = Markup("").join(Markup(part) for part in parts)  # noqa: S704 (numbers only)
    return Markup('<svg class="spark" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        said, WIDTH, HEIGHT, inner
    )
