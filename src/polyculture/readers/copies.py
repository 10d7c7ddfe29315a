"""A plain UTF-8 copy of text that is compressed or encoded otherwise, so that it can be scanned lazily.

Small copies stay in memory, large ones go to a temporary file that is removed when Python ends.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from polyculture.errors import FileError
from polyculture.readers.wording import named

__all__ = ["Copy", "gunzipped"]

IN_MEMORY = 1 << 26
"""Copies up to this size, in bytes, stay in memory."""


class Copy:
    """A copy that is written while its blocks pass by.

    Parameters
    ----------
    name : str
        The file that is copied, for errors.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._pieces: list[bytes] = []
        self._size = 0
        self._stream: BinaryIO | None = None
        self._path: Path | None = None

    def tee(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield ``blocks`` and keep them.

        Raises
        ------
        FileError
            The temporary folder has no room.
        """
        for block in blocks:
            self._size += len(block)
            self._pieces.append(block)
            if self._size > IN_MEMORY:
                self._spill()
            yield block

    def source(self) -> bytes | Path:
        """Return the finished copy: its bytes, or the path of the temporary file."""
        if self._stream is None or self._path is None:
            return b"".join(self._pieces)
        self._spill()
        self._stream.close()
        return self._path

    def _spill(self) -> None:
        try:
            if self._stream is None:
                handle, name = tempfile.mkstemp(prefix="polyculture-")
                self._path = Path(name)
                atexit.register(self._path.unlink, missing_ok=True)
                self._stream = os.fdopen(handle, "wb")
            for piece in self._pieces:
                self._stream.write(piece)
            self._stream.flush()
        except OSError as error:
            raise FileError(
                f"{named(self._name)} needs a plain copy in {named(tempfile.gettempdir())}, and writing it failed: "
                f"{error.strerror or type(error).__name__}.",
                hint="Make room there, or name another folder in the environment variable TMPDIR.",
            ) from error
        self._pieces = []


def gunzipped(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield what is packed in a gzip file of one or several members.

    Raises
    ------
    FileError
        The file is damaged or ends too early.
    """
    unpacker = zlib.decompressobj(wbits=31)
    started = False
    try:
        for block in blocks:
            rest = block
            while rest:
                started = True
                if text := unpacker.decompress(rest, _UNPACKED):
                    yield text
                rest = unpacker.unconsumed_tail
                if unpacker.eof:
                    # Members may follow each other, and zeros may fill up the end.
                    rest = unpacker.unused_data.lstrip(b"\0")
                    unpacker, started = zlib.decompressobj(wbits=31), False
            while text := unpacker.decompress(b"", _UNPACKED):
                yield text
    except zlib.error as error:
        raise FileError(
            f"{named(name)} is a damaged gzip file: its contents do not match its checks.",
            hint="Get the file again (gzip -t FILE tests it).",
        ) from error
    if started:
        raise FileError(
            f"{named(name)} is cut off: the gzip data end in the middle.",
            hint="Get the whole file (gzip -t FILE tests it).",
        )


_UNPACKED = 1 << 22
