"""All generations of a store as arrays of figures, by arm, seed and generation; nothing is averaged over seeds here.

The measures themselves stand in ``measures``, and those of several decision-makers in the audit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from polyculture.lab.loops.measures import DISTANCES, decisions, divergence, of_groups
from polyculture.lab.loops.world import ideal_of, tested_of
from polyculture.lab.measure import event, group_event

if TYPE_CHECKING:
    from polyculture.lab.loops.generation import Generation, Made
    from polyculture.lab.loops.rows import Floats, Ints
    from polyculture.lab.loops.star import Accounting
    from polyculture.lab.loops.store import LoopStore

__all__ = ["LoopMeasured", "measured"]

OF_GROUPS = ("accuracy", "selection_rate", "true_positive_rate", "false_positive_rate")


@dataclass(eq=False)
class LoopMeasured:
    """Figures of all generations.

    Attributes
    ----------
    values : dict of (str, str or None) to ndarray, shape (A, R, N)
        By measure and the group, class or stratum that it is of: arm, seed, generation; means over decision-makers,
        NaN where undefined or the chain had stopped. For "homogenization" the numerators and denominators are apart.
    books : dict of (int, int, str) to list of Accounting
        By arm, generation and purpose, one a seed and decision-maker.
    faults : Counter
        By arm and reason.
    first : dict of (int, str) to (int, str)
        The generation in which it happened first, and what was said.
    stopped : Counter
        Chains that ended before their time, by arm.
    original : ndarray, shape (S,)
        Share of each stratum among all individuals.
    """

    shape: tuple[int, int, int]
    original: Floats
    values: dict[tuple[str, str | None], Floats] = field(default_factory=dict)
    books: dict[tuple[int, int, str], list[Accounting]] = field(default_factory=dict)
    faults: Counter[tuple[int, str]] = field(default_factory=Counter)
    first: dict[tuple[int, str], tuple[int, str]] = field(default_factory=dict)
    stopped: Counter[int] = field(default_factory=Counter)

    def put(self, measure: str, of: str | None, at: tuple[int, int, int], value: float) -> None:
        """Note a figure."""
        if (measure, of) not in self.values:
            self.values[measure, of] = np.full(self.shape, np.nan)
        self.values[measure, of][at] = value


def measured(store: LoopStore) -> LoopMeasured:
    """Measure every generation of a store.

    Raises
    ------
    FileError
        If the store is incomplete or damaged.
    """
    manifest, plan = store.manifest, store.manifest.plan
    people = store.individuals()
    label = np.array([manifest.classes.index(one) for one in people["class"]], dtype=np.int64)
    group = np.array([manifest.groups.index(one) for one in people["group"]], dtype=np.int64)
    strata = len(manifest.classes) * len(manifest.groups)
    original = np.bincount(label * len(manifest.groups) + group, minlength=strata) / len(label)
    found = LoopMeasured((len(plan.arms), plan.seeds, plan.generations), original)
    tests = {seed: tested_of(plan, len(label), seed) for seed in range(plan.seeds)}
    wanted = ideal_of(plan, manifest.classes, manifest.groups)
    for measure in ("accuracy", "largest_class"):  # undefined, but there, where every chain stopped before its first
        found.put(measure, None, (0, 0, 0), float("nan"))
    for chain, generations in enumerate(store.chains()):
        arm, seed = divmod(chain, plan.seeds)
        test = tests[seed]
        ideal = _of_training(label, group, test, len(manifest.groups), strata) if wanted is None else wanted
        for generation in generations:
            _note_events(found, arm, generation)
            if generation.stopped:
                found.stopped[arm] += 1
                continue
            at = (arm, seed, generation.number)
            _decisions(found, store, at, generation, label[test], group[test])
            _people(found, store, at, generation, ideal)
    return found


def _of_training(label: Ints, group: Ints, test: Ints, groups: int, strata: int) -> Floats:
    """Return the shares of strata of those who are not tested on: the ideal where it is the original distribution."""
    train = np.setdiff1d(np.arange(len(label)), test)
    return np.bincount(label[train] * groups + group[train], minlength=strata) / len(train)


def _note_events(found: LoopMeasured, arm: int, generation: Generation) -> None:
    for one in generation.made:
        for reason, said in one.events:
            found.faults[arm, reason] += 1
            earlier = found.first.get((arm, reason))
            if earlier is None or generation.number < earlier[0]:
                found.first[arm, reason] = (generation.number, said)
        for purpose, books in one.accounting.items():
            found.books.setdefault((arm, generation.number, purpose), []).append(books)


def _decisions(  # noqa: PLR0917 (who decided on whom)
    found: LoopMeasured, store: LoopStore, at: tuple[int, int, int], generation: Generation, label: Ints, group: Ints
) -> None:
    manifest = store.manifest
    favourable, groups = manifest.classes.index(manifest.favourable), manifest.groups
    each = [decisions(one.predicted, label, group, favourable, len(groups)) for one in generation.made]
    for measure in each[0]:
        found.put(measure, None, at, _mean([one[measure] for one in each]))
    rates = [of_groups(one.predicted, label, group, favourable, len(groups)) for one in generation.made]
    for measure in OF_GROUPS:
        for place, name in enumerate(groups):
            found.put(measure, name, at, _mean([float(one[measure][place]) for one in rates]))
    if len(generation.made) > 1:
        failed = np.stack([one.predicted != label for one in generation.made], axis=1)
        seen = np.ones_like(failed)
        observed, expected = event(seen, failed)
        found.put("systemic_failure", None, at, observed)
        found.put("expected", None, at, expected)
        for place, name in enumerate(groups):
            own = group == place
            found.put("systemic_failure", name, at, float(failed[own].all(axis=1).mean()) if own.any() else np.nan)
        if len(groups) > 1:
            of_group = group_event(seen, failed, group, len(groups))
            found.put("group_expected", None, at, of_group[0])
            found.put("group_product", None, at, of_group[2])


def _people(
    found: LoopMeasured, store: LoopStore, at: tuple[int, int, int], generation: Generation, ideal: Floats
) -> None:
    manifest = store.manifest
    classes, groups = manifest.classes, manifest.groups
    made = generation.made

    def shares(counts: list[Ints]) -> Floats:
        mean = np.mean([one / max(int(one.sum()), 1) for one in counts], axis=0)
        return np.asarray(mean.reshape(len(classes), len(groups)))

    by_stratum = shares([one.strata for one in made])
    for place, name in enumerate(classes):
        found.put("class_share", name, at, float(by_stratum[place].sum()))
    for place, name in enumerate(groups):
        found.put("group_share", name, at, float(by_stratum[:, place].sum()))
    annotated, trained = shares([one.annotated for one in made]), shares([one.trained for one in made])
    for row, target in enumerate(classes):
        found.put("annotated_share", target, at, float(annotated[row].sum()))
        for column, group in enumerate(groups):
            found.put("stratum_share", f"{target}, {group}", at, float(by_stratum[row, column]))
            found.put("trained_share", f"{target}, {group}", at, float(trained[row, column]))
    found.put("divergence", None, at, _mean([divergence(one.strata, ideal) for one in made]))
    found.put("trained_divergence", None, at, _mean([divergence(one.trained, ideal) for one in made]))
    for measure in DISTANCES:
        found.put(measure, None, at, _mean([_distance(one, measure) for one in made]))


def _distance(one: Made, measure: str) -> float:
    return one.distances.get(measure, float("nan"))


def _mean(values: list[float]) -> float:
    """Return the mean over decision-makers; undefined where it is for one of them."""
    return float(np.mean(values))
