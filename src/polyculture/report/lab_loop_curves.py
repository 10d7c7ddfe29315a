"""Every measure of a loop over the generations, as rows of small lines with their bands: an arm a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from polyculture.audit.statistic import Statistic
from polyculture.lab.loops.records import CurveRecord, LoopRecord
from polyculture.report import words
from polyculture.report.sparklines import axis_of, sparkline

__all__ = ["CurveRow", "CurveTable", "curve_tables"]

FAMILIES = (
    ("Decisions on real people", ("accuracy", "accuracy_difference", "worst_group_accuracy",
     "demographic_parity_difference", "demographic_parity_ratio", "equalized_odds_difference", "equalized_odds_ratio",
     "selection_rate", "largest_class"), False),
    ("The same by group", ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate",
     "systemic_failure"), True),
    ("Generated people", ("class_share", "annotated_share", "group_share"), True),
    ("Generated people against the ideal and the original", ("divergence", "trained_divergence", "frechet", "mmd",
     "precision", "recall"), False),
    ("Strata of generated people and of those trained on", ("stratum_share", "trained_share"), True),
    ("Several decision-makers", ("systemic_failure", "expected", "homogenization", "group_homogenization"), False),
)  # fmt: skip
"""Heading, measures, and whether they are of a class, a group or a stratum each."""
MOST_OF = 12
"""Groups, classes or strata of a measure that are shown, at most; all of them are in the tables."""
OTHER_TITLES = {
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
    "class_share": "share of the class",
    "annotated_share": "share of the class by the annotator",
    "group_share": "share of the group",
    "stratum_share": "share among generated people",
    "trained_share": "share of those trained on",
}


class CurveRow(NamedTuple):
    """One measure: its name, whose it is, the ends of the axis in words, and a cell an arm."""

    title: str
    of: str
    axis: str
    cells: list[tuple[Markup | None, str]]


class CurveTable(NamedTuple):
    """One family of measures."""

    heading: str
    rows: list[CurveRow]
    left_out: int


def curve_tables(record: LoopRecord, titles: Mapping[str, str], kinds: Mapping[str, str]) -> list[CurveTable]:
    """Return every measure over the generations, family by family.

    Parameters
    ----------
    record : LoopRecord
        The loop.
    titles : mapping
        Measure -> what it is called.
    kinds : mapping
        Unit -> how numbers of it are shown.
    """
    by = {(one.measure, one.of, one.arm): one for one in record.curves}
    found = []
    for heading, measures, each in FAMILIES:
        there = list(dict.fromkeys((one.measure, one.of) for one in record.curves))
        names = [(measure, of) for wanted in measures for measure, of in there
                 if measure == wanted and (of is not None) == each]  # fmt: skip
        shown, left_out = _first(names)
        rows = [
            _row([by.get((measure, of, arm)) for arm in record.arms], measure, of, record, titles, kinds)
            for measure, of in shown
        ]
        if rows:
            found.append(CurveTable(heading, rows, left_out))
    return found


def _first(names: list[tuple[str, str | None]]) -> tuple[list[tuple[str, str | None]], int]:
    """Return the first so many of each measure, and how many are left out."""
    shown = [
        name
        for place, name in enumerate(names)
        if sum(other[0] == name[0] for other in names[:place]) < MOST_OF
    ]  # fmt: skip
    return shown, len(names) - len(shown)


def _row(  # noqa: PLR0917 (what a row is made of)
    curves: list[CurveRecord | None],
    measure: str,
    of: str | None,
    record: LoopRecord,
    titles: Mapping[str, str],
    kinds: Mapping[str, str],
) -> CurveRow:
    kind = kinds[record.units[measure]]
    least, most = (0.0, 1.0) if kind in {"percent", "gap"} or measure.endswith("_ratio") else (None, None)
    axis = axis_of([one.value for one in curves if one is not None], least, most)
    title = titles.get(measure) or OTHER_TITLES.get(measure, measure)
    if of is not None:
        title = OTHER_TITLES.get(measure, title)
    return CurveRow(title, of or "", _said(*axis, kind), [_cell(one, axis, kind, title) for one in curves])


def _cell(curve: CurveRecord | None, axis: tuple[float, float], kind: str, title: str) -> tuple[Markup | None, str]:
    known = [value for value in curve.value if value is not None] if curve is not None else []
    if curve is None or not known:
        return None, "undefined"
    said = _said(known[0], known[-1], kind)
    return sparkline(curve.value, curve.low, curve.high, axis, f"{title}: {said}"), said


def _said(first: float, last: float, kind: str) -> str:
    """Return two numbers in words, their unit once."""
    one, other = (words.number(Statistic(value=value), kind) for value in (first, last))
    for unit in (" points", " point"):
        one = one.removesuffix(unit)
    return f"{one} to {other}"
