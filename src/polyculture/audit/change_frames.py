"""A comparison as tables: plain rows for CSV files and frames, a row a record, named by the two snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten, group_columns, same_columns

if TYPE_CHECKING:
    from polyculture.audit.change_records import ChangeRecord, CompareRecord

__all__ = ["COMPARE_TABLES", "change_tables"]

COMPARE_TABLES = (
    "snapshots",
    "changes",
    "models",
    "by_others",
    "undoing",
    "flow",
    "groups",
    "trend",
    "trend_points",
    "notes",
)
ALL = "(all models)"


def change_tables(record: CompareRecord) -> dict[str, list[Row]]:
    """Return every table of a comparison that holds something, as plain rows."""
    found: dict[str, list[Row]] = {name: [] for name in COMPARE_TABLES}
    found["snapshots"] = [flatten(one) for one in record.snapshots]
    for change in record.changes:
        _add(found, change)
    for trend in record.trend:
        found["trend"].append(flatten(trend))
        found["trend_points"] += [{"series": trend.series, **flatten(point)} for point in trend.points]
    found["notes"] += [{"note": note} for note in record.notes]
    found["groups"] = same_columns(found["groups"])
    return {name: rows for name, rows in found.items() if rows}


def _add(found: dict[str, list[Row]], change: ChangeRecord) -> None:
    key = {"before": change.before, "after": change.after}
    found["changes"].append(flatten(change, leave_out=("notes",)))
    for name, rows, undoing in (
        (ALL, change.by_others, change.undoing),
        *((model.name, model.by_others, model.undoing) for model in change.models),
    ):
        found["by_others"] += [{**key, "name": name, **flatten(row)} for row in rows]
        found["undoing"] += [{**key, "name": name, **flatten(row)} for row in undoing]
    found["models"] += [{**key, **flatten(model)} for model in change.models]
    found["flow"] += [
        {
            **key,
            "judged": row.judged,
            "failed_before": row.before,
            "failed_after": row.after,
            "count": row.count,
            "share": row.share,
        }
        for row in change.flow
    ]
    columns = list(dict.fromkeys(column for group in change.groups for column in group.by))
    for group in change.groups:
        row: Row = {**key, **group_columns(group.by, columns), "individuals": group.individuals, "status": group.status}
        if group.systemic_failure is not None:
            row |= flatten(group.systemic_failure, leave_out=("individuals",), prefix="systemic_failure_")
        if group.mean_error is not None:
            row |= flatten(group.mean_error, prefix="mean_error_")
        found["groups"].append(row)
    found["notes"] += [{**key, "note": note} for note in change.notes]
