"""What an experiment says in words: its first sentence, the sentence on components, and what has to be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyculture.audit.words import count, interval, number, percent, plural
from polyculture.lab.trial import FAULTS, LOST, NOBODY

if TYPE_CHECKING:
    from polyculture.audit.statistic import Statistic
    from polyculture.lab.plan import Plan
    from polyculture.lab.records import ArmRecord, ComponentRecord, EffectRecord, FaultRecord

__all__ = ["components_sentence", "direction", "headline", "notes", "primary"]

_WHAT = {
    "rows": "training rows",
    "features": "features",
    "preprocessing": "preprocessing",
    "learner": "a learner",
    "seed": "a random state",
    "backbone": "a pretrained model",
}


def primary(effects: Sequence[EffectRecord]) -> EffectRecord | None:
    """Return the primary effect: all learners and sizes, the first component that varies, most shared."""
    return effects[0] if effects else None


def direction(log_ratio: Statistic) -> str:
    """Return which way an effect goes: "more", "fewer", "not told apart", or "undefined".

    >>> from polyculture.audit.statistic import Statistic
    >>> direction(Statistic(value=0.3, low=0.1, high=0.5)), direction(Statistic(value=0.3, low=-0.1, high=0.5))
    ('more', 'not told apart')
    """
    if log_ratio.value is None or log_ratio.low is None or log_ratio.high is None:
        return "undefined"
    if log_ratio.low > 0.0:
        return "more"
    return "fewer" if log_ratio.high < 0.0 else "not told apart"


def headline(
    plan: Plan, effects: Sequence[EffectRecord], results: Sequence[ArmRecord], faults: Sequence[FaultRecord]
) -> str:
    """Return the first sentence: what sharing goes with, in plain words, then the numbers."""
    if results[0].without_outcomes == results[0].trials:
        lost = [fault for fault in faults if fault.reason in LOST]
        if not lost:
            return "No trial has outcomes, since in each a decision-maker judges nobody whom another judges too."
        said = next((fault.said for fault in lost if fault.said), lost[0].reason).rstrip(".")
        return f"No trial has outcomes, since in each a learner could not be fitted: {said}."
    effect = primary(effects)
    if effect is None:
        one = results[0]
        return (
            f"All decision-makers fail {_share(one.systemic_failure)} of individuals, and "
            f"{_share(one.expected)} would be expected if they failed independently."
        )
    what = _WHAT[effect.component]
    by_arm = {result.arm: result for result in results if result.learner is None and result.blocks is None}
    shown = ""
    if len(plan.varied()) == 1:
        first, second = (by_arm[plan.arm_at(effect.component, level)] for level in (effect.level, effect.against))
        shown = (
            f": failed by all are {_share(first.systemic_failure)} ({effect.level}) and "
            f"{_share(second.systemic_failure)} ({effect.against}), where independence would have "
            f"{_share(first.expected)} and {_share(second.expected)}"
        )
    ends = interval(effect.ratio, "ratio")
    size = f"H is {number(effect.ratio, 'ratio')} times as large{f' ({ends})' if ends else ''}"
    match direction(effect.log_ratio):
        case "more":
            return f"Decision-makers that share {what} fail the same individuals more: {size}{shown}."
        case "fewer":
            return f"Decision-makers that share {what} fail the same individuals less: {size}{shown}."
        case "undefined" if effect.ratio.value is None:
            return f"What sharing {what} goes with is undefined: {effect.ratio.reason}."
        case "undefined":
            return f"With decision-makers that share {what} {size}, and how sure that is is not known{shown}."
        case _:
            return (
                f"Whether decision-makers that share {what} fail the same individuals more cannot be told from these "
                f"trials: {size}{shown}."
            )


def _share(value: Statistic) -> str:
    return "undefined" if value.value is None else percent(value.value)


def components_sentence(components: Sequence[ComponentRecord]) -> str:
    """Return which shared component goes with most homogenization, and whether the next is told apart from it."""
    if not components:
        return ""
    first, second = components[0], components[1]
    if first.ratio.value is None:
        return "Which shared component goes with most homogenization is undefined."
    ends = interval(first.ratio, "ratio")
    size = f"{number(first.ratio, 'ratio')} times as large{f' ({ends})' if ends else ''}"
    after = f"next is {_WHAT[second.component]} ({number(second.ratio, 'ratio')} times)"
    if direction(first.log_ratio) != "more":
        return (
            f"Which shared component goes with most homogenization cannot be told from these trials: most is seen with "
            f"{_WHAT[first.component]}, where H is {size}; {after}."
        )
    apart = second.behind_first.low is not None and second.behind_first.low > 0.0
    return (
        f"Of the components, sharing {_WHAT[first.component]} goes with most homogenization: H is {size}; {after}, "
        f"which these trials {'tell' if apart else 'cannot tell'} apart from it."
    )


def _why_lost(faults: Sequence[FaultRecord]) -> str:
    reasons = {fault.reason for fault in faults}
    fitted, judged = "a learner could not be fitted", "a decision-maker judges nobody whom another judges too"
    told = [fitted] * bool(reasons & {*LOST}) + [judged] * (NOBODY in reasons)
    return " or ".join(told)


def notes(plan: Plan, results: Sequence[ArmRecord], faults: Sequence[FaultRecord]) -> tuple[str, ...]:
    """Return what has to be known to read the numbers."""
    found = [
        "Intervals are over model and partition seeds, with the data as they are: other individuals might show more or "
        "less than they say.",
        "H of arms with other failure rates is not comparable by itself; here all arms train on as many rows.",
    ]
    if "backbone" in plan.varied() and any(learner.adapt == "scratch" for learner in plan.learners):
        found.append("From scratch nothing pretrained is shared: effects over all learners leave it out.")
    if plan.model_seeds == 1 or plan.partition_seeds == 1:
        found.append("With one seed of a kind the intervals say nothing about other seeds of that kind.")
    whole = results[0]
    if whole.without_outcomes:
        found.append(
            f"{count(whole.without_outcomes)} of {plural(whole.trials, 'trial')} have no outcomes in at least one arm, "
            f"since {_why_lost(faults)}; they are left out of all arms."
        )
    undefined = [
        f"{count(result.undefined)} ({result.arm})" for result in results[: len(plan.arms())] if result.undefined
    ]
    if undefined:
        found.append(
            f"Trials in which a decision-maker failed nobody, so that they have no H of their own: "
            f"{', '.join(undefined)}. They are in the sums."
        )
    totals: Counter[str] = Counter()
    for fault in faults:
        totals[fault.reason] += fault.count
    trained = count(plan.trials() * len(plan.arms()) * len(plan.decision_makers()))
    found += [
        f"{reason.capitalize()}: {count(totals[reason])} of {trained} decision-makers trained in all arms ({what})."
        for reason, what in FAULTS.items()
        if totals[reason]
    ]
    return tuple(found)
