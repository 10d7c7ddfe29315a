"""AuditRecord to a folder of CSV files with a dictionary of their columns.

Rows come from ``audit.frames``, the words of the dictionary from ``dictionary``.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from polyculture.audit.change_frames import COMPARE_TABLES, change_tables
from polyculture.audit.change_records import CompareRecord
from polyculture.audit.frames import Row, same_columns, tables
from polyculture.audit.portfolio_frames import PORTFOLIO_TABLES, portfolio_tables
from polyculture.audit.portfolio_records import PortfolioRecord
from polyculture.audit.records import AuditRecord
from polyculture.errors import OutputError
from polyculture.files import FORMULA, atomic_write, mode_of_new, output_error
from polyculture.report.compare_dictionary import COMPARE_FIELDS
from polyculture.report.dictionary import describe
from polyculture.report.words import shown

__all__ = ["TABLES", "csv_files", "guarded", "write_compare_tables", "write_folder", "write_rows", "write_tables"]

TABLES = (
    "models",
    "profile",
    "outcomes",
    "patterns",
    "groups",
    "group_outcomes",
    "group_contrasts",
    "group_models",
    "group_profiles",
    "group_homogenization",
    "gaps",
    "model_gaps",
    "pairs",
    "collection",
    "recourse",
    "near_duplicates",
    "tree",
    "panel",
    "panel_members",
    "suspect_keys",
    "suspect_key_items",
    "slices",
    "slice_parents",
    "components",
    "component_summary",
    "component_regression",
    "component_shares",
    "component_families",
    "component_what_if",
    "nulls",
    *PORTFOLIO_TABLES,
    "kinds",
    "kind_outcomes",
    "kind_profiles",
    "kind_group_outcomes",
    "kind_contrasts",
    "kind_group_differences",
    "kind_differences",
    "judged_too_little",
    "notes",
    "provenance",
    "dictionary",
)


def write_tables(record: AuditRecord | PortfolioRecord, directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write every table that holds something as CSV, and ``dictionary.csv`` with the meaning of each column.

    All files are written to a temporary folder beside and then moved, so that an interrupted run leaves
    the old files or the new ones. Files of other names in the folder stay; a table of an earlier audit
    that this one does not have is removed, so that the folder never mixes two audits.

    Parameters
    ----------
    record : AuditRecord or PortfolioRecord
        What an audit, or a choice among models, returned.
    directory : path-like
        The folder; made if it is not there, but its parent must be.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    OutputError
        The folder cannot be made or written.
    """
    files = {f"{name}.csv": _csv(rows) for name, rows in _all_tables(record).items()}
    # Without a dictionary the folder holds no earlier audit, and a file called groups.csv is somebody's own.
    earlier = (Path(directory) / "dictionary.csv").is_file()
    return write_folder(files, directory, replaced=[f"{name}.csv" for name in TABLES] if earlier else ())


