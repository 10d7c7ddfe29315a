"""The table of components that people have: CSV, TOML, a mapping or a frame -> ComponentTable.

What the values mean is decided in ``audit.component_table``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tomllib
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.audit.component_table import ComponentTable
from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError, nearest

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

__all__ = ["read_components"]

MODEL = "model"
FORMS = 'Write [models."name"] and beneath it lines such as: vendor = "x"'


def read_components(source: str | PathLike[str] | Mapping[str, Mapping[str, Any]] | IntoFrame) -> ComponentTable:
    """Read a table of models and their components.

    Parameters
    ----------
    source : path, mapping or frame
        A CSV whose first column is ``model``; a TOML with a table ``[models."name"]`` a model; a mapping of model to
        component to value; or a frame with a column ``model``. Empty cells, null and "unknown" mean not known.

    Returns
    -------
    ComponentTable
        Values as they were given.

    Raises
    ------
    FileError
        If the file cannot be read or is neither CSV nor TOML.
    ColumnError
        If the column ``model`` is missing, or a column is repeated or has no name.
    ValueInDataError
        If a model stands there twice or has no name.
    UsageError
        If the source is none of these.

    Examples
    --------
    >>> read_components({"a": {"vendor": "x"}, "b": {"vendor": "y"}}).rows["a"]["vendor"]
    'x'
    """
    if isinstance(source, str) and not source:
        raise UsageError("The table of components has no name.", hint="Name a CSV or TOML of components.")
    if isinstance(source, str | PathLike):
        return _file(Path(fspath(source)))
    if isinstance(source, Mapping):
        return ComponentTable("The table of components", _mapped(source, "The table of components"))
    return _frame(source)


def _file(path: Path) -> ComponentTable:
    content = _content(path)
    digest = hashlib.sha256(content).hexdigest()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{str(path)!r} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from None
    if path.suffix.lower() == ".toml":
        return ComponentTable(str(path), _toml(text, path), digest)
    return ComponentTable(str(path), _csv(text, path), digest, text=True)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"There is no file {str(path)!r}.", hint="Name a CSV or TOML of components.") from None
    except IsADirectoryError:
        raise FileError(f"{str(path)!r} is a folder.", hint="Name a CSV or TOML of components.") from None
    except (OSError, ValueError) as error:  # a ValueError is a null character in the name
        what = (getattr(error, "strerror", None) or str(error)).lower()
        raise FileError(f"{str(path)!r} cannot be read: {what}.", hint="Change its permissions, or copy it.") from None


def _toml(text: str, path: Path) -> dict[str, Mapping[str, Any]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{str(path)!r} is no TOML: {error}.", hint=FORMS) from None
    models = content.get("models")
    if not isinstance(models, dict):
        known = nearest("models", content)
        raise FileError(f"{str(path)!r} has no table [models].", hint=f"{known} {FORMS}".strip())
    return _mapped(models, str(path))


def _mapped(rows: Mapping[Any, Any], where: str) -> dict[str, Mapping[str, Any]]:
    for name, row in rows.items():
        if not isinstance(name, str) or not isinstance(row, Mapping):
            raise UsageError(
                f"{where}: the entry {name!r} is no model with its components.",
                hint="Give a mapping of model to component to value: {'a': {'vendor': 'x'}}.",
            )
        for component in row:
            if not isinstance(component, str) or not component.strip():
                raise UsageError(f"{where}: {name!r} has the component {component!r}.", hint="Name it with text.")
    return dict(rows)


def _csv(text: str, path: Path) -> dict[str, Mapping[str, Any]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: dict[str, Mapping[str, Any]] = {}
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header, path)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{str(path)!r}, line {reader.line_num}"
            if len(cells) != len(header):
                raise ValueInDataError(
                    f"{where} has {len(cells)} cells, and the header {len(header)}.",
                    hint="Put text that holds a comma into quotes, and write empty cells.",
                )
            _add(rows, cells[0].strip(), dict(zip(header[1:], cells[1:], strict=True)), where)
    except csv.Error as error:
        raise FileError(
            f"{str(path)!r}, line {reader.line_num}: {error}.",
            hint="Save it as CSV with commas, text in double quotes.",
        ) from None
    return rows


def _check_header(header: list[str], path: Path) -> None:
    if not header or header[0] != MODEL:
        first = header[0] if header else ""
        raise ColumnError(
            f"{str(path)!r}: the first column must be {MODEL!r}, and is {first!r}.",
            hint="Write a header such as: model,vendor,size",
        )
    for name in header:
        if not name:
            raise ColumnError(f"{str(path)!r}: a column has no name.", hint="Name every column in the first line.")
        if header.count(name) > 1:
            raise ColumnError(f"{str(path)!r}: the column {name!r} stands there twice.", hint="Keep one of them.")


def _add(rows: dict[str, Mapping[str, Any]], name: str, row: Mapping[str, Any], where: str) -> None:
    if not name:
        raise ValueInDataError(f"{where} names no model.", hint="Write its name in the column model.")
    if name in rows:
        raise ValueInDataError(f"{where}: the model {name!r} stands there twice.", hint="Keep one of the rows.")
    rows[name] = row


def _frame(source: IntoFrame) -> ComponentTable:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        native = nw.from_native(source)
    except (DuplicateError, ValueError) as error:
        raise ColumnError(
            f"The table of components cannot be read: {' '.join(str(error).split())[:200]}",
            hint="Give every column its own name.",
        ) from None
    except TypeError:
        raise UsageError(
            f"A {type(source).__name__} is no table of components.",
            hint="Give a path, a mapping of model to component to value, or a frame with a column model.",
        ) from None
    frame = native.collect() if isinstance(native, nw.LazyFrame) else native
    if MODEL not in frame.columns:
        raise ColumnError(
            f"The table of components has no column {MODEL!r}.",
            hint=nearest(MODEL, frame.columns) or f"Its columns are: {', '.join(frame.columns)}.",
        )
    rows: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        name = row.pop(MODEL)
        where = f"Row {number} of the table of components"
        _add(rows, name if isinstance(name, str) else "", row, where)
    return ComponentTable("The table of components", rows)
