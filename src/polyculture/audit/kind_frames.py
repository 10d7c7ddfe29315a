"""Kinds of decision-makers as tables: plain rows for CSV files and notebooks; see `frames`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten, group_columns, same_columns
from polyculture.audit.words import group_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyculture.audit.kinds_records import KindRecord, KindsRecord

_OUTCOMES = ("systemic_failure", "consistent_success", "homogeneous_outcomes")


def kind_tables(kinds: KindsRecord | None) -> dict[str, list[Row]]:
    """Return kinds, kind_outcomes, kind_profiles, kind_group_outcomes and the comparisons, as far as there are any."""
    if kinds is None:
        return {}
    return {
        "kinds": [
            {"kind": one.name, "models": " | ".join(one.models), **flatten(one, leave_out=_LEFT_OUT)}
            for one in kinds.kinds
        ],
        "kind_outcomes": [row for one in kinds.kinds for row in _outcomes(one)],
        "kind_profiles": [{"kind": one.name, **flatten(row)} for one in kinds.kinds for row in one.profile],
        "kind_group_outcomes": same_columns([row for one in kinds.kinds for row in _group_outcomes(one)]),
        "kind_contrasts": [
            {
                "outcome": one.outcome,
                "kinds": " - ".join(one.kinds),
                "group": _group(one.by),
                **flatten(one, leave_out=("outcome", "kinds", "by")),
            }
            for one in kinds.contrasts
        ],
        "kind_group_differences": [
            {
                "outcome": one.outcome,
                "kind": one.kind,
                "groups_compared": " - ".join(map(_group, one.groups)),
                **flatten(one, leave_out=("outcome", "kind", "groups")),
            }
            for one in kinds.group_differences
        ],
        "kind_differences": [
            {
                "outcome": one.outcome,
                "kinds": " - ".join(one.kinds),
                "groups_compared": " - ".join(map(_group, one.groups)),
                **flatten(one, leave_out=("outcome", "kinds", "groups")),
            }
            for one in kinds.differences
        ],
    }


_LEFT_OUT = ("name", "models", *_OUTCOMES, "group_homogenization")


def _group(by: Mapping[str, str | None]) -> str:
    return group_words(by) or "everyone"


def _outcomes(kind: KindRecord) -> list[Row]:
    return [
        {"kind": kind.name, "outcome": name.replace("_", " "), **flatten(getattr(kind, name))} for name in _OUTCOMES
    ]


def _group_outcomes(kind: KindRecord) -> list[Row]:
    columns = list(dict.fromkeys(column for group in kind.groups for column in group.by))
    return [
        {
            "kind": kind.name,
            **group_columns(group.by, columns),
            "outcome": name.replace("_", " "),
            **flatten(getattr(group, name)),
        }
        for group in kind.groups
        for name in _OUTCOMES
        if getattr(group, name) is not None
    ]
