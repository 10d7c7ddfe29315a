"""Images for the experiment on shared pretrained models: MNIST from a file, or the digits of scikit-learn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from polyculture.errors import ColumnError, FileError, UsageError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["FIRST", "REST", "digits", "find"]

FIRST, REST = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9)
"""Digits that backbones are pretrained on, and those that decision-makers see."""

_FILE = "mnist.npz"


def find(data: str | os.PathLike[str] | None, file: str = _FILE) -> str:
    """Return the file that is meant: the one given, one of that name in a folder, or in that of POLYCULTURE_DATA.

    Returns
    -------
    str
        Empty where none is given and none is at hand.

    Raises
    ------
    FileError
        If the one given is not there.
    """
    place = Path(data) if data is not None else Path(os.environ.get("POLYCULTURE_DATA", "")) / file
    if place.is_dir():
        place /= file
    if place.is_file():
        return str(place)
    if data is not None:
        raise FileError(f"There is no file {str(place)!r}.", hint=f"Name {file}, or the folder that holds it.")
    return ""


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

    pixels, label = _mnist(path) if path else _bundled()
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


def _mnist(path: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    try:
        with np.load(path, allow_pickle=False) as found:
            lacking = [name for name in ("x_train", "y_train", "x_test", "y_test") if name not in found]
            if lacking:
                raise ColumnError(f"{path} has no array {lacking[0]!r}.", hint="Give the npz file of MNIST.")
            pixels = np.concatenate([found["x_train"], found["x_test"]])
            label = np.concatenate([found["y_train"], found["y_test"]]).astype(np.int64)
    except (OSError, ValueError, BadZipFile, AttributeError, TypeError) as error:
        raise FileError(f"{path} cannot be read: {error}.", hint="Give the npz file of MNIST.") from None
    if pixels.ndim != 3 or pixels.dtype != np.uint8 or len(label) != len(pixels):
        raise ColumnError(
            f"x of {path} is {pixels.dtype} {pixels.shape}, with {len(label)} labels.",
            hint="It must hold images of one channel, 0 to 255, and a digit for each.",
        )
    return pixels, label
