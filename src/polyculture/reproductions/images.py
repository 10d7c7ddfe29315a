"""Images for the experiment on shared pretrained models: MNIST from a file, or the digits of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.datasets.images.mnist import find, read_mnist
from polyculture.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["FIRST", "REST", "digits", "find"]

FIRST, REST = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9)
"""Digits that backbones are pretrained on, and those that decision-makers see."""


def digits(
    path: str = "", shown: tuple[int, ...] = REST, individuals: int | None = None, seed: int = 0
) -> pl.DataFrame:
    """Return images of some digits: the digit, and the pixels row by row.

    Parameters
    ----------
    path : str
        Of an npz file with x_train, y_train, x_test and y_test; without one the digits of scikit-learn, 8 by 8.
    shown : tuple of int
        Which digits.
    individuals : int, optional
        How many are drawn; default all.
    seed : int
        Of the draw.

    Raises
    ------
    FileError, ColumnError
        If the file cannot be read, or holds something else.
    UsageError
        If it holds fewer images of these digits.

    Examples
    --------
    >>> digits(shown=(5, 6), individuals=20).shape
    (20, 65)
    """
    import polars as pl

    pixels, label = read_mnist(path) if path else _bundled()
    chosen = np.flatnonzero(np.isin(label, shown))
    if individuals is not None and individuals > len(chosen):
        raise UsageError(
            f"There are {len(chosen)} images of the digits {', '.join(map(str, shown))}, and {individuals} are wanted.",
            hint="Take a smaller scale, or give MNIST by --data FILE.",
        )
    order = np.random.default_rng(seed).permutation(chosen)[: individuals or len(chosen)]
    flat = pixels[order].reshape(len(order), -1)
    table = pl.DataFrame({"digit": label[order].astype(np.int64)})
    return table.hstack([pl.Series(f"p{at}", np.ascontiguousarray(flat[:, at])) for at in range(flat.shape[1])])


def _bundled() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.images.astype(np.uint8), found.target.astype(np.int64)
