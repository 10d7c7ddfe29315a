"""Reading a file's bytes once, front to back, with its SHA-256, size and progress. Knows no format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from polyculture.audit.records import InputFile
from polyculture.errors import FileError
from polyculture.readers.wording import named

__all__ = ["BLOCK", "HashedFile", "Progress"]

BLOCK = 1 << 22
"""Bytes read at once."""

Progress = Callable[[str, int, int], None]
"""Called as ``progress(file name, bytes read so far, bytes in all)`` after each block."""


class HashedFile:
    """A file that is hashed while it is read.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    progress : callable, optional
        Told after each block, see `Progress`.

    Raises
    ------
    FileError
        The file cannot be opened or read.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self._progress = progress
        self._digest = hashlib.sha256()
        self._read = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the file's blocks."""
        try:
            with self.path.open("rb") as stream:
                size = self.path.stat().st_size
                while block := stream.read(BLOCK):
                    self._digest.update(block)
                    self._read += len(block)
                    if self._progress is not None:
                        self._progress(str(self.path), self._read, max(size, self._read))
                    yield block
        except OSError as error:
            raise unreadable(self.path, error) from error

    def record(self, form: str, rows: int | None) -> InputFile:
        """Read what is left unread of the file, if anything was read at all, and return its record.

        Parameters
        ----------
        form : str
            The format in words.
        rows : int or None
            The number of rows, where known.
        """
        if self._read == 0:
            for _ in self:
                pass
        return InputFile(name=str(self.path), format=form, sha256=self._digest.hexdigest(), bytes=self._read, rows=rows)


def head(path: Path, size: int = 1 << 16) -> bytes:
    """Return the first ``size`` bytes of a file.

    Raises
    ------
    FileError
        The file cannot be opened or read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(size)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> FileError:
    """Return the error of a file that the operating system does not let us read."""
    if isinstance(error, PermissionError):
        return FileError(
            f"{named(path)} may not be read: permission denied.",
            hint="Change its permissions (chmod u+r), or copy it to a folder of your own.",
        )
    reason = error.strerror or type(error).__name__
    return FileError(f"{named(path)} cannot be read: {reason}.", hint="Check the disk and the path.")
