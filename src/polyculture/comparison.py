"""`compare`: what changed between snapshots of the same models on the same individuals, and `Comparison`."""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from polyculture._version import __version__
from polyculture.api import MappingOptions, Progress, Source, known_options
from polyculture.errors import UsageError, nearest
from polyculture.giving import Kind, Reported
from polyculture.results import Listing, collecting
from polyculture.snapshots import Snapshot, match_of, matched_models, snapshots_of

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.change_records import (
        ChangeRecord,
        CompareRecord,
        ModelChange,
        SnapshotRecord,
        TrendRecord,
    )
    from polyculture.audit.compare import Step
    from polyculture.audit.frames import Row
    from polyculture.audit.records import Provenance
    from polyculture.outcomes import Outcomes
    from polyculture.readers import Table
    from polyculture.tally.changes import Changes
    from polyculture.tally.snapshots import SnapshotMoments

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, repr=False)
class Comparison(Reported):
    """What a comparison found: frozen records, and ways to show and write them.

    `record` is everything as one frozen record with the fields of compare.json, `tallies` the counts that it was
    made of, one for each two consecutive snapshots.
    """

    _named = "compare"
    _called = "comparison"
    _main = "changes"

    record: CompareRecord
    tallies: tuple[Changes, ...]
    _kind: Kind = "polars"

    def __repr__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        from polyculture.report.compare_html import compare_repr_html

        return compare_repr_html(self.record)

    @property
    def headline(self) -> str:
        """The first sentences of the report."""
        return self.record.headline

    @cached_property
    def changes(self) -> Listing[ChangeRecord]:
        """What changed between each two consecutive snapshots."""
        return Listing("changes", self.record.changes, self._rows.get("changes", []), self._kind)

    @cached_property
    def models(self) -> Listing[ModelChange]:
        """Each model's change, between each two consecutive snapshots."""
        found = tuple(model for change in self.record.changes for model in change.models)
        return Listing("models", found, self._rows.get("models", []), self._kind)

    @cached_property
    def trend(self) -> Listing[TrendRecord]:
        """Systemic failure and each model over all snapshots; empty with fewer than three."""
        return Listing("trend", self.record.trend, self._rows.get("trend", []), self._kind)

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.audit.change_frames import change_tables

        return change_tables(self.record)

    def _page(self) -> str:
        from polyculture.report.compare_html import compare_html

        return compare_html(self.record)

    def _write_tables(self, directory: str | PathLike[str]) -> None:
        from polyculture.report.tables import write_compare_tables

        write_compare_tables(self.record, directory)


