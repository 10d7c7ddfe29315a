"""A SnapshotTally as one file, and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import msgspec

from polyculture.tally.archive import SNAPSHOT_HEADER, Archive, opened_archive, write_archive
from polyculture.tally.cells import Cell
from polyculture.tally.changes import Changes, ChangeTable
from polyculture.tally.snapshot_tally import SnapshotTally
from polyculture.tally.snapshots import SnapshotMoments

__all__ = ["load", "save"]

_FORMAT = "polyculture/snapshots/1"
_COUNTED = ("changes", "repeat", "moments")


def save(tally: SnapshotTally, path: Path) -> None:
    """Write a SnapshotTally; the same counts give the same bytes."""
    header: dict[str, Any] = {
        entry.name: getattr(tally, entry.name) for entry in fields(SnapshotTally) if entry.name not in _COUNTED
    }
    header |= {"format": _FORMAT, "changes": [_said(one, "table") for one in tally.changes]}
    arrays: dict[str, Any] = {}
    for place, one in enumerate(tally.changes):
        arrays |= _arrays(one.table, f"changes{place}")
    if tally.repeat is not None:
        header["repeat"] = _said(tally.repeat, "table")
        arrays |= _arrays(tally.repeat.table, "repeat")
    if tally.moments is not None:
        header["moments"] = _said(tally.moments, *_MOMENTS)
        arrays |= {f"moments.{name}": getattr(tally.moments, name) for name in _MOMENTS}
    write_archive(path, SNAPSHOT_HEADER, header, arrays)


_MOMENTS = ("count", "weight_squared", "base", "both")


def _said(one: Changes | SnapshotMoments, *arrays: str) -> dict[str, Any]:
    return {entry.name: getattr(one, entry.name) for entry in fields(one) if entry.name not in arrays}


def _arrays(table: ChangeTable, name: str) -> dict[str, Any]:
    return {f"{name}.{entry.name}": getattr(table, entry.name) for entry in fields(ChangeTable)}


def load(path: Path) -> SnapshotTally:
    """Read a SnapshotTally."""
    command = "polyculture compare BEFORE AFTER --tally FILE"
    with opened_archive(path, SNAPSHOT_HEADER, _FORMAT, what="tally of snapshots", command=command) as archive:
        header = msgspec.convert(archive.header, _Header)
        changes = tuple(_changes(archive, one, f"changes{place}") for place, one in enumerate(header.changes))
        if not len(header.names) == len(header.sources) == len(header.models) == len(header.rows) == len(changes) + 1:
            raise ValueError("not as many snapshots everywhere")
        return SnapshotTally(
            **{
                entry.name: getattr(header, entry.name) for entry in fields(SnapshotTally) if entry.name not in _COUNTED
            },
            changes=changes,
            repeat=None if header.repeat is None else _changes(archive, header.repeat, "repeat"),
            moments=None if header.moments is None else _moments(archive, header.moments, len(header.names)),
        )


class _ChangesHeader(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in the header of a Changes; its table stands in arrays."""

    models: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]
    cells: tuple[Cell, ...]
    failure_rule: str
    no_answer_policy: str
    min_judged: int
    weighted: bool
    cluster_names: tuple[str, ...] | None
    thresholds: tuple[dict[str, float], dict[str, float]]
    only_before: int
    only_after: int
    relabelled: int
    judged_otherwise: int


class _MomentsHeader(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in the header of SnapshotMoments."""

    models: tuple[str, ...]
    cluster_names: tuple[str, ...] | None


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """The header of the file."""

    names: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[tuple[str, ...], ...]
    rows: tuple[int, ...]
    changes: Annotated[tuple[_ChangesHeader, ...], msgspec.Meta(min_length=1)]
    no_moments: str
    rows_read: int
    rows_used: int
    left_out: dict[str, int]
    notes: tuple[str, ...]
    repeat: _ChangesHeader | None = None
    moments: _MomentsHeader | None = None


def _changes(archive: Archive, header: _ChangesHeader, name: str) -> Changes:
    table = ChangeTable(**{entry.name: archive.array(f"{name}.{entry.name}") for entry in fields(ChangeTable)})
    rows, models = len(table.count), len(header.models)
    for entry in fields(ChangeTable):
        wanted = (rows, models) if entry.name.startswith(_BY_MODEL) else (rows,)
        if getattr(table, entry.name).shape != wanted:
            raise ValueError(f"{entry.name} is of another shape")
    if rows and not (table.cell.min() >= 0 and table.cell.max() < len(header.cells)):
        raise ValueError("a cell that is not there")
    if rows and table.cluster.max() >= len(header.cluster_names or ()):
        raise ValueError("a cluster that is not there")
    return Changes(table=table, **msgspec.structs.asdict(header))


_BY_MODEL = ("model_", "weight_judged", "weight_before", "weight_after", "weight_both")


def _moments(archive: Archive, header: _MomentsHeader, snapshots: int) -> SnapshotMoments:
    found = SnapshotMoments(
        **msgspec.structs.asdict(header), **{name: archive.array(f"moments.{name}") for name in _MOMENTS}
    )
    series = len(header.models) + 1
    clusters = 1 if header.cluster_names is None else len(header.cluster_names)
    wanted = ((series,), (series,), (clusters, series), (clusters, series, snapshots, snapshots))
    if tuple(getattr(found, name).shape for name in _MOMENTS) != wanted:
        raise ValueError("sums of another shape")
    return found
