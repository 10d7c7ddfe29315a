"""`open_sources`: from what the user names (files, patterns, folders, addresses) to one Table.

How a single format is read stands in the module of that format.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.errors import FileError, UsageError, nearest
from polyculture.readers.wording import columns, excerpt, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyculture.readers.hashing import Progress
    from polyculture.readers.table import Table

__all__ = ["open_sources"]

# An address is resolved by name, so that what stands above the readers (bundled data sets, later engines)
# need not be imported by them.
_ADDRESSES = {"hapi": "polyculture.datasets:hapi"}
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+]+):(.*)", re.DOTALL)


def open_sources(
    sources: Sequence[str | Path] | str | Path, *, encoding: str | None = None, progress: Progress | None = None
) -> Table:
    """Open files, patterns, a folder of the HAPI layout, or a bundled data set as one table.

    Parameters
    ----------
    sources : sequence of str or pathlib.Path
        Files, glob patterns, one folder, or one address such as ``hapi:waimai`` (any case). Several files
        are read as one table; they must agree in the names and types of their columns.
    encoding : str, optional
        The encoding of text files; UTF-8 if not given.
    progress : callable, optional
        Called as ``progress(file name, bytes read, bytes in all)`` while files are hashed and checked.

    Returns
    -------
    Table
        Its frame is lazy. Text files have been checked as a whole; other files by their schema.

    Raises
    ------
    FileError
        A file is missing, damaged, cut off, empty, or of no format that can be read.
    ColumnError
        A column is named twice or not at all, or files do not agree.
    UsageError
        The sources exclude each other, or the encoding is unknown.

    Examples
    --------
    >>> table = open_sources(["hapi:Waimai"])
    >>> table.noun, table.mapping["count"]
    ('reviews', 'count')
    """
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    if not given:
        raise UsageError("No source was given.", hint="Name a file, a pattern, a folder, or hapi:NAME.")
    loaders = [(source, loader) for source in given if (loader := _address(source))]
    if loaders:
        return _one_address(given, loaders, encoding)
    folders = [path for source in given if _is(path := _path(source), Path.is_dir)]
    if folders:
        return _one_folder(given, folders, progress)
    from polyculture.readers.files import open_files

    return open_files(_files(given), encoding=encoding, progress=progress)


def _address(source: str | Path) -> Callable[[], Table] | None:
    """Return what loads an address, or None for a path."""
    match = _ADDRESS.fullmatch(source) if isinstance(source, str) else None
    if match is None or _is(Path(str(source)), Path.exists):
        return None
    scheme, name = match.group(1).lower(), match.group(2)
    if scheme in {"http", "https", "s3", "gs", "ftp"}:
        raise UsageError(
            f"{named(source)} is an address on the network, and nothing is fetched here.",
            hint="Download the file first and name it.",
        )
    if scheme not in _ADDRESSES:
        close = nearest(scheme, _ADDRESSES).removesuffix("'?")
        hint = f"{close}:{excerpt(name, limit=40)[1:-1]}'?" if close else "Addresses that can be read: hapi:NAME."
        raise FileError(f"There is no file {named(source)}.", hint=hint)
    module, function = _ADDRESSES[scheme].split(":")

    def load() -> Table:
        table: Table = getattr(import_module(module), function)(name)
        return table

    return load


def _one_address(
    given: Sequence[str | Path], loaders: Sequence[tuple[str | Path, Callable[[], Table]]], encoding: str | None
) -> Table:
    source, load = loaders[0]
    if len(given) > 1:
        raise UsageError(f"{named(source)} cannot be read together with other sources.", hint="Audit one at a time.")
    if encoding is not None:
        raise UsageError(f"--encoding has no meaning for {named(source)}.", hint="Leave it out.")
    return load()


def _one_folder(given: Sequence[str | Path], folders: Sequence[Path], progress: Progress | None) -> Table:
    if len(given) > 1:
        raise UsageError(
            f"The folder {named(folders[0])} cannot be read together with other sources.",
            hint="Give one folder, or give files by a pattern.",
        )
    import narwhals as nw

    from polyculture.readers import hapi
    from polyculture.readers.table import Table

    source = hapi.find(folders[0])
    frame, inputs, mapping = hapi.read(source, progress)
    dates = sorted({date for snapshots in source.snapshots.values() for date, _ in snapshots})
    apis = ", ".join(source.snapshots)
    return Table(
        frame=nw.from_native(frame),
        inputs=inputs,
        mapping=mapping,
        note=f"Predictions in the HAPI layout: task {source.task}, data set {source.dataset}, by {apis}.",
        period=str(dates[0]) if len(dates) == 1 else f"{dates[0]} to {dates[-1]}",
        rows=sum(item.rows or 0 for item in inputs[1:]),
        noun=hapi.noun(source.task),
    )


def _files(given: Sequence[str | Path]) -> list[Path]:
    """Return the files that paths and patterns name, in order."""
    found: list[Path] = []
    for source in given:
        path = _path(source)
        if "\0" in str(source):
            raise FileError(f"{named(source)} is no file name: it holds a NUL character.")
        if _is(path, Path.exists):
            found.append(path)
        elif glob.has_magic(str(path)):
            found += _matches(path)
        else:
            raise _missing(path)
    resolved: dict[Path, Path] = {}
    for path in found:
        if not _is(path, Path.is_file):
            raise FileError(
                f"{named(path)} is no ordinary file.",
                hint="Write what it gives to a file first: it is read more than once.",
            )
        earlier = resolved.setdefault(path.resolve(), path)
        if earlier is not path:
            raise UsageError(f"{named(path)} is named more than once.", hint="Name each file once.")
    return found


def _matches(pattern: Path) -> list[Path]:
    # Path.glob takes no absolute patterns.
    paths = [Path(match) for match in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207
    files = [path for path in paths if not path.is_dir()]
    if not files:
        what = "only folders" if paths else "nothing"
        raise FileError(
            f"The pattern {named(pattern)} matches {what}.",
            hint="Check it with ls; ** stands for any number of folders.",
        )
    return files


def _missing(path: Path) -> FileError:
    folder = path.parent
    if not _is(folder, Path.exists):
        return FileError(
            f"There is no file {named(path)}: the folder {named(folder)} does not exist.",
            hint=_nearest_in(folder.parent, folder.name) or f"The current folder is {named(Path.cwd())}.",
        )
    hint = _nearest_in(folder, path.name)
    if not hint and ":" not in path.name:
        hint = f"Check the name; the current folder is {named(Path.cwd())}."
    return FileError(f"There is no file {named(path)}.", hint=hint)


def _nearest_in(folder: Path, name: str) -> str:
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return ""  # the hint is a courtesy; the missing file is the error
    close = nearest(name, names)
    return close if not close or folder == Path() else f"{close} (in {columns([folder])})"


def _path(source: str | Path) -> Path:
    try:
        return Path(source).expanduser()
    except RuntimeError:  # "~name" of nobody
        return Path(source)


def _is(path: Path, question: Callable[[Path], bool]) -> bool:
    try:
        return question(path)
    except (OSError, ValueError):  # a name too long, a NUL, a folder that may not be entered
        return False
