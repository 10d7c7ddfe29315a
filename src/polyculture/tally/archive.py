"""Counts as one file: a zip of plain arrays (.npy without pickle) and a JSON header, whose name says what it holds.

What the header means stands with what is kept: ``store`` (a Tally), ``snapshot_store`` (a SnapshotTally).
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from polyculture.errors import TallyError
from polyculture.files import atomic_write

__all__ = ["SNAPSHOT_HEADER", "TALLY_HEADER", "Archive", "opened_archive", "write_archive"]

TALLY_HEADER = "tally.json"
SNAPSHOT_HEADER = "snapshots.json"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Archive:
    """A file that is open for reading: its header, and its arrays by name."""

    header: dict[str, Any]
    _file: zipfile.ZipFile

    def array(self, name: str) -> Any:
        """Return one array."""
        return np.load(io.BytesIO(self._file.read(f"{name}.npy")), allow_pickle=False)


def write_archive(path: Path, name: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a header and arrays; the same contents give the same bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        # The header stands first: its name is what files are known by.
        _put(archive, name, json.dumps(header, sort_keys=True, ensure_ascii=False).encode())
        for key, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            _put(archive, f"{key}.npy", buffer.getvalue())
    atomic_write(path, whole.getvalue())


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=_ZIP_EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


@contextmanager
def opened_archive(path: Path, name: str, layout: str, *, what: str, command: str) -> Iterator[Archive]:
    """Open a file for reading.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What its header is called.
    layout : str
        The header's ``format``.
    what, command : str
        What the file should hold, and the command that makes it, for messages.

    Raises
    ------
    TallyError
        If it is not there, is something else, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as file:
            header: dict[str, Any] = json.loads(file.read(name))
            if header.pop("format", None) != layout:
                raise TallyError(f"{path} is a {what} of another version.", hint=f"Make it again with {command}.")
            yield Archive(header, file)
    except FileNotFoundError as problem:
        raise TallyError(f"There is no file {path}.", hint=f"Make it with {command}.") from problem
    except (
        *(zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError),
        *(OSError, EOFError, RuntimeError, msgspec.ValidationError),
    ) as problem:
        raise TallyError(f"{path} is no {what}, or it is damaged.", hint=f"Make it again with {command}.") from problem
