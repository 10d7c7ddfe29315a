"""What the columns of the table of improvements of a reproduction mean: those of a comparison, and its own.

The parts are put together in ``dictionary``.
"""

from __future__ import annotations

from polyculture.report.compare_dictionary import COMPARE_FIELDS

__all__ = ["IMPROVEMENT_COLUMNS"]

_SAME = (
    *("judged", "failed_before", "improved", "regressed", "net", "reading", "potential", "potential_systemic"),
    *("regressed_systemic", "net_systemic", "uniform", "adjusted"),
)

IMPROVEMENT_COLUMNS: dict[tuple[str, str], tuple[str, str]] = {
    **{("improvements", name): COMPARE_FIELDS[name] for name in _SAME},
    **{
        ("improvements", name): entry
        for name, entry in COMPARE_FIELDS.items()
        if isinstance(name, str) and name.startswith("error_")
    },
    ("improvements", "model"): ("service", "text"),
    ("improvements", "before"): ("the earlier year", "text"),
    ("improvements", "after"): ("the later year", "text"),
    ("improvements", "undone"): ("of the potential, failures that are none in the later year", "individuals"),
    ("improvements", "undone_systemic"): ("of the undone, those whom all other services fail", "individuals"),
    ("improvements", "share"): ("undone_systemic / undone", "share (0 to 1)"),
}
