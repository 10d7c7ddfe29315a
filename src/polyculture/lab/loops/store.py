"""The store of a loop: a file a generation, written when it is finished, and what the next one goes on from.

Weights of networks stay beside their generation. What the other models were trained on is kept until the next
generation is there; the last of a chain keeps none. So a chain that was killed is taken up at the generation it was at,
and the folder ends with the same bytes as one that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from polyculture.errors import UsageError
from polyculture.files import atomic_write
from polyculture.lab import folder
from polyculture.lab.chunks import parquet
from polyculture.lab.loops.actors import libraries_of
from polyculture.lab.loops.generation import generation_bytes, read_generation, read_state, state_bytes
from polyculture.lab.loops.kept import models_bytes, read_models
from polyculture.lab.loops.plan import LoopPlan

if TYPE_CHECKING:
    import polars as pl

    from polyculture.lab.loops.generation import Generation
    from polyculture.lab.loops.kept import Models
    from polyculture.lab.loops.rows import Rows
    from polyculture.lab.loops.world import Everyone

__all__ = ["LoopManifest", "LoopStore", "versions_of"]

SCHEMA = "polyculture/loop-store/1"
_CHAIN = r"(\d{6})"
_GENERATION = re.compile(rf"generation-{_CHAIN}-(\d{{4}})-([0-9a-f]{{16}})\.parquet")
_STATE = re.compile(r"state-(\d{6})-(\d{4})-([0-9a-f]{16})\.parquet")
_MODELS = re.compile(r"models-(\d{6})-(\d{4})-([0-9a-f]{16})\.safetensors")
PEOPLE = "individuals.parquet"


class LoopManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a store holds: the plan, classes and groups, the data by SHA-256, versions, device, and shape of images."""

    schema: str = SCHEMA
    plan: LoopPlan
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    favourable: str
    individuals: int
    data: dict[str, str]
    versions: dict[str, str]
    device: str = "cpu"
    image: tuple[int, int, int] | None = None


