"""`slices`: who is failed, in slices that a few conditions describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

from polyculture.api import MappingOptions, Progress, Source, read, saved_tallies
from polyculture.errors import UsageError
from polyculture.giving import Kind, Written, to_frame
from polyculture.outcomes import Outcomes
from polyculture.searching import found_slices

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.records import SlicesRecord
    from polyculture.readers import Table

__all__ = ["Slices", "slices"]


@dataclass(frozen=True, repr=False)
class Slices(Written):
    """What a search for slices found. ``record`` holds the figures, as `slices` of audit.json."""

    _named = "slices"

    record: SlicesRecord
    _kind: Kind = "polars"

    def __repr__(self) -> str:
        return self.record.sentence

    def _repr_html_(self) -> str:
        from polyculture.report.slices import slices_html

        return slices_html(self.record)

    def frame(self) -> Any:
        """Return a row a slice, as a frame of the kind that was given (Polars where it was none)."""
        from polyculture.audit.frames import slice_rows

        return to_frame(slice_rows(self.record), self._kind)


def slices(
    source: Outcomes | Source | Sequence[Source] | Table | IntoFrame,
    /,
    columns: Sequence[str] | str = "all",
    *,
    by_measure: Literal["excess", "systemic-failure"] = "excess",
    min_cell: int = 30,
    seed: int = 0,
    census: bool = False,
    noun: str | None = None,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Slices:
    """Search columns for slices of up to three conditions in which models fail together more than in others.

    Parameters
    ----------
    source : Outcomes, path, list of paths, "hapi:NAME", or a frame
        As in `audit`; not a Tally, since the search is a pass over the rows.
    columns : sequence of str, or "all"
        Columns, or anything else that ``by`` takes; "all" are those named for nothing else.
    by_measure : {"excess", "systemic-failure"}
        What slices are found and tested for: failures in excess of the slice's own rates, or failures by all.
    min_cell : int
        Smallest slice, in either half.
    seed : int
        Seed of the split into halves.
    census : bool
        The individuals are all there are: everyone is searched, and nothing tested.
    noun : str, optional
        What the individuals are, in the plural.
    map, encoding, progress, **mapping
        As in `audit`.

    Returns
    -------
    Slices
        ``print`` names the slices that were confirmed on the half on which they were not searched.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, or a column cannot be searched.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> town = rng.choice(["x", "y", "z"], 3000)
    >>> both = (town == "y") & (rng.random(3000) < 0.3)
    >>> models = {m: ((rng.random(3000) < 0.2) | both).astype(int) for m in ("a", "b")}
    >>> found = slices(pl.DataFrame({"town": town, **models}), ["town"], outcomes="failed", models=["a", "b"])
    >>> [one.conditions for one in found.record.slices if one.confirmed]
    [('town = y',)]
    """
    from polyculture.audit.settings import Settings

    for name, value, least in (("min_cell", min_cell, 1), ("seed", seed, 0)):
        if value < least:
            raise UsageError(f"{name}={value} is too small.", hint=f"Give {least} or more.")
    if isinstance(source, Outcomes):
        if mapping or map is not None or encoding is not None:
            raise UsageError("Outcomes say already what their columns mean.", hint="Give the keywords to read().")
        known: Outcomes | None = source
    else:
        known = None if _is_tally(source) else read(source, map=map, encoding=encoding, progress=progress, **mapping)
    settings = Settings(
        seed=seed,
        min_cell=min_cell,
        census=census,
        noun=noun or (known.noun if known is not None else "individuals"),
    )
    if progress is not None:
        progress("Searching for slices")
    return Slices(found_slices(known, columns, by=by_measure, settings=settings), getattr(known, "kind", "polars"))


def _is_tally(source: Any) -> bool:
    from polyculture.tally import Tally

    return isinstance(source, Tally) or bool(saved_tallies(source))
