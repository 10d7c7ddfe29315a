"""Probabilities that models give to each option: which columns hold them, and what is answered where nothing else says.

A pattern such as ``{model}:{option}`` names the columns. Checks of what they hold stand in `probability_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import narwhals as nw

from polyculture.errors import ColumnError, UsageError, first_few, nearest
from polyculture.expressions import kind_of
from polyculture.failure import typed_value

__all__ = ["Probabilities", "check_pattern", "find_probabilities"]

_EXAMPLE = "Write a pattern such as '{model}:{option}', which names the columns gpt:A, gpt:B and so on."


@dataclass(frozen=True)
class Probabilities:
    """The columns of probabilities.

    Attributes
    ----------
    options : tuple
        All options as values of the label's type, in their order.
    columns : mapping of str to tuple of str or None
        For each model the column of each option; None where the table has none.
    """

    options: tuple[Any, ...]
    columns: TypeMapping[str, tuple[str | None, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(name for columns in self.columns.values() for name in columns if name is not None)

    def answers(self, schema: TypeMapping[str, Any]) -> dict[str, nw.Expr]:
        """Return for each model without a column of answers its most probable option, the first of equal ones.

        Missing where all of its probabilities are.
        """
        return {model: self._most_probable(model) for model in self.columns if model not in schema}

    def _most_probable(self, model: str) -> nw.Expr:
        places = zip(self.options, self.columns[model], strict=True)
        given = [(option, nw.col(name).cast(nw.Float64)) for option, name in places if name is not None]
        largest = nw.max_horizontal(*[column for _, column in given])
        answer: nw.Expr | None = None
        for option, column in reversed(given):
            found = nw.when(column == largest).then(nw.lit(option))
            answer = found if answer is None else found.otherwise(answer)
        if answer is None:
            raise ValueError(f"{model!r} has no columns")
        return answer


def check_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern of column names as a regular expression with the groups model and option.

    Raises
    ------
    UsageError
        If it does not hold {model} and {option} once each, with something between them.

    Examples
    --------
    >>> check_pattern("{model}:{option}").fullmatch("api:v2:A").groupdict()
    {'model': 'api:v2', 'option': 'A'}
    """
    parts = re.split(r"(\{model\}|\{option\})", pattern)
    if sorted(parts[1::2]) != ["{model}", "{option}"]:
        raise UsageError(f"probabilities={pattern!r} does not hold {{model}} and {{option}} once each.", hint=_EXAMPLE)
    if not parts[2]:
        raise UsageError(f"probabilities={pattern!r} has nothing between {{model}} and {{option}}.", hint=_EXAMPLE)
    groups = {"{model}": "(?P<model>.+)", "{option}": "(?P<option>.+?)"}
    return re.compile("".join(groups.get(part) or re.escape(part) for part in parts), re.DOTALL)


def find_probabilities(
    pattern: str,
    schema: TypeMapping[str, Any],
    taken: Sequence[str],
    wanted: tuple[str, ...] | str | None,
    label: str,
) -> Probabilities:
    """Find the columns that a pattern names.

    Parameters
    ----------
    pattern : str
        Such as ``{model}:{option}``.
    schema : mapping
        The columns and their types.
    taken : sequence of str
        Columns that are something else.
    wanted : tuple of str, str or None
        Names or globs of the models; None for all that the pattern finds.
    label : str
        The column of the true label, whose type the options are read as.

    Raises
    ------
    ColumnError
        If no column has such a name, one holds no numbers, a model has a single option, or an option is
        no value of the label's type.
    """
    every = _by_model(pattern, schema, taken)
    if not every:
        raise ColumnError(
            f"No column is named like {pattern!r}.",
            hint=f"{_EXAMPLE} The columns are: {first_few(schema, limit=20)}.",
        )
    found = _chosen(every, wanted, schema)
    for name in (name for columns in found.values() for name in columns.values()):
        _check_column(name, schema[name])
    for model, columns in found.items():
        if len(columns) < 2:
            raise ColumnError(
                f"The pattern {pattern!r} finds one option only of the model {model!r}: {first_few(columns.values())}.",
                hint="Choose the models with --models, or mend the pattern.",
            )
    texts = dict.fromkeys(option for columns in found.values() for option in columns)
    options = {text: _typed(text, schema[label], label) for text in texts}
    order = sorted(options, key=lambda text: options[text])
    return Probabilities(
        tuple(options[text] for text in order),
        {model: tuple(columns.get(text) for text in order) for model, columns in found.items()},
    )


def _by_model(pattern: str, schema: TypeMapping[str, Any], taken: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return for each model that a pattern finds the column of each option, in the table's order."""
    compiled = check_pattern(pattern)
    found: dict[str, dict[str, str]] = {}
    for name in schema:
        match = None if name in taken else compiled.fullmatch(name)
        if match is not None:
            found.setdefault(match["model"], {})[match["option"]] = name
    return found


def _chosen(
    every: TypeMapping[str, dict[str, str]], wanted: tuple[str, ...] | str | None, schema: TypeMapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return the models asked for; a column without probabilities is no mistake of spelling, and refused later."""
    if wanted is None:
        return dict(every)
    found: dict[str, dict[str, str]] = {}
    for entry in (wanted,) if isinstance(wanted, str) else wanted:
        models = [model for model in every if model == entry or fnmatchcase(model, entry)]
        if not models and entry not in schema:
            raise ColumnError(
                f"There is no model {entry!r} with columns of probabilities.",
                hint=nearest(entry, every) or f"The models are: {first_few(every, limit=20)}.",
            )
        found |= {model: every[model] for model in models}
    return found


def _check_column(name: str, dtype: Any) -> None:
    if kind_of(dtype) not in ("numbers", "nothing but missing values"):
        raise ColumnError(
            f"The column of probabilities {name!r} holds {kind_of(dtype)}, not numbers.",
            hint="Cast it to numbers, choose the models with --models, or mend the pattern.",
        )


def _typed(text: str, dtype: Any, label: str) -> Any:
    try:
        return typed_value(text, dtype, label)
    except ColumnError as problem:
        raise ColumnError(
            f"The option {text!r} of the probabilities is no value of the label {label!r}, "
            f"which holds {kind_of(dtype)}.",
            hint="Name options as the label does, or mend the pattern.",
        ) from problem
