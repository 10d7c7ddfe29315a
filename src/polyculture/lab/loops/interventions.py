"""What is done about the drift: reparation (STAR) and the baselines beside it, each a small class of a plan.

An intervention may change the draw, select from it with a budget, weigh the rows, or train otherwise; several compose,
but only one of them may select for the same models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal

import numpy as np

from polyculture.lab.images import as_numbers
from polyculture.lab.loops.rows import Rows, joined
from polyculture.lab.loops.shifts import mixed
from polyculture.lab.loops.star import Accounting, batches_of, star_batches
from polyculture.lab.plan import Part, Step

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Learn
    from polyculture.lab.loops.rows import Draw, Floats, Ints, Moment
    from polyculture.lab.loops.world import World

__all__ = ["Intervention", "InterventionKinds", "Selected", "Selecting", "select"]

Purpose = Literal["generator", "classifier"]
DETECTOR = Step(estimator="sklearn.tree.DecisionTreeClassifier", parameters={"max_depth": 5, "min_samples_leaf": 20})


@dataclass(frozen=True, eq=False)
class Selected:
    """Whom a model is trained on, and the books where they were selected."""

    rows: Rows
    accounting: Accounting | None = None


class Intervention(Part, frozen=True, kw_only=True, tag_field="kind"):
    """What is done about the drift; this one does nothing.

    Attributes
    ----------
    of : tuple of {"generator", "classifier"}
        The training of which models it is applied to.
    """

    of: tuple[Purpose, ...] = ("classifier",)

    def on(self, draw: Draw, moment: Moment) -> Draw:  # noqa: ARG002 (what others need)
        """Return the draw of those who may be trained on."""
        return draw

    def weigh(self, rows: Rows, world: World) -> Rows:  # noqa: ARG002
        """Return the rows with weights."""
        return rows

    def learn(self, world: World) -> Learn | None:  # noqa: ARG002
        """Return how a classifier is trained where it is not simply fitted."""
        return None


class Selecting(Intervention, frozen=True, kw_only=True):
    """What selects by quotas of strata with a budget; this one by class x group, towards the plan's ideal.

    Attributes
    ----------
    budget : float
        People drawn beyond a batch, as a share of it.
    batch : int
        B; 0 for the whole training set as one batch.
    """

    budget: float = 0.25
    batch: int = 0

    def ideal(self, world: World) -> Floats:
        """Return the ideal distribution over its strata."""
        return world.ideal

    def strata(self, rows: Rows, world: World) -> Ints:
        """Return the stratum of each by which it selects."""
        return world.stratum(rows.label, rows.group)

    def selected(self, draw: Draw, size: int, batch: int, moment: Moment) -> Selected:
        """Return so many people from a draw, selected in batches of its own size, else of that of the training."""
        sizes = batches_of(size, self.batch or batch)
        found = list(
            star_batches(
                draw,
                lambda rows: self.strata(rows, moment.world),
                self.ideal(moment.world),
                sizes,
                self.budget,
                moment.rng,
            )
        )
        if not found:
            return Selected(draw(0))
        rows = joined([rows for rows, _ in found])
        if len(sizes) > 1:
            rows = replace(rows, batch=np.repeat(np.arange(len(found)), [len(rows) for rows, _ in found]))
        return Selected(rows, reduce(add, [accounting for _, accounting in found]))


class Star(Selecting, frozen=True, kw_only=True, tag="STAR"):
    """Stratified algorithmic reparation (2403.07857): batches by quotas of class x group.

    cla-STAR with ``of = ["classifier"]`` (from n = 0 on), gen-STAR with ``of = ["generator"]`` (from n = 1 on).
    """


class ClassBalance(Selecting, frozen=True, kw_only=True, tag="class balance"):
    """As many of each class, with the same budget as STAR; groups as they come."""

    def ideal(self, world: World) -> Floats:
        """Return equal shares of the classes."""
        return np.full(len(world.classes), 1.0 / len(world.classes))

    def strata(self, rows: Rows, world: World) -> Ints:  # noqa: ARG002
        """Return the class of each."""
        return rows.label


class GroupBalance(Selecting, frozen=True, kw_only=True, tag="group balance"):
    """As many of each group, with the same budget as STAR; classes as they come."""

    def ideal(self, world: World) -> Floats:
        """Return equal shares of the groups."""
        return np.full(len(world.groups), 1.0 / len(world.groups))

    def strata(self, rows: Rows, world: World) -> Ints:  # noqa: ARG002
        """Return the group of each."""
        return rows.group


class Reweighting(Intervention, frozen=True, kw_only=True, tag="reweighting"):
    """Weights that make class and group independent: w = P(y) P(g) / P(y, g) (Kamiran and Calders, 2012)."""

    def weigh(self, rows: Rows, world: World) -> Rows:
        """Return the rows with those weights; their mean is 1 where no stratum is empty."""
        shape = (len(world.classes), len(world.groups))
        there = np.zeros(shape)
        np.add.at(there, (rows.label, rows.group), 1.0)
        expected = np.outer(there.sum(axis=1), there.sum(axis=0)) / max(len(rows), 1)
        weight = np.divide(expected, there, out=np.zeros(shape), where=there > 0.0)
        return replace(rows, weight=weight[rows.label, rows.group])


class FreshData(Intervention, frozen=True, kw_only=True, tag="fresh data"):
    """A share of each training set are real individuals with their own labels."""

    share: float = 0.1

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Replace a share by real training individuals."""
        return mixed(draw, moment.original, self.share, moment)


