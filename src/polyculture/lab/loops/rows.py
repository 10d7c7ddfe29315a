"""Some people with their labels and groups, draws of them, and the moment of a loop in which they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Decides
    from polyculture.lab.loops.world import World

__all__ = ["Draw", "Event", "Features", "Floats", "Ints", "Moment", "Rows", "joined"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Features = NDArray[Any]
"""Numbers of some people, (n, P) of float64; or their images, (n, channels, height, width) of uint8."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Some people.

    Attributes
    ----------
    features : ndarray, shape (n, ...)
        What models see of each; images as pixels of one byte.
    label : ndarray of int, shape (n,)
        Class, by whoever labels.
    group : ndarray of int, shape (n,)
        Group, known or annotated.
    weight : ndarray, shape (n,), optional
        How much each counts in training; None where all count alike.
    batch : ndarray of int, shape (n,), optional
        The batch in which each is trained on, as reparation made it up; None where it made up none.
    """

    features: Features
    label: Ints
    group: Ints
    weight: Floats | None = None
    batch: Ints | None = None

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, chosen: NDArray[np.bool_] | Ints | slice) -> Rows:
        weight = None if self.weight is None else self.weight[chosen]
        batch = None if self.batch is None else self.batch[chosen]
        return Rows(self.features[chosen], self.label[chosen], self.group[chosen], weight, batch)

    def labelled(self, label: Ints) -> Rows:
        """Return the same people with other labels."""
        return replace(self, label=label)


Draw = Callable[[int], Rows]
"""Gives so many people; fewer where no more are to be had."""


def joined(parts: Sequence[Rows]) -> Rows:
    """Return several lots of people as one; weights, where some have them, are 1 for the others, and batches none."""
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([np.ones(len(part)) if part.weight is None else part.weight for part in parts])
    return Rows(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.label for part in parts]),
        np.concatenate([part.group for part in parts]),
        weight,
    )


class Event(NamedTuple):
    """Something that went wrong: a key of `chain.EVENTS`, and what was said of it."""

    reason: str
    said: str


@dataclass(frozen=True, eq=False)
class Moment:
    """Where a loop stands when people are drawn.

    Attributes
    ----------
    purpose : {"generator", "classifier"}
        What is trained on them.
    world : World
        The real individuals.
    previous : Decides
        The decision-maker's classifier of generation n - 1; at n = 0 the label annotator.
    annotator : Decides
        The label annotator, trained once on the original data.
    original : Draw
        Real training individuals, with their own labels and groups.
    foreign : Draw
        People as models outside of the loop give them, which were trained once on the original data.
    errors : ndarray, shape (n, G)
        Error of each group in the generations before, on the test individuals.
    rng : Generator
        For whatever is drawn.
    events : list of Event
        What goes wrong is added to it.
    """

    purpose: str
    world: World
    previous: Decides
    annotator: Decides
    original: Draw
    foreign: Draw
    errors: Floats
    rng: np.random.Generator
    events: list[Event] = field(default_factory=list)
