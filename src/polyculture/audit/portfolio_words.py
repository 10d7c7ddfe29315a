"""The sentence that leads a portfolio, and what a reader must know besides; computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.words import interval, listed, number, one_of, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyculture.audit.portfolio_choice import PortfolioSet
    from polyculture.audit.portfolio_people import People
    from polyculture.audit.portfolio_question import Question
    from polyculture.audit.statistic import Statistic

MOST_NAMED = 8


def value_words(value: Statistic) -> str:
    """Return a held-out value with its interval; where nothing was lost, the upper limit alone.

    Examples
    --------
    >>> from polyculture.audit.statistic import Statistic
    >>> value_words(Statistic(value=0.0, low=0.0, high=0.013))
    'at most 1.3 %'
    >>> value_words(Statistic(value=0.04, low=0.02, high=0.07))
    '4.0 % (2.0 to 7.0 %)'
    """
    if value.value is None:
        return "undefined"
    if value.value == 0.0 and value.high is not None:
        return f"at most {percent(value.high)}"
    ends = interval(value)
    return f"{number(value)} ({ends})" if ends else number(value)


def headline(asked: Question, *, chosen: PortfolioSet, held_out: Statistic, random: Statistic, noun: str) -> str:
    """Write the sentence that leads the record."""
    names = chosen.models
    one = asked.choice != "set" or asked.size == 1
    if asked.choice == "swap":
        start = f"Putting {listed(list(chosen.added))} in the place of {listed(list(chosen.removed))}"
    elif asked.choice == "addition":
        start = f"Adding {listed(list(chosen.added))} to today's {len(asked.today)}"
    else:
        who = listed(list(names)) if len(names) <= MOST_NAMED else f"the {len(names)} models listed below"
        start = f"Of all sets of {asked.size} from {len(asked.candidates)} models, {who}"
    where = " in the group that fares worst" if asked.worst_group else ""
    if asked.objective == "systemic-failure":
        does = f"{'leaves' if one else 'leave'} the fewest {noun} failed by every member{where}"
        verb = "are failed by every member"
    else:
        does = f"{'gives' if one else 'give'} the most accurate majority{where}"
        verb = "get a right majority"
    bounded = "" if asked.most is None else f", at a mean failure rate of at most {asked.most:g}"
    against = "" if random.value is None else f", against {number(random)} with a random choice"
    return f"{start} {does}{bounded}: {value_words(held_out)} of {noun} held out {verb}{against}."


def notes(
    people: People,
    asked: Question,
    *,
    without: int,
    halves: int,
    noun: str,
) -> Iterator[str]:
    """Yield what a reader must know before the numbers."""
    one = one_of(noun)
    yield (
        "Figures of the chosen set on all "
        f"{noun} are too favourable: it was chosen for them. Read the held-out value, which is of sets chosen on one "
        "half and measured on the other; sets chosen on half of the data are a little worse than one chosen on all."
    )
    if asked.objective == "systemic-failure" and len(asked.today) != asked.size:
        more, what = ("more", "higher") if len(asked.today) > asked.size else ("fewer", "lower")
        yield (
            f"Today's {len(asked.today)} models are {more} than the {asked.size} of the chosen set: with every further "
            f"model fewer {noun} are failed by all, so that the chosen set is {what} by its size alone."
        )
    if without:
        yield (
            f"On {without} of {halves} halves no set met the bound on mean failure; the one with the least mean "
            "failure was taken there."
        )
    if not people.patterns.complete:
        yield (
            f"Not every model judged every {one}: each set is measured on those whom enough of its members judged, so "
            "that sets are compared on different individuals. Who was judged by whom is seldom random."
        )
    if people.clusters is not None and not people.census:
        yield f"Halves are made of whole clusters ({people.clusters:,}), and intervals treat clusters as the sample."
    if people.rows.weighted:
        yield "Shares are by weight; a half takes of each pattern's weight what it takes of its individuals."
    if people.sampled:
        yield f"Everything here rests on a sample of {people.rows.individuals:,} {noun}, drawn evenly."
    if people.too_few:
        yield f"{people.too_few} groups are too small to be compared and have no part in the worst group."
