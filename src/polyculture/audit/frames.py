"""Records as tables: plain rows for CSV files and terminals, polars frames for notebooks.

A Statistic becomes five columns: name, name_low, name_high, name_method, name_reason; in the table of groups
three, without method and reason. Numbers are copied, never computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec import UNSET

from polyculture.audit.records import (
    AuditRecord,
    CollectionRecord,
    ComponentsRecord,
    GroupRecord,
    Outcome,
    Record,
    SlicesRecord,
    Statistic,
    SuspectKeysRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from polyculture.audit.portfolio_choice import PortfolioChoice

Row = dict[str, Any]

_SEPARATOR = " | "
MISSING = "(missing)"
_OUTCOMES = ("systemic_failure", "consistent_success", "homogeneous_outcomes")
_HEADLINE = ("count", "observed", "expected", "difference", "ratio")  # of each outcome, in the table of groups


def flatten(record: Record, *, leave_out: Iterable[str] = (), prefix: str = "") -> Row:
    """Turn one record into one flat row.

    Parameters
    ----------
    record : Record
        Its fields become columns: a Statistic five, a nested record its own with the field's name before
        them, a tuple of names one text, a dictionary one text; tuples of records are left out.
    leave_out : iterable of str
        Fields that get no column.
    prefix : str
        Put before every column's name.

    Returns
    -------
    dict
        Column names and plain values.

    Examples
    --------
    >>> from polyculture.audit.records import Merge
    >>> flatten(Merge(left=0, right=1, height=0.5))
    {'left': 0, 'right': 1, 'height': 0.5}
    """
    skipped = set(leave_out)
    row: Row = {}
    for field in msgspec.structs.fields(record):
        if field.name in skipped or _holds_records(field.type):
            continue
        row.update(_column(prefix + field.name, getattr(record, field.name)))
    return row


def _holds_records(kind: Any) -> bool:
    """Say whether a field is a tuple of records, also where it is empty: they are a table of their own."""
    return any(isinstance(part, type) and issubclass(part, Record) for part in get_args(kind)) and (
        getattr(kind, "__origin__", None) is tuple
    )


def _column(name: str, value: Any) -> Row:
    if isinstance(value, Statistic):
        return statistic_columns(name, value)
    if isinstance(value, Record):
        return flatten(value, prefix=f"{name}_")
    if isinstance(value, tuple):
        return {name: _SEPARATOR.join(str(part) for part in value)}
    if isinstance(value, dict):
        return {name: _SEPARATOR.join(f"{k} = {MISSING if v is None else v}" for k, v in value.items())}
    return {name: None if value is UNSET else value}


def statistic_columns(name: str, statistic: Statistic) -> Row:
    """Spread a Statistic over five columns."""
    return {
        name: statistic.value,
        f"{name}_low": statistic.low,
        f"{name}_high": statistic.high,
        f"{name}_method": None if statistic.method is UNSET else statistic.method,
        f"{name}_reason": None if statistic.reason is UNSET else statistic.reason,
    }


def tables(audit: AuditRecord) -> dict[str, list[Row]]:
    """Return every table of an audit as plain rows.

    Parameters
    ----------
    audit : AuditRecord
        The audit.

    Returns
    -------
    dict of str to list of dict
        The tables that hold something: models, profile, outcomes, patterns, groups (headline figures only),
        group_outcomes, group_contrasts, group_models, group_profiles, group_homogenization, gaps, model_gaps,
        pairs, collection, recourse, near_duplicates, tree, panel, panel_members, suspect_keys, suspect_key_items,
        slices, slice_parents, components, component_summary, component_regression, component_shares,
        component_families, component_what_if, nulls, kinds and their tables, portfolio and its tables,
        judged_too_little, notes.
    """
    from polyculture.audit.kind_frames import kind_tables  # which is made of the functions here

    found: dict[str, list[Row]] = {
        "models": [flatten(model) for model in audit.models],
        "profile": [flatten(row) for row in audit.profile],
        "outcomes": _outcomes(audit),
        "patterns": [flatten(pattern) for pattern in audit.patterns],
        **_group_tables(audit.groups),
        "group_homogenization": _group_homogenization(audit),
        "gaps": [flatten(gap) for gap in audit.gaps],
        "model_gaps": [{"by": _SEPARATOR.join(gap.by), **flatten(model)} for gap in audit.gaps for model in gap.models],
        "pairs": [flatten(pair) for pair in audit.pairs],
        **_collection_tables(audit.collection),
        "panel": [] if audit.panel is None else [flatten(audit.panel)],
        "panel_members": [] if audit.panel is None else [flatten(member) for member in audit.panel.members],
        "suspect_keys": [] if audit.suspect_keys is None else [flatten(audit.suspect_keys)],
        "suspect_key_items": [] if audit.suspect_keys is None else [flatten(i) for i in audit.suspect_keys.items],
        "slices": [] if audit.slices is None else slice_rows(audit.slices),
        "slice_parents": [] if audit.slices is None else _slice_parents(audit.slices),
        **_component_tables(audit.components),
        "nulls": [flatten(null) for null in audit.nulls],
        **kind_tables(audit.kinds),
        **_portfolio_tables(audit.portfolio),
        "judged_too_little": [
            {"judged": judged, "individuals": count} for judged, count in audit.judged_too_little.items()
        ],
        "notes": [{"note": note} for note in audit.notes],
    }
    return {name: rows for name, rows in found.items() if rows}


def _portfolio_tables(choice: PortfolioChoice | None) -> dict[str, list[Row]]:
    from polyculture.audit.portfolio_frames import portfolio_tables  # the same

    if choice is None:
        return {}
    # Its notes are a column of the table ``portfolio``: the table ``notes`` is of the audit.
    return {name: rows for name, rows in portfolio_tables(choice).items() if name != "notes"}


def _collection_tables(collection: CollectionRecord | None) -> dict[str, list[Row]]:
    if collection is None:
        return {}
    return {
        "collection": [flatten(collection)],
        "recourse": [flatten(row) for row in collection.recourse],
        "near_duplicates": [flatten(pair) for pair in collection.near_duplicates],
        "tree": [flatten(merge) for merge in collection.merges],
    }


def slice_rows(found: SlicesRecord) -> list[Row]:
    """Return a row a slice, numbered from 1, with what was searched for."""
    return [
        {"slice": number, "measure": found.measure, **flatten(one)} for number, one in enumerate(found.slices, start=1)
    ]


def _slice_parents(found: SlicesRecord) -> list[Row]:
    return [
        {"slice": number, **flatten(parent)}
        for number, one in enumerate(found.slices, start=1)
        for parent in one.parents
    ]


def _component_tables(found: ComponentsRecord | None) -> dict[str, list[Row]]:
    if found is None:
        return {}
    families = [
        {
            **flatten(family, leave_out=("models", "systemic_failure")),
            "models": _SEPARATOR.join(family.models),
            **flatten(family.systemic_failure),
        }
        for family in found.families
    ]
    shares = [flatten(share) for share in found.shares.shares]
    return {
        "components": [flatten(one) for one in found.components],
        "component_summary": [flatten(found)],
        "component_regression": [flatten(term) for term in found.regression.terms],
        "component_shares": shares,
        "component_families": families,
        "component_what_if": [flatten(one) for one in found.what_if],
    }


def _outcomes(audit: AuditRecord) -> list[Row]:
    named = [
        ("systemic failure", audit.systemic_failure),
        ("consistent success", audit.consistent_success),
        ("homogeneous outcomes", audit.homogeneous_outcomes),
    ]
    rows = [{"outcome": name, "no_answer": audit.provenance.no_answer, **flatten(o)} for name, o in named]
    if audit.no_answer is not None:
        other = flatten(audit.no_answer.systemic_failure)
        rows.append({"outcome": "systemic failure", "no_answer": audit.no_answer.other, **other})
    return rows


def _group_tables(groups: Sequence[GroupRecord]) -> dict[str, list[Row]]:
    columns = list(dict.fromkeys(column for group in groups for column in group.by))
    names = ("groups", "group_outcomes", "group_contrasts", "group_models", "group_profiles")
    found: dict[str, list[Row]] = {name: [] for name in names}
    for group in groups:
        key = group_columns(group.by, columns)
        outcomes = {name: outcome for name in _OUTCOMES if (outcome := getattr(group, name)) is not None}
        found["groups"].append({**key, **_headline_figures(group, outcomes)})
        found["group_outcomes"] += [
            {**key, "outcome": name.replace("_", " "), **flatten(outcome)} for name, outcome in outcomes.items()
        ]
        if group.contrast is not None:
            found["group_contrasts"].append({**key, **flatten(group.contrast)})
        found["group_models"] += [{**key, **flatten(model)} for model in group.models]
        found["group_profiles"] += [{**key, **flatten(row)} for row in group.profile]
    found["groups"] = same_columns(found["groups"])
    return found


def _headline_figures(group: GroupRecord, outcomes: Mapping[str, Outcome]) -> Row:
    """Return a group's number and status, what leads each outcome, and the contrast, without methods and reasons."""
    row: Row = {"individuals": group.individuals, "status": group.status}
    for name, outcome in outcomes.items():
        figures = flatten(outcome)
        row |= {f"{name}_{key}": value for key, value in figures.items() if _leads(key)}
    if group.contrast is not None:
        row |= {
            f"contrast_{key}": value
            for key, value in flatten(group.contrast).items()
            if not key.endswith(("_method", "_reason")) and key != "method"
        }
    return row


