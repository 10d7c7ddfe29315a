"""Who trains the models of a chain: from rows, or from the weights that were stored of them; and the seeds of both.

When they are trained, and on whom, stands in ``chain``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from polyculture.lab.components import build
from polyculture.lab.loops.actors import fit_classifier, fit_generator, learn_batches, takes_batches
from polyculture.lab.loops.kept import decider, sampler, weights_of
from polyculture.lab.loops.rows import Rows

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Decides, Learn, Samples
    from polyculture.lab.loops.kept import Models
    from polyculture.lab.loops.memory import Memory
    from polyculture.lab.loops.plan import Arm, LoopPlan
    from polyculture.lab.loops.rows import Event
    from polyculture.lab.loops.world import World

__all__ = ["FOREIGN", "State", "Trainer"]

GENERATOR_SEED, GENERATOR_DRAWS, CLASSIFIER_SEED, CLASSIFIER_DRAWS, SAMPLES, ANNOTATORS, FOREIGN, START, EMBEDDING = (
    range(9)
)
"""What is drawn: each has numbers of its own."""

State = Sequence[Mapping[str, "Rows"]]
"""What the models of each decision-maker were trained on, by purpose."""


class Trainer:
    """Trains the models of an arm at a seed.

    Parameters
    ----------
    plan : LoopPlan
        The experiment.
    arm : Arm
        Whose models.
    seed : int
        Which of its seeds.
    world : World
        The real individuals.
    memory : Memory
        Models that other chains of the plan trained in this process.
    """

    def __init__(self, plan: LoopPlan, arm: Arm, seed: int, world: World, memory: Memory) -> None:
        self.plan, self.arm, self.seed, self.world, self.memory = plan, arm, seed, world, memory
        self.offered = plan.offered()
        last = build(plan.steps("generator")).steps[-1][1]
        self.generator_in_batches = takes_batches(last)
        self.generator_is_told_classes = bool(getattr(last, "conditional", False))

    def rng(self, number: int, maker: int, what: int) -> np.random.Generator:
        """Return a generator of random numbers; the same for all arms, so that they differ in what they do only."""
        key = (1, self.seed, number, maker, what)
        return np.random.default_rng(np.random.SeedSequence(self.plan.seed, spawn_key=key))

    def seed_of(self, number: int, maker: int, what: int) -> int:
        """Return a random state."""
        return int(self.rng(number, maker, what).integers(2**31 - 1))

    def originals(self) -> Rows:
        """Return the training individuals with their own labels and groups."""
        return Rows(self.world.features, self.world.label, self.world.group)

    def originals_of(self, maker: int) -> Rows:
        """Return those of them that a decision-maker has: all, or its part where each begins with its own."""
        rows = self.originals()
        if self.plan.start == "shared":
            return rows
        order = self.rng(0, 0, START).permutation(len(rows))
        return rows[np.sort(np.array_split(order, self.plan.decision_makers)[maker])]

    def annotator(self, role: Literal["label", "group"], kept: Models, events: list[Event]) -> Decides:
        """Return an annotator, trained on the original individuals."""
        steps, rows = self.plan.steps(role), self.originals()
        seed = self.seed_of(0, 0 if role == "label" else 1, ANNOTATORS)
        classes = len(self.world.classes if role == "label" else self.world.groups)
        if (weights := kept.get(f"{role} annotator")) is not None:
            return decider(steps, weights, classes, seed, self.offered)
        if role == "group":
            rows = rows.labelled(rows.group)

        def train(said: list[Event]) -> Decides:
            return fit_classifier(steps, rows, classes, seed, said, offered=self.offered)

        return self.memory.model(role, 0, (rows.features, rows.label), seed, events, train)

    def first_generator(self, maker: int, kept: Models, events: list[Event]) -> Samples:
        """Return the generator that a decision-maker begins with."""
        return self.kept_generator(maker, 0, kept) or self.generator(self.originals_of(maker), maker, 0, events)

    def generator(self, rows: Rows, maker: int, number: int, events: list[Event]) -> Samples:
        """Return the generator of a decision-maker in a generation, trained on some people."""
        return self._generator(rows, number, self.seed_of(number, maker, GENERATOR_SEED), events)

    def _generator(self, rows: Rows, number: int, seed: int, events: list[Event]) -> Samples:
        def train(said: list[Event]) -> Samples:
            return fit_generator(self.plan.steps("generator"), rows, seed, said, self.offered)

        # Labels that it is not told do not matter: arms whose classifiers differ have the same generators.
        seen = (
            rows.features,
            rows.label if self.generator_is_told_classes else None,
            rows.batch if self.generator_in_batches else None,
        )
        return self.memory.model("generator", number, seen, seed, events, train)

    def kept_generator(self, maker: int, number: int, kept: Models) -> Samples | None:
        """Return the generator that learned what is kept; None where nothing is."""
        weights = kept.get(f"generator {maker + 1}")
        if weights is None:
            return None
        seed = self.seed_of(number, maker, GENERATOR_SEED)
        return sampler(self.plan.steps("generator"), weights, seed, self.offered)

    def classifier(self, rows: Rows, maker: int, number: int, events: list[Event]) -> Decides:
        """Return the classifier of a decision-maker in a generation, trained on some people as the arm says."""
        learn = next((found for one in self.arm.interventions if (found := one.learn(self.world)) is not None), None)
        if learn is None and self.plan.batch and not takes_batches(build(self.plan.steps(maker)).steps[-1][1]):
            learn = learn_batches(self.plan.batch, self.plan.epochs, len(self.world.classes))
        return self._classifier(rows, maker, self.seed_of(number, maker, CLASSIFIER_SEED), events, learn)

    def _classifier(
        self, rows: Rows, maker: int, seed: int, events: list[Event], learn: Learn | None = None
    ) -> Decides:
        steps, classes = self.plan.steps(maker), len(self.world.classes)
        return fit_classifier(steps, rows, classes, seed, events, learn, self.offered)

    def kept_classifier(self, maker: int, number: int, kept: Models) -> Decides | None:
        """Return the classifier that learned what is kept; None where nothing is."""
        weights = kept.get(f"classifier {maker + 1}")
        if weights is None:
            return None
        seed, classes = self.seed_of(number, maker, CLASSIFIER_SEED), len(self.world.classes)
        return decider(self.plan.steps(maker), weights, classes, seed, self.offered)

    def foreign_generator(self) -> Samples:
        """Return the generator of outside of the loop, trained on the original individuals."""
        return self._generator(self.originals(), 0, self.seed_of(0, 0, FOREIGN), [])

    def foreign_classifier(self, rows: Rows) -> Decides:
        """Return the classifier of outside of the loop, trained on some people."""
        return self._classifier(rows, 0, self.seed_of(0, 2, FOREIGN), [])

    def weights(
        self, number: int, annotators: Sequence[Decides], generators: Sequence[Samples], classifiers: Sequence[Decides]
    ) -> Models:
        """Return the weights of those models of a generation that can be kept, by whose they are."""
        there: dict[str, Samples | Decides] = {}
        if not number:
            there |= {"label annotator": annotators[0], "group annotator": annotators[1]}
        if self.arm.retrains or not number:
            there |= {f"generator {maker}": one for maker, one in enumerate(generators, start=1)}
        there |= {f"classifier {maker}": one for maker, one in enumerate(classifiers, start=1)}
        found = {name: weights_of(model, self.plan.steps(_role(name))) for name, model in there.items()}
        return {name: weights for name, weights in found.items() if weights is not None}

    def enough(self, number: int, kept: Models, state: State | None = None) -> bool:
        """Return whether all models of a generation can be had from weights, or from what they were trained on."""
        wanted = ["classifier", "generator"] if self.arm.retrains and number else ["classifier"]
        return all(
            f"{purpose} {maker + 1}" in kept or (state is not None and purpose in state[maker])
            for maker in range(self.plan.decision_makers)
            for purpose in wanted
        )


def _role(name: str) -> Literal["generator", "label", "group"] | int:
    """Return the role in a plan of a model by its name.

    >>> _role("classifier 2"), _role("generator 1"), _role("group annotator")
    (1, 'generator', 'group')
    """
    kind, _, rest = name.partition(" ")
    if kind == "classifier":
        return int(rest) - 1
    return "generator" if kind == "generator" else "label" if kind == "label" else "group"
