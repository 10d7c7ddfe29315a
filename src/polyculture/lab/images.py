"""Images of individuals: pixels of one byte each beside a table of who they are, and grey levels from and to numbers.

A loader of a plan may return `Images` in place of a frame. Files are read in ``datasets``.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import ColumnError, UsageError, ValueInDataError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["CHANNELS", "WHITE", "Images", "as_numbers", "as_pixels", "pixels_of", "strip_png"]

WHITE = 255
CHANNELS = {1: "grey", 2: "red, green", 3: "red, green, blue"}
"""What one, two and three channels of an image are."""
BETWEEN = 2
"""Transparent pixels between two images of a strip."""


@dataclass(frozen=True, eq=False)
class Images:
    """Individuals of whom there are images.

    Parameters
    ----------
    table : polars.DataFrame
        A row an individual: label, groups, perhaps an id.
    pixels : ndarray of uint8, shape (N, channels, height, width)
        Their images, 0 black to 255; one channel (grey), two (red, green) or three.

    Raises
    ------
    ColumnError
        If the two do not fit together, or pixels are of another kind.
    """

    table: pl.DataFrame
    pixels: NDArray[np.uint8]

    def __post_init__(self) -> None:
        shape = self.pixels.shape
        if self.pixels.dtype != np.uint8 or len(shape) != 4:
            raise ColumnError(
                f"Pixels are {self.pixels.dtype} of shape {shape}.",
                hint="Give uint8 of shape (individuals, channels, height, width).",
            )
        if shape[1] not in CHANNELS or not shape[2] * shape[3]:
            raise ColumnError(
                f"Images have {shape[1]} channels of {shape[2]} x {shape[3]} pixels.",
                hint="Give one channel (grey), two (red, green) or three.",
            )
        if shape[0] != self.table.height:
            raise ColumnError(
                f"There are {shape[0]} images of {self.table.height} individuals.", hint="Give one image each."
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return self.pixels.shape[1:]

    def frame(self) -> pl.DataFrame:
        """Return the table with a column a pixel (p0, p1, ...), channel by channel and row by row."""
        import polars as pl

        flat = self.pixels.reshape(len(self.pixels), -1)
        return self.table.hstack(
            [pl.Series(f"p{at}", np.ascontiguousarray(flat[:, at])) for at in range(flat.shape[1])]
        )

    def digest(self) -> str:
        """Return the SHA-256 of table and pixels."""
        buffer = BytesIO()
        self.table.rechunk().write_ipc(buffer, compression="uncompressed")
        found = sha256(buffer.getvalue())
        found.update(np.ascontiguousarray(self.pixels).data)
        return found.hexdigest()


def pixels_of(columns: NDArray[np.float64], shape: tuple[int, int, int], white: float) -> NDArray[np.uint8]:
    """Return pixels that stand in columns of a table as images, (N, channels, height, width).

    Parameters
    ----------
    columns : ndarray, shape (N, P)
        Channel by channel and row by row.
    shape : tuple of int
        Channels, height and width, whose product is P.
    white : float
        The number of a pixel that is white; 0 is black.

    Raises
    ------
    UsageError, ValueInDataError
        If there are other than one to three channels, or a number lies outside.
    """
    if shape[0] not in CHANNELS:
        raise UsageError(f"image = {list(shape)} has {shape[0]} channels.", hint="There are one, two or three.")
    if not (np.isfinite(columns).all() and columns.min() >= 0.0 and columns.max() <= white):
        raise ValueInDataError(
            f"Pixels lie outside of 0 to {white:g} (white), or are empty.",
            hint="Set data.white to that of your images.",
        )
    return np.rint(columns * (WHITE / white)).astype(np.uint8).reshape(len(columns), *shape)


def as_numbers(features: NDArray[Any], kind: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """Return features as models take them: images as rows of numbers from 0 to 1, others as they are.

    Parameters
    ----------
    features : ndarray, shape (n, ...)
        Of some people.
    kind : type
        Precision. Networks take float32; covariances of that are not precise enough to be drawn from.

    Returns
    -------
    ndarray, shape (n, P)
        Pixels channel by channel and row by row.
    """
    if features.dtype != np.uint8:
        return features
    found = features.reshape(len(features), int(np.prod(features.shape[1:]))).astype(kind)
    found /= WHITE
    return found


def as_pixels(numbers: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return numbers from 0 to 1 as pixels in the nearest grey level, cut off at black and white.

    >>> as_pixels(np.array([[-0.2, 0.0, 0.5, 1.3]]), (1, 2, 2)).ravel().tolist()
    [0, 0, 128, 255]
    """
    levels: NDArray[np.uint8] = np.rint(np.clip(numbers, 0.0, 1.0) * WHITE).astype(np.uint8)
    return levels.reshape(len(numbers), *shape)


def strip_png(pixels: NDArray[np.uint8]) -> bytes:
    r"""Return images side by side as one PNG file, with a gap between them.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (n, channels, height, width)
        One channel is shown grey, two as red and green.

    Examples
    --------
    >>> strip_png(np.zeros((3, 1, 4, 4), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    from PIL import Image

    many, channels, height, width = pixels.shape
    whole = np.zeros((height, many * (width + BETWEEN) - BETWEEN, 4), dtype=np.uint8)
    for place, image in enumerate(pixels):
        left = place * (width + BETWEEN)
        part = whole[:, left : left + width]
        part[..., : 3 if channels == 1 else channels] = np.moveaxis(image, 0, 2)
        part[..., 3] = WHITE
    buffer = BytesIO()
    Image.fromarray(whole).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