def _leads(column: str) -> bool:
    return column.removesuffix("_low").removesuffix("_high") in _HEADLINE


def group_columns(by: Mapping[str, str | None], columns: Iterable[str]) -> Row:
    """Return one column a group column: its value, "(missing)", or None where the group is not about it.

    Examples
    --------
    >>> group_columns({"sex": None}, ["sex", "age"])
    {'by_sex': '(missing)', 'by_age': None}
    """
    return {
        f"by_{column}": (MISSING if by[column] is None else by[column]) if column in by else None for column in columns
    }


def _group_homogenization(audit: AuditRecord) -> list[Row]:
    records = list(audit.group_homogenization_by_column)
    if audit.group_homogenization is not None:
        records.insert(0, audit.group_homogenization)
    return [flatten(record) for record in records]


def same_columns(rows: list[Row]) -> list[Row]:
    """Give every row the columns of all rows, in the order of first sight; None where it had none."""
    columns = dict.fromkeys(column for row in rows for column in row)
    return [{column: row.get(column) for column in columns} for row in rows]


def frame(rows: list[Row]) -> pl.DataFrame:
    """Make a polars frame of plain rows.

    Parameters
    ----------
    rows : list of dict
        Rows of one table of `tables`.

    Returns
    -------
    polars.DataFrame
        One column a key; types from all rows.
    """
    import polars as pl

    return pl.DataFrame(same_columns(rows), infer_schema_length=None)


def suspect_key_frame(found: SuspectKeysRecord) -> pl.DataFrame:
    """Return the suspect keys as a polars frame, with its columns where there are none too."""
    import polars as pl

    text, number, share = pl.String(), pl.Int64(), pl.Float64()
    schema = {"id": text, "label": text, "answer": text, "judged": number, "same": number}
    schema |= {"expected": share, "p_value": share, "p_adjusted": share}
    return pl.DataFrame([flatten(item) for item in found.items], schema=schema)


def frames(audit: AuditRecord) -> dict[str, pl.DataFrame]:
    """Return every table of an audit as a polars frame, named as in `tables`."""
    return {name: frame(rows) for name, rows in tables(audit).items()}
