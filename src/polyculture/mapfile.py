"""The column mapping as text: the TOML of ``--map``, and lists of names as they are written in a shell.

What the names mean stands in `outcomes.mapping`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from polyculture.errors import FileError, UsageError, nearest

__all__ = ["MAPPING_KEYS", "kinds_of", "read_kinds", "read_map", "split_kinds", "split_list"]

# Field of Mapping -> what the TOML may hold for it.
MAPPING_KEYS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "label": (str,),
    "models": (str, list),
    "by": (str, list),
    "snapshot": (str,),
    "weight": (str,),
    "count": (str,),
    "cluster": (str,),
    "long": (bool,),
    "model": (str,),
    "value": (str,),
    "outcomes": (str,),
    "failure": (str,),
    "failed_when": (str,),
    "pending": (str, list),
    "no_answer": (str,),
    "no_answer_values": (str, list),
    "min_judged": (int,),
    "positive": (str,),
    "max_groups": (int,),
    "options": (str, int),
    "probabilities": (str,),
}
_ELSEWHERE = (
    *("encoding", "noun", "seed", "census", "correction", "min_cell", "components"),
    *("json", "html", "tables", "failed_by_all"),
)
_LISTS = ("models", "by", "pending", "no_answer_values")
_WORDS = {str: "text", bool: "true or false", int: "a whole number", list: "a list of texts"}


def split_list(text: str) -> tuple[str, ...]:
    """Split at commas that stand outside quotes, backticks and brackets.

    A part that is quoted as a whole loses its quotes, so that a name may hold a comma.

    Examples
    --------
    >>> split_list("sex,age>=40,quantiles(income, 4)")
    ('sex', 'age>=40', 'quantiles(income, 4)')
    >>> split_list('"Smith, John",race in [a, b]')
    ('Smith, John', 'race in [a, b]')
    """
    return tuple(_unquote(part) for part in _parts(text) if part)


def _parts(text: str) -> Iterator[str]:
    start, depth, quote = 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'`" and character in text[position + 1 :]:
            quote = character  # an apostrophe that never closes is a letter of the name
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth = max(0, depth - 1)
        elif character == "," and not depth:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()


def _unquote(part: str) -> str:
    whole = len(part) >= 2 and part[0] == part[-1] and part[0] in "\"'" and part[0] not in part[1:-1]
    return part[1:-1] if whole else part


def read_map(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a column mapping from a TOML file.

    Parameters
    ----------
    path : path-like
        A file with the words of the shell's long options as keys (``failed-when`` or ``failed_when``),
        at the top or in a table ``[columns]``.

    Returns
    -------
    dict
        Field of Mapping -> value; lists as tuples.

    Raises
    ------
    FileError
        If the file cannot be read or is no TOML.
    UsageError
        If it holds an unknown key (the message names the nearest) or a value of another type.
    """
    where = Path(path)
    return _check(_flatten(_toml(where, "--map", 'label = "true"'), where), where)


