"""The store of a run: chunks of trials as parquet, who was tested, and a manifest; written once, never changed.

Every file is renamed into place whole, and a chunk carries the beginning of its SHA-256 in its name: a run that was
killed is taken up where it stopped, and ends with the same bytes as one that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from polyculture._version import __version__
from polyculture.errors import FileError, OutputError, UsageError
from polyculture.files import atomic_write, output_error
from polyculture.lab.chunks import GROUPS, individuals_bytes, parquet, read_chunk
from polyculture.lab.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.data import Prepared
    from polyculture.lab.trial import Outcome

__all__ = ["Manifest", "Store", "differing", "locked", "versions"]

SCHEMA = "polyculture/lab-store/1"
_CHUNK = re.compile(r"trials-(\d{6})-([0-9a-f]{16})\.parquet")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib", "polars", "narwhals")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a store holds: the plan, its arms and decision-makers, the data by SHA-256, and the versions used."""

    schema: str = SCHEMA
    plan: Plan
    arms: tuple[str, ...]
    decision_makers: tuple[str, ...]
    individuals: int
    trials: int
    data: dict[str, str]
    versions: dict[str, str]


@dataclass(frozen=True, eq=False)
class Store:
    """A folder of outcomes.

    Parameters
    ----------
    path : Path
        The folder.
    manifest : Manifest
        What it holds.
    """

    path: Path
    manifest: Manifest

    @classmethod
    def begin(cls, path: Path, plan: Plan, data: Prepared) -> Store:
        """Make the store of a plan, or take up the one that is there.

        Raises
        ------
        UsageError
            If the store there is of another plan, other data or other versions of libraries.
        FileError
            If the store is damaged.
        OutputError
            If it cannot be written.
        """
        manifest = Manifest(
            plan=plan,
            arms=tuple(arm.name for arm in plan.arms()),
            decision_makers=plan.decision_makers(),
            individuals=data.individuals,
            trials=plan.trials(),
            data=data.hashes,
            versions=versions(),
        )
        try:
            path.mkdir(parents=True, exist_ok=True)
            for left in path.glob(".polyculture-*.tmp"):  # of a run that was killed while it wrote
                left.unlink()
        except OSError as error:
            raise output_error(path, error) from error
        if (path / "manifest.json").exists():
            found = cls.open(path)
            _check_same(found.manifest, manifest, path)
            _check_individuals(path / "individuals.parquet", individuals_bytes(data, plan))
            found.chunks()
            return found
        if any(path.iterdir()) and not (path / "individuals.parquet").exists():
            raise OutputError(f"{str(path)!r} holds other files and no store.", hint="Choose another folder for --out.")
        atomic_write(path / "individuals.parquet", individuals_bytes(data, plan))
        encoded = msgspec.json.encode(manifest, order="deterministic")
        atomic_write(path / "manifest.json", msgspec.json.format(encoded, indent=2) + b"\n")
        return cls.open(path)  # as whoever takes it up will read it

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open a store to read it.

        Raises
        ------
        FileError
            If there is none, or its manifest is damaged.
        """
        try:
            content = (path / "manifest.json").read_bytes()
        except OSError as error:
            raise FileError(
                f"There is no store in {str(path)!r}: {(error.strerror or str(error)).lower()}.",
                hint="Name the folder that a run wrote.",
            ) from None
        try:
            manifest = msgspec.json.decode(content, type=Manifest)
        except (msgspec.DecodeError, UsageError) as error:
            raise FileError(
                f"{str(path / 'manifest.json')!r} is damaged: {error}.", hint="Run the plan again into another folder."
            ) from None
        if manifest.schema != SCHEMA:
            raise FileError(
                f"The store {str(path)!r} is of schema {manifest.schema!r}, not {SCHEMA!r}.",
                hint="Run the plan again with this version.",
            )
        return cls(path, manifest)

    def chunks(self) -> dict[int, Path]:
        """Return the chunks that are there, each checked against the sum in its name.

        Raises
        ------
        FileError
            If one is damaged, of no chunk of the plan, or there twice.
        """
        found: dict[int, Path] = {}
        for place in sorted(self.path.iterdir()):
            name = _CHUNK.fullmatch(place.name)
            if name is None:
                continue
            number = int(name[1])
            if sha256(place.read_bytes()).hexdigest()[:16] != name[2]:
                raise FileError(
                    f"{str(place)!r} is damaged: its content is not what its name says.",
                    hint="Delete it and run the same command again: its trials are then run anew.",
                )
            if number in found or number >= self.number_of_chunks:
                raise FileError(
                    f"{str(place)!r} does not belong to this plan, or is there twice.", hint="Delete it, and run again."
                )
            found[number] = place
        return found

    @property
    def number_of_chunks(self) -> int:
        """How many chunks the store has when it is complete."""
        return -(-self.manifest.trials // self.manifest.plan.chunk)

    def missing(self) -> list[int]:
        """Return the chunks that are still to be run."""
        there = self.chunks()
        return [number for number in range(self.number_of_chunks) if number not in there]

    def trials_of(self, chunk: int) -> range:
        """Return the numbers of the trials of a chunk."""
        size = self.manifest.plan.chunk
        return range(chunk * size, min((chunk + 1) * size, self.manifest.trials))

    def write(self, chunk: int, content: bytes) -> None:
        """Put a chunk into the store, whole.

        Raises
        ------
        OutputError
            If there is no space left, or the folder cannot be written.
        """
        name = f"trials-{chunk:06d}-{sha256(content).hexdigest()[:16]}.parquet"
        atomic_write(self.path / name, content)

    def outcomes(self) -> Iterator[Outcome]:
        """Read all trials in order.

        Raises
        ------
        FileError
            If a chunk is missing or damaged.
        """
        there = self.chunks()
        for chunk in range(self.number_of_chunks):
            if chunk not in there:
                raise FileError(
                    f"The store {str(self.path)!r} lacks {self.number_of_chunks - len(there)} of "
                    f"{self.number_of_chunks} chunks.",
                    hint="Run the same command again: it goes on where it stopped.",
                )
            yield from read_chunk(there[chunk], self.manifest)

    def outcome(self, trial: int) -> Outcome:
        """Read one trial.

        Raises
        ------
        FileError
            If its chunk is missing or damaged.
        """
        number, place = divmod(trial, self.manifest.plan.chunk)
        there = self.chunks()
        if number not in there:
            raise FileError(f"The store {str(self.path)!r} lacks trial {trial}.", hint="Run the same command again.")
        return list(read_chunk(there[number], self.manifest))[place]

    def individuals(self) -> tuple[list[str], NDArray[np.int64], tuple[tuple[str, ...], ...]]:
        """Return the ids, the group cell of each individual (-1 where not known), and the values of the cells."""
        import polars as pl

        table = parquet(self.path / "individuals.parquet")
        names = [name for name in table.columns if name.startswith(GROUPS)]
        cell = np.full(table.height, -1, dtype=np.int64)
        if not names:
            return table["id"].to_list(), cell, ()
        rows = table.select(pl.col(names)).rows()
        cells = tuple(sorted({row for row in rows if None not in row}))
        place = {row: index for index, row in enumerate(cells)}
        return table["id"].to_list(), np.array([place.get(row, -1) for row in rows], dtype=np.int64), cells


def _check_individuals(path: Path, wanted: bytes) -> None:
    """Refuse a file of individuals that is not that of the data; write it where it is gone."""
    if not path.exists():
        atomic_write(path, wanted)
    elif path.read_bytes() != wanted:
        raise FileError(
            f"{str(path)!r} is damaged: it does not hold who is in the data.",
            hint="Delete it and run the same command again: it is then written anew.",
        )


def versions() -> dict[str, str]:
    """Return the versions of what trials are computed with."""
    found = {"polyculture": __version__, "python": python_version()}
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _check_same(there: Manifest, wanted: Manifest, path: Path) -> None:
    """Refuse to add trials to a store that was begun otherwise."""
    for field in msgspec.structs.fields(Plan):
        old, new = getattr(there.plan, field.name), getattr(wanted.plan, field.name)
        if old != new:
            raise UsageError(
                f"The store in {str(path)!r} is of another plan: {field.encode_name} is not what it was.",
                hint="Choose another folder for --out, or go back to the plan of this one.",
            )
    for what, old_names, new_names in (
        ("data", there.data, wanted.data),
        ("libraries", there.versions, wanted.versions),
    ):
        if changed := differing(old_names, new_names):
            raise UsageError(
                f"The store in {str(path)!r} was begun with other {what}: {', '.join(changed)}.",
                hint="Trials of both cannot stand side by side; choose another folder for --out.",
            )


def differing(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return the names whose value is not the same in both.

    >>> differing({"numpy": "2.1", "scipy": "1.15"}, {"numpy": "2.2", "scipy": "1.15"})
    ['numpy']
    """
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of a folder while a block runs; a run that was killed leaves nothing locked.

    Raises
    ------
    OutputError
        If another run writes there, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / ".lock").open("w")
    except OSError as error:
        raise output_error(folder, error) from error
    with handle:
        try:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such lock on this system: two runs into one folder write the same bytes
            pass
        except OSError:
            raise OutputError(
                f"Another run writes into {str(folder)!r}.", hint="Wait for it, or choose another folder for --out."
            ) from None
        yield
