"""`check`: a result held against limits, for Python and for the shell; limits are judged in `gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from polyculture._version import __version__
from polyculture.errors import UsageError
from polyculture.files import text_and_file
from polyculture.giving import Written, to_frame

if TYPE_CHECKING:
    from polyculture.audit.records import AuditRecord
    from polyculture.gate.documents import Document
    from polyculture.gate.limits import Limit
    from polyculture.gate.records import CheckRecord, LimitRecord
    from polyculture.results import Audit

__all__ = ["Check", "check", "hold"]

Path = str | PathLike[str]


@dataclass(frozen=True, repr=False)
class Check(Written):
    """A result held against limits. ``record`` holds every number with its bound and verdict."""

    _named = "check"

    record: CheckRecord

    def __repr__(self) -> str:
        return self.record.sentence

    def _repr_html_(self) -> str:
        from polyculture.report.check import repr_html

        return repr_html(self.record)

    @property
    def limits(self) -> tuple[LimitRecord, ...]:
        """Every number checked, in the order of the limits."""
        return self.record.limits

    @property
    def broken(self) -> tuple[LimitRecord, ...]:
        """The numbers that count as broken: beyond their bound, or undefined where that is not allowed."""
        return tuple(line for line in self.record.limits if line.counts_as_broken)

    def frame(self) -> Any:
        """Return the numbers as a Polars frame, a row each."""
        from polyculture.audit.frames import flatten

        return to_frame([flatten(line) for line in self.record.limits], "polars")

    def junit(self, path: Path | None = None) -> str:
        """Return the check as JUnit XML, and write it to ``path`` where one is given."""
        from polyculture.report.check_ci import junit

        return text_and_file(junit(self.record), path)

    def markdown(self, path: Path | None = None) -> str:
        """Return the check as a Markdown summary, and write it to ``path`` where one is given."""
        from polyculture.report.check_ci import markdown

        return text_and_file(markdown(self.record).encode(), path)

    def github(self) -> str:
        """Return the numbers that count as broken as annotations that GitHub Actions reads from the log."""
        from polyculture.report.check_ci import github_annotations

        return github_annotations(self.record)


def check(
    result: Audit | AuditRecord | Path,
    limits: Path | Sequence[Mapping[str, Any]] | Mapping[str, Any],
    /,
    *,
    against: Path | Audit | AuditRecord | None = None,
) -> Check:
    """Hold the numbers of a result against limits.

    Parameters
    ----------
    result : Audit, AuditRecord, or path
        What was measured: an audit, or the JSON file of one.
    limits : path, or list of dict
        A limits.toml, or its tables ``[[limit]]`` as dictionaries: ``field`` and one or more of ``at_most``,
        ``at_least``, ``at_most_increase``, ``at_most_decrease``, ``at_most_change``.
    against : path, Audit or AuditRecord, optional
        The stored result that changes are measured from, for limits that name none.

    Returns
    -------
    Check
        ``broken`` is empty where every limit holds.

    Raises
    ------
    InputError
        If a file cannot be read, or is no result that limits can be put on.
    UsageError
        If a limit names no field, or bounds nothing.

    Examples
    --------
    >>> import polyculture as pc
    >>> found = check(pc.audit("hapi:waimai"), [{"field": "systemic_failure.observed.high", "at_most": 0.05}])
    >>> found
    Of 1 number checked, 1 is beyond a limit (an audit).
    >>> found.broken[0].verdict, round(found.broken[0].value, 4)
    ('broken', 0.0692)
    """
    from polyculture.gate.limits import from_tables, read_limits

    held: dict[str, Document] = {}
    stored: str | None = None
    if against is not None:
        stored = fspath(against) if isinstance(against, str | PathLike) else "the stored audit"
        if not isinstance(against, str | PathLike):
            held[stored] = _document(against, stored)
    if isinstance(limits, str | PathLike):
        wanted = read_limits(fspath(limits), stored)
    else:
        wanted = from_tables([limits] if isinstance(limits, Mapping) else limits, stored)
    return hold(result, wanted, held)


def hold(
    result: Audit | AuditRecord | Path, limits: Sequence[Limit], held: Mapping[str, Document] | None = None
) -> Check:
    """Hold a result against limits that were read already; ``held`` are stored results that are no files."""
    from polyculture.gate.documents import open_document
    from polyculture.gate.run import run

    document = _document(result, "an audit")

    @cache
    def stored(name: str) -> Document:
        return held[name] if held and name in held else open_document(name)

    return Check(run(document, limits, stored, version=__version__))


def _document(result: Any, name: str) -> Document:
    from polyculture.audit.records import AuditRecord
    from polyculture.gate.documents import as_document, open_document
    from polyculture.report.json import to_json

    if isinstance(result, str | PathLike):
        return open_document(fspath(result))
    if isinstance(result, AuditRecord):
        return as_document(to_json(result), name)
    write = getattr(result, "json", None)
    if not callable(write):
        raise UsageError(
            f"A {type(result).__name__} is nothing to put limits on.", hint="Give an audit, or the path of its JSON."
        )
    return as_document(write(), name)
