"""The small language of ``--failed-when`` and ``--by``: comparisons of columns, and, or, not.

Text becomes a tree, the tree becomes a Narwhals expression. Nothing is evaluated as Python. The left
side of a comparison is a column, the right side a value; a bare word on the right is text.

    status = Rejected and not (score >= 0.5 or `credit purpose` in [car, "new car"])
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from polyculture.errors import ColumnError, UsageError, nearest

__all__ = [
    "Comparison",
    "Expression",
    "Logical",
    "Negation",
    "check_comparable",
    "columns_of",
    "compile",
    "is_any",
    "parse",
]

Value = str | int | float | bool | None
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "not in")


@dataclass(frozen=True)
class Comparison:
    """``column operator value``; ``value`` is a tuple for ``in`` and ``not in``."""

    column: str
    operator: str
    value: Value | tuple[Value, ...]


@dataclass(frozen=True)
class Negation:
    """``not operand``."""

    operand: Expression


@dataclass(frozen=True)
class Logical:
    """``left and right`` or ``left or right``."""

    operator: str
    left: Expression
    right: Expression


Expression = Comparison | Negation | Logical

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<column>`(?:[^`]|``)+`)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<operator><=|>=|!=|<>|==|=|<|>|\(|\)|\[|\]|,|&|\|)
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<word>[^\s<>=!()\[\],&|`"']+)
    )""",
    re.VERBOSE,
)
_DEPTH_LIMIT = 50


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None or match.lastgroup is None:
            raise UsageError(
                f"The expression {text!r} cannot be read at character {position + 1} ({stripped[position:][:20]!r}).",
                hint="Quote text values and put column names with spaces into backticks.",
            )
        yield _Token(match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup))
        position = match.end()


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


class _Parser:
    """Recursive descent: or < and < not < comparison."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.index = 0
        self.depth = 0

    def fail(self, expected: str) -> UsageError:
        found = f"found {self.tokens[self.index].text!r}" if self.index < len(self.tokens) else "the text ends"
        return UsageError(
            f"The expression {self.text!r} cannot be read: expected {expected}, {found}.",
            hint="Write for example: status=Rejected and not (score>=0.5).",
        )

    def peek(self) -> str:
        token = self.tokens[self.index] if self.index < len(self.tokens) else None
        if token is None or token.kind in ("string", "column"):
            return ""
        return token.text.lower()

    def take(self) -> _Token:
        if self.index >= len(self.tokens):
            raise self.fail("more")
        self.index += 1
        return self.tokens[self.index - 1]

    def whole(self) -> Expression:
        result = self.either()
        if self.index < len(self.tokens):
            raise self.fail("'and', 'or' or the end")
        return result

    def either(self) -> Expression:
        left = self.both()
        while self.peek() in ("or", "|"):
            self.take()
            left = Logical("or", left, self.both())
        return left

    def both(self) -> Expression:
        left = self.negation()
        while self.peek() in ("and", "&"):
            self.take()
            left = Logical("and", left, self.negation())
        return left

    def negation(self) -> Expression:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise UsageError(
                f"The expression is nested more than {_DEPTH_LIMIT} deep.",
                hint="Write it with fewer parentheses.",
            )
        try:
            if self.peek() == "not":
                self.take()
                return Negation(self.negation())
            if self.peek() == "(":
                self.take()
                inner = self.either()
                if self.peek() != ")":
                    raise self.fail("')'")
                self.take()
                return inner
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Comparison:
        if self.index >= len(self.tokens):
            raise self.fail("a column name")
        token = self.tokens[self.index]
        if token.kind == "column":
            column = token.text[1:-1].replace("``", "`")
        elif token.kind in ("word", "number"):
            column = token.text
        else:
            raise self.fail("a column name")
        self.take()
        operator = {"==": "=", "<>": "!="}.get(self.peek(), self.peek())
        if operator == "not":
            self.take()
            if self.peek() != "in":
                raise self.fail("'in' after 'not'")
            operator = "not in"
        if operator not in _OPERATORS:
            raise self.fail(f"one of {', '.join(_OPERATORS)} after the column {column!r}")
        self.take()
        if operator in ("in", "not in"):
            return Comparison(column, operator, self.values())
        return Comparison(column, operator, self.value())

    def values(self) -> tuple[Value, ...]:
        if self.peek() != "[":
            raise self.fail("'[' after 'in'")
        self.take()
        found = [self.value()]
        while self.peek() == ",":
            self.take()
            found.append(self.value())
        if self.peek() != "]":
            raise self.fail("',' or ']'")
        self.take()
        return tuple(found)

    def value(self) -> Value:
        if self.index >= len(self.tokens):
            raise self.fail("a value")
        token = self.take()
        if token.kind == "string":
            return _unquote(token.text)
        if token.kind == "number":
            return int(token.text) if re.fullmatch(r"[+-]?\d+", token.text) else float(token.text)
        if token.kind == "word":
            constants: dict[str, Value] = {"true": True, "false": False, "null": None}
            return constants.get(token.text.lower(), token.text)
        self.index -= 1
        raise self.fail("a value")


def parse(text: str) -> Expression:
    """Read an expression.

    Parameters
    ----------
    text : str
        For example ``status=Rejected and score<0.5``.

    Returns
    -------
    Expression
        The tree of comparisons.

    Raises
    ------
    UsageError
        If the text is no expression; the message names the place.

    Examples
    --------
    >>> parse("age >= 40")
    Comparison(column='age', operator='>=', value=40)
    >>> parse("not status in [open, 'on hold']").operand.value
    ('open', 'on hold')
    """
    return _Parser(text).whole()


def columns_of(expression: Expression) -> tuple[str, ...]:
    """Return the names of the columns that an expression reads, each once, in order."""
    if isinstance(expression, Comparison):
        return (expression.column,)
    if isinstance(expression, Negation):
        return columns_of(expression.operand)
    both = columns_of(expression.left) + columns_of(expression.right)
    return tuple(dict.fromkeys(both))


def check_comparable(column: str, dtype: object, value: Value) -> None:
    """Raise a ColumnError where a value cannot be meant for a column: 1 and "1" are never the same.

    Raises
    ------
    ColumnError
        If the type of ``value`` does not fit ``dtype``; the message names the cast.
    """
    if value is None:
        return
    holds = kind_of(dtype)
    given = "truth values" if isinstance(value, bool) else "numbers" if isinstance(value, int | float) else "text"
    if holds == given:
        return
    wanted = {"text": f'write the value in quotes: "{value}"', "numbers": "write a number without quotes"}
    raise ColumnError(
        f"Column {column!r} holds {holds}, but it is compared with {value!r}, which is {given}.",
        hint=f"Types are never converted silently: {wanted.get(holds, 'write true or false')}, or cast the column.",
    )


def kind_of(dtype: object) -> str:
    """Return what a Narwhals type holds, in words: text, numbers, truth values, or the type's name."""
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum) or dtype in (
        nw.String,
        nw.Categorical,
        nw.Enum,
    ):
        return "text"
    if dtype == nw.Boolean:
        return "truth values"
    if hasattr(dtype, "is_numeric") and dtype.is_numeric():
        return "numbers"
    return "nothing but missing values" if dtype == nw.Unknown else f"{dtype} values"


