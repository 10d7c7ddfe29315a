"""Who is generated in a feedback loop, for its page: strata over the generations, and pictures of sampled images."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from polyculture.lab.loops.sampled import spread
from polyculture.report import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.lab.loops.records import LoopRecord, SampledRecord

__all__ = ["Strata", "Strips", "strata_tables", "strips"]

MOST_COLUMNS = 8
DARKEST = 45
"""Percent of the colour behind the highest share."""


class Cell(NamedTuple):
    """A share as it is written, and how much of the colour stands behind it, in percent."""

    text: str
    shade: int


class Row(NamedTuple):
    """One stratum of one arm over the generations that are shown, and its ideal share."""

    name: str
    cells: Sequence[Cell]
    ideal: str


class Strata(NamedTuple):
    """The strata of one arm."""

    arm: str
    generations: Sequence[int]
    rows: Sequence[Row]


class Strips(NamedTuple):
    """The pictures of one arm."""

    arm: str
    pictures: Sequence[SampledRecord]


def strata_tables(record: LoopRecord) -> list[Strata]:
    """Return a table an arm: the mean share of each stratum among generated people, by generation."""
    shown = spread(record.plan.generations, MOST_COLUMNS)
    curves = {(one.arm, one.of): one.value for one in record.curves if one.measure == "stratum_share"}
    highest = max((value for own in curves.values() for value in own if value is not None), default=1.0) or 1.0
    found = []
    for arm in record.arms:
        rows = []
        for stratum in record.strata:
            values = curves.get((arm, f"{stratum.target}, {stratum.group}"))
            if values is None:
                continue
            cells = [_cell(values[number], highest) for number in shown]
            ideal = "" if stratum.ideal is None else words.percent(stratum.ideal)
            rows.append(Row(f"{stratum.target}, {stratum.group}", cells, ideal))
        if rows:
            found.append(Strata(arm, shown, rows))
    return found


def _cell(value: float | None, highest: float) -> Cell:
    if value is None:
        return Cell("", 0)
    return Cell(words.percent(value), round(DARKEST * value / highest))


def strips(record: LoopRecord) -> list[Strips]:
    """Return the pictures of each arm that has some."""
    by_arm = [Strips(arm, [one for one in record.sampled if one.arm == arm]) for arm in record.arms]
    return [one for one in by_arm if one.pictures]
