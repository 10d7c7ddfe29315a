"""Where the numbers of a result come from: the record that every result carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture._version import __version__

if TYPE_CHECKING:
    from polyculture.audit.records import InputFile, Provenance
    from polyculture.outcomes import Outcomes
    from polyculture.readers import Table
    from polyculture.tally import Tally

__all__ = ["provenance_of"]


def provenance_of(
    counted: Tally,
    known: Outcomes | None,
    inputs: tuple[InputFile, ...],
    *,
    min_cell: int,
    seed: int,
    census: bool,
    command: str,
) -> Provenance:
    """Return where the numbers come from: files, rows, what counts as failure, the call, and what was odd."""
    from polyculture.audit.records import InputFile, Provenance

    table: Table | None = getattr(known, "table", None)
    frame = InputFile(name="a frame" if known is not None else "a Tally", format="frame", rows=counted.rows_read)
    return Provenance(
        inputs=inputs or ((frame,) if table is None else table.inputs),
        rows_read=counted.rows_read,
        rows_used=counted.rows_used,
        left_out=counted.left_out,
        failure_rule=counted.failure_rule,
        no_answer=counted.no_answer_policy,
        min_judged=counted.min_judged,
        min_cell=min_cell,
        version=__version__,
        command=command,
        seed=seed,
        period=None if table is None else table.period,
        note=None if table is None else table.note,
        thresholds=counted.thresholds,
        weighted=counted.weighted,
        clusters=counted.cluster_count,
        census=census,
        warnings=_warnings(counted, known, table),
    )


def _warnings(counted: Tally, known: Outcomes | None, table: Table | None) -> tuple[str, ...]:
    """Say what was read otherwise than the caller may think."""
    found = list(table.warnings) if table is not None else []
    if known is None:
        return tuple(found)
    said = {reason for reasons in counted.no_answer_reasons.values() for reason in reasons}
    found += [
        f"No cell holds {value!r}, which was named as no answer."
        for value in known.mapping.no_answer_values
        if value not in said and value.lower() != "null"
    ]
    if table is not None and known.mapping.models is None:
        found += [f"Column {name!r} is empty and was not taken for a model." for name in table.empty]
    return tuple(found)
