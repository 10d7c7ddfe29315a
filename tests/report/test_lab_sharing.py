"""The page and the charts of an experiment: checked by what they draw, and by what data text may not do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from rich.console import Console

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.plan import Data, Learner, Plan, Task
from polyculture.lab.records import (
    ArmRecord,
    ComponentRecord,
    EffectRecord,
    FaultRecord,
    GroupsRecord,
    SharingRecord,
)
from polyculture.report.lab_charts import effects_chart, size_chart
from polyculture.report.lab_sharing import html, print_sharing, repr_html

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


def test_the_page_says_what_the_record_says() -> None:
    page = html(record())
    assert page.count("<h1>") == 1
    for text in ("1.2 times as large", "amount &gt; 100", "800", "no systemic failure", "did not converge", "A note."):
        assert text in page or text == "800"
    assert page.count('role="img"') == 2 + 1  # both sizes of the effects, one curve
    assert "http" not in page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/2000/svg"', "").replace(
        'xmlns:xlink="http://www.w3.org/1999/xlink"', ""
    )


def test_text_from_data_stays_text() -> None:
    page = html(record(HOSTILE))
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in repr_html(record(headline=HOSTILE))


def test_the_effects_are_drawn_with_their_intervals_and_undefined_ones_left_out() -> None:
    chart = effects_chart(record().effects)
    assert chart is not None
    assert [(row["label"], row["value"], row["low"]) for row in chart.rows] == [
        ("all learners", pytest.approx(0.2), pytest.approx(0.1)),
        ("trees", pytest.approx(0.5), pytest.approx(0.4)),
    ]
    assert all(row["expected"] == 0.0 for row in chart.rows)
    assert effects_chart([effect(undefined("none"))]) is None


def test_curves_are_over_training_rows_within_the_axis() -> None:
    results = [result for result in record().results if result.blocks is not None]
    chart = size_chart(results, ("fixed", "disjoint"), (0.9, 1.65))
    assert chart is not None
    assert {(row["rows"], row["arm"], row["place"]) for row in chart.rows} == {
        (400, "fixed", 0),
        (400, "disjoint", 1),
        (100, "fixed", 0),
        (100, "disjoint", 1),
    }
    assert max(row["high"] for row in chart.rows) == 1.65


def test_a_factorial_experiment_has_its_section() -> None:
    components = (
        ComponentRecord(component="rows", log_ratio=stat(0.3), ratio=stat(1.35), behind_first=undefined("itself")),
        ComponentRecord(component="seed", log_ratio=stat(0.0), ratio=stat(1.0), behind_first=stat(0.3)),
    )
    page = html(record(components=components, components_sentence="Sharing training rows goes with most."))
    assert 'id="components"' in page
    assert "Sharing training rows goes with most." in page
    assert 'id="components"' not in html(record())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_shows_arms_and_effects(width: int) -> None:
    console = Console(width=width, record=True, force_terminal=False)
    with console.capture() as captured:
        print_sharing(record(HOSTILE, components_sentence="Most: rows."), console)
    text = captured.get()
    assert "\x1b[31m" not in text
    assert all(len(line) <= width for line in text.splitlines())
    for part in ("fixed", "disjoint", "8.0 %", "A note.", "Most: rows."):
        assert part in text
