"""The groups of each column and their intersections: who all models failed inside each of them.

Every group is held against its own failure rates. Groups against each other are for `contrasts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyculture.audit.outcome import Measured, measure
from polyculture.audit.profile import profile
from polyculture.audit.proportion import SAMPLED, design_shares, flag_design, plain_shares, scaled
from polyculture.audit.records import GroupModel, GroupRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.partition import Group, Partition
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View

TOO_FEW = "too few"
REPORTED = "reported"
UNKNOWN = "unknown"
MOST_DETAILS = 20_000  # figures by group and model, or by group and number of failures, in all


@dataclass(frozen=True)
class GroupFigures:
    """A group's record and what comparisons need: its place in the partition and its systemic failure."""

    group: Group
    record: GroupRecord
    systemic: Measured | None


def groups(view: View, everyone: View, partition: Partition, settings: Settings) -> list[GroupFigures]:
    """Measure each group of a partition.

    Parameters
    ----------
    view : View
        The individuals of the headline.
    everyone : View
        All individuals, for the failure rates of single models.
    partition : Partition
        The groups.
    settings : Settings
        Seed, smallest cell, census.

    Returns
    -------
    list of GroupFigures
        One a group, in the order of the partition. Groups below the smallest cell have no figures.
    """
    detailed = len(partition.groups) * (len(view.tally.models) + 1) <= MOST_DETAILS
    return [_group(view, everyone, group, settings, detailed=detailed) for group in partition.groups]


def _group(view: View, everyone: View, group: Group, settings: Settings, *, detailed: bool) -> GroupFigures:
    ours = view.group(group.cells)
    individuals = ours.individuals
    if individuals < max(settings.min_cell, 1):
        record = GroupRecord(by=group.by, individuals=individuals, status=TOO_FEW)
        return GroupFigures(group, record, None)
    names = list(group.by.values())
    systemic, success = (measure(ours, event, settings, names) for event in ("all_fail", "none_fail"))
    record = GroupRecord(
        by=group.by,
        individuals=individuals,
        status=UNKNOWN if group.unknown else REPORTED,
        systemic_failure=systemic.outcome,
        consistent_success=success.outcome,
        homogeneous_outcomes=measure(ours, "same", settings, names).outcome,
        profile=profile(ours, settings, systemic_failure=systemic.outcome, consistent_success=success.outcome)
        if detailed
        else (),
        models=group_models(everyone, group.cells, settings) if detailed else (),
    )
    return GroupFigures(group, record, systemic)


def group_models(everyone: View, cells: Sequence[int], settings: Settings) -> tuple[GroupModel, ...]:
    """Return each model's failure rate inside a group.

    Parameters
    ----------
    everyone : View
        All individuals.
    cells : sequence of int
        The cells of the group.
    settings : Settings
        Whether this is a census.

    Returns
    -------
    tuple of GroupModel
        One a model.
    """
    tally, own = everyone.tally, list(cells)
    table = tally.model_table()
    judged, failed = table.judged[own].sum(axis=0), table.failed[own].sum(axis=0)
    silent = table.no_answer[own].sum(axis=0)
    if everyone.rows.plain:
        rates = plain_shares(failed, judged, census=settings.census)
    else:
        ours = everyone.group(cells)
        design = flag_design(ours.rows.failed, ours.rows.judged, ours.rows)
        note = ""
        if not tally.exact:
            factor = float(ours.individuals) / max(ours.rows.individuals, 1)
            design, note = scaled(design, ours.rates, factor), SAMPLED
        rates = design_shares(design, judged, census=settings.census, note=note)
    return tuple(
        GroupModel(
            name=name,
            judged=int(judged[j]),
            failed=int(failed[j]),
            no_answer=int(silent[j]),
            failure_rate=rates[j],
        )
        for j, name in enumerate(tally.models)
    )


def known_cells(figures: Sequence[GroupFigures]) -> list[int]:
    """Return the cells of all groups whose values are known, also of those that are too small to report."""
    return sorted(int(cell) for f in figures if not f.group.unknown for cell in f.group.cells)
