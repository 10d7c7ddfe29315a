"""One chain: an arm of a loop at one seed, generation after generation; the same numbers wherever it runs.

A chain can be taken up again from the weights of its models, or from what they were trained on: they are then fitted
to it once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from polyculture.lab.images import as_pixels
from polyculture.lab.loops.actors import AT_ONCE, Decides, Samples, first_line
from polyculture.lab.loops.embedding import Embedding, embedding_of
from polyculture.lab.loops.generation import Generation, Made
from polyculture.lab.loops.interventions import select
from polyculture.lab.loops.measures import made_people, of_groups
from polyculture.lab.loops.memory import Memory
from polyculture.lab.loops.rows import Event, Moment, Rows, joined
from polyculture.lab.loops.shifts import SETTINGS, SequentialLabels, mixed, shifted
from polyculture.lab.loops.trainer import CLASSIFIER_DRAWS, EMBEDDING, FOREIGN, GENERATOR_DRAWS, SAMPLES, Trainer
from polyculture.lab.loops.world import world_of

if TYPE_CHECKING:
    from polyculture.lab.loops.kept import Models
    from polyculture.lab.loops.plan import LoopPlan
    from polyculture.lab.loops.rows import Draw, Features, Ints
    from polyculture.lab.loops.star import Accounting
    from polyculture.lab.loops.trainer import State
    from polyculture.lab.loops.world import Everyone, World

__all__ = ["EVENTS", "Chain", "Stopped"]

EVENTS = {
    "stopped": "a model could not be trained, or a generator gave no numbers; the chain has no generations after that",
    "not finite": "a generator gave numbers that are not finite; those people are left out",
    "did not converge": "a model stopped before it converged; it is used as it is",
    "class missing": "a classifier's training set held one class only, which it then says of everyone",
    "class vanished": "none of the sampled people has a class that original ones have",
    "group vanished": "none of the sampled people is of a group that original ones are of",
    "empty stratum": "reparation wanted people of a stratum, and its pool held none",
    "places left": "no more people were to be had, so that a training set is smaller",
    "too few kept": "a shift kept hardly anyone, so that a training set is smaller",
}
"""What can go wrong in a generation, and what is then done."""

FEWEST_FINITE = 0.5


@dataclass(frozen=True, eq=False)
class _Notes:
    """What one decision-maker leaves of a generation: whom it trained on and the books, by purpose; what went wrong."""

    trained: dict[str, Rows] = field(default_factory=dict)
    books: dict[str, Accounting] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


class Stopped(Exception):  # noqa: N818 (no error: the chain ends)
    """The chain cannot go on; its message says why."""


class Chain:
    """An arm at a seed.

    Parameters
    ----------
    plan : LoopPlan
        The experiment.
    everybody : Everyone
        Its individuals.
    number : int
        Which chain, 0 to ``plan.chains`` - 1.
    first : dict, optional
        Weights of the models of its generation 0, as `models` gave them: those are not trained again.
    memory : Memory, optional
        Models that other chains trained in this process: those are not trained again either.

    Raises
    ------
    Stopped
        If an annotator or the first generator cannot be trained.
    """

    def __init__(
        self,
        plan: LoopPlan,
        everybody: Everyone,
        number: int,
        first: Models | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.plan, kept = plan, first or {}
        self.arm, self.seed = plan.chain(number)
        self.world: World = world_of(plan, everybody, self.seed)
        self.trainer = Trainer(plan, self.arm, self.seed, self.world, memory or Memory())
        self.size = plan.rows or len(self.world.features)
        self.first: tuple[Event, ...] = ()
        self._sequential = any(isinstance(shift, SequentialLabels) for shift in SETTINGS[self.arm.setting])
        self._foreign: tuple[Samples, Decides] | None = None
        makers = range(plan.decision_makers)
        events: list[Event] = []
        with _stopping():
            self.annotator = self.trainer.annotator("label", kept, events)
            self.grouping = self.trainer.annotator("group", kept, events)
            if len(self.world.groups) == 1:
                events = [event for event in events if event.reason != "class missing"]
            self.generators = [self.trainer.first_generator(maker, kept, events) for maker in makers]
        self.first = tuple(events)
        self.classifiers: list[Decides] = [self.annotator for _ in makers]
        self.errors = [np.zeros((0, len(self.world.groups))) for _ in makers]

    @cached_property
    def embedding(self) -> Embedding:
        """Where generated people are compared with real ones."""
        return embedding_of(self.plan, self.world, self.annotator, self.trainer.seed_of(0, 0, EMBEDDING))

    def models(self, number: int) -> Models:
        """Return the weights of those models of this generation that can be kept, by whose they are."""
        return self.trainer.weights(number, (self.annotator, self.grouping), self.generators, self.classifiers)

    def take_up(self, generations: Sequence[Generation], kept: Models, state: State | None = None) -> None:
        """Go on after some generations: put in the weights of the last, or fit to what was trained on once more."""
        last = generations[-1].number
        for maker in range(self.plan.decision_makers):
            own = state[maker] if state is not None else {}
            generator = self.trainer.kept_generator(maker, last, kept)
            if generator is None and "generator" in own:
                generator = self.trainer.generator(own["generator"], maker, last, [])
            self.generators[maker] = generator or self.generators[maker]
            self.classifiers[maker] = self.trainer.kept_classifier(maker, last, kept) or self.trainer.classifier(
                own["classifier"], maker, last, []
            )
            for generation in generations:
                self._note_errors(maker, generation.made[maker].predicted)

    def step(self, number: int) -> tuple[Generation, list[dict[str, Rows]]]:
        """Run a generation; return it, and what its models were trained on.

        A generation that cannot be run is returned as stopped, with the reason.
        """
        notes = [_Notes() for _ in self.classifiers]
        try:
            with _stopping():
                if self.arm.retrains and number:
                    self.generators = [self._retrained(number, maker, own) for maker, own in enumerate(notes)]
                classifiers = [
                    self.trainer.classifier(self._chosen("classifier", number, maker, own), maker, number, own.events)
                    for maker, own in enumerate(notes)
                ]
                made = [self._measured(number, maker, classifiers[maker], own) for maker, own in enumerate(notes)]
        except Stopped as stop:
            return _stopped(number, str(stop), [own.events for own in notes]), []
        self.classifiers = classifiers
        for maker, one in enumerate(made):
            self._note_errors(maker, one.predicted)
        return Generation(number, tuple(made)), [own.trained for own in notes]

    @staticmethod
    def unborn(plan: LoopPlan, said: str) -> Generation:
        """Return the generation 0 of a chain whose annotators or first generators cannot be trained."""
        return _stopped(0, said, [[] for _ in range(plan.decision_makers)])

    def _chosen(self, purpose: str, number: int, maker: int, notes: _Notes) -> Rows:
        """Return whom a decision-maker's generator or classifier is trained on, and note it."""
        moment = self._moment(purpose, number, maker, notes.events)
        batch = self.plan.batch if purpose == "classifier" or self.trainer.generator_in_batches else 0
        selected = select(self._pooled(moment, maker), self.arm.interventions, self.size, batch, moment)
        if selected.accounting is not None:
            notes.books[purpose] = selected.accounting
            notes.events.extend(_lacking(selected.accounting, purpose))
        notes.trained[purpose] = selected.rows
        return selected.rows

    def _retrained(self, number: int, maker: int, notes: _Notes) -> Samples:
        return self.trainer.generator(self._chosen("generator", number, maker, notes), maker, number, notes.events)

    def _moment(self, purpose: str, number: int, maker: int, events: list[Event]) -> Moment:
        rng = self.trainer.rng(number, maker, GENERATOR_DRAWS if purpose == "generator" else CLASSIFIER_DRAWS)
        return Moment(
            purpose=purpose,
            world=self.world,
            previous=self.classifiers[maker],
            annotator=self.annotator,
            original=partial(self._original, rng, maker),
            foreign=partial(self._from_outside, rng),
            errors=self.errors[maker],
            rng=rng,
            events=events,
        )

    def _pooled(self, moment: Moment, maker: int) -> Draw:
        """Return the draw of those who enter a decision-maker's data: its own people, and people of the pool."""
        own = self._entering(moment, maker)
        if not self.arm.overlap:
            return own
        makers = range(self.plan.decision_makers)
        moments = [
            replace(
                moment,
                previous=self.classifiers[one],
                errors=self.errors[one],
                original=partial(self._original, moment.rng, one),
            )
            for one in makers
        ]
        draws = [self._entering(of, one) for one, of in zip(makers, moments, strict=True)]

        def pool(number: int) -> Rows:
            shares = moment.rng.multinomial(number, np.full(len(draws), 1.0 / len(draws)))
            rows = joined([draw(int(many)) for draw, many in zip(draws, shares, strict=True)])
            return rows[moment.rng.permutation(len(rows))]

        return mixed(own, pool, self.arm.overlap, moment)

    def _entering(self, moment: Moment, maker: int) -> Draw:
        generator, who = self.generators[maker], moment.previous if self._sequential else None

        def sampled(number: int) -> Rows:
            return self._people(generator, number, moment.rng, moment.events, who)

        # Whoever labels in the setting does so at once: labels that would be replaced are not made.
        return shifted(sampled, self.arm.shifts, moment)

    def _people(
        self,
        generator: Samples,
        number: int,
        rng: np.random.Generator,
        events: list[Event],
        who: Decides | None = None,
    ) -> Rows:
        """Return sampled people with their group by the annotator, and their label by ``who``.

        Without it the label is that of a conditional generator, else the annotator's.

        Raises
        ------
        Stopped
            If half of them or more are no finite numbers.
        """
        if not number:
            nobody = np.zeros(0, dtype=np.int64)
            return Rows(self.world.features[:0], nobody, nobody)
        features, label = _sampled(generator, number, rng, self.world.image)
        if len(features) < number:
            events.append(Event("not finite", f"{number - len(features)} of {number} people"))
        if len(features) <= FEWEST_FINITE * number:
            raise Stopped(f"the generator diverged: {number - len(features)} of {number} people are no finite numbers")
        if features.shape[1:] != self.world.features.shape[1:]:
            raise Stopped(f"the generator gives people of shape {features.shape[1:]}")
        if who is not None or label is None:
            label = (who or self.annotator).decide(features)
        return Rows(features, label, self.grouping.decide(features))

    def _original(self, rng: np.random.Generator, maker: int, number: int) -> Rows:
        rows = self.trainer.originals_of(maker)
        return rows[rng.choice(len(rows), number, replace=number > len(rows))]

    def _from_outside(self, rng: np.random.Generator, number: int) -> Rows:
        """Return people as a generator and a classifier outside of the loop give them, trained once."""
        if self._foreign is None:
            generator = self.trainer.foreign_generator()
            people = self._people(generator, self.size, self.trainer.rng(0, 1, FOREIGN), [])
            self._foreign = generator, self.trainer.foreign_classifier(people)
        return self._people(self._foreign[0], number, rng, [], self._foreign[1])

    def _measured(self, number: int, maker: int, classifier: Decides, notes: _Notes) -> Made:
        world, own, trained = self.world, notes.events, notes.trained["classifier"]
        people = self._people(self.generators[maker], self.plan.samples, self.trainer.rng(number, maker, SAMPLES), own)
        annotated = people.label
        if self.generators[maker].conditional:
            annotated = self.annotator.decide(people.features)
        who = next((shift.labels for shift in reversed(self.arm.all_shifts()) if shift.labels), "")
        label = annotated if who == "annotator" else people.label
        if who == "previous":
            label = self.classifiers[maker].decide(people.features)
        for there, names, what in ((label, world.classes, "class"), (people.group, world.groups, "group")):
            gone = sorted(set(range(len(names))) - set(np.unique(there).tolist()))
            own.extend(Event(f"{what} vanished", names[place]) for place in gone)
        probabilities = classifier.probabilities(world.test_features)
        return Made(
            predicted=classifier.decide(world.test_features),
            score=probabilities[:, world.favourable],
            trained=np.bincount(world.stratum(trained.label, trained.group), minlength=world.strata),
            strata=np.bincount(world.stratum(label, people.group), minlength=world.strata),
            annotated=np.bincount(world.stratum(annotated, people.group), minlength=world.strata),
            distances=made_people(self.embedding, people.features),
            accounting=notes.books,
            events=(*(self.first if number == 0 and maker == 0 else ()), *own),
            kept=people.features[: self.plan.keep],
        )

    def _note_errors(self, maker: int, predicted: np.ndarray) -> None:
        world = self.world
        rates = of_groups(predicted, world.test_label, world.test_group, world.favourable, len(world.groups))
        self.errors[maker] = np.vstack([self.errors[maker], 1.0 - rates["accuracy"]])


