"""What all actors of a loop have that are networks: parameters and their checks, and weights as arrays by name.

Torch is imported where something is trained, so that plans can be read and refused without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from polyculture.errors import UsageError
from polyculture.lab.training import Training, training_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.loops.actors import Weights
    from polyculture.lab.loops.rows import Floats

__all__ = ["Actor", "need_torch"]


class Actor(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """What all actors have that are networks: parameters, settings of training, and weights that can be stored.

    Parameters
    ----------
    epochs, batch_size, learning_rate, optimizer, momentum, weight_decay, schedule
        Settings of training, as in `Training`; defaults in ``SETTINGS`` of each class.
    image : sequence of int, optional
        Channels, height and width where rows are the pixels of images; default what the plan's data says.
    device : {"cpu", "cuda"}
        Where it is trained; default what the plan says.
    random_state : int
        Of weights, the order of rows, and noise.
    """

    SETTINGS: ClassVar[dict[str, Any]] = {
        "epochs": 10,
        "batch_size": 64,
        "learning_rate": 1e-3,
        "optimizer": "adam",
        "momentum": 0.0,
        "weight_decay": 0.0,
        "schedule": "constant",
    }
    OWN: ClassVar[dict[str, Any]] = {}
    COMMON: ClassVar[dict[str, Any]] = {"image": None, "device": "cpu", "random_state": 0}

    def __init__(self, **parameters: Any) -> None:
        known = self._defaults()
        for name in parameters:
            if name not in known:
                raise TypeError(f"{type(self).__name__} got an unexpected keyword argument {name!r}")
        for name, default in known.items():
            setattr(self, name, parameters.get(name, default))

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {**cls.OWN, **cls.SETTINGS, **cls.COMMON}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(cls._defaults())

    def check(self) -> None:
        """Refuse parameters that cannot be used, before anything is trained.

        Raises
        ------
        UsageError
            The message names the parameter; or torch, or the device, that is not there.
        """
        need_torch(self.device)
        self._training()
        if self.image is not None and (
            len(self.image) != 3 or not all(isinstance(side, int) and side > 0 for side in self.image)
        ):
            raise UsageError(f"{self._where()} has image = {self.image}.", hint="Give channels, height and width.")
        self._check_own()

    def _check_own(self) -> None:
        """Refuse parameters of its own."""

    def _where(self) -> str:
        return type(self).__name__

    def _training(self) -> Training:
        return training_of({name: getattr(self, name) for name in self.SETTINGS}, self._where())

    def _layers(self, name: str, *, least: int = 1) -> None:
        """Refuse what is no list of sizes."""
        sizes = getattr(self, name)
        if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) < least or any(
            not isinstance(size, int) or size < 1 for size in sizes
        ):  # fmt: skip
            raise UsageError(f"{self._where()} has {name} = {sizes}.", hint=f"Write for example {name} = [64, 32].")

    def _shape(self, features: Floats) -> tuple[int, ...]:
        """Return the shape of one individual's features, as the network sees them."""
        if self.image is None:
            return tuple(int(side) for side in features.shape[1:])
        if prod(self.image) != prod(features.shape[1:]):
            raise UsageError(
                f"{self._where()} has image = {list(self.image)}, and rows of {prod(features.shape[1:])} features.",
                hint="Name channels, height and width.",
            )
        return tuple(self.image)

    def _rows(self, features: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray(features, dtype=np.float32).reshape(len(features), *self.shape_)

    def get_weights(self) -> Weights:
        """Return all that it has learned, as arrays by name: what `set_weights` takes, and a store keeps."""
        from polyculture.lab.loops.torch_training import arrays_of

        module = {f"module.{name}": value for name, value in arrays_of(self.module_).items()}
        return {"shape": np.array(self.shape_, dtype=np.int64), **self._told(), **module}

    def set_weights(self, weights: Weights) -> Any:
        """Become what another of the same parameters has learned, without any training."""
        from polyculture.lab.loops.torch_training import put_arrays

        self.shape_ = tuple(int(side) for side in weights["shape"])
        self._tell(weights)
        self.module_ = self._module()
        arrays = {name.removeprefix("module."): one for name, one in weights.items() if name.startswith("module.")}
        put_arrays(self.module_, arrays, self.device)
        return self

    def _told(self) -> Weights:
        raise NotImplementedError

    def _tell(self, weights: Weights) -> None:
        raise NotImplementedError

    def _module(self) -> Any:
        raise NotImplementedError


def need_torch(device: str = "cpu") -> None:
    """Refuse to go on without torch, skorch and safetensors, or on a device that is not there.

    Raises
    ------
    UsageError
        The message says how to install what lacks, or to choose another device.
    """
    from importlib.util import find_spec

    for library in ("torch", "skorch", "safetensors"):
        if find_spec(library) is None:
            raise UsageError(
                f"Networks of a loop need {library}, which is not installed.",
                hint="Install it: pip install 'polyculture[lab,torch]'",
            )
    if device not in {"cpu", "cuda"}:
        raise UsageError(f"There is no device {device!r} here.", hint="Choose cpu or cuda.")
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError(
                f"device = {device!r}, and this torch ({torch.__version__}) finds no GPU.",
                hint="Leave device out, or run where torch.cuda.is_available() is true.",
            )
