"""Weights of a chain's models as bytes, and models from weights: safetensors, nothing is pickled.

Models without `get_weights` are not here: they are fitted once more to what they were trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import FileError
from polyculture.lab.components import build
from polyculture.lab.loops.actors import Constant, Fitted, Samples

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Decides, Offered, Weights
    from polyculture.lab.plan import Step

__all__ = ["Models", "decider", "models_bytes", "read_models", "sampler", "weights_of"]

Models = dict[str, "Weights"]
"""Weights of the models of a generation, by whose they are: "generator 1", "classifier 2", "label annotator"."""

_CONSTANT = "constant"


def weights_of(model: Samples | Decides, steps: Sequence[Step]) -> Weights | None:
    """Return what a model has learned; None where it cannot be kept: it is no network, or one in a pipeline."""
    if len(steps) > 1 or not hasattr(build(steps).steps[0][1], "get_weights"):
        return None
    if isinstance(model, Constant):  # what stands for a network whose training set held one class only
        return {_CONSTANT: np.array([model.label], dtype=np.int64)}
    learned: Any = model.last if isinstance(model, Samples) else getattr(model, "estimator", None)
    return dict(learned.get_weights()) if hasattr(learned, "get_weights") else None


def sampler(steps: Sequence[Step], weights: Weights, seed: int, offered: Offered) -> Samples:
    """Return the generator that learned some weights."""
    return Samples((), build(steps, seed, offered).steps[0][1].set_weights(weights))


def decider(steps: Sequence[Step], weights: Weights, classes: int, seed: int, offered: Offered) -> Decides:
    """Return the classifier that learned some weights."""
    if _CONSTANT in weights:
        return Constant(int(weights[_CONSTANT][0]), classes)
    return Fitted(build(steps, seed, offered).steps[0][1].set_weights(weights), classes)


def models_bytes(models: Models) -> bytes:
    """Return the safetensors file of some models."""
    from safetensors.numpy import save

    return bytes(save({f"{name}/{part}": np.ascontiguousarray(one) for name, own in models.items()
                       for part, one in own.items()}))  # fmt: skip


def read_models(path: Path) -> Models:
    """Read the models of a generation.

    Raises
    ------
    FileError
        If the file is no safetensors, or holds something else.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: Mapping[str, Any] = load(path.read_bytes())
    except SafetensorError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error}.", hint="Delete it, and run again.") from None
    found: Models = {}
    for name, value in arrays.items():
        whose, slash, part = name.partition("/")
        if not slash:
            raise FileError(f"{str(path)!r} does not hold the models of a loop.", hint="Delete it, and run again.")
        found.setdefault(whose, {})[part] = value
    return found
