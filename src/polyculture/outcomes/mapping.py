"""What the columns of a table mean: the same words as the options of the shell and the keys of ``--map``."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture import expressions
from polyculture.errors import UsageError
from polyculture.failure import FailureRule, parse_rule
from polyculture.outcomes.probabilities import check_pattern

__all__ = ["Mapping"]

_NO_ANSWER = ("failed", "missing")
_OUTCOMES = ("failed", "correct", "rated")


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """What the columns mean and what counts as failure.

    Parameters
    ----------
    id : str, optional
        Column that names the individual; needed for long tables, checked for repeats in wide ones.
    label : str, optional
        Column of the true label.
    models : tuple of str or str, optional
        Columns (wide) or names (long) of the models; a string is a glob such as ``pred_*``. Default: all
        columns not named otherwise that have the label's type, or that hold the VALUE of decision=VALUE.
    by : tuple of str
        Group columns, or expressions over one: ``age>=40``, ``quantiles(age, 4)``.
    snapshot : str, optional
        Column of the date or version, or ``COLUMN=VALUE`` to take one of several.
    weight, count, cluster : str, optional
        Columns of sampling weights, of numbers of individuals that a row stands for, and of clusters.
    long : bool
        A row is an individual and a model; then ``model`` and ``value`` name those columns.
    outcomes : {"failed", "correct", "rated"}, optional
        The model columns are 0/1 outcomes already, or ratings without gold labels (for `panel` only).
    failure : str, optional
        A failure rule; default "misclassified" where there is a label.
    failed_when : str, optional
        An expression over the row; in wide tables ``value`` stands for the model's column.
    pending : tuple
        Values that mean "not judged yet".
    no_answer : {"failed", "missing"}
        How a cell without an answer counts.
    no_answer_values : tuple
        Values that mean "no answer" (for example ``error``); ``null`` stands for an empty cell. An empty cell
        means "not judged" otherwise, in wide and long tables alike, as does a row that a long table lacks. NaN
        is an empty cell, whatever the engine: pandas knows no difference.
    min_judged : int
        Headline measures are over individuals judged by at least so many models.
    positive : str, optional
        The label value called positive in group gaps; default the larger of two.
    max_groups : int
        The largest number of values that a group column may have.
    options : str or int, optional
        How many answers can be given: a number, or the column that holds each item's. Default: the number of
        different labels and answers. Two wrong answers are the same by a chance of 1 / (options - 1).
    probabilities : str, optional
        Pattern of the columns in which models give each option a probability, such as ``{model}:{option}``. A
        missing one says that the item has no such option. A model without a column of its own answers with its
        most probable option; of equal ones with the first in the order of their names (or numbers).

    Raises
    ------
    UsageError
        If two options exclude each other or a value is none of those allowed.
    """

    id: str | None = None
    label: str | None = None
    models: tuple[str, ...] | str | None = None
    by: tuple[str, ...] = ()
    snapshot: str | None = None
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
    long: bool = False
    model: str | None = None
    value: str | None = None
    outcomes: str | None = None
    failure: str | None = None
    failed_when: str | None = None
    pending: tuple[str, ...] = ()
    no_answer: str = "failed"
    no_answer_values: tuple[str, ...] = ()
    min_judged: int = 2
    positive: str | None = None
    max_groups: int = 1000
    options: str | int | None = None
    probabilities: str | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        if isinstance(self.by, str):
            raise UsageError(f"by={self.by!r} is one text.", hint="Give a list: by=[...].")
        for field in ("by", "pending", "no_answer_values"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if isinstance(self.models, list):
            object.__setattr__(self, "models", tuple(self.models))
        self._check_choices()
        self._check_long()
        self.rule()
        self._check_options()
        self._check_probabilities()

    @property
    def options_column(self) -> str | None:
        """The column of each item's number of options; None where the number is one for all, or not said."""
        return self.options if isinstance(self.options, str) else None

    def _check_kinds(self) -> None:
        """Refuse values of another type, which a typed caller cannot give but a notebook can."""
        for name, entry in type(self).__dataclass_fields__.items():
            value, kind = getattr(self, name), str(entry.type)
            if kind.startswith("bool"):
                fine, wanted = isinstance(value, bool), "true or false"
            elif kind.startswith("int"):
                fine, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
            else:
                several = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
                alone = "str" in kind.replace("tuple[str, ...]", "")
                fine = several if "tuple" in kind and not alone else isinstance(value, str | None) or several
                fine = fine or ("int" in kind and isinstance(value, int) and not isinstance(value, bool))
                wanted = "a text" if "tuple" not in kind else "a list of texts"
            if not fine and not (name in ("by", "pending", "no_answer_values") and isinstance(value, str)):
                raise UsageError(f"{name}={value!r} is not {wanted}.", hint=f"Give {wanted}.")

    def _check_choices(self) -> None:
        if self.no_answer not in _NO_ANSWER:
            raise UsageError(f"no_answer={self.no_answer!r} is not known.", hint="Choose failed or missing.")
        if self.outcomes is not None and self.outcomes not in _OUTCOMES:
            raise UsageError(f"outcomes={self.outcomes!r} is not known.", hint="Choose failed, correct or rated.")
        given = [name for name in ("outcomes", "failure", "failed_when") if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(
                f"{' and '.join(given)} both say what counts as failure.", hint="Keep one of them and drop the others."
            )
        if self.min_judged < 1:
            raise UsageError(f"min_judged={self.min_judged} is too small.", hint="Give 1 or more.")
        if self.max_groups < 1:
            raise UsageError(f"max_groups={self.max_groups} is too small.", hint="Give 1 or more.")
        if self.count is not None and self.weight is not None:
            raise UsageError("count and weight exclude each other.", hint="Multiply them beforehand, or name one.")
        if len(set(self.by)) < len(self.by):
            raise UsageError("A group column is named twice in by.", hint="Name each once.")

    def _check_options(self) -> None:
        if self.options is None:
            return
        if isinstance(self.options, str) and self.options.strip().isdecimal():
            object.__setattr__(self, "options", int(self.options))
        if isinstance(self.options, int) and self.options < 2:
            raise UsageError(f"options={self.options} is too small.", hint="Give 2 or more, or a column.")
        if self.rule().kind != "misclassified":
            raise UsageError(
                f"options are about answers that are compared with a label; the failure rule is {self.rule()}.",
                hint="Name the label (--label COLUMN) of columns that hold answers, or drop --options.",
            )

    def _check_probabilities(self) -> None:
        if self.probabilities is None:
            return
        check_pattern(self.probabilities)
        if self.long:
            raise UsageError(
                "Columns of probabilities belong to wide tables: long and probabilities exclude each other.",
                hint="Bring the table to a row an item, with a column for each model and option.",
            )
        if self.options is not None:
            raise UsageError("options and probabilities both say which answers an item offers.", hint="Drop --options.")
        if self.rule().kind != "misclassified":
            raise UsageError(
                f"probabilities are about options of which a label names the right one; the failure rule is "
                f"{self.rule()}.",
                hint="Name the label (--label COLUMN), or drop --probabilities.",
            )

    def _check_long(self) -> None:
        if self.long and self.count is not None:
            raise UsageError("A table of counts is wide: long and count exclude each other.", hint="Drop one of them.")
        if not self.long and (self.model is not None or self.value is not None):
            raise UsageError("model and value belong to long tables.", hint="Add --long (long=True).")
        missing = [name for name in ("id", "model") if getattr(self, name) is None]
        if self.long and self.value is None and self.failed_when is None:
            missing.append("value")
        if self.long and missing:
            raise UsageError(
                f"A long table needs the columns of id, model and value; not named: {', '.join(missing)}.",
                hint="Name them with " + " ".join(f"--{name} COLUMN" for name in missing) + ".",
            )

    def rule(self) -> FailureRule:
        """Return the failure rule that follows from outcomes, failure, failed_when and label.

        Raises
        ------
        UsageError
            If nothing says what counts as failure.
        """
        if self.outcomes is not None:
            return FailureRule(self.outcomes)
        if self.failed_when is not None:
            expressions.parse(self.failed_when)
            return FailureRule("when", self.failed_when)
        if self.failure is not None:
            rule = parse_rule(self.failure)
            if rule.needs_label and self.label is None:
                raise UsageError(f"The failure rule {rule} needs a label.", hint="Name its column with --label.")
            return rule
        if self.label is not None:
            return FailureRule("misclassified")
        raise UsageError(
            "Nothing says what counts as failure.",
            hint="Name the label (--label COLUMN), a rule (--failure decision=reject), an expression (--failed-when), "
            "or say that the columns are 0/1 outcomes (--outcomes failed).",
        )
