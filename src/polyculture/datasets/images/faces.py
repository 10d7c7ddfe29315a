"""Image files of faces as pixels: opened with Pillow, cut to a square, made smaller; errors name the file."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyculture.datasets.images.parameters import whole_number
from polyculture.errors import ColumnError, FileError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["choose", "read_images"]


def choose(many: int, individuals: int | None, seed: int, what: str) -> NDArray[np.int64]:
    """Return which of so many are drawn, in random order; None for all.

    Raises
    ------
    UsageError
        If there are fewer, or ``individuals`` or ``seed`` is no whole number.
    """
    whole_number("seed", seed, 0)
    if individuals is not None and not 0 < whole_number("individuals", individuals, 1) <= many:
        raise UsageError(f"{what} holds {many} images, and {individuals} are wanted.", hint=f"Take 1 to {many}.")
    return np.random.default_rng(seed).permutation(many)[:individuals]


def read_images(files: Sequence[Path], side: int) -> NDArray[np.uint8]:
    """Return image files as pixels, (N, 3, side, side): the square in their middle, made smaller.

    Parameters
    ----------
    files : sequence of Path
        Of three channels each (RGB), and at least ``side`` pixels wide and high.
    side : int
        Height and width.

    Raises
    ------
    FileError
        If one is missing or damaged.
    ColumnError
        If one has other channels, or is too small.
    UsageError
        If Pillow is not installed, or ``side`` is no whole number.
    """
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise UsageError(
            "Image files are read by Pillow, which is not installed.",
            hint="Install it: pip install 'polyculture[lab]'",
        ) from None
    found = np.empty((len(files), 3, whole_number("side", side, 1), side), dtype=np.uint8)
    with ThreadPoolExecutor(min(cpu_count() or 1, 8)) as pool:
        for place, pixels in enumerate(pool.map(lambda file: _read(file, side), files)):
            found[place] = pixels
    return found


def _read(file: Path, side: int) -> NDArray[np.uint8]:
    from PIL import Image

    try:
        with Image.open(file) as image:
            if image.mode != "RGB":
                raise ColumnError(
                    f"{file} has {len(image.getbands())} channels ({image.mode}).",
                    hint="Images have three channels: red, green, blue.",
                )
            width, height = image.size
            short = min(width, height)
            if short < side:
                raise ColumnError(f"{file} is {width} x {height} pixels.", hint=f"Choose a side of {short} or less.")
            left, top = (width - short) // 2, (height - short) // 2
            square = image.crop((left, top, left + short, top + short))
            small = square.resize((side, side), Image.Resampling.BILINEAR)
            return np.moveaxis(np.asarray(small, dtype=np.uint8), 2, 0)
    except FileNotFoundError:
        raise FileError(f"There is no image {str(file)!r}.", hint="Unpack all images of the data set.") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FileError(f"{file} cannot be read as an image: {error}.", hint="Copy it again.") from None
