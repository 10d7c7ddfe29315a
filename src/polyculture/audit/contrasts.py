"""Each group against everyone else whose group is known, with tests corrected for their number.

The comparison of two sets of individuals stands in ``stats.contrasts``; here it is decided who is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from polyculture.audit.groups import REPORTED, GroupFigures, known_cells
from polyculture.audit.outcome import slice_moments
from polyculture.audit.proportion import SAMPLED, from_estimated, number
from polyculture.audit.records import Contrast
from polyculture.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.records import GroupRecord
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View
    from polyculture.stats.homogeneity import Moments
    from polyculture.stats.intervals import Estimated

# The two sets of cells that are compared: A against B and B against A are one test.
Comparison = frozenset[tuple[int, ...]]


def contrasted(view: View, partitions: Sequence[Sequence[GroupFigures]], settings: Settings) -> tuple[GroupRecord, ...]:
    """Put a contrast beside the figures of every reported group.

    Parameters
    ----------
    view : View
        The individuals of the headline.
    partitions : sequence of sequence of GroupFigures
        The groups of each partition.
    settings : Settings
        Census, and how p-values are corrected.

    Returns
    -------
    tuple of GroupRecord
        All groups of all partitions in their order. ``p_adjusted`` is corrected over all contrasts of the audit.

    Raises
    ------
    UsageError
        If the correction is unknown.
    """
    contrasts = [_contrasts(view, figures, settings) for figures in partitions]
    compared = {key: contrast for each in contrasts for key, contrast in each.values()}
    corrected = dict(zip(compared, adjusted([c.p_value for c in compared.values()], settings), strict=True))
    found = []
    for figures, each in zip(partitions, contrasts, strict=True):
        for place, f in enumerate(figures):
            record = f.record
            if place in each:
                key, contrast = each[place]
                contrast = msgspec.structs.replace(contrast, p_adjusted=corrected[key])
                record = msgspec.structs.replace(record, contrast=contrast)
            found.append(record)
    return tuple(found)


def adjusted(p_values: Sequence[float | None], settings: Settings) -> list[float | None]:
    """Return p-values corrected for their number, as the settings say.

    Raises
    ------
    UsageError
        If the correction is unknown.
    """
    from polyculture.stats.multiplicity import benjamini_hochberg, holm

    corrections = {"bh": benjamini_hochberg, "holm": holm}
    if settings.correction not in corrections:
        raise UsageError(
            f"There is no correction {settings.correction!r}.",
            hint="Use 'bh' (Benjamini-Hochberg) or 'holm'.",
        )
    return [number(p) for p in corrections[settings.correction](p_values)]


def _contrasts(
    view: View, figures: Sequence[GroupFigures], settings: Settings
) -> dict[int, tuple[Comparison, Contrast]]:
    """Return the contrasts of one partition by the place of their group, with who is compared."""
    known = known_cells(figures)
    moments = {f.group.cells: f.systemic.moments for f in figures if f.systemic is not None}
    found = {}
    for place, f in enumerate(figures):
        others = tuple(sorted(set(known) - set(f.group.cells)))
        if f.systemic is None or f.record.status != REPORTED or not others:
            continue
        # With two groups, everyone else is the other group, which was measured already.
        rest = moments.get(others)
        if rest is None:
            rest = slice_moments(view.rest(known, f.group.cells), "all_fail")
        contrast = _contrast(f.systemic.moments, rest, settings, sampled=not view.tally.exact)
        if contrast is not None:
            found[place] = frozenset({f.group.cells, others}), contrast
    return found


def _contrast(ours: Moments, rest: Moments, settings: Settings, *, sampled: bool) -> Contrast | None:
    from polyculture.stats.contrasts import contrast

    if rest.n == 0:
        return None
    found = contrast(ours, rest, census=settings.census)
    note = SAMPLED if sampled else ""
    return Contrast(
        difference=from_estimated(found.difference),
        ratio=from_estimated(found.ratio),
        excess_difference=from_estimated(found.excess_difference, note=note),
        homogenization_ratio=from_estimated(found.homogenization_ratio, note=note),
        p_value=number(found.p_value),
        p_adjusted=None,
        method=f"systemic failure against everyone else: {found.method}",
        signs_disagree=bool(found.signs_disagree)
        and (settings.census or _excludes(found.excess_difference, 0.0) or _excludes(found.homogenization_ratio, 1.0)),
    )


def _excludes(contrast: Estimated, none: float) -> bool:
    """Say whether the interval of a contrast leaves out "no difference": two signs of noise disagree half the time."""
    low, high = contrast.low, contrast.high
    return (low is not None and low > none) or (high is not None and high < none)
