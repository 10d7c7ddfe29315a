"""The individuals of a plan as arrays: features, labels, groups and ids, read once and checked.

Nothing is trained here. Codes become numbers by the levels of the whole data, so that no block lacks one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from polyculture.errors import ColumnError, InputError, UsageError, ValueInDataError, first_few, nearest
from polyculture.lab.images import Images, pixels_of
from polyculture.lab.sources import read_source
from polyculture.outcomes.groups import Group, is_unknown, parse_group

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from polyculture.lab.plan import Data, Task
    from polyculture.lab.pretrained import Shared

__all__ = ["Prepared", "Target", "prepare", "prepare_one"]

FEWEST_INDIVIDUALS = 10


class Described(Protocol):
    """A plan of any experiment: its individuals, and what is asked of them."""

    @property
    def data(self) -> Data: ...
    @property
    def tasks(self) -> tuple[Task, ...]: ...


@dataclass(frozen=True, eq=False)
class Target:
    """What one task asks for.

    Attributes
    ----------
    label : ndarray of int, shape (N,)
        Class of each individual, -1 where the label is missing: the task then judges it not.
    classes : tuple of str
        What the classes are called.
    sees : ndarray of bool, shape (P,)
        Which columns of the features its decision-makers may see.
    """

    label: NDArray[np.int64]
    classes: tuple[str, ...]
    sees: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The data of a plan.

    Attributes
    ----------
    features : ndarray, shape (N, P)
        Columns as numbers.
    origin : ndarray of int, shape (P,)
        Which of ``columns`` each was made of.
    columns : tuple of str
        The columns that become features.
    targets : tuple of Target
        One a task.
    ids : ndarray of str, shape (N,)
        Names of the individuals.
    cell : ndarray of int, shape (N,)
        Index of the combination of group values, -1 where one is not known.
    cells : tuple of tuple of str
        The group values of each cell; empty without groups.
    hashes : dict
        SHA-256 of each file, or of the frame, by name; and of each backbone.
    texts : tuple of str
        Of each individual, where the plan names a column of texts.
    backbones : tuple of Shared
        The pretrained models of the plan.
    pixels : ndarray of uint8, shape (N, channels, height, width), optional
        Their images, where they were asked for; ``features`` then has no column.
    """

    features: NDArray[np.float64]
    origin: NDArray[np.int64]
    columns: tuple[str, ...]
    targets: tuple[Target, ...]
    ids: NDArray[np.str_]
    cell: NDArray[np.int64]
    cells: tuple[tuple[str, ...], ...]
    hashes: dict[str, str]
    texts: tuple[str, ...] = ()
    backbones: tuple[Shared, ...] = ()
    pixels: NDArray[np.uint8] | None = None

    @property
    def individuals(self) -> int:
        """The number of individuals."""
        return len(self.ids)


def prepare(plan: Described, *, images: bool = False) -> Prepared:
    """Read the data of a plan and make its arrays.

    Parameters
    ----------
    plan : LoopPlan, Plan
        Data and tasks.
    images : bool
        Whether images stay pixels of one byte, rather than becoming columns of numbers.

    Raises
    ------
    InputError
        If the data cannot be read, lacks a column, or has a label that does not serve.
    UsageError
        If the source is of no known form.
    """
    return _prepared(plan.data, plan.tasks, images=images)


def prepare_one(data: Data, label: str | None) -> Prepared:
    """Read data of which one label is told, or none, for pretraining.

    Raises
    ------
    InputError, UsageError
        As `prepare`.
    """
    from polyculture.lab.plan import Task

    return _prepared(data, () if label is None else (Task(name="pretraining", label=label),))


