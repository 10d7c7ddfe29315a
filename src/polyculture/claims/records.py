"""Records of a reproduction, whose fields are the fields of reproduction.json."""

from __future__ import annotations

from typing import Literal

from polyculture.audit.change_records import PairedRate
from polyculture.audit.records import InputFile, KindsRecord, Outcome, ProfileRow, Record, Statistic

__all__ = [
    "SCHEMA",
    "VERDICTS",
    "AuditedSnapshot",
    "ClaimRecord",
    "Improvement",
    "Judged",
    "ReproductionRecord",
    "UndoingShare",
    "Unit",
    "Verdict",
]

SCHEMA = "polyculture/reproduction/1"

Verdict = Literal["agrees", "disagrees", "cannot tell", "not tested"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "disagrees", "cannot tell", "not tested")
Unit = Literal["share", "points", "ratio", "count", "number"]
Judged = Literal["same data", "interval", "direction", "absence", "seeds"]


class ClaimRecord(Record, frozen=True, kw_only=True):
    """One thing that a paper reports, what we find, and whether they agree.

    ``published`` is None where no number is reported, but a direction; ``decimals`` are those it is printed with.
    ``judged_by`` says how: "same data" (the same individuals, so that the numbers must be the same but for
    rounding), "interval" (the published number lies in our interval, which leaves none out), "direction" (our
    interval lies on the side that is claimed), "absence" (our interval lies within ``margin`` of none), "seeds"
    (the difference of two means over seeds lies within ``margin`` of 0, with what is known of both spreads).
    ``reason`` says why a claim was not tested, or what the verdict rests on.
    """

    about: str
    statement: str
    unit: Unit
    published: float | None
    decimals: int
    found: Statistic
    judged_by: Judged
    margin: float | None = None
    verdict: Verdict
    reason: str = ""
    source: str


class AuditedSnapshot(Record, frozen=True, kw_only=True):
    """The audit of one data set at one time: profile and outcomes, observed and under independence."""

    dataset: str
    task: str
    period: str
    models: tuple[str, ...]
    individuals: int
    noun: str
    input: str
    profile: tuple[ProfileRow, ...]
    systemic_failure: Outcome
    consistent_success: Outcome
    homogeneous_outcomes: Outcome


class UndoingShare(Record, frozen=True, kw_only=True):
    """How many improvements undo a systemic failure, the other services read at one of the two years.

    ``reading`` is "before" or "after". ``potential`` are failures of the earlier year, ``undone`` those that are none
    in the later one, of examples that another service judged in both years too; ``_systemic`` those whom all others
    fail. ``share`` is undone_systemic / undone; ``uniform`` the same if each failure were as likely to be undone,
    ``adjusted`` if undoing depended on difficulty alone. ``net_systemic`` is undone_systemic minus regressed_systemic.
    """

    reading: str
    potential: int
    potential_systemic: int
    undone: int
    undone_systemic: int
    regressed_systemic: int
    net_systemic: int
    share: Statistic
    uniform: float | None
    adjusted: Statistic


class Improvement(Record, frozen=True, kw_only=True):
    """One service of one data set in two consecutive years, on the examples that it judged in both.

    ``error`` is its failure rate; ``improved`` examples it failed in the earlier year only, ``regressed`` in the later
    only, ``net`` is the difference. ``undoing`` is empty where it is the only service of both years.
    """

    dataset: str
    task: str
    model: str
    before: str
    after: str
    judged: int
    failed_before: int
    error: PairedRate
    improved: int
    regressed: int
    net: int
    undoing: tuple[UndoingShare, ...] = ()


class ReproductionRecord(Record, frozen=True, kw_only=True):
    """A published analysis done again, as written to reproduction.json.

    ``verdicts`` counts the claims by verdict. ``improvements`` compares consecutive years of a folder. ``dermatology``
    holds the kinds of decision-makers where a table of their predictions was given.
    """

    schema: str = SCHEMA
    name: str
    paper: str
    sentence: str
    version: str
    seed: int
    command: str
    inputs: tuple[InputFile, ...]
    verdicts: dict[str, int]
    claims: tuple[ClaimRecord, ...]
    snapshots: tuple[AuditedSnapshot, ...]
    improvements: tuple[Improvement, ...] = ()
    dermatology: KindsRecord | None = None
    notes: tuple[str, ...] = ()
