"""Whether a plan fits together: counts, names, learners, arms. Nothing is read or built here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.errors import UsageError
from polyculture.lab.levels import COMPONENTS, DISJOINT, FIXED, arm_rows
from polyculture.lab.training import training_of

if TYPE_CHECKING:
    from polyculture.lab.plan import Plan

__all__ = ["check"]

MOST_TRIALS = 10_000_000


def check(plan: Plan) -> None:
    """Refuse a plan that does not fit together.

    Raises
    ------
    UsageError
        The message names the field.
    """
    for field in ("tasks", "learners", "blocks"):
        if not getattr(plan, field):
            raise UsageError(f"The plan names no {field}.", hint=f"Add at least one to {field}.")
    for field, least in (("model_seeds", 1), ("partition_seeds", 1), ("seed", 0), ("chunk", 1)):
        if getattr(plan, field) < least:
            raise UsageError(f"{field} = {getattr(plan, field)} is too small.", hint=f"Give {least} or more.")
    if not 0.0 < plan.test_share < 1.0:
        raise UsageError(f"test_share = {plan.test_share:g} is no share.", hint="Give a number between 0 and 1.")
    if plan.trials() > MOST_TRIALS:
        raise UsageError(f"The plan has {plan.trials():,} trials.", hint=f"Plan at most {MOST_TRIALS:,}.")
    for blocks in plan.blocks:
        if blocks < 1:
            raise UsageError(f"blocks holds {blocks}.", hint="Give whole numbers from 1 on.")
    for field in ("copies",):
        for task in plan.tasks:
            if getattr(task, field) < 1:
                raise UsageError(f"Task {task.name!r} has copies = {task.copies}.", hint="Give 1 or more.")
    _check_names(plan)
    _check_learners(plan)
    _check_backbones(plan)
    _check_share(plan)


def _check_names(plan: Plan) -> None:
    for what, names in (
        ("decision-maker", plan.decision_makers()),
        ("learner", tuple(learner.shown() for learner in plan.learners)),
        ("preprocessing", tuple(one.name for one in plan.preprocessing)),
        ("backbone", tuple(one.shown() for one in plan.backbones)),
        ("number of blocks", plan.blocks),
    ):
        twice = sorted({name for name in names if names.count(name) > 1}, key=str)
        if twice:
            raise UsageError(f"The {what} {twice[0]!r} stands in the plan twice.", hint="Give each its own.")
    if len(plan.decision_makers()) < 2:
        raise UsageError(
            "There is only one decision-maker: there is nothing to homogenize.",
            hint="Add a task, or give the task copies = 2.",
        )


def _check_learners(plan: Plan) -> None:
    for learner in plan.learners:
        if [bool(learner.estimator), bool(learner.steps), learner.adapt is not None].count(True) != 1:
            raise UsageError(
                f"Learner {learner.name!r} needs one of estimator, steps and adapt.",
                hint='Write estimator = "sklearn.svm.SVC", or adapt = "probe".',
            )
        if learner.steps and learner.parameters:
            raise UsageError(
                f"Learner {learner.shown()!r} has parameters beside steps.", hint="Write them into their step."
            )


def _check_backbones(plan: Plan) -> None:
    adapting = [learner for learner in plan.learners if learner.adapt is not None]
    if not adapting and not plan.backbones:
        return
    if not plan.backbones:
        raise UsageError(
            f"Learner {adapting[0].shown()!r} adapts a pretrained model, and the plan names none.",
            hint="Add a [[backbone]] table.",
        )
    if not adapting:
        raise UsageError(
            f"No learner adapts the backbone {plan.backbones[0].shown()!r}.",
            hint='Add a learner with adapt = "probe" (or scratch, finetune, bitfit, lora), or leave the backbone out.',
        )
    for learner in adapting:
        training_of(learner.parameters, f"Learner {learner.shown()!r}")
    for one in plan.backbones:
        if [bool(one.model), bool(one.configuration), bool(one.module), bool(one.hub)].count(True) != 1:
            raise UsageError(
                f"Backbone {one.name!r} needs one of model, configuration, module and hub.",
                hint='Write model = "FOLDER", or configuration = { model_type = "vit" }.',
            )
        if one.max_length < 2:
            raise UsageError(f"Backbone {one.shown()!r} has max_length = {one.max_length}.", hint="Give 2 or more.")
        if one.pretrain is not None:
            training_of(one.pretrain.training, f"Pretraining of backbone {one.shown()!r}")
            if one.pretrain.label is None and (not one.configuration or one.tokenizer or plan.data.text is None):
                raise UsageError(
                    f"Pretraining of backbone {one.shown()!r} names no label.",
                    hint="Name one; without it only texts can be learnt from, with a configuration and no tokenizer.",
                )
    if plan.data.text is not None and plan.data.image is not None:
        raise UsageError("data names a text and an image.", hint="Name what the pretrained models take: one of them.")
    if "own" in plan.share.features:
        raise UsageError(
            'share.features has "own", but a pretrained model sees whole texts or images.', hint="Leave it out."
        )


def _check_share(plan: Plan) -> None:
    for name in COMPONENTS:
        levels = getattr(plan.share, name)
        if not levels or len(set(levels)) < len(levels):
            raise UsageError(f"share.{name} is {list(levels)!r}.", hint="Name each level once, and at least one.")
    for level in plan.share.rows:
        if isinstance(level, str) and level not in {FIXED, DISJOINT}:
            raise UsageError(f"share.rows holds {level!r}.", hint='Choose "fixed", "disjoint", or a share such as 0.5.')
        if not isinstance(level, str) and not 0.0 < level < 1.0:
            raise UsageError(
                f"share.rows holds {level:g}, which is no share of common rows.",
                hint='Give a number between 0 and 1; all of them are "fixed", none "disjoint".',
            )
    makers = len(plan.decision_makers())
    if any(arm_rows(level) < 1.0 for level in plan.share.rows):
        few = [blocks for blocks in plan.blocks if blocks < makers]
        if few:
            raise UsageError(
                f"blocks = {few[0]} is fewer than the {makers} decision-makers, who need a block each in an arm "
                "with rows of their own.",
                hint=f"Give {makers} or more blocks, or leave out the disjoint and overlapping arms.",
            )
    for name, there in (
        ("learner", plan.learners),
        ("preprocessing", plan.preprocessing),
        ("backbone", plan.backbones),
    ):
        if "own" in getattr(plan.share, name) and len(there) < 2:
            raise UsageError(
                f'share.{name} has "own", but the plan names one {name} only.', hint=f"Add a [[{name}]] table."
            )
