"""Records of a reproduction, whose fields are the fields of reproduction.json."""

from __future__ import annotations

from typing import Literal

from polyculture.audit.records import InputFile, KindsRecord, Outcome, ProfileRow, Record, Statistic

__all__ = ["SCHEMA", "VERDICTS", "AuditedSnapshot", "ClaimRecord", "Judged", "ReproductionRecord", "Unit", "Verdict"]

SCHEMA = "polyculture/reproduction/1"

Verdict = Literal["agrees", "disagrees", "cannot tell", "not tested"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "disagrees", "cannot tell", "not tested")
Unit = Literal["share", "points", "ratio", "count"]
Judged = Literal["same data", "interval", "direction", "absence"]


class ClaimRecord(Record, frozen=True, kw_only=True):
    """One thing that a paper reports, what we find, and whether they agree.

    ``published`` is None where no number is reported, but a direction; ``decimals`` are those it is printed with.
    ``judged_by`` says how: "same data" (the same individuals, so that the numbers must be the same but for rounding),
    "interval" (the published number lies in our interval, which leaves none out), "direction" (our interval lies on
    the side that is claimed), "absence" (our interval lies within ``margin`` of none). ``reason`` says why a claim was
    not tested, or what the verdict rests on.
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


class ReproductionRecord(Record, frozen=True, kw_only=True):
    """A published analysis done again, as written to reproduction.json.

    ``verdicts`` counts the claims by verdict. ``dermatology`` holds the kinds of decision-makers where a table of their
    predictions was given.
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
    dermatology: KindsRecord | None = None
    notes: tuple[str, ...] = ()
