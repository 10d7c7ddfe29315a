"""`compare`: what changed between snapshots of the same models on the same individuals, and `Comparison`."""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from polyculture._version import __version__
from polyculture.api import MappingOptions, Progress, Source, known_options
from polyculture.errors import UsageError
from polyculture.giving import Kind, Reported
from polyculture.results import Listing, collecting
from polyculture.snapshots import Snapshot, match_of, snapshots_of

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.change_records import (
        ChangeRecord,
        CompareRecord,
        ModelChange,
        TrendRecord,
    )
    from polyculture.audit.frames import Row
    from polyculture.audit.records import InputFile, Provenance
    from polyculture.outcomes import Outcomes
    from polyculture.readers import Table
    from polyculture.tally import SnapshotTally

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, repr=False)
class Comparison(Reported):
    """What a comparison found: frozen records, and ways to show and write them.

    `record` is everything as one frozen record with the fields of compare.json, `tally` the counts that it was made
    of, which can be saved, and added to those of other individuals.
    """

    _named = "compare"
    _called = "comparison"
    _main = "changes"

    record: CompareRecord
    tally: SnapshotTally
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
    before: Outcomes | SnapshotTally | Source | Sequence[Source] | Table | IntoFrame,
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
        are columns of it. Or ``before`` is a SnapshotTally, or files of such, which add up: counts of both.
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
    from polyculture.snapshot_tallies import kept

    for name, value, least in (("min_cell", min_cell, 1), ("seed", seed, 0)):
        if value < least:
            raise UsageError(f"{name}={value} is too small.", hint=f"Give {least} or more.")
    given = {**(read_map(map) if map is not None else {}), **known_options(mapping)}
    matches = match_of(match)
    held = kept(before, after, repeat, {"match": matches, "encoding": encoding, **given})
    opened: list[Snapshot] = []
    if held is not None:
        tally, inputs = held
    else:
        tally, opened = _counted((before, after, repeat), matches, given, encoding=encoding, progress=progress)
        inputs = _inputs(opened, tally.rows)
    if progress is not None:
        progress("Estimating")
    from polyculture.audit.compare import compare_run  # after reading, so that a wrong file is refused at once

    record = compare_run(
        tally,
        provenance=_provenance(tally, inputs, opened, min_cell=min_cell, seed=seed, census=census, command=command),
        seed=seed,
        min_cell=min_cell,
        census=census,
        noun=noun or (opened[0].outcomes.noun if opened else "individuals"),
    )
    return Comparison(record, tally, getattr(opened[0].outcomes, "kind", "polars") if opened else "polars")


def _side_only(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in ("by", "weight", "cluster", "models")}


def _counted(
    sources: tuple[Any, Any, Any],
    match: dict[str, str],
    given: dict[str, Any],
    *,
    encoding: str | None,
    progress: Progress | None,
) -> tuple[SnapshotTally, list[Snapshot]]:
    """Open the snapshots, and the repeat, and count."""
    from polyculture.snapshot_tallies import counted

    before, after, repeat = sources
    opened = snapshots_of(before, after, match, encoding=encoding, progress=progress, given=given)
    if repeat is not None and len(opened) > 2:
        raise UsageError("A repeat belongs to two snapshots.", hint="Compare two of them at a time.")
    if progress is not None:
        progress("Counting changes")
    with collecting(getattr(opened[0].outcomes, "table", None)):
        again = None
        if repeat is not None:
            once = opened[0].outcomes
            again = snapshots_of(once, repeat, {}, encoding=encoding, progress=progress, given=_side_only(given))[1]
        return counted(opened, match, None if again is None else again.outcomes), opened


def _inputs(opened: Sequence[Snapshot], rows: Sequence[int]) -> tuple[InputFile, ...]:
    from polyculture.audit.records import InputFile

    inputs: dict[str, InputFile] = {}
    for one, size in zip(opened, rows, strict=True):
        table: Table | None = getattr(one.outcomes, "table", None)
        frame = InputFile(name=f"a frame ({one.name})", format="frame", rows=size)
        inputs |= {entry.name: entry for entry in (table.inputs if table is not None else (frame,))}
    return tuple(inputs.values())


def _provenance(
    tally: SnapshotTally,
    inputs: tuple[InputFile, ...],
    opened: Sequence[Snapshot],
    *,
    min_cell: int,
    seed: int,
    census: bool,
    command: str,
) -> Provenance:
    from polyculture.audit.records import InputFile, Provenance

    tables: list[Table] = [table for one in opened if (table := getattr(one.outcomes, "table", None)) is not None]
    first = tally.changes[0]
    return Provenance(
        inputs=inputs or (InputFile(name="a SnapshotTally", format="frame", rows=tally.rows_read),),
        rows_read=tally.rows_read,
        rows_used=tally.rows_used,
        left_out=tally.left_out,
        failure_rule=first.failure_rule,
        no_answer=first.no_answer_policy,
        min_judged=first.min_judged,
        min_cell=min_cell,
        version=__version__,
        command=command,
        seed=seed,
        period=", ".join(dict.fromkeys(table.period for table in tables if table.period)) or None,
        note=" ".join(dict.fromkeys(table.note for table in tables if table.note)) or None,
        weighted=first.weighted,
        clusters=first.cluster_count,
        census=census,
        warnings=tuple(dict.fromkeys(text for table in tables for text in table.warnings)),
    )