@dataclass(frozen=True, eq=False)
class LoopStore:
    """A folder of generations.

    Parameters
    ----------
    path : Path
        The folder.
    manifest : LoopManifest
        What it holds.
    """

    path: Path
    manifest: LoopManifest

    @classmethod
    def begin(cls, path: Path, plan: LoopPlan, everybody: Everyone) -> LoopStore:
        """Make the store of a plan, or take up the one that is there.

        Raises
        ------
        UsageError, FileError, OutputError
            As `folder.begin`.
        """
        manifest = LoopManifest(
            plan=plan,
            classes=everybody.classes,
            groups=everybody.groups,
            favourable=everybody.classes[everybody.favourable],
            individuals=everybody.prepared.individuals,
            data=everybody.prepared.hashes,
            versions=versions_of(plan),
            device=device_name(plan.device),
            image=everybody.image,
        )
        folder.begin(path, manifest, lambda: {PEOPLE: _people_bytes(everybody)})
        found = cls.open(path)
        if found.manifest.device != manifest.device:
            raise UsageError(
                f"The store in {str(path)!r} was begun on {found.manifest.device}, and this is {manifest.device}.",
                hint="Networks give the same bytes on the same device only; choose another folder for --out.",
            )
        found.there()
        return found

    @classmethod
    def open(cls, path: Path) -> LoopStore:
        """Open a store to read it.

        Raises
        ------
        FileError
            If there is none, or its manifest is damaged.
        """
        return cls(path, folder.read_manifest(path, LoopManifest, SCHEMA))

    def there(self, only: int | None = None) -> dict[int, dict[int, Path]]:
        """Return the generations that are there, by chain and number, each checked against the sum in its name.

        Parameters
        ----------
        only : int, optional
            The only chain that is looked for.

        Raises
        ------
        FileError
            If one is damaged, of no chain of the plan, there twice, or one before it is missing.
        """
        chains = range(self.manifest.plan.chains) if only is None else (only,)
        found: dict[int, dict[int, Path]] = {chain: {} for chain in chains}
        pattern = _GENERATION if only is None else re.compile(_GENERATION.pattern.replace(_CHAIN, f"({only:06d})", 1))
        for name, place in folder.summed_files(self.path, pattern, lost="that generation is"):
            chain, number = int(name[1]), int(name[2])
            if chain not in found or number >= self.manifest.plan.generations or number in found[chain]:
                raise folder.foreign(place)
            found[chain][number] = place
        return found

    def count(self) -> int:
        """Return how many generations are there, by their names only."""
        return sum(_GENERATION.fullmatch(place.name) is not None for place in self.path.iterdir())

    def generations(self, chain: int) -> list[Generation]:
        """Return the generations of a chain from the first on, up to the first that is missing."""
        return self.read(self.there(chain)[chain])

    def read(self, places: dict[int, Path]) -> list[Generation]:
        """Read the generations of a chain, by number, up to the first that is missing."""
        found = []
        for number in range(self.manifest.plan.generations):
            if number not in places:
                break
            found.append(read_generation(places[number]))
        return found

    def finished(self, generations: list[Generation]) -> bool:
        """Return whether a chain with these generations is at its end."""
        return bool(generations) and (
            bool(generations[-1].stopped) or len(generations) == self.manifest.plan.generations
        )

    def state(self, chain: int, number: int, shape: tuple[int, ...]) -> list[dict[str, Rows]] | None:
        """Return what the models of a generation were trained on; None where it is not there any more.

        Raises
        ------
        FileError
            If it is damaged.
        """
        lost = "the generations of its chain from there on are"
        for name, place in folder.summed_files(self.path, _STATE, lost=lost):
            if (int(name[1]), int(name[2])) == (chain, number):
                return read_state(place, self.manifest.plan.decision_makers, shape)
        return None

    def models(self, chain: int, number: int) -> Models:
        """Return the weights of the networks of a generation; none where it has none, or they are not there any more.

        Raises
        ------
        FileError
            If they are damaged.
        """
        lost = "what those networks gave stays, and they are"
        pattern = re.compile(_MODELS.pattern.replace(r"(\d{6})-(\d{4})", f"({chain:06d})-({number:04d})", 1))
        for _, place in folder.summed_files(self.path, pattern, lost=lost):
            return read_models(place)
        return {}

    def write(
        self, chain: int, generation: Generation, state: list[dict[str, Rows]], models: Models | None = None
    ) -> None:
        """Put a generation into the store, whole, after what the next one goes on from.

        Parameters
        ----------
        chain : int
            Whose it is.
        generation : Generation
            What it was.
        state : list of dict
            What its models were trained on; empty where all of them can be had from ``models``.
        models : dict, optional
            Weights of its networks.

        Raises
        ------
        OutputError
            If there is no space left, or the folder cannot be written.
        """
        number = generation.number
        last = bool(generation.stopped) or number == self.manifest.plan.generations - 1
        if models:
            content = models_bytes(models)
            name = folder.summed(f"models-{chain:06d}-{number:04d}", content, "safetensors")
            atomic_write(self.path / name, content)
        if state and not last:
            content = state_bytes(state)
            atomic_write(self.path / folder.summed(f"state-{chain:06d}-{number:04d}", content), content)
        content = generation_bytes(generation)
        atomic_write(self.path / folder.summed(f"generation-{chain:06d}-{number:04d}", content), content)
        self.tidy(chain, number, finished=last)

    def tidy(self, chain: int, number: int, *, finished: bool) -> None:
        """Remove what no generation of a chain goes on from: all states but that of its last generation.

        So too weights but those of the first and the last generation, where the plan wants no others.
        """
        only_last = self.manifest.plan.weights == "last"
        for place in self.path.iterdir():
            state, models = _STATE.fullmatch(place.name), _MODELS.fullmatch(place.name)
            if state is not None and int(state[1]) == chain and (finished or int(state[2]) != number):
                place.unlink(missing_ok=True)
            if only_last and models is not None and int(models[1]) == chain and int(models[2]) not in {0, number}:
                place.unlink(missing_ok=True)

    def chains(self) -> Iterator[list[Generation]]:
        """Read all chains in order.

        Raises
        ------
        FileError
            If a generation is missing or damaged.
        """
        there = self.there()
        for chain, places in there.items():
            found = self.read(places)
            if not self.finished(found) or len(places) != len(found):
                raise folder.incomplete(self.path, f"generations of chain {chain}")
            yield found

    def individuals(self) -> pl.DataFrame:
        """Return id, class and group of every individual, in the order of the data."""
        return parquet(self.path / PEOPLE)


def versions_of(plan: LoopPlan) -> dict[str, str]:
    """Return the versions of what a plan is run with."""
    return folder.versions((*folder.LIBRARIES, "fairlearn", *libraries_of(plan)))


def device_name(device: str) -> str:
    """Return what a plan's device is here: a GPU by its name, since another may round otherwise."""
    if device == "cpu":
        return device
    import torch

    return f"{device}: {torch.cuda.get_device_name()}"


def _people_bytes(everybody: Everyone) -> bytes:
    import polars as pl

    buffer = BytesIO()
    pl.DataFrame(
        {
            "id": everybody.prepared.ids.tolist(),
            "class": [everybody.classes[place] for place in everybody.label.tolist()],
            "group": [everybody.groups[place] for place in everybody.group.tolist()],
        },
        schema=dict.fromkeys(("id", "class", "group"), pl.String),
    ).write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()
