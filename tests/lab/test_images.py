"""Images as pixels of one byte: what is refused, how they become numbers and back, and the picture of a strip."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyculture.errors import ColumnError, UsageError, ValueInDataError
from polyculture.lab.data import prepare_one
from polyculture.lab.images import Images, as_numbers, as_pixels, pixels_of, strip_png
from polyculture.lab.plan import Data
from polyculture.lab.sources import read_frame


def pixels(many: int = 20, shape: tuple[int, int, int] = (2, 4, 5)) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (many, *shape), dtype=np.uint8)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pixels().astype(np.int64), "int64"),
        (pixels()[:, 0], r"shape \(20, 4, 5\)"),
        (pixels(20, (4, 4, 4)), "4 channels"),
        (pixels(20, (0, 4, 4)), "0 channels"),
        (pixels(19), "19 images of 20 individuals"),
    ],
)
def test_images_of_another_kind_are_refused(given: Any, words: str) -> None:
    with pytest.raises(ColumnError, match=words):
        Images(pl.DataFrame({"label": [0, 1] * 10}), given)


def test_grey_levels_come_back_from_numbers() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
    for kind in (np.float32, np.float64):
        numbers = as_numbers(every, kind)
        assert (numbers.min(), numbers.max(), numbers.dtype) == (0.0, 1.0, kind)
        assert numbers.shape == (1, 256)
        assert (as_pixels(numbers, (1, 16, 16)) == every).all()
    rows = np.zeros((3, 2))
    assert as_numbers(rows) is rows


def test_pixels_in_columns_become_images() -> None:
    columns = np.array([[0.0, 16.0, 8.0, 4.0]])
    assert pixels_of(columns, (1, 2, 2), 16.0).tolist() == [[[[0, 255], [128, 64]]]]
    with pytest.raises(ValueInDataError, match="outside of 0 to 8"):
        pixels_of(columns, (1, 2, 2), 8.0)
    with pytest.raises(ValueInDataError):
        pixels_of(columns * np.nan, (1, 2, 2), 16.0)
    with pytest.raises(UsageError, match="4 channels"):
        pixels_of(columns, (4, 1, 1), 16.0)


def test_a_strip_is_a_png_of_the_images_beside_each_other() -> None:
    own = pixels(3)
    whole = drawn(strip_png(own))
    assert whole.shape == (4, 3 * 5 + 2 * 2, 4)
    for place in range(3):
        part = whole[:, place * 7 : place * 7 + 5]
        assert (part[..., 0] == own[place, 0]).all()
        assert (part[..., 1] == own[place, 1]).all()
        assert not part[..., 2].any()
        assert (part[..., 3] == 255).all()
    assert not whole[:, 5:7].any()
    grey = drawn(strip_png(pixels(1, (1, 4, 5))))
    assert (grey[..., :3] == pixels(1, (1, 4, 5))[0, 0][:, :, None]).all()


def drawn(png: bytes) -> np.ndarray:
    from PIL import Image

    with Image.open(BytesIO(png)) as image:
        assert image.format == "PNG"
        return np.asarray(image)


def load() -> Images:
    """Return images whose label and group their loader knows."""
    return Images(pl.DataFrame({"label": [0, 1] * 10, "group": ["a", "b"] * 10}), pixels())


def test_elsewhere_images_are_columns_of_pixels() -> None:
    data = Data(source=f"{__name__}:load", leave_out=("group",))
    frame, hashes = read_frame(data)
    assert frame.columns[:3] == ["label", "group", "p0"]
    assert list(hashes.values()) == [load().digest()]
    found = prepare_one(data, "label")
    assert found.pixels is None
    assert (found.features == pixels().reshape(20, -1)).all()
