"""Small made sets in the layouts of the original image data sets; digits are squares of their own place and size."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from polyculture.datasets.images.fairface import AGES

RACES = ("Black", "East Asian", "Indian", "Latino_Hispanic", "Middle Eastern", "Southeast Asian", "White")


def digits(many: int, side: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return images (N, side, side) and what each shows: the digit's rows are bright."""
    rng = np.random.default_rng(seed)
    label = np.arange(many) % 10
    pixels = rng.integers(0, 40, (many, side, side), dtype=np.uint8)
    for place, digit in enumerate(label):
        top = side // 4 + digit
        pixels[place, top : top + 6, side // 4 : side // 2 + digit % 3] += 200
    return pixels, label


def mnist_file(path: Path, many: int = 600) -> Path:
    """Write MNIST's npz file with so many images, a sixth of them for testing."""
    pixels, label = digits(many, 28)
    cut = many * 5 // 6
    np.savez_compressed(path, x_train=pixels[:cut], y_train=label[:cut], x_test=pixels[cut:], y_test=label[cut:])
    return path


def idx_folder(folder: Path, many: int = 60) -> Path:
    """Write MNIST's original files, half of them packed."""
    folder.mkdir()
    pixels, label = digits(many, 28)
    for name, own in (("train", slice(0, many // 2)), ("t10k", slice(many // 2, many))):
        for kind, array in (("images-idx3", pixels[own]), ("labels-idx1", label[own].astype(np.uint8))):
            head = bytes((0, 0, 8, array.ndim)) + np.array(array.shape, dtype=">u4").tobytes()
            content = head + array.tobytes()
            if name == "train":
                (folder / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(content))
            else:
                (folder / f"{name}-{kind}-ubyte").write_bytes(content)
    return folder


def svhn_folder(folder: Path, many: int = 40) -> Path:
    """Write SVHN's Matlab files."""
    from scipy.io import savemat

    folder.mkdir()
    grey, label = digits(many, 32)
    pixels = np.moveaxis(np.repeat(grey[:, :, :, None], 3, axis=3), 0, 3)
    for name, own in (("train", slice(0, many // 2)), ("test", slice(many // 2, many))):
        savemat(
            folder / f"{name}_32x32.mat",
            {"X": pixels[..., own], "y": np.where(label[own] == 0, 10, label[own])[:, None].astype(np.uint8)},
        )
    return folder


def face(path: Path, place: int, size: tuple[int, int] = (48, 60), mode: str = "RGB") -> None:
    """Write an image of one colour with a bright square in its middle."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.full((size[1], size[0], 3), (40 + place % 90, 80, 120), dtype=np.uint8)
    pixels[20:40, 16:32] = 250
    Image.fromarray(pixels).convert(mode).save(path)


def celeba_folder(folder: Path, many: int = 40) -> Path:
    """Write CelebA's attributes and images."""
    lines = [str(many), "Attractive Bald Male"]
    for place in range(many):
        name = f"{place + 1:06}.jpg"
        face(folder / "img_align_celeba" / name, place)
        lines.append(f"{name} {'1' if place % 2 else '-1'} -1 {'1' if place % 3 else '-1'}")
    (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return folder


def fairface_folder(folder: Path, many: int = 126) -> Path:
    """Write FairFace's tables and images."""
    for name, places in (("train", range(many // 2)), ("val", range(many // 2, many))):
        lines = ["file,age,gender,race,service_test"]
        for place in places:
            face(folder / name / f"{place}.jpg", place)
            gender = ("Female", "Male")[place % 2]
            lines.append(f"{name}/{place}.jpg,{AGES[place % 9]},{gender},{RACES[place // 9 % 7]},True")
        (folder / f"fairface_label_{name}.csv").write_text("\n".join(lines) + "\n")
    return folder
