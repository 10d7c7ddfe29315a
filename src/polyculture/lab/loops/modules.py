"""Torch modules of a loop's actors: bodies of small classifiers, and variational autoencoders for rows and images.

Imports torch at its top, and is imported where something is trained. How they are trained stands in ``torch_training``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import nn

__all__ = ["Autoencoder", "Convolutions", "Evidence", "Layers", "VariationalLoss", "WeightedLoss"]

LEAST_LOG_DEVIATION = -5.0  # a feature that is always the same would drive it to minus infinity


class Layers(nn.Module):  # type: ignore[misc] # torch is an extra, and may be untyped
    """Linear layers with a ReLU after each: features of any shape, (n, ...), to (n, hidden[-1])."""

    def __init__(self, inputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        sizes = [inputs, *hidden]
        parts: list[nn.Module] = [nn.Flatten()]
        for before, after in pairwise(sizes):
            parts += [nn.Linear(before, after), nn.ReLU()]
        self.layers = nn.Sequential(*parts)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return what the last layer makes of each."""
        found: torch.Tensor = self.layers(features)
        return found


class Convolutions(nn.Module):  # type: ignore[misc]
    """Convolutions, each with ReLU and max-pooling by 2, then linear layers: images (n, C, H, W) to (n, hidden[-1]).

    With channels (6, 16), kernel 5 and hidden (120, 84) that of LeCun and others (1998).
    """

    def __init__(
        self, image: Sequence[int], channels: Sequence[int], kernel: int, padding: int, hidden: Sequence[int]
    ) -> None:
        super().__init__()
        sizes = [image[0], *channels]
        parts: list[nn.Module] = []
        for before, after in pairwise(sizes):
            parts += [nn.Conv2d(before, after, kernel, padding=padding), nn.ReLU(), nn.MaxPool2d(2)]
        self.convolutions = nn.Sequential(*parts)
        height, width = image[1:]
        for _ in channels:
            height, width = ((side + 2 * padding - kernel + 1) // 2 for side in (height, width))
        if min(height, width) < 1:
            raise ValueError(
                f"images of {image[1]} x {image[2]} are too small for {len(channels)} convolutions of {kernel} x "
                f"{kernel}: give a smaller kernel, or padding"
            )
        self.layers = Layers(sizes[-1] * height * width, hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return what the last layer makes of each."""
        found: torch.Tensor = self.layers(self.convolutions(features))
        return found


class WeightedLoss(nn.Module):  # type: ignore[misc]
    """Mean cross-entropy of a batch in which each person counts by a weight."""

    def forward(self, scores: torch.Tensor, told: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Return sum(w loss) / sum(w)."""
        label, weight = told
        losses = nn.functional.cross_entropy(scores, label, reduction="none")
        return (losses * weight).sum() / weight.sum().clamp(min=1e-12)


class Evidence(NamedTuple):
    """What an autoencoder makes of a batch: decoded (n, ...), log deviation of the features, and q(z | x)."""

    decoded: torch.Tensor
    log_deviation: torch.Tensor
    mean: torch.Tensor
    log_variance: torch.Tensor


class Autoencoder(nn.Module):  # type: ignore[misc]
    """A variational autoencoder (Kingma and Welling, 2014), conditional on a class where there are ``conditions``.

    Parameters
    ----------
    shape : sequence of int
        Of one individual's features: (P,), or channels, height and width of an image.
    hidden : sequence of int
        Units of the layers of rows, or channels of the convolutions of images; the decoder has them in reverse.
    latent : int
        Dimensions of z.
    conditions : int
        Number of classes that it is conditional on; 0 for none.

    Notes
    -----
    Images go through convolutions of 4 x 4 with stride 2, so that each halves their sides; the decoder makes sides that
    are a multiple of that, and what is over is cut off.
    """

    def __init__(self, shape: Sequence[int], hidden: Sequence[int], latent: int, conditions: int) -> None:
        super().__init__()
        self.shape, self.latent, self.conditions = tuple(shape), latent, conditions
        self.small: tuple[int, ...] = ()
        self.over: tuple[int, ...] = ()
        if len(shape) == 1:
            self.encoder: nn.Module = Layers(shape[0], hidden)
            width = hidden[-1]
            self.decoder: nn.Module = nn.Sequential(
                Layers(latent + conditions, hidden[::-1]), nn.Linear(hidden[0], shape[0])
            )
        else:
            sides = [-(-side // 2 ** len(hidden)) for side in shape[1:]]
            self.small = (hidden[-1], *sides)
            more = [small * 2 ** len(hidden) - side for small, side in zip(sides, shape[1:], strict=True)]
            self.over = (0, more[1], 0, more[0])
            width = math.prod(self.small)
            self.encoder = nn.Sequential(*_down([shape[0], *hidden]), nn.Flatten())
            self.decoder = nn.Sequential(
                nn.Linear(latent + conditions, width),
                nn.ReLU(),
                nn.Unflatten(1, self.small),
                *_up([*hidden[::-1], shape[0]]),
            )
        self.to_latent = nn.Linear(width + conditions, 2 * latent)
        self.log_deviation = nn.Parameter(torch.zeros(shape[0] if len(shape) == 1 else 1))

    def forward(self, features: torch.Tensor, condition: torch.Tensor | None = None) -> Evidence:
        """Encode, draw z, and decode it."""
        found = self.encoder(nn.functional.pad(features, self.over) if any(self.over) else features)
        if condition is not None:
            found = torch.cat([found, self._one_hot(condition)], dim=1)
        mean, log_variance = self.to_latent(found).chunk(2, dim=1)
        noise = torch.randn_like(mean)
        z = mean + noise * (0.5 * log_variance).exp()
        return Evidence(self.decode(z, condition), self.deviation(), mean, log_variance)

    def decode(self, z: torch.Tensor, condition: torch.Tensor | None = None) -> torch.Tensor:
        """Return what the decoder makes of z, (n, latent): means of features, or logits of pixels."""
        if condition is not None:
            z = torch.cat([z, self._one_hot(condition)], dim=1)
        found: torch.Tensor = self.decoder(z)
        return found[..., : self.shape[1], : self.shape[2]] if self.small else found

    def deviation(self) -> torch.Tensor:
        """Return the log of the deviation of features from what is decoded, one each, or one of all pixels."""
        return self.log_deviation.clamp(min=LEAST_LOG_DEVIATION)

    def _one_hot(self, condition: torch.Tensor) -> torch.Tensor:
        return nn.functional.one_hot(condition, self.conditions).to(torch.float32)


def _down(channels: Sequence[int]) -> list[nn.Module]:
    parts: list[nn.Module] = []
    for before, after in pairwise(channels):
        parts += [nn.Conv2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return parts


def _up(channels: Sequence[int]) -> list[nn.Module]:
    parts: list[nn.Module] = []
    for before, after in pairwise(channels):
        parts += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return parts[:-1]


class VariationalLoss(nn.Module):  # type: ignore[misc]
    """The negative evidence lower bound: -log p(x | z) + beta KL(q(z | x) || N(0, 1)), the mean over a batch.

    Parameters
    ----------
    likelihood : {"gaussian", "bernoulli"}
        Of features: normal around what is decoded, with a deviation of each that is learned; or of pixels between 0 and
        1, by their logits.
    beta : float
        Weight of the second part; 1 is the bound itself.
    """

    def __init__(self, likelihood: str = "gaussian", beta: float = 1.0) -> None:
        super().__init__()
        self.likelihood, self.beta = likelihood, beta

    def forward(self, evidence: Evidence, features: torch.Tensor) -> torch.Tensor:
        """Return the mean over individuals, in nats; the normal likelihood without its constant."""
        if self.likelihood == "bernoulli":
            lost = nn.functional.binary_cross_entropy_with_logits(evidence.decoded, features, reduction="none")
        else:
            apart = (features - evidence.decoded) * (-evidence.log_deviation).exp()
            lost = 0.5 * apart**2 + evidence.log_deviation
        divergence = 0.5 * (
            evidence.mean**2 + evidence.log_variance.exp() - 1.0 - evidence.log_variance
        )  # fmt: skip
        total: torch.Tensor = lost.flatten(1).sum(dim=1) + self.beta * divergence.sum(dim=1)
        return total.mean()
