"""What the trials of an experiment share of its pretrained models: inputs, weights trained before, cached features.

Made once, before the first trial; weights and features are kept as safetensors in the folder of the experiment, under a
name that says what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from polyculture.errors import FileError
from polyculture.files import atomic_write, output_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.data import Prepared
    from polyculture.lab.networks import Inputs
    from polyculture.lab.plan import Backbone, Data, Plan, Pretrain

__all__ = ["Shared", "load", "with_backbones"]

_DIGITS = 16  # hexadecimal digits of a sum in a file's name


@dataclass(frozen=True, eq=False)
class Shared:
    """One backbone as all trials use it.

    Attributes
    ----------
    inputs : dict of ndarray
        What it takes, a row an individual.
    width : int
        Number of its features.
    weights : dict of ndarray or None
        Of its pretraining; None where the backbone has its own.
    features : ndarray, shape (N, D), or None
        What it makes of each individual, where a learner probes it.
    kind : str
        Equal for backbones that are the same with fresh weights.
    """

    inputs: Inputs
    width: int
    weights: dict[str, NDArray[Any]] | None
    features: NDArray[np.float32] | None
    kind: str


def with_backbones(plan: Plan, data: Prepared, folder: Path, tell: Callable[[str], None]) -> Prepared:
    """Return the data of a plan with its backbones; as it is where the plan has none.

    Parameters
    ----------
    plan : Plan
        The experiment.
    data : Prepared
        Its individuals.
    folder : Path
        Where weights and features are kept.
    tell : callable
        Called with what is being done, in words.

    Raises
    ------
    InputError, UsageError
        If a backbone cannot be made, or does not take the data.
    OutputError
        If the folder cannot be written.
    """
    if not plan.backbones:
        return data
    from polyculture.lab.encoders import need_torch

    need_torch(plan)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    found, hashes = [], dict(data.hashes)
    for number, backbone in enumerate(plan.backbones, start=1):
        tell(f"Backbone {backbone.shown()} ({number} of {len(plan.backbones)})")
        shared, own = _shared(plan, data, backbone, folder)
        found.append(shared)
        hashes |= own
    return replace(data, backbones=tuple(found), hashes=hashes)


def _shared(plan: Plan, data: Prepared, backbone: Backbone, folder: Path) -> tuple[Shared, dict[str, str]]:
    from polyculture.lab import encoders, networks

    with networks.deterministic(plan.seed):
        model, weights, hashes = _pretrained(backbone, plan.data, folder)
        if any(learner.adapt == "scratch" for learner in plan.learners):
            encoders.encoder(backbone, plan.data, fresh=True)  # refused now, if it cannot be
        inputs = _inputs(backbone, plan.data, data, model)
        width = encoders.width(model, inputs)
        state = encoders.state_hash(model)
        features = None
        if any(learner.adapt == "probe" for learner in plan.learners):
            key = _key("features", state, backbone.max_length, data.hashes, msgspec.to_builtins(plan.data))
            made = _kept(folder, f"{_plain(backbone.shown())}-features", key, lambda: _features(model, inputs))
            features = made["features"]
    fresh = msgspec.to_builtins(msgspec.structs.replace(backbone, name="", pretrain=None))
    name = f"backbone {backbone.shown()}"
    return Shared(inputs, width, weights, features, _key(fresh)), {**hashes, name: state}


def _features(model: Any, inputs: Inputs) -> dict[str, NDArray[Any]]:
    from polyculture.lab.networks import features

    return {"features": features(model, inputs)}


def _inputs(backbone: Backbone, where: Data, data: Prepared, model: Any) -> Inputs:
    from polyculture.lab import encoders

    if where.text is None:
        return encoders.image_inputs(data.features, where)
    return encoders.text_inputs(backbone, data.texts, model)


def _pretrained(
    backbone: Backbone, where: Data, folder: Path
) -> tuple[Any, dict[str, NDArray[Any]] | None, dict[str, str]]:
    """Return a backbone with its weights; they themselves where they come from pretraining; hashes of its data."""
    from polyculture.lab import encoders

    model = encoders.encoder(backbone, where)
    if backbone.pretrain is None:
        return model, None, {}
    from polyculture.lab.data import prepare_one

    data = prepare_one(backbone.pretrain.data, backbone.pretrain.label)
    key = _key(msgspec.to_builtins(backbone), data.hashes, encoders.state_hash(model))
    made = _kept(
        folder, f"{_plain(backbone.shown())}-weights", key, lambda: _train(model, backbone, backbone.pretrain, data)
    )
    load(model, made)
    return model, made, {f"pretraining of {backbone.shown()}: {name}": one for name, one in data.hashes.items()}


def _train(model: Any, backbone: Backbone, pretrain: Pretrain | None, data: Prepared) -> dict[str, NDArray[Any]]:
    from polyculture.lab import encoders, networks
    from polyculture.lab.training import training_of

    assert pretrain is not None  # noqa: S101 (for the type checker)
    settings = training_of(pretrain.training, f"Pretraining of backbone {backbone.shown()!r}")
    inputs = _inputs(backbone, pretrain.data, data, model)
    width = encoders.width(model, inputs)
    with networks.deterministic(pretrain.seed):
        if pretrain.label is None:
            networks.learn_words(model, inputs, width, settings)
        else:
            label, classes = data.targets[0].label, len(data.targets[0].classes)
            known = label >= 0
            classifier = networks.prepared(model, width, classes, "finetune", settings)
            seen = {name: one[known] for name, one in inputs.items()}
            networks.fit(classifier, seen, label[known], "scratch", settings)
    return {name: value.detach().cpu().numpy().copy() for name, value in model.state_dict().items()}


def load(model: Any, weights: dict[str, NDArray[Any]]) -> None:
    """Put weights into an encoder."""
    import torch

    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})


def _kept(folder: Path, name: str, key: str, make: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of the folder, or make and keep them.

    Raises
    ------
    FileError
        If the file is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load, save

    for path in sorted(folder.glob(f"{name}-{key}-*.safetensors")):
        content = path.read_bytes()
        if sha256(content).hexdigest()[:_DIGITS] != path.stem.rpartition("-")[2]:
            raise FileError(
                f"{str(path)!r} is damaged: its content is not what its name says.",
                hint="Delete it and run the same command again.",
            )
        try:
            return dict(load(content))
        except SafetensorError as error:
            raise FileError(f"{str(path)!r} cannot be read: {error}.", hint="Delete it, and run again.") from None
    made = make()
    content = save({one: np.ascontiguousarray(value) for one, value in made.items()})
    atomic_write(folder / f"{name}-{key}-{sha256(content).hexdigest()[:_DIGITS]}.safetensors", content)
    return made


def _key(*parts: Any) -> str:
    """Return a short sum of what something is made of."""
    return sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:_DIGITS]


def _plain(name: str) -> str:
    """Return a name as a part of a file's name.

    >>> _plain("vit of 5/a")
    'vit-of-5-a'
    """
    return "".join(letter if letter.isalnum() else "-" for letter in name)[:40]
