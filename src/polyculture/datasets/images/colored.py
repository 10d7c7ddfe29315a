"""ColoredMNIST and ColoredSVHN (2403.07857): digits in red or green, where the colour goes with the class.

Which image gets which colour depends on the seed and the numbers asked for alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from polyculture.datasets.images.mnist import read_mnist
from polyculture.datasets.images.parameters import number, whole_number
from polyculture.datasets.images.svhn import read_svhn
from polyculture.errors import UsageError
from polyculture.lab.images import Images

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GREEN", "NOISE", "colored_mnist", "colored_svhn"]

GREEN = (0.3, 0.7)
"""Probability of green given class 0 and class 1."""
NOISE = 0.05
"""Share of labels that are turned round."""


@dataclass(frozen=True)
class _Asked:
    """What the images are to be, as `colored_mnist` explains it."""

    individuals: int | None
    side: int
    channels: int
    green: Sequence[float]
    noise: float
    minority: float | None
    class_share: float | None
    seed: int

    def check(self, whole: int) -> None:
        """Refuse what cannot be made of images so many pixels wide."""
        whole_number("seed", self.seed, 0)
        if self.individuals is not None:
            whole_number("individuals", self.individuals, 1)
        if whole % whole_number("side", self.side, 1):
            raise UsageError(
                f"side = {self.side} is no part of {whole}.", hint=f"Give {whole}, {whole // 2} or {whole // 4}."
            )
        if self.channels not in {2, 3}:
            raise UsageError(f"channels = {self.channels}, and red and green need 2.", hint="Give 2 or 3.")
        chances = [number("green", share) for share in self.green] if isinstance(self.green, Sequence) else []
        if len(chances) != 2 or not all(0.0 <= share <= 1.0 for share in (*chances, number("noise", self.noise))):
            green = chances or self.green
            raise UsageError(
                f"green = {green} and noise = {self.noise:g} are no shares.",
                hint="Give P(green) of class 0 and of class 1, and the share of labels that are turned round.",
            )
        for name in ("minority", "class_share"):
            share = getattr(self, name)
            if share is not None and not 0.0 < number(name, share) < 1.0:
                raise UsageError(
                    f"{name} = {share:g} leaves nobody on one side.", hint="Give a number between 0 and 1."
                )


def colored_mnist(
    path: str = "",
    *,
    individuals: int | None = None,
    side: int = 28,
    channels: int = 3,
    green: tuple[float, float] = GREEN,
    noise: float = NOISE,
    minority: float | None = None,
    class_share: float | None = None,
    seed: int = 0,
) -> Images:
    """Return MNIST in red and green: class 1 are the digits 5 to 9, and green goes with it.

    Parameters
    ----------
    path : str
        A local copy, as `read_mnist` takes it.
    individuals : int, optional
        How many are drawn; default all.
    side : int
        Height and width: 28, or a part of it (14, 7), whose pixels are means.
    channels : int
        3 (red, green and an empty blue), or 2.
    green : tuple of float
        P(green | class 0) and P(green | class 1).
    noise : float
        Share of labels that are turned round, before colours are given.
    minority : float, optional
        Share of the minoritized group, red, among all: the group imbalance. Both probabilities of green then move on
        the scale of log odds, so that colour and class go together as closely as before. Default as ``green`` gives it.
    class_share : float, optional
        Share of class 1 among those drawn: the label imbalance. Default as it is.
    seed : int
        Of all draws.

    Returns
    -------
    Images
        The table holds digit, class (0 or 1) and colour.

    Raises
    ------
    InputError, UsageError
        If there is no such copy, or it holds too few.
    """
    pixels, digit = read_mnist(path)
    asked = _Asked(individuals, side, channels, green, noise, minority, class_share, seed)
    return _colored(pixels, digit, digit >= 5, asked)


def colored_svhn(
    path: str,
    *,
    individuals: int | None = None,
    side: int = 32,
    channels: int = 3,
    green: tuple[float, float] = GREEN,
    noise: float = NOISE,
    minority: float | None = None,
    class_share: float | None = None,
    seed: int = 0,
) -> Images:
    """Return the house numbers of SVHN in red and green: class 1 are the digits 0 to 4, and green goes with it.

    Parameters
    ----------
    path : str
        Folder with train_32x32.mat and test_32x32.mat (either suffices), or one such file. Images become grey before
        they are coloured: how the paper does it is not known to us.
    individuals, side, channels, green, noise, minority, class_share, seed
        As in `colored_mnist`; the side is 32, 16 or 8.

    Raises
    ------
    InputError, UsageError
        As `colored_mnist`.
    """
    pixels, digit = read_svhn(path)
    asked = _Asked(individuals, side, channels, green, noise, minority, class_share, seed)
    return _colored(pixels, digit, digit < 5, asked)


def _colored(pixels: NDArray[np.uint8], digit: NDArray[np.int64], second: NDArray[np.bool_], asked: _Asked) -> Images:
    """Return digits of which some are of the second class, with its noise, in colours."""
    import polars as pl

    asked.check(pixels.shape[1])
    rng = np.random.default_rng(asked.seed)
    label = np.where(rng.random(len(digit)) < asked.noise, ~second, second).astype(np.int64)
    chosen = _drawn(label, asked.individuals, asked.class_share, rng)
    label = label[chosen]
    likely = np.array(asked.green)
    if asked.minority is not None:
        likely = _moved(likely, float(label.mean()), 1.0 - asked.minority)
    is_green = rng.random(len(label)) < likely[label]
    small = _smaller(pixels[chosen], asked.side)
    image = np.zeros((len(small), asked.channels, asked.side, asked.side), dtype=np.uint8)
    image[np.arange(len(small)), is_green.astype(np.int64)] = small
    table = pl.DataFrame({"digit": digit[chosen], "class": label, "colour": np.where(is_green, "green", "red")})
    return Images(table, image)


def _drawn(
    label: NDArray[np.int64], individuals: int | None, class_share: float | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return whom to take, in random order; with a class share as many of either class as it says."""
    order = rng.permutation(len(label))
    if class_share is None:
        many = len(order) if individuals is None else individuals
        if many > len(order):
            raise UsageError(
                f"There are {len(order)} images, and {many} individuals are wanted.",
                hint="Take fewer, or a larger copy.",
            )
        return order[:many]
    lots = [order[label[order] == one] for one in (0, 1)]
    most = min(len(lots[0]) / (1.0 - class_share), len(lots[1]) / class_share)
    many = math.floor(most + 1e-9) if individuals is None else individuals
    ones = round(many * class_share)
    if ones > len(lots[1]) or many - ones > len(lots[0]):
        raise UsageError(
            f"There are {len(lots[0])} images of class 0 and {len(lots[1])} of class 1: too few for {many} with a "
            f"share of {class_share:g}.",
            hint=f"Take {math.floor(most)} individuals at most.",
        )
    return rng.permutation(np.concatenate([lots[0][: many - ones], lots[1][:ones]]))


def _moved(green: NDArray[np.float64], class_share: float, wanted: float) -> NDArray[np.float64]:
    """Return P(green | class) with the same odds ratio of colour and class, and so large a share of green over all.

    >>> _moved(np.array([0.3, 0.7]), 0.5, 0.5).round(6).tolist()
    [0.3, 0.7]
    """
    from scipy.optimize import brentq

    odds = logit(np.clip(green, 1e-6, 1.0 - 1e-6))
    weights = np.array([1.0 - class_share, class_share])
    step = brentq(lambda move: float(weights @ expit(odds + move)) - wanted, -60.0, 60.0)
    return np.asarray(expit(odds + step))


def _smaller(pixels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Return images of a smaller side, each pixel the mean of a square."""
    by = pixels.shape[1] // side
    if by == 1:
        return pixels
    squares = pixels.reshape(len(pixels), side, by, side, by).mean(axis=(2, 4))
    found: NDArray[np.uint8] = np.rint(squares).astype(np.uint8)
    return found
