"""Which sources are files that ``Tally.save`` wrote, and what the provenance says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile

__all__ = ["saved_inputs", "saved_tallies", "source_paths"]


def saved_inputs(paths: Sequence[str]) -> tuple[InputFile, ...]:
    """Return name, SHA-256 and size of files of Tallies.

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
                f"{path!r} holds the same Tally as {found[digest].name!r}: its individuals would be counted twice.",
                hint="Name each Tally once.",
            )
        found[digest] = InputFile(name=path, format="Tally", sha256=digest, bytes=len(content))
    return tuple(found.values())


def source_paths(source: Any) -> list[str]:
    """Return the sources that are paths, addresses or names; an empty list where it is anything else."""
    if isinstance(source, str | PathLike):
        return [fspath(source)]
    if not isinstance(source, list | tuple):
        return []
    wrong = [one for one in source if not isinstance(one, str | PathLike)]
    if wrong or not source:
        what = f"A {type(wrong[0]).__name__} in a list" if wrong else "An empty list"
        raise UsageError(f"{what} is no source.", hint="Give a list of paths, or one frame.")
    return [fspath(one) for one in source]


def saved_tallies(source: Any) -> list[str]:
    """Return the sources if all of them are files that ``Tally.save`` wrote.

    Raises
    ------
    UsageError
        If only some of them are.
    """
    paths = source_paths(source)
    saved = [path for path in paths if _is_saved_tally(Path(path))]
    if saved and len(saved) < len(paths):
        rest = next(path for path in paths if path not in saved)
        raise UsageError(
            f"{saved[0]!r} is a Tally and {rest!r} is not.", hint="Make a Tally of the rest too (polyculture tally)."
        )
    return saved


def _is_saved_tally(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(40)[30:] == b"tally.json"  # the name of a zip's first entry begins at byte 30
