"""How outcomes were understood, before anything is computed: what ``--dry-run`` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyculture.errors import first_few

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes
    from polyculture.tally import Tally

__all__ = ["GroupShares", "Understanding", "understand", "understand_tally"]

_SHOWN = 10


@dataclass(frozen=True)
class GroupShares:
    """One group column: its number of values, and the shares of rows that lack one or say "unknown"."""

    name: str
    values: int
    missing: float
    unknown: float


@dataclass(frozen=True)
class Understanding:
    """What was understood of a table; ``lines`` says it in words."""

    source: str
    rows: int
    used: int
    left_out: dict[str, int]
    models: tuple[str, ...]
    default_models: bool
    empty_cells: dict[str, int]
    empty_means: str
    answers: dict[str, list[tuple[str, int]]]
    label: str | None
    label_values: tuple[str, ...]
    rule: str
    rule_in_words: str
    no_answer: str
    min_judged: int
    groups: tuple[GroupShares, ...]
    roles: dict[str, str]
    thresholds: dict[str, float]
    index: str | None = None

    def lines(self) -> list[str]:
        """Return it as lines of text, each ``what: value``."""
        found = [
            f"source: {self.source}",
            f"rows in: {self.rows:,}",
            f"rows used: {self.used:,}",
            *(f"left out, {reason}: {count:,}" for reason, count in self.left_out.items()),
            f"models: {len(self.models):,} ({first_few(self.models, limit=10)})"
            + (f", {self._default_words()}" if self.default_models else ""),
            *(f"empty cells of {name!r}: {count:,} ({self.empty_means})" for name, count in self.empty_cells.items()),
        ]
        for name, counted in list(self.answers.items())[:_SHOWN]:
            found.append(f"answers of {name!r}: " + ", ".join(f"{answer!r} {times:,}" for answer, times in counted))
        if len(self.answers) > _SHOWN:
            found.append(f"answers of {len(self.answers) - _SHOWN:,} more models: not shown")
        if self.label is not None:
            values = f" (values {' and '.join(map(repr, self.label_values))})" if self.label_values else ""
            found.append(f"label: {self.label!r}{values}")
        found += [f"{role}: {column!r}" for role, column in self.roles.items()]
        if self.index is not None:
            found.append(f"index of rows: {self.index!r}, the first column, which has no name" + self._use_of_index())
        said = self.rule_in_words in self.rule  # a condition is its own words
        words = "" if said else f", that is: {self.rule_in_words}"
        found.append(f"counts as failure: {self.rule}{words}")
        found += [f"threshold of {name!r}: {edge:g}" for name, edge in self.thresholds.items()]
        found.append(f"no answer counts as: {self.no_answer}")
        found.append(f"headline over individuals judged by at least: {self.min_judged} models")
        for group in self.groups:
            found.append(
                f"group {group.name!r}: {group.values:,} values, {100 * group.missing:.1f} % of rows missing, "
                f"{100 * group.unknown:.1f} % unknown or declined"
            )
        return found

    def _default_words(self) -> str:
        pattern = self.roles.get("probabilities")
        return "every fitting column that is not named otherwise" if pattern is None else "all with probabilities"

    def _use_of_index(self) -> str:
        used = self.index in self.roles.values() or self.index in self.models
        return "" if used else f" (not used; --id {self.index} takes it for the id)"


def understand(outcomes: Outcomes) -> Understanding:
    """Look at outcomes in one cheap pass.

    Parameters
    ----------
    outcomes : Outcomes
        A table and its mapping.

    Returns
    -------
    Understanding
        Rows in, used and left out by reason; models, label, rule, groups.

    Raises
    ------
    InputError
        If the data are not what the mapping says.
    """
    from polyculture.outcomes.answers import answer_counts, refuse_unsaid_value

    survey, mapping = outcomes.survey, outcomes.mapping
    refuse_unsaid_value(outcomes)
    roles = ("id", "model", "value", "snapshot", "weight", "count", "cluster", "options", "probabilities")
    return Understanding(
        source=outcomes.source,
        rows=survey.rows,
        used=survey.used,
        left_out=survey.left_out,
        models=outcomes.models,
        default_models=mapping.models is None and not mapping.long,
        empty_means=_empty_means(outcomes),
        answers=answer_counts(outcomes),
        empty_cells={name: count for name, count in survey.nulls.items() if count},
        label=mapping.label,
        label_values=tuple(str(value) for value in survey.label_values),
        rule=str(outcomes.rule),
        rule_in_words=outcomes.rule.in_words(),
        no_answer=mapping.no_answer,
        min_judged=mapping.min_judged,
        groups=_groups(outcomes),
        roles={role: getattr(mapping, role) for role in roles if getattr(mapping, role) is not None},
        thresholds=outcomes.thresholds,
        index=outcomes.index,
    )


def _empty_means(outcomes: Outcomes) -> str:
    if "null" not in [text.lower() for text in outcomes.mapping.no_answer_values]:
        return "not judged"
    return "no answer, counted as failed" if outcomes.mapping.no_answer == "failed" else "no answer, left out"


def _groups(outcomes: Outcomes) -> tuple[GroupShares, ...]:
    import narwhals as nw

    from polyculture.outcomes.counting import fetch_rows
    from polyculture.outcomes.groups import is_unknown

    found = []
    for group in outcomes.groups:
        edges = outcomes.edges.get(group.name)
        values = outcomes.frame.select(value=group.expr(outcomes.schema, edges))
        counted = fetch_rows(values.group_by("value", drop_null_keys=False).agg(nw.len().alias("rows")))
        shown = [(group.show(row["value"], edges), int(row["rows"])) for row in counted]
        total = max(1, sum(rows for _, rows in shown))
        missing = sum(rows for value, rows in shown if value is None)
        unknown = sum(rows for value, rows in shown if value is not None and is_unknown(value))
        values_known = len({value for value, _ in shown if value is not None})
        found.append(GroupShares(group.name, values_known, missing / total, unknown / total))
    return tuple(found)


def understand_tally(tally: Tally) -> Understanding:
    """Say what a Tally was made of; it holds counts only, so there are no answers to list."""
    from polyculture.outcomes.groups import is_unknown

    profile = tally.profile_table()
    groups = []
    for place, name in enumerate(tally.groups):
        values = [tally.cells[cell][place] for cell in profile.cell.tolist()]
        shown = list(zip(values, profile.count.tolist(), strict=True))
        total = max(1, sum(count for _, count in shown))
        missing = sum(count for value, count in shown if value is None)
        unknown = sum(count for value, count in shown if value is not None and is_unknown(value))
        known = len({value for value in values if value is not None})
        groups.append(GroupShares(name, known, missing / total, unknown / total))
    return Understanding(
        source="a Tally",
        rows=tally.rows_read,
        used=tally.rows_used,
        left_out=tally.left_out,
        models=tally.models,
        default_models=False,
        empty_cells={},
        empty_means="not judged",
        answers={},
        label=None,
        label_values=(),
        rule=tally.failure_rule,
        rule_in_words="",
        no_answer=tally.no_answer_policy,
        min_judged=tally.min_judged,
        groups=tuple(groups),
        roles={},
        thresholds=tally.thresholds,
    )