def _prepared(data: Data, tasks: Sequence[Task], *, images: bool = False) -> Prepared:
    frame, pixels, hashes = read_source(data)
    if pixels is not None:
        if not images:
            frame, pixels = Images(frame, pixels).frame(), None
        elif data.image not in (None, pixels.shape[1:]):
            raise UsageError(
                f"image = {list(data.image or ())}, and the images of {data.source} are {list(pixels.shape[1:])}.",
                hint="Leave image out: they say it themselves.",
            )
        _check_names(data, (), frame)
    if frame.height < FEWEST_INDIVIDUALS:
        raise InputError(
            f"{data.source} holds {frame.height} individuals.", hint=f"Give at least {FEWEST_INDIVIDUALS}."
        )
    labels = [_group(task.label, frame, f"The label of task {task.name!r}") for task in tasks]
    own_labels = {label.column for label in labels if label.expression is None and not label.bins}
    seen = [
        _columns(data, task, frame, own_labels | set(label.sources())) if pixels is None else set()
        for task, label in zip(tasks, labels, strict=True)
    ]
    columns = tuple(name for name in frame.columns if any(name in own for own in seen))
    features, origin = _encoded(frame, columns, data.codes)
    if data.image is not None and pixels is None:
        if len(columns) != math.prod(data.image):
            raise UsageError(
                f"image = {list(data.image)} has {math.prod(data.image)} pixels, and there are {len(columns)} "
                "features.",
                hint="Name channels, height and width; leave columns out that are no pixels.",
            )
        if images:
            pixels = pixels_of(features, data.image, data.white)
            features, origin = features[:, :0], origin[:0]
    targets = []
    for task, label, own in zip(tasks, labels, seen, strict=True):
        codes, classes = _codes(label, frame)
        if len(classes) < 2:
            raise ColumnError(
                f"The label of task {task.name!r} ({task.label}) has {len(classes)} class"
                f"{'' if len(classes) == 1 else 'es'}: {first_few(classes)}.",
                hint="Name a label with at least two.",
            )
        if 2 * len(classes) > (known := int((codes >= 0).sum())):
            raise ColumnError(
                f"The label of task {task.name!r} ({task.label}) has {len(classes)} classes among {known} individuals: "
                f"{first_few(classes)}.",
                hint=f"Make it a condition, such as '{task.label} > NUMBER'; or name a label that individuals share.",
            )
        sees = np.array([columns[index] in own for index in origin], dtype=bool)
        targets.append(Target(codes, classes, sees))
    cell, cells = _cells(data, frame)
    ids, texts = _ids(data, frame), _texts(data, frame)
    return Prepared(features, origin, columns, tuple(targets), ids, cell, cells, hashes, texts, pixels=pixels)


def _texts(data: Data, frame: pl.DataFrame) -> tuple[str, ...]:
    if data.text is None:
        return ()
    import polars as pl

    if data.text not in frame.columns:
        raise ColumnError(
            f"There is no column {data.text!r} of texts in {data.source}.",
            hint=nearest(data.text, frame.columns) or f"The columns are: {first_few(frame.columns, limit=20)}.",
        )
    column = frame.get_column(data.text)
    if column.dtype != pl.String:
        raise ColumnError(f"The column {data.text!r} holds {column.dtype} values.", hint="Name a column of texts.")
    if column.null_count():
        raise ValueInDataError(
            f"The column {data.text!r} has {column.null_count()} empty cells.", hint="Give every individual a text."
        )
    return tuple(column.to_list())


def _group(text: str, frame: pl.DataFrame, what: str) -> Group:
    try:
        return parse_group(text, frame.columns)
    except (ColumnError, UsageError) as error:
        raise type(error)(f"{what}: {error.message.replace(' to group by', '')}", hint=error.hint) from None


def _values(group: Group, frame: pl.DataFrame) -> list[str | None]:
    """Return a group's or a label's value of each individual, as text."""
    import narwhals as nw

    wrapped = nw.from_native(frame)
    schema = dict(wrapped.collect_schema())
    edges: tuple[float, ...] = ()
    if group.bins:
        column = wrapped.get_column(group.column)
        found = {column.quantile(level, "linear") for level in group.quantile_levels()}
        edges = tuple(sorted(float(edge) for edge in found if edge is not None))
    column = wrapped.select(value=group.expr(schema, edges)).get_column("value")
    return [group.show(value, edges) for value in column.to_list()]


