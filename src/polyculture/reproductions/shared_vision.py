"""Sharing a pretrained model on images, after 2211.13972: three tasks on the same digits, five ways to adapt.

The paper has CelebA and CLIP; here backbones are trained on some digits of MNIST and adapted to tasks on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from polyculture.reproductions.adapting import Experiment, Extent, reproduced
from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.images import FIRST, REST, find

if TYPE_CHECKING:
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plan", "reproduce"]

NAME = "shared-vision"
_LOADER = "polyculture.reproductions.images:digits"
_EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(2, 3300, 300, 20, {"individuals": 4000, "epochs": 5}),
    "laptop": Extent(5, 6300, 300, 20, {"individuals": 10_000, "epochs": 8}),
    "paper": Extent(5, 20_400, 400, 30, {"individuals": 30_000, "epochs": 10}),
}
_SMALL = Extent(2, 880, 180, 20, {"individuals": 800, "epochs": 20})
"""What the 1,797 images of scikit-learn suffice for."""

_BACKBONES = 3
_TASKS = (
    ("odd", "digit in [5, 7, 9]"),
    ("at least seven", "digit >= 7"),
    ("closed loop", "digit in [6, 8, 9]"),
)
_NOTES = (
    "Not the paper's data and models: it has two tasks on CelebA with CLIP ViT-B/16. Here three small vision "
    "transformers, which differ in their random state and in the images drawn, are trained to tell the digits 0 to 4 "
    "apart and adapted to tasks on the digits 5 to 9.",
    "Groups are the digits; the paper has hair colour and beard.",
)


def plan(data: AnyPath | None = None, scale: str = "quick", *, seed: int = 0) -> dict[str, Any]:
    """Return the plan of the experiment at a scale.

    Raises
    ------
    FileError, UsageError
        If the file or the scale is none.
    """
    size, path = sized(scale, _EXTENTS), find(data)
    if not path:
        size = _SMALL
    side, patch, white = (28, 7, 255.0) if path else (8, 2, 16.0)
    image = {"image": [1, side, side], "white": white}

    def source(digits: tuple[int, ...], individuals: int, seed: int) -> dict[str, Any]:
        parameters = {"path": path, "shown": list(digits), "individuals": individuals, "seed": seed}
        return {"source": _LOADER, "parameters": parameters, **image}

    configuration = {
        "model_type": "vit",
        "patch_size": patch,
        "hidden_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 128,
    }
    return {
        "name": NAME,
        **size.shared(seed),
        "data": {**source(REST, size.individuals, seed), "groups": ["digit"]},
        "task": [{"name": name, "label": label} for name, label in _TASKS],
        "backbone": [
            {
                "name": f"vit {number}",
                "configuration": configuration,
                "pretrain": {
                    "data": source(FIRST, size.more["individuals"], seed + number),
                    "label": "digit",
                    "training": {"epochs": size.more["epochs"], "learning_rate": 1e-3},
                    "seed": seed + number,
                },
            }
            for number in range(1, _BACKBONES + 1)
        ],
        "learner": size.learners(
            {"scratch": 1e-3, "probe": 1e-2, "finetune": 5e-4, "bitfit": 1e-2, "lora": 3e-3},
        ),
        "share": {"rows": ["fixed"], "backbone": ["shared", "own"]},
    }


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('shared-vision')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the experiment on images and hold the paper against it.

    Parameters
    ----------
    data : path, optional
        MNIST as an npz file, or the folder that holds mnist.npz; default that of POLYCULTURE_DATA, and without one
        the small digits of scikit-learn.
    scale : {"quick", "laptop", "paper"}
        Two seeds and few images; five; five and many.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.sharing` and `polyculture.reproduce`.
    """
    content = plan(data, scale, seed=seed)
    made = not content["data"]["parameters"]["path"]
    images = "the 8 by 8 digits of scikit-learn, at one size for all scales" if made else "MNIST"
    return reproduced(
        Experiment(
            NAME,
            content,
            reading=f"{images}, scale {scale}",
            notes=_NOTES,
            measure="individuals",
        ),
        settings=set,
        out=out,
        jobs=jobs,
        backend=backend,
        command=command,
        progress=progress,
    )
