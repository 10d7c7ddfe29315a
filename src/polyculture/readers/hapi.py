"""The HAPI layout: a folder tree of predictions of commercial APIs, read into one long table.

    {task}/{dataset}/{api}/{yy-mm-dd}[.json]     a list of {example_id, predicted_label, confidence}
    {task}/{dataset}/labels[.json]               a list of {example_id, true_label}

(2307.05862, section 3.) What counts as a failure is not decided here.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from polyculture.audit.records import InputFile
from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError
from polyculture.readers.hashing import HashedFile, Progress
from polyculture.readers.wording import columns, excerpt, named

__all__ = ["HapiFolder", "data_sets", "find", "read"]

_SNAPSHOT = re.compile(r"(\d\d)-(\d\d)-(\d\d)(?:\.json)?")
_LABELS = ("labels.json", "label.json", "labels", "label")
_NOUNS = {"fer": "face images", "scr": "recordings", "sa": "texts"}


class _Prediction(msgspec.Struct):
    example_id: str | int
    predicted_label: str | int | float | bool | None
    confidence: float | None = None


class _Label(msgspec.Struct):
    example_id: str | int
    true_label: str | int | float | bool


@dataclass(frozen=True)
class HapiFolder:
    """One data set of the layout: its folder, and each API's snapshots as (date, file)."""

    folder: Path
    snapshots: dict[str, tuple[tuple[datetime.date, Path], ...]]

    @property
    def task(self) -> str:
        """The task, such as "sa"."""
        return self.folder.resolve().parent.name

    @property
    def dataset(self) -> str:
        """The data set, such as "waimai"."""
        return self.folder.resolve().name


def data_sets(path: Path) -> list[Path]:
    """Return the folders of all data sets of the HAPI layout at or below a folder, by name.

    Raises
    ------
    FileError
        There is none, or a folder may not be read.
    """
    found = {leaf.parent.parent for leaf in _walk(path, 3) if _SNAPSHOT.fullmatch(leaf.name)}
    if not found:
        raise _no_layout(path)
    return sorted(found)


def find(path: Path) -> HapiFolder:
    """Return the one data set of the HAPI layout at or below a folder.

    Raises
    ------
    UsageError
        There are several data sets, or the folder is that of a single API.
    FileError
        There is none, or a snapshot's name is no date, or it is there twice.
    """
    leaves = [leaf for leaf in _walk(path, 3) if _SNAPSHOT.fullmatch(leaf.name)]
    if any(leaf.parent == path for leaf in leaves):
        raise UsageError(
            f"{named(path)} holds the snapshots of one API.",
            hint=f"Give the folder of the data set, {named(path.resolve().parent)}, to read all APIs and the labels.",
        )
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for leaf in leaves:
        folders[leaf.parent.parent].append(leaf)
    if not folders:
        raise _no_layout(path)
    if len(folders) > 1:
        names = [str(folder.relative_to(path)) for folder in sorted(folders)]
        raise UsageError(
            f"{named(path)} holds {len(names)} data sets: {columns(names)}.",
            hint=f"Give the folder of one of them, such as {named(path / names[0])}.",
        )
    folder, found = next(iter(folders.items()))
    snapshots: dict[str, tuple[tuple[datetime.date, Path], ...]] = {}
    for api in sorted({leaf.parent for leaf in found}):
        dated = sorted((_date(leaf), leaf) for leaf in found if leaf.parent == api)
        twice = [date for date, times in Counter(date for date, _ in dated).items() if times > 1]
        if twice:
            raise FileError(
                f"{named(api)} holds the snapshot {twice[0]} twice.",
                hint="Keep one file for each date (YY-MM-DD.json).",
            )
        snapshots[api.name] = tuple(dated)
    return HapiFolder(folder, snapshots)


def read(
    source: HapiFolder, progress: Progress | None = None
) -> tuple[pl.LazyFrame, tuple[InputFile, ...], dict[str, object]]:
    """Read a data set into a long frame.

    Returns
    -------
    frame : polars.LazyFrame
        id, model, value (predicted label), label (true label), confidence, snapshot (YYYY-MM-DD), year,
        task, dataset. One row for each prediction.
    inputs : tuple of InputFile
        The labels and every snapshot.
    mapping : dict
        What the columns mean. Where an API has several snapshots it names the column that tells them
        apart: the year, or the date where one year holds two (APIs are not queried on one day).

    Raises
    ------
    FileError
        A file is missing, or is not of the layout.
    ValueInDataError
        An example stands twice in a file, or has no label.
    ColumnError
        Ids or labels are text in one file and numbers in another.
    """
    label_file = next((source.folder / name for name in _LABELS if (source.folder / name).is_file()), None)
    if label_file is None:
        raise FileError(
            f"{named(source.folder)} holds no labels.", hint="Add labels.json: a list of {example_id, true_label}."
        )
    labels, record = _load(label_file, _Label, progress)
    inputs, truth = [record], {row.example_id: row.true_label for row in labels}
    ids = [(label_file, list(truth))]
    values: list[tuple[Path, list[object]]] = []
    found: list[tuple[str, datetime.date, list[_Prediction]]] = []
    for api, snapshots in source.snapshots.items():
        for date, file in snapshots:
            rows, record = _load(file, _Prediction, progress)
            inputs.append(record)
            found.append((api, date, rows))
            ids.append((file, [row.example_id for row in rows]))
            values.append((file, [row.predicted_label for row in rows]))
    schema = {
        "id": _dtype("example_id", ids),
        "value": _dtype("predicted_label", values),
        "label": _dtype("true_label", [(label_file, list(truth.values()))]),
        "confidence": pl.Float64(),
    }
    if {schema["value"], schema["label"]} == {pl.Int64(), pl.Float64()}:  # JSON has only one kind of number
        schema["value"] = schema["label"] = pl.Float64()
    for file, own in ids[1:]:
        _refuse_unknown([example for example in own if example not in truth], file, label_file)
    parts = [_frame(rows, truth, schema, api=api, date=date, source=source) for api, date, rows in found]
    mapping: dict[str, object] = {"long": True, "id": "id", "model": "model", "value": "value", "label": "label"}
    if column := _snapshot_column(source):
        mapping["snapshot"] = column
    return pl.concat(parts).lazy(), tuple(inputs), mapping


