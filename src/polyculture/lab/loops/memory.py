"""Models that several chains of a seed train alike: each is trained once, and found again by what it learned from.

Arms that differ in their classifiers only have the same generators, and where these are networks nothing takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from polyculture.lab.components import parameters_of
from polyculture.lab.loops.rows import Event

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.loops.plan import LoopPlan

__all__ = ["Memory", "together"]

T = TypeVar("T")


class Memory:
    """Models of one plan that have been trained in this process, by role, generation, random state and training set.

    Examples
    --------
    >>> memory, features = Memory(), np.zeros((2, 3))
    >>> memory.model("group", 0, [features], 7, [], lambda events: "trained")
    'trained'
    >>> memory.model("group", 0, [features], 7, [], lambda events: "trained again")
    'trained'
    >>> memory.forget(1)
    >>> memory.model("group", 0, [features], 7, [], lambda events: "trained again")
    'trained again'
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int, bytes], tuple[Any, tuple[Event, ...]]] = {}

    def model(  # noqa: PLR0917 (what a training is made of)
        self,
        role: str,
        number: int,
        seen: Sequence[NDArray[Any] | None],
        seed: int,
        events: list[Event],
        train: Callable[[list[Event]], T],
    ) -> T:
        """Return the model that was trained so before; where none was, train it, and remember it.

        Parameters
        ----------
        role : str
            What the plan trains it as.
        number : int
            The generation.
        seen : sequence of ndarray or None
            All that it learns from: features, labels and batches, as far as it sees them.
        seed : int
            Its random state.
        events : list of Event
            What its training had to say is added, also where it is found again.
        train : callable
            Trains it; given a list for events.

        Raises
        ------
        Exception
            Whatever ``train`` raises; nothing is remembered then.
        """
        key = role, number, seed, _digest(seen)
        if key not in self._found:
            said: list[Event] = []
            try:
                found = train(said)
            except BaseException:
                events.extend(said)
                raise
            if not _samples_anew(found):
                events.extend(said)
                return found
            self._found[key] = found, tuple(said)
        model, heard = self._found[key]
        events.extend(heard)
        return model  # type: ignore[no-any-return]

    def forget(self, before: int) -> None:
        """Let go of the models of the generations before one: no chain needs them any more."""
        self._found = {key: found for key, found in self._found.items() if key[1] >= before}


def _samples_anew(model: Any) -> bool:
    """Return whether what a model gives depends on the seed of each call alone, and not on how often it was called."""
    last = getattr(model, "last", None)
    if last is None:  # no generator
        return True
    return "random_state" in signature(last.sample).parameters or "random_state" in parameters_of(last)


def _digest(seen: Sequence[NDArray[Any] | None]) -> bytes:
    """Return a hash of a training set."""
    found = sha256()
    for part in seen:
        if part is not None:
            found.update(repr((part.shape, part.dtype.str)).encode())
            found.update(np.ascontiguousarray(part).data)
        found.update(b"|")
    return found.digest()


def together(plan: LoopPlan, chains: Iterable[int], jobs: int) -> list[list[int]]:
    """Return chains in groups that are run in the same process, generation by generation, the largest group first.

    Those of a group have one seed, and generators that may be the same in all generations. With fewer groups than jobs
    each chain is its own: all processes have something to do.
    """
    groups: dict[Any, list[int]] = {}
    for chain in chains:
        arm, seed = plan.chain(chain)
        chosen = [one for one in arm.interventions if "generator" in one.of]
        groups.setdefault((seed, arm.retrains, repr((arm.shifts, chosen, arm.pool))), []).append(chain)
    if len(groups) < jobs:
        return [[chain] for own in groups.values() for chain in own]
    return sorted(groups.values(), key=len, reverse=True)
