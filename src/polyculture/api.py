"""What users call: `read` gives Outcomes, `audit` gives an Audit.

Calls are put together here; what is computed stands further down, what an Audit can do in `results`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as TypeMapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from polyculture.asked import check_asked
from polyculture.errors import UsageError, nearest
from polyculture.giving import Kind, native_kind
from polyculture.outcomes import Mapping, Outcomes
from polyculture.provenance import provenance_of
from polyculture.results import Audit, collecting
from polyculture.saved import saved_inputs, saved_tallies, source_paths
from polyculture.understanding import Understanding

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.records import InputFile, Provenance
    from polyculture.readers import Table
    from polyculture.tally import Tally

__all__ = ["MappingOptions", "audit", "counted_with_provenance", "read", "saved_tallies", "tally", "understand"]

Source = str | PathLike[str]
Progress = Callable[[str], None]


class MappingOptions(TypedDict, total=False):
    """The fields of `Mapping` as keywords of `read`, `tally` and `audit`."""

    id: str | None
    label: str | None
    models: Sequence[str] | str | None
    by: Sequence[str]
    snapshot: str | None
    weight: str | None
    count: str | None
    cluster: str | None
    long: bool
    model: str | None
    value: str | None
    outcomes: Literal["failed", "correct", "rated"] | None
    failure: str | None
    failed_when: str | None
    pending: Sequence[str]
    no_answer: Literal["failed", "missing"]
    no_answer_values: Sequence[str]
    min_judged: int
    positive: str | None
    max_groups: int
    options: str | int | None
    probabilities: str | None


@dataclass(frozen=True)
class SourcedOutcomes(Outcomes):
    """Outcomes that remember the table they were made of: its files, note and period."""

    table: Table | None = field(default=None, repr=False)
    kind: Kind = field(default="polars", repr=False)


def read(
    source: Source | Sequence[Source] | Table | IntoFrame,
    /,
    *,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Outcomes:
    """Open outcomes and say what their columns mean; nothing is computed yet.

    Parameters
    ----------
    source : path, list of paths, "hapi:NAME", or a frame
        Files (CSV, also .gz; Parquet; JSON Lines; Arrow IPC), globs, folders of the HAPI layout, bundled
        outcomes, or any frame that Narwhals takes, eager or lazy.
    map : path, optional
        TOML file with a column mapping; keywords win over it.
    encoding : str, optional
        Encoding of text files; default UTF-8.
    progress : callable, optional
        Called with what is being done, in words.
    **mapping
        The fields of `Mapping`: ``label="true"``, ``models="pred_*"``, ``by=["sex"]`` ...

    Returns
    -------
    Outcomes
        A lazy frame and what its columns mean.

    Raises
    ------
    InputError, UsageError
        If a file cannot be read, or the mapping does not fit the table.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"true": ["a", "b"], "one": ["a", "a"], "two": ["b", "a"]})
    >>> read(table, label="true").models
    ('one', 'two')
    """
    from polyculture.mapfile import read_map

    given: dict[str, Any] = {**(read_map(map) if map is not None else {}), **known_options(mapping)}
    table = opened_table(source, encoding, progress)
    if table is None:
        return SourcedOutcomes(source, Mapping(**given), kind=native_kind(source))  # type: ignore[arg-type]
    names = [one.name for one in table.inputs]
    fixed = table.mapping.get("outcomes")
    if fixed is not None and given.get("outcomes", fixed) != fixed:
        raise UsageError(f"In {names[0]} a 1 means {fixed}.", hint=f"Drop --outcomes {given['outcomes']}.")
    with collecting(table):
        return SourcedOutcomes(
            table.frame,
            Mapping(**{**table.mapping, **given}),
            source=" and ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more files",
            noun=table.noun or "individuals",
            index=table.index,
            table=table,
        )


def known_options(mapping: TypeMapping[str, Any]) -> TypeMapping[str, Any]:
    """Refuse a keyword that is no field of Mapping, naming the nearest."""
    fields = MappingOptions.__annotations__
    for name in mapping:
        if name not in fields:
            raise UsageError(
                f"There is no keyword {name!r}.",
                hint=nearest(name, fields) or f"The keywords about columns are: {', '.join(fields)}.",
            )
    return mapping


def opened_table(source: Any, encoding: str | None, progress: Progress | None) -> Table | None:
    """Open what has to be opened; None for a frame, which is there already."""
    from polyculture.readers import Table, open_sources

    def reading(name: str, done: int, total: int) -> None:
        if progress is not None:
            progress(f"Reading {name}, {100 * done // max(total, 1)} %")

    sources = source_paths(source)
    if sources:
        return open_sources(sources, encoding=encoding, progress=reading)
    if encoding is not None:
        raise UsageError("Only files have an encoding.", hint="Drop encoding=.")
    return source if isinstance(source, Table) else None


def tally(
    source: Outcomes | Source | Sequence[Source] | Table | IntoFrame,
    /,
    *,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Tally:
    """Count outcomes once: the small tables that an audit needs.

    Parameters are those of `read`; ``source`` may also be Outcomes, or files that ``Tally.save`` wrote.

    Returns
    -------
    Tally
        Tallies of parts add up (``+``), and can be saved and loaded.
    """
    from polyculture.tally import Tally

    saved = saved_tallies(source)
    if saved:
        if mapping or map is not None or encoding is not None:
            raise UsageError("A Tally says already what its columns mean.", hint="Drop the options about columns.")
        saved_inputs(saved)  # refuses a Tally that is named twice
        return reduce(add, [Tally.load(path) for path in saved])
    known = _as_outcomes(source, map=map, encoding=encoding, progress=progress, **mapping)
    if progress is not None:
        progress("Counting outcomes")
    with collecting(getattr(known, "table", None)):
        return Tally.of(known)


def _as_outcomes(
    source: Any,
    *,
    map: Source | None = None,  # noqa: A002
    encoding: str | None,
    progress: Progress | None,
    **mapping: Any,
) -> Outcomes:
    if not isinstance(source, Outcomes):
        return read(source, map=map, encoding=encoding, progress=progress, **mapping)
    if map is not None or encoding is not None:
        raise UsageError("Outcomes say already what their columns mean.", hint="Give map= and encoding= to read().")
    return replace(source, mapping=replace(source.mapping, **known_options(mapping))) if mapping else source


def audit(
    source: Outcomes | Tally | Source | Sequence[Source] | Table | IntoFrame,
    /,
    *,
    min_cell: int = 30,
    seed: int = 0,
    census: bool = False,
    correction: Literal["bh", "holm"] = "bh",
    noun: str | None = None,
    nulls: Sequence[str] | str = (),
    suspect_keys: bool = False,
    slices: Sequence[str] | str = (),
    slices_by: str = "excess",
    components: Source | TypeMapping[str, TypeMapping[str, Any]] | IntoFrame | None = None,
    kinds: TypeMapping[str, Sequence[str] | str] | Source | None = None,
    portfolio: int | None = None,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    command: str = "polyculture.audit(...)",
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Audit:
    """Audit what several models decided about the same individuals.

    Parameters
    ----------
    source : Outcomes, Tally, path, list of paths, "hapi:NAME", or a frame
        What was decided; all but Outcomes and Tally go through `read` with the same keywords.
    min_cell : int
        Groups of fewer individuals are counted, but their figures withheld.
    seed : int
        Seed of every random draw.
    census : bool
        The individuals are all there are: no intervals, no tests.
    correction : {"bh", "holm"}
        How p-values of contrasts between groups are corrected for their number.
    noun : str, optional
        What the individuals are, in the plural ("applicants"), for the sentences.
    suspect_keys : bool
        Look in a second pass for items on which models share one answer that is not the label.
    slices : sequence of str, or "all"
        Columns to search, in a second pass, for slices in which models fail together more than in others; anything
        that ``by`` takes. "all": every column that is named for nothing else.
    slices_by : {"excess", "systemic-failure"}
        What slices are found and tested for.
    components : path, mapping or frame, optional
        What the models are made of: a CSV or TOML, ``{model: {component: value}}``, or a frame with a column ``model``.
    nulls : sequence of str, or "all"
        Models of chance to fit beside independence: strata, equicorrelated, rasch, 2pl, factors-1 to factors-3,
        classes-2 to classes-9, permutation, both-margins. The whole ladder takes some seconds.
    kinds : mapping, path of a TOML file, or text, optional
        Kinds of decision-makers to compare: ``{"human": ["x", "y"], "model": "api_*"}``, or "human=x,y,model=api_*".
    portfolio : int, optional
        Choose so many of the models, those that together fail the fewest; `polyculture.portfolio` asks more.
    map, encoding, progress
        As in `read`.
    **mapping
        What the columns mean, the fields of `Mapping`: id, label, models, by, snapshot, weight, count, cluster,
        long, model, value, outcomes, failure, failed_when, pending, no_answer, no_answer_values, min_judged,
        positive, max_groups, options, probabilities.
    command : str
        The call as the provenance shows it.

    Returns
    -------
    Audit
        Frozen results; ``print`` shows the headline.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read or the call is wrong.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"one": [1, 1, 0, 0] * 50, "two": [1, 0, 0, 0] * 50})
    >>> audit(table, outcomes="failed").systemic_failure.count
    50
    """
    from polyculture.mapfile import kinds_of
    from polyculture.readers.components import read_components

    null_models = check_asked(min_cell=min_cell, seed=seed, noun=noun, nulls=nulls)
    table = None if components is None else read_components(components)
    chosen = kinds_of(kinds)
    known, counted, inputs = _counted(
        source, map=map, encoding=encoding, progress=progress, with_labels=portfolio is not None, **mapping
    )
    if progress is not None:
        progress("Estimating")
    from polyculture.audit import run  # after reading, so that a wrong file is refused without waiting for scipy

    provenance = provenance_of(counted, known, inputs, min_cell=min_cell, seed=seed, census=census, command=command)
    record = run(
        counted,
        provenance=provenance,
        seed=seed,
        min_cell=min_cell,
        census=census,
        correction=correction,
        noun=noun or (known.noun if known is not None else "individuals"),
        null_models=null_models,
        component_table=table,
        kinds=chosen,
        portfolio=portfolio,
    )
    if suspect_keys:
        from polyculture.searching import with_suspect_keys

        record = with_suspect_keys(record, known, counted, census=census)
    if slices:
        from polyculture.searching import with_slices

        record = with_slices(record, known, slices, by=slices_by, progress=progress)
    return Audit(record=record, tally=counted, _outcomes=known, _kind=getattr(known, "kind", "polars"))


def _counted(
    source: Any,
    *,
    map: Source | None,  # noqa: A002
    encoding: str | None,
    progress: Progress | None,
    with_labels: bool = False,
    **mapping: Any,
) -> tuple[Outcomes | None, Tally, tuple[InputFile, ...]]:
    """Return the outcomes where rows are at hand, their Tally, and the files of saved Tallies."""
    from polyculture.tally import Tally

    if isinstance(source, Tally):
        if map is not None or encoding is not None or mapping:
            raise UsageError("A Tally says already what its columns mean.", hint="Drop the keywords about columns.")
        return None, source, ()
    if saved := saved_tallies(source):
        return None, tally(source, map=map, encoding=encoding, **mapping), saved_inputs(saved)
    known = _as_outcomes(source, map=map, encoding=encoding, progress=progress, **mapping)
    if with_labels:
        known = replace(known, with_labels=True)
    return known, tally(known, progress=progress), ()


def counted_with_provenance(
    source: Any,
    *,
    min_cell: int,
    seed: int,
    census: bool,
    command: str,
    map: Source | None,  # noqa: A002
    encoding: str | None,
    progress: Progress | None,
    with_labels: bool = False,
    **mapping: Any,
) -> tuple[Tally, Provenance, Kind, str]:
    """Return the Tally of a source with its provenance, the kind of frame to answer with, and the noun.

    For the other questions that a Tally answers; parameters and errors are those of `audit`.
    """
    known, counted, inputs = _counted(
        source, map=map, encoding=encoding, progress=progress, with_labels=with_labels, **mapping
    )
    provenance = provenance_of(counted, known, inputs, min_cell=min_cell, seed=seed, census=census, command=command)
    noun = known.noun if known is not None else "individuals"
    return counted, provenance, getattr(known, "kind", "polars"), noun


def understand(outcomes: Outcomes | Tally) -> Understanding:
    """Look at outcomes in one cheap pass (or at a Tally), and say how they were understood.

    Raises
    ------
    InputError
        If the data are not what the mapping says.
    """
    from polyculture.tally import Tally
    from polyculture.understanding import understand as look
    from polyculture.understanding import understand_tally

    if isinstance(outcomes, Tally):
        return understand_tally(outcomes)
    with collecting(getattr(outcomes, "table", None)):
        return look(outcomes)