def _sampled(
    generator: Samples, number: int, rng: np.random.Generator, image: tuple[int, ...]
) -> tuple[Features, Ints | None]:
    """Return the features of so many people, images in grey levels as original ones are; classes as generators do."""
    if not image:
        return generator.sample(number, rng)
    parts = [generator.sample(min(AT_ONCE, number - start), rng) for start in range(0, number, AT_ONCE)]
    found = [features.reshape(len(features), prod(features.shape[1:])) for features, _ in parts]
    if found[0].shape[1] != prod(image):
        raise Stopped(f"the generator gives images of {found[0].shape[1]} pixels")
    label = np.concatenate([label for _, label in parts]) if generator.conditional else None
    return np.concatenate([as_pixels(one, image) for one in found]), label


def _stopped(number: int, said: str, events: Sequence[Sequence[Event]]) -> Generation:
    """Return a generation at which a chain ends."""
    nobody = np.zeros(0, dtype=np.int64)
    made = tuple(
        Made(nobody, np.zeros(0), nobody, nobody, nobody, {}, events=(*own, Event("stopped", said))) for own in events
    )
    return Generation(number, made, said)


class _stopping:  # noqa: N801 (reads as a verb in `with`)
    """Turns whatever a model of the user's raises into the end of the chain; errors of the plan stay errors."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        from polyculture.errors import PolycultureError

        # A model that calls exit would end the whole run: of that model, too, it is only said that it failed.
        failed = isinstance(error, Exception | SystemExit)
        if failed and not isinstance(error, Stopped | PolycultureError | MemoryError):
            raise Stopped(f"{type(error).__name__}: {first_line(str(error))}") from error


def _lacking(accounting: Accounting, purpose: str) -> Iterator[Event]:
    """Yield what a selection had too few of: people of a stratum, or any at all."""
    empty = int(((accounting.pool == 0) & (accounting.quota > 0)).sum())
    if empty:
        yield Event("empty stratum", f"{empty} of {len(accounting.quota)}, for the {purpose}")
    if accounting.missing:
        yield Event("places left", f"{accounting.missing}, of the {purpose}")
