"""Group homogenization: do all models fail the same groups, over all columns crossed and by each column.

The measures and their corrections stand in ``stats.group_homogenization``; here groups get their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.partition import partition
from polyculture.audit.proportion import from_estimated, number
from polyculture.audit.records import GroupHomogenization
from polyculture.audit.rows import merge

if TYPE_CHECKING:
    from polyculture.audit.partition import Group, Partition
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View


def homogenizations(
    everyone: View, settings: Settings
) -> tuple[GroupHomogenization | None, tuple[GroupHomogenization, ...]]:
    """Return group homogenization over all columns crossed, and by each column where there are several.

    Parameters
    ----------
    everyone : View
        All individuals, also those judged by one model: products of group rates need no individual whom
        several models judged.
    settings : Settings
        Seed and census.

    Returns
    -------
    GroupHomogenization or None
        None without group columns.
    tuple of GroupHomogenization
        Empty with a single column.
    """
    columns = everyone.tally.groups
    if not columns:
        return None, ()
    crossed = homogenization(everyone, partition(everyone.tally, columns), settings)
    if len(columns) == 1:
        return crossed, ()
    each = (homogenization(everyone, partition(everyone.tally, (column,)), settings) for column in columns)
    return crossed, tuple(each)


def homogenization(everyone: View, groups: Partition, settings: Settings) -> GroupHomogenization:
    """Return the group homogenization of one partition.

    Parameters
    ----------
    everyone : View
        All individuals.
    groups : Partition
        Groups with values that are not known are left out and counted.
    settings : Settings
        Seed and census.

    Returns
    -------
    GroupHomogenization
        ``left_out`` counts individuals in groups that are not known, and in groups that a model did not judge.
    """
    from polyculture.stats.group_homogenization import group_homogenization

    known = [group for group in groups.groups if not group.unknown]
    place_of = np.full(len(everyone.tally.cells), -1, dtype=np.int64)
    for place, group in enumerate(known):
        place_of[list(group.cells)] = place
    of_row = place_of[everyone.tally.patterns.cell]
    inside = of_row >= 0
    merged = merge(everyone.rows.take(inside), of_row[inside])
    rows = merged.rows
    found = group_homogenization(
        rows.judged,
        rows.failed,
        rows.count,
        rows.weight if rows.weighted else None,
        rows.weight_squared if rows.weighted else None,
        of_row[inside][merged.first],
        len(known),
        rows.cluster,
        None if settings.census else settings.generator("group homogenization", groups.columns),
        census=settings.census,
    )
    left_out = {
        "group not known": everyone.individuals([c for g in groups.groups if g.unknown for c in g.cells]),
        "not judged by every model": everyone.individuals([c for n in found.left_out for c in known[n].cells]),
    }
    return GroupHomogenization(
        by=groups.columns,
        groups=found.groups,
        individuals=everyone.individuals([c for group in known for c in group.cells])
        - left_out["not judged by every model"],
        average=from_estimated(found.average),
        uniform=from_estimated(found.uniform),
        worst=from_estimated(found.worst),
        spread=from_estimated(found.spread),
        worst_group=_values(known, found.worst_group),
        average_corrected=from_estimated(found.average_corrected),
        uniform_corrected=from_estimated(found.uniform_corrected),
        worst_corrected=from_estimated(found.worst_corrected),
        spread_corrected=from_estimated(found.spread_corrected),
        spread_p_value=number(found.spread_p_value),
        relative_bias=number(found.relative_bias),
        reliable=bool(found.reliable),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def _values(known: list[Group], worst: int | None) -> dict[str, str | None]:
    return {} if worst is None else known[worst].by
