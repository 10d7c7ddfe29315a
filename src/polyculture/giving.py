"""What every result can give: its figures as JSON, its tables as frames and CSV, its page as one HTML file.

A result wraps one frozen record. Which tables and which page it has stands with the result; how they look in `report`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from polyculture.errors import UsageError, nearest

if TYPE_CHECKING:
    from polyculture.audit.frames import Row

__all__ = ["Kind", "Reported", "Written", "native_kind", "to_frame"]

Kind = Literal["polars", "pandas", "pyarrow"]


class Written:
    """A result whose record can be written as JSON.

    Attributes
    ----------
    record : Record
        Every figure.
    """

    _named: ClassVar[str]
    """The record in messages, and in `polyculture schema NAME` where it has a schema of its own."""

    record: Any

    def json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the figures as JSON, and write them to ``path`` where one is given.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.files import text_and_file
        from polyculture.report.json import record_json

        return text_and_file(record_json(self.record, self._named), path)


class Reported(Written):
    """A result that also has tables and a page."""

    _called: ClassVar[str]
    """The result in messages: "this audit has no table ..."."""

    _main: ClassVar[str]
    """The table that is meant where none is named."""

    _kind: Kind = "polars"

    @property
    def _rows(self) -> dict[str, list[Row]]:
        """The rows of every table, by name."""
        raise NotImplementedError

    def _page(self) -> str:
        """Return the report as one HTML page."""
        raise NotImplementedError

    def _write_tables(self, directory: str | PathLike[str]) -> None:
        """Write every table into a folder."""
        raise NotImplementedError

    def frame(self, name: str | None = None) -> Any:
        """Return one table of `tables` as a frame of the kind that was given (Polars where it was none).

        Parameters
        ----------
        name : str, optional
            A file of `tables`, without its ending; by default the main table.

        Raises
        ------
        UsageError
            If there is no such table; the message names the nearest.
        """
        wanted = self._main if name is None else name
        if wanted not in self._rows:
            hint = nearest(wanted, self._rows) or f"The tables are: {', '.join(self._rows)}."
            raise UsageError(f"This {self._called} has no table {wanted!r}.", hint=hint)
        return to_frame(self._rows[wanted], self._kind)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report as one HTML file and return its path.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.files import atomic_write

        atomic_write(path, self._page().encode())
        return Path(path)

    def tables(self, directory: str | PathLike[str]) -> Path:
        """Write every table as CSV, with a dictionary of the columns, and return the folder.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        self._write_tables(directory)
        return Path(directory)


def native_kind(frame: object) -> Kind:
    """Return which kind of frame to answer with: pandas and pyarrow to their own, Polars to all others."""
    import narwhals as nw

    try:
        implementation = nw.from_native(frame).implementation  # type: ignore[call-overload]
    except TypeError:
        return "polars"
    if implementation.is_pandas():
        return "pandas"
    return "pyarrow" if implementation.is_pyarrow() else "polars"


def to_frame(rows: list[Row], kind: Kind) -> Any:
    """Return flat rows as a frame of one kind."""
    from polyculture.audit.frames import frame, same_columns

    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(same_columns(rows))
    table = frame(rows)
    return table.to_arrow() if kind == "pyarrow" else table
