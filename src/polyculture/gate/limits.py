"""Limits as people write them: the tables of limits.toml, options of the shell, or dictionaries in Python.

Text to `Limit`; whether a limit holds stands in `run`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from polyculture.errors import FileError, UsageError, nearest
from polyculture.gate.paths import Step, parse
from polyculture.gate.records import Rule

__all__ = ["Limit", "from_options", "from_tables", "read_limits"]

RULES: tuple[Rule, ...] = get_args(Rule)
CHANGES: tuple[Rule, ...] = ("at_most_increase", "at_most_decrease", "at_most_change")
_KEYS = ("field", *RULES, "against", "unless_intervals_overlap", "undefined", "because")
_TOP = ("limit", "against")
_MEND = 'Write, for example:  [[limit]]  field = "systemic_failure.observed.high"  at_most = 0.05'


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Bounds on the numbers that one name leads to.

    Attributes
    ----------
    field : str
        As written.
    steps : tuple of Step
        The same, read.
    bounds : tuple of (rule, bound)
        One or more.
    against : str or None
        The stored result that changes are measured from.
    unless_intervals_overlap : bool
        A change beyond its bound counts only where the two 95 % intervals do not overlap.
    undefined_allowed : bool
        Whether an undefined number counts as broken.
    because : str
        Why the limit is there, in the words of who set it.
    number : int
        Its number among the limits, from 1.
    place, file, line
        Where it is written.
    """

    field: str
    steps: tuple[Step, ...]
    bounds: tuple[tuple[Rule, float], ...]
    against: str | None = None
    unless_intervals_overlap: bool = False
    undefined_allowed: bool = False
    because: str = ""
    number: int
    place: str
    file: str | None = None
    line: int | None = None


def read_limits(path: str | Path, against: str | None = None) -> list[Limit]:
    """Read limits from a TOML file.

    Parameters
    ----------
    path : path-like
        Tables ``[[limit]]``; ``against`` at the top is the stored result of all that name none. Paths in the file
        are from its own folder.
    against : str, optional
        A stored result that takes the place of the one at the top.

    Raises
    ------
    FileError
        If the file cannot be read, or is no TOML.
    UsageError
        If it holds no limits, an unknown key (the nearest is named), or a bound that is no number.
    """
    name = str(path)
    text = _text(Path(path), name)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{name!r} is no TOML: {error}.", hint=_MEND) from None
    for key in content:
        if key not in _TOP:
            hint = nearest(key, [*_TOP, "[[limit]]"]) or f"Limits are tables. {_MEND}"
            raise UsageError(f"{name}: there is no key {key!r} at the top.", hint=hint)
    tables, default = content.get("limit"), content.get("against")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise UsageError(f"{name} holds no limits.", hint=_MEND)
    if default is not None and not isinstance(default, str):
        raise UsageError(f"{name}: against is {default!r}, but must be text.", hint="Name a stored audit.json.")
    folder = Path(path).parent
    shared = against if against is not None else None if default is None else str(folder / default)
    lines = _lines(text, len(tables))
    return [
        _limit(table, number, f"{name}, limit {number}", shared, folder, file=name, line=lines[number - 1])
        for number, table in enumerate(tables, start=1)
    ]


def from_tables(tables: Sequence[Mapping[str, Any]], against: str | None = None) -> list[Limit]:
    """Return limits given as dictionaries with the keys of limits.toml; errors are those of `read_limits`."""
    if isinstance(tables, Mapping):
        tables = [tables]
    if tables is not None and (isinstance(tables, str) or not isinstance(tables, Sequence)):
        raise UsageError(f"{tables!r} is no list of limits.", hint="Give a path, or a list of dictionaries.")
    if not tables:
        raise UsageError("There are no limits.", hint="Give at least one.")
    return [_limit(one, number, f"limit {number}", against, None) for number, one in enumerate(tables, start=1)]


def from_options(given: Mapping[Rule, Sequence[str]], against: str | None, first: int = 1) -> list[Limit]:
    """Return limits given as options, ``FIELD=BOUND`` each.

    Raises
    ------
    UsageError
        If one is no ``FIELD=BOUND``.
    """
    found: list[Limit] = []
    for rule, texts in given.items():
        option = f"--{rule.replace('_', '-')}"
        for text in texts:
            field, equals, bound = text.rpartition("=")
            if not equals or not field:
                raise UsageError(
                    f"{option} {text!r} is no limit.", hint=f"Write {option} systemic_failure.observed.high=0.05"
                )
            try:
                number = float(bound)
            except ValueError:
                raise UsageError(
                    f"{option} {text!r}: the bound is {bound!r}, but must be a number.",
                    hint=f"Write {option} {field}=0.05",
                ) from None
            table = {"field": field.strip(), rule: number}
            found.append(_limit(table, first + len(found), option, against, None))
    return found