def _codes(group: Group, frame: pl.DataFrame) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    values = _values(group, frame)
    classes = tuple(sorted({value for value in values if value is not None}))
    place = {value: index for index, value in enumerate(classes)}
    return np.array([-1 if value is None else place[value] for value in values], dtype=np.int64), classes


def _check_names(data: Data, more: Sequence[str], frame: pl.DataFrame) -> None:
    for name in (*data.features, *data.leave_out, *more, *([data.id] if data.id else [])):
        if name not in frame.columns:
            raise ColumnError(
                f"There is no column {name!r} in {data.source}.",
                hint=nearest(name, frame.columns) or f"The columns are: {first_few(frame.columns, limit=20)}.",
            )


def _columns(data: Data, task: Task, frame: pl.DataFrame, labels: set[str]) -> set[str]:
    """Return the columns that decision-makers of a task see."""
    _check_names(data, (*task.features, *task.leave_out), frame)
    chosen = task.features or data.features
    for name in chosen:
        if name in labels:
            raise UsageError(
                f"The feature {name!r} is a label, which task {task.name!r} may not see.", hint="Drop it there."
            )
    found = set(chosen or frame.columns) - labels - set(data.leave_out) - set(task.leave_out)
    found -= {data.id or "", data.text or ""}
    if not found and data.text is None:
        raise UsageError(f"Task {task.name!r} has no feature left.", hint="Leave fewer columns out.")
    return found


def _encoded(frame: pl.DataFrame, columns: Sequence[str], codes: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the columns as numbers; text as a column a code, or as the place of the code."""
    import polars as pl

    found: list[NDArray[np.float64]] = []
    origin: list[int] = []
    for index, name in enumerate(columns):
        column = frame.get_column(name)
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            found.append(column.cast(pl.Float64).fill_null(float("nan")).to_numpy())
            origin.append(index)
            continue
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
            raise ColumnError(f"The column {name!r} holds {column.dtype} values.", hint="Leave it out of the features.")
        text = column.cast(pl.String).to_list()
        levels = sorted({value for value in text if value is not None}) + ([None] if None in text else [])
        place = {value: number for number, value in enumerate(levels)}
        numbers = np.array([place[value] for value in text])
        if codes == "ordinal":
            found.append(numbers.astype(np.float64))
            origin.append(index)
        else:
            found.extend((numbers == level).astype(np.float64) for level in range(len(levels)))
            origin.extend([index] * len(levels))
    table = np.column_stack(found) if found else np.empty((frame.height, 0))
    return np.ascontiguousarray(table), np.array(origin, dtype=np.int64)


def _ids(data: Data, frame: pl.DataFrame) -> NDArray[np.str_]:
    import polars as pl

    if data.id is None:
        return np.array([str(row) for row in range(frame.height)])
    column = frame.get_column(data.id)
    repeated = column.filter(column.is_duplicated()).unique().sort().to_list()
    if repeated or column.null_count():
        raise ValueInDataError(
            f"The id column {data.id!r} repeats {first_few(repeated)}."
            if repeated
            else f"The id column {data.id!r} has {column.null_count()} empty cells.",
            hint="Name a column in which every individual has its own value.",
        )
    return np.array(column.cast(pl.String).to_list())


def _cells(data: Data, frame: pl.DataFrame) -> tuple[NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """Return the group cell of each individual, and the group values of each cell in sorted order."""
    if not data.groups:
        return np.full(frame.height, -1, dtype=np.int64), ()
    values = [_values(_group(text, frame, "groups"), frame) for text in data.groups]
    rows = [
        None if any(is_unknown(value) for value in row) else tuple(str(value) for value in row)
        for row in zip(*values, strict=True)
    ]
    cells = tuple(sorted({row for row in rows if row is not None}))
    place = {row: index for index, row in enumerate(cells)}
    return np.array([-1 if row is None else place[row] for row in rows], dtype=np.int64), cells
