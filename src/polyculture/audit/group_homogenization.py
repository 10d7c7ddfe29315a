"""Group homogenization: do all models fail the same groups, over all columns crossed and by each column.

The measures and their corrections stand in ``stats.group_homogenization``; here groups get their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit import words
from polyculture.audit.partition import partition
from polyculture.audit.proportion import from_estimated, number, why
from polyculture.audit.records import GroupHomogenization
from polyculture.audit.rows import merge
from polyculture.audit.settings import CENSUS

if TYPE_CHECKING:
    from polyculture.audit.partition import Group, Partition
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View


def homogenizations(
    view: View, everyone: View, settings: Settings
) -> tuple[GroupHomogenization | None, tuple[GroupHomogenization, ...]]:
    """Return group homogenization over all columns crossed, and by each column where there are several.

    Parameters
    ----------
    view : View
        The individuals of the headline, whose expected share the products are held against.
    everyone : View
        All individuals, to count those who are left out.
    settings : Settings
        Seed, smallest cell, census.

    Returns
    -------
    GroupHomogenization or None
        None without group columns.
    tuple of GroupHomogenization
        Empty with a single column.
    """
    tally = view.tally
    columns = tally.groups
    if not columns:
        return None, ()
    crossed = homogenization(view, everyone, partition(tally, columns), settings)
    if len(columns) == 1:
        return crossed, ()
    each = (homogenization(view, everyone, partition(tally, (column,)), settings) for column in columns)
    return crossed, tuple(each)


def homogenization(view: View, everyone: View, groups: Partition, settings: Settings) -> GroupHomogenization:
    """Return the group homogenization of one partition.

    Parameters
    ----------
    view, everyone : View
        The individuals of the headline, and all of them.
    groups : Partition
        Groups with values that are not known and groups below the smallest cell, whose figures are withheld, are
        left out and counted.
    settings : Settings
        Seed, smallest cell, census.

    Returns
    -------
    GroupHomogenization
        ``left_out`` counts individuals by why they are part of no product; with ``individuals`` it sums to all.
    """
    from polyculture.stats.group_homogenization import group_homogenization

    fewest = min(view.tally.min_judged, len(view.tally.models))
    sizes = {group.cells: view.individuals(group.cells) for group in groups.groups}
    least = max(settings.min_cell, 1)
    known = [group for group in groups.groups if not group.unknown and sizes[group.cells] >= least]
    place_of = np.full(len(view.tally.cells), -1, dtype=np.int64)
    for place, group in enumerate(known):
        place_of[list(group.cells)] = place
    of_row = place_of[view.tally.patterns.cell]
    inside = of_row >= 0
    merged = merge(view.rows.take(inside), of_row[inside])
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
        f"judged by fewer than {words.plural(fewest, 'model')}": int(everyone.tally.profile_table().count.sum())
        - sum(sizes.values()),
        "group not known": sum(sizes[g.cells] for g in groups.groups if g.unknown),
        f"in groups of fewer than {least:,}": sum(
            size for g in groups.groups if not g.unknown and (size := sizes[g.cells]) < least
        ),
        "in groups that not every model judged": sum(sizes[known[n].cells] for n in found.left_out),
    }
    return GroupHomogenization(
        by=groups.columns,
        groups=found.groups,
        individuals=sum(sizes[group.cells] for group in known) - sum(sizes[known[n].cells] for n in found.left_out),
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
        spread_p_method=CENSUS if settings.census else found.spread_method,
        relative_bias=number(found.relative_bias),
        relative_bias_reason=why(found.relative_bias, found.average.reason),
        reliable=bool(found.reliable),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def _values(known: list[Group], worst: int | None) -> dict[str, str | None]:
    return {} if worst is None else known[worst].by
