"""The generator of a loop that is a network: a variational autoencoder, for rows and for images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from polyculture.errors import UsageError
from polyculture.lab.loops.torch_base import Actor

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Weights
    from polyculture.lab.loops.rows import Floats, Ints

__all__ = ["VAE"]


class VAE(Actor):
    """A variational autoencoder: of layers for rows, of convolutions for images.

    Parameters
    ----------
    hidden : sequence of int, optional
        Units of each layer, or channels of each convolution; default (128,) for rows, (64, 128) for images.
    latent : int
        Dimensions of z, 20.
    beta : float
        Weight of KL(q(z | x) || N(0, 1)) in the loss; 1 is the evidence lower bound.
    likelihood : {"gaussian", "bernoulli"}, optional
        Of features: normal with a deviation of each that is learned; or of pixels between 0 and 1. Default by whether
        they are images.
    conditional : bool
        Whether it learns features given the class and gives people with their class, which then need no annotator: the
        classes in the shares that it was trained on.
    **settings
        As all actors here have.

    Notes
    -----
    By default the generator of digits in 2403.07857: convolutions of 64 and 128 channels, 20 latent dimensions, Adam
    with rate 1e-3.
    """

    OWN: ClassVar[dict[str, Any]] = {
        "hidden": None,
        "latent": 20,
        "beta": 1.0,
        "likelihood": None,
        "conditional": False,
    }
    SETTINGS: ClassVar[dict[str, Any]] = {**Actor.SETTINGS, "epochs": 30, "batch_size": 256}

    def _check_own(self) -> None:
        if self.hidden is not None:
            self._layers("hidden")
        if not isinstance(self.latent, int) or self.latent < 1:
            raise UsageError(f"VAE has latent = {self.latent}.", hint="Give 1 or more.")
        if self.beta < 0.0:
            raise UsageError(f"VAE has beta = {self.beta:g}.", hint="Give 0 or more.")
        if self.likelihood not in {None, "gaussian", "bernoulli"}:
            raise UsageError(f"VAE has likelihood = {self.likelihood!r}.", hint="Give gaussian or bernoulli.")

    def fit(self, X: Floats, y: Ints | None = None, batches: Ints | None = None) -> VAE:  # noqa: N803
        """Train it, from fresh weights.

        Parameters
        ----------
        X : ndarray, shape (n, ...)
            Features; images also as rows of their pixels.
        y : ndarray of int, shape (n,), optional
            Classes, where it is conditional.
        batches : ndarray of int, shape (n,), optional
            The batch that each row is in, as reparation made them up.

        Raises
        ------
        NotFiniteError
            If the loss of a batch is not finite.
        ValueError
            If it is to learn pixels that are not between 0 and 1, or is conditional and given no classes.
        MemoryError
            If the device has no memory left.
        """
        from polyculture.lab.loops import torch_training
        from polyculture.lab.networks import deterministic

        self.check()
        self.shape_ = self._shape(X)
        features, training = self._rows(X), self._training()
        if self._likelihood() == "bernoulli" and not ((features >= 0.0) & (features <= 1.0)).all():
            raise ValueError("pixels are not between 0 and 1, which a Bernoulli likelihood needs: set data.white")
        place = None
        self.classes_, self.counts_ = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self.conditional:
            if y is None:
                raise ValueError("a conditional VAE needs classes")
            self.classes_, place, self.counts_ = np.unique(y, return_inverse=True, return_counts=True)
        with deterministic(self.random_state, self.device):
            self.module_ = self._module()
            loss = {"likelihood": self._likelihood(), "beta": float(self.beta)}
            rate = float(training.learning_rate or 0.0)
            torch_training.autoencoded(
                self.module_, features, place, loss, batches, training, rate, self.device
            )  # fmt: skip
        return self

    def sample(self, n: int, random_state: int = 0) -> Any:
        """Return so many individuals' features as they were given, (n, ...); where it is conditional their classes too.

        Numbers that are not finite are returned as they are.
        """
        from polyculture.lab.loops.torch_training import generated
        from polyculture.lab.networks import deterministic

        place = None
        if self.conditional:
            shares = self.counts_ / self.counts_.sum()
            place = np.random.default_rng(random_state).choice(len(shares), n, p=shares)
        with deterministic(random_state, self.device):
            found = generated(self.module_, n, place, self._likelihood(), self.device)
        found = found if self.image is None else found.reshape(n, -1)
        return found if place is None else (found, self.classes_[place])

    def _likelihood(self) -> str:
        return str(self.likelihood or ("gaussian" if len(self.shape_) == 1 else "bernoulli"))

    def _told(self) -> Weights:
        return {"classes": self.classes_.astype(np.int64), "counts": self.counts_.astype(np.int64)}

    def _tell(self, weights: Weights) -> None:
        self.classes_, self.counts_ = weights["classes"], weights["counts"]

    def _module(self) -> Any:
        from polyculture.lab.loops.modules import Autoencoder

        hidden = self.hidden or ((128,) if len(self.shape_) == 1 else (64, 128))
        return Autoencoder(self.shape_, list(hidden), self.latent, len(self.classes_))
