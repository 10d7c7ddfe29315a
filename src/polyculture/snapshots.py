"""Which snapshots a comparison is of: two sources, one table with a snapshot column, or versions side by side.

Opens sources and matches models; what changed is counted and said further down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.api import Progress, SourcedOutcomes, opened_table, read
from polyculture.errors import ColumnError, InputError, UsageError, first_few, nearest
from polyculture.outcomes import Mapping, Outcomes
from polyculture.outcomes.counting import fetch_rows
from polyculture.outcomes.groups import parse_group
from polyculture.outcomes.models import lacking
from polyculture.results import collecting
from polyculture.saved import saved_tallies, source_paths
from polyculture.tally.snapshots import MOST_SNAPSHOTS

if TYPE_CHECKING:
    from polyculture.readers import Table

__all__ = ["Snapshot", "match_of", "matched_models", "snapshots_of"]


@dataclass(frozen=True)
class Snapshot:
    """One snapshot: how it is named, its outcomes over the models that it has, and what a reader should know."""

    name: str
    outcomes: Outcomes
    notes: tuple[str, ...] = ()


def match_of(match: Any) -> dict[str, str]:
    """Read ``--match``: a mapping of old names to new ones, or texts ``OLD=NEW``.

    Raises
    ------
    UsageError
        If an entry is no pair, or a name stands twice.

    Examples
    --------
    >>> match_of(["gpt-4-0314=gpt-4-0613"])
    {'gpt-4-0314': 'gpt-4-0613'}
    """
    if hasattr(match, "items"):
        pairs = [(str(old), str(new)) for old, new in match.items()]
    else:
        entries = [match] if isinstance(match, str) else list(match)
        pairs = []
        for entry in entries:
            old, sign, new = (part.strip() for part in str(entry).partition("="))
            if not sign or not old or not new:
                raise UsageError(f"match={entry!r} is no pair of names.", hint="Write --match OLD=NEW.")
            pairs.append((old, new))
    for side, names in (("earlier", [old for old, _ in pairs]), ("later", [new for _, new in pairs])):
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise UsageError(f"The {side} model {repeated[0]!r} is matched twice.", hint="Match each name once.")
    return dict(pairs)


def snapshots_of(
    before: Any,
    after: Any,
    match: dict[str, str],
    *,
    encoding: str | None,
    progress: Progress | None,
    given: dict[str, Any],
) -> list[Snapshot]:
    """Open the snapshots, in order.

    Parameters
    ----------
    before, after : Outcomes, path, list of paths, or frame
        ``after`` None: ``before`` is one table that holds all snapshots.
    match : dict of str to str
        Old names of models to new ones.
    encoding, progress
        As in `read`.
    given : dict
        Fields of Mapping.

    Raises
    ------
    UsageError
        If a snapshot is given twice, or nothing says what the snapshots are.
    """
    for source in (before, after):
        if source is not None and not isinstance(source, Outcomes) and saved_tallies(source):
            raise UsageError(
                "A Tally holds no individuals that could be matched.",
                hint="Compare the outcomes; compare --tally FILE keeps counts that can be compared again.",
            )
    if after is None:
        return _of_one_table(before, match, encoding=encoding, progress=progress, given=given)
    if before is after:
        raise UsageError("The same snapshot is given twice.", hint=_ONE_TABLE)
    _refuse_same_paths(before, after)
    opened = _both((before, after), match, encoding=encoding, progress=progress, given=given)
    _refuse_same_content(*opened)
    names = [_name(one, word) for one, word in zip(opened, ("before", "after"), strict=True)]
    if names[0] == names[1]:
        names = [f"{name} ({word})" for name, word in zip(names, ("before", "after"), strict=True)]
    return [Snapshot(name, one) for name, one in zip(names, opened, strict=True)]


_ONE_TABLE = (
    "Give two snapshots; versions that are columns of one table: give it once, with --match OLD=NEW; "
    "several dates in one table: give it once, with --snapshot COLUMN."
)


def _refuse_same_paths(before: Any, after: Any) -> None:
    if isinstance(before, Outcomes) or isinstance(after, Outcomes):
        return
    first, second = source_paths(before), source_paths(after)
    if first and second and [_place(one) for one in first] == [_place(one) for one in second]:
        raise UsageError(f"The same snapshot is given twice: {first_few(first)}.", hint=_ONE_TABLE)


def _place(path: str) -> str:
    return str(Path(path).resolve()) if Path(path).exists() else path.lower()


def _refuse_same_content(before: Outcomes, after: Outcomes) -> None:
    tables: list[Table | None] = [getattr(one, "table", None) for one in (before, after)]
    found = [[one.sha256 for one in table.inputs] if table is not None else [] for table in tables]
    chosen = [one.mapping.snapshot for one in (before, after)]
    if found[0] and None not in found[0] and found[0] == found[1] and chosen[0] == chosen[1]:
        raise UsageError(
            f"{before.source} and {after.source} hold the same bytes: the same snapshot twice.", hint=_ONE_TABLE
        )


def _name(outcomes: Outcomes, word: str) -> str:
    table = getattr(outcomes, "table", None)
    return word if table is None else outcomes.source


def _named_as(given: dict[str, Any], swap: dict[str, str]) -> dict[str, Any]:
    """Return the mapping with models called as in one snapshot."""
    models = given.get("models")
    if models is None or not swap:
        return given
    return {**given, "models": tuple(dict.fromkeys(swap.get(name, name) for name in _listed(models)))}


def _both(
    sources: tuple[Any, Any],
    match: dict[str, str],
    *,
    encoding: str | None,
    progress: Progress | None,
    given: dict[str, Any],
) -> list[Outcomes]:
    """Open two sources, with models called as in each; those that are named may be in one of them only."""
    sides = [_named_as(given, swap) for swap in ({new: old for old, new in match.items()}, match)]

    def opened() -> list[Outcomes]:
        found = [
            _opened(source, side, encoding=encoding, progress=progress, later=place == 1)
            for place, (source, side) in enumerate(zip(sources, sides, strict=True))
        ]
        for one in found:
            _ = one.models  # names in a long table are looked up now
        return found

    try:
        return opened()
    except ColumnError:
        if given.get("models") is None or any(isinstance(source, Outcomes) for source in sources):
            raise
    # Only now, since each source is opened once more to see what it holds.
    sides = _each_where_it_is(sources, sides, match, encoding=encoding)
    return opened()


def _each_where_it_is(
    sources: tuple[Any, Any], sides: list[dict[str, Any]], match: dict[str, str], *, encoding: str | None
) -> list[dict[str, Any]]:
    """Ask each snapshot for those of the named models that it has: one that only the other has joined or left.

    Raises
    ------
    ColumnError
        If a model is in neither.
    """
    known = [_names_in(source, side, encoding) for source, side in zip(sources, sides, strict=True)]
    gone = [lacking(side["models"], names) for side, names in zip(sides, known, strict=True)]
    for name in gone[0]:
        if match.get(name, name) in gone[1]:
            every = list(dict.fromkeys(name for names in known for name in names))
            raise ColumnError(
                f"There is no model {name!r} in either snapshot.",
                hint=nearest(name, every) or f"The candidates are: {first_few(every, limit=20)}.",
            )
    return [
        {**side, "models": tuple(name for name in _listed(side["models"]) if name not in absent)}
        for side, absent in zip(sides, gone, strict=True)
    ]


def _names_in(source: Any, given: dict[str, Any], encoding: str | None) -> tuple[str, ...]:
    """Return what models could be called: columns, or the names in a long table."""
    kept = {name: value for name, value in given.items() if name not in ("models", "by", "weight", "cluster")}
    opened = read(source, encoding=encoding, **kept)
    return opened.models if opened.mapping.long else tuple(opened.schema)


def _listed(models: Any) -> tuple[str, ...]:
    return (models,) if isinstance(models, str) else tuple(models)


def _opened(
    source: Any, given: dict[str, Any], *, encoding: str | None, progress: Progress | None, later: bool
) -> Outcomes:
    """Open one of two sources; groups, weights and clusters are those of the earlier one."""
    if isinstance(source, Outcomes):
        opened = replace(source, mapping=replace(source.mapping, **given)) if given else source
    else:
        if later:
            given = _without_missing(source, given, encoding=encoding)
        opened = read(source, encoding=encoding, progress=progress, **given)
    return opened


def _without_missing(source: Any, given: dict[str, Any], *, encoding: str | None) -> dict[str, Any]:
    """Leave out groups, weight and cluster that the later snapshot does not have: they come from the earlier one."""
    wanted = [name for name in ("by", "weight", "cluster") if given.get(name)]
    if not wanted:
        return given
    plain = {name: value for name, value in given.items() if name not in wanted and name != "models"}
    columns = list(read(source, encoding=encoding, **plain).schema)
    kept = dict(given)
    for name in wanted:
        if name == "by":
            kept["by"] = tuple(text for text in given["by"] if _has(text, columns))
        elif given[name] not in columns:
            kept[name] = None
    return kept


def _has(text: str, columns: Sequence[str]) -> bool:
    try:
        parse_group(text, columns)
    except ColumnError:
        return False
    return True


def _of_one_table(
    source: Any, match: dict[str, str], *, encoding: str | None, progress: Progress | None, given: dict[str, Any]
) -> list[Snapshot]:
    if isinstance(source, Outcomes):
        table, frame, fixed = getattr(source, "table", None), source.frame, _fields_of(source.mapping)
    else:
        table = opened_table(source, encoding, progress)
        frame = source if table is None else table.frame
        fixed = {} if table is None else dict(table.mapping)
    mapping = {**fixed, **given}
    column = mapping.pop("snapshot", None)
    name = "the table" if table is None else " and ".join(one.name for one in table.inputs[:3])

    def made(**more: Any) -> SourcedOutcomes:
        with collecting(table):
            return SourcedOutcomes(
                frame,
                Mapping(**{**mapping, **more}),
                source=name,
                noun=(table.noun if table is not None else None) or "individuals",
                table=table,
            )

    if column is None or "=" in column:
        if not match:
            raise UsageError(
                "One source holds no two snapshots unless something tells them apart.",
                hint="Give BEFORE and AFTER, or --snapshot COLUMN, or --match OLD=NEW for columns side by side.",
            )
        more = {} if column is None else {"snapshot": column}
        whole = made(models=tuple(dict.fromkeys((*match, *match.values()))), **more)
        both = set(match) & set(match.values())
        if both:
            raise UsageError(
                f"{sorted(both)[0]!r} is named as an earlier and as a later version.", hint="Match each name once."
            )
        return [
            Snapshot("the earlier version", replace(whole, mapping=replace(whole.mapping, models=tuple(match)))),
            Snapshot("the later version", replace(whole, mapping=replace(whole.mapping, models=tuple(match.values())))),
        ]
    return _by_column(made, column, name)


def _fields_of(mapping: Mapping) -> dict[str, Any]:
    return {name: getattr(mapping, name) for name in type(mapping).__dataclass_fields__}


def _by_column(made: Any, column: str, name: str) -> list[Snapshot]:
    frame = made(snapshot=None).frame
    schema = frame.collect_schema()
    if column not in schema:
        raise ColumnError(f"There is no snapshot column {column!r} in {name}.", hint=nearest(column, schema))
    values = [row[column] for row in fetch_rows(frame.select(column).drop_nulls().unique().sort(column).head(200))]
    if len(values) < 2:
        raise UsageError(
            f"Column {column!r} of {name} holds one snapshot ({first_few(map(str, values))}).",
            hint="A comparison needs two; give BEFORE and AFTER where they are in two files.",
        )
    if len(values) > MOST_SNAPSHOTS:
        raise UsageError(
            f"Column {column!r} of {name} holds over {MOST_SNAPSHOTS} snapshots, the most that are compared.",
            hint="Choose fewer, or bin the dates.",
        )
    empty = int(fetch_rows(frame.filter(nw.col(column).is_null()).select(n=nw.len()))[0]["n"])
    notes = (f"{empty:,} rows without a value in column {column!r} belong to no snapshot and are left out.",)
    first = made(snapshot=f"{column}={values[-1]}")
    present = None if first.mapping.long else _present(frame, column, first)
    found: list[Snapshot] = []
    for value in values:
        more = {} if present is None else {"models": present[str(value)]}
        if present is not None and not present[str(value)]:
            raise InputError(f"No model has any outcome in snapshot {value!r} of {name}.", hint="Leave it out.")
        told = notes if empty and not found else ()
        found.append(Snapshot(str(value), made(snapshot=f"{column}={value}", **more), told))
    return found


def _present(frame: nw.LazyFrame[Any], column: str, outcomes: Outcomes) -> dict[str, tuple[str, ...]]:
    """Return the models that have any value in each snapshot of a wide table."""
    counted = frame.select(column, *outcomes.models).with_columns(
        **{f"__p{i}": (~nw.col(name).is_null()).cast(nw.Int64) for i, name in enumerate(outcomes.models)}
    )
    sums = [nw.col(f"__p{i}").sum() for i in range(len(outcomes.models))]
    rows = fetch_rows(counted.group_by(column).agg(*sums))
    return {
        str(row[column]): tuple(name for i, name in enumerate(outcomes.models) if row[f"__p{i}"])
        for row in rows
        if row[column] is not None
    }


def matched_models(
    before: Sequence[str], after: Sequence[str], match: dict[str, str]
) -> tuple[list[tuple[str, str]], tuple[str, ...], tuple[str, ...]]:
    """Return the models of both snapshots as (old name, new name), those that left, and those that joined.

    Raises
    ------
    UsageError
        If a matched name is in neither place, or no model is in both.

    Examples
    --------
    >>> matched_models(["a-1", "b"], ["a-2", "c"], {"a-1": "a-2"})
    ([('a-1', 'a-2')], ('b',), ('c',))
    """
    for old, new in match.items():
        for name, known, side in ((old, before, "earlier"), (new, after, "later")):
            if name not in known:
                raise UsageError(
                    f"--match names {name!r}, which is no model of the {side} snapshot.",
                    hint=nearest(name, known) or f"Its models are: {first_few(known, limit=20)}.",
                )
    pairs = [(old, match.get(old, old)) for old in before if match.get(old, old) in after]
    if not pairs:
        raise UsageError(
            f"No model is in both snapshots: {first_few(before)} before, {first_few(after)} after.",
            hint=f"Match versions that are named differently: --match '{before[0]}={after[0]}'.",
        )
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    return (
        pairs,
        tuple(name for name in before if name not in olds),
        tuple(name for name in after if name not in news),
    )
