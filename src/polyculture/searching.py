"""Searching the rows of outcomes for slices: what `slices` and an audit with slices share; and suspect keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from polyculture.errors import UsageError
from polyculture.results import collecting

if TYPE_CHECKING:
    from polyculture.audit.records import AuditRecord, SlicesRecord
    from polyculture.audit.settings import Settings
    from polyculture.outcomes import Outcomes
    from polyculture.tally import Tally

__all__ = ["found_slices", "with_slices", "with_suspect_keys"]

ALL = "all"


def found_slices(known: Outcomes | None, columns: Sequence[str] | str, *, by: str, settings: Settings) -> SlicesRecord:
    """Search the rows of outcomes for slices.

    Parameters
    ----------
    known : Outcomes or None
        None where there is only a Tally.
    columns : sequence of str, or "all"
        What to search.
    by : {"excess", "systemic-failure"}
        What slices are found and tested for.
    settings : Settings
        Seed, smallest slice, census, noun.

    Raises
    ------
    UsageError, ColumnError
        If there are no rows, or a column cannot be searched.
    """
    from polyculture.audit.slices import slices
    from polyculture.tally.by_columns import usable_columns

    if known is None:
        raise UsageError("A Tally holds no rows, so it cannot be searched for slices.", hint="Audit the outcomes.")
    names = [columns] if isinstance(columns, str) else list(columns)
    every = names == [ALL] and ALL not in known.schema
    with collecting(getattr(known, "table", None)):
        chosen = usable_columns(known) if every else tuple(names)
        return slices(known, chosen, measure=by, settings=settings, named=not every)


def with_slices(
    record: AuditRecord,
    known: Outcomes | None,
    columns: Sequence[str] | str,
    *,
    by: str,
    progress: Callable[[str], None] | None = None,
) -> AuditRecord:
    """Return an audit with its slices, searched with the audit's own seed, smallest cell and noun."""
    from msgspec.structs import replace

    from polyculture.audit.settings import Settings

    if progress is not None:
        progress("Searching for slices")
    source = record.provenance
    settings = Settings(seed=record.seed, min_cell=source.min_cell, census=source.census, noun=record.noun)
    return replace(record, slices=found_slices(known, columns, by=by, settings=settings))


def with_suspect_keys(record: AuditRecord, known: Outcomes | None, counted: Tally, *, census: bool) -> AuditRecord:
    """Return an audit with the items whose label the models contradict with one answer.

    Raises
    ------
    UsageError
        If there are no rows, or no label.
    """
    from msgspec.structs import replace as with_fields

    from polyculture.audit.nouns import told
    from polyculture.audit.suspect_keys import suspect_keys

    if known is None:
        raise UsageError("A Tally holds no rows, so it cannot list suspect keys.", hint="Audit the outcomes.")
    with collecting(getattr(known, "table", None)):
        return with_fields(record, suspect_keys=told(suspect_keys(known, counted, census=census), record.noun))
