"""A component-sharing experiment as tables: plain rows for CSV files and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten

if TYPE_CHECKING:
    from polyculture.lab.records import SharingRecord

__all__ = ["TABLES", "tables"]

TABLES = (
    "results",
    "effects",
    "learners",
    "components",
    "interactions",
    "accuracy",
    "faults",
    "notes",
    "dictionary",
)


def tables(record: SharingRecord) -> dict[str, list[Row]]:
    """Return the tables of `TABLES` that hold something."""
    from polyculture.audit.frames import statistic_columns

    found: dict[str, list[Row]] = {
        "results": [flatten(result) for result in record.results],
        "effects": [flatten(effect) for effect in record.effects],
        "learners": [flatten(one) for one in record.learners],
        "components": [flatten(component) for component in record.components],
        "interactions": [flatten(interaction) for interaction in record.interactions],
        "accuracy": [
            {"arm": arm, **statistic_columns("rank_correlation", value)}
            for arm, value in record.homogenization_and_accuracy.items()
        ],
        "faults": [flatten(fault) for fault in record.faults],
        "notes": [{"note": note} for note in (record.headline, record.components_sentence, *record.notes) if note],
    }
    return {name: rows for name, rows in found.items() if rows}
