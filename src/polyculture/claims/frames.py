"""A reproduction as tables: plain rows for CSV files and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten

if TYPE_CHECKING:
    from polyculture.claims.records import AuditedSnapshot, Improvement, ReproductionRecord

__all__ = ["tables"]

_OUTCOMES = ("systemic_failure", "consistent_success", "homogeneous_outcomes")


def tables(record: ReproductionRecord) -> dict[str, list[Row]]:
    """Return claims, snapshots (an outcome a row), profiles; with more data improvements (a row a reading), kinds."""
    from polyculture.audit.kind_frames import kind_tables

    found = {
        "claims": [flatten(claim) for claim in record.claims],
        "snapshots": [row for snapshot in record.snapshots for row in _outcomes(snapshot)],
        "profiles": [
            {"dataset": snapshot.dataset, "period": snapshot.period, **flatten(row)}
            for snapshot in record.snapshots
            for row in snapshot.profile
        ],
        "improvements": [row for one in record.improvements for row in _improvement(one)],
        **kind_tables(record.dermatology),
    }
    return {name: rows for name, rows in found.items() if rows}


def _outcomes(snapshot: AuditedSnapshot) -> list[Row]:
    return [
        {
            "dataset": snapshot.dataset,
            "task": snapshot.task,
            "period": snapshot.period,
            "models": " | ".join(snapshot.models),
            "outcome": name.replace("_", " "),
            **flatten(getattr(snapshot, name)),
        }
        for name in _OUTCOMES
    ]


def _improvement(one: Improvement) -> list[Row]:
    """Return a row a reading, or one row without any where no other service judged in both years."""
    own = flatten(one, leave_out=("undoing",))
    return [{**own, **row} for row in [flatten(share) for share in one.undoing] or [{}]]
