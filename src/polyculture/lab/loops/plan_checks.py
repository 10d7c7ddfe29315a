"""Whether the plan of a loop fits together: counts, shares, names, arms. Nothing is read or built here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError, nearest
from polyculture.lab.loops.interventions import Selecting
from polyculture.lab.loops.units import UNITS as MEASURES

if TYPE_CHECKING:
    from polyculture.lab.loops.plan import Arm, LoopPlan

__all__ = ["check"]

_LEAST = {
    "generations": 1,
    "seeds": 1,
    "rows": 0,
    "batch": 0,
    "epochs": 1,
    "samples": 100,
    "keep": 0,
    "decision_makers": 1,
    "seed": 0,
}
MOST_BUDGET = 100
_SHARES = ("share", "budget", "strength", "explore", "bound")
_COUNTS = {"batch": 0, "looked": 1, "rounds": 1}


def check(plan: LoopPlan) -> None:
    """Refuse a plan that does not fit together.

    Raises
    ------
    UsageError
        The message names the field.
    """
    for field, least in _LEAST.items():
        if getattr(plan, field) < least:
            raise UsageError(f"{field} = {getattr(plan, field)} is too small.", hint=f"Give {least} or more.")
    if not 0.0 < plan.test_share < 1.0:
        raise UsageError(f"test_share = {plan.test_share:g} is no share.", hint="Give a number between 0 and 1.")
    if not 0.0 < plan.collapse < 1.0:
        raise UsageError(f"collapse = {plan.collapse:g} is no share.", hint="Give a number between 0 and 1.")
    if plan.keep > plan.samples:
        raise UsageError(f"keep = {plan.keep} is more than samples = {plan.samples}.", hint="Keep fewer.")
    for field, there in (("classifier", plan.classifiers), ("arm", plan.arms)):
        if not there:
            raise UsageError(f"The plan names no {field}.", hint=f"Add a [[{field}]] table.")
    actors = {"generator": plan.generator, "label_annotator": plan.label_annotator}
    actors |= {"group_annotator": plan.group_annotator}
    actors |= {f"classifier {number}": one for number, one in enumerate(plan.classifiers, start=1)}
    for role, actor in actors.items():
        if actor is not None and bool(actor.estimator) == bool(actor.steps):
            raise UsageError(
                f"{role} needs an estimator or steps, and not both.",
                hint='Write estimator = "sklearn.svm.SVC".',
            )
    _check_aims(plan)
    names = plan.arm_names()
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"The arm {twice[0]!r} stands in the plan twice.", hint="Give each a name of its own.")
    for arm in plan.arms:
        if arm.against and (arm.against not in names or arm.against == arm.shown()):
            hint = nearest(arm.against, names) or f"The arms are: {', '.join(names)}."
            raise UsageError(f"Arm {arm.shown()!r} is compared with {arm.against!r}, which is no other arm.", hint=hint)
        _check_arm(plan, arm)


def _check_aims(plan: LoopPlan) -> None:
    for measure in plan.endpoints:
        if measure not in MEASURES:
            hint = nearest(measure, MEASURES) or f"They are: {', '.join(MEASURES)}."
            raise UsageError(f"endpoints names {measure!r}, which is not measured.", hint=hint)
    if isinstance(plan.ideal, str):
        return
    for stratum in plan.ideal:
        if not 0.0 <= stratum.share <= 1.0:
            raise UsageError(f"ideal holds the share {stratum.share:g}.", hint="Give numbers between 0 and 1.")
    total = sum(stratum.share for stratum in plan.ideal)
    if abs(total - 1.0) > 1e-9:
        raise UsageError(
            f"The shares of ideal sum to {total:g}, not to 1.", hint="Give every stratum its share of the whole."
        )


def _check_arm(plan: LoopPlan, arm: Arm) -> None:
    name = arm.shown()
    if not 0.0 <= arm.overlap <= 1.0:
        raise UsageError(f"Arm {name!r} has pool = {arm.overlap:g}.", hint="Give a share, or separate, or shared.")
    if arm.overlap > 0.0 and plan.decision_makers < 2:
        raise UsageError(
            f"Arm {name!r} has a shared pool, but there is one decision-maker only.", hint="Set decision_makers = 2."
        )
    for part in (*arm.shifts, *arm.interventions):
        kind = part.__struct_config__.tag
        _check_numbers(name, part)
        if kind == "drop detected" and getattr(part, "share", 0.0) >= 0.9:
            raise UsageError(f"Arm {name!r} drops {part.share:.0%} of all.", hint="Drop less than 90 %.")  # type: ignore[union-attr]
        if kind == "disparity amplification" and part.strength > 1.0:  # type: ignore[union-attr]
            raise UsageError(f"Arm {name!r}: strength of {kind!r} is above 1.", hint="Give 0 to 1.")
    if any(shift.__struct_config__.tag == "synthetic share" for shift in arm.shifts) and not arm.retrains:
        raise UsageError(
            f"Arm {name!r} has a synthetic share, but its generator is never trained again.",
            hint="Choose the setting SeqGenSeqClass or SeqGenNonSeqClass.",
        )
    _check_interventions(plan, arm, name)


def _check_numbers(name: str, part: Any) -> None:
    kind = part.__struct_config__.tag
    for field, least in _COUNTS.items():
        if (many := getattr(part, field, least)) < least:
            raise UsageError(f"Arm {name!r}: {field} = {many} of {kind!r} is too small.", hint=f"Give {least} or more.")
    for field in _SHARES:
        value = getattr(part, field, 0.0)
        if math.isnan(value) or (math.isinf(value) and field == "strength"):
            raise UsageError(f"Arm {name!r}: {field} = {value:g} of {kind!r} is no number.", hint="Give 0 or more.")
        if not 0.0 <= value <= 1.0 and field in {"share", "explore", "bound"}:
            raise UsageError(f"Arm {name!r}: {field} = {value:g} of {kind!r} is no share.", hint="Give 0 to 1.")
        if field == "budget" and value > MOST_BUDGET:
            raise UsageError(
                f"Arm {name!r}: budget = {value:g} of {kind!r} is more than can be drawn.",
                hint=f"It is a share of the batch: give {MOST_BUDGET} at most.",
            )
        if value < 0.0:
            raise UsageError(f"Arm {name!r}: {field} = {value:g} of {kind!r} is below 0.", hint="Give 0 or more.")


def _check_interventions(plan: LoopPlan, arm: Arm, name: str) -> None:
    for purpose in ("generator", "classifier"):
        selecting = [one for one in arm.interventions if purpose in one.of and isinstance(one, Selecting)]
        if len(selecting) > 1:
            raise UsageError(
                f"Arm {name!r} selects twice whom a {purpose} is trained on.", hint="Leave one of the two out."
            )
    for one in arm.interventions:
        kind = one.__struct_config__.tag
        if not one.of:
            raise UsageError(f"Arm {name!r}: {kind!r} is of no models.", hint='Write of = ["classifier"].')
        if "generator" in one.of and not arm.retrains:
            raise UsageError(
                f"Arm {name!r}: {kind!r} is of generators, but its generator is never trained again.",
                hint="Choose the setting SeqGenSeqClass or SeqGenNonSeqClass.",
            )
        if "generator" in one.of and kind in {"reweighting", "fairness constraint"}:
            raise UsageError(f"Arm {name!r}: {kind!r} is of classifiers only.", hint='Write of = ["classifier"].')
        if kind == "fairness constraint" and any(x.__struct_config__.tag == "reweighting" for x in arm.interventions):
            raise UsageError(
                f"Arm {name!r} has reweighting and a fairness constraint, which weighs people itself.",
                hint="Leave one of the two out.",
            )
        if kind == "fairness constraint" and plan.batch:
            raise UsageError(f"Arm {name!r}: {kind!r} cannot be trained on batches.", hint="Leave batch out.")
