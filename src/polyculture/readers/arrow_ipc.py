"""Arrow IPC: the file format lazily, the stream format as a whole."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polyculture.errors import ColumnError, FileError
from polyculture.readers.errors import reading
from polyculture.readers.wording import named

__all__ = ["scan", "scan_stream"]

_MAGIC = b"ARROW1"


def scan(path: Path) -> tuple[pl.LazyFrame, int]:
    """Return an Arrow IPC file (Feather version 2) as a lazy frame, and the number of its rows.

    Raises
    ------
    FileError
        The file is cut off or damaged.
    ColumnError
        A column is named twice.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - len(_MAGIC), 0))
        end = stream.read()
    if size < 20 or end != _MAGIC:
        raise FileError(
            f"{named(path)} is cut off: an Arrow file ends with its footer, and this one does not.",
            hint="Get the whole file, or write it again.",
        )
    with reading(path, "Arrow IPC"), _named_once(path):
        frame = pl.scan_ipc(path, glob=False)
        frame.collect_schema()
        rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    return frame, rows


def scan_stream(path: Path) -> tuple[pl.LazyFrame, int]:
    """Return an Arrow IPC stream as a frame, and the number of its rows. It is read as a whole.

    Raises
    ------
    FileError
        The stream is cut off or damaged.
    ColumnError
        A column is named twice.
    """
    with reading(path, "an Arrow IPC stream"), _named_once(path):
        try:
            frame = pl.read_ipc_stream(path)
        except pl.exceptions.PanicException as error:
            raise FileError(
                f"{named(path)} is an Arrow IPC stream that cannot be read: it is damaged or cut off, "
                "or two columns have one name.",
                hint="Give every column its own name, and write the file again.",
            ) from error
    return frame.lazy(), frame.height


class _named_once:  # noqa: N801
    """Say a repeated column name in our words."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, pl.exceptions.DuplicateError):
            raise ColumnError(
                f"{named(self._path)}: more than one column has the same name.",
                hint="Give every column its own name.",
            ) from error
