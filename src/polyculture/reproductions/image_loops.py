"""Running a loop on images, from a data set and a scale to claims with verdicts.

Each data set has a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.image_plans import Extent, plan_of
from polyculture.reproductions.loops import run_loops

if TYPE_CHECKING:
    from polyculture.reproductions.loops import ClaimsOf
    from polyculture.reproductions.result import Reproduction

__all__ = ["ImageLoop", "run_images"]

Path = AnyPath | None


@dataclass(frozen=True)
class ImageLoop:
    """One published loop on images.

    Attributes
    ----------
    name : str
        As it is asked for.
    own : callable
        What the data set adds to a plan, from the path and the seed.
    extents : mapping
        How large it is at each scale.
    claims : callable
        Claims from a loop and the name of its data set.
    notes : tuple of str
        What a reader should know of it.
    variants : callable, optional
        Plans by name, from the plan of the scale; default that one alone.
    """

    name: str
    own: Callable[[Path, int], dict[str, Any]]
    extents: Mapping[Scale, Extent]
    claims: ClaimsOf
    notes: tuple[str, ...]
    variants: Callable[[dict[str, Any]], dict[str, dict[str, Any]]] | None = None

    def plans(self, data: Path = None, scale: str = "quick", *, seed: int = 0) -> dict[str, dict[str, Any]]:
        """Return the plans of the experiment at a scale, by name.

        Raises
        ------
        UsageError
            If there is no such scale.
        """
        plan = plan_of(self.name, sized(scale, self.extents), self.own(data, seed), seed)
        return {self.name: plan} if self.variants is None else self.variants(plan)


def run_images(
    which: ImageLoop,
    /,
    *,
    data: Path = None,
    scale: str = "quick",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: Path = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run a published loop on images and hold the paper against what is found.

    Parameters
    ----------
    which : ImageLoop
        The experiment.
    data : path, optional
        Local files of the data set: see its module in `polyculture.datasets.images`.
    scale : {"quick", "laptop", "paper"}
        Small mixtures as generators, in minutes; small networks; the paper's models and sizes.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.loop` and `polyculture.reproduce`.

    Raises
    ------
    InputError, UsageError, OutputError
        If the data cannot be read, there is no such scale, or the results cannot be written.
    """
    return run_loops(
        which.name,
        which.plans(data, scale, seed=seed),
        which.claims,
        notes=which.notes,
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        seed=seed,
        command=command or f"polyculture.reproduce({which.name!r})",
        progress=progress,
    )
