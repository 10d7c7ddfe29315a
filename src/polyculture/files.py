"""Writing one file whole or not at all; nothing here knows what is in the file."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from polyculture.errors import OutputError

__all__ = ["FORMULA", "atomic_write", "mode_of_new", "output_error", "text_and_file"]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet may take a cell that begins so for a formula; CSV files put an apostrophe before it."""

_HINTS = {
    errno.ENOSPC: "Free some space there, or write to another disk.",
    errno.EDQUOT: "Your quota there is used up; free some space, or write elsewhere.",
    errno.EACCES: "You may not write there; choose another folder or ask for permission.",
    errno.EPERM: "You may not write there; choose another folder or ask for permission.",
    errno.EROFS: "That disk is read-only; choose another folder.",
    errno.EISDIR: "That is a folder; give the name of a file.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.ENOTDIR: "A part of that path is a file, not a folder.",
}


def output_error(path: Path, error: OSError) -> OutputError:
    """Return an OutputError that names the path, what went wrong, and what to do."""
    what = (error.strerror or str(error)).lower()
    hint = _HINTS.get(error.errno or 0, "Choose another place to write to.")
    return OutputError(f"Cannot write {str(path)!r}: {what}.", hint=hint)


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to ``path`` so that the old file or the whole new one is there, never a part.

    The bytes go to a temporary name in the same folder, are flushed to disk, and the file is renamed.
    On any failure or interruption the temporary file is removed.

    Parameters
    ----------
    path : path-like
        Where to write; its folder must exist.
    data : bytes
        The whole content.

    Raises
    ------
    OutputError
        The folder is missing, the disk is full, or writing is not allowed.
    """
    target = _checked(Path(path))
    temporary: Path | None = None
    try:
        if target.exists() and not target.is_file():  # /dev/stdout, a pipe: nothing to rename
            target.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=".polyculture-", suffix=".tmp", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode_of(target))
        temporary.replace(target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise output_error(Path(path), error) from error
        raise


def _checked(target: Path) -> Path:
    """Return where to write, links followed (a link stays a link: what it points to is replaced)."""
    try:
        there, folder = target.parent.is_dir(), target.is_dir()
        resolved = target.resolve()
    except OSError as error:
        raise output_error(target, error) from error
    if not there:
        raise OutputError(
            f"Cannot write {str(target)!r}: there is no folder {str(target.parent)!r}.",
            hint="Make it first, or correct the path.",
        )
    if folder:
        raise OutputError(f"Cannot write {str(target)!r}: it is a folder.", hint="Give the name of a file.")
    return resolved


def _mode_of(target: Path) -> int:
    """Return the permissions of the file to be replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    return mode_of_new(0o666)


def mode_of_new(wanted: int) -> int:
    """Return the permissions that the user's mask leaves of ``wanted`` for something new."""
    mask = os.umask(0)
    os.umask(mask)
    return wanted & ~mask


def text_and_file(data: bytes, path: str | os.PathLike[str] | None) -> str:
    """Return text in UTF-8, and write it to ``path`` where one is given.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    if path is not None:
        atomic_write(path, data)
    return data.decode()
