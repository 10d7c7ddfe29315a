"""What the sections of the HTML report hold: which there are, their charts, and their sentences.

Reads an AuditRecord and computes nothing; HTML stands in the templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from polyculture.audit.records import AuditRecord, GapRecord, GroupRecord, KindRecord, KindsRecord, Outcome, ProfileRow
from polyculture.report import charts, components, heatmap, kinds, ladder, similarity, words
from polyculture.report.panel import majority_words
from polyculture.report.slices import searched_words, slices_chart
from polyculture.report.vega import svg

__all__ = [
    "MOST_TABLE_ROWS",
    "Figure",
    "GroupTable",
    "Profile",
    "context",
    "figure",
    "gap_columns",
    "kinds_context",
    "outcomes",
]

MOST_TABLE_ROWS = 200  # longer tables stand in --tables and --json
MOST_PROFILES = 3
MOST_GROUP_MODELS = 8
GAPS = {
    "failure_rate": "Failure rate",
    "demographic_parity": "Demographic parity",
    "equalized_odds": "Equalized odds",
}


class Figure(NamedTuple):
    """A chart as SVG in both sizes, its name for the page, and what it leaves out."""

    name: str
    wide: Markup
    compact: Markup
    note: str
    compact_note: str


class Profile(NamedTuple):
    """The profile of individuals with the same number of judgements."""

    judged: int
    individuals: int
    rows: Sequence[ProfileRow]
    figure: Figure | None
    sentence: str


class GroupTable(NamedTuple):
    """All groups over the same columns."""

    by: tuple[str, ...]
    title: str
    groups: Sequence[GroupRecord]
    figure: Figure | None
    models: tuple[str, ...]


def context(record: AuditRecord) -> dict[str, Any]:
    """Return everything that the template needs beside the record."""
    profiles = _profiles(record.profile, record.noun)
    patterns = heatmap.patterns_chart(record.patterns, record.noun) if record.patterns else None
    tables = _group_tables(record.groups)
    gaps = [(gap, figure(f"gaps-{index}", charts.gaps_chart(gap))) for index, gap in enumerate(record.gaps)]
    return {
        "contents": list(_contents(record)),
        "big_numbers": _big_numbers(record.systemic_failure, record.noun),
        "census": record.provenance.census,
        "noun": record.noun,
        "one": words.one_of(record.noun),
        "rule": words.rule_of(record),
        "label_errors": any(outcome.label_errors is not None for _, _, outcome in outcomes(record)),
        "everyone": record.individuals + sum(record.judged_too_little.values()),
        "any_no_answer": any(model.no_answer for model in record.models),
        "outcomes": outcomes(record),
        "profiles": profiles,
        "patterns_figure": figure("patterns", patterns),
        "patterns_legend": [] if patterns is None else heatmap.legend(patterns.rows),
        "who_did_not_judge": _who_did_not_judge(record),
        "patterns_sentence": _patterns_sentence(record),
        "models_figure": figure("models", charts.models_chart(record.models)) if record.models else None,
        "group_tables": tables,
        "gaps": gaps,
        "gap_columns": gap_columns,
        "most_rows": MOST_TABLE_ROWS,
        "heat": heatmap.heat,
        "ladder": _ladder(record),
        "kinds": None if record.kinds is None else kinds_context(record.kinds, record.noun),
        **similarity.context(record),
        "slices_figure": None if record.slices is None else figure("slices", slices_chart(record.slices)),
        "searched_words": "" if record.slices is None else searched_words(record.slices, record.noun),
        **components.context(record),
        "component_figure": None
        if record.components is None
        else figure("components", components.components_chart(record.components.components)),
        "majority_words": "" if record.panel is None else majority_words(record.panel, record.noun),
    }


def _ladder(record: AuditRecord) -> dict[str, Any]:
    chart = ladder.ladder_chart(record.nulls, record.systemic_failure, record.noun)
    return {
        "rows": ladder.ladder_rows(record.nulls),
        "verdict": ladder.verdict(record),
        "figure": figure("ladder", chart),
    }


def kinds_context(found: KindsRecord, noun: str) -> dict[str, Any]:
    """Return what the section on kinds of decision-makers needs."""
    columns = [
        {
            "column": column,
            "rows": rows,
            "compared": kinds.known_excess(
                *(one for row in rows for one in (row.outcome, row.group.homogeneous_outcomes))
            ),
            "figure": figure(f"kind-groups-{index}", kinds.excess_chart(rows)),
            "same_figure": figure(f"kind-groups-same-{index}", kinds.excess_chart(rows, "homogeneous_outcomes")),
        }
        for index, (column, rows) in enumerate(kinds.group_rows(found).items())
    ]
    # How many of one model fail is its failure rate again, which the table has.
    several = [(index, kind) for index, kind in enumerate(found.kinds) if len(kind.models) > 1]
    return {
        "found": found,
        "columns": columns,
        "profiles": [(kind, _profile_of_kind(index, kind, noun)) for index, kind in several],
        "verdict": kinds.kinds_verdict(found),
        "nothing": kinds.nothing_words(found),
        "differences": kinds.known_differences(found),
    }


def _profile_of_kind(index: int, kind: KindRecord, noun: str) -> Figure | None:
    """Return the profile of the most common number of judgements by one kind."""
    found: dict[int, list[ProfileRow]] = {}
    for row in kind.profile:
        found.setdefault(row.judged, []).append(row)
    if not found:
        return None
    rows = max(found.values(), key=lambda rows: sum(row.count for row in rows))
    return figure(f"kind-profile-{index}", charts.profile_chart(rows, noun))


def _contents(record: AuditRecord) -> Iterable[tuple[str, str]]:
    """Yield id and title of each section that has content."""
    sections: tuple[tuple[object, str, str], ...] = (
        (True, "outcomes", "Observed and expected"),
        (record.profile, "profile", f"How many models fail each {words.one_of(record.noun)}"),
        (record.patterns, "patterns", "Who is failed together"),
        (record.models, "models", "Each model by itself"),
        (record.groups, "groups", "Groups"),
        (
            record.group_homogenization is not None or record.group_homogenization_by_column,
            "group-homogenization",
            "Group homogenization",
        ),
        (record.gaps, "gaps", "What a model-by-model audit misses"),
        (record.collection is not None, "collection", "How alike the models are"),
        (record.panel is not None, "panel", "As a panel that decides by majority"),
        (record.pairs, "pairs", "Pairs of models"),
        (record.components is not None, "components", "What goes with likeness"),
        (record.suspect_keys is not None, "suspect-keys", "Labels to look at again"),
        (record.slices is not None, "slices", "Who is failed"),
        (record.nulls, "nulls", "Models of chance"),
        (record.kinds is not None, "kinds", "Kinds of decision-makers"),
        (record.portfolio is not None, "portfolio", "What would help"),
        (record.no_answer is not None, "no-answer", "No answer, read both ways"),
        (record.notes or record.provenance.warnings, "notes", "Warnings and notes"),
        (True, "reading", "How to read these numbers"),
    )
    yield from ((name, title) for shown, name, title in sections if shown)


def outcomes(record: AuditRecord) -> list[tuple[str, str, Outcome]]:
    """Return the three outcomes with their name and what they mean."""
    return [
        ("Systemic failure", "every model fails", record.systemic_failure),
        ("Consistent success", "no model fails", record.consistent_success),
        ("Homogeneous outcomes", "all fail or none does", record.homogeneous_outcomes),
    ]


def _big_numbers(outcome: Outcome, noun: str) -> list[dict[str, str]]:
    """Return the three large numbers of page one.

    Where fewer than one event is expected a ratio says little, so the difference takes its place.
    """
    of = f"{words.count(outcome.count)} of {words.number_of(outcome.individuals, noun)}"
    ceiling = "" if outcome.ceiling is None else f"these failure rates allow at most {words.ratio(outcome.ceiling)}"
    few = outcome.expected is not None and outcome.expected * outcome.individuals < 1
    comparison = (
        _big(
            "difference",
            "Difference (excess): observed − expected",
            outcome.difference,
            "points",
            "fewer than one is expected",
        )
        if few
        else _big("ratio", "Ratio (H): observed / expected", outcome.ratio, "ratio", ceiling)
    )
    if not few and outcome.ratio.value is None and outcome.log10_ratio.value is not None:
        comparison["value"] = words.ratio(None, outcome.log10_ratio.value)
        comparison["interval"] = ""
    expected = _big("expected", "Expected if failures were independent", outcome.expected_interval, "percent", "")
    expected["value"] = words.expected_of(outcome)
    return [_big("observed", "Failed by every model", outcome.observed, "percent", of), expected, comparison]


def _big(name: str, label: str, value: Any, kind: str, below: str) -> dict[str, str]:
    return {
        "name": name,
        "label": label,
        "value": words.number(value, kind),
        "interval": words.interval(value, kind),
        "reason": words.reason_of(value),
        "below": below,
    }


def figure(name: str, chart: charts.Chart | None) -> Figure | None:
    """Return a chart drawn in both sizes, None where there is none."""
    if chart is None:
        return None
    drawn = [
        Markup(svg(spec).replace("<svg ", f'<svg role="img" aria-labelledby="{name}-caption" ', 1))  # noqa: S704 - vl-convert escapes
        for spec in (chart.wide, chart.compact)
    ]
    return Figure(name, drawn[0], drawn[1], chart.note, chart.compact_note)


def _profiles(profile: Sequence[ProfileRow], noun: str) -> list[Profile]:
    """Return one profile for each number of judgements, the one of most individuals first."""
    by_judged = [(judged, tuple(rows)) for judged, rows in groupby(profile, key=lambda row: row.judged)]
    by_judged.sort(key=lambda item: -sum(row.count for row in item[1]))
    return [
        Profile(
            judged,
            sum(row.count for row in rows),
            rows,
            figure(f"profile-{judged}", charts.profile_chart(rows, noun)) if index < MOST_PROFILES else None,
            _profile_sentence(rows, noun),
        )
        for index, (judged, rows) in enumerate(by_judged)
    ]


def _profile_sentence(rows: Sequence[ProfileRow], noun: str) -> str:
    first, last = rows[0], rows[-1]
    k = last.judged
    return (
        f"No model failed {words.number(first.observed)} of these {noun} "
        f"({words.expected(first.expected)} expected); "
        f"{words.all_models(k)} failed {words.number(last.observed)} "
        f"({words.expected(last.expected)} expected)."
    )


def _patterns_sentence(record: AuditRecord) -> str:
    """Return the chart of patterns in words: the most frequent patterns with a failure."""
    failing = [pattern for pattern in record.patterns if pattern.failed][:3]
    if not failing:
        return "No listed pattern holds a failure."
    told = "; ".join(
        f"{_who(pattern.failed, len(pattern.judged))} {words.percent(pattern.share)} "
        f"({words.expected(pattern.expected)} expected)"
        for pattern in failing
    )
    return f"The most frequent patterns with a failure: {told}."


def _who(names: Sequence[str], judged: int) -> str:
    if len(names) == judged and judged > 1:
        return words.all_models(judged)
    if len(names) > 4:
        return f"{len(names)} of {judged} models"
    return words.listed(names) + (" alone" if len(names) == 1 else "")


def _who_did_not_judge(record: AuditRecord) -> list[str]:
    """Return for each pattern which models did not judge, where all others did; empty where all judged."""
    names = [model.name for model in record.models]
    found = []
    for pattern in record.patterns:
        silent = [words.shorten(words.shown(name), 28) for name in names if name not in pattern.judged]
        if len(silent) > 4:
            silent = [*silent[:3], f"{len(silent) - 3} more"]
        found.append(f"not judged by {words.listed(silent)}" if silent else "")
    return found


def gap_columns(gap: GapRecord) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return the columns of the table of gaps that any model has, and why others are left out.

    Parameters
    ----------
    gap : GapRecord
        Gaps between the groups of a column.

    Returns
    -------
    list of (str, str, str)
        Field, heading, and kind of number.
    list of str
        One sentence for each measure that is undefined for all models.
    """
    shown, reasons = [], []
    for name, words_for in GAPS.items():
        fields = ((f"{name}_difference", "gap"), (f"{name}_ratio", "ratio"))
        known = [
            (field, words_for, kind)
            for field, kind in fields
            if name == "failure_rate" or any(getattr(model, field).value is not None for model in gap.models)
        ]
        shown += known
        if not known and gap.models:
            reasons.append(f"{words_for} is not shown: {words.reason_of(getattr(gap.models[0], fields[0][0]))}.")
    return shown, reasons


def _group_tables(groups: Sequence[GroupRecord]) -> list[GroupTable]:
    """Return the groups by the columns that make them, single columns before intersections."""
    columns: dict[tuple[str, ...], list[GroupRecord]] = {}
    for group in groups:
        columns.setdefault(tuple(group.by), []).append(group)
    ordered = sorted(columns.items(), key=lambda item: len(item[0]))
    return [
        GroupTable(
            by,
            "By " + words.listed([words.shown(column) for column in by]),
            members,
            figure(f"groups-{index}", charts.groups_chart(members)),
            _group_models(members),
        )
        for index, (by, members) in enumerate(ordered)
    ]


def _group_models(groups: Sequence[GroupRecord]) -> tuple[str, ...]:
    """Return the models of the table of groups by models; none where it would be too wide."""
    names = next((tuple(model.name for model in group.models) for group in groups if group.models), ())
    return names if len(names) <= MOST_GROUP_MODELS else ()
