"""Persons of the American Community Survey (PUMS 2018, 1-year) as one table: features, race, labels of three tasks.

They are read from a folder of the published files, or fetched by folktables where that is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError, first_few

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

__all__ = ["FEATURES", "FOLKTABLES", "people"]

FEATURES = ("AGEP", "SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM")
"""Columns that all three tasks of folktables have in common, with SEX and RAC1P."""
FOLKTABLES = "folktables"
"""The source that goes through the network."""
_WANTED = (*FEATURES, "SEX", "RAC1P", "ESR", "POVPIP", "HINS2")
_PERSON = ("SERIALNO", "SPORDER")
"""Together the number of a person; not in every copy."""
_NAMES = ("psam_p*.csv", "csv_p*.csv", "csv_p*.zip", "*.csv", "*.csv.gz")
_HINT = "Give person files of the 2018 1-year PUMS."

Tell = Callable[[str], None]


def people(source: str | PathLike[str], *, progress: Tell | None = None) -> pl.DataFrame:
    """Return the persons: features, sex, race, and the labels of the three tasks.

    Parameters
    ----------
    source : path, or "folktables"
        A folder with the person files (psam_pXX.csv by state, or the zip files of the Census Bureau that hold them),
        or one such file. "folktables" fetches those of all its states into the folder ``data``, where they stay.
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    polars.DataFrame
        A feature without a value is -1; ``poor`` is null where the ratio is not known.

    Raises
    ------
    FileError, ColumnError, ValueInDataError
        If there are no such files, they lack a column, hold text for a number, or a person twice.
    UsageError
        If folktables is asked for and not installed.
    """
    import polars as pl

    tell = progress or (lambda _: None)
    parts = _fetched(tell) if str(source) == FOLKTABLES else _read(Path(source), tell)
    found = pl.concat(list(parts), how="diagonal")
    if not found.height:
        raise FileError(f"{str(source)!r} holds no person.", hint=_HINT)
    _check_once(found, str(source))
    return found.select(
        *(pl.col(name).fill_null(-1.0) for name in (*FEATURES, "SEX")),
        RAC1P=pl.col("RAC1P").fill_null(-1.0).cast(pl.Int64),
        employed=pl.when(pl.col("ESR").fill_null(0.0) == 1.0).then(1).otherwise(0),
        poor=pl.when(pl.col("POVPIP").is_not_null()).then((pl.col("POVPIP") < 250.0).cast(pl.Int64)),
        insured=pl.when(pl.col("HINS2").fill_null(2.0) == 1.0).then(1).otherwise(0),
    )


def _read(source: Path, tell: Tell) -> Iterator[pl.DataFrame]:
    import polars as pl

    for path in _files(source):
        tell(f"Reading {path.name}")
        try:
            for name, content in _contents(path):
                table = pl.scan_csv(content, infer_schema=False)
                yield _numbers(table, name)
        except (pl.exceptions.PolarsError, BadZipFile, OSError) as error:
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise FileError(f"{str(path)!r} cannot be read: {said}.", hint="Fetch it again.") from None


def _contents(path: Path) -> Iterator[tuple[str, Path | BytesIO]]:
    """Yield a file by name, or the person files of a zip file."""
    if path.suffix.lower() != ".zip":
        yield str(path), path
        return
    with ZipFile(path) as archive:
        names = [name for name in archive.namelist() if Path(name).match("psam_p*.csv")]
        if not names:
            raise FileError(f"{str(path)!r} holds no person file.", hint=_HINT)
        for name in names:
            yield f"{path}:{name}", BytesIO(archive.read(name))


def _files(source: Path) -> list[Path]:
    hint = "Give the folder with psam_pXX.csv, or folktables to fetch them."
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise FileError(f"There is no file or folder {str(source)!r}.", hint=hint)
    for pattern in _NAMES:
        found = sorted(source.rglob(pattern))
        if found:
            return found
    raise FileError(f"{str(source)!r} holds no person files.", hint=hint)


def _numbers(table: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Return the wanted columns as numbers, and who a person is where that is told."""
    import polars as pl

    there = table.collect_schema().names()
    if lacking := [column for column in _WANTED if column not in there]:
        raise ColumnError(f"{name} has no column {first_few(lacking)}.", hint=_HINT)
    known = [column for column in _PERSON if column in there]
    text = table.select(*known, *(pl.col(column).cast(pl.String) for column in _WANTED)).collect()
    found = text.with_columns(pl.col(column).cast(pl.Float64, strict=False) for column in _WANTED)
    for column in _WANTED:
        wrong = text.filter(text[column].is_not_null() & found[column].is_null())
        if wrong.height:
            raise ValueInDataError(
                f"{name}: column {column!r} holds {first_few(wrong[column].unique(maintain_order=True))}, no number.",
                hint="Fetch the file again.",
            )
    return found.with_columns(pl.col(column).cast(pl.String) for column in known)


def _check_once(found: pl.DataFrame, source: str) -> None:
    if not set(_PERSON) <= set(found.columns):
        return
    twice = found.select(_PERSON).filter(found.select(_PERSON).is_duplicated())
    if twice.height:
        raise ValueInDataError(
            f"{source!r} holds persons twice, the first with SERIALNO {twice['SERIALNO'][0]!r}.",
            hint="Keep the files of the states or those of the whole country, not both.",
        )


def _fetched(tell: Tell) -> Iterator[pl.DataFrame]:
    """Yield the persons of each state through folktables, which fetches a file that is not there yet."""
    import polars as pl

    try:
        folktables = import_module("folktables")
        states = import_module("folktables.load_acs").state_list
    except ImportError as error:
        raise UsageError(
            f"folktables, which is to fetch the census files, is not there: {error}.",
            hint="Install it (pip install folktables), or give --data FOLDER with psam_pXX.csv.",
        ) from None
    source = folktables.ACSDataSource(survey_year="2018", horizon="1-Year", survey="person")
    for state in states:
        tell(f"Fetching the census file of {state}")
        try:
            with redirect_stdout(sys.stderr):  # what it prints is no result
                frame = source.get_data(states=[state], download=True)
        except OSError as error:
            raise FileError(
                f"folktables could not fetch the census file of {state}: {error}.",
                hint="Look whether the network is there, or give --data FOLDER with psam_pXX.csv.",
            ) from None
        columns = [column for column in (*_PERSON, *_WANTED) if column in frame.columns]
        yield _numbers(pl.DataFrame(pl.from_pandas(frame[columns])).lazy(), f"the census file of {state}")
