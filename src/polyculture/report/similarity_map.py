"""The heat map of error consistency between models, with the tree that orders them, as SVG of our own.

A cell of hundreds of models is too small for a chart library's marks: cells of one shade are one path, with
neighbours in a row joined. Numbers come from the record; only places on the page are computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from polyculture.audit.records import CollectionRecord, Merge, PairRecord
from polyculture.report import words
from polyculture.report.texts import shorten_all
from polyculture.report.vega import COMPACT, WIDE

__all__ = ["SHADES", "Map", "shade", "similarity_map"]

SHADES = ("below 0", "0 to .2", ".2 to .4", ".4 to .6", ".6 to .8", ".8 or more", "undefined")
_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8)
_UNDEFINED = len(SHADES) - 1
_LETTER = 7.2  # pixels of a letter of a label in a wide font
_SMALLEST_LABEL = 9.5  # rows lower than this have no names


class Map(NamedTuple):
    """The map in both sizes, the rows that it draws (for tests), and whether names stand beside it."""

    wide: Markup
    compact: Markup
    cells: list[list[int]]
    named: bool
    named_compact: bool


def shade(kappa: float | None) -> int:
    """Return the index into SHADES of an error consistency; None is undefined.

    >>> shade(-0.1), shade(0.0), shade(0.79), shade(1.0), shade(None)
    (0, 1, 4, 5, 6)
    """
    return _UNDEFINED if kappa is None else sum(kappa >= edge for edge in _EDGES)


def similarity_map(collection: CollectionRecord, pairs: Sequence[PairRecord], name: str) -> Map | None:
    """Return the map of all models in the order of the tree; None without pairs.

    Parameters
    ----------
    collection : CollectionRecord
        The order and the tree.
    pairs : sequence of PairRecord
        Every pair.
    name : str
        The figure's name: the caption ``NAME-caption`` names the picture.
    """
    if not pairs or len(collection.order) < 3:
        return None
    known = {pair.models: shade(pair.kappa.value) for pair in pairs}
    cells = [[_of(known, one, other) for other in collection.order] for one in collection.order]
    drawn = [_draw(collection, cells, name, width) for width in (WIDE, COMPACT)]
    return Map(drawn[0][0], drawn[1][0], cells, drawn[0][1], drawn[1][1])


def _of(known: Mapping[tuple[str, str], int], one: str, other: str) -> int:
    if one == other:
        return -1
    return known.get((one, other), known.get((other, one), _UNDEFINED))


def _draw(collection: CollectionRecord, cells: list[list[int]], name: str, width: float) -> tuple[Markup, bool]:
    k = len(cells)
    tree = 0.16 * width
    labels = shorten_all([words.shown(model) for model in collection.order], 26 if width == WIDE else 15)
    left = 8 + _LETTER * max(len(label) for label in labels)
    side = min(26.0, (width - left - tree) / k)
    named = side >= _SMALLEST_LABEL
    if not named:
        left, side = 0.0, min(26.0, (width - tree) / k)
    height = side * k
    parts = [
        f'<svg role="img" aria-labelledby="{name}-caption" viewBox="0 0 {width:g} {height:.1f}" '
        f'style="max-width:{width:g}px">',
        *(_cells(cells, index, left, side) for index in range(len(SHADES))),
        _tree(collection.merges, k, left + height + 4, side, tree - 8),
    ]
    if named:
        size = min(12.0, side * 0.85)
        parts += [
            f'<text x="{left - 6:.1f}" y="{(row + 0.5) * side:.1f}" dy=".35em" text-anchor="end" '
            f'font-size="{size:.1f}" fill="var(--ink)">{escape(label)}</text>'
            for row, label in enumerate(labels)
        ]
    return Markup("".join([*parts, "</svg>"])), named  # noqa: S704 - labels are escaped


def _cells(cells: list[list[int]], index: int, left: float, side: float) -> str:
    """Return all cells of one shade as one path, neighbours in a row joined."""
    gap = 0.6 if side >= 6 else 0.0
    steps = []
    for row, values in enumerate(cells):
        start = None
        for column, value in enumerate([*values, None]):
            inside = value == index
            if inside and start is None:
                start = column
            if start is not None and (not inside or gap):
                end = column if not inside else column + 1
                x, y, length = left + start * side, row * side, (end - start) * side - gap
                steps.append(f"M{x:.1f} {y:.1f}h{length:.1f}v{side - gap:.1f}h-{length:.1f}z")
                start = None
    return f'<path class="kappa{index}" d="{"".join(steps)}"/>' if steps else ""


def _tree(merges: Sequence[Merge], k: int, left: float, side: float, width: float) -> str:
    """Return the tree: leaves at the cells' edge, a branch the further right the less alike."""
    highest = max((merge.height for merge in merges), default=0.0) or 1.0
    where = [((row + 0.5) * side, 0.0) for row in range(k)]
    steps = []
    for merge in merges:
        (one, near), (other, far) = where[merge.left], where[merge.right]
        x = merge.height / highest * width
        steps.append(f"M{left + near:.1f} {one:.1f}H{left + x:.1f}V{other:.1f}H{left + far:.1f}")
        where.append(((one + other) / 2, x))
    return f'<path d="{"".join(steps)}" fill="none" stroke="var(--muted)" stroke-width="{1.2 if side >= 4 else 0.6}"/>'
