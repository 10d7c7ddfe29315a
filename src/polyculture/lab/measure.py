"""What the statistics of an audit say of each trial: systemic failure, expected, groups, accuracy, as arrays.

Nothing is defined here: the measures are those of ``stats``, taken once a trial and arm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyculture.lab.trial import LOST, NOBODY, UNKNOWN, Fault, setting_of

if TYPE_CHECKING:
    from polyculture.lab.plan import Plan
    from polyculture.lab.store import Store
    from polyculture.lab.trial import Outcome, Setting

__all__ = ["GROUP_MEASURES", "Measured", "event", "group_event", "measure"]

Floats = NDArray[np.float64]
GROUP_MEASURES = ("average", "uniform", "worst")
FEWEST_JUDGED = 2  # an individual counts whom so many decision-makers judge, as in an audit


@dataclass(frozen=True, eq=False)
class Measured:
    """Figures of all trials: arrays (L, B, A, R, C) by learner, blocks, arm, model seed, partition seed.

    Attributes
    ----------
    systemic_failure, expected, accuracy : ndarray
        Of each trial; NaN in all arms where a decision-maker of one could not be trained.
    group_products : ndarray, shape (3, L, B, A, R, C)
        The numerators of average, uniform and worst group homogenization.
    group_expected : ndarray
        What is expected among the individuals whose group is known.
    faults : Counter
        By (learner, blocks, arm, decision-maker, reason).
    said : dict
        What the learner said the first time.
    """

    systemic_failure: Floats
    expected: Floats
    accuracy: Floats
    group_products: Floats
    group_expected: Floats
    faults: Counter[tuple[int, int, int, int, str]]
    said: dict[tuple[int, int, int, int, str], str]

    def at(self, values: Floats, learner: int | Sequence[int] | None, blocks: int | None) -> Floats:
        """Return the means of some figures by arm and seeds, (A, R, C), over the settings that are meant.

        A setting without outcomes at a pair of seeds is left out of that mean.
        """
        chosen = values[slice(None) if learner is None else np.atleast_1d(learner)]
        chosen = chosen[:, slice(None) if blocks is None else [blocks]]
        known = np.isfinite(chosen)
        number = known.sum(axis=(0, 1))
        total = np.where(known, chosen, 0.0).sum(axis=(0, 1))
        return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))

    @property
    def homogenization(self) -> Floats:
        """H of each trial; NaN where nothing is expected."""
        defined = self.expected > 0.0
        nothing = np.full(self.expected.shape, np.nan)
        return np.asarray(np.divide(self.systemic_failure, self.expected, out=nothing, where=defined))


def measure(store: Store) -> Measured:
    """Measure every trial of a store.

    Raises
    ------
    FileError
        If the store is incomplete or damaged.
    """
    plan = store.manifest.plan
    _, cell, cells = store.individuals()
    shape = (
        len(plan.learners),
        len(plan.blocks),
        len(store.manifest.arms),
        plan.model_seeds,
        plan.partition_seeds,
    )
    arrays = [np.full(shape, np.nan) for _ in range(4)]
    products = np.full((len(GROUP_MEASURES), *shape), np.nan)
    found = Measured(arrays[0], arrays[1], arrays[2], products, arrays[3], Counter(), {})
    for outcome in store.outcomes():
        _measure(found, plan, outcome, cell, len(cells))
    return found


def _measure(found: Measured, plan: Plan, outcome: Outcome, cell: NDArray[np.int64], cells: int) -> None:
    setting = setting_of(plan, outcome.setting.trial)
    for fault in outcome.faults:
        _note(found, setting, fault)
    judged = outcome.failed != UNKNOWN
    counts = judged & (judged.sum(axis=1) >= FEWEST_JUDGED)[:, None]
    nobody = np.argwhere(~counts.any(axis=2))
    if len(nobody):  # a decision-maker of one arm has no outcomes that count: arms stay paired
        if not any(fault.reason in LOST for fault in outcome.faults):
            for arm, maker in nobody.tolist():
                _note(found, setting, Fault(arm, maker, NOBODY, ""))
        return
    for arm, (seen, failed) in enumerate(zip(judged, outcome.failed == 1, strict=True)):
        at = (setting.learner, setting.blocks, arm, setting.model_seed, setting.partition_seed)
        found.systemic_failure[at], found.expected[at] = event(seen.T, failed.T)
        found.accuracy[at] = 1.0 - float((failed.sum(axis=1) / seen.sum(axis=1)).mean())
        if cells:
            own = cell[outcome.rows]
            known = own >= 0
            values = group_event(seen.T[known], failed.T[known], own[known], cells)
            found.group_expected[at], found.group_products[(slice(None), *at)] = values[0], values[1:]


def _note(found: Measured, setting: Setting, fault: Fault) -> None:
    key = (setting.learner, setting.blocks, fault.arm, fault.model, fault.reason)
    found.faults[key] += 1
    found.said.setdefault(key, fault.said)


def event(judged: NDArray[np.bool_], failed: NDArray[np.bool_]) -> tuple[float, float]:
    """Return systemic failure and what is expected, of those whom two or more judge, as an audit does."""
    from polyculture.stats.homogeneity import moments

    some = judged.sum(axis=1) >= FEWEST_JUDGED
    one = moments(judged[some], failed[some], np.ones(int(some.sum()), dtype=np.int64))
    return one.observed, math.exp(one.log_expected)


def group_event(
    judged: NDArray[np.bool_], failed: NDArray[np.bool_], cell: NDArray[np.int64], cells: int
) -> list[float]:
    """Return what is expected, and the numerators of the group measures; 0 where a decision-maker failed nobody."""
    from polyculture.stats.group_homogenization import group_homogenization

    some = judged.sum(axis=1) >= FEWEST_JUDGED
    judged, failed, cell = judged[some], failed[some], cell[some]
    if not len(cell) or not judged.any(axis=0).all():
        return [math.nan] * 4
    _, expected = event(judged, failed)
    if expected <= 0.0:
        return [0.0] * 4
    count = np.ones(len(cell), dtype=np.int64)
    group = group_homogenization(judged, failed, count, None, None, cell, cells, census=True)
    values = [getattr(group, name).value for name in GROUP_MEASURES]
    return [expected, *(math.nan if value is None else value * expected for value in values)]
