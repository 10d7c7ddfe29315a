"""A feedback loop as tables: plain rows for CSV files and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten

if TYPE_CHECKING:
    from polyculture.lab.loops.records import LoopRecord

__all__ = ["TABLES", "tables"]

TABLES = ("endpoints", "generations", "collapse", "strata", "accounting", "faults", "notes", "dictionary")


def tables(record: LoopRecord) -> dict[str, list[Row]]:
    """Return the tables that hold something: endpoints, generations, collapse, strata, accounting, faults, notes."""
    found: dict[str, list[Row]] = {
        "endpoints": [flatten(one) for one in record.endpoints],
        "generations": [
            {
                "arm": curve.arm,
                "measure": curve.measure,
                "of": curve.of,
                "generation": number,
                "value": curve.value[number],
                "value_low": curve.low[number],
                "value_high": curve.high[number],
                "seeds": curve.seeds[number],
                "unit": record.units[curve.measure],
                "band": curve.method,
                "why_undefined": curve.reason,
            }
            for curve in record.curves
            for number in range(len(curve.value))
        ],
        "collapse": [flatten(one) for one in record.collapse],
        "strata": [flatten(one) for one in record.strata],
        "accounting": [flatten(one) for one in record.accounting],
        "faults": [flatten(one) for one in record.faults],
        "notes": [{"note": note} for note in (record.headline, record.accuracy_sentence, *record.notes) if note],
    }
    return {name: rows for name, rows in found.items() if rows}
