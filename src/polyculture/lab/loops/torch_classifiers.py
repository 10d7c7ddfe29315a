"""Classifiers of a loop that are networks: a perceptron, two for images, and any module of the user's."""

from __future__ import annotations

from inspect import signature
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from polyculture.errors import UsageError
from polyculture.lab.components import import_path
from polyculture.lab.loops.torch_base import Actor
from polyculture.lab.training import NotFiniteError

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Weights
    from polyculture.lab.loops.rows import Floats, Ints

__all__ = ["CNN", "MLP", "Network", "ResNet"]


class Classifier(ClassifierMixin, Actor):  # type: ignore[misc]
    """A network that tells classes apart: `fit`, `predict_proba`, and `transform` to what its last layer sees."""

    def fit(
        self, X: Floats, y: Ints, sample_weight: Floats | None = None, batches: Ints | None = None  # noqa: N803
    ) -> Any:  # fmt: skip
        """Train it, from fresh weights.

        Parameters
        ----------
        X : ndarray, shape (n, ...)
            Features; images also as rows of their pixels.
        y : ndarray of int, shape (n,)
            Classes.
        sample_weight : ndarray, shape (n,), optional
            How much each counts.
        batches : ndarray of int, shape (n,), optional
            The batch that each row is in, as reparation made them up: they stay together, and their order is drawn
            anew in each epoch. Default batches of ``batch_size``, drawn anew in each epoch.

        Raises
        ------
        NotFiniteError
            If the loss of a batch is not finite.
        MemoryError
            If the device has no memory left.
        """
        from polyculture.lab.loops import torch_training
        from polyculture.lab.networks import deterministic

        self.check()
        X = np.asarray(X)  # noqa: N806 (fairlearn gives frames)
        self.shape_ = self._shape(X)
        self.classes_, place = np.unique(np.asarray(y), return_inverse=True)
        training = self._training()
        with deterministic(self.random_state, self.device):
            self.module_ = self._module()
            torch_training.taught(
                self.module_,
                self._inputs(X),
                place.astype(np.int64),
                None if sample_weight is None else np.asarray(sample_weight),
                batches,
                training,
                float(training.learning_rate or 0.0),
                self.device,
            )
        return self

    def predict_proba(self, X: Floats) -> Floats:  # noqa: N803
        """Return the probability of each class that it was trained on, (n, K).

        Raises
        ------
        NotFiniteError
            If one is not finite.
        """
        from polyculture.lab.loops.torch_training import in_parts
        from polyculture.lab.networks import deterministic

        with deterministic(self.random_state, self.device):
            scores = in_parts(self.module_, self._inputs(X), self.device).astype(np.float64)
        found = np.exp(scores - scores.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        if not np.isfinite(found).all():
            raise NotFiniteError("the network's predictions are not numbers")
        return np.asarray(found)

    def predict(self, X: Floats) -> Ints:  # noqa: N803
        """Return the most probable class of each, (n,)."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def transform(self, X: Floats) -> Floats:  # noqa: N803
        """Return what its last layer sees of each, (n, D): an embedding in which distances can be taken.

        Raises
        ------
        UsageError
            If it is a network of the user's, which has no such layer that is known.
        """
        from polyculture.lab.loops.torch_training import in_parts
        from polyculture.lab.networks import deterministic

        encoder = getattr(self.module_, "encoder", None)
        if encoder is None:
            raise UsageError(
                f"{self._where()} is a network of which no layer is known as its features.",
                hint="Choose MLP, CNN or ResNet, or embedding = \"components\".",
            )  # fmt: skip
        with deterministic(self.random_state, self.device):
            return in_parts(encoder, self._inputs(X), self.device).astype(np.float64)

    def _inputs(self, features: Floats) -> Weights:
        return {"features": self._rows(np.asarray(features))}

    def _told(self) -> Weights:
        return {"classes": np.asarray(self.classes_, dtype=np.int64)}

    def _tell(self, weights: Weights) -> None:
        self.classes_ = weights["classes"].astype(np.int64)

    def _module(self) -> Any:
        from polyculture.lab import networks

        body, width = self._body()
        return networks.Classifier(body, width, len(self.classes_), frozen=False)

    def _body(self) -> tuple[Any, int]:
        """Return a module from inputs to features, and how many these are."""
        raise NotImplementedError

    def _needs_image(self) -> None:
        if self.image is None:
            raise UsageError(
                f"{self._where()} sees images, and it is not said what they are.",
                hint="Set data.image = [channels, height, width].",
            )


class MLP(Classifier):
    """A perceptron with hidden layers, on rows of numbers.

    Parameters
    ----------
    hidden : sequence of int
        Units of each hidden layer; (64, 32).
    **settings
        As all actors here have; see the class above.

    Examples
    --------
    >>> MLP(hidden=[16], epochs=3).get_params()["epochs"]
    3
    """

    OWN: ClassVar[dict[str, Any]] = {"hidden": (64, 32)}

    def _check_own(self) -> None:
        self._layers("hidden")

    def _body(self) -> tuple[Any, int]:
        from polyculture.lab.loops.modules import Layers

        return Layers(prod(self.shape_), list(self.hidden)), self.hidden[-1]


class CNN(Classifier):
    """A small convolutional network on images: by default 6-16 convolutions of 5 x 5, 120-84, by SGD with rate .1.

    That is the digit classifier of 2403.07857. Convolutions have ReLU, and max-pooling by 2.

    Parameters
    ----------
    channels, hidden : sequence of int
        Channels of each convolution, units of each layer after them.
    kernel, padding : int
        Of the convolutions.
    **settings
        As all actors here have.
    """

    OWN: ClassVar[dict[str, Any]] = {"channels": (6, 16), "kernel": 5, "padding": 0, "hidden": (120, 84)}
    SETTINGS: ClassVar[dict[str, Any]] = {
        **Actor.SETTINGS,
        "epochs": 30,
        "batch_size": 256,
        "learning_rate": 0.1,
        "optimizer": "sgd",
    }

    def _check_own(self) -> None:
        self._needs_image()
        self._layers("channels")
        self._layers("hidden")
        try:
            self.shape_ = tuple(self.image)
            self._body()
        except ValueError as error:
            raise UsageError(f"{self._where()}: {error}.", hint="Set kernel = 3 and padding = 1.") from None

    def _body(self) -> tuple[Any, int]:
        from polyculture.lab.loops.modules import Convolutions

        hidden = list(self.hidden)
        return Convolutions(self.shape_, list(self.channels), self.kernel, self.padding, hidden), hidden[-1]


class ResNet(Classifier):
    """A residual network on images (He and others, 2016), of transformers; by default the one with 18 layers.

    Parameters
    ----------
    configuration : dict
        Of transformers' ResNet, where it differs: embedding_size, hidden_sizes, depths, layer_type and others.
    **settings
        As all actors here have.
    """

    OWN: ClassVar[dict[str, Any]] = {"configuration": {}}
    PLAIN: ClassVar[dict[str, Any]] = {
        "embedding_size": 64,
        "hidden_sizes": [64, 128, 256, 512],
        "depths": [2, 2, 2, 2],
        "layer_type": "basic",
    }
    SETTINGS: ClassVar[dict[str, Any]] = {**CNN.SETTINGS, "momentum": 0.9, "learning_rate": 0.01}

    def _check_own(self) -> None:
        from importlib.util import find_spec

        self._needs_image()
        if find_spec("transformers") is None:
            raise UsageError(
                "ResNet needs transformers, which is not installed.",
                hint="Install it: pip install 'polyculture[lab,torch,text]'",
            )
        self.shape_ = tuple(self.image)
        self._body()

    def _body(self) -> tuple[Any, int]:
        from polyculture.lab import encoders
        from polyculture.lab.plan import Backbone, Data

        backbone = Backbone(configuration={"model_type": "resnet", **self.PLAIN, **self.configuration})
        body = encoders.encoder(backbone, Data(source="", image=self.shape_))  # type: ignore[arg-type]
        return body, encoders.width(body, {"pixel_values": np.zeros((2, *self.shape_), dtype=np.float32)})

    def _inputs(self, features: Floats) -> Weights:
        # Between -1 and 1, as encoders see them.
        return {"pixel_values": 2.0 * self._rows(np.asarray(features)) - 1.0}


class Network(Classifier):
    """A network of the user's, by import path.

    Parameters
    ----------
    module : str
        Import path of what returns a torch module: features (n, ...) to scores (n, K). Of ``shape`` (of one
        individual's features) and ``classes`` (K) it is given those that it takes.
    parameters : dict
        Its other arguments.
    **settings
        As all actors here have.
    """

    OWN: ClassVar[dict[str, Any]] = {"module": "", "parameters": {}}

    def _where(self) -> str:
        return f"Network {self.module!r}"

    def _check_own(self) -> None:
        if not self.module:
            raise UsageError("Network names no module.", hint="Write module = \"mine.Net\".")  # fmt: skip
        import_path(self.module, "module")

    def _module(self) -> Any:
        from torch import nn

        from polyculture.lab.pooling import Positional

        make = import_path(self.module, "module")
        offered = {"shape": self.shape_, "classes": len(self.classes_)}
        taken = {name: value for name, value in offered.items() if name in signature(make).parameters}
        try:
            module = make(**taken, **self.parameters)
        except TypeError as error:
            raise UsageError(
                f"{self._where()} cannot be made with these parameters: {error}.", hint="Correct its parameters."
            ) from None
        if not isinstance(module, nn.Module):
            raise UsageError(f"{self._where()} made a {type(module).__name__}.", hint="Return a torch.nn.Module.")
        return Positional(module)
