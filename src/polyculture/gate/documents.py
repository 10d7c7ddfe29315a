"""Results that limits are put on: reading them, and whether two may be compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from polyculture.errors import FileError, UsageError, nearest
from polyculture.gate.shape import SCHEMAS, Shape, record_of, shape_of

__all__ = ["Document", "open_document", "refuse_other_question"]

# Fields of the provenance that say what counts as failure, and of whom.
_QUESTION = ("failure_rule", "no_answer", "min_judged")
_MEND = "Give a file that --json wrote, such as audit.json."


@dataclass(frozen=True)
class Document:
    """A result as plain data, and the name by which messages call it."""

    name: str
    content: dict[str, Any]
    sha256: str | None = None

    @property
    def schema(self) -> str:
        """The schema that it says it has."""
        return str(self.content["schema"])

    @property
    def shape(self) -> Shape:
        """What it may hold."""
        return shape_of(self.schema)


def open_document(path: str | Path) -> Document:
    """Read a result from a file.

    Raises
    ------
    FileError
        If it is missing, no JSON, or no result of polyculture that limits can be put on.
    """
    name = str(path)
    if not name.strip():
        raise FileError("The result to check has no name: the text is empty.", hint=_MEND)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"There is no file {name!r}.", hint=_mend_name(Path(path))) from None
    except IsADirectoryError:
        raise FileError(f"{name!r} is a folder.", hint=_MEND) from None
    except PermissionError:
        raise FileError(f"{name!r} may not be read.", hint="Change its permissions.") from None
    except ValueError as error:  # a null character in the path
        raise FileError(f"{name!r} is no path: {error}.", hint=_MEND) from None
    return as_document(data, name, hashlib.sha256(data).hexdigest())


def as_document(data: bytes | str, name: str, sha256: str | None = None) -> Document:
    """Return the content of a result's file; see `open_document`."""
    try:
        content = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{name!r} is no JSON: {error}.", hint=_MEND) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, str) or schema not in SCHEMAS:
        said = f"says schema {schema!r}" if isinstance(schema, str) else "is JSON without a schema"
        raise FileError(f"{name!r} {said}; limits are put on {', '.join(SCHEMAS)}.", hint=_MEND)
    try:
        msgspec.json.decode(data, type=record_of(schema))
    except msgspec.DecodeError as error:
        raise FileError(f"{name!r} is damaged: {error}.", hint="Make it again.") from None
    return Document(name, content, sha256)


def refuse_other_question(document: Document, baseline: Document) -> None:
    """Refuse a stored result that asked something else: its numbers would not be the same measure.

    Raises
    ------
    UsageError
        If schema, failure rule, reading of no answer or ``min_judged`` differ.
    """
    if baseline.schema != document.schema:
        raise UsageError(
            f"{baseline.name!r} is of schema {baseline.schema}, {document.name!r} of {document.schema}.",
            hint="Compare results of one kind.",
        )
    ours, theirs = (one.content.get("provenance") or {} for one in (document, baseline))
    for key in _QUESTION:
        if ours.get(key) != theirs.get(key):
            raise UsageError(
                f"{baseline.name!r} was made with {key} {theirs.get(key)!r}, {document.name!r} with {ours.get(key)!r}.",
                hint="Make the stored result again in the same way.",
            )


def _mend_name(path: Path) -> str:
    try:
        known = [one.name for one in path.parent.iterdir() if one.is_file()]
    except OSError:
        return _MEND
    return nearest(path.name, known) or _MEND
