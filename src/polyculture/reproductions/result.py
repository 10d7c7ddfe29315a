"""A reproduction as users hold it: the record, and ways to show and write it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError, nearest

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord, ReproductionRecord
    from polyculture.labs import Sharing

__all__ = ["Reproduction"]


@dataclass(frozen=True, repr=False)
class Reproduction:
    """A published analysis done again. ``record`` holds claims and audits as frozen records.

    ``experiment`` is what was trained for it, where it is an experiment; its outcomes can be audited and exported.
    """

    record: ReproductionRecord
    experiment: Sharing | None = None

    def __repr__(self) -> str:
        return self.record.sentence

    def _repr_html_(self) -> str:
        from polyculture.report.reproduction import repr_html

        return repr_html(self.record)

    @property
    def claims(self) -> tuple[ClaimRecord, ...]:
        """What the paper reports, what we find, and the verdict."""
        return self.record.claims

    def frame(self, name: str = "claims") -> Any:
        """Return a table as a Polars frame.

        Parameters
        ----------
        name : str
            "claims", "snapshots" or "profiles".

        Raises
        ------
        UsageError
            If there is no such table; the message names the nearest.
        """
        from polyculture.claims.frames import tables
        from polyculture.results import to_frame

        found = tables(self.record)
        if name not in found:
            hint = nearest(name, found) or f"The tables are: {', '.join(found)}."
            raise UsageError(f"This reproduction has no table {name!r}.", hint=hint)
        return to_frame(found[name], "polars")

    def json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the reproduction as JSON, and write it to ``path`` where one is given.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.files import atomic_write
        from polyculture.report.json import record_json

        content = record_json(self.record, "reproduction")
        if path is not None:
            atomic_write(path, content)
        return content.decode()

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the page as one HTML file and return its path.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.files import atomic_write
        from polyculture.report.reproduction import html

        atomic_write(path, html(self.record).encode())
        return Path(path)

    def write(self, directory: str | PathLike[str]) -> Path:
        """Write reproduction.json, report.html and the tables as CSV into a folder, and return it.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        from polyculture.claims.frames import tables
        from polyculture.report.json import record_json
        from polyculture.report.reproduction import html
        from polyculture.report.tables import csv_files, write_folder

        files = {f"{name}.csv": content for name, content in csv_files(tables(self.record)).items()}
        files["reproduction.json"] = record_json(self.record, "reproduction")
        files["report.html"] = html(self.record).encode()
        write_folder(files, directory)
        return Path(directory)