def write_compare_tables(record: CompareRecord, directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write every table of a comparison as CSV, as `write_tables` does of an audit.

    Parameters
    ----------
    record : CompareRecord
        What a comparison returned.
    directory : path-like
        The folder; made if it is not there, but its parent must be.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    OutputError
        The folder cannot be made or written.
    """
    found = {name: same_columns(rows) for name, rows in change_tables(record).items()}
    found["provenance"] = _provenance(record)
    found["dictionary"] = describe({name: list(rows[0]) for name, rows in found.items()}, COMPARE_FIELDS)
    files = {f"{name}.csv": _csv(rows) for name, rows in found.items()}
    known = [f"{name}.csv" for name in (*COMPARE_TABLES, "provenance", "dictionary")]
    return write_folder(files, directory, replaced=known)


def csv_files(
    found: dict[str, list[Row]], columns: Mapping[tuple[str, str] | str, tuple[str, str]] | None = None
) -> dict[str, bytes]:
    """Return tables as CSV by name, with the dictionary of their columns; of those of its own ``columns`` says it."""
    same = {name: same_columns(rows) for name, rows in found.items()}
    same["dictionary"] = describe({name: list(rows[0]) for name, rows in same.items()}, columns)
    return {name: _csv(rows) for name, rows in same.items()}


def write_rows(
    found: dict[str, list[Row]],
    directory: str | os.PathLike[str],
    columns: Mapping[tuple[str, str] | str, tuple[str, str]] | None = None,
    *,
    replaced: Iterable[str] = (),
) -> None:
    """Write tables and the dictionary of their columns as CSV; tables of ``replaced`` that hold nothing are removed.

    Raises
    ------
    OutputError
        The folder cannot be made or written.
    """
    files = {f"{name}.csv": content for name, content in csv_files(found, columns).items()}
    write_folder(files, directory, replaced=[f"{name}.csv" for name in replaced])


def write_folder(
    files: dict[str, bytes], directory: str | os.PathLike[str], *, replaced: Iterable[str] = ()
) -> tuple[Path, ...]:
    """Write files into a folder so that the old ones are there or all of the new ones.

    Parameters
    ----------
    files : dict of str to bytes
        Name -> content.
    directory : path-like
        The folder; made if it is not there, but its parent must be.
    replaced : iterable of str
        Names of files that are removed where they are not among the new ones.

    Raises
    ------
    OutputError
        The folder cannot be made or written.
    """
    target = Path(directory)
    if not target.absolute().parent.is_dir():
        raise OutputError(
            f"Cannot make the folder {str(target)!r}: there is no folder {str(target.parent)!r}.",
            hint="Make it first, or correct the path.",
        )
    if target.exists() and not target.is_dir():
        raise OutputError(f"Cannot write into {str(target)!r}: it is a file.", hint="Give the name of a folder.")
    temporary: Path | None = None
    try:
        temporary = Path(tempfile.mkdtemp(prefix=".polyculture-", suffix=".tmp", dir=target.absolute().parent))
        for name, content in files.items():
            atomic_write(temporary / name, content)
        _move(temporary, target, files, replaced)
    except OSError as error:
        raise output_error(target, error) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return tuple(target / name for name in files)


def _move(temporary: Path, target: Path, names: Iterable[str], replaced: Iterable[str]) -> None:
    """Move the files into place: a new folder at once, into an old one file by file."""
    if not target.exists():
        temporary.chmod(mode_of_new(0o777))
        temporary.rename(target)
        return
    kept = set(names)
    for name in names:
        (temporary / name).replace(target / name)
    for name in replaced:
        if name not in kept:
            with contextlib.suppress(FileNotFoundError):
                (target / name).unlink()


def _all_tables(record: AuditRecord | PortfolioRecord) -> dict[str, list[Row]]:
    own = portfolio_tables(record) if isinstance(record, PortfolioRecord) else tables(record)
    found = {name: same_columns(rows) for name, rows in own.items()}
    found["provenance"] = _provenance(record)
    found["dictionary"] = describe({name: list(rows[0]) for name, rows in found.items()})
    return found


def _provenance(record: AuditRecord | CompareRecord | PortfolioRecord) -> list[Row]:
    """Return provenance as rows of field and value; several inputs as several rows."""
    source = record.provenance
    rows: list[Row] = []

    def add(field: str, value: Any) -> None:
        rows.append({"field": field, "value": None if value is None else str(value)})

    add("headline", record.headline)
    add("schema", record.schema)
    add("noun", record.noun)
    for number, file in enumerate(source.inputs, start=1):
        for part in ("name", "format", "sha256", "bytes", "rows"):
            add(f"input {number} {part}", getattr(file, part))
    for name in (
        *(
            "rows_read",
            "rows_used",
            "failure_rule",
            "failure_rule_in_words",
            "no_answer",
            "min_judged",
            "min_cell",
            "version",
        ),
        *("command", "seed", "period", "note", "weighted", "clusters", "census"),
    ):
        add(name, getattr(source, name))
    for reason, number in source.left_out.items():
        add(f"rows left out: {reason}", number)
    for model, threshold in source.thresholds.items():
        add(f"threshold: {model}", threshold)
    for warning in source.warnings:
        add("warning", warning)
    return rows


def guarded(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe before ``= + - @``, tab, line break.

    >>> guarded("=cmd()"), guarded("plain")
    ("'=cmd()", 'plain')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def _csv(rows: list[Row]) -> bytes:
    """Return rows as CSV in UTF-8: empty for None, true and false, numbers in full."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guarded(_encodable(column)) for column in rows[0]])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return buffer.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(_encodable(value)) if isinstance(value, str) else value


def _encodable(text: str) -> str:
    """Return text that UTF-8 can hold and a terminal can show; tabs and line breaks stay."""
    parts = re.split(r"([\t\n\r]+)", text)
    return "".join(part if index % 2 else shown(part) for index, part in enumerate(parts))
