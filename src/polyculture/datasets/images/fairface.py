"""FairFace from the original files: fairface_label_train.csv and fairface_label_val.csv beside folders of images."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polyculture.datasets.images.faces import choose, read_images
from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError, first_few
from polyculture.lab.images import Images

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AGES", "fairface"]

FILES = ("fairface_label_train.csv", "fairface_label_val.csv")
AGES = ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
"""Age groups as the files write them, in order."""
STARTS = (0, 3, 10, 20, 30, 40, 50, 60, 70)
COLUMNS = ("file", "age", "gender", "race")


def fairface(
    path: str,
    *,
    individuals: int | None = None,
    side: int = 64,
    ages: tuple[int, ...] = (20, 40, 60),
    seed: int = 0,
) -> Images:
    """Return faces of FairFace with race, gender and age in broader groups.

    Parameters
    ----------
    path : str
        Folder with fairface_label_train.csv, fairface_label_val.csv (either suffices) and the images that they name.
    individuals : int, optional
        How many are drawn; default all.
    side : int
        Height and width in pixels of the square in the middle of each image, made smaller.
    ages : tuple of int
        Where age groups begin, after the first: 20, 40 and 60 make four, which with seven races are 28 strata. Which
        four the paper has is not known to us.
    seed : int
        Of the draw.

    Returns
    -------
    Images
        The table holds image (the file's name), race, gender and age ("00-19", "20-39", ...).

    Raises
    ------
    InputError, UsageError
        If a file is missing, damaged or of another layout, or Pillow is not installed.
    """
    import polars as pl

    folder = Path(path)
    tables = [folder / name for name in FILES if (folder / name).is_file()]
    if not tables:
        raise FileError(f"{path!r} holds no {FILES[0]}.", hint="Name the folder with the files of FairFace.")
    people = pl.concat([_people(table) for table in tables])
    chosen = people[choose(people.height, individuals, seed, path).tolist()]
    pixels = read_images([folder / name for name in chosen["file"]], side)
    broader = _broader(ages)
    table = chosen.select(image="file", race="race", gender="gender", age=pl.col("age").replace_strict(broader))
    return Images(table, pixels)


def _people(table: Path) -> pl.DataFrame:
    import polars as pl

    try:
        found = pl.read_csv(table, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileError(f"{table} cannot be read: {error}.", hint="Give the original file.") from None
    lacking = [name for name in COLUMNS if name not in found.columns]
    if lacking:
        raise ColumnError(
            f"{table} has no column {lacking[0]!r}.", hint=f"Its columns are: {first_few(found.columns)}."
        )
    found = found.select(COLUMNS)
    for name in COLUMNS:
        odd = found[name].is_null() if name != "age" else ~found[name].is_in(AGES).fill_null(False)
        if odd.any():
            row = int(odd.arg_true()[0])
            raise ValueInDataError(
                f"{name} in row {row + 1} of {table} is {found[name][row]!r}.",
                hint=f"Ages are written {', '.join(AGES)}." if name == "age" else "Give every image its own.",
            )
    return found


def _broader(ages: tuple[int, ...]) -> dict[str, str]:
    """Return the broader group of each age group.

    >>> _broader((20, 60))["30-39"], _broader((20, 60))["more than 70"]
    ('20-59', '60+')
    """
    for one in ages:
        if one not in STARTS[1:]:
            raise UsageError(f"ages names {one}, at which no age group begins.", hint=f"They begin at {STARTS[1:]}.")
    edges = [0, *sorted(set(ages))]
    names = [f"{low:02}-{high - 1:02}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
    return {
        age: names[int(np.searchsorted(edges, start, side="right")) - 1]
        for age, start in zip(AGES, STARTS, strict=True)
    }
