"""Which sources are files of counts (a Tally, a SnapshotTally), and what the provenance says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError
from polyculture.tally.archive import SNAPSHOT_HEADER, TALLY_HEADER

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile

__all__ = ["saved_inputs", "saved_snapshots", "saved_tallies", "source_paths"]


def saved_inputs(paths: Sequence[str]) -> tuple[InputFile, ...]:
    """Return name, SHA-256 and size of files of counts.

    Raises
    ------
    UsageError
        If one of them stands there twice, since its individuals would be counted twice.
    """
    from polyculture.audit.records import InputFile

    found: dict[str, InputFile] = {}
    for path in paths:
        content = Path(path).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if digest in found:
            raise UsageError(
                f"{path!r} holds the same counts as {found[digest].name!r}: its individuals would be counted twice.",
                hint="Name each once.",
            )
        found[digest] = InputFile(name=path, format=_FORMATS[_header(path)], sha256=digest, bytes=len(content))
    return tuple(found.values())


def source_paths(source: Any) -> list[str]:
    """Return the sources that are paths, addresses or names; an empty list where it is anything else."""
    if isinstance(source, str | PathLike):
        return [_named(source)]
    if not isinstance(source, list | tuple):
        return []
    wrong = [one for one in source if not isinstance(one, str | PathLike)]
    if wrong or not source:
        what = f"A {type(wrong[0]).__name__} in a list" if wrong else "An empty list"
        raise UsageError(f"{what} is no source.", hint="Give a list of paths, or one frame.")
    return [_named(one) for one in source]


def _named(path: str | PathLike[str]) -> str:
    """Return a path as text.

    Raises
    ------
    UsageError
        If it is empty, which as a path would mean the current folder.
    """
    text = fspath(path)
    if not text.strip():
        raise UsageError("A source has no name: the text is empty.", hint="Name a file or folder; '.' is this folder.")
    return text


def saved_tallies(source: Any) -> list[str]:
    """Return the sources if all of them are files that ``Tally.save`` wrote.

    Raises
    ------
    UsageError
        If only some of them are, or one holds counts of snapshots.
    """
    paths = source_paths(source)
    snapshots = [path for path in paths if _header(path) == SNAPSHOT_HEADER]
    if snapshots:
        raise UsageError(
            f"{snapshots[0]!r} holds counts of several snapshots.", hint="They are for polyculture compare alone."
        )
    return _saved(paths, TALLY_HEADER, "a Tally", "Make a Tally of the rest too (polyculture tally).")


def saved_snapshots(source: Any) -> list[str]:
    """Return the sources if all of them are files that ``SnapshotTally.save`` wrote.

    Raises
    ------
    UsageError
        If only some of them are.
    """
    return _saved(
        source_paths(source), SNAPSHOT_HEADER, "a tally of snapshots", "Make one of the rest too (compare --tally)."
    )


def _saved(paths: list[str], header: str, what: str, hint: str) -> list[str]:
    saved = [path for path in paths if _header(path) == header]
    if saved and len(saved) < len(paths):
        rest = next(path for path in paths if path not in saved)
        raise UsageError(f"{saved[0]!r} is {what} and {rest!r} is not.", hint=hint)
    return saved


def _header(path: str) -> str:
    """Return the name of the header of a file of counts; empty where it is none."""
    if not Path(path).is_file():
        return ""
    with Path(path).open("rb") as file:
        start = file.read(30 + max(map(len, _FORMATS)))
    return next((name for name in _FORMATS if start[30:].startswith(name.encode())), "")  # of a zip's first entry


_FORMATS = {TALLY_HEADER: "Tally", SNAPSHOT_HEADER: "SnapshotTally"}
