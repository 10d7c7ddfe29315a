"""A plan as text: reading its TOML, overriding fields from the shell, and the starter of `polyculture lab init`.

What a plan may say stands in ``plan``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints, overload

import msgspec

from polyculture.errors import FileError, UsageError, nearest
from polyculture.lab.levels import Method
from polyculture.lab.plan import Plan

__all__ = ["STARTER", "plan_from", "plan_of", "read_plan", "with_settings"]

P = TypeVar("P", bound=msgspec.Struct)
_LEARNERS = ("learner", "classifier")

STARTER = """\
# A component-sharing experiment: run it with  polyculture lab sharing THIS_FILE --out FOLDER
# Each trial cuts the training rows into blocks and trains every decision-maker once in each arm.

name = "german-credit"
blocks = [2, 4, 8]       # the training rows are cut into so many blocks; more blocks, fewer rows to train on
model_seeds = 3          # trials are all pairs of a model seed
partition_seeds = 5      # and a partition seed
test_share = 0.2         # of the individuals are tested on
split = "trial"          # test individuals: drawn for each "trial", for each "partition" seed, or "fixed"
seed = 0

[data]
source = "german_credit" # or a file (CSV, Parquet, JSON Lines, Arrow), or "module:function" of your own loader
codes = "one-hot"        # how text columns become numbers; or "ordinal"
# id = "person"          # names the individuals; default the number of the row
groups = ["age>=25"]     # group columns, or conditions
# leave_out = ["name"]   # columns that nobody sees

[[task]]                 # one decision-maker a task (or several: copies = 3)
name = "good loan"
label = "credit"         # a column, or a condition over columns as below

[[task]]
name = "large amount"
label = "credit_amount > 2000"

[[learner]]              # any classifier with the interface of scikit-learn; each is run by itself
estimator = "sklearn.linear_model.LogisticRegression"

[[learner]]
name = "tree of depth 3"
estimator = "sklearn.tree.DecisionTreeClassifier"
parameters = { max_depth = 3 }

# A pipeline:
# [[learner]]
# name = "components, then neighbours"
# steps = [{ estimator = "sklearn.decomposition.PCA", parameters = { n_components = 5 } },
#          { estimator = "sklearn.neighbors.KNeighborsClassifier" }]

# A pretrained model, adapted by a linear probe (or scratch, finetune, bitfit, lora); for texts also data.text:
# [[backbone]]
# model = "FOLDER"
# [[learner]]
# adapt = "probe"
# parameters = { epochs = 10 }

[[preprocessing]]
name = "standard"
steps = [{ estimator = "sklearn.preprocessing.StandardScaler" }]

