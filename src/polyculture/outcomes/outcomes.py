"""Outcomes: a lazy frame and what its columns mean; nothing is computed until a Tally is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
from narwhals.exceptions import NarwhalsError

from polyculture.errors import ColumnError, InputError, UsageError, first_few, nearest
from polyculture.expressions import columns_of, kind_of, parse
from polyculture.failure import FailureRule
from polyculture.outcomes.answers import columns_that_say
from polyculture.outcomes.cells import check_types
from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.groups import Group, parse_group
from polyculture.outcomes.mapping import Mapping
from polyculture.outcomes.models import choose_columns, choose_names
from polyculture.outcomes.pattern_names import is_pattern, refuse_patterns
from polyculture.outcomes.probabilities import Probabilities, find_probabilities
from polyculture.outcomes.survey import Survey, survey_of
from polyculture.outcomes.thresholds import group_edges, top_thresholds

__all__ = ["Outcomes"]

_ROLES = ("id", "label", "weight", "count", "cluster", "model", "value", "options_column")


@dataclass(frozen=True)
class Outcomes:
    """What several models decided about the same individuals, and what counts as failure.

    Parameters
    ----------
    frame : any frame that Narwhals takes, eager or lazy
        A row an individual (wide), or a row an individual and a model (long). NaN is a missing value, as in
        pandas, whatever the engine.
    mapping : Mapping
        What the columns mean.
    source : str
        How messages name the table.
    noun : str
        What the individuals are, in the plural: "individuals", "reviews".
    with_labels : bool
        Whether a Tally keeps which of two labels individuals have, also where no groups are compared.
    index : str, optional
        A column that names rows: it is taken for a model only where ``mapping.models`` names it.
    nan_is_missing : bool
        Whether the frame holds nulls in place of NaN already, as that of other Outcomes does.

    Raises
    ------
    ColumnError, UsageError
        If the mapping does not fit the table.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["f", "m"], "a": [1, 0], "b": [1, 1]})
    >>> Outcomes(table, Mapping(outcomes="failed", by=("sex",))).models
    ('a', 'b')
    """

    frame: nw.LazyFrame[Any]
    mapping: Mapping
    source: str = "the table"
    noun: str = "individuals"
    with_labels: bool = False
    index: str | None = None
    nan_is_missing: bool = field(default=False, repr=False, compare=False)
    schema: dict[str, Any] = field(init=False, repr=False)
    groups: tuple[Group, ...] = field(init=False, repr=False)
    probabilities: Probabilities | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        frame = _lazy(self.frame)
        schema = dict(frame.collect_schema())
        set_field = object.__setattr__
        set_field(self, "schema", schema)
        if not schema:
            raise InputError(f"{self.source} holds no columns.", hint="Check the file.")
        self._check_roles()
        set_field(self, "groups", tuple(parse_group(text, list(schema)) for text in self.mapping.by))
        set_field(self, "probabilities", None)  # until they are looked for, below
        refuse_patterns((name for name in self._taken() if name in schema), self.source)
        frame = _take_snapshot(frame, schema, self.mapping, self.source)
        # A copy under another mapping keeps the very frame, so that two of them are known to be of one table.
        set_field(self, "frame", frame if self.nan_is_missing else _nan_as_missing(frame, schema, self.mapping))
        set_field(self, "nan_is_missing", True)
        self._take_probabilities()
        self._check_kinds()
        self._check_expression()
        self._check_types()

    def _check_roles(self) -> None:
        for role in _ROLES:
            name = getattr(self.mapping, role)
            if name is not None and name not in self.schema:
                raise ColumnError(
                    f"There is no column {name!r} in {self.source} for {role.removesuffix('_column')}.",
                    hint=nearest(name, self.schema) or f"The columns are: {first_few(self.schema, limit=20)}.",
                )
            if (
                role in ("weight", "count", "options_column")
                and name is not None
                and kind_of(self.schema[name]) != "numbers"
            ):
                raise ColumnError(
                    f"The {role.removesuffix('_column')} column {name!r} holds {kind_of(self.schema[name])}.",
                    hint="Cast it to numbers.",
                )

    def _check_kinds(self) -> None:
        """Refuse nested and binary columns where single values are needed."""
        roles = {role: getattr(self.mapping, role) for role in _ROLES}
        named = [*((role, name) for role, name in roles.items() if name is not None)]
        named += [("by", name) for group in self.groups for name in group.sources()]
        for role, name in named:
            dtype = self.schema[name]
            if dtype.is_nested() or dtype in (nw.Binary, nw.Object):
                raise ColumnError(
                    f"The column {name!r} of {self.source}, named for {role}, holds {dtype} values.",
                    hint="Name a column of text, numbers, truth values or dates.",
                )

    def _take_probabilities(self) -> None:
        """Find the columns of probabilities, and answer by them for models that have no column of their own."""
        set_field, pattern, wanted = object.__setattr__, self.mapping.probabilities, self.mapping.models
        if pattern is None:
            return
        found = find_probabilities(pattern, self.schema, self._taken(), wanted, str(self.mapping.label))
        set_field(self, "probabilities", found)
        answers = found.answers(self.schema)
        if answers:
            frame = self.frame.with_columns(**answers)
            set_field(self, "frame", frame)
            set_field(self, "schema", dict(frame.collect_schema()))
        silent = [name for name in self.models if name not in found.columns]
        if silent:
            raise ColumnError(
                f"The model {silent[0]!r} of {self.source} has no columns of probabilities named like {pattern!r}.",
                hint="Leave it out with --models, or drop --probabilities.",
            )

    def _check_expression(self) -> None:
        """Refuse a condition over columns that do not exist before anything is read."""
        if self.mapping.failed_when is None:
            return
        for name in columns_of(parse(self.mapping.failed_when)):
            if name not in self.schema and (self.mapping.long or name != "value"):
                answer = "" if self.mapping.long else " What a model said is called value."
                raise ColumnError(
                    f"--failed-when names {name!r}, which is no column of {self.source}.",
                    hint=(nearest(name, self.schema) or f"The columns are: {first_few(self.schema, limit=20)}.")
                    + answer,
                )

    def _check_types(self) -> None:
        label = self.mapping.label
        known = None if label is None else (label, self.schema[label])
        if self.rule.needs_label and known is not None and kind_of(known[1]) == "nothing but missing values":
            raise ColumnError(f"The label column {label!r} holds nothing but missing values.", hint="Check --label.")
        if self.rule.kind == "when" and self.mapping.long:
            return
        for name in self.value_columns:
            check_types(name, self.schema[name], self.rule, known)

    @cached_property
    def rule(self) -> FailureRule:
        """The failure rule."""
        return self.mapping.rule()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The names of the models; in a long table they are looked up once, sorted."""
        if not self.mapping.long:
            wanted, taken = self.mapping.models, self._taken()
            if self.probabilities is not None:
                wanted = tuple(self.probabilities.columns) if wanted is None else wanted
            entries = (wanted,) if isinstance(wanted, str) else wanted or ()
            if self.index is not None and self.index not in entries:
                taken = (*taken, self.index)
            chosen = choose_columns(wanted, self.schema, taken, self.rule, self.mapping.label)
            refuse_patterns(chosen, self.source)
            if self.mapping.models is None and self.rule.kind == "decision":
                return columns_that_say(self.frame, self.schema, chosen, self.rule.argument)
            return chosen
        column = nw.col(str(self.mapping.model))
        names = fetch_rows(self.frame.select(name=column).drop_nulls().unique().sort("name"))
        shown = [row["name"] for row in names]
        if any(not isinstance(name, str) for name in shown):
            raise ColumnError(
                f"The model column {self.mapping.model!r} holds no text.", hint="Cast it to text, or check --model."
            )
        return choose_names(self.mapping.models, shown)

    @cached_property
    def value_columns(self) -> tuple[str, ...]:
        """The columns that hold what the models said: one a model, or the value column of a long table."""
        if not self.mapping.long:
            return self.models
        return (self.mapping.value,) if self.mapping.value is not None else ()

    @cached_property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """The inner edges of quantile groups, by the group's name."""
        return group_edges(self.frame, self.groups, self.schema)

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The score that each model's top share begins at (outside-top rules only)."""
        if self.rule.kind != "outside-top":
            return {}
        return top_thresholds(self)

    @cached_property
    def survey(self) -> Survey:
        """What one cheap pass found; raises the errors of bad data."""
        return survey_of(self)

    def individuals_failed_by_all(self, min_judged: int | None = None) -> nw.LazyFrame[Any]:
        """List the individuals whom every model that judged them failed: a second pass over the rows.

        Parameters
        ----------
        min_judged : int, optional
            Individuals judged by fewer models are not listed; default the mapping's.

        Returns
        -------
        LazyFrame
            A row an individual: id, groups, label, and what every model said. Not computed yet.
        """
        from polyculture.outcomes.failed_by_all import individuals_failed_by_all

        return individuals_failed_by_all(self, self.mapping.min_judged if min_judged is None else min_judged)

    def _taken(self) -> tuple[str, ...]:
        """Return the columns that are named as something else than a model."""
        named = [getattr(self.mapping, role) for role in _ROLES]
        snapshot = self.mapping.snapshot.partition("=")[0] if self.mapping.snapshot else None
        grouped = [name for group in self.groups for name in group.sources()]
        if self.mapping.failed_when is not None:
            grouped += columns_of(parse(self.mapping.failed_when))
        if self.probabilities is not None:
            grouped += self.probabilities.names
        return tuple(name for name in (*named, snapshot, *grouped) if name is not None)