def _text(path: Path, name: str) -> str:
    hint = "Name the TOML file with the limits."
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"There is no file {name!r}.", hint=hint) from None
    except IsADirectoryError:
        raise FileError(f"{name!r} is a folder.", hint=hint) from None
    except PermissionError:
        raise FileError(f"{name!r} may not be read.", hint="Change its permissions.") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{name!r} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from None
    except ValueError as error:  # a null character in the path
        raise FileError(f"{name!r} is no path: {error}.", hint=hint) from None


def _lines(text: str, tables: int) -> list[int | None]:
    """Return the line of each ``[[limit]]``; none where they cannot be told (written inline, or in a string)."""
    found = [at for at, line in enumerate(text.splitlines(), start=1) if re.match(r"\s*\[\[\s*limit\s*\]\]", line)]
    return [*found] if len(found) == tables else [None] * tables


def _limit(
    table: Mapping[str, Any],
    number: int,
    place: str,
    against: str | None,
    folder: Path | None,
    *,
    file: str | None = None,
    line: int | None = None,
) -> Limit:
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} is {table!r}, but must be a dictionary.", hint="Give field= and a bound.")
    for key in table:
        if key not in _KEYS:
            hint = nearest(str(key), _KEYS) or f"The keys are: {', '.join(_KEYS)}."
            raise UsageError(f"{place}: there is no key {key!r} in a limit.", hint=hint)
    field = _typed(table, "field", str, "text", place)
    if not field:
        raise UsageError(f"{place} names no field.", hint=_MEND)
    try:
        steps = parse(field)
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}", hint=error.hint) from None
    bounds = tuple((rule, _bound(table[rule], rule, place)) for rule in RULES if rule in table)
    _check_bounds(dict(bounds), place)
    changes = any(rule in CHANGES for rule, _ in bounds)
    stored = _typed(table, "against", str, "text", place)
    if stored and folder is not None:
        stored = str(folder / stored)
    stored = stored or against or ""
    if changes and not stored:
        raise UsageError(
            f"{place} bounds a change, but names no result to measure it from.", hint="Add against (--against FILE)."
        )
    overlap = bool(_typed(table, "unless_intervals_overlap", bool, "true or false", place))
    if not changes and (overlap or "against" in table):
        raise UsageError(
            f"{place} bounds no change, so that nothing is compared.", hint=f"Add one of {', '.join(CHANGES)}."
        )
    said = _typed(table, "undefined", str, "text", place)
    if said not in (None, "allow", "broken"):
        raise UsageError(f"{place}: undefined is {said!r}.", hint='Write undefined = "allow", or leave it out.')
    return Limit(
        field=field,
        steps=steps,
        bounds=bounds,
        against=stored if changes else None,
        unless_intervals_overlap=overlap,
        undefined_allowed=said == "allow",
        because=_typed(table, "because", str, "text", place) or "",
        number=number,
        place=place,
        file=file,
        line=line,
    )


def _typed(table: Mapping[str, Any], key: str, kind: type, words: str, place: str) -> Any:
    value = table.get(key)
    if value is not None and type(value) is not kind:
        raise UsageError(f"{place}: {key} is {value!r}, but must be {words}.", hint="Mend that line.")
    return value


def _bound(value: Any, rule: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{place}: {rule} is {value!r}, but must be a number.", hint=f"Write {rule} = 0.05")
    try:
        bound = float(value)
    except OverflowError:  # a whole number of any size may stand in TOML
        bound = math.inf
    if not math.isfinite(bound):
        raise UsageError(f"{place}: {rule} is {bound}, which bounds nothing.", hint="Give a finite number.")
    return bound


def _check_bounds(bounds: Mapping[str, float], place: str) -> None:
    if not bounds:
        raise UsageError(f"{place} has no bound.", hint=f"Add one of {', '.join(RULES)}.")
    if bounds.get("at_least", -math.inf) > bounds.get("at_most", math.inf):
        raise UsageError(
            f"{place}: at_least {bounds['at_least']:g} is above at_most {bounds['at_most']:g}: no number is within.",
            hint="Exchange them, or drop one.",
        )
    for rule in CHANGES:
        if bounds.get(rule, 0.0) < 0.0:
            other = "at_most_decrease" if rule == "at_most_increase" else "at_most_increase"
            hint = "Give 0 or more." if rule == "at_most_change" else f"Give 0 or more; for the other way, {other}."
            raise UsageError(f"{place}: {rule} is {bounds[rule]:g}, below 0.", hint=hint)
