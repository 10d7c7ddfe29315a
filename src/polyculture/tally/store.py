"""A Tally as one file, and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from polyculture.tally.answers import AnswerTables
from polyculture.tally.archive import TALLY_HEADER, opened_archive, write_archive
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


def load(path: Path) -> Tally:
    """Read a Tally."""
    command = "polyculture tally SOURCE -o FILE"
    with opened_archive(path, TALLY_HEADER, _FORMAT, what="Tally", command=command) as archive:
        header = archive.header
        exact = header.pop("exact")
        raw = RawPatterns(**{entry.name: archive.array(f"raw.{entry.name}") for entry in fields(RawPatterns)})
        tables = None
        if not exact:
            tables = ExactTables(**{e.name: archive.array(f"tables.{e.name}") for e in fields(ExactTables)})
        answers = None
        if "answer_values" in header:
            values = header.pop("answer_values")
            said = header.pop("answer_options", None)
            names = [e.name for e in fields(AnswerTables) if e.name not in {"values", "said"}]
            arrays = {name: archive.array(f"answers.{name}") for name in names}
            answers = AnswerTables(values=None if values is None else tuple(values), said=said, **arrays)
        probabilities = None
        if header.pop("has_probabilities", False):
            names = [entry.name for entry in fields(ProbabilityTables)]
            probabilities = ProbabilityTables(**{name: archive.array(f"probabilities.{name}") for name in names})
        for name in ("models", "groups", "cluster_names"):
            header[name] = None if header[name] is None else tuple(header[name])
        header["cells"] = tuple(tuple(cell) for cell in header["cells"])
        return Tally(raw=raw, tables=tables, answers=answers, probabilities=probabilities, **header)