def _lazy(frame: Any) -> nw.LazyFrame[Any]:
    try:
        wrapped = nw.from_native(frame)
        # Frames without a lazy side of their own (pandas, pyarrow) are computed by Polars.
        lazy: nw.LazyFrame[Any] = wrapped.lazy("polars") if isinstance(wrapped, nw.DataFrame) else wrapped
    except (ValueError, NarwhalsError) as problem:
        raise ColumnError(
            f"The frame cannot be read column by column: {' '.join(str(problem).split())[:200]}",
            hint="Give every column its own name and values of one type.",
        ) from problem
    except TypeError as problem:
        raise UsageError(
            f"A {type(frame).__name__} is no frame.",
            hint="Give a polars, pandas, pyarrow, DuckDB or PySpark frame, or a path to polyculture.read().",
        ) from problem
    return lazy


def _nan_as_missing(frame: nw.LazyFrame[Any], schema: dict[str, Any], mapping: Mapping) -> nw.LazyFrame[Any]:
    """Return the frame with NaN as null, since pandas knows no difference; weights and counts keep theirs, an error."""
    numbers = (mapping.weight, mapping.count)
    floats = [
        name
        for name, dtype in schema.items()
        if dtype in (nw.Float32, nw.Float64) and name not in numbers and not is_pattern(name)
    ]
    return frame.with_columns(nw.col(*floats).fill_nan(None)) if floats else frame


def _take_snapshot(
    frame: nw.LazyFrame[Any], schema: dict[str, Any], mapping: Mapping, source: str
) -> nw.LazyFrame[Any]:
    if mapping.snapshot is None:
        return frame
    name, _, wanted = mapping.snapshot.partition("=")
    if name not in schema:
        raise ColumnError(f"There is no snapshot column {name!r} in {source}.", hint=nearest(name, schema))
    values: Sequence[Any] = [row[name] for row in fetch_rows(frame.select(name).unique().sort(name).head(200))]
    if wanted:
        chosen = [value for value in values if str(value) == wanted]
        if not chosen:
            raise UsageError(
                f"There is no snapshot {wanted!r} in column {name!r}.",
                hint=f"The snapshots are: {first_few(map(str, values))}.",
            )
        return frame.filter(nw.col(name) == chosen[0])
    if len(values) > 1:
        raise UsageError(
            f"Column {name!r} holds {len(values)} snapshots: {first_few(map(str, values))}; one audit is of one.",
            hint=f"Choose one: --snapshot '{name}={values[-1]}'.",
        )
    return frame
