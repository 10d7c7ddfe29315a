"""Other ways to use the models at hand: random assignment, and appeal to a second model with the errors that adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.portfolio_choice import AppealRecord
from polyculture.audit.portfolio_people import NOBODY, Share
from polyculture.audit.records import undefined
from polyculture.stats.halves import half_counts, half_weights
from polyculture.stats.portfolio.losses import Family, Loss, set_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from polyculture.audit.portfolio_people import People
    from polyculture.audit.statistic import Statistic
    from polyculture.failure import FailureRule

    Floats = NDArray[np.float64]

MOST_APPEALS = 12
NO_LABELS = "no label of two values is known, so that who is let through wrongly is not known either"


@dataclass(frozen=True)
class Direction:
    """Whom an appeal may help and whom it may let through: rows, (P,) bool, and what they are in words.

    ``wrong_when_failed`` says whether, among those who should be rejected, a failure flag is the wrong decision
    (an acceptance) or the rejection itself. ``rejected`` is None where that is not known.
    """

    helped: NDArray[np.bool_]
    rejected: NDArray[np.bool_] | None
    wrong_when_failed: bool
    note: str
    reason: str = ""


def direction(people: People, rule: FailureRule | None, selection: str) -> Direction:
    """Say whom an appeal is for, from the failure rule and the labels.

    Parameters
    ----------
    people : People
        The individuals.
    rule : FailureRule or None
        None where it is a condition over columns.
    selection : str
        What counts as selected, as the Tally has it.
    """
    everyone = np.ones(len(people.label), dtype=np.bool_)
    labelled = bool((people.label >= 0).any())
    who = "An appeal is open to everyone whom the first model fails; it fails those whom the second model fails too."
    if rule is not None and rule.kind == "misclassified" and labelled:
        note = (
            f"An appeal is open to those not {selection} by the first model; who is selected by the second one is "
            "selected. It helps those with that label, and lets through some without it (false positives)."
        )
        return Direction(people.label == 1, people.label == 0, wrong_when_failed=True, note=note)
    if rule is not None and rule.kind == "decision" and labelled:
        # The label called positive may be the one that the rule calls a failure.
        value = 1 if selection in {f"predicted {rule.argument!r}", f"predicted {rule.argument}"} else 0
        note = f"{who} False positives are those whose label is {rule.argument!r} and who are let through."
        return Direction(everyone, people.label == value, wrong_when_failed=False, note=note)
    if rule is not None and rule.kind in {"false-negative", "false-positive"}:
        reason = "the failure rule judges one label only, and an appeal adds errors on the other"
        return Direction(everyone, None, wrong_when_failed=False, note=who, reason=reason)
    return Direction(everyone, None, wrong_when_failed=False, note=who, reason=NO_LABELS)


def assigned_at_random(people: People, candidates: Sequence[int], decisions: int, least: int) -> tuple[Floats, Floats]:
    """Return the chance to be failed by all of so many decisions, each by a candidate drawn anew, and who counts."""
    places = list(candidates)
    judged = people.rows.judged[:, places].sum(axis=1, dtype=np.int64)
    failed = people.rows.failed[:, places].sum(axis=1, dtype=np.int64)
    counted = (judged >= least).astype(np.float64)
    return np.where(judged > 0, failed / np.maximum(judged, 1), 0.0) ** decisions * counted, counted


def appeals(
    people: People,
    firsts: Sequence[int],
    candidates: Sequence[int],
    *,
    way: Direction,
    generator: Generator,
    splits: int,
) -> tuple[AppealRecord, ...]:
    """Find for each first model the second one that leaves the fewest failures, with held-out figures.

    Parameters
    ----------
    people : People
        The individuals.
    firsts : sequence of int
        First models; the 12 with the lowest failure rates are listed.
    candidates : sequence of int
        Second models.
    way : Direction
        Whom an appeal may help and let through.
    generator : numpy.random.Generator
        Source of the halves.
    splits : int
        Random halvings.
    """
    rows = people.rows
    listed = sorted(firsts, key=lambda one: (people.rates[one], one))[:MOST_APPEALS]
    drawn = [half_counts(rows.count, rows.cluster, generator) for _ in range(splits)]
    halves = [half for first in drawn for half in half_weights(rows.count, rows.weight, first)]
    weights = np.column_stack([rows.weight, *halves]) * way.helped[:, None]
    shares = [share for first in drawn for share in (1.0 - first / rows.count, first / rows.count)]
    found = []
    for first in listed:
        others = tuple(one for one in candidates if one != first)
        if not others:
            continue
        sums = set_sums(people.patterns, [Family((first,), others)], Loss("systemic-failure", 2), weights)
        best = [others[one] for one in np.argmin(sums.mean, axis=0)]
        found.append(_appeal(people, (first, best[0]), best[1:], shares, way))
    return tuple(found)


def _appeal(
    people: People, pair: tuple[int, int], of_halves: Sequence[int], shares: Sequence[Floats], way: Direction
) -> AppealRecord:
    rows, (first, second) = people.rows, pair
    names, splits = people.models, len(of_halves) / 2
    size = len(rows.count)
    lost, base, let, base_let = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    for own, held in zip(of_halves, shares, strict=True):
        both = rows.judged[:, first] & rows.judged[:, own]
        lost += held * (both & rows.failed[:, first] & rows.failed[:, own] & way.helped) / splits
        base += held * (both & way.helped) / splits
        if way.rejected is not None:
            let += held * (_let_through(people, first, own, way) & both & way.rejected) / splits
            base_let += held * (both & way.rejected) / splits
    in_sample = rows.judged[:, first] & rows.judged[:, second] & way.helped
    alone = rows.judged[:, first] & way.helped
    together = (in_sample & rows.failed[:, first] & rows.failed[:, second]).astype(np.float64)

    def stated(events: Floats | NDArray[np.bool_], among: Floats | NDArray[np.bool_]) -> Statistic:
        share: Share | None = people.share(np.asarray(events, dtype=np.float64), np.asarray(among, dtype=np.float64))
        return undefined(NOBODY) if share is None else people.stated(share)

    if way.rejected is None:
        before = added = undefined(way.reason)
    else:
        among = rows.judged[:, first] & way.rejected
        wrong = rows.failed[:, first] if way.wrong_when_failed else ~rows.failed[:, first]
        before, added = stated(among & wrong, among), stated(let, base_let)
    return AppealRecord(
        first=names[first],
        second=names[second],
        individuals=int(rows.count[in_sample].sum()),
        failure=stated(alone & rows.failed[:, first], alone),
        after_appeal_in_sample=stated(together, in_sample),
        after_appeal=stated(lost, base),
        false_positives=before,
        added_false_positives=added,
    )


def _let_through(people: People, first: int, second: int, way: Direction) -> NDArray[np.bool_]:
    """Return whom only the appeal lets through, among those who should be rejected."""
    one, other = people.rows.failed[:, first], people.rows.failed[:, second]
    return np.asarray(~one & other if way.wrong_when_failed else one & ~other)
