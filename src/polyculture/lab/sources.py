"""The table that a plan's data come from: a file, bundled data, or the user's own loader, with its SHA-256.

What the columns mean to a plan stands in ``data``.
"""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import PolycultureError, UsageError, nearest
from polyculture.lab.components import import_path
from polyculture.lab.images import Images

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from polyculture.lab.plan import Data

__all__ = ["read_frame", "read_source"]

# Bundled data stands above this layer, and is found by name.
_BUNDLED = {"german_credit": "polyculture.datasets:german_credit"}


def read_frame(data: Data) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the whole table of a plan's data, and the SHA-256 of what it was made of, by name.

    Raises
    ------
    InputError, UsageError
        If there is no such source, or it cannot be read.
    """
    frame, pixels, hashes = read_source(data)
    return (frame if pixels is None else Images(frame, pixels).frame()), hashes


def read_source(data: Data) -> tuple[pl.DataFrame, NDArray[np.uint8] | None, dict[str, str]]:
    """Return the table, the pixels where a loader gave images, and the SHA-256 of what they were made of."""
    module, colon, name = data.source.partition(":")
    if colon and all(part.isidentifier() for part in module.split(".")) and name.isidentifier():
        found = _loaded(data)
        if isinstance(found, Images):
            return found.table, found.pixels, {data.source: found.digest()}
        frame, hashes = _hashed(_polars(found, data.source), data.source)
    else:
        frame, hashes = _read_table(data)
    return frame, None, hashes


def _read_table(data: Data) -> tuple[pl.DataFrame, dict[str, str]]:
    import polars as pl

    if data.source in _BUNDLED:
        module, _, name = _BUNDLED[data.source].partition(":")
        return _hashed(getattr(import_module(module), name)(), data.source)
    from polyculture.readers import open_sources

    if not Path(data.source).exists() and (hint := nearest(data.source, _BUNDLED)):
        raise UsageError(f"There is no data {data.source!r}.", hint=hint)
    table = open_sources([data.source], encoding=data.encoding)
    frame = table.frame.collect(backend="polars").to_native()
    if not isinstance(frame, pl.DataFrame):
        raise TypeError(f"readers gave a {type(frame).__name__}")
    return frame, {Path(one.name).name: one.sha256 or "" for one in table.inputs}


def _loaded(data: Data) -> Any:
    loader = import_path(data.source, "loader")
    known = list(signature(loader).parameters)
    for name in data.parameters:
        if name not in known:
            hint = nearest(name, known) or f"Its parameters are: {', '.join(known) or 'none'}."
            raise UsageError(f"The loader {data.source!r} has no parameter {name!r}.", hint=hint)
    try:
        return loader(**data.parameters)
    except (PolycultureError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # whatever a loader of the user's raises
        raise UsageError(
            f"The loader {data.source!r} failed: {type(error).__name__}: {error}.",
            hint="Mend the loader, or its parameters (data.parameters).",
        ) from error


def _polars(frame: Any, source: str) -> pl.DataFrame:
    import narwhals as nw
    import polars as pl

    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise UsageError(
            f"The loader {source!r} returned a {type(frame).__name__}.", hint="Return a polars or pandas frame."
        ) from None
    eager = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
    return pl.DataFrame(eager.to_polars())


def _hashed(frame: pl.DataFrame, name: str) -> tuple[pl.DataFrame, dict[str, str]]:
    buffer = BytesIO()
    frame.rechunk().write_ipc(buffer, compression="uncompressed")
    return frame, {name: sha256(buffer.getvalue()).hexdigest()}
