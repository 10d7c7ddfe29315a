"""The value of a set of models as a question has it: of everyone, or of the group for which it is worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.portfolio_choice import PortfolioSet
from polyculture.audit.portfolio_people import NOBODY, People, Share
from polyculture.audit.proportion import statistic
from polyculture.audit.records import undefined
from polyculture.stats.intervals import Interval
from polyculture.stats.portfolio.losses import Loss, loss_of, losses_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.portfolio_question import Question
    from polyculture.audit.statistic import Statistic

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Value:
    """A loss of everyone or of the worst group, its Statistic turned so that it reads as what was asked for.

    ``share`` is the loss; with several groups it is that of the worst one, with simultaneous limits.
    """

    share: Share | None
    group: int | None = None

    @property
    def paired(self) -> bool:
        """Whether its error can be paired with that of another value: not where it is a maximum over groups."""
        return self.group is None


@dataclass(frozen=True, eq=False)
class Measures:
    """Values of sets and policies for one question about some people."""

    people: People
    asked: Question

    def value(self, lost: Floats, counted: Floats, *, fractions: bool = False) -> Value:
        """Return the mean loss, of everyone or of the worst group.

        The interval of the worst is from the largest lower to the largest upper of simultaneous limits (Sidak).
        """
        people = self.people
        if not people.groups:
            return Value(people.share(lost, counted, fractions=fractions))
        level = 0.95 ** (1.0 / len(people.groups))
        shares = [
            people.share(lost * own, counted * own, level=level, fractions=fractions) for own in people.membership.T
        ]
        known = [(share.value, -place) for place, share in enumerate(shares) if share is not None]
        if len(known) < len(shares):
            return Value(None)
        place = -max(known)[1]
        worst = shares[place]
        intervals = [share.interval for share in shares if share is not None]
        lows, highs = [i.low for i in intervals], [i.high for i in intervals]
        if worst is None or None in lows or None in highs:
            return Value(worst, place)
        method = f"the largest of {len(shares)} groups, simultaneous (Sidak): {worst.interval.method}"
        limits = Interval(max(x for x in lows if x is not None), max(x for x in highs if x is not None), method)
        return Value(Share(worst.value, limits, worst.influence, worst.variance), place)

    def of_set(self, chosen: Sequence[int]) -> Value:
        """Return the value of one set on everyone."""
        return self.value(*losses_of(self.people.patterns, chosen, self.asked.loss_for(len(chosen))))

    def stated(self, value: Value) -> Statistic:
        """Return a value as what was asked for: a systemic failure, or the accuracy of a majority."""
        if value.share is None:
            return undefined(NOBODY)
        share = value.share if self.asked.objective == "systemic-failure" else value.share.complement()
        return self.people.stated(share)

    def difference(self, one: Value, other: Value) -> Statistic:
        """Return the difference of two values; of worst groups without the correlation, which makes it wider."""
        if one.share is None or other.share is None:
            return undefined(NOBODY)
        first, second = one.share, other.share
        if self.asked.objective == "majority":
            first, second = first.complement(), second.complement()
        return self.people.difference(first, second, paired=one.paired and other.paired)

    def record(self, chosen: Sequence[int], *, difference: Statistic | None = None) -> PortfolioSet:
        """Return a set as a record."""
        people, today = self.people, set(self.asked.today)
        value, size = self.of_set(chosen), len(chosen)
        names = people.models
        return PortfolioSet(
            models=tuple(names[one] for one in sorted(chosen)),
            value=self.stated(value),
            mean_failure=people.mean_failure(tuple(chosen)),
            systemic_failure=self._everyone(chosen, loss_of("systemic-failure", size, self.asked.min_judged)),
            majority=self._everyone(chosen, loss_of("majority", size, self.asked.min_judged)),
            removed=tuple(names[one] for one in sorted(today - set(chosen))),
            added=tuple(names[one] for one in sorted(set(chosen) - today)),
            worst_group={} if value.group is None else people.groups[value.group].by,
            difference=difference,
        )

    def _everyone(self, chosen: Sequence[int], loss: Loss) -> Statistic:
        share = self.people.share(*losses_of(self.people.patterns, chosen, loss))
        if share is None:
            return undefined(NOBODY)
        return self.people.stated(share if loss.objective == "systemic-failure" else share.complement())


def plain(share: Share | None) -> Statistic:
    """Return a share as a Statistic without a note."""
    return undefined(NOBODY) if share is None else statistic(share.value, share.interval)
