"""SVHN, cropped digits (format 2), from the original Matlab files: train_32x32.mat and test_32x32.mat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyculture.errors import ColumnError, FileError, ValueInDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_svhn"]

FILES = ("train_32x32.mat", "test_32x32.mat")
SIDE = 32
GREY = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue in grey (ITU-R BT.601)."""


def read_svhn(path: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the digits in grey, (N, 32, 32), and what each is.

    Parameters
    ----------
    path : str
        One of the files, or the folder that holds one or both.

    Raises
    ------
    FileError, ColumnError, ValueInDataError
        If there is none, or it cannot be read, or holds something else.
    """
    place = Path(path)
    files = [place / name for name in FILES if (place / name).is_file()] if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise FileError(
            f"{path!r} is no file of SVHN and no folder that holds one.", hint=f"Name the folder with {FILES[0]}."
        )
    parts = [_read(file) for file in files]
    return np.concatenate([pixels for pixels, _ in parts]), np.concatenate([digit for _, digit in parts])


def _read(file: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found = loadmat(str(file), variable_names=("X", "y"))
    except (OSError, ValueError, TypeError, EOFError, NotImplementedError, MatReadError, MemoryError) as error:
        raise FileError(f"{file} cannot be read: {error}.", hint="Give the original file of SVHN (format 2).") from None
    for name in ("X", "y"):
        if name not in found:
            raise ColumnError(f"{file} has no array {name!r}.", hint="Give the original file of SVHN (format 2).")
    pixels, digit = found["X"], found["y"].ravel().astype(np.int64)
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[:3] != (SIDE, SIDE, 3):
        raise ColumnError(
            f"X of {file} is {pixels.dtype} {pixels.shape}.",
            hint=f"It must hold images of three channels, 0 to 255, as ({SIDE}, {SIDE}, 3, N).",
        )
    if len(digit) != pixels.shape[3]:
        raise ColumnError(f"{file} has {pixels.shape[3]} images and {len(digit)} labels.", hint="Copy it again.")
    odd = np.flatnonzero((digit < 1) | (digit > 10))
    if len(odd):
        raise ValueInDataError(
            f"y of {file} holds {digit[odd[0]]} at place {odd[0]}.", hint="Labels are 1 to 9, and 10 for the digit 0."
        )
    grey = np.rint(np.moveaxis(pixels, 3, 0) @ GREY).astype(np.uint8)
    return grey, digit % 10
