"""Shifts of the data that models induce (MIDS, 2403.07857): each a small class with its formal statement.

A shift takes a draw of people and gives another; a list of them is applied in its order, so that they compose. Symbols:
x features, y label, g group; P_n the people that would enter the data of generation n before the shift, P'_n those
that do after it, P the original ones; G_n the generator and C_n the classifier of generation n, C_{-1} = A the label
annotator; y+ the favourable class; "x ~ P" is drawn from, "P' = c Q" is with whatever c makes it sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from polyculture.lab.images import as_numbers, as_pixels
from polyculture.lab.loops.rows import Event, Rows, joined
from polyculture.lab.plan import Part

if TYPE_CHECKING:
    from polyculture.lab.loops.rows import Draw, Floats, Moment

__all__ = ["SETTINGS", "Shift", "ShiftKinds", "shifted"]

MOST_ROUNDS = 60
"""Draws that are tried before it is said that too few people are kept."""


class Shift(Part, frozen=True, kw_only=True, tag_field="kind"):
    """What moves the data of a loop; this one moves nothing."""

    retrains: ClassVar[bool] = False
    """Whether each generation has a generator of its own."""
    labels: ClassVar[str] = ""
    """Who labels everyone after this shift: "previous", "annotator", or whoever did before."""

    def on(self, draw: Draw, moment: Moment) -> Draw:  # noqa: ARG002 (what others need)
        """Return the draw of those who enter the data."""
        return draw


class SequentialLabels(Shift, frozen=True, kw_only=True, tag="sequential labels"):
    """Labels come from the classifier before (performative prediction, fairness feedback).

    P'_n(x, y) = P_n(x) 1[y = C_{n-1}(x)]. The labels drift, the features do not.
    """

    labels: ClassVar[str] = "previous"

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Label by the classifier of the generation before."""

        def relabelled(number: int) -> Rows:
            rows = draw(number)
            return rows.labelled(moment.previous.decide(rows.features))

        return relabelled


class ModelCollapse(Shift, frozen=True, kw_only=True, tag="model collapse"):
    """Each generator learns from samples of the one before.

    G_n = fit{x_i ~ G_{n-1}}, and P'_n(x) = G_n(x). The features drift; errors of the fits add up.
    """

    retrains: ClassVar[bool] = True


class SyntheticShare(Shift, frozen=True, kw_only=True, tag="synthetic share"):
    """Generators learn from synthetic and original people.

    G_n = fit{x_i ~ p G_{n-1} + (1 - p) P}, p the share; classifiers see synthetic people only.
    """

    share: float = 0.5

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Replace the other share by original people, where a generator is trained."""
        return draw if moment.purpose == "classifier" else mixed(draw, moment.original, 1.0 - self.share, moment)


class DataSpill(Shift, frozen=True, kw_only=True, tag="data spill"):
    """Outputs of models outside of the loop get into the data.

    P'_n = (1 - q) P_n + q F, F the people whom another generator makes and another classifier labels, both trained once
    on the original data; q the share.
    """

    share: float = 0.25

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Replace a share by people of the models outside."""
        return mixed(draw, moment.foreign, self.share, moment)


class DisparityAmplification(Shift, frozen=True, kw_only=True, tag="disparity amplification"):
    """People of a group leave as far as models fail it, so that the worse-served group shrinks.

    P'_n(x, y, g) = c P_n(x, y, g) prod_{m<n} (1 - s e_g(m)), e_g(m) the error of generation m on group g, s the
    strength.
    """

    strength: float = 0.5

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Keep people with the probability that their group has stayed."""
        stays = np.prod(1.0 - self.strength * np.nan_to_num(moment.errors), axis=0)
        stays = stays / max(float(stays.max()), 1e-300)
        return thinned(draw, lambda rows: stays[rows.group], moment)


class SelectiveLabels(Shift, frozen=True, kw_only=True, tag="selective labels"):
    """Only of those who are accepted is it seen what they turn out to be.

    P'_n(x, y) = c P_n(x) 1[y = A(x)] (1[C_{n-1}(x) = y+] + e 1[C_{n-1}(x) != y+]), e the share of the others who are
    let through to learn of them.
    """

    labels: ClassVar[str] = "annotator"
    explore: float = 0.0

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Keep the accepted, labelled by what they turn out to be."""

        def observed(rows: Rows) -> Floats:
            accepted = moment.previous.decide(rows.features) == moment.world.favourable
            return np.where(accepted, 1.0, self.explore)

        return annotated(thinned(draw, observed, moment), moment)


