"""A SnapshotTally as one file, and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from polyculture.tally.archive import SNAPSHOT_HEADER, Archive, opened_archive, write_archive
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
        header = archive.header
        changes = tuple(_changes(archive, one, f"changes{place}") for place, one in enumerate(header.pop("changes")))
        repeat = header.pop("repeat", None)
        moments = header.pop("moments", None)
        for name in ("names", "sources", "rows", "notes"):
            header[name] = tuple(header[name])
        return SnapshotTally(
            models=tuple(tuple(names) for names in header.pop("models")),
            changes=changes,
            repeat=None if repeat is None else _changes(archive, repeat, "repeat"),
            moments=None if moments is None else _moments(archive, moments),
            **header,
        )


def _changes(archive: Archive, said: dict[str, Any], name: str) -> Changes:
    table = ChangeTable(**{entry.name: archive.array(f"{name}.{entry.name}") for entry in fields(ChangeTable)})
    first, second = said.pop("thresholds")
    return Changes(
        models=tuple((old, new) for old, new in said.pop("models")),
        groups=tuple(said.pop("groups")),
        cells=tuple(tuple(cell) for cell in said.pop("cells")),
        cluster_names=_names(said.pop("cluster_names")),
        thresholds=(first, second),
        table=table,
        **said,
    )


def _moments(archive: Archive, said: dict[str, Any]) -> SnapshotMoments:
    arrays = {name: archive.array(f"moments.{name}") for name in _MOMENTS}
    return SnapshotMoments(models=tuple(said["models"]), cluster_names=_names(said["cluster_names"]), **arrays)


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
