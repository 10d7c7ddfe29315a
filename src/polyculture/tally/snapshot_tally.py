"""SnapshotTally: the counts that everything a comparison says is a function of, and their addition.

How they are made stands in ``joined`` and ``snapshots``, how they are kept in ``snapshot_store``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.errors import TallyError, first_few

if TYPE_CHECKING:
    from polyculture.tally.changes import Changes
    from polyculture.tally.snapshots import SnapshotMoments

__all__ = ["SnapshotTally"]


@dataclass(frozen=True, eq=False)
class SnapshotTally:
    """Counts of two or more snapshots of the same models on the same individuals.

    The SnapshotTally of two halves of the individuals is the sum of theirs; no individual is in it.

    Attributes
    ----------
    names, sources : tuple of str
        Of the S snapshots, in order: what they are called, and where they were read.
    models : tuple of tuple of str
        The models of each.
    rows : tuple of int
        The rows of each as read.
    changes : tuple of Changes
        Between each two consecutive snapshots, S - 1.
    repeat : Changes or None
        From the earlier versions to the same versions asked again.
    moments : SnapshotMoments or None
        Sums over all snapshots, for a trend; None with fewer than 3.
    no_moments : str
        Why there are none, where that is not their number.
    rows_read, rows_used : int
        Of all snapshots together.
    left_out : dict of str to int
        Rows that are not used, by reason.
    notes : tuple of str
        What a reader should know of the snapshots as they were read.
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[tuple[str, ...], ...]
    rows: tuple[int, ...]
    changes: tuple[Changes, ...]
    repeat: Changes | None = None
    moments: SnapshotMoments | None = None
    no_moments: str = ""
    rows_read: int = 0
    rows_used: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def left(self, step: int) -> tuple[str, ...]:
        """Return the models of a snapshot that the next one lacks."""
        stayed = {old for old, _ in self.changes[step].models}
        return tuple(name for name in self.models[step] if name not in stayed)

    def joined(self, step: int) -> tuple[str, ...]:
        """Return the models that the next snapshot has in addition."""
        stayed = {new for _, new in self.changes[step].models}
        return tuple(name for name in self.models[step + 1] if name not in stayed)

    def save(self, path: str | Path) -> None:
        """Write it to one file (a zip of arrays and a JSON header; nothing in it is ever unpickled).

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        from polyculture.tally.snapshot_store import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> SnapshotTally:
        """Read what ``save`` wrote.

        Raises
        ------
        TallyError
            If the file holds something else.
        """
        from polyculture.tally.snapshot_store import load

        return load(Path(path))

    def __add__(self, other: object) -> SnapshotTally:
        if not isinstance(other, SnapshotTally):
            return NotImplemented
        self._refuse_other_snapshots(other)
        if (self.repeat is None) != (other.repeat is None):
            raise TallyError("Only one of these SnapshotTallies has a repeat.", hint="Make both with or without one.")
        # The changes first: they say best in what two tallies differ.
        changes = tuple(a + b for a, b in zip(self.changes, other.changes, strict=True))
        moments = None
        if self.moments is not None and other.moments is not None:
            moments = self.moments + other.moments
        return replace(
            self,
            names=tuple(map(_both, self.names, other.names)),
            sources=tuple(map(_both, self.sources, other.sources)),
            models=tuple(tuple(dict.fromkeys((*a, *b))) for a, b in zip(self.models, other.models, strict=True)),
            rows=tuple(a + b for a, b in zip(self.rows, other.rows, strict=True)),
            changes=changes,
            repeat=None if self.repeat is None or other.repeat is None else self.repeat + other.repeat,
            moments=moments,
            no_moments=self.no_moments or other.no_moments,
            rows_read=self.rows_read + other.rows_read,
            rows_used=self.rows_used + other.rows_used,
            left_out=dict(sorted((Counter(self.left_out) + Counter(other.left_out)).items())),
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
        )

    def _refuse_other_snapshots(self, other: SnapshotTally) -> None:
        """Refuse to add what are not parts of the same snapshots, as far as their names tell."""
        places = {name: place for place, name in enumerate(self.names)}
        moved = [name for place, name in enumerate(other.names) if places.get(name, place) != place]
        if len(self.names) != len(other.names) or moved:
            raise TallyError(
                f"These SnapshotTallies are of different snapshots ({first_few(self.names)}; "
                f"{first_few(other.names)}) and cannot be added.",
                hint="Add parts of the individuals at the same snapshots.",
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SnapshotTally):
            return NotImplemented
        return all(getattr(self, entry.name) == getattr(other, entry.name) for entry in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        matched = sum(one.matched for one in self.changes) if len(self.changes) == 1 else None
        people = "" if matched is None else f" of {matched:,} individuals"
        models = first_few([old for old, _ in self.changes[0].models])
        return f"SnapshotTally{people} at {len(self.names)} snapshots ({first_few(self.names)}), models {models}"


def _both(mine: str, theirs: str) -> str:
    """Return one name for two parts of a snapshot."""
    return mine if mine == theirs else f"{mine} and {theirs}"