class RunawayFeedback(Shift, frozen=True, kw_only=True, tag="runaway feedback"):
    """It is looked where the model says that something is found, and only what is looked at is recorded.

    P'_n(x, y, g) = c P_n(x, g) 1[y = A(x)] r_g^s, r_g the share of group g of which C_{n-1} says y+, s the strength.
    """

    labels: ClassVar[str] = "annotator"
    strength: float = 1.0
    looked: int = 1000

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Keep people as often as their group is looked at."""
        rows = draw(self.looked)
        found = moment.previous.decide(rows.features) == moment.world.favourable
        groups = len(moment.world.groups)
        there = np.maximum(np.bincount(rows.group, minlength=groups), 1)
        rate = np.bincount(rows.group, weights=found.astype(float), minlength=groups) / there
        often = (rate / rate.max()) ** self.strength if rate.max() > 0.0 else np.ones(groups)
        return annotated(thinned(draw, lambda rows: often[rows.group], moment), moment)


class ReactingPopulation(Shift, frozen=True, kw_only=True, tag="reacting population"):
    """People change their features towards those who are accepted, the more so the lower their score.

    x -> x + s (1 - C_{n-1}(y+ | x)) (m+ - m-), m+ and m- the mean features of original people with and without the
    favourable class, s the strength. Labels given by shifts before this one stay; later ones see the new features.
    """

    strength: float = 0.2

    def on(self, draw: Draw, moment: Moment) -> Draw:
        """Move those whom a classifier is trained on."""
        if moment.purpose == "generator":
            return draw
        world = moment.world
        good = world.label == world.favourable
        numbers = as_numbers(world.features)
        towards = numbers[good].mean(axis=0) - numbers[~good].mean(axis=0)

        def moved(number: int) -> Rows:
            rows = draw(number)
            low = 1.0 - moment.previous.probabilities(rows.features)[:, world.favourable]
            found = as_numbers(rows.features)
            found = found + self.strength * low.reshape(-1, *([1] * (found.ndim - 1))) * towards
            return replace(rows, features=as_pixels(found, world.image) if world.image else found)

        return moved


ShiftKinds = (
    SequentialLabels
    | ModelCollapse
    | SyntheticShare
    | DataSpill
    | DisparityAmplification
    | SelectiveLabels
    | RunawayFeedback
    | ReactingPopulation
)

SETTINGS: dict[str, tuple[ShiftKinds, ...]] = {
    "Static": (),
    "SeqClass": (SequentialLabels(),),
    "SeqGenSeqClass": (ModelCollapse(), SequentialLabels()),
    "SeqGenNonSeqClass": (ModelCollapse(),),
}
"""The settings of 2403.07857 as shifts; Static has none: people of the first generator, labelled by the annotator."""


def shifted(draw: Draw, shifts: tuple[ShiftKinds, ...], moment: Moment) -> Draw:
    """Return a draw with all shifts applied to it, in their order."""
    for shift in shifts:
        draw = shift.on(draw, moment)
    return draw


def annotated(draw: Draw, moment: Moment) -> Draw:
    """Return a draw of the same people with the label annotator's labels."""

    def labelled(number: int) -> Rows:
        rows = draw(number)
        return rows.labelled(moment.annotator.decide(rows.features))

    return labelled


def mixed(draw: Draw, other: Draw, share: float, moment: Moment) -> Draw:
    """Return a draw in which each person comes from the other source with the probability ``share``."""

    def mixture(number: int) -> Rows:
        many = int(moment.rng.binomial(number, min(max(share, 0.0), 1.0)))
        parts = [part(size) for part, size in ((draw, number - many), (other, many)) if size]
        rows = joined(parts) if parts else draw(0)
        return rows[moment.rng.permutation(len(rows))]

    return mixture


def thinned(draw: Draw, keep: Callable[[Rows], Floats], moment: Moment) -> Draw:
    """Return a draw of those who are kept, each with a probability of its own.

    Fewer than asked for where hardly anyone is kept; an event says so.
    """

    def kept(number: int) -> Rows:
        parts: list[Rows] = []
        have = 0
        for _ in range(MOST_ROUNDS):
            rows = draw(max(number, 1))
            part = rows[moment.rng.random(len(rows)) < keep(rows)]
            parts.append(part)
            have += len(part)
            if have >= number or not len(rows):
                break
        rows = joined(parts)[slice(0, number)]
        if len(rows) < number:
            moment.events.append(Event("too few kept", f"{len(rows)} of {number} in {MOST_ROUNDS} draws"))
        return rows

    return kept