class DropDetected(Intervention, frozen=True, kw_only=True, tag="drop detected"):
    """The share of people that a detector takes most for synthetic is dropped.

    The detector learns to tell real training individuals from as many synthetic ones; others are then drawn, and of
    them the share with the highest score is dropped.
    """

    share: float = 0.2
    detector: Step = DETECTOR

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Draw more people, and keep those that look least synthetic."""
        from polyculture.lab.components import build

        world = moment.world
        synthetic = draw(len(world.features))
        both = as_numbers(np.concatenate([world.features, synthetic.features]))
        told = np.repeat([0, 1], [len(world.features), len(synthetic)])
        detector = build([self.detector], int(moment.rng.integers(2**31 - 1)))
        if len(synthetic):
            detector.fit(both, told)

        def kept(number: int) -> Rows:
            rows = draw(math.ceil(number / (1.0 - self.share)))
            if not len(rows) or not len(synthetic):
                return rows[slice(0, number)]
            score = detector.predict_proba(as_numbers(rows.features))[:, 1]
            # Of equal scores those drawn first: a tree gives few different ones.
            return rows[np.sort(np.argsort(score, kind="stable")[:number])]

        return kept


class Constrained(Intervention, frozen=True, kw_only=True, tag="fairness constraint"):
    """Classifiers are trained under a fairness constraint (fairlearn, Agarwal and others 2018).

    The exponentiated gradient gives a randomized classifier: of several, one is drawn for each person.

    Attributes
    ----------
    constraint : {"demographic parity", "equalized odds"}
        What is to be equal between groups.
    bound : float
        How far it may be from equal.
    rounds : int
        Iterations at most.
    """

    constraint: Literal["demographic parity", "equalized odds"] = "equalized odds"
    bound: float = 0.01
    rounds: int = 10

    def learn(self, world: World) -> Learn | None:
        """Return the training by exponentiated gradient."""
        from polyculture.lab.loops.constrained import constrained

        return constrained(self.constraint, self.bound, self.rounds, world.favourable)


InterventionKinds = Star | ClassBalance | GroupBalance | Reweighting | FreshData | DropDetected | Constrained


def select(draw: Draw, interventions: tuple[InterventionKinds, ...], size: int, batch: int, moment: Moment) -> Selected:
    """Return whom a model is trained on.

    Parameters
    ----------
    draw : callable
        Gives people that enter the data.
    interventions : tuple of Intervention
        Those of the arm; what is not of this purpose is left out.
    size : int
        How many people.
    batch : int
        Rows of the batches in which models are trained; 0 where they are trained on the whole set at once.
    moment : Moment
        When it is.
    """
    own = [one for one in interventions if moment.purpose in one.of]
    for one in own:
        draw = one.on(draw, moment)
    selecting = next((one for one in own if isinstance(one, Selecting)), None)
    found = Selected(draw(size)) if selecting is None else selecting.selected(draw, size, batch, moment)
    rows = found.rows
    if moment.purpose == "classifier":
        for one in own:
            rows = one.weigh(rows, moment.world)
    return Selected(rows, found.accounting)
