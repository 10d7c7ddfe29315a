"""A reproduction as users hold it: the record, and ways to show and write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.giving import Reported

if TYPE_CHECKING:
    from polyculture.audit.frames import Row
    from polyculture.claims.records import ClaimRecord, ReproductionRecord
    from polyculture.labs import Sharing
    from polyculture.loops import Loop

__all__ = ["Reproduction"]


@dataclass(frozen=True, repr=False)
class Reproduction(Reported):
    """A published analysis done again. ``record`` holds claims and audits as frozen records.

    ``experiment`` is what was trained for it, where it is an experiment; its outcomes can be audited and exported.
    ``loops`` holds the feedback loops by data set, where it is one of those.
    `frame` gives "claims", "snapshots", "profiles" or "improvements".
    """

    _named = "reproduction"
    _called = "reproduction"
    _main = "claims"

    record: ReproductionRecord
    experiment: Sharing | None = None
    loops: Mapping[str, Loop] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.record.sentence

    def _repr_html_(self) -> str:
        from polyculture.report.reproduction import repr_html

        return repr_html(self.record)

    @property
    def claims(self) -> tuple[ClaimRecord, ...]:
        """What the paper reports, what we find, and the verdict."""
        return self.record.claims

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.claims.frames import tables

        return tables(self.record)

    def _page(self) -> str:
        from polyculture.report.reproduction import html

        return html(self.record)

    def _write_tables(self, directory: str | PathLike[str]) -> None:
        from polyculture.report.tables import write_rows

        write_rows(self._rows, directory)

    def write(self, directory: str | PathLike[str]) -> Path:
        """Write reproduction.json, report.html and the tables as CSV into a folder, and return it.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        from polyculture.report.json import record_json
        from polyculture.report.reproduction import html
        from polyculture.report.tables import csv_files, write_folder

        files = {f"{name}.csv": content for name, content in csv_files(self._rows).items()}
        files["reproduction.json"] = record_json(self.record, self._named)
        beside = "experiment/report.html" if (Path(directory) / "experiment" / "report.html").is_file() else ""
        files["report.html"] = html(self.record, experiment=beside).encode()
        write_folder(files, directory)
        return Path(directory)