def _toml(where: Path, option: str, example: str) -> dict[str, Any]:
    """Return the content of the TOML file of an option."""
    try:
        return tomllib.loads(where.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise FileError(f"There is no file {str(where)!r}.", hint=f"Name the TOML file of {option}.") from None
    except IsADirectoryError:
        raise FileError(f"{str(where)!r} is a folder.", hint=f"Name the TOML file of {option}.") from None
    except PermissionError:
        raise FileError(f"{str(where)!r} may not be read.", hint="Change its permissions.") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{str(where)!r} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{str(where)!r} is no TOML: {error}.", hint=f"Write lines such as: {example}") from None
    except (OSError, ValueError) as error:  # a null character in the name, or a name too long
        what = (getattr(error, "strerror", None) or str(error)).lower()
        hint = f"Name the TOML file of {option}."
        raise FileError(f"{str(where)!r} cannot be read: {what}.", hint=hint) from None


def kinds_of(
    given: Mapping[str, Sequence[str] | str] | str | PathLike[str] | None,
) -> dict[str, tuple[str, ...]] | None:
    """Return kinds of decision-makers from what was given: text holds an equals sign, a path does not."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return _named_kinds(given, "kinds")
    if not isinstance(given, str | PathLike) or not str(given):
        raise UsageError(f"kinds={given!r} names no kinds of decision-makers.", hint=_KINDS_HINT)
    return split_kinds(given) if isinstance(given, str) and "=" in given else read_kinds(given)


def split_kinds(text: str) -> dict[str, tuple[str, ...]]:
    """Read kinds of decision-makers as written in a shell: ``KIND=MODEL,MODEL,KIND=MODEL``.

    Raises
    ------
    UsageError
        If the text does not begin with a kind, or names one twice.

    Examples
    --------
    >>> split_kinds("human=expert_*,model=a,b")
    {'human': ('expert_*',), 'model': ('a', 'b')}
    """
    found: dict[str, list[str]] = {}
    kind = ""
    for part in split_list(text):
        name, equals, first = part.partition("=")
        if equals:
            kind = name.strip()
            if not kind or kind in found:
                what = "has no name" if not kind else "stands there twice"
                raise UsageError(f"--kinds {text!r}: the kind {kind!r} {what}.", hint=_KINDS_HINT)
            found[kind] = [first.strip()] if first.strip() else []
        elif not kind:
            raise UsageError(f"--kinds {text!r}: {part!r} is of no kind.", hint=_KINDS_HINT)
        else:
            found[kind].append(part)
    return {name: tuple(models) for name, models in found.items()}


def read_kinds(path: str | PathLike[str]) -> dict[str, tuple[str, ...]]:
    """Read kinds of decision-makers from a TOML file: ``human = ["expert_1", "expert_2"]`` a line.

    Raises
    ------
    FileError
        If the file cannot be read or is no TOML.
    UsageError
        If a kind is no text and no list of texts.
    """
    where = Path(path)
    content = _toml(where, "--kinds", 'human = ["expert_*"]')
    inner = content.get("kinds")
    return _named_kinds(inner if len(content) == 1 and isinstance(inner, dict) else content, str(where))


def _named_kinds(given: Mapping[Any, Any], where: str) -> dict[str, tuple[str, ...]]:
    """Return kinds with the names of their models; refuse what is no name."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, models in given.items():
        if not isinstance(kind, str) or not kind.strip():
            raise UsageError(f"{where}: the kind {kind!r} has no name.", hint=_KINDS_HINT)
        listed = [models] if isinstance(models, str) else models
        if (
            isinstance(listed, Mapping)
            or not isinstance(listed, Collection)
            or not all(isinstance(one, str) for one in listed)
        ):
            raise UsageError(f"{where}: kind {kind!r} is {models!r}, but must be names.", hint=_KINDS_HINT)
        found[kind] = tuple(listed)
    return found


_KINDS_HINT = "Write --kinds 'human=expert_*,model=a,b', or a TOML file with lines such as: human = [\"expert_*\"]"


def _flatten(content: dict[str, Any], where: Path) -> dict[str, Any]:
    table = content.pop("columns", {})
    if not isinstance(table, dict):
        raise UsageError(f"{where}: columns is not a table.", hint="Write [columns] on a line of its own.")
    twice = sorted(set(content) & set(table))
    if twice:
        raise UsageError(f"{where}: {twice[0]!r} stands both at the top and in [columns].", hint="Keep one of them.")
    return content | table


def _check(content: dict[str, Any], where: Path) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in MAPPING_KEYS:
            known = nearest(name, MAPPING_KEYS) or f"The keys are: {', '.join(MAPPING_KEYS)}."
            hint = f"--{name.replace('_', '-')} stands on the command line." if name in _ELSEWHERE else known
            raise UsageError(f"{where}: there is no key {key!r} in a column mapping.", hint=hint)
        if name in result:
            raise UsageError(f"{where}: {key!r} stands there twice.", hint="Keep one of them.")
        allowed = MAPPING_KEYS[name]
        texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if type(value) not in allowed or (isinstance(value, list) and not texts):
            wanted = " or ".join(_WORDS[one] for one in allowed)
            raise UsageError(f"{where}: {key} is {value!r}, but must be {wanted}.", hint="Mend that line.")
        if name in _LISTS and isinstance(value, str):
            value = split_list(value)  # noqa: PLW2901
        result[name] = tuple(value) if isinstance(value, list) else value
    return result