[share]                  # the arms are all combinations of these levels
rows = ["fixed", "disjoint", 0.5]  # same block; a block each; half of the rows in common
# features = ["shared", "own"]     # so too: preprocessing, learner, seed, backbone
"""


@overload
def read_plan(path: str | PathLike[str], settings: Iterable[str] = ()) -> Plan: ...
@overload
def read_plan(path: str | PathLike[str], settings: Iterable[str], kind: type[P]) -> P: ...
def read_plan(path: str | PathLike[str], settings: Iterable[str] = (), kind: Any = Plan) -> Any:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : path-like
        The file.
    settings : iterable of str
        ``KEY=VALUE`` of `with_settings`, applied before the plan is checked.
    kind : type
        What it is a plan of: the struct to be made.

    Raises
    ------
    FileError
        If the file cannot be read or is no TOML.
    UsageError
        If it holds an unknown key (the message names the nearest), or the plan does not fit together.
    """
    where = Path(path)
    try:
        content = tomllib.loads(where.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise FileError(
            f"There is no plan {str(where)!r}.", hint="Make one to start from: polyculture lab init plan.toml"
        ) from None
    except UnicodeDecodeError as error:
        raise FileError(f"{str(where)!r} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{str(where)!r} is no TOML: {error}.", hint="Mend that line.") from None
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise FileError(f"{str(where)!r} cannot be read: {what}.", hint="Name the TOML file of a plan.") from None
    return plan_from(with_settings(content, settings), str(where), kind)


@overload
def plan_from(content: Mapping[str, Any], where: str = "the plan") -> Plan: ...
@overload
def plan_from(content: Mapping[str, Any], where: str, kind: type[P]) -> P: ...
def plan_from(content: Mapping[str, Any], where: str = "the plan", kind: Any = Plan) -> Any:
    """Return the plan that a table (of TOML, JSON or Python) describes.

    Raises
    ------
    UsageError
        As `read_plan`.
    """
    _check_keys(content, kind, where, "")
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {_in_words(str(error))}.", hint=_mend(str(error), kind)) from None


def plan_of(given: P | str | PathLike[str] | Mapping[str, Any], settings: Iterable[str], kind: type[P]) -> P:
    """Return the plan that a caller gave as one, as the path of a TOML file or as a table, with fields overridden.

    Raises
    ------
    FileError, UsageError
        As `read_plan`.
    """
    if isinstance(given, str | PathLike):
        return read_plan(given, settings, kind)
    content: Any = msgspec.to_builtins(given) if isinstance(given, kind) else given
    return plan_from(with_settings(content, settings), "the plan", kind)


def with_settings(content: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Return the table of a plan with fields overridden from the shell.

    Parameters
    ----------
    content : mapping
        The table.
    settings : iterable of str
        ``KEY=VALUE``: a field, with dots for tables inside (``data.codes=ordinal``); the value as in TOML, text also
        without quotes. ``learner=PATH,PATH`` (import paths, or ways to adapt such as ``probe``; or a list of TOML)
        replaces all learners, ``learner.NAME=VALUE`` sets a parameter of each; so too ``classifier`` of a loop;
        ``backbone=FOLDER,FOLDER`` and ``backbone.KEY=VALUE`` pretrained models.

    Raises
    ------
    UsageError
        If a setting has no ``=``, or names a field that cannot be set so.

    Examples
    --------
    >>> with_settings({"blocks": [2]}, ["blocks=[3, 4]", "data.source=mine.csv", "learner=sklearn.svm.SVC"])
    {'blocks': [3, 4], 'data': {'source': 'mine.csv'}, 'learner': [{'estimator': 'sklearn.svm.SVC'}]}
    """
    found = deepcopy(dict(content))
    for setting in settings:
        key, sign, text = setting.partition("=")
        names = key.strip().split(".")
        if not sign or not all(names):
            raise UsageError(f"--set {setting!r} is no KEY=VALUE.", hint="Write for example --set model_seeds=2.")
        if names[0] in _LEARNERS:
            _set_learner(found, names[0], names[1:], text.strip(), setting)
            continue
        if names[0] == "backbone":
            _set_backbone(found, names[1:], text.strip(), setting)
            continue
        table = found
        for name in names[:-1]:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise UsageError(
                    f"--set {setting!r}: {name!r} holds several tables.", hint="Change it in the plan's file."
                )
        table[names[-1]] = _value(text.strip())
    return found


def _set_learner(content: dict[str, Any], key: str, names: list[str], text: str, setting: str) -> None:
    if not names:
        content[key] = [_learner(one, key) for one in _several(text)]
        return
    learners = content.get(key, [])
    if len(names) > 1 or not isinstance(learners, list) or any("steps" in one for one in learners):
        raise UsageError(f"--set {setting!r} is no parameter of an estimator.", hint="Change it in the plan's file.")
    for one in learners:
        one.setdefault("parameters", {})[names[0]] = _value(text)


def _learner(given: Any, key: str) -> Any:
    """Return the table of a learner that is named by its import path, or by a way to adapt a pretrained model."""
    if not isinstance(given, str):
        return given
    return {"adapt": given} if key == "learner" and given in get_args(Method) else {"estimator": given}


def _several(text: str) -> list[Any]:
    """Return what stands between commas, or in a list of TOML."""
    value = _value(text)
    if isinstance(value, str):
        return [one.strip() for one in value.split(",") if one.strip()]
    return value if isinstance(value, list) else [value]


def _set_backbone(content: dict[str, Any], names: list[str], text: str, setting: str) -> None:
    if not names:
        content["backbone"] = [one if isinstance(one, dict) else {"model": one} for one in _several(text)]
        return
    backbones = content.get("backbone", [])
    if len(names) > 1 or not isinstance(backbones, list):
        raise UsageError(f"--set {setting!r} is no key of a backbone.", hint="Change it in the plan's file.")
    for one in backbones:
        one[names[0]] = _value(text)


def _value(text: str) -> Any:
    """Return a TOML value; what is none is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def _check_keys(content: Any, kind: Any, where: str, place: str) -> None:
    """Refuse unknown keys at any depth, naming the nearest; what is of a wrong type is left to the conversion."""
    if isinstance(content, list | tuple):
        for number, one in enumerate(content, start=1):
            _check_keys(one, kind, where, f"{place} {number}")
        return
    if not isinstance(content, Mapping):
        return
    kind = _tagged(content, kind, where, place)
    if not hasattr(kind, "__struct_fields__"):
        return
    fields = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    if kind.__struct_config__.tag is not None:
        fields["kind"] = "kind"
    hints = get_type_hints(kind)
    for key, value in content.items():
        if key not in fields:
            hint = nearest(str(key), fields) or f"The keys are: {', '.join(fields)}."
            raise UsageError(f"{where}: there is no key {key!r} in {place or 'a plan'}.", hint=hint)
        hinted = hints.get(fields[key], str)
        meant = next((one for one in get_args(hinted) if hasattr(one, "__struct_fields__")), None)
        _check_keys(value, meant or next(iter(get_args(hinted)), hinted), where, f"{place} {key}".strip())


def _tagged(content: Mapping[str, Any], kind: Any, where: str, place: str) -> Any:
    """Return the struct that a table means where it says its kind; the kind itself where there is no choice."""
    kinds = {one.__struct_config__.tag: one for one in get_args(kind) if hasattr(one, "__struct_config__")}
    if not kinds or None in kinds:
        return kind
    chosen = content.get("kind")
    if chosen not in kinds:
        known = ", ".join(sorted(kinds))
        raise UsageError(
            f"{where}: {place} needs a kind." if chosen is None else f"{where}: {place} has no kind {chosen!r}.",
            hint=nearest(str(chosen), kinds) or f"The kinds are: {known}.",
        )
    return kinds[chosen]


def _mend(message: str, kind: Any) -> str:
    """Return what to write instead of a value that is none of a few: the nearest of them, or all."""
    found = re.fullmatch(r"Invalid enum value '(.*)' - at `\$\.(.*)`", message, flags=re.DOTALL)
    choices = _choices(kind, re.sub(r"\[[^]]*\]", "", found[2]).split(".")) if found else []
    if found is None or not choices:
        return "Mend that entry."
    return nearest(found[1], choices) or f"Write one of: {', '.join(choices)}."


def _choices(kind: Any, names: Sequence[str]) -> list[str]:
    """Return the words that a field may hold, by its place in a struct."""
    if not names:
        return [str(word) for one in _within(kind) if get_origin(one) is Literal for word in get_args(one)]
    found: list[str] = []
    for struct in (one for one in _within(kind) if hasattr(one, "__struct_fields__")):
        fields = dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
        if names[0] in fields:
            found += _choices(get_type_hints(struct)[fields[names[0]]], names[1:])
    return list(dict.fromkeys(found))


def _within(kind: Any) -> Iterator[Any]:
    """Yield a type and all that it is made of."""
    yield kind
    for one in get_args(kind):
        yield from _within(one)


def _in_words(message: str) -> str:
    """Return what msgspec says of a wrong value, its place first."""
    said, _, place = message.partition(" - at ")
    said = said.replace("Expected", "expected").replace("Object missing", "there is no").replace("`", "'")
    said = said.replace("required field ", "").replace("array", "list").replace("object", "table")
    return f"{place.strip('`').removeprefix('$.')}: {said}" if place.strip("`$") else said