def compare(
    before: Outcomes | Source | Sequence[Source] | Table | IntoFrame,
    after: Outcomes | Source | Sequence[Source] | Table | IntoFrame | None = None,
    /,
    *,
    match: TypeMapping[str, str] | Sequence[str] | str = (),
    repeat: Outcomes | Source | Sequence[Source] | Table | IntoFrame | None = None,
    min_cell: int = 30,
    seed: int = 0,
    census: bool = False,
    noun: str | None = None,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    command: str = "polyculture.compare(...)",
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Comparison:
    """Compare snapshots of the same models on the same individuals.

    Parameters
    ----------
    before, after : Outcomes, path, list of paths, or a frame
        The earlier and the later snapshot; individuals are matched by ``id``. Without ``after``, ``before`` is one
        table: with ``snapshot=COLUMN`` it holds two or more snapshots; with ``match`` both versions of each model
        are columns of it.
    match : mapping of str to str, or texts "OLD=NEW"
        Models whose later version has another name.
    repeat : the same as ``before``, optional
        The earlier versions asked again: what changes without a new version (churn).
    min_cell : int
        Groups of fewer individuals are counted, but their figures withheld.
    seed : int
        Seed of the samples that show how well difficulty is known.
    census : bool
        The individuals are all there are: no intervals, no tests.
    noun : str, optional
        What the individuals are, in the plural, for the sentences.
    map, encoding, progress, **mapping
        As in `audit`. Groups, weights and clusters are those of the earlier snapshot.
    command : str
        The call as the provenance shows it.

    Returns
    -------
    Comparison
        Frozen results; ``print`` shows the headline.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, have no individual or no model in common, or are the same snapshot twice.

    Examples
    --------
    >>> import polars as pl
    >>> one = pl.DataFrame({"id": range(100), "a": [1] * 40 + [0] * 60, "b": [1] * 30 + [0] * 70})
    >>> two = pl.DataFrame({"id": range(100), "a": [1] * 20 + [0] * 80, "b": [1] * 30 + [0] * 70})
    >>> found = compare(one, two, id="id", outcomes="failed")
    >>> found.record.changes[0].systemic_failure.undone
    10
    """
    from polyculture.mapfile import read_map

    for name, value, least in (("min_cell", min_cell, 1), ("seed", seed, 0)):
        if value < least:
            raise UsageError(f"{name}={value} is too small.", hint=f"Give {least} or more.")
    given = {**(read_map(map) if map is not None else {}), **known_options(mapping)}
    matches = match_of(match)
    opened = snapshots_of(before, after, matches, encoding=encoding, progress=progress, given=given)
    opened = [
        replace(one, outcomes=_chosen(one.outcomes, one.outcomes.models, later=one is opened[-1])) for one in opened
    ]
    if repeat is not None and len(opened) > 2:
        raise UsageError("A repeat belongs to two snapshots.", hint="Compare two of them at a time.")
    if progress is not None:
        progress("Counting changes")
    with collecting(getattr(opened[0].outcomes, "table", None)):
        steps = [_step(old, new, matches) for old, new in pairwise(opened)]
        if repeat is not None:
            again = snapshots_of(
                opened[0].outcomes, repeat, {}, encoding=encoding, progress=progress, given=_side_only(given)
            )[1]
            steps = [replace(steps[0], repeat=_changes(opened[0].outcomes, again.outcomes, steps[0]))]
        moments, reason = _moments(opened, matches)
    if progress is not None:
        progress("Estimating")
    from polyculture.audit.compare import compare_run  # after reading, so that a wrong file is refused at once

    record = compare_run(
        steps,
        provenance=_provenance(opened, steps, min_cell=min_cell, seed=seed, census=census, command=command),
        snapshots=[_snapshot_record(one) for one in opened],
        moments=moments,
        trend_reason=reason,
        notes=[note for one in opened for note in one.notes],
        seed=seed,
        min_cell=min_cell,
        census=census,
        noun=noun or opened[0].outcomes.noun,
    )
    return Comparison(record, tuple(step.changes for step in steps), getattr(opened[0].outcomes, "kind", "polars"))


def _side_only(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in ("by", "weight", "cluster", "models")}


def _chosen(outcomes: Outcomes, models: Sequence[str], *, later: bool) -> Outcomes:
    """Return outcomes over some models; of a later snapshot without what the earlier one tells."""
    mapping = replace(outcomes.mapping, models=tuple(models))
    if later:
        mapping = replace(mapping, by=(), weight=None, cluster=None)
    # The same outcomes know their survey already, which costs a pass over the table.
    return outcomes if mapping == outcomes.mapping else replace(outcomes, mapping=mapping)


def _step(old: Snapshot, new: Snapshot, match: dict[str, str]) -> Step:
    from polyculture.audit.compare import Step
    from polyculture.tally.changes import Changes

    own = {a: b for a, b in match.items() if a in old.outcomes.models or b in new.outcomes.models}
    pairs, left, joined = matched_models(old.outcomes.models, new.outcomes.models, own)
    counted = Changes.of(
        _chosen(old.outcomes, [a for a, _ in pairs], later=False),
        _chosen(new.outcomes, [b for _, b in pairs], later=True),
    )
    return Step(old.name, new.name, counted, left, joined)


def _changes(before: Outcomes, repeat: Outcomes, step: Step) -> Changes:
    from polyculture.tally.changes import Changes

    names = [old for old, _ in step.changes.models]
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


def _snapshot_record(snapshot: Snapshot) -> SnapshotRecord:
    from polyculture.audit.change_records import SnapshotRecord

    outcomes = snapshot.outcomes
    return SnapshotRecord(
        name=snapshot.name,
        source=outcomes.source,
        rows=outcomes.survey.rows,
        models=outcomes.models,
        thresholds=outcomes.thresholds,
    )


def _provenance(
    opened: Sequence[Snapshot], steps: Sequence[Step], *, min_cell: int, seed: int, census: bool, command: str
) -> Provenance:
    from polyculture.audit.records import InputFile, Provenance

    tables: list[Table | None] = [getattr(one.outcomes, "table", None) for one in opened]
    inputs: dict[str, InputFile] = {}
    for one, table in zip(opened, tables, strict=True):
        frame = InputFile(name=f"a frame ({one.name})", format="frame", rows=one.outcomes.survey.rows)
        inputs |= {entry.name: entry for entry in (table.inputs if table is not None else (frame,))}
    first, rule = opened[0].outcomes, opened[0].outcomes.rule
    left_out: dict[str, int] = {}
    for one in opened:
        for reason, count in one.outcomes.survey.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
    together = len({id(one.outcomes.frame) for one in opened}) == 1
    counted = opened[:1] if together else opened
    periods = dict.fromkeys(table.period for table in tables if table is not None and table.period)
    notes = dict.fromkeys(table.note for table in tables if table is not None and table.note)
    return Provenance(
        inputs=tuple(inputs.values()),
        rows_read=sum(one.outcomes.survey.rows for one in counted),
        rows_used=sum(one.outcomes.survey.used for one in counted),
        left_out=left_out,
        failure_rule=str(rule),
        failure_rule_in_words="" if rule.kind == "when" else rule.in_words(),
        no_answer=first.mapping.no_answer,
        min_judged=first.mapping.min_judged,
        min_cell=min_cell,
        version=__version__,
        command=command,
        seed=seed,
        period=", ".join(periods) or None,
        note=" ".join(notes) or None,
        weighted=first.mapping.weight is not None,
        clusters=steps[0].changes.cluster_count,
        census=census,
        warnings=tuple(dict.fromkeys(text for table in tables if table is not None for text in table.warnings)),
    )
