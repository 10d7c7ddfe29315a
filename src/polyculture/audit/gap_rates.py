"""Failure, selection, true and false positive rates of every model in every group, with joint limits.

A selection is read off failure and label: an individual with a positive label who is not failed was selected,
one with a negative label who is failed was selected too. Where failure is a decision, whoever got an answer and is
not failed was selected. Gaps are made of these rates in `gaps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import Design, design_limits, flag_design
from polyculture.audit.sums import ratio, sums_by_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.partition import Group
    from polyculture.audit.rows import Rows
    from polyculture.audit.view import View

FAILURE, SELECTION, TRUE_POSITIVE, FALSE_POSITIVE = "failure", "selection", "true positive", "false positive"


@dataclass(frozen=True)
class Rates:
    """Rates of m models in G groups; all arrays (G, m).

    Limits hold for all groups together, but for two groups where the gap is their difference. ``events`` are counts
    where individuals are plain.
    """

    share: NDArray[np.float64]
    base: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    events: NDArray[np.int64] | None = None


def group_rates(everyone: View, groups: Sequence[Group]) -> dict[str, Rates]:
    """Return the rates that gaps are made of.

    Parameters
    ----------
    everyone : View
        All individuals.
    groups : sequence of Group
        At least one.

    Returns
    -------
    dict of str to Rates
        "failure"; "selection" where labels are two-valued or failure is a decision; "true positive" and "false
        positive" where labels are two-valued. Answers that were not given count as failures where the audit counts
        them so, and never as a selection or its absence. Two groups have limits each by itself, more have joint ones.
    """
    from polyculture.stats.multiplicity import sidak_level

    flags = _Flags(everyone)
    # The gap of two groups is their difference, which combines the plain limits of both.
    level = 0.95 if len(groups) == 2 else sidak_level(len(groups))
    # Equalized odds look at two rates in each group.
    twice = sidak_level(2 * len(groups))
    found = {FAILURE: _rates(flags, FAILURE, groups, level)}
    if everyone.tally.selection:
        found[SELECTION] = _rates(flags, SELECTION, groups, level)
    if everyone.tally.binary_labels:
        found[TRUE_POSITIVE] = _rates(flags, TRUE_POSITIVE, groups, twice)
        found[FALSE_POSITIVE] = _rates(flags, FALSE_POSITIVE, groups, twice)
    return found


class _Flags:
    """Which individuals count for a rate, and which of them show it, by pattern and model."""

    def __init__(self, everyone: View) -> None:
        self.everyone = everyone
        self.rows: Rows = everyone.rows
        self._sums: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def of(self, rate: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (events, base), each (P, k) bool."""
        tally = self.everyone.tally
        patterns = tally.patterns
        if rate == FAILURE:
            return patterns.failed, patterns.judged
        if rate == SELECTION and not tally.binary_labels:
            answered = patterns.judged & ~patterns.no_answer
            return answered & ~patterns.failed, answered
        positive = (patterns.label_class == 1)[:, None]
        wanted = {
            SELECTION: patterns.label_class >= 0,
            TRUE_POSITIVE: patterns.label_class == 1,
            FALSE_POSITIVE: patterns.label_class == 0,
        }[rate]
        base = patterns.judged & ~patterns.no_answer & wanted[:, None]
        return base & (positive ^ patterns.failed), base

    def by_cell(self, rate: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (events, base) counted by cell, each (C, k); only where individuals are plain."""
        tally = self.everyone.tally
        if rate == FAILURE:
            table = tally.model_table()
            return table.failed, table.judged
        if rate == SELECTION and not tally.binary_labels:
            table = tally.model_table()
            silent = table.no_answer if tally.no_answer_policy == "failed" else 0
            return table.judged - table.failed, table.judged - silent
        if rate == SELECTION:
            positive, negative = self.by_cell(TRUE_POSITIVE), self.by_cell(FALSE_POSITIVE)
            return positive[0] + negative[0], positive[1] + negative[1]
        if rate not in self._sums:
            events, base = self.of(rate)
            label = 1 if rate == TRUE_POSITIVE else 0
            key = np.where(tally.patterns.label_class == label, tally.patterns.cell, -1)
            self._sums[rate] = tuple(  # type: ignore[assignment]
                np.rint(sums_by_key(flags, self.rows.weight, key, len(tally.cells))).astype(np.int64)
                for flags in (events, base)
            )
        return self._sums[rate]


def _rates(flags: _Flags, rate: str, groups: Sequence[Group], level: float) -> Rates:
    if flags.rows.plain:
        events, base = flags.by_cell(rate)
        shown = np.stack([events[list(group.cells)].sum(axis=0) for group in groups])
        total = np.stack([base[list(group.cells)].sum(axis=0) for group in groups])
        design = Design(ratio(shown, total), total.astype(np.float64))
        return Rates(design.share, total, *design_limits(design, total, level=level), shown)
    all_events, all_base = flags.of(rate)
    parts = []
    for group in groups:
        at = flags.everyone.positions(group.cells)
        ours = flags.rows.take(at)
        total = np.rint(ours.count @ all_base[at]).astype(np.int64)
        design = flag_design(all_events[at], all_base[at], ours)
        parts.append((design.share, total, *design_limits(design, total, level=level)))
    return Rates(*(np.stack(column) for column in zip(*parts, strict=True)))
