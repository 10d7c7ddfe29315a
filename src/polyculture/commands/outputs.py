"""Where a command writes: every path is tried before the long computation, and written whole or not at all."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.errors import OutputError, UsageError
from polyculture.listing import check_ending

if TYPE_CHECKING:
    from polyculture.commands.progress import Stages
    from polyculture.results import Audit

__all__ = ["Targets", "check_apart", "say", "write_standard_output"]


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The files that were asked for; None where one was not."""

    json: str | None = None
    html: str | None = None
    tables: str | None = None
    failed_by_all: str | None = None
    suspect_keys: str | None = None

    def check(self, sources: Sequence[str]) -> None:
        """Refuse what cannot be written, before anything is read.

        Raises
        ------
        OutputError, UsageError
            The message names the option and the path.
        """
        options = {f"--{entry.name.replace('_', '-')}": getattr(self, entry.name) for entry in fields(self)}
        if self.json == "-":
            del options["--json"]
        check_apart({option: path for option, path in options.items() if path is not None}, sources)
        for listing in (self.failed_by_all, self.suspect_keys):
            if listing is not None:
                check_ending(listing)

    def write(self, audit: Audit, progress: Stages) -> None:
        """Write all files; each is there whole, or as it was before."""
        if self.html is not None:
            progress("Drawing the report")
            audit.report(self.html)
        if self.tables is not None:
            progress("Writing the tables")
            audit.tables(self.tables)
        if self.failed_by_all is not None:
            progress("Listing whom all models failed")
            audit.list_failed_by_all(self.failed_by_all)
        if self.suspect_keys is not None:
            audit.list_suspect_keys(self.suspect_keys)
        if self.json is not None:
            progress("Writing the JSON")
            if self.json == "-":
                progress.stop()
                write_standard_output(audit.json())
            else:
                audit.json(self.json)

    def summarize(self, audit: Audit) -> None:
        """Print one screen, and where the files are."""
        from rich.console import Console

        from polyculture.report.terminal import print_audit

        print_audit(audit.record, Console())
        written = [
            path
            for path in (self.html, self.json, self.tables, self.failed_by_all, self.suspect_keys)
            if path is not None
        ]
        if written:
            say(f"Written: {', '.join(written)}")


def say(text: str) -> None:
    """Print a line for people, as it stands."""
    sys.stdout.write(f"{text}\n")


def check_apart(paths: Mapping[str, str], sources: Sequence[str]) -> None:
    """Refuse paths that cannot be written, that are a source, or that are the same.

    Parameters
    ----------
    paths : mapping of str to str
        Option -> path.
    sources : sequence of str
        What the command reads: files, patterns, folders.

    Raises
    ------
    OutputError, UsageError
        The message names the option and the path.
    """
    taken = {path: "a source" for source in sources for path in _files_of(source)}
    folders = [Path(source).resolve() for source in sources if source and Path(source).is_dir()]
    for option, path in paths.items():
        if path in ("", "-") or path.startswith("--"):
            raise UsageError(f"{option} needs a name to write to, not {path!r}.", hint=f"Write {option} NAME.")
        place = Path(path)
        known = taken.get(place.resolve())
        if known is None and place.is_file() and any(folder in place.resolve().parents for folder in folders):
            known = "in a source"
        if known is not None:
            raise UsageError(f"{option} would overwrite {path!r}, which is {known}.", hint="Choose another name.")
        taken[place.resolve()] = f"the file of {option}"
        if option in {"--tables", "--out"}:
            _check_folder(place, option)
            _check_inside(place, option, taken)
        else:
            _check_file(place, option)


def _files_of(source: str) -> list[Path]:
    """Return the files that a path or a pattern names, resolved."""
    if Path(source).is_file():
        return [Path(source).resolve()]
    # Path.glob takes no absolute patterns.
    found = glob.glob(source, recursive=True) if glob.has_magic(source) else []  # noqa: PTH207
    return [Path(one).resolve() for one in found if Path(one).is_file()]


def _check_inside(folder: Path, option: str, taken: Mapping[Path, str]) -> None:
    """Refuse a folder in which a source has the name of a file that will be written there."""
    from polyculture.report.tables import TABLES

    names = {f"{name}.csv" for name in TABLES}
    if option == "--out":
        names |= {"claims.csv", "snapshots.csv", "profiles.csv", "reproduction.json", "report.html"}
    for path, known in taken.items():
        if path.parent == folder.resolve() and path.name in names:
            raise UsageError(
                f"{option} would overwrite {str(folder / path.name)!r}, which is {known}.",
                hint="Choose another folder.",
            )


def write_standard_output(text: str) -> None:
    """Write text as UTF-8 to standard output, whatever the terminal's encoding."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())
        buffer.flush()


def _check_file(path: Path, option: str) -> None:
    """Refuse a file that cannot be written: a folder, a missing or read-only folder around it.

    Raises
    ------
    OutputError
        The message names the option, the path and what to do.
    """
    if path.is_dir():
        raise OutputError(f"{option}: {str(path)!r} is a folder.", hint="Give the name of a file.")
    if path.exists() and not path.is_file():  # a device or a pipe, written to as it is
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise OutputError(
            f"{option}: there is no folder {str(path.parent)!r} to write {path.name!r} to.",
            hint="Make it first (mkdir).",
        )
    _try(folder, option)


def _check_folder(path: Path, option: str) -> None:
    if path.exists() and not path.is_dir():
        raise OutputError(f"{option}: {str(path)!r} is a file.", hint="Give the name of a folder.")
    folder = path.resolve() if path.exists() else path.resolve().parent
    if not folder.is_dir():
        what = f"{str(folder)!r} is a file" if folder.exists() else f"there is no folder {str(folder)!r}"
        hint = "Make it first (mkdir -p), or choose another place."
        raise OutputError(f"{option}: {what}, so {path.name!r} cannot be made in it.", hint=hint)
    _try(folder, option)


def _try(folder: Path, option: str) -> None:
    # Permission bits say nothing on a read-only disk or to root; only trying does.
    try:
        handle, name = tempfile.mkstemp(prefix=".polyculture-", suffix=".tmp", dir=folder)
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise OutputError(
            f"{option}: cannot write in {str(folder)!r}: {what}.", hint="Choose another folder, or ask for permission."
        ) from error
    os.close(handle)
    Path(name).unlink()
