"""A decision-maker that adapts a pretrained model, as a classifier: fit and predict by row numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.lab.training import training_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.levels import Method
    from polyculture.lab.networks import Classifier, Inputs
    from polyculture.lab.plan import Plan
    from polyculture.lab.pretrained import Shared

__all__ = ["Adapted"]


class Adapted:
    """One way to adapt one backbone.

    Parameters
    ----------
    plan : Plan
        The experiment.
    learner, backbone : int
        Which of the plan's.
    shared : Shared
        The backbone as all trials use it.
    random_state : int
        Of the classifier on top, the order of rows, dropout, and fresh weights.
    """

    def __init__(self, plan: Plan, learner: int, backbone: int, shared: Shared, random_state: int) -> None:
        self.plan, self.backbone, self.shared = plan, backbone, shared
        chosen = plan.learners[learner]
        if chosen.adapt is None:
            raise TypeError(f"learner {chosen.shown()} adapts nothing")
        self.method: Method = chosen.adapt
        self.training = training_of(chosen.parameters, f"Learner {chosen.shown()!r}")
        self.random_state = random_state
        self._classes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._net: Any = None
        self._scaling: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    def fit(self, rows: NDArray[np.int64], label: NDArray[np.int64]) -> Adapted:
        """Adapt the backbone on some rows of the data.

        Raises
        ------
        NotFiniteError
            If the loss is not.
        """
        from polyculture.lab import networks

        self._classes, places = np.unique(label, return_inverse=True)
        with networks.deterministic(self.random_state):
            classifier = self.classifier(len(self._classes))
            if self.method == "probe":
                own = self._features()[rows]
                spread = own.std(axis=0)
                self._scaling = own.mean(axis=0), np.where(spread > 0.0, spread, np.float32(1.0))
            self._net = networks.fit(
                classifier, self._inputs(rows), places.astype(np.int64), self.method, self.training
            )
        return self

    def predict(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the label predicted for some rows of the data.

        Raises
        ------
        NotFiniteError
            If a prediction is not a number.
        """
        from polyculture.lab import networks

        with networks.deterministic(self.random_state):
            return np.asarray(self._classes[networks.predict(self._net, self._inputs(rows))])

    def classifier(self, classes: int) -> Classifier:
        """Return the untrained classifier: the parameters that will be trained require a gradient."""
        from polyculture.lab import encoders, networks
        from polyculture.lab.pretrained import load

        if self.method == "probe":
            return networks.Classifier(None, self.shared.width, classes, frozen=True)
        fresh = self.method == "scratch"
        backbone = self.plan.backbones[self.backbone]
        if fresh:
            encoder = encoders.encoder(backbone, self.plan.data, fresh=True)
        else:
            with networks.deterministic(self.plan.seed):  # the same weights in every trial, also where they are random
                encoder = encoders.encoder(backbone, self.plan.data)
            if self.shared.weights is not None:
                load(encoder, self.shared.weights)
        return networks.prepared(encoder, self.shared.width, classes, self.method, self.training)

    def _inputs(self, rows: NDArray[np.int64]) -> Inputs:
        if self._scaling is None:
            return {name: values[rows] for name, values in self.shared.inputs.items()}
        mean, spread = self._scaling
        return {"features": (self._features()[rows] - mean) / spread}

    def _features(self) -> NDArray[np.float32]:
        if self.shared.features is None:
            raise TypeError("the features of a backbone that is probed are not there")
        return self.shared.features
