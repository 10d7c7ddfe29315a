"""Which columns (wide) or names (long) are the models."""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import narwhals as nw

from polyculture.errors import ColumnError, UsageError, first_few, nearest
from polyculture.expressions import kind_of
from polyculture.failure import FailureRule

__all__ = ["choose_columns", "choose_names", "lacking"]


def choose_columns(
    wanted: tuple[str, ...] | str | None,
    schema: TypeMapping[str, Any],
    taken: Sequence[str],
    rule: FailureRule,
    label: str | None,
) -> tuple[str, ...]:
    """Return the model columns of a wide table, in the table's order for globs and defaults.

    Raises
    ------
    ColumnError
        If a named column does not exist or nothing fits; the message lists the candidates.
    UsageError
        If a column is named as a model and as something else.
    """
    free = [name for name in schema if name not in taken]
    if wanted is None:
        found = [name for name in free if _fits(schema[name], rule, None if label is None else schema[label])]
        rest = [name for name in free if name not in found]
        if not found:
            raise ColumnError(
                "No column looks like a model's outcomes: "
                + (f"none has the type of the label {label!r}." if rule.needs_label else "none has a fitting type."),
                hint=f"Name them with --models; the columns left are: {first_few(rest, limit=20) or 'none'}.",
            )
        return tuple(found)
    names = _expand(wanted, list(schema), free)
    both = [name for name in names if name in taken]
    if both:
        raise UsageError(
            f"The column {both[0]!r} is named as a model and as something else.", hint="Take it out of one of them."
        )
    return names


def choose_names(wanted: tuple[str, ...] | str | None, found: Sequence[str]) -> tuple[str, ...]:
    """Return the models of a long table: those found, or those of them that were asked for."""
    if not found:
        raise ColumnError("The model column holds no names.", hint="Check --model.")
    return tuple(found) if wanted is None else _expand(wanted, found, found)


def lacking(wanted: tuple[str, ...] | str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names and globs of models that fit nothing of what is known.

    Examples
    --------
    >>> lacking(("gpt-*", "claude", "llama"), ["gpt-3", "llama"])
    ('claude',)
    """
    entries = (wanted,) if isinstance(wanted, str) else wanted or ()
    return tuple(one for one in entries if one not in known and not any(fnmatchcase(name, one) for name in known))


def _expand(wanted: tuple[str, ...] | str, known: Sequence[str], free: Sequence[str]) -> tuple[str, ...]:
    entries = (wanted,) if isinstance(wanted, str) else wanted
    names: list[str] = []
    for entry in entries:
        if entry in known:
            names.append(entry)
            continue
        matched = [name for name in free if fnmatchcase(name, entry)]
        if not matched:
            raise ColumnError(
                f"There is no model {entry!r}.",
                hint=_list_hint(entry, known)
                or nearest(entry, known)
                or f"The candidates are: {first_few(free, limit=20)}.",
            )
        names += matched
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UsageError(f"The model {repeated[0]!r} is named twice.", hint="Name each once.")
    return tuple(names)


def _list_hint(entry: str, known: Sequence[str]) -> str:
    parts = [part.strip() for part in entry.split(",")]
    return f"Give a list: models={parts!r}." if len(parts) > 1 and set(parts) <= set(known) else ""


def _fits(dtype: Any, rule: FailureRule, label: Any) -> bool:
    kind = kind_of(dtype)
    if rule.is_indicator:
        return dtype == nw.Boolean or bool(getattr(dtype, "is_numeric", lambda: False)())
    if rule.needs_scores:
        return kind == "numbers"
    if rule.needs_label:
        return kind == kind_of(label)
    return kind in ("text", "numbers", "truth values")
