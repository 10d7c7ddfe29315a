"""Snapshots that were opened -> a SnapshotTally, and which sources are files that hold one."""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError, nearest
from polyculture.saved import saved_inputs, saved_snapshots
from polyculture.snapshots import Snapshot, matched_models
from polyculture.tally import SnapshotTally

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile
    from polyculture.outcomes import Outcomes
    from polyculture.tally.changes import Changes
    from polyculture.tally.snapshots import SnapshotMoments

__all__ = ["counted", "kept"]


def kept(
    before: Any, after: Any, repeat: Any, given: TypeMapping[str, Any]
) -> tuple[SnapshotTally, tuple[InputFile, ...]] | None:
    """Return the counts that sources hold already, with their files; None where they hold outcomes.

    Parameters
    ----------
    before, after, repeat : Any
        What was given as snapshots.
    given : mapping of str to Any
        What was said besides about columns and models; counts say it already.

    Raises
    ------
    UsageError
        If counts are put beside other sources, or something is said about them.
    TallyError
        If they cannot be read, or added.
    """
    paths = [] if isinstance(before, SnapshotTally) else saved_snapshots(before)
    if not paths and not isinstance(before, SnapshotTally):
        if after is not None and (isinstance(after, SnapshotTally) or saved_snapshots(after)):
            raise UsageError("The later snapshot is a tally of snapshots, which holds both.", hint=_ALONE)
        return None
    if after is not None or repeat is not None:
        raise UsageError("A tally of snapshots holds the earlier and the later one.", hint=_ALONE)
    told = [name for name, value in given.items() if value not in (None, (), {})]
    if told:
        raise UsageError(
            f"A tally of snapshots says already what its columns and models mean, so that {told[0]} has no use.",
            hint=f"Drop {told[0]}, or compare the outcomes.",
        )
    if isinstance(before, SnapshotTally):
        return before, ()
    inputs = saved_inputs(paths)
    return reduce(add, [SnapshotTally.load(path) for path in paths]), inputs


_ALONE = "Give it alone, or a list of such tallies of parts of the individuals."


def counted(opened: Sequence[Snapshot], match: dict[str, str], repeat: Outcomes | None = None) -> SnapshotTally:
    """Count what changed, where the snapshots are held.

    Parameters
    ----------
    opened : sequence of Snapshot
        In order, with all their models.
    match : dict of str to str
        Old names of models to new ones.
    repeat : Outcomes, optional
        The earlier versions asked again.

    Raises
    ------
    InputError, UsageError
        If two snapshots have no individual or no model in common, or the repeat lacks a model.
    """
    opened = [
        replace(one, outcomes=_chosen(one.outcomes, one.outcomes.models, later=one is opened[-1])) for one in opened
    ]
    steps = [_changes(old, new, match) for old, new in pairwise(opened)]
    moments, reason = _moments(opened, match)
    read = opened[:1] if len({id(one.outcomes.frame) for one in opened}) == 1 else opened
    left_out: dict[str, int] = {}
    for one in opened:
        for why, count in one.outcomes.survey.left_out.items():
            left_out[why] = left_out.get(why, 0) + count
    return SnapshotTally(
        names=tuple(one.name for one in opened),
        sources=tuple(one.outcomes.source for one in opened),
        models=tuple(one.outcomes.models for one in opened),
        rows=tuple(one.outcomes.survey.rows for one in opened),
        changes=tuple(steps),
        repeat=None if repeat is None else _repeated(opened[0].outcomes, repeat, steps[0]),
        moments=moments,
        no_moments=reason,
        rows_read=sum(one.outcomes.survey.rows for one in read),
        rows_used=sum(one.outcomes.survey.used for one in read),
        left_out=left_out,
        notes=tuple(note for one in opened for note in one.notes),
    )


def _chosen(outcomes: Outcomes, models: Sequence[str], *, later: bool) -> Outcomes:
    """Return outcomes over some models; of a later snapshot without what the earlier one tells."""
    mapping = replace(outcomes.mapping, models=tuple(models))
    if later:
        mapping = replace(mapping, by=(), weight=None, cluster=None)
    # The same outcomes know their survey already, which costs a pass over the table.
    return outcomes if mapping == outcomes.mapping else replace(outcomes, mapping=mapping)


def _changes(old: Snapshot, new: Snapshot, match: dict[str, str]) -> Changes:
    from polyculture.tally.changes import Changes

    own = {a: b for a, b in match.items() if a in old.outcomes.models or b in new.outcomes.models}
    pairs, _, _ = matched_models(old.outcomes.models, new.outcomes.models, own)
    return Changes.of(
        _chosen(old.outcomes, [a for a, _ in pairs], later=False),
        _chosen(new.outcomes, [b for _, b in pairs], later=True),
    )


def _repeated(before: Outcomes, repeat: Outcomes, step: Changes) -> Changes:
    from polyculture.tally.changes import Changes

    names = [old for old, _ in step.models]
    matched_models(names, repeat.models, {})
    missing = [name for name in names if name not in repeat.models]
    if missing:
        raise UsageError(
            f"The repeat has no model {missing[0]!r}.", hint=nearest(missing[0], repeat.models) or "Give all of them."
        )
    return Changes.of(_chosen(before, names, later=False), _chosen(repeat, names, later=True))


def _moments(opened: Sequence[Snapshot], match: dict[str, str]) -> tuple[SnapshotMoments | None, str]:
    """Return the sums over all snapshots, of the models that all of them have; or why there are none."""
    from polyculture.tally.snapshots import moments_of_snapshots

    if len(opened) < 3:
        return None, ""
    chains = [[name] for name in opened[0].outcomes.models]
    for one in opened[1:]:
        names = one.outcomes.models
        chains = [
            [*chain, name]
            for chain in chains
            if (name := match.get(chain[-1], chain[-1]) if match.get(chain[-1]) in names else chain[-1]) in names
        ]
    if not chains:
        return None, "no model is in all snapshots"
    chosen = [
        _chosen(one.outcomes, [chain[place] for chain in chains], later=place > 0) for place, one in enumerate(opened)
    ]
    return moments_of_snapshots(chosen), ""
