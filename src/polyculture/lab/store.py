"""The store of a component-sharing experiment: chunks of trials as parquet, and who was tested; written once.

What all stores have in common stands in ``folder``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from polyculture.files import atomic_write
from polyculture.lab import folder
from polyculture.lab.chunks import GROUPS, individuals_bytes, parquet, read_chunk
from polyculture.lab.folder import locked
from polyculture.lab.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.data import Prepared
    from polyculture.lab.trial import Outcome

__all__ = ["Manifest", "Store", "libraries_of", "locked"]

SCHEMA = "polyculture/lab-store/1"
_CHUNK = re.compile(r"trials-(\d{6})-([0-9a-f]{16})\.parquet")
_NETWORKS = ("torch", "skorch", "transformers", "peft", "safetensors")
"""Of what adapts pretrained models."""


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
            versions=folder.versions(libraries_of(plan)),
        )
        if folder.begin(path, manifest, lambda: {"individuals.parquet": individuals_bytes(data, plan)}):
            cls.open(path).chunks()
        return cls.open(path)  # as whoever takes it up will read it

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open a store to read it.

        Raises
        ------
        FileError
            If there is none, or its manifest is damaged.
        """
        return cls(path, folder.read_manifest(path, Manifest, SCHEMA))

    def chunks(self) -> dict[int, Path]:
        """Return the chunks that are there, each checked against the sum in its name.

        Raises
        ------
        FileError
            If one is damaged, of no chunk of the plan, or there twice.
        """
        found: dict[int, Path] = {}
        for name, place in folder.summed_files(self.path, _CHUNK, lost="its trials are"):
            number = int(name[1])
            if number in found or number >= self.number_of_chunks:
                raise folder.foreign(place)
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
        atomic_write(self.path / folder.summed(f"trials-{chunk:06d}", content), content)

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
                lacking = self.number_of_chunks - len(there)
                raise folder.incomplete(self.path, f"{lacking} of {self.number_of_chunks} chunks")
            yield from read_chunk(there[chunk], self.manifest, self.trials_of(chunk))

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
            raise folder.incomplete(self.path, f"trial {trial}")
        return list(read_chunk(there[number], self.manifest, self.trials_of(number)))[place]

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


def libraries_of(plan: Plan) -> tuple[str, ...]:
    """Return the libraries that trials of a plan are computed with."""
    return (*folder.LIBRARIES, *(_NETWORKS if plan.backbones else ()))
