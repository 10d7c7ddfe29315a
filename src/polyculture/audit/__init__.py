"""Questions to a Tally and their answers: one module a question, every answer a frozen record."""

from polyculture.audit.frames import frames, tables
from polyculture.audit.individuals import failed_by_all
from polyculture.audit.records import (
    AuditRecord,
    Contrast,
    GapRecord,
    GroupHomogenization,
    GroupModel,
    GroupRecord,
    InputFile,
    ModelGap,
    ModelRecord,
    NoAnswerRecord,
    NullRecord,
    Outcome,
    PairRecord,
    Pattern,
    ProfileRow,
    Provenance,
    Statistic,
)
from polyculture.audit.run import run

__all__ = [
    "AuditRecord",
    "Contrast",
    "GapRecord",
    "GroupHomogenization",
    "GroupModel",
    "GroupRecord",
    "InputFile",
    "ModelGap",
    "ModelRecord",
    "NoAnswerRecord",
    "NullRecord",
    "Outcome",
    "PairRecord",
    "Pattern",
    "ProfileRow",
    "Provenance",
    "Statistic",
    "failed_by_all",
    "frames",
    "run",
    "tables",
]
