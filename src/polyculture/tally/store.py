"""A Tally as one file, and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import msgspec

from polyculture.tally.answers import AnswerTables
from polyculture.tally.archive import TALLY_HEADER, opened_archive, write_archive
from polyculture.tally.cells import Cell
from polyculture.tally.counts import ExactTables
from polyculture.tally.probabilities import ProbabilityTables
from polyculture.tally.tables import RawPatterns
from polyculture.tally.tally import Tally

__all__ = ["load", "save"]

_FORMAT = "polyculture/tally/1"
_TABLES = ("raw", "tables", "answers", "probabilities")


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
    write_archive(path, TALLY_HEADER, header, arrays)


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """The header of the file: what a Tally says in words, and which tables it has. What came later has a default."""

    models: tuple[str, ...]
    groups: tuple[str, ...]
    cells: tuple[Cell, ...]
    failure_rule: str
    exact: bool
    cluster_names: tuple[str, ...] | None
    no_answer_policy: str = "failed"
    min_judged: int = 2
    weighted: bool = False
    thresholds: dict[str, float] = {}
    no_answer_reasons: dict[str, dict[str, int]] = {}
    binary_labels: bool = False
    selection: str = ""
    rows_read: int = 0
    rows_used: int = 0
    left_out: dict[str, int] = {}
    answer_values: tuple[str, ...] | msgspec.UnsetType | None = msgspec.UNSET
    answer_options: int | str | None = None
    has_probabilities: bool = False


def load(path: Path) -> Tally:
    """Read a Tally."""
    command = "polyculture tally SOURCE -o FILE"
    with opened_archive(path, TALLY_HEADER, _FORMAT, what="Tally", command=command) as archive:
        header = msgspec.convert(archive.header, _Header)
        raw = RawPatterns(**{entry.name: archive.array(f"raw.{entry.name}") for entry in fields(RawPatterns)})
        _check_shapes(raw, header)
        tables = None
        if not header.exact:
            tables = ExactTables(**{e.name: archive.array(f"tables.{e.name}") for e in fields(ExactTables)})
        answers = None
        if header.answer_values is not msgspec.UNSET:
            names = [e.name for e in fields(AnswerTables) if e.name not in {"values", "said"}]
            arrays = {name: archive.array(f"answers.{name}") for name in names}
            answers = AnswerTables(values=header.answer_values, said=header.answer_options, **arrays)
        probabilities = None
        if header.has_probabilities:
            names = [entry.name for entry in fields(ProbabilityTables)]
            probabilities = ProbabilityTables(**{name: archive.array(f"probabilities.{name}") for name in names})
        said = {entry.name: getattr(header, entry.name) for entry in fields(Tally) if entry.name not in _TABLES}
        return Tally(raw=raw, tables=tables, answers=answers, probabilities=probabilities, **said)


def _check_shapes(raw: RawPatterns, header: _Header) -> None:
    """Refuse arrays that do not belong to each other, or to the header."""
    masks = (raw.rows, -(-len(header.models) // 8))
    for entry in fields(RawPatterns):
        wanted = masks if entry.name in {"judged", "failed", "no_answer"} else (raw.rows,)
        if getattr(raw, entry.name).shape != wanted:
            raise ValueError(f"{entry.name} is of another shape")
    spare = len(header.models) % 8
    if spare and any((mask[:, -1] >> spare).any() for mask in (raw.judged, raw.failed, raw.no_answer)):
        raise ValueError("a model that is not there")
    if raw.rows and not (raw.cell.min() >= 0 and raw.cell.max() < len(header.cells)):
        raise ValueError("a cell that is not there")