def _frame(
    rows: Sequence[_Prediction],
    truth: dict[str | int, object],
    schema: dict[str, pl.DataType],
    *,
    api: str,
    date: datetime.date,
    source: HapiFolder,
) -> pl.DataFrame:
    """Return one snapshot of one API in long form."""
    cells = {
        "id": [row.example_id for row in rows],
        "value": [row.predicted_label for row in rows],
        "label": [truth[row.example_id] for row in rows],
        "confidence": [row.confidence for row in rows],
    }
    return pl.DataFrame(cells, schema=schema, strict=False).select(
        "id",
        pl.lit(api).alias("model"),
        "value",
        "label",
        "confidence",
        pl.lit(date.isoformat()).alias("snapshot"),
        pl.lit(date.year).cast(pl.Int64).alias("year"),
        pl.lit(source.task).alias("task"),
        pl.lit(source.dataset).alias("dataset"),
    )


def noun(task: str) -> str | None:
    """Return what the examples of a task are, in the plural."""
    return _NOUNS.get(task)


def _snapshot_column(source: HapiFolder) -> str | None:
    dates = [[date for date, _ in snapshots] for snapshots in source.snapshots.values()]
    if all(len(own) == 1 for own in dates):
        return None
    return "year" if all(len({date.year for date in own}) == len(own) for own in dates) else "snapshot"


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise FileError(
            f"The folder {named(folder)} may not be read.", hint="Change its permissions, or give another folder."
        ) from error
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            if depth > 0:
                yield from _walk(entry, depth - 1)
        elif entry.is_file():
            yield entry


def _no_layout(path: Path) -> FileError:
    files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
    if not files:
        return FileError(
            f"The folder {named(path)} holds no files that can be read.", hint="Give files, or another folder."
        )
    endings = Counter("".join(file.suffixes[-2:]) for file in files)
    pattern = path / f"*{endings.most_common(1)[0][0]}"
    return FileError(
        f"The folder {named(path)} is of no layout that is known (HAPI: TASK/DATASET/API/YY-MM-DD.json).",
        hint=f"To read its files together, give them by a pattern: {named(pattern)}.",
    )


def _date(leaf: Path) -> datetime.date:
    match = _SNAPSHOT.fullmatch(leaf.name)
    try:
        year, month, day = (int(part) for part in match.groups()) if match else (0, 0, 0)
        return datetime.date(2000 + year, month, day)
    except ValueError as error:
        raise FileError(f"{named(leaf)}: the name is no date.", hint="Snapshots are named YY-MM-DD.json.") from error


def _load(file: Path, kind: type[Any], progress: Progress | None) -> tuple[list[Any], InputFile]:
    """Return the rows of one file and its record."""
    hashed = HashedFile(file, progress)
    wanted = ", ".join(field.name for field in msgspec.structs.fields(kind))
    mend = f"It must be a JSON list of objects with the keys {wanted}."
    try:
        rows: list[Any] = msgspec.json.decode(b"".join(hashed), type=list[kind])  # type: ignore[valid-type]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{named(file)} is not of the HAPI layout: {excerpt(error)}.", hint=mend) from error
    if not rows:
        raise FileError(f"{named(file)} holds an empty list.", hint=mend)
    repeated = [key for key, times in Counter(row.example_id for row in rows).items() if times > 1]
    if repeated:
        raise ValueInDataError(
            f"{named(file)}: more than one entry has the example_id {columns(repeated)}.",
            hint="Keep one entry for each example.",
        )
    return rows, hashed.record("HAPI", len(rows))


def _refuse_unknown(unknown: Sequence[object], file: Path, label_file: Path) -> None:
    if unknown:
        raise ValueInDataError(
            f"{named(file)} predicts {len(unknown):,} examples without a label in {named(label_file)}: example_id "
            f"{columns(unknown)}.",
            hint="Add their labels, or take them out.",
        )


def _dtype(what: str, files: Sequence[tuple[Path, Sequence[object]]]) -> pl.DataType:
    """Return the one type of a field over all files."""
    first_seen: dict[str, Path] = {}
    fractions = False
    for file, values in files:
        for kind in {type(value) for value in values if value is not None}:
            first_seen.setdefault(_WORDS[kind], file)
            fractions |= kind is float
    if len(first_seen) > 1:
        (first, one), (second, other) = list(first_seen.items())[:2]
        raise ColumnError(
            f"{what} is {first} in {named(one)} and {second} in {named(other)}.",
            hint="Write it with one type in all files.",
        )
    word = next(iter(first_seen), "text")
    if word == "a number":
        return pl.Float64() if fractions else pl.Int64()
    return pl.Boolean() if word == "true/false" else pl.String()


_WORDS: dict[type, str] = {str: "text", int: "a number", float: "a number", bool: "true/false"}
