"""Hand-made records of a feedback loop."""

from __future__ import annotations

from typing import Any

import msgspec

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.loops.plan import Arm, LoopPlan, Star
from polyculture.lab.loops.records import (
    AccountingRecord,
    CollapseRecord,
    CurveRecord,
    EndpointRecord,
    LoopFaultRecord,
    LoopRecord,
    StratumRecord,
)
from polyculture.lab.loops.units import UNITS
from polyculture.lab.plan import Data

HOSTILE = "<script>alert(1)</script>\x1b[31m"
GENERATIONS = 4


def stat(value: float, width: float = 0.05) -> Statistic:
    return Statistic(value=value, low=value - width, high=value + width, method="t over 3 seeds")


def curve(arm: str, measure: str, first: float, step: float, of: str | None = None) -> CurveRecord:
    values = tuple(first + step * number for number in range(GENERATIONS))
    return CurveRecord(
        arm=arm,
        measure=measure,
        of=of,
        value=values,
        low=tuple(value - 0.1 for value in values),
        high=(None, *(value + 0.1 for value in values[1:])),
        seeds=(3,) * GENERATIONS,
        method="t over 3 seeds; simultaneous over 4 (Bonferroni)",
    )


def endpoints(arm: str, against: str) -> list[EndpointRecord]:
    return [
        EndpointRecord(
            arm=arm,
            against=against,
            measure=measure,
            of=None,
            endpoint=endpoint,
            primary=measure == "accuracy",
            value=stat(-0.2 if endpoint.startswith("change") else 0.6),
            difference=undefined("the first") if arm == against else stat(-0.1),
        )
        for measure in UNITS
        for endpoint in ("last generation", "mean over generations", "change since generation 0")
    ]


def record(text: str = "plain", **changed: Any) -> LoopRecord:
    arms = ("SeqClass", f"{text} arm")
    curves = [
        curve(arm, measure, first, step, of)
        for arm in arms
        for measure, first, step, of in (
            ("accuracy", 0.9, -0.1, None),
            ("class_share", 0.5, 0.1, "yes"),
            ("group_share", 0.3, 0.0, text),
            ("demographic_parity_difference", 0.2, -0.05, None),
            ("equalized_odds_difference", 0.1, 0.1, None),
            ("systemic_failure", 0.1, 0.05, None),
            ("expected", 0.05, 0.0, None),
        )
    ]
    books = [
        AccountingRecord(
            arm=arms[1],
            generation=number,
            purpose="classifier",
            target=target,
            group=group,
            pool=pool,
            quota=25.0,
            taken=min(pool, 25.0),
            filled=5.0,
            added=min(pool, 25.0) + 5.0 - 0.8 * pool,
            shortfall=20.0,
        )
        for number in range(GENERATIONS)
        for target, group, pool in (("no", text, 5.0), ("no", "b", 40.0), ("yes", text, 40.0), ("yes", "b", 40.0))
    ]
    found = LoopRecord(
        plan=LoopPlan(
            data=Data(source="german_credit", groups=("sex",)),
            label="good",
            generations=GENERATIONS,
            seeds=3,
            arms=(Arm(), Arm(name=arms[1], setting="SeqGenSeqClass", interventions=(Star(),))),
            decision_makers=2,
        ),
        headline=f"Accuracy falls over 4 generations: in {text} it does.",
        accuracy_sentence="",
        individuals=1000,
        tested=300,
        samples=10_000,
        favourable="yes",
        classes=("no", "yes"),
        groups=(text, "b"),
        strata=tuple(
            StratumRecord(target=target, group=group, ideal=0.25, original=share)
            for target, group, share in (("no", text, 0.1), ("no", "b", 0.3), ("yes", text, 0.2), ("yes", "b", 0.4))
        ),
        decision_makers=("decision-maker 1", "decision-maker 2"),
        arms=arms,
        data={"people.csv": "ab" * 32},
        versions={"polyculture": "0.1.0"},
        units=dict(UNITS),
        curves=tuple(curves),
        endpoints=tuple(one for arm in arms for one in endpoints(arm, arms[0])),
        collapse=tuple(
            CollapseRecord(
                arm=arm,
                seeds=3,
                collapsed=2,
                first=1,
                median=1.5,
                last=2,
                constant=constant,
                constant_from=3 if constant else None,
                largest_class=stat(0.96, 0.02),
                stopped=0,
            )
            for arm, constant in zip(arms, (0, 2), strict=True)
        ),
        accounting=tuple(books),
        faults=(LoopFaultRecord(arm=arms[1], reason="did not converge", count=3, first=1, said=text),),
        notes=("A note.",),
    )
    return msgspec.structs.replace(found, **changed)
