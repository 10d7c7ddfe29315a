"""A feedback loop on the terminal, as one HTML page, and in a notebook; computes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.loops.records import CollapseRecord, CurveRecord, LoopRecord
from polyculture.lab.loops.sentences import accuracy_changes, flag, most_failed_by_all, worst_change
from polyculture.lab.loops.units import CHANGE, LAST
from polyculture.report import words
from polyculture.report.html import environment, template_text
from polyculture.report.lab_loop_charts import LOOK, Line, accounting_chart, ends, highest_share, lines_chart
from polyculture.report.lab_loop_curves import curve_tables
from polyculture.report.lab_loop_people import strata_tables, strips
from polyculture.report.lab_sharing import step_words
from polyculture.report.sections import MOST_TABLE_ROWS, Figure, figure

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["html", "print_loop", "repr_html"]

KINDS = {"share": "percent", "points": "gap", "ratio": "ratio", "number": "number"}
DECISIONS = (
    "accuracy",
    "worst_group_accuracy",
    "demographic_parity_difference",
    "equalized_odds_difference",
    "largest_class",
)
RATES = ("accuracy_difference", "demographic_parity_ratio", "equalized_odds_ratio", "selection_rate")
PEOPLE = ("divergence", "trained_divergence", "frechet", "mmd", "precision", "recall")
ECOSYSTEM = ("systemic_failure", "expected", "homogenization", "group_homogenization")
TITLES = {
    "accuracy": "accuracy",
    "accuracy_difference": "accuracy gap",
    "worst_group_accuracy": "accuracy of the worst group",
    "demographic_parity_difference": "demographic parity difference",
    "equalized_odds_difference": "equalized odds difference",
    "demographic_parity_ratio": "demographic parity ratio",
    "equalized_odds_ratio": "equalized odds ratio",
    "selection_rate": "selection rate",
    "largest_class": "most frequent decision",
    "divergence": "KL(generated || ideal)",
    "trained_divergence": "KL(trained on || ideal)",
    "frechet": "Fréchet distance to the original",
    "mmd": "Discrepancy from the original (MMD²)",
    "precision": "precision of coverage",
    "recall": "recall of coverage",
    "systemic_failure": "failed by all",
    "expected": "expected if independent",
    "homogenization": "H",
    "group_homogenization": "group H, uniform",
}


class ArmView(NamedTuple):
    """What the page shows of one arm."""

    name: str
    flag: str
    levels: Figure | None
    levels_words: str
    gaps: Figure | None
    gaps_words: str
    ecosystem: Figure | None
    ecosystem_words: str


class Books(NamedTuple):
    """The figure of the selections of one arm for one purpose."""

    arm: str
    purpose: str
    figure: Figure | None


def html(record: LoopRecord) -> str:
    """Return the loop as one HTML page that requests nothing from anywhere."""
    group = _smallest(record)
    page: str = (
        environment()
        .get_template("lab-loop.html.jinja")
        .render(
            record=record,
            plan=record.plan,
            style=template_text("report.css"),
            big_numbers=_big_numbers(record),
            arms=[_arm(record, index, name, group) for index, name in enumerate(record.arms)],
            level_names=_level_names(record, group),
            gap_names=("demographic parity difference", "equalized odds difference"),
            ecosystem_names=("failed by all", "expected if independent"),
            look=LOOK,
            tables=[
                ("decisions", "Decisions on real people", _rows(record, DECISIONS, beside=True)),
                ("rates", "Ratios and rates of these decisions", _rows(record, RATES)),
                ("people", "Generated people", _rows(record, PEOPLE)),
                *([("ecosystem", "Several decision-makers", _rows(record, ECOSYSTEM))] if _several(record) else []),
            ],
            primary=[one for one in record.endpoints if one.primary],
            by_group=_by_group(record),
            curve_tables=curve_tables(record, TITLES, KINDS),
            books=_books(record),
            strata=strata_tables(record),
            strips=strips(record),
            first_and_last=_first_and_last(record),
            kinds=KINDS,
            titles=TITLES,
            flag=flag,
            most_rows=MOST_TABLE_ROWS,
            step_words=step_words,
            difference_kind=difference_kind,
        )
    )
    return page


def repr_html(record: LoopRecord) -> str:
    """Return the headline and the arms as a small HTML table."""
    table = _rows(record, ("accuracy", "equalized_odds_difference", "divergence"), beside=True)
    kinds = [kind for _, kind in table["columns"]]
    heads = Markup("").join(Markup("<th>{}</th>").format(words.shown(title)) for title, _ in table["columns"])
    rows = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(
            words.shown(name),
            Markup("").join(
                Markup("<td>{}</td>").format(words.statistic(value, kind))
                for value, kind in zip(values, kinds, strict=True)
            ),
        )
        for name, values, _ in table["rows"]
    )
    return str(
        Markup(
            "<div><p><strong>{}</strong></p><table><thead><tr><th>arm</th>{}</tr></thead><tbody>{}</tbody></table></div>"
        ).format(words.shown(record.headline), heads, rows)
    )


def difference_kind(measure: str, units: dict[str, str]) -> str:
    """Return how the difference of a measure is shown: signed points, or a number; a ratio of sums as a ratio."""
    if measure in {"homogenization", "group_homogenization"}:
        return "ratio"
    return "points" if units[measure] in {"share", "points"} else "number"


def _several(record: LoopRecord) -> bool:
    return len(record.decision_makers) > 1


def _end(record: LoopRecord, arm: str, measure: str, endpoint: str = LAST, of: str | None = None) -> Statistic:
    """Return one endpoint of an arm."""
    for one in record.endpoints:
        if (one.arm, one.measure, one.of, one.endpoint) == (arm, measure, of, endpoint):
            return one.value
    return undefined("not measured")


def _curve(record: LoopRecord, arm: str, measure: str, of: str | None = None) -> CurveRecord | None:
    return next((one for one in record.curves if (one.arm, one.measure, one.of) == (arm, measure, of)), None)


def _smallest(record: LoopRecord) -> str | None:
    """Return the smallest group of the original individuals; None where there are no groups."""
    if len(record.groups) < 2:
        return None
    shares = {name: sum(one.original for one in record.strata if one.group == name) for name in record.groups}
    return min(shares, key=lambda name: shares[name])


def _level_names(record: LoopRecord, group: str | None) -> list[str]:
    found = ["accuracy", f"share of class {record.favourable} among generated people"]
    return found if group is None else [*found, f"share of group {group} among them"]


def _arm(record: LoopRecord, index: int, name: str, group: str | None) -> ArmView:
    names = _level_names(record, group)
    curves = [_curve(record, name, "accuracy"), _curve(record, name, "class_share", record.favourable)]
    if group is not None:
        curves.append(_curve(record, name, "group_share", group))
    gaps = [_curve(record, name, f"{kind}_difference") for kind in ("demographic_parity", "equalized_odds")]
    together = [_curve(record, name, measure) for measure in ("systemic_failure", "expected")]
    highest = _highest(record, ("demographic_parity_difference", "equalized_odds_difference"))
    systemic = _highest(record, ("systemic_failure", "expected"))
    return ArmView(
        name,
        flag(next(one for one in record.collapse if one.arm == name)),
        figure(f"levels-{index}", lines_chart(list(map(Line, names, curves)), (0.0, 1.0))),
        _in_words(names, curves),
        figure(f"gaps-{index}", lines_chart(list(map(Line, ("parity", "odds"), gaps)), (0.0, highest))),
        _in_words(("demographic parity difference", "equalized odds difference"), gaps),
        figure(f"ecosystem-{index}", lines_chart(list(map(Line, ("failed", "expected"), together)), (0.0, systemic)))
        if _several(record)
        else None,
        _in_words(("failed by all", "expected"), together),
    )


def _in_words(names: Sequence[str], curves: Sequence[CurveRecord | None]) -> str:
    """Return where each line begins and ends, for those who do not see it."""
    told = [f"{name} {ends(one.value)}" for name, one in zip(names, curves, strict=True) if one is not None]
    return "; ".join(told)


def _highest(record: LoopRecord, measures: Sequence[str]) -> float:
    """Return the end of the axis that all arms share: no higher than half above the highest mean."""
    own = [one for one in record.curves if one.measure in measures and one.of is None]
    means = [value for one in own for value in one.value if value is not None]
    tops = [value for one in own for value in one.high if value is not None]
    if not means:
        return 1.0
    top = min(max([*means, *tops]), 1.5 * max(means), 1.0)
    return max(math.ceil(top * 20) / 20, 0.05)


def _rows(record: LoopRecord, measures: Sequence[str], *, beside: bool = False) -> dict[str, Any]:
    """Return one table: a row an arm, a column a measure, in the last generation; who is generated ``beside`` gaps."""
    there: list[tuple[str, str, str | None]] = [
        (TITLES[measure], measure, None) for measure in measures if measure in record.units
    ]
    if beside:  # right before the gaps
        place = next((place for place, one in enumerate(there) if one[1].endswith("_difference")), len(there))
        there[place:place] = _shares(record)
    return {
        "columns": [(title, KINDS[record.units[measure]]) for title, measure, _ in there],
        "rows": [
            (name, [_end(record, name, measure, of=of) for _, measure, of in there], _flag_of(record, name))
            for name in record.arms
        ],
    }


def _shares(record: LoopRecord) -> list[tuple[str, str, str | None]]:
    """Return what has to stand beside a gap: the shares of the favourable class and of the smallest group."""
    found: list[tuple[str, str, str | None]] = [
        (f"class {record.favourable} among generated people", "class_share", record.favourable)
    ]
    if (group := _smallest(record)) is not None:
        found.append((f"group {group} among generated people", "group_share", group))
    return [one for one in found if one[1] in record.units]


def _by_group(record: LoopRecord) -> list[tuple[str, list[Statistic]]]:
    """Return whom all decision-makers fail in the last generation, by arm and group."""
    if not _several(record) or len(record.groups) < 2:
        return []
    last = {
        (one.arm, one.of): one.value
        for one in record.endpoints
        if one.measure == "systemic_failure" and one.endpoint == LAST
    }
    none = undefined("not measured")
    return [(arm, [last.get((arm, group), none) for group in record.groups]) for arm in record.arms]


def _flag_of(record: LoopRecord, arm: str) -> str:
    return flag(_collapse_of(record, arm))


def _collapse_of(record: LoopRecord, arm: str) -> CollapseRecord:
    return next(one for one in record.collapse if one.arm == arm)


def _books(record: LoopRecord) -> list[Books]:
    keys = list(dict.fromkeys((one.arm, one.purpose) for one in record.accounting))
    own = [[one for one in record.accounting if (one.arm, one.purpose) == key] for key in keys]
    highest = max((highest_share(records) for records in own), default=0.0)
    limits = (0.0, min(max(math.ceil(highest * 20) / 20, 0.05), 1.0))
    return [
        Books(*key, figure(f"books-{index}", accounting_chart(records, limits)))
        for index, (key, records) in enumerate(zip(keys, own, strict=True))
    ]


def _first_and_last(record: LoopRecord) -> list[Any]:
    """Return the books of the first and the last generation of each arm and purpose."""
    found = []
    for key in dict.fromkeys((one.arm, one.purpose) for one in record.accounting):
        own = [one for one in record.accounting if (one.arm, one.purpose) == key]
        numbers = {min(one.generation for one in own), max(one.generation for one in own)}
        found += [one for one in own if one.generation in numbers]
    return found


def _big_numbers(record: LoopRecord) -> list[dict[str, str]]:
    """Return what the first sentence is about: an arm at its end, and what to hold it against."""
    most = most_failed_by_all(record.endpoints)
    if most is not None:
        return [
            _big("observed", f"failed by all at the end ({most.arm})", most.value, "percent"),
            _big("expected", "expected if they failed independently", _end(record, most.arm, "expected"), "percent"),
            _big("ratio", "times as many as expected (H)", _end(record, most.arm, "homogenization"), "ratio"),
        ]
    known = accuracy_changes(record.endpoints)
    if not known:
        return []
    worst = worst_change(known)
    return [
        _big("observed", f"accuracy at the end ({worst.arm})", _end(record, worst.arm, "accuracy"), "percent"),
        _big("ratio", f"change since generation 0 ({worst.arm})", worst.value, "points"),
        _big("expected", f"accuracy at the end ({record.arms[0]})", _end(record, record.arms[0], "accuracy"), "percent")
        if worst.arm != record.arms[0]
        else _big("expected", "most frequent decision", _end(record, worst.arm, "largest_class"), "percent"),
    ]


def _big(name: str, label: str, value: Statistic, kind: str) -> dict[str, str]:
    return {
        "name": name,
        "label": words.shown(label),
        "value": words.number(value, kind),
        "interval": words.interval(value, kind),
        "reason": words.reason_of(value),
    }


def print_loop(record: LoopRecord, console: Console) -> None:
    """Print a loop, the sentence that matters first."""
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.headline, style="bold")
    if record.accuracy_sentence:
        screen.paragraph(record.accuracy_sentence)
    screen.blank()
    beside = list(zip(("class", "group"), _shares(record), strict=False))
    table = screen.table(
        f"In the last of {record.plan.generations} generations",
        *("arm", "accuracy", "change", "parity", "odds", "KL"),
        *(title for title, _ in beside),
    )
    for name in record.arms:
        mark = " *" if _flag_of(record, name) else ""
        screen.row(
            table,
            name,
            words.number(_end(record, name, "accuracy")),
            words.number(_end(record, name, "accuracy", CHANGE), "points").removesuffix(" points"),
            words.number(_end(record, name, "demographic_parity_difference"), "gap").removesuffix(" points") + mark,
            words.number(_end(record, name, "equalized_odds_difference"), "gap").removesuffix(" points") + mark,
            words.number(_end(record, name, "divergence"), "number"),
            *(words.number(_end(record, name, measure, of=of)) for _, (_, measure, of) in beside),
        )
    screen.show(table)
    screen.paragraph(
        "Change is that of accuracy since generation 0, parity and odds are gaps between groups; all three in points. "
        "KL is the divergence of generated people from the ideal."
    )
    if beside:
        said = words.listed([f"{title} the share of {title} {of}" for title, (_, _, of) in beside])
        screen.paragraph(f"Among generated people {said.replace(' the share', ' is the share', 1)}.")
    if _several(record):
        table = screen.table("Decision-makers together", "arm", "failed by all", "expected", "H")
        for name in record.arms:
            shares = [_end(record, name, measure) for measure in ("systemic_failure", "expected")]
            ratio = words.number(_end(record, name, "homogenization"), "ratio")
            screen.row(table, name, *(words.number(one) for one in shares), ratio)
        screen.show(table)
    for one in record.collapse:
        if one.collapsed:
            screen.paragraph(
                f"{one.arm}: accuracy falls by more than {words.points(record.plan.collapse, sign=False)} and stays "
                f"there in {one.collapsed} of {one.seeds} seeds, from generation {one.first} on at the earliest."
            )
    if any(_flag_of(record, name) for name in record.arms):
        screen.paragraph("* classifiers that give nearly everyone the same class: a small gap there is no equality.")
    for note in record.notes:
        screen.paragraph(f"- {note}")
