"""Folders of faces: read as their tables say, and every damaged, missing or other file is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from make_images import RACES, celeba_folder, face, fairface_folder
from polyculture.datasets.images import celeba, fairface
from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError

pytest.importorskip("PIL", reason="image files need the extra [lab]")


@pytest.fixture
def celebrities(tmp_path: Path) -> Path:
    return celeba_folder(tmp_path / "celeba")


def test_attributes_and_images_belong_together(celebrities: Path) -> None:
    found = celeba(str(celebrities), side=24)
    assert found.pixels.shape == (40, 3, 24, 24)
    for (name, attractive, male), pixels in zip(found.table.iter_rows(), found.pixels, strict=True):
        place = int(name[:6]) - 1
        assert (attractive, male) == (place % 2, int(place % 3 > 0))
        assert abs(int(pixels[0, 0, 0]) - (40 + place % 90)) < 12  # JPEG
        assert pixels[:, 12, 12].min() > 200  # the square in the middle
    assert (celeba(str(celebrities), side=24, seed=1).table["image"] != found.table["image"]).any()
    few = celeba(str(celebrities), individuals=7, side=24, label="Male", group="Bald")
    assert few.table.columns == ["image", "male", "bald"]
    assert few.table.height == 7


def test_what_is_wrong_with_a_folder_of_celebrities_is_named(celebrities: Path, tmp_path: Path) -> None:
    place = str(celebrities)
    with pytest.raises(ColumnError, match="Did you mean 'Male'"):
        celeba(place, group="Mal", side=24)
    with pytest.raises(UsageError, match="holds 40 images, and 41 are wanted"):
        celeba(place, individuals=41, side=24)
    with pytest.raises(FileError, match=r"holds no list_attr_celeba\.txt"):
        celeba(str(tmp_path))
    image = celebrities / "img_align_celeba" / "000007.jpg"
    content = image.read_bytes()
    image.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"000007\.jpg cannot be read as an image"):
        celeba(place, side=24)
    image.write_bytes(b"")
    with pytest.raises(FileError, match=r"000007\.jpg cannot be read as an image"):
        celeba(place, side=24)
    image.unlink()
    with pytest.raises(FileError, match=r"no image '.*000007\.jpg'"):
        celeba(place, side=24)
    face(image, 6, mode="L")
    with pytest.raises(ColumnError, match=r"000007\.jpg has 1 channels \(L\)"):
        celeba(place, side=24)
    face(image, 6, mode="CMYK")
    with pytest.raises(ColumnError, match=r"000007\.jpg has 4 channels \(CMYK\)"):
        celeba(place, side=24)
    face(image, 6)
    with pytest.raises(ColumnError, match="48 x 60 pixels"):
        celeba(place, side=64)
    table = celebrities / "list_attr_celeba.txt"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:10], lines[10].replace("1", "7"), *lines[11:]]))
    with pytest.raises(ValueInDataError, match=r"Line 11 of .*list_attr_celeba"):
        celeba(place, side=24)
    table.write_text("\n".join(lines[:-1]))
    with pytest.raises(FileError, match="says 40 images and lists 39"):
        celeba(place, side=24)
    table.write_text("Attractive\n")
    with pytest.raises(FileError, match="does not begin with"):
        celeba(place, side=24)


def test_ages_are_grouped_so_that_there_are_28_strata(tmp_path: Path) -> None:
    folder = str(fairface_folder(tmp_path / "fairface"))
    found = fairface(folder, side=24)
    assert found.pixels.shape == (126, 3, 24, 24)
    assert sorted(found.table["age"].unique()) == ["00-19", "20-39", "40-59", "60+"]
    assert sorted(found.table["race"].unique()) == sorted(RACES)
    assert found.table.group_by("race", "age").len().height == 28
    assert found.table.filter(image="train/4.jpg")["age"].item() == "20-39"
    assert found.table.filter(image="train/1.jpg").row(0)[1:] == ("Black", "Male", "00-19")
    assert sorted(fairface(folder, side=24, ages=(60,)).table["age"].unique()) == ["00-59", "60+"]
    with pytest.raises(UsageError, match="ages names 25"):
        fairface(folder, side=24, ages=(25,))


def test_what_is_wrong_with_a_folder_of_faces_is_named(tmp_path: Path) -> None:
    folder = fairface_folder(tmp_path / "fairface")
    with pytest.raises(FileError, match=r"holds no fairface_label_train\.csv"):
        fairface(str(tmp_path))
    table = folder / "fairface_label_val.csv"
    text = table.read_text()
    table.write_text(text.replace("more than 70", "older", 1))
    with pytest.raises(ValueInDataError, match=r"age in row \d+ of .*val\.csv is 'older'"):
        fairface(str(folder), side=24)
    table.write_text(text.replace("race", "colour", 1))
    with pytest.raises(ColumnError, match="no column 'race'"):
        fairface(str(folder), side=24)
    table.write_bytes(b"\xff\xfe\x00")
    with pytest.raises((FileError, ColumnError), match=r"val\.csv"):
        fairface(str(folder), side=24)
    table.unlink()
    (folder / "train" / "3.jpg").unlink()
    with pytest.raises(FileError, match=r"train/3\.jpg"):
        fairface(str(folder), side=24)


def test_an_image_is_cut_to_the_square_in_its_middle(tmp_path: Path) -> None:
    from PIL import Image

    from polyculture.datasets.images.faces import read_images

    pixels = np.zeros((60, 40, 3), dtype=np.uint8)
    pixels[10:50] = 200
    Image.fromarray(pixels).save(tmp_path / "tall.png")
    assert (read_images([tmp_path / "tall.png"], 20) == 200).all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"individuals": "many"}, "individuals = 'many' is no whole number"),
        ({"individuals": 0}, "individuals = 0 is too small"),
        ({"side": 24.0}, "side = 24.0 is no whole number"),
        ({"side": 0}, "side = 0 is too small"),
        ({"seed": -1}, "seed = -1 is too small"),
    ],
)
def test_parameters_of_another_kind_are_refused(celebrities: Path, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        celeba(str(celebrities), **{"side": 24, **asked})
