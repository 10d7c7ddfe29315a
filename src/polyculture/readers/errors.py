"""What the libraries below raise, said again in our words: which file, what is wrong with it, what to do.

Polars reads lazily, so some damage shows only when a frame is collected; whoever collects passes the exception
through `translate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import narwhals as nw
import polars as pl

from polyculture.audit.records import InputFile
from polyculture.errors import FileError, InputError, PolycultureError
from polyculture.readers.wording import excerpt, named

__all__ = ["FOREIGN", "reading", "translate"]

FOREIGN: tuple[type[BaseException], ...] = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    nw.exceptions.NarwhalsError,
    OSError,
    UnicodeError,
    ValueError,
)
"""What reading and collecting a frame may raise; a panic of polars is no `Exception`."""


def translate(exception: BaseException, inputs: Sequence[InputFile]) -> PolycultureError:
    """Return the error to show for what was raised while a frame of these inputs was collected.

    Parameters
    ----------
    exception : BaseException
        What was raised. A PolycultureError is returned as it is.
    inputs : sequence of InputFile
        The files of the `Table` that was being read.

    Examples
    --------
    >>> print(translate(OSError("x"), (InputFile(name="a.parquet", format="Parquet"),)))
    'a.parquet' could not be read to its end (OSError: 'x'). Get the file again; it is damaged or changed.
    """
    if isinstance(exception, PolycultureError):
        return exception
    names = ", ".join(named(item.name) for item in inputs[:3])
    if len(inputs) > 3:
        names += f" or another of the {len(inputs):,} files"
    gone = [item for item in inputs if item.sha256 is not None and not Path(item.name).exists()]
    if gone:
        return FileError(f"{named(gone[0].name)} was removed while it was read.", hint="Put it back and start again.")
    cause = f"{type(exception).__name__}: {excerpt(_first_line(exception))}"
    if isinstance(exception, MemoryError):
        return InputError(
            f"{names or 'The table'} did not fit into memory.", hint="Give fewer columns or a Parquet file."
        )
    if isinstance(exception, FOREIGN):
        return FileError(
            f"{names or 'The table'} could not be read to its end ({cause}).",
            hint="Get the file again; it is damaged or changed.",
        )
    return InputError(f"{names or 'The table'} could not be used ({cause}).", hint="Please report this.")


@contextmanager
def reading(path: Path | str, form: str) -> Iterator[None]:
    """Turn what a library raises while it opens one file into a FileError.

    Raises
    ------
    FileError
        Anything of `FOREIGN` was raised inside.
    """
    try:
        yield
    except FOREIGN as error:
        raise FileError(
            f"{named(path)} is damaged or cut off: it starts as {form} but cannot be read as such "
            f"({excerpt(_first_line(error))}).",
            hint="Get the whole file again, or write it again.",
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
