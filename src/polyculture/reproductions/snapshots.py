"""Audits of the data sets of 2307.05862: the bundled counts of 2020, and a HAPI folder by year and change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.api import audit
from polyculture.claims.records import AuditedSnapshot, Improvement
from polyculture.errors import FileError, UsageError
from polyculture.reproductions.improvement import improvements

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile
    from polyculture.readers import Table
    from polyculture.readers.hapi import HapiFolder
    from polyculture.results import Audit

__all__ = ["Folder", "Snapshot", "bundled", "later"]


@dataclass(frozen=True)
class Snapshot:
    """The audit of one data set at one time, whole and as the reproduction keeps it."""

    audit: Audit
    record: AuditedSnapshot

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """What was read."""
        return self.audit.provenance.inputs


@dataclass
class Folder:
    """What a HAPI folder holds: audits by data set and year, changes between years, and what was left out and why."""

    snapshots: list[Snapshot] = field(default_factory=list)
    improvements: list[Improvement] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def bundled(seed: int, progress: Callable[[str], None]) -> list[Snapshot]:
    """Audit the bundled counts of 2020, all data sets."""
    from polyculture.datasets.hapi2020 import PERIOD, patterns

    found = []
    for name, own in patterns().items():
        progress(f"Auditing {name}, {PERIOD}")
        found.append(_snapshot(audit(f"hapi:{name}", seed=seed), name, own.task, PERIOD, f"hapi:{name}"))
    return found


def later(folder: str | PathLike[str], seed: int, progress: Callable[[str], None]) -> Folder:
    """Audit every year of every data set of a HAPI folder, and compare consecutive years.

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
    found = Folder()
    for place in hapi.data_sets(path):
        name = str(place.relative_to(path))
        try:
            known, table = _opened(place)
            found.snapshots += list(_years(known, table, seed, progress))
        except UsageError as error:
            found.left_out.append(f"{name} was left out: {error.message}")
            continue
        for years in _pairs(known, table):
            progress(f"Comparing {known.dataset}, {years[0]} and {years[1]}")
            try:
                found.improvements += improvements(
                    table, known.dataset, known.task, years, column=str(table.mapping["snapshot"]), seed=seed
                )
            except UsageError as error:
                found.left_out.append(f"{name}: {years[0]} and {years[1]} were not compared: {error.message}")
    return found


def _opened(place: Path) -> tuple[HapiFolder, Table]:
    """Open one data set of the layout.

    Raises
    ------
    UsageError
        If years do not tell its snapshots apart.
    """
    from polyculture.readers import hapi, open_sources

    known, table = hapi.find(place), open_sources([place])
    if table.mapping.get("snapshot") == "snapshot":
        raise UsageError(
            "one service has two snapshots in a year, so that years do not tell snapshots apart.",
            hint="Audit them by --snapshot.",
        )
    return known, table


def _pairs(known: HapiFolder, table: Table) -> list[tuple[int, int]]:
    """Return each two consecutive years; none where every service was asked once."""
    years = sorted({date.year for snapshots in known.snapshots.values() for date, _ in snapshots})
    return list(pairwise(years)) if table.mapping.get("snapshot") is not None else []


def _years(known: HapiFolder, table: Table, seed: int, progress: Callable[[str], None]) -> Iterator[Snapshot]:
    column = table.mapping.get("snapshot")
    dates = sorted({date for snapshots in known.snapshots.values() for date, _ in snapshots})
    for year in sorted({date.year for date in dates}):
        apis = [api for api, own in known.snapshots.items() if any(date.year == year for date, _ in own)]
        if len(apis) < 2:
            continue
        progress(f"Auditing {known.dataset}, {year}")
        chosen = {} if column is None else {"snapshot": f"year={year}"}
        yield _snapshot(audit(table, seed=seed, **chosen), known.dataset, known.task, str(year), str(known.folder))  # type: ignore[arg-type]


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
