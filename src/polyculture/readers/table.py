"""What a reader hands on: a lazy frame, the files behind it, and what is known of their layout.

Nothing here reads a file or knows of failure rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import narwhals as nw

    from polyculture.audit.records import InputFile

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """A table that has been opened but not yet read.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The rows, not computed yet.
    inputs : tuple of InputFile
        Every file that takes part, with its SHA-256 and size.
    mapping : dict, optional
        For layouts that are fixed, what the columns mean: the fields of `polyculture.outcomes.Mapping`
        by name. What the user says goes before it.
    note : str, optional
        What was judged, by whom, and where it comes from, in plain words.
    period : str, optional
        When the outcomes were made.
    rows : int, optional
        The number of rows, where it is known without computing.
    noun : str, optional
        What one individual is called, in the plural ("reviews"), where the layout says it.
    warnings : tuple of str, optional
        What a reader should be told although the files could be read.
    empty : tuple of str, optional
        Columns without a single value, where that is known without computing (text formats). They
        are text columns of nulls in ``frame``.
    index : str, optional
        The column that names rows, where the file gave it no name: no model unless the user says so.
    """

    frame: nw.LazyFrame[Any]
    inputs: tuple[InputFile, ...]
    mapping: dict[str, object] = field(default_factory=dict)
    note: str | None = None
    period: str | None = None
    rows: int | None = None
    noun: str | None = None
    warnings: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    index: str | None = None
