"""Column names that Polars reads as patterns of names: ``*`` is every column, ``^...$`` a regular expression.

Such a column may stand in a table, but nothing may be asked of it: other columns would answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from polyculture.errors import ColumnError

__all__ = ["is_pattern", "refuse_patterns"]


def is_pattern(name: str) -> bool:
    """Whether a column name selects other columns where it is used.

    Examples
    --------
    >>> is_pattern("*"), is_pattern("^a.*$"), is_pattern("a*"), is_pattern("^a")
    (True, True, False, False)
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def refuse_patterns(used: Iterable[str], source: str) -> None:
    """Refuse columns that are used and whose names are patterns, on every engine alike.

    Raises
    ------
    ColumnError
        The message names the first.
    """
    for name in used:
        if is_pattern(name):
            raise ColumnError(
                f"The column {name!r} of {source} cannot be used: its name is a pattern that stands for other columns.",
                hint="Give it another name (without ^ and $ at its ends, and not * alone), or name the models "
                "without it (--models).",
            )