def compile(expression: Expression, columns: Mapping[str, tuple[nw.Expr, object]]) -> nw.Expr:  # noqa: A001
    """Turn an expression into a Narwhals expression; missing values stay missing (three-valued logic).

    Parameters
    ----------
    expression : Expression
        The tree.
    columns : mapping of str to (Expr, dtype)
        What each name stands for, and its type.

    Raises
    ------
    ColumnError
        If a column does not exist (with the nearest name) or holds another type than its value.
    """
    if isinstance(expression, Negation):
        return ~compile(expression.operand, columns)
    if isinstance(expression, Logical):
        left, right = compile(expression.left, columns), compile(expression.right, columns)
        return (left & right) if expression.operator == "and" else (left | right)
    if expression.column not in columns:
        raise ColumnError(
            f"There is no column {expression.column!r}.",
            hint=nearest(expression.column, columns) or f"The columns are: {', '.join(list(columns)[:20])}.",
        )
    column, dtype = columns[expression.column]
    return _compare(expression, column, dtype)


def is_any(column: nw.Expr, values: Sequence[Any]) -> nw.Expr:
    """Return whether a column holds one of some values, missing where it is missing.

    Not ``is_in``, which in Polars refuses whole numbers for a column of floats.
    """
    found: nw.Expr = nw.lit(False) if not values else column == values[0]
    for value in values[1:]:
        found = found | (column == value)
    return found


def _compare(expression: Comparison, column: nw.Expr, dtype: object) -> nw.Expr:
    operator, value = expression.operator, expression.value
    if isinstance(value, tuple):
        for one in value:
            check_comparable(expression.column, dtype, one)
        known = [one for one in value if one is not None]
        inside = is_any(column, known)
        if None in value:
            inside = column.is_null() | inside
        return ~inside if operator == "not in" else inside
    check_comparable(expression.column, dtype, value)
    if value is None:
        if operator not in ("=", "!="):
            raise UsageError("null can only be compared with = or !=.", hint="Write column=null or column!=null.")
        return column.is_null() if operator == "=" else ~column.is_null()
    if operator not in ("=", "!=") and isinstance(value, bool):
        raise UsageError(
            f"{expression.column!r} holds truth values: only = and != apply.", hint="Write =true or =false."
        )
    compared: nw.Expr
    match operator:
        case "=":
            compared = column == value
        case "!=":
            compared = column != value
        case "<":
            compared = column < value
        case "<=":
            compared = column <= value
        case ">":
            compared = column > value
        case _:
            compared = column >= value
    return compared
