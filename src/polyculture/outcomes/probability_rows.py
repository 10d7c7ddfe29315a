"""Rows of probabilities: what may not stand in them, and the columns from which pairs of models are compared.

A missing probability says that the option does not exist for the item, or, where all are missing, that the model
gave none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw

from polyculture.errors import ValueInDataError
from polyculture.outcomes.counting import count_true, fetch_rows, first_rows

if TYPE_CHECKING:
    from polyculture.outcomes.individuals import Individuals
    from polyculture.outcomes.outcomes import Outcomes
    from polyculture.outcomes.probabilities import Probabilities

__all__ = ["ProbabilityRows", "check_probabilities", "option_count", "probability_rows"]

_OFFERED = "__offered{}"
_TOLERANCE = 1e-6 + 1e-12  # of three times .333333 too, whatever the rounding


def _exists(*names: str | None) -> nw.Expr:
    """Return whether any of some columns holds a value; never missing."""
    return nw.any_horizontal(*[~nw.col(name).is_null() for name in names if name is not None], ignore_nulls=True)


def _offered(known: Probabilities, place: int) -> nw.Expr:
    """Return whether an option exists for the item: some model gives it a probability."""
    return _exists(*[columns[place] for columns in known.columns.values()])


def _sum(terms: list[nw.Expr]) -> nw.Expr:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def option_count(known: Probabilities) -> nw.Expr:
    """Return how many options an item has; 0 where no model gives a probability."""
    return _sum([_offered(known, place).cast(nw.Int64) for place in range(len(known.options))])


@dataclass(frozen=True)
class _Fault:
    """A condition over a row that may not hold, what the message shows of the row, and what it says."""

    bad: nw.Expr
    shown: tuple[str, nw.Expr]
    message: Callable[[str, int, str], str]
    hint: str


def check_probabilities(outcomes: Outcomes) -> None:
    """Refuse probabilities that are none, in one query (and one more for the place).

    Raises
    ------
    ValueInDataError
        If a value is outside 0 to 1, the options of a row do not sum to 1 within 1e-6, models differ in
        which options an item has, an item has one option only, or its label is none of them.
    """
    known = outcomes.probabilities
    if known is None:
        return
    faults = _faults(known, str(outcomes.mapping.label))
    # Asked of every model, but the same for all of them: found once.
    offered = {_OFFERED.format(place): _offered(known, place) for place in range(len(known.options))}
    frame = outcomes.frame.with_columns(**offered)
    counted = {f"f{i}": count_true(frame, fault.bad) for i, fault in enumerate(faults)}
    found = fetch_rows(frame.select(**counted))[0]
    for i, fault in enumerate(faults):
        times = int(found[f"f{i}"] or 0)
        if times:
            name, shown = fault.shown
            places = first_rows(frame.with_columns(**{name: shown}), fault.bad, name, outcomes.mapping.id)
            raise ValueInDataError(fault.message(outcomes.source, times, ", ".join(places)), hint=fault.hint)


def _faults(known: Probabilities, label: str) -> list[_Fault]:
    """Return what may be wrong: values first, then sums, then which options there are."""
    found = [_outside(name) for name in known.names]
    found += [_no_sum(model, columns) for model, columns in known.columns.items()]
    for model, columns in known.columns.items():
        for place, name in enumerate(columns):
            found.append(_not_given(known, model, place, name))
    return [*found, _one_option(known, label), _no_option(known, label)]


def _outside(name: str) -> _Fault:
    column = nw.col(name)
    return _Fault(
        ((column < 0) | (column > 1)).fill_null(False),
        (name, column),
        lambda source, times, places: (
            f"The column {name!r} of {source} holds no probability on {times:,} rows: {places}."
        ),
        "Give probabilities from 0 to 1, not logarithms or percent.",
    )


def _no_sum(model: str, columns: tuple[str | None, ...]) -> _Fault:
    total = _sum([nw.col(name).fill_null(0).cast(nw.Float64) for name in columns if name is not None])
    names = " + ".join(name for name in columns if name is not None)
    return _Fault(
        _exists(*columns) & ((total - 1.0).abs() > _TOLERANCE),
        (f"sum of {model}", total),
        lambda source, times, places: (
            f"The probabilities {names} of {source} do not sum to 1 on {times:,} rows: {places}."
        ),
        "Divide the probabilities of each row by their sum, or choose the models with --models.",
    )


def _not_given(known: Probabilities, model: str, place: int, name: str | None) -> _Fault:
    offered = nw.col(_OFFERED.format(place)) & _exists(*known.columns[model])
    option = known.options[place]
    return _Fault(
        offered if name is None else offered & nw.col(name).is_null(),
        (f"option {option}", nw.lit(str(option))),
        lambda source, times, places: (
            f"The model {model!r} gives no probability to the option {option!r} of {source}, which other models do, "
            f"on {times:,} rows: {places}."
        ),
        "Write 0 where an option was offered; leave it empty for all models where the item has no such option.",
    )


def _one_option(known: Probabilities, label: str) -> _Fault:
    return _Fault(
        option_count(known) == 1,
        (label, nw.col(label)),
        lambda source, times, places: f"{source} holds items with a single option on {times:,} rows: {places}.",
        "Leave these items out: nothing can be chosen there.",
    )


def _no_option(known: Probabilities, label: str) -> _Fault:
    matched = [
        nw.col(_OFFERED.format(place)) & (nw.col(label) == option).fill_null(False)
        for place, option in enumerate(known.options)
    ]
    inside = nw.any_horizontal(*matched, ignore_nulls=True)
    return _Fault(
        (option_count(known) > 0) & ~nw.col(label).is_null() & ~inside,
        (label, nw.col(label)),
        lambda source, times, places: (
            f"The label {label!r} of {source} is no option with a probability on {times:,} rows: {places}."
        ),
        "Name options in the columns as the label does, and give the right option a probability.",
    )


@dataclass(frozen=True)
class ProbabilityRows:
    """A lazy frame with a row an individual, all columns floats that are never missing.

    ``__s0``, ... are 1 where a model answered with probabilities, else 0; ``__x0``, ... its probability on the right
    option; ``__p0_0``, ... on each option, and 0 where ``__s0`` is. ``__c`` is 1 / (options - 1), ``__w`` the weight.
    """

    frame: nw.LazyFrame[Any]
    models: int
    options: int


def probability_rows(outcomes: Outcomes, known: Probabilities, people: Individuals) -> ProbabilityRows:
    """Bring the probabilities of a wide table to the columns that pairs are compared by."""
    label = nw.col(str(outcomes.mapping.label))
    columns = [known.columns[model] for model in outcomes.models]
    seen: dict[str, nw.Expr] = {}
    masks = people.masks
    for i, names in enumerate(columns):
        given = _exists(*names).cast(nw.Float64)
        judged = None if masks.judged_bits is None else masks.judged_bits[i].cast(nw.Float64)
        silent = None if masks.no_answer_bits is None else masks.no_answer_bits[i].cast(nw.Float64)
        asked = given if judged is None else given * judged
        seen[f"__s{i}"] = asked if silent is None else asked * (1.0 - silent)
    options = option_count(known)
    weight = people.weight if people.weight is not None else people.count
    more = {
        "__c": nw.when(options > 1).then(1.0 / (options.cast(nw.Float64) - 1.0)).otherwise(nw.lit(0.0)),
        "__w": nw.lit(1.0) if weight is None else weight.cast(nw.Float64),
    }
    frame = people.frame.with_columns(**seen, **more)
    chosen: dict[str, nw.Expr] = {}
    for i, names in enumerate(columns):
        for place, name in enumerate(names):
            value = nw.lit(0.0) if name is None else nw.col(name).fill_null(0).cast(nw.Float64) * nw.col(f"__s{i}")
            chosen[f"__p{i}_{place}"] = value
        chosen[f"__x{i}"] = _sum(
            [
                nw.when(label == option).then(chosen[f"__p{i}_{place}"]).otherwise(nw.lit(0.0))
                for place, option in enumerate(known.options)
            ]
        )
    kept = [nw.col(name) for name in (*seen, *more)]
    return ProbabilityRows(frame.select(*kept, **chosen), len(columns), len(known.options))
