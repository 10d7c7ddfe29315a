"""Failure rules: what a model must have said about an individual to have failed them.

A rule turns the value that a model gave (and the individual's label) into two truth values: judged
(the rule applies to this individual) and failed. Missing values, pending and unanswered cells are
handled before a rule is asked, in ``outcomes``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import narwhals as nw

from polyculture import expressions
from polyculture.errors import ColumnError, UsageError, nearest

__all__ = ["FailureRule", "parse_rule"]

_KINDS = (
    "misclassified",
    "decision=VALUE",
    "false-negative=POSITIVE",
    "false-positive=POSITIVE",
    "score<X",
    "score>X",
    "outside-top=Q",
    "failed",
    "correct",
)


@dataclass(frozen=True)
class FailureRule:
    """One failure rule.

    Parameters
    ----------
    kind : str
        "misclassified", "decision", "false-negative", "false-positive", "score<", "score>",
        "outside-top", "failed" (the column says 1 = failed), "correct" (1 = right), "rated" (ratings without
        gold labels, of which none is a failure) or "when".
    argument : str
        What stands behind the sign: the value, the threshold, or the expression.
    """

    kind: str
    argument: str = ""

    @property
    def needs_label(self) -> bool:
        """Whether the rule compares with the individual's label."""
        return self.kind in ("misclassified", "false-negative", "false-positive")

    @property
    def needs_scores(self) -> bool:
        """Whether the models' values must be numbers."""
        return self.kind in ("score<", "score>", "outside-top")

    @property
    def is_indicator(self) -> bool:
        """Whether the models' values are 0/1 outcomes already."""
        return self.kind in ("failed", "correct")

    def __str__(self) -> str:
        if self.kind == "when":
            return f"failed when {self.argument}"
        if self.kind in ("score<", "score>"):
            return f"{self.kind}{self.argument}"
        return f"{self.kind}={self.argument}" if self.argument else self.kind

    def in_words(self) -> str:
        """Say the rule as a sentence about an individual."""
        sentences = {
            "misclassified": "the model's answer differs from the label",
            "decision": f"the model decided {self.argument!r}",
            "false-negative": f"the label is {self.argument!r} and the model said otherwise",
            "false-positive": f"the label is not {self.argument!r} and the model said {self.argument!r}",
            "score<": f"the model's score is below {self.argument}",
            "score>": f"the model's score is above {self.argument}",
            "outside-top": f"the model's score is outside its top share of {self.argument}",
            "failed": "the outcome column is 1",
            "correct": "the outcome column is 0",
            "rated": "nothing: these are ratings without gold labels",
            "when": self.argument,
        }
        return sentences[self.kind]

    def number(self) -> float:
        """Return the threshold or share of a rule over scores."""
        return float(self.argument)

    def states(
        self,
        value: nw.Expr,
        dtype: object,
        *,
        label: nw.Expr | None = None,
        label_dtype: object = None,
        threshold: nw.Expr | None = None,
        columns: Mapping[str, tuple[nw.Expr, object]] | None = None,
    ) -> tuple[nw.Expr | None, nw.Expr]:
        """Return (judged, failed) as Narwhals expressions; judged None means always.

        Parameters
        ----------
        value, label : Expr
            What the model said, and the truth.
        dtype, label_dtype : DType
            Their types.
        threshold : Expr, optional
            The model's resolved threshold for "outside-top".
        columns : mapping, optional
            The row's columns, for "when".
        """
        match self.kind:
            case "rated":
                raise UsageError(
                    "Ratings without gold labels have no failures.",
                    hint="Ask polyculture panel, or name the label (--label COLUMN).",
                )
            case "failed":
                return None, value if dtype == nw.Boolean else value == 1
            case "correct":
                return None, ~value if dtype == nw.Boolean else value == 0
            case "decision":
                return None, value == typed_value(self.argument, dtype, "the models' columns")
            case "score<":
                return None, value < self.number()
            case "score>":
                return None, value > self.number()
            case "outside-top":
                if threshold is None:
                    raise UsageError("outside-top needs its thresholds.", hint="Make the Tally from Outcomes.")
                return None, value < threshold
            case "when":
                return None, expressions.compile(expressions.parse(self.argument), columns or {})
        if label is None:
            raise UsageError(f"The failure rule {self} needs a label.", hint="Name its column with --label.")
        if self.kind == "misclassified":
            return None, value != label
        positive = typed_value(self.argument, label_dtype, "the label")
        if self.kind == "false-negative":
            return label == positive, value != label
        return label != positive, value == positive


_NAN = "NaN is a missing value, that is an empty cell: --no-answer-values null says what empty cells mean."


def typed_value(text: str, dtype: object, where: str) -> str | float | int | bool:
    """Read the VALUE of a rule as the type of the column that it is compared with.

    Raises
    ------
    ColumnError
        If the text is no value of that type.
    """
    kind = expressions.kind_of(dtype)
    if kind == "text":
        return text
    if kind == "truth values" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "numbers":
        try:
            number = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
        except ValueError:
            pass
        else:
            if math.isnan(number):
                raise ColumnError(f"{text!r} cannot be looked for in {where}.", hint=_NAN)
            return number
    raise ColumnError(
        f"The value {text!r} of the failure rule cannot be compared with {where}, which hold {kind}.",
        hint="Give a value of that type, or cast the column.",
    )


def parse_rule(text: str) -> FailureRule:
    """Read a failure rule as written in the shell.

    Parameters
    ----------
    text : str
        One of misclassified, decision=VALUE, false-negative=POSITIVE, false-positive=POSITIVE,
        score<X, score>X, outside-top=Q, failed, correct.

    Raises
    ------
    UsageError
        If the text is no rule; the message lists the rules and the nearest.

    Examples
    --------
    >>> parse_rule("decision=reject")
    FailureRule(kind='decision', argument='reject')
    >>> parse_rule("score<0.5").number()
    0.5
    """
    rule = text.strip()
    score = re.fullmatch(r"score\s*([<>])\s*(.+)", rule)
    if score is not None:
        return FailureRule(f"score{score.group(1)}", _number(score.group(2), rule))
    name, sign, argument = (part.strip() for part in rule.partition("="))
    if name in ("misclassified", "failed", "correct") and not sign:
        return FailureRule(name)
    if name in ("decision", "false-negative", "false-positive") and argument:
        return FailureRule(name, argument)
    if name == "outside-top" and argument:
        share = float(_number(argument, rule))
        if not 0 < share < 1:
            raise UsageError(
                f"outside-top={argument}: the share must lie between 0 and 1.", hint="Write outside-top=0.1."
            )
        return FailureRule(name, argument)
    raise UsageError(
        f"There is no failure rule {text!r}. The rules are: {', '.join(_KINDS)}.",
        hint=nearest(rule, _KINDS) or "For a condition over columns use --failed-when.",
    )


def _number(text: str, rule: str) -> str:
    try:
        float(text)
    except ValueError:
        raise UsageError(f"{text!r} in the failure rule {rule!r} is not a number.", hint="Write score<0.5.") from None
    return text


def known_rule(text: str) -> FailureRule | None:
    """Return the rule that a result names; None where it is a condition, which says itself what it means."""
    try:
        return parse_rule(text)
    except UsageError:
        return None
