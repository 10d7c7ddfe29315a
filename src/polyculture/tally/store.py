"""A Tally as one file: a zip of plain arrays (.npy without pickle) and a JSON header."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from polyculture.errors import TallyError
from polyculture.files import atomic_write
from polyculture.tally.answers import AnswerTables
from polyculture.tally.counts import ExactTables
from polyculture.tally.probabilities import ProbabilityTables
from polyculture.tally.tables import RawPatterns
from polyculture.tally.tally import Tally

__all__ = ["load", "save"]

_FORMAT = "polyculture/tally/1"
_HEADER = "tally.json"
_TABLES = ("raw", "tables", "answers", "probabilities")
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def save(tally: Tally, path: Path) -> None:
    """Write a Tally; the same Tally gives the same bytes."""
    header = {entry.name: getattr(tally, entry.name) for entry in fields(Tally) if entry.name not in _TABLES}
    header |= {"format": _FORMAT, "exact": tally.exact}
    arrays = {f"raw.{entry.name}": getattr(tally.raw, entry.name) for entry in fields(RawPatterns)}
    if tally.tables is not None:
        arrays |= {f"tables.{entry.name}": getattr(tally.tables, entry.name) for entry in fields(ExactTables)}
    if tally.answers is not None:
        header["answer_values"] = tally.answers.values
        header["answer_options"] = tally.answers.said
        arrays |= {f"answers.{name}": array for name, array in tally.answers.arrays().items()}
    if tally.probabilities is not None:
        header["has_probabilities"] = True
        arrays |= {f"probabilities.{name}": array for name, array in tally.probabilities.arrays().items()}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, _HEADER, json.dumps(header, sort_keys=True, ensure_ascii=False).encode())
        for key, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            _put(archive, f"{key}.npy", buffer.getvalue())
    atomic_write(path, whole.getvalue())


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=_ZIP_EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def load(path: Path) -> Tally:
    """Read a Tally."""
    try:
        with zipfile.ZipFile(path) as archive:
            header: dict[str, Any] = json.loads(archive.read(_HEADER))
            if header.pop("format", None) != _FORMAT:
                raise TallyError(f"{path} is a Tally of another version.", hint="Make it again with polyculture tally.")
            exact = header.pop("exact")
            raw = RawPatterns(**{entry.name: _get(archive, f"raw.{entry.name}") for entry in fields(RawPatterns)})
            tables = None
            if not exact:
                tables = ExactTables(**{e.name: _get(archive, f"tables.{e.name}") for e in fields(ExactTables)})
            answers = None
            if "answer_values" in header:
                values = header.pop("answer_values")
                said = header.pop("answer_options", None)
                names = [e.name for e in fields(AnswerTables) if e.name not in {"values", "said"}]
                arrays = {name: _get(archive, f"answers.{name}") for name in names}
                answers = AnswerTables(values=None if values is None else tuple(values), said=said, **arrays)
            probabilities = None
            if header.pop("has_probabilities", False):
                names = [entry.name for entry in fields(ProbabilityTables)]
                probabilities = ProbabilityTables(**{name: _get(archive, f"probabilities.{name}") for name in names})
    except FileNotFoundError as problem:
        raise TallyError(
            f"There is no file {path}.", hint="Make it with polyculture tally SOURCE -o FILE."
        ) from problem
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError, EOFError, RuntimeError) as problem:
        raise TallyError(
            f"{path} is no Tally, or it is damaged.", hint="Make it again with polyculture tally."
        ) from problem
    for name in ("models", "groups", "cluster_names"):
        header[name] = None if header[name] is None else tuple(header[name])
    header["cells"] = tuple(tuple(cell) for cell in header["cells"])
    return Tally(raw=raw, tables=tables, answers=answers, probabilities=probabilities, **header)


def _get(archive: zipfile.ZipFile, key: str) -> Any:
    return np.load(io.BytesIO(archive.read(f"{key}.npy")), allow_pickle=False)
