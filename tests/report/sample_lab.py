"""Hand-made records of an experiment."""

from __future__ import annotations

from typing import Any

import msgspec

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.plan import Backbone, Data, Learner, Plan, Task
from polyculture.lab.records import ArmRecord, EffectRecord, FaultRecord, GroupsRecord, LearnerRecord, SharingRecord

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def stat(value: float, width: float = 0.1) -> Statistic:
    return Statistic(value=value, low=value - width, high=value + width, method="t")


def arm(name: str, h: float, learner: str | None = None, blocks: int | None = None) -> ArmRecord:
    groups = GroupsRecord(average=stat(1.0), uniform=stat(1.1), worst=stat(1.4), undefined=0)
    return ArmRecord(
        learner=learner,
        blocks=blocks,
        training_rows=None if blocks is None else 800 // blocks,
        arm=name,
        trials=25,
        without_outcomes=0,
        undefined=1,
        systemic_failure=stat(0.08, 0.01),
        expected=stat(0.06, 0.01),
        homogenization=stat(h),
        accuracy=stat(0.7, 0.02),
        groups=groups,
    )


def effect(ratio: Statistic, learner: str | None = None, blocks: int | None = None) -> EffectRecord:
    return EffectRecord(
        component="rows",
        level="fixed",
        against="disjoint",
        learner=learner,
        blocks=blocks,
        training_rows=None if blocks is None else 800 // blocks,
        trials=25,
        log_ratio=stat(0.2),
        ratio=ratio,
        excess=stat(0.01),
        group_log_ratio=stat(0.05),
    )


def adapting(name: str = "small", **changed: Any) -> SharingRecord:
    """Return a record with a pretrained model, adapted in two ways, of which the intervals are very long."""
    made = record(**changed)
    plan = msgspec.structs.replace(
        made.plan,
        data=Data(source="texts.csv", text=name, groups=("sex",)),
        learners=(Learner(adapt="probe"), Learner(adapt="lora", parameters={"rank": 4})),
        backbones=(Backbone(name=name, model=f"folder/{name}"),),
    )
    ratios = (Statistic(value=1.4, low=0.02, high=85.0, method="t"), undefined("nobody was failed by all"))
    learners = tuple(
        LearnerRecord(
            learner="probe",
            against="lora",
            arm=arm,
            trials=2,
            log_ratio=stat(0.3),
            ratio=ratio,
            accuracy=stat(0.05),
            group_ratio=stat(1.1),
        )
        for arm, ratio in zip(made.arms, ratios, strict=True)
    )
    return msgspec.structs.replace(made, plan=plan, learners=learners)


def record(name: str = "trees", **changed: Any) -> SharingRecord:
    plan = Plan(
        data=Data(source="people.csv", groups=("sex",)),
        tasks=(Task(name="good", label="good"), Task(name="large", label="amount > 100")),
        learners=(Learner(name=name, estimator="sklearn.tree.DecisionTreeClassifier"),),
        blocks=(2, 8),
    )
    results = [arm("fixed", 1.3), arm("disjoint", 1.1)]
    results += [arm(which, h, name, blocks) for blocks, h in ((2, 1.2), (8, 1.6)) for which in ("fixed", "disjoint")]
    made = SharingRecord(
        plan=plan,
        headline="Decision-makers that share training rows fail the same individuals more: H is 1.2 times as large.",
        individuals=1000,
        tested=200,
        trials=50,
        groups=("sex",),
        decision_makers=("good", "large"),
        arms=("fixed", "disjoint"),
        data={"people.csv": "ab" * 32},
        versions={"polyculture": "0.1.0"},
        results=tuple(results),
        effects=(effect(stat(1.2)), effect(undefined("no systemic failure"), name, 2), effect(stat(1.5), name, 8)),
        components=(),
        components_sentence="",
        interactions=(),
        homogenization_and_accuracy={"all arms": stat(-0.1), "fixed": undefined("too few")},
        faults=(
            FaultRecord(
                learner=name,
                blocks=8,
                arm="fixed",
                decision_maker="good",
                reason="did not converge",
                count=3,
                said=HOSTILE,
            ),
        ),
        notes=("A note.",),
    )
    return msgspec.structs.replace(made, **changed)
