"""What is asked of a portfolio, checked against the models there are: which sets may be chosen, under what bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np

from polyculture.errors import UsageError, nearest
from polyculture.stats.portfolio.losses import Family, Loss, Objective, loss_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Choice = Literal["set", "swap", "addition"]
OBJECTIVES: tuple[Objective, ...] = ("systemic-failure", "majority")
DEFAULT_SIZE = 3


@dataclass(frozen=True)
class Question:
    """Which sets may be chosen, and what is to be made small.

    Attributes
    ----------
    candidates, today : tuple of int
        Places of the models.
    choice : {"set", "swap", "addition"}
        Any set of ``size`` candidates, one member of ``today`` for another candidate, or ``today`` and one more.
    most : float or None
        Highest mean failure rate of the members.
    """

    candidates: tuple[int, ...]
    today: tuple[int, ...]
    choice: Choice
    size: int
    objective: Objective
    worst_group: bool
    most: float | None
    min_judged: int

    @property
    def loss(self) -> Loss:
        """The loss of the sets that may be chosen."""
        return self.loss_for(self.size)

    def loss_for(self, size: int) -> Loss:
        """Return the loss of sets of another size."""
        return loss_of(self.objective, size, self.min_judged)

    @property
    def sets(self) -> int:
        """How many sets may be chosen, the bound left aside."""
        outside = len(set(self.candidates) - set(self.today))
        return {
            "set": comb(len(self.candidates), self.size),
            "swap": len(self.today) * outside,
            "addition": outside,
        }[self.choice]

    def families(self) -> list[Family]:
        """Return all sets that may be chosen, in families."""
        if self.choice == "swap":
            return list(Family.swaps(self.today, self.candidates))
        if self.choice == "addition":
            return list(Family.additions(self.today, self.candidates))
        return list(Family.of_size(self.candidates, self.size))

    def least_mean(self, rates: Floats) -> float:
        """Return the lowest mean failure rate of any set that may be chosen."""
        own = {one: float(rates[one]) for one in (*self.candidates, *self.today)}
        if self.choice == "set":
            return float(np.mean(sorted(own[one] for one in self.candidates)[: self.size]))
        outside = min(own[one] for one in self.candidates if one not in self.today)
        now = [own[one] for one in self.today]
        if self.choice == "addition":
            return (sum(now) + outside) / self.size
        return (sum(now) - max(now) + outside) / self.size


def question(
    models: Sequence[str],
    judged: NDArray[np.int64],
    rates: Floats,
    groups: Sequence[str],
    *,
    size: int | None = None,
    today: Sequence[str] = (),
    candidates: Sequence[str] = (),
    swap: bool = False,
    add: bool = False,
    objective: str = "systemic-failure",
    worst_group: bool = False,
    most_mean_failure: float | None = None,
    min_judged: int = 2,
) -> Question:
    """Check what is asked.

    Parameters
    ----------
    models : sequence of str
        Names of the k models.
    judged, rates : (k,) arrays
        Whom each judged, and its failure rate.
    groups : sequence of str
        Group columns of the Tally.
    size, today, candidates, swap, add, objective, worst_group, most_mean_failure
        As in `polyculture.portfolio`; empty names mean all models.
    min_judged : int
        As in an audit.

    Returns
    -------
    Question

    Raises
    ------
    UsageError
        If the call is wrong, or no set meets the bound: the message then says the least that one can.
    """
    if objective not in OBJECTIVES:
        hint = nearest(objective, OBJECTIVES) or f"Choose {' or '.join(OBJECTIVES)}."
        raise UsageError(f"There is no objective {objective!r}.", hint=hint)
    if swap and add:
        raise UsageError("--swap and --add exclude each other.", hint="Choose one of them.")
    if worst_group and not groups:
        raise UsageError("There are no groups to look for the worst of.", hint="Name group columns with --by.")
    able = tuple(one for one in range(len(models)) if judged[one] > 0)
    now = _places(today, models, able, "--today")
    offered = _places(candidates, models, able, "--candidates")
    if len(offered) < 2 and not (swap or add):
        raise UsageError("A portfolio is chosen among at least 2 models.", hint="Name more with --candidates.")
    choice: Choice = "swap" if swap else "addition" if add else "set"
    found = Question(
        candidates=offered,
        today=now,
        choice=choice,
        size=_size(size, choice, offered, now),
        objective=objective,
        worst_group=worst_group,
        most=most_mean_failure,
        min_judged=min_judged,
    )
    _check_bound(found, rates)
    return found


def _places(names: Sequence[str], models: Sequence[str], able: tuple[int, ...], option: str) -> tuple[int, ...]:
    if not names:
        return able
    for name in names:
        if name not in models:
            hint = nearest(name, models) or f"The models are: {', '.join(models[:20])}."
            raise UsageError(f"{option}: there is no model {name!r}.", hint=hint)
        if models.index(name) not in able:
            raise UsageError(f"{option}: the model {name!r} judged nobody.", hint="Leave it out.")
        if list(names).count(name) > 1:
            raise UsageError(f"{option}: the model {name!r} is named twice.", hint="Name each once.")
    return tuple(sorted(models.index(name) for name in names))


def _size(size: int | None, choice: Choice, offered: tuple[int, ...], now: tuple[int, ...]) -> int:
    if choice == "set":
        if size is not None and (isinstance(size, bool) or not isinstance(size, Integral)):
            raise UsageError(f"{size!r} is no number of models.", hint=f"Give a whole number, 1 to {len(offered)}.")
        chosen = min(DEFAULT_SIZE, len(offered) - 1) if size is None else int(size)
        if not 1 <= chosen <= len(offered):
            raise UsageError(
                f"A set of {chosen} cannot be chosen from {len(offered)} models.",
                hint=f"Choose 1 to {len(offered)} of them.",
            )
        return chosen
    if size is not None:
        option = "--swap" if choice == "swap" else "--add"
        raise UsageError(f"With {option} the size follows from --today.", hint="Drop --size.")
    if not set(offered) - set(now):
        raise UsageError(
            f"No model is left to {'swap in' if choice == 'swap' else 'add'}: all candidates are in use today.",
            hint="Name the models that are in use with --today.",
        )
    return len(now) + (choice == "addition")


def _check_bound(asked: Question, rates: Floats) -> None:
    if asked.most is None:
        return
    if not 0.0 <= asked.most <= 1.0:
        raise UsageError(
            f"--most-mean-failure {asked.most:g} is no share of individuals.", hint="Give a share from 0 to 1, as 0.2."
        )
    least = asked.least_mean(rates)
    if least > asked.most:
        what = {"set": f"set of {asked.size}", "swap": "swap", "addition": "addition"}[asked.choice]
        raise UsageError(
            f"No {what} has a mean failure rate of at most {asked.most:g}: the least that one has is {least:.4g}.",
            hint=f"Give --most-mean-failure {np.ceil(least * 1e4) / 1e4:g} or more.",
        )
