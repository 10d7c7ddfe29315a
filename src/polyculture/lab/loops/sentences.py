"""What a loop says in words: its first sentence, and what has to be known to read the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyculture.audit.words import count, interval, listed, number, percent, plural
from polyculture.lab.loops.chain import EVENTS
from polyculture.lab.loops.embedding import in_words
from polyculture.lab.loops.measures import MOST_NEIGHBOURS
from polyculture.lab.loops.units import CHANGE, LAST

if TYPE_CHECKING:
    from polyculture.lab.loops.plan import LoopPlan
    from polyculture.lab.loops.records import CollapseRecord, EndpointRecord, LoopFaultRecord

__all__ = ["accuracy_changes", "accuracy_sentence", "flag", "headline", "most_failed_by_all", "notes", "worst_change"]


def headline(plan: LoopPlan, endpoints: Sequence[EndpointRecord], collapse: Sequence[CollapseRecord]) -> str:
    """Return the first sentence: whom several decision-makers all fail, else whether accuracy falls, and where."""
    if all(one.stopped == one.seeds for one in collapse):
        return "No chain came to its last generation: see what went wrong."
    return _together(plan, endpoints) or accuracy_sentence(plan, endpoints)


def _together(plan: LoopPlan, endpoints: Sequence[EndpointRecord]) -> str:
    """Return how many are failed by all in the arm that has most of them; empty where it is no measure."""
    most = most_failed_by_all(endpoints)
    if most is None:
        return ""
    expected = next(one.value for one in endpoints if _is(one, "expected", LAST) and one.arm == most.arm)
    who = "both" if plan.decision_makers == 2 else f"all {plan.decision_makers}"
    several = len({one.arm for one in endpoints}) > 1
    return (
        f"In the last generation {who} decision-makers fail {'up to ' if several else ''}{number(most.value)} of "
        f"people{f' ({most.arm})' if several else ''}, where {number(expected)} would be expected if they failed "
        "independently."
    )


def most_failed_by_all(endpoints: Sequence[EndpointRecord]) -> EndpointRecord | None:
    """Return the first of the arms whose last decision-makers all fail most people; None where that is undefined."""
    known = [one for one in endpoints if _is(one, "systemic_failure", LAST) and one.value.value is not None]
    return max(known, key=lambda one: one.value.value or 0.0, default=None)


def _is(one: EndpointRecord, measure: str, endpoint: str) -> bool:
    return (one.measure, one.of, one.endpoint) == (measure, None, endpoint)


def accuracy_sentence(plan: LoopPlan, endpoints: Sequence[EndpointRecord]) -> str:
    """Return whether accuracy falls over the generations, in which arms, and the numbers; empty where undefined."""
    changes = accuracy_changes(endpoints)
    last = {one.arm: one for one in endpoints if _is(one, "accuracy", LAST)}
    if not changes:
        only = next((one for one in last.values() if one.value.value is not None), None)
        if only is None:
            return ""
        return f"Accuracy is {percent(only.value.value or 0.0)} in the only generation ({only.arm})."
    falls, worst = _falls(changes), worst_change(changes)
    now = last[worst.arm].value.value or 0.0
    before = now - (worst.value.value or 0.0)
    ends = interval(worst.value, "points")
    size = (
        f"in {worst.arm} it goes from {percent(before)} to {percent(now)}, a change of "
        f"{number(worst.value, 'points')}{f' ({ends})' if ends else ''}"
    )
    span = f"over {plural(plan.generations, 'generation')}"
    if not falls:
        where = "" if len(changes) == 1 else " in any arm; the lowest"
        return f"Whether accuracy falls {span} cannot be told from these seeds{where}: {size}."
    many = f"all {len(changes)} arms" if len(falls) == len(changes) > 1 else f"{len(falls)} of {len(changes)} arms"
    if len(changes) == 1:
        return f"Accuracy falls {span}: {size}."
    return f"Accuracy falls {span} in {many}; the most, {size}."


def accuracy_changes(endpoints: Sequence[EndpointRecord]) -> list[EndpointRecord]:
    """Return how accuracy changed since generation 0 in each arm in which that is defined."""
    return [one for one in endpoints if _is(one, "accuracy", CHANGE) and one.value.value is not None]


def _falls(changes: Sequence[EndpointRecord]) -> list[EndpointRecord]:
    return [one for one in changes if one.value.high is not None and one.value.high < 0.0]


def worst_change(changes: Sequence[EndpointRecord]) -> EndpointRecord:
    """Return the arm that the first sentence is about: of those that fall for sure the lowest, else of all."""
    return min(_falls(changes) or changes, key=lambda one: one.value.value or 0.0)


def flag(one: CollapseRecord) -> str:
    """Return what has to be said beside an arm's gaps; empty where its classifiers still tell people apart."""
    if not one.constant:
        return ""
    who = "all seeds" if one.constant == one.seeds else f"{one.constant} of {one.seeds} seeds"
    return f"nearly constant in {who}: a small gap there is not equal treatment of people who differ"


def notes(
    plan: LoopPlan, collapse: Sequence[CollapseRecord], faults: Sequence[LoopFaultRecord], groups: Sequence[str]
) -> tuple[str, ...]:
    """Return what has to be known to read the numbers."""
    found = [
        "A seed is the unit: intervals are t over seeds, with the data as they are. Bands of curves hold in all "
        "generations at once (Bonferroni), so that they are wide with few seeds; those of endpoints are for one.",
        "Decisions are measured on real test individuals with their true labels; generated people by "
        f"{count(plan.samples)} samples of each generator, labelled as those that its classifier is trained on.",
        "The divergence is KL(generated || ideal) in nats. Frechet distance, squared maximum mean discrepancy (mmd), "
        f"precision and recall compare generated with training individuals {in_words(plan)}: the first all of them, "
        f"the other three {count(MOST_NEIGHBOURS)} of either at most.",
        f"Primary endpoints: {listed(plan.endpoints)}, in the last generation and in the mean over generations. The "
        "other measures are many looks at the same chains, and no interval is corrected for that.",
    ]
    if plan.seeds == 1:
        found.append("With one seed there are no intervals.")
    if len(groups) == 1:
        found.append("Without groups there are no gaps.")
    constant = [one.arm for one in collapse if one.constant]
    if constant:
        found.append(
            f"In the last generation classifiers give nearly everyone the same class ({listed(constant)}). Where that "
            "is so, a small gap says nothing of how those are treated who differ: read it beside accuracy and the "
            "class share."
        )
    totals: Counter[str] = Counter()
    for fault in faults:
        totals[fault.reason] += fault.count
    found += [
        f"{reason.capitalize()}: {count(totals[reason])} ({what})." for reason, what in EVENTS.items() if totals[reason]
    ]
    stops = [fault for fault in faults if fault.reason == "stopped"]
    if stops:
        first = min(stops, key=lambda fault: fault.first)
        found.append(f"The first to stop was a chain of {first.arm}, in generation {first.first}: {first.said}.")
    return tuple(found)
