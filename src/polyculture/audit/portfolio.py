"""What would help: the set of models, the swap or the addition that fails the fewest individuals by all, held out.

The question is checked in ``portfolio_question``, sets are chosen in ``portfolio_search`` and measured in
``portfolio_measures``; here the answers come together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.portfolio_choice import AlternativeRecord, PortfolioChoice, PortfolioModel
from polyculture.audit.portfolio_measures import Measures, Value, plain
from polyculture.audit.portfolio_noise import within_noise
from polyculture.audit.portfolio_people import people_of
from polyculture.audit.portfolio_policies import appeals, assigned_at_random, direction
from polyculture.audit.portfolio_question import question
from polyculture.audit.portfolio_search import allowed_sets, choose, held_out, neighbours
from polyculture.audit.portfolio_words import headline, notes
from polyculture.audit.settings import Settings
from polyculture.errors import UsageError
from polyculture.failure import parse_rule
from polyculture.stats.portfolio.losses import Sums, family_losses, losses_of, random_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.portfolio_choice import PortfolioSet
    from polyculture.audit.portfolio_people import People
    from polyculture.audit.portfolio_question import Question
    from polyculture.audit.portfolio_search import Chosen, HeldOut
    from polyculture.failure import FailureRule
    from polyculture.tally import Tally

    Floats = NDArray[np.float64]

SPLITS = 25
EXACT = "the search was exact: the chosen set is the best on these data"


def portfolio(
    tally: Tally,
    *,
    rule: str,
    size: int | None = None,
    today: Sequence[str] = (),
    candidates: Sequence[str] = (),
    swap: bool = False,
    add: bool = False,
    objective: str = "systemic-failure",
    worst_group: bool = False,
    most_mean_failure: float | None = None,
    splits: int = SPLITS,
    seed: int = 0,
    min_cell: int = 30,
    census: bool = False,
    noun: str = "individuals",
) -> PortfolioChoice:
    """Choose among the models of a Tally.

    Parameters
    ----------
    tally : Tally
        Tables of outcomes; its patterns are split into halves, so no second pass over rows is needed.
    rule : str
        The failure rule, as the provenance has it: what an appeal may let through depends on it.
    size, today, candidates, swap, add, objective, worst_group, most_mean_failure, splits
        As in `polyculture.portfolio`.
    seed : int
        Seed of the random halves.
    min_cell, census, noun
        As in `run`.

    Returns
    -------
    PortfolioChoice

    Raises
    ------
    UsageError
        If the call is wrong or no set meets the bound.
    """
    settings = Settings(seed=seed, min_cell=min_cell, census=census, noun=noun)
    people = people_of(tally, worst_group=worst_group and bool(tally.groups), min_cell=min_cell, census=census)
    asked = question(
        tally.models,
        people.judged,
        people.rates,
        tally.groups,
        size=size,
        today=today,
        candidates=candidates,
        swap=swap,
        add=add,
        objective=objective,
        worst_group=worst_group,
        most_mean_failure=most_mean_failure,
        min_judged=tally.min_judged,
    )
    if worst_group and len(people.groups) < 2:
        raise UsageError(
            f"The worst group needs two known groups of at least {min_cell} {noun}; there are {len(people.groups)}.",
            hint="Name other columns with --by, or lower --min-cell.",
        )
    measures, found = Measures(people, asked), choose(people, asked)
    if not np.isfinite(_loss(measures, found)):
        raise UsageError(
            f"The members of no such set judged the same {noun} in numbers{', in every group' if worst_group else ''}.",
            hint="Choose smaller sets, other models with --candidates, or lower --min-cell.",
        )
    kept = held_out(people, asked, found, settings.generator("portfolio"), splits)
    return _record(measures, found, kept, tally=tally, rule=rule, settings=settings)


def _loss(measures: Measures, found: Chosen) -> float:
    """Return the loss of the chosen set; infinite where it is measured on too few."""
    people = measures.people
    lost, counted = losses_of(people.patterns, found.places, measures.asked.loss)
    weights = people.rows.weight[:, None] * people.membership
    sums = Sums((found.places,), (lost @ weights)[None, :], (counted @ weights)[None, :], people.floor)
    return float(sums.mean.max())


def _record(
    measures: Measures, found: Chosen, kept: HeldOut, *, tally: Tally, rule: str, settings: Settings
) -> PortfolioChoice:
    people, asked, noun = measures.people, measures.asked, settings.noun
    value = measures.value(kept.lost, kept.counted)
    drawn = measures.value(*_random(people, asked), fractions=True)
    now = measures.of_set(asked.today)
    chosen, random = measures.record(found.places), measures.stated(drawn)
    near, near_count, compared, near_note = _near(measures, found)
    way = direction(people, _rule(rule), tally.selection)
    return PortfolioChoice(
        headline=headline(asked, chosen=chosen, held_out=measures.stated(value), random=random, noun=noun),
        noun=noun,
        individuals=people.rows.individuals,
        seed=settings.seed,
        objective=asked.objective,
        choice=asked.choice,
        size=asked.size,
        by=tally.groups if asked.worst_group else (),
        worst_group=asked.worst_group,
        groups=len(people.groups),
        most_mean_failure=asked.most,
        least_mean_failure=asked.least_mean(people.rates),
        sets=asked.sets,
        method=found.method,
        exact=found.exact,
        bound=_bound(found, asked),
        bound_reason=found.bound_reason or (EXACT if found.exact else ""),
        chosen=chosen,
        held_out=measures.stated(value),
        held_out_mean_failure=kept.failure,
        halves=len(kept.sets),
        halves_without_a_set=kept.without,
        random=random,
        difference_from_random=measures.difference(value, drawn),
        today=measures.record(asked.today),
        difference_from_today=measures.difference(value, now),
        within_noise=near,
        within_noise_count=near_count,
        sets_compared=compared,
        within_noise_note=near_note,
        models=_models(people, asked, found, kept),
        alternatives=tuple(_alternatives(measures, value)),
        appeals=appeals(
            people,
            asked.today,
            asked.candidates,
            way=way,
            generator=settings.generator("appeals"),
            splits=max(1, len(kept.sets) // 2),
        ),
        appeals_note=way.note,
        notes=tuple(notes(people, asked, without=kept.without, halves=len(kept.sets), noun=noun)),
    )


def _bound(found: Chosen, asked: Question) -> float | None:
    if found.bound is None or asked.objective == "systemic-failure":
        return found.bound
    return 1.0 - found.bound


def _rule(text: str) -> FailureRule | None:
    try:
        return parse_rule(text)
    except UsageError:
        return None


def _random(people: People, asked: Question) -> tuple[Floats, Floats]:
    """Return loss and who counts for a random one of the sets that may be chosen, whatever their mean failure."""
    if asked.choice == "set":
        return random_losses(people.patterns, asked.candidates, asked.size, asked.loss)
    return family_losses(people.patterns, asked.families(), asked.loss)


def _near(measures: Measures, found: Chosen) -> tuple[tuple[PortfolioSet, ...], int, int, str]:
    if found.sums is not None and found.allowed is not None:
        return within_noise(measures, found.places, found.sums, found.allowed, every=True)
    sums = neighbours(measures.people, measures.asked, found.places)
    allowed = allowed_sets(sums, measures.people.rates, measures.asked.most)
    return within_noise(measures, found.places, sums, allowed, every=False)


def _models(people: People, asked: Question, found: Chosen, kept: HeldOut) -> tuple[PortfolioModel, ...]:
    shown = sorted(set(asked.candidates) | set(asked.today))
    halves = len(kept.sets)
    return tuple(
        PortfolioModel(
            name=people.models[one],
            failure_rate=plain(
                people.share(
                    people.rows.failed[:, one].astype(np.float64), people.rows.judged[:, one].astype(np.float64)
                )
            ),
            chosen=one in found.places,
            today=one in asked.today,
            share_of_halves=sum(one in own for own in kept.sets) / halves,
        )
        for one in shown
    )


def _alternatives(measures: Measures, held: Value) -> list[AlternativeRecord]:
    """Measure what no search is needed for: random models for each decision, and today's models as they are."""
    people, asked = measures.people, measures.asked
    rates = people.rates[list(asked.candidates)]
    found = []
    rows: list[tuple[str, str, tuple[Floats, Floats], bool, float]] = []
    if asked.objective == "systemic-failure":
        sentence = f"each of {asked.size} decisions is made by a candidate drawn at random, anew for everyone"
        at_random = assigned_at_random(people, asked.candidates, asked.size, asked.loss.least)
        rows.append(("random assignment", sentence, at_random, True, float(rates.mean())))
    else:
        sentence = "one candidate, drawn at random for everyone anew, decides alone"
        rows.append(
            (
                "random assignment",
                sentence,
                assigned_at_random(people, asked.candidates, 1, 1),
                True,
                float(rates.mean()),
            )
        )
    sentence = f"a random set of {asked.size} different candidates for everyone anew"
    mixed = random_losses(people.patterns, asked.candidates, asked.size, asked.loss)
    rows.append(("random sets", sentence, mixed, True, float(rates.mean())))
    own = losses_of(people.patterns, asked.today, asked.loss_for(len(asked.today)))
    now = float(people.rates[list(asked.today)].mean())
    rows.append(("today's models", f"the {len(asked.today)} models that are in use", own, False, now))
    for name, words, (lost, counted), fractions, failure in rows:
        value = measures.value(lost, counted, fractions=fractions)
        found.append(
            AlternativeRecord(
                name=name,
                sentence=words,
                value=measures.stated(value),
                difference=measures.difference(held, value),
                mean_failure=failure,
            )
        )
    return found
