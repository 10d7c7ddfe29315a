"""Audits of the data sets of 2307.05862: the bundled counts of 2020, and each year of a HAPI folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.api import audit
from polyculture.claims.records import AuditedSnapshot
from polyculture.errors import FileError, UsageError

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile
    from polyculture.results import Audit

__all__ = ["Snapshot", "bundled", "later"]


@dataclass(frozen=True)
class Snapshot:
    """The audit of one data set at one time, whole and as the reproduction keeps it."""

    audit: Audit
    record: AuditedSnapshot

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """What was read."""
        return self.audit.provenance.inputs


def bundled(seed: int, progress: Callable[[str], None]) -> list[Snapshot]:
    """Audit the bundled counts of 2020, all data sets."""
    from polyculture.datasets.hapi2020 import PERIOD, patterns

    found = []
    for name, own in patterns().items():
        progress(f"Auditing {name}, {PERIOD}")
        found.append(_snapshot(audit(f"hapi:{name}", seed=seed), name, own.task, PERIOD, f"hapi:{name}"))
    return found


def later(folder: str | PathLike[str], seed: int, progress: Callable[[str], None]) -> tuple[list[Snapshot], list[str]]:
    """Audit every year of every data set of a HAPI folder.

    Returns
    -------
    list of Snapshot
        By data set and year.
    list of str
        What was left out and why, in sentences.

    Raises
    ------
    FileError
        If the folder is not there, or holds nothing of the layout.
    """
    from polyculture.readers import hapi

    path = Path(folder)
    if not path.is_dir():
        raise FileError(
            f"There is no folder {str(path)!r}.", hint="Give the folder of HAPI: TASK/DATASET/API/YY-MM-DD."
        )
    found, left_out = [], []
    for place in hapi.data_sets(path):
        try:
            found += list(_years(place, seed, progress))
        except UsageError as error:
            left_out.append(f"{place.relative_to(path)} was left out: {error.message}")
    return found, left_out


def _years(place: Path, seed: int, progress: Callable[[str], None]) -> Iterator[Snapshot]:
    from polyculture.readers import hapi, open_sources

    known = hapi.find(place)
    table = open_sources([place])
    column = table.mapping.get("snapshot")
    dates = sorted({date for snapshots in known.snapshots.values() for date, _ in snapshots})
    if column == "snapshot":
        raise UsageError(
            "one service has two snapshots in a year, so that years do not tell snapshots apart.",
            hint="Audit them by --snapshot.",
        )
    for year in sorted({date.year for date in dates}):
        apis = [api for api, own in known.snapshots.items() if any(date.year == year for date, _ in own)]
        if len(apis) < 2:
            continue
        progress(f"Auditing {known.dataset}, {year}")
        chosen = {} if column is None else {"snapshot": f"year={year}"}
        yield _snapshot(audit(table, seed=seed, **chosen), known.dataset, known.task, str(year), str(place))  # type: ignore[arg-type]


def _snapshot(found: Audit, dataset: str, task: str, period: str, source: str) -> Snapshot:
    record = found.record
    return Snapshot(
        found,
        AuditedSnapshot(
            dataset=dataset,
            task=task,
            period=period,
            models=found.tally.models,
            individuals=record.individuals,
            noun=record.noun,
            input=source,
            profile=record.profile,
            systemic_failure=record.systemic_failure,
            consistent_success=record.consistent_success,
            homogeneous_outcomes=record.homogeneous_outcomes,
        ),
    )
