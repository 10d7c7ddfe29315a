"""A component-sharing experiment on the terminal, as one HTML page, and in a notebook; computes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from polyculture.lab.records import ArmRecord, EffectRecord, SharingRecord
from polyculture.report import words
from polyculture.report.html import environment, template_text
from polyculture.report.lab_backbones import (
    backbone_words,
    data_words,
    learner_words,
    learners_chart,
    show_learners,
)
from polyculture.report.lab_charts import MOST_CURVES, effects_chart, is_cut, size_chart
from polyculture.report.lab_faults import fault_totals
from polyculture.report.sections import MOST_TABLE_ROWS, Figure, figure

if TYPE_CHECKING:
    from rich.console import Console

    from polyculture.report.terminal import Screen

__all__ = ["html", "print_sharing", "repr_html", "step_words"]

MOST_LISTED = 24
MOST_ARMS = 9
"""Arms that stand open on a page; more are folded."""


class Curve(NamedTuple):
    """H against the training size, of one learner."""

    learner: str
    figure: Figure | None


def html(record: SharingRecord) -> str:
    """Return the experiment as one HTML page that requests nothing from anywhere."""
    by_learner = [effect for effect in record.effects if effect.blocks is None]
    page: str = (
        environment()
        .get_template("lab-sharing.html.jinja")
        .render(
            record=record,
            plan=record.plan,
            style=template_text("report.css"),
            script="",
            whole=_whole(record.results),
            big_numbers=_big_numbers(record),
            by_learner=by_learner,
            effects_figure=figure("effects", effects_chart(by_learner)),
            effects_cut=is_cut([effect.ratio for effect in by_learner]),
            learners_cut=is_cut([one.ratio for one in record.learners]),
            fault_totals=fault_totals(record),
            curves=_curves(record),
            several_learners=len(record.plan.learners) > 1,
            curve_arms=_curve_arms(record),
            sizes=[effect for effect in record.effects if effect.blocks is not None],
            results=[result for result in record.results if result.blocks is not None],
            most_rows=MOST_TABLE_ROWS,
            most_arms=MOST_ARMS,
            arms_words=_arms_words(record),
            what=_what,
            step_words=step_words,
            backbone_words=backbone_words,
            data_words=data_words,
            learner_words=lambda learner: learner_words(learner, step_words(learner.pipeline())),
            learners_figure=figure("learners", learners_chart(record.learners)) if record.learners else None,
        )
    )
    return page


def repr_html(record: SharingRecord) -> str:
    """Return the headline and the arms as a small HTML table."""
    rows = Markup("").join(
        Markup("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>").format(
            words.shown(result.arm),
            words.statistic(result.systemic_failure),
            words.number(result.expected),
            words.statistic(result.homogenization, "ratio"),
        )
        for result in _whole(record.results)
    )
    return str(
        Markup(
            "<div><p><strong>{}</strong></p><table><thead><tr><th>arm</th><th>failed by all</th><th>expected</th>"
            "<th>H</th></tr></thead><tbody>{}</tbody></table></div>"
        ).format(words.shown(record.headline), rows)
    )


def step_words(steps: Sequence[Any]) -> str:
    """Return steps of a pipeline as text: import paths with their parameters.

    >>> from polyculture.lab.plan import Step
    >>> step_words([Step(estimator="a.B"), Step(estimator="c.D", parameters={"n": 3})])
    'a.B, then c.D (n = 3)'
    """
    shown = []
    for step in steps:
        given = ", ".join(f"{name} = {value}" for name, value in step.parameters.items())
        shown.append(f"{step.estimator} ({given})" if given else step.estimator)
    return ", then ".join(shown) or "none"


def _what(effect: EffectRecord) -> str:
    """Return what is compared, in words."""
    if effect.component == "rows":
        return f"{effect.level} against {effect.against}"
    return f"{effect.component}: {effect.level} against {effect.against}"


def _arms_words(record: SharingRecord) -> str:
    """Return the arms in words: one by one, or where they are many as what they combine."""
    if len(record.arms) <= MOST_ARMS:
        return "; ".join(record.arms)
    arms = record.plan.arms()
    levels = [
        f"{component} ({', '.join(dict.fromkeys(arm.level(component) for arm in arms))})"
        for component in record.plan.varied()
    ]
    return f"{len(record.arms)}: all combinations of {', '.join(levels)}"


def _whole(results: Sequence[ArmRecord]) -> list[ArmRecord]:
    """Return the results of all learners and sizes together, or of the only one."""
    found = [result for result in results if result.learner is None and result.blocks is None]
    return found or list(results)


def _big_numbers(record: SharingRecord) -> list[dict[str, str]]:
    whole = {result.arm: result for result in _whole(record.results)}
    if not record.effects or len(record.plan.varied()) != 1:
        return []
    effect = record.effects[0]
    first, second = (whole[record.plan.arm_at(effect.component, level)] for level in (effect.level, effect.against))
    return [
        _big("observed", f"failed by all ({first.arm})", first.systemic_failure, "percent"),
        _big("expected", f"failed by all ({second.arm})", second.systemic_failure, "percent"),
        _big("ratio", f"H, {first.arm} / {second.arm}", effect.ratio, "ratio"),
    ]


def _big(name: str, label: str, value: Any, kind: str) -> dict[str, str]:
    return {
        "name": name,
        "label": words.shown(label),
        "value": words.number(value, kind),
        "interval": words.interval(value, kind),
        "reason": words.reason_of(value),
    }


def _curve_arms(record: SharingRecord) -> tuple[str, ...]:
    """Return the arms that curves are drawn of: all if few, else the first and the last."""
    return record.arms if len(record.arms) <= MOST_CURVES else (record.arms[0], record.arms[-1])


def _curves(record: SharingRecord) -> list[Curve]:
    if len(record.plan.blocks) < 2:
        return []
    arms = _curve_arms(record)
    sized = [result for result in record.results if result.blocks is not None and result.arm in arms]
    values = [result.homogenization.value for result in sized if result.homogenization.value is not None]
    if not values:
        return []
    # A few very wide intervals must not flatten all curves: the axis ends at twice the farthest point from 1.
    reach = max(1.2, *values, *(1.0 / value for value in values if value > 0.0))
    ends = [end for result in sized for end in (result.homogenization.low, result.homogenization.high) if end]
    low = max(0.0, min([2.0 - reach, *ends, *values]), 1.0 - 2.0 * (reach - 1.0))
    high = min(max([*ends, *values]), 1.0 + 2.0 * (reach - 1.0))
    limits = (math.floor(low * 10) / 10, math.ceil(high * 10) / 10)
    learners = list(dict.fromkeys(result.learner for result in sized))
    return [
        Curve(
            learner or "all learners",
            figure(f"size-{index}", size_chart([r for r in sized if r.learner == learner], arms, limits)),
        )
        for index, learner in enumerate(learners)
    ]


def _print_interactions(record: SharingRecord, screen: Screen) -> None:
    if not record.interactions:
        return
    table = screen.table("Two components together", "effect of", "where shared / where not", "ratio", "interval")
    for one in record.interactions[:MOST_LISTED]:
        ends = words.interval(one.ratio, "ratio")
        screen.row(table, one.first, one.second, words.number(one.ratio, "ratio"), ends)
    screen.show(table)


def print_sharing(record: SharingRecord, console: Console) -> None:
    """Print an experiment, the sentence that matters first."""
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.headline, style="bold")
    if record.components_sentence:
        screen.paragraph(record.components_sentence)
    screen.blank()
    table = screen.table("By arm", "arm", "failed by all", "expected", "H", "accuracy", "trials")
    arms = _whole(record.results)
    for result in arms[:MOST_ARMS]:
        screen.row(
            table,
            result.arm,
            words.number(result.systemic_failure),
            words.number(result.expected),
            words.statistic(result.homogenization, "ratio", with_interval=not screen.narrow).partition(":")[0],
            words.number(result.accuracy),
            words.count(result.trials),
        )
    if len(arms) > MOST_ARMS:
        screen.row(table, f"... and {len(arms) - MOST_ARMS} more")
    screen.show(table)
    _print_interactions(record, screen)
    by_learner = [effect for effect in record.effects if effect.blocks is None]
    if by_learner:
        table = screen.table("H where it is shared / H where it is not", "learner", "compared", "ratio", "interval")
        for effect in by_learner[:MOST_LISTED]:
            ratio = words.number(effect.ratio, "ratio")
            screen.row(table, effect.learner or "all", _what(effect), ratio, words.interval(effect.ratio, "ratio"))
        if len(by_learner) > MOST_LISTED:
            screen.row(table, f"... and {len(by_learner) - MOST_LISTED} more")
        screen.show(table)
    show_learners(record.learners, screen)
    for note in record.notes:
        screen.paragraph(f"- {note}")
