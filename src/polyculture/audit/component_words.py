"""What the components say, in sentences: plain words first, numbers after them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from polyculture.audit.components_records import ComponentRecord, RegressionRecord
from polyculture.audit.statistic import Statistic
from polyculture.audit.words import interval, listed, number, p_value

__all__ = ["sentence", "what_if_sentence"]

_LEVEL = 0.05
_MOST_NAMED = 3

Figure = tuple[str, str, Statistic, float | None, str]  # name, kind, its number, corrected p, what the number is


def sentence(compared: Sequence[ComponentRecord], together: RegressionRecord) -> str:
    """Say which components go with likeness, all others and the accuracies held constant where that could be done.

    Parameters
    ----------
    compared : sequence of ComponentRecord
        Each component by itself.
    together : RegressionRecord
        All of them.
    """
    tested = [term for term in together.terms if term.p_adjusted is not None]
    if tested:
        held = "accuracies and other components held constant" if len(tested) > 1 else "accuracies held constant"
        names = [term.name for term in tested]
        found = [
            (term.name, term.kind, term.coefficient, term.p_adjusted, "kappa")
            for term in tested
            if _found(term.p_adjusted)
        ]
        return _said(found, names, held)
    alone = [one for one in compared if one.p_adjusted is not None]
    if alone:
        figures = [
            (one.name, one.kind, one.difference, one.p_adjusted, "kappa")
            if one.kind == "category"
            else (one.name, one.kind, one.correlation, one.p_adjusted, "correlation")
            for one in alone
            if _found(one.p_adjusted)
        ]
        return _said(figures, [one.name for one in alone], "each component taken by itself, whatever the accuracies")
    why = next((one.correlation.reason for one in compared if one.correlation.reason is not UNSET), "")
    return f"What goes with the likeness of these models could not be tested: {why}."


def _found(p: float | None) -> bool:
    return p is not None and p <= _LEVEL


def _said(found: Sequence[Figure], tested: Sequence[str], held: str) -> str:
    """Say which components were found, in which direction, and which were not."""
    if not found:
        return (
            f"No component was found to go with how alike models fail (tested: {listed(tested)}; corrected p above "
            f".05; {held})."
        )
    told = []
    for sign, alike in ((1, "more"), (-1, "less")):
        names = [_phrase(one) for one in found if _sign(one[2]) == sign]
        if names:
            rest = f" (and {len(names) - _MOST_NAMED} more)" if len(names) > _MOST_NAMED else ""
            told.append(
                f"Pairs of models that {_or(names[:_MOST_NAMED])}{rest} fail {alike} alike than other pairs, {held}."
            )
    missing = [name for name in tested if name not in {one[0] for one in found}]
    if missing:
        told.append(f"Not found to go with it: {listed(missing)}.")
    return " ".join(told)


def _phrase(one: Figure) -> str:
    name, kind, value, p, what = one
    ends = interval(value, "number")
    size = f"{'+' if _sign(value) > 0 else ''}{number(value, 'number')}"
    verb = "share" if kind == "category" else "lie close in"
    return f"{verb} {name} ({what} {size}{f', {ends}' if ends else ''}; corrected p {p_value(p)})"


def _sign(value: Statistic) -> int:
    return -1 if (value.value or 0.0) < 0 else 1


def _or(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 2 else f"{', '.join(names[:-1])} or {names[-1]}"


def what_if_sentence(  # noqa: PLR0917
    component: str, families: int, noun: str, observed: Statistic, from_all: Statistic, difference: Statistic
) -> str:
    """Say what would be expected if individuals faced one model of each family.

    Examples
    --------
    >>> one, all_ = Statistic(value=0.02, low=0.01, high=0.03), Statistic(value=0.03, low=0.02, high=0.04)
    >>> print(what_if_sentence("vendor", 4, "people", one, all_, Statistic(value=0.01, low=0.005, high=0.02)))
    With one model for each of the 4 values of vendor, drawn at random, 2.0 % (1.0 to 3.0 %) of people would be \
expected to be failed by all; with any 4 models, 3.0 % (2.0 to 4.0 %).
    """
    if observed.value is None:
        return f"One model for each value of {component}: undefined, {observed.reason}."
    one, other = (
        f"{number(value)}{f' ({interval(value)})' if interval(value) else ''}" for value in (observed, from_all)
    )
    text = (
        f"With one model for each of the {families} values of {component}, drawn at random, {one} of {noun} would be "
        f"expected to be failed by all; with any {families} models, {other}."
    )
    within_noise = difference.low is not None and difference.high is not None and difference.low <= 0 <= difference.high
    return f"{text} The two are within noise of each other." if within_noise else text
