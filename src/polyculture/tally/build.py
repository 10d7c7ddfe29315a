"""The one pass: outcomes -> Tally, computed by the engine that holds the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import ColumnError, InputError, UsageError
from polyculture.outcomes import Outcomes
from polyculture.outcomes.answers import refuse_unsaid_value
from polyculture.outcomes.individuals import Individuals, individuals_of
from polyculture.outcomes.survey import Survey, refuse_many_groups, survey_of
from polyculture.tally import large
from polyculture.tally.answers import answers_of
from polyculture.tally.cells import Cell, in_order
from polyculture.tally.counts import ExactTables
from polyculture.tally.grouped import Grouped, patterns_of
from polyculture.tally.large import (
    ProfileRows,
    complete_indicators,
    exact_tables,
    is_complete_indicators_candidate,
    pair_tables,
    pairs_of,
    profile_rows,
    sample_of,
)
from polyculture.tally.probabilities import probabilities_of
from polyculture.tally.tables import RawPatterns
from polyculture.tally.tally import Tally

__all__ = ["build"]

MANY = 1 << 20
"""So many distinct patterns are kept; beyond, exact tables and a sample of individuals are."""

_FEW_MODELS = 20
_CLUSTER_LIMIT = 1000


def build(outcomes: Outcomes) -> Tally:
    """Make the Tally of outcomes; see ``Tally.of``."""
    counted = _count_large(outcomes) if len(outcomes.models) > _FEW_MODELS else _count_patterns(outcomes)
    survey, people, found, tables = counted.survey, counted.people, counted.found, counted.tables
    names, cluster = _clusters(outcomes, found, survey.rows)
    raw = RawPatterns(
        judged=found.judged,
        failed=found.failed,
        no_answer=found.no_answer,
        cell=counted.cell,
        cluster=cluster,
        label_class=found.label_class,
        count=found.count,
        weight=found.weight,
        weight_squared=found.weight_squared,
        priority=found.priority,
    )
    if outcomes.mapping.min_judged > max(2, len(outcomes.models)):
        raise UsageError(
            f"min_judged={outcomes.mapping.min_judged}, but there are only {len(outcomes.models)} models.",
            hint=f"Give {len(outcomes.models)} or less.",
        )
    if tables is not None:
        raw = raw.lowest(large.SAMPLE)
    elif int(raw.count.sum()) == 0:
        raise InputError(f"No individual of {outcomes.source} is left.", hint="See --dry-run for what was left out.")
    if not raw.failed.any():
        # Nobody failed: perhaps true, perhaps the rule names a value that is spelt otherwise.
        refuse_unsaid_value(outcomes)
    return Tally(
        models=outcomes.models,
        groups=tuple(group.name for group in outcomes.groups),
        cells=counted.cells,
        raw=raw.merged(),
        tables=tables,
        answers=answers_of(outcomes, binary_labels=people.label_class is not None),
        probabilities=probabilities_of(outcomes),
        failure_rule=str(outcomes.rule),
        no_answer_policy=outcomes.mapping.no_answer,
        min_judged=outcomes.mapping.min_judged,
        weighted=outcomes.mapping.weight is not None,
        cluster_names=names,
        thresholds=_thresholds(outcomes),
        no_answer_reasons=people.reasons,
        binary_labels=people.label_class is not None,
        selection=people.selection,
        rows_read=survey.rows,
        rows_used=survey.used,
        left_out=survey.left_out,
    )


@dataclass(frozen=True)
class _Counted:
    """What the pass found, before names are given to numbers."""

    survey: Survey
    people: Individuals
    found: Grouped
    tables: ExactTables | None
    cells: tuple[Cell, ...]
    cell: npt.NDArray[np.int64]


def _count_patterns(outcomes: Outcomes) -> _Counted:
    people = individuals_of(outcomes)
    found = patterns_of(people, len(outcomes.models))
    cells, (cell,) = _cells(outcomes, [found])
    return _Counted(outcomes.survey, people, found, None, cells, cell)


def _count_large(outcomes: Outcomes) -> _Counted:
    """Count outcomes of many models: patterns while individuals are few, else exact tables and a sample."""
    survey = survey_of(outcomes, models=False)
    if survey.rows <= MANY:
        return _count_patterns(outcomes)
    models, one_pass = len(outcomes.models), None
    if is_complete_indicators_candidate(outcomes):
        one_pass = complete_indicators(outcomes, survey)
    if one_pass is None:
        # Reading the models' columns first for missing values costs a pass of its own.
        survey = outcomes.survey
    people = individuals_of(outcomes, survey)
    rows = profile_rows(people, outcomes)
    if one_pass is None:
        found, pairs = sample_of(people, outcomes), pair_tables(people, outcomes, int(rows.count.sum()))
    else:
        frame = nw.from_native(one_pass.sample)
        found, pairs = patterns_of(people, models, frame, priority=True), pairs_of(one_pass, survey.rows)
    cells, (cell, row_cell) = _cells(outcomes, [found, rows])
    return _Counted(survey, people, found, exact_tables(rows, row_cell, models, pairs), cells, cell)


def _thresholds(outcomes: Outcomes) -> dict[str, float]:
    edges = {f"{name} edge {i + 1}": edge for name, found in outcomes.edges.items() for i, edge in enumerate(found)}
    return {**outcomes.thresholds, **edges}


def _cells(
    outcomes: Outcomes, parts: Sequence[Grouped | ProfileRows]
) -> tuple[tuple[Cell, ...], list[npt.NDArray[np.int64]]]:
    """Return all cells in order, and for each part the cell of each of its rows."""
    if not outcomes.groups:
        return ((),), [np.zeros(len(part.count), dtype=np.int64) for part in parts]
    shown = [_shown(outcomes, part.groups) for part in parts]
    cells = in_order(cell for part in shown for cell in part)
    index = {cell: i for i, cell in enumerate(cells)}
    return cells, [np.array([index[cell] for cell in part], dtype=np.int64) for part in shown]


def _shown(outcomes: Outcomes, part: tuple[list[Any], ...]) -> list[Cell]:
    columns = []
    for group, values in zip(outcomes.groups, part, strict=True):
        edges = outcomes.edges.get(group.name)
        texts = {value: group.show(value, edges) for value in set(values)}
        refuse_many_groups(group, len(texts), outcomes.mapping.max_groups)
        columns.append([texts[value] for value in values])
    return list(zip(*columns, strict=True))


def _clusters(outcomes: Outcomes, found: Grouped, rows: int) -> tuple[tuple[str, ...] | None, npt.NDArray[np.int64]]:
    if outcomes.mapping.cluster is None:
        return None, np.full(len(found.count), -1, dtype=np.int64)
    missing = sum(value is None for value in found.clusters)
    if missing:
        raise ColumnError(
            f"The cluster column {outcomes.mapping.cluster!r} is empty on some rows.",
            hint="Give every individual a cluster; one of its own where it belongs to none.",
        )
    names = sorted({str(value) for value in found.clusters})
    if len(names) > _CLUSTER_LIMIT and rows > MANY:
        raise ColumnError(
            f"The cluster column {outcomes.mapping.cluster!r} has {len(names):,} clusters, over {_CLUSTER_LIMIT:,}.",
            hint="Join small clusters; a thousand are enough for an interval.",
        )
    index = {name: i for i, name in enumerate(names)}
    return tuple(names), np.array([index[str(value)] for value in found.clusters], dtype=np.int64)
