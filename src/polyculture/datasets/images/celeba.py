"""CelebA from the original files: list_attr_celeba.txt and a folder of aligned images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from polyculture.datasets.images.faces import choose, read_images
from polyculture.errors import ColumnError, FileError, ValueInDataError, nearest
from polyculture.lab.images import Images

__all__ = ["celeba"]

TABLE = "list_attr_celeba.txt"
TABLES = (TABLE, f"Anno/{TABLE}")
FOLDERS = ("img_align_celeba", "Img/img_align_celeba", "img_align_celeba/img_align_celeba")


def celeba(
    path: str,
    *,
    individuals: int | None = None,
    side: int = 64,
    label: str = "Attractive",
    group: str = "Male",
    seed: int = 0,
) -> Images:
    """Return faces of CelebA with two of their attributes.

    Parameters
    ----------
    path : str
        Folder with list_attr_celeba.txt (or Anno/) and img_align_celeba (or Img/img_align_celeba).
    individuals : int, optional
        How many are drawn; default all 202,599.
    side : int
        Height and width in pixels of the square in the middle of each image, made smaller.
    label, group : str
        Attributes that are the class and the group.
    seed : int
        Of the draw.

    Returns
    -------
    Images
        The table holds image (the file's name), and both attributes by name in lower case: 1 yes, 0 no.

    Raises
    ------
    InputError, UsageError
        If a file is missing, damaged or of another layout, or Pillow is not installed.
    """
    import polars as pl

    folder = Path(path)
    table = next((folder / name for name in TABLES if (folder / name).is_file()), None)
    images = next(
        (folder / name for name in FOLDERS if (folder / name).is_dir() and any((folder / name).glob("*.*"))), None
    )
    if table is None or images is None:
        lacking = TABLE if table is None else FOLDERS[0]
        raise FileError(f"{path!r} holds no {lacking}.", hint="Name the folder with the files of CelebA.")
    names, values = _attributes(table, (label, group))
    chosen = choose(len(names), individuals, seed, path)
    pixels = read_images([images / names[place] for place in chosen.tolist()], side)
    return Images(
        pl.DataFrame(
            {
                "image": [names[place] for place in chosen.tolist()],
                **{name.lower(): values[chosen, at] for at, name in enumerate((label, group))},
            }
        ),
        pixels,
    )


def _attributes(table: Path, wanted: tuple[str, str]) -> tuple[list[str], np.ndarray]:
    """Return the files' names and the wanted attributes, (N, 2), 1 yes and 0 no."""
    try:
        lines = table.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{table} cannot be read: {error}.", hint="Give the original file.") from None
    if len(lines) < 3 or not lines[0].strip().isdigit():
        raise FileError(
            f"{table} does not begin with the number of images and the names of attributes.",
            hint="Give the original file.",
        )
    columns = lines[1].split()
    for name in wanted:
        if name not in columns:
            hint = nearest(name, columns) or f"They are: {', '.join(columns)}."
            raise ColumnError(f"{table} has no attribute {name!r}.", hint=hint)
    places = [1 + columns.index(name) for name in wanted]
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise FileError(f"{table} says {int(lines[0])} images and lists {len(rows)}.", hint="Copy it again.")
    for number, row in enumerate(rows, start=3):
        if len(row) != len(columns) + 1 or any(row[place] not in {"1", "-1"} for place in places):
            raise ValueInDataError(
                f"Line {number} of {table} does not hold a name and {len(columns)} times 1 or -1.",
                hint="Copy it again.",
            )
    values = np.array([[row[place] == "1" for place in places] for row in rows], dtype=np.int64)
    return [row[0] for row in rows], values
