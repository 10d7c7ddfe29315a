"""The options that say what columns mean: shared by all commands that read outcomes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from polyculture.mapfile import read_map, split_list

__all__ = ["ColumnOptions"]

COLUMNS = Group("What the columns mean", sort_key=1)
FAILURE = Group("What counts as failure", sort_key=2)
OUTPUT = Group("Results", sort_key=3)
OTHER = Group("Other options", sort_key=4)


def option(group: Group, text: str, **more: Any) -> Parameter:
    """Return the description of one option."""
    return Parameter(group=group, help=text, negative="", show_default=False, **more)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Options with the names of the fields of Mapping; None or () where they were not given."""

    map: Annotated[Path | None, option(COLUMNS, "TOML file with these options; the command line wins over it.")] = None
    id: Annotated[str | None, option(COLUMNS, "Column that names the individual.")] = None
    label: Annotated[str | None, option(COLUMNS, "Column of the true label.")] = None
    models: Annotated[
        tuple[str, ...],
        option(COLUMNS, "Columns of the models (with --long: their names) between commas; globs such as 'pred_*'."),
    ] = ()
    by: Annotated[
        tuple[str, ...],
        option(COLUMNS, "Groups between commas: columns, 'age>=40', 'quantiles(income, 4)'. May be repeated."),
    ] = ()
    snapshot: Annotated[str | None, option(COLUMNS, "Column of the date or version, or COLUMN=VALUE for one.")] = None
    weight: Annotated[str | None, option(COLUMNS, "Column of sampling weights.")] = None
    count: Annotated[str | None, option(COLUMNS, "Column of how many individuals a row stands for.")] = None
    cluster: Annotated[str | None, option(COLUMNS, "Column of clusters (speakers, templates, sites).")] = None
    long: Annotated[
        bool | None, option(COLUMNS, "A row is one individual and one model; needs --id, --model and --value.")
    ] = None
    model: Annotated[str | None, option(COLUMNS, "With --long: column of the model's name.")] = None
    value: Annotated[str | None, option(COLUMNS, "With --long: column of what the model said.")] = None
    outcomes: Annotated[
        Literal["failed", "correct", "rated"] | None,
        option(FAILURE, "The model columns are 0/1 already, and 1 is failed or correct; or ratings (for panel only)."),
    ] = None
    failure: Annotated[
        str | None,
        option(
            FAILURE,
            "misclassified, decision=VALUE, false-negative=POSITIVE, false-positive=POSITIVE, 'score<X', 'score>X' "
            "or outside-top=SHARE. Default: misclassified where there is a label.",
        ),
    ] = None
    failed_when: Annotated[
        str | None, option(FAILURE, "Condition over the row, such as 'status=Rejected'; value is the model's column.")
    ] = None
    pending: Annotated[tuple[str, ...], option(FAILURE, "Value that means: not judged yet. May be repeated.")] = ()
    no_answer: Annotated[
        Literal["failed", "missing"] | None, option(FAILURE, "How a model without an answer counts (failed).")
    ] = None
    no_answer_values: Annotated[
        tuple[str, ...], option(FAILURE, "Values between commas that mean: no answer; null is an empty cell.")
    ] = ()
    min_judged: Annotated[
        int | None, option(FAILURE, "Headline figures are over individuals judged by at least so many models (2).")
    ] = None
    positive: Annotated[str | None, option(FAILURE, "Label value called positive in gaps between groups.")] = None
    max_groups: Annotated[int | None, option(COLUMNS, "Most values that a group column may have (1000).")] = None
    options: Annotated[
        str | None,
        option(COLUMNS, "Column of how many answers each item offers, or one number for all; for likeness of answers."),
    ] = None
    probabilities: Annotated[
        str | None,
        option(
            COLUMNS,
            "Pattern of the columns of the models' probabilities on each option, such as '{model}:{option}'; a model "
            "without a column of its own answers with the most probable.",
        ),
    ] = None
    encoding: Annotated[str | None, option(OTHER, "Encoding of text files, such as latin-1; default UTF-8.")] = None

    def mapping(self) -> dict[str, Any]:
        """Return what was given, by field of Mapping; the command line wins over the file of ``--map``."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        file = given.pop("map")
        del given["encoding"]
        for name in ("models", "by", "no_answer_values"):
            given[name] = tuple(one for text in given[name] for one in split_list(text))
        chosen = {name: value for name, value in given.items() if value not in (None, ())}
        return (read_map(file) if file is not None else {}) | chosen
