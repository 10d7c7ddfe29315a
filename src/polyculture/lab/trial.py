"""One trial: individuals are split, the training rows cut into blocks, every decision-maker trained in each arm.

A fit that two arms have in common is made once. What goes wrong is a fault of that decision-maker with its
reason; a fit that fails leaves its outcomes unknown, and nothing is dropped.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polyculture.errors import first_few
from polyculture.lab.adapted import Adapted
from polyculture.lab.components import build
from polyculture.lab.training import NotFiniteError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.data import Prepared
    from polyculture.lab.plan import Arm, Plan

__all__ = ["FAULTS", "LOST", "NOBODY", "Fault", "Outcome", "Setting", "run_trial", "setting_of", "training_rows"]

NOBODY = "nobody judged"
FAULTS = {
    "did not converge": "the learner stopped before it converged; its predictions count",
    "class missing": "the block held not every class; where it held one only, that is predicted for everyone",
    "block too small": "the block held fewer than two labelled rows",
    "constant prediction": "everyone got the same prediction",
    "loss not finite": "training broke off, since the loss was not a number; that trial is left out of all arms",
    "could not be fitted": "the learner raised an error; that trial is left out of all arms",
    NOBODY: "no individual tested has a label of this task and of another; that trial is left out of all arms",
}
"""What can go wrong with a decision-maker, and what is then done."""

LOST = ("loss not finite", "could not be fitted")
"""Faults after which a decision-maker has no outcomes."""

UNKNOWN = -1  # in an array of failures: not judged, or the fit failed


class Setting(NamedTuple):
    """Which trial: indices into the plan's learners and blocks, and the two seeds."""

    trial: int
    learner: int
    blocks: int
    partition_seed: int
    model_seed: int


class Fault(NamedTuple):
    """What went wrong: indices of arm and decision-maker, a key of `FAULTS`, and what the learner said."""

    arm: int
    model: int
    reason: str
    said: str


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a trial gave.

    Attributes
    ----------
    setting : Setting
        Which trial.
    rows : ndarray of int32, shape (M,)
        The individuals tested, by their place in the data.
    failed : ndarray of int8, shape (A, k, M)
        1 failed, 0 right, -1 not known (no label, or no fit), by arm and decision-maker.
    faults : tuple of Fault
        What went wrong.
    """

    setting: Setting
    rows: NDArray[np.int32]
    failed: NDArray[np.int8]
    faults: tuple[Fault, ...]


class _Fitted(NamedTuple):
    predicted: NDArray[np.int64] | None
    faults: tuple[tuple[str, str], ...]


def setting_of(plan: Plan, trial: int) -> Setting:
    """Return what a trial's number stands for: model seeds turn fastest, learners slowest."""
    rest, model = divmod(trial, plan.model_seeds)
    rest, partition = divmod(rest, plan.partition_seeds)
    learner, blocks = divmod(rest, len(plan.blocks))
    return Setting(trial, learner, blocks, partition, model)


def tested(plan: Plan, individuals: int) -> int:
    """Return how many individuals are tested on."""
    return min(max(round(plan.test_share * individuals), 1), individuals - 1)


def _generator(plan: Plan, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=key))


def split(plan: Plan, setting: Setting, individuals: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the training rows in the random order in which they are cut into blocks, and the sorted test rows."""
    key = {
        "fixed": (0,),
        "partition": (1, setting.partition_seed),
        "trial": (2, setting.partition_seed, setting.model_seed),
    }[plan.split]
    order = _generator(plan, *key).permutation(individuals)
    size = tested(plan, individuals)
    train, test = np.sort(order[size:]), np.sort(order[:size])
    return _generator(plan, 3, setting.partition_seed).permutation(train), test


def training_rows(train: NDArray[np.int64], blocks: int, overlap: float, maker: int) -> NDArray[np.int64]:
    """Return the rows that a decision-maker trains on.

    Parameters
    ----------
    train : ndarray of int
        All training rows in random order.
    blocks : int
        Number of equal blocks S; rows that do not fill a block are left.
    overlap : float
        Share of its rows that all decision-makers have in common: 1 fixed, 0 disjoint.
    maker : int
        Which decision-maker, 0..k-1.

    Returns
    -------
    ndarray of int, sorted
        ``len(train) // blocks`` rows, whatever the overlap.

    Examples
    --------
    >>> [training_rows(np.arange(8), 2, overlap, 1).tolist() for overlap in (1.0, 0.5, 0.0)]
    [[0, 1, 2, 3], [0, 1, 4, 5], [4, 5, 6, 7]]
    """
    size = len(train) // blocks
    common = round(overlap * size)
    own = train[maker * size : maker * size + size - common] if maker else train[common:size]
    return np.sort(np.concatenate([train[:common], own]))


def run_trial(plan: Plan, data: Prepared, trial: int) -> Outcome:
    """Train and test every decision-maker of a trial in each arm.

    Parameters
    ----------
    plan : Plan
        The experiment.
    data : Prepared
        Its individuals.
    trial : int
        Number of the trial.

    Returns
    -------
    Outcome
        The same bits whenever and wherever it runs.
    """
    setting = setting_of(plan, trial)
    train, test = split(plan, setting, data.individuals)
    arms, tasks = plan.arms(), plan.task_of()
    failed = np.full((len(arms), len(tasks), len(test)), UNKNOWN, dtype=np.int8)
    faults: list[Fault] = []
    known: dict[tuple[object, ...], _Fitted] = {}
    for number, arm in enumerate(arms):
        for maker, task in enumerate(tasks):
            rows = training_rows(train, plan.blocks[setting.blocks], arm.overlap, maker)
            turns = _turns(plan, data, arm, setting, maker)
            key = (rows.tobytes(), task, *turns)
            if key not in known:
                known[key] = _fit(plan, data, rows, test, task, turns, setting)
            fitted, label = known[key], data.targets[task].label[test]
            if fitted.predicted is not None:
                failed[number, maker] = np.where(label < 0, UNKNOWN, fitted.predicted != label)
            faults += [Fault(number, maker, reason, said) for reason, said in fitted.faults]
    return Outcome(setting, test.astype(np.int32), failed, tuple(faults))


class _Turns(NamedTuple):
    """Which part of the features, preprocessing, learner, random state and backbone a decision-maker gets."""

    part: int
    preprocessing: int
    learner: int
    random_state: int
    backbone: int


def _turns(plan: Plan, data: Prepared, arm: Arm, setting: Setting, maker: int) -> _Turns:
    learner = (setting.learner + (maker if arm.learner == "own" else 0)) % len(plan.learners)
    return _Turns(
        part=maker if arm.features == "own" else 0,
        preprocessing=(maker if arm.preprocessing == "own" else 0) % len(plan.preprocessing),
        learner=learner,
        random_state=setting.model_seed + (maker * plan.model_seeds if arm.seed == "own" else 0),
        backbone=_backbone(plan, data, learner, setting.model_seed + (maker if arm.backbone == "own" else 0)),
    )


def _backbone(plan: Plan, data: Prepared, learner: int, turn: int) -> int:
    """Return which backbone a decision-maker adapts; from scratch those are the same that differ in weights alone."""
    method = plan.learners[learner].adapt
    if method is None:
        return -1
    chosen = turn % len(data.backbones)
    kinds = [shared.kind for shared in data.backbones]
    return kinds.index(kinds[chosen]) if method == "scratch" else chosen


def _sees(plan: Plan, data: Prepared, task: int, part: int, partition_seed: int) -> NDArray[np.bool_]:
    """Return which columns of the features a decision-maker sees: all of its task's, or its part of them."""
    sees = data.targets[task].sees
    if "own" not in plan.share.features:
        return sees
    order = _generator(plan, 4, partition_seed).permutation(len(data.columns))
    own = np.array_split(order, len(plan.task_of()))[part]
    return np.asarray(sees & np.isin(data.origin, own))


def _fit(  # noqa: PLR0917 (what a fit depends on)
    plan: Plan,
    data: Prepared,
    rows: NDArray[np.int64],
    test: NDArray[np.int64],
    task: int,
    turns: _Turns,
    setting: Setting,
) -> _Fitted:
    label = data.targets[task].label
    rows = rows[label[rows] >= 0]
    if len(rows) < 2:
        return (
            _Fitted(np.full(len(test), label[rows[0]]), (("block too small", ""),))
            if len(rows)
            else _Fitted(None, (("could not be fitted", "the block held no labelled row"),))
        )
    said = _missing(label[rows], data.targets[task].classes)
    if len(np.unique(label[rows])) < 2:
        return _Fitted(np.full(len(test), label[rows[0]]), tuple(said))
    model, training, testing = _model(plan, data, rows, test, task, turns, setting)
    if model is None:
        return _Fitted(None, (("could not be fitted", "none of its columns is in its part of the features"),))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(training, label[rows])
            predicted = np.asarray(model.predict(testing))
        except NotFiniteError as error:
            said.append(("loss not finite", _first_line(str(error))))
            return _Fitted(None, tuple(said))
        except (Exception, SystemExit) as error:  # whatever a learner of the user's raises is its reason
            said.append(("could not be fitted", f"{type(error).__name__}: {_first_line(str(error))}"))
            return _Fitted(None, tuple(said))
    from sklearn.exceptions import ConvergenceWarning

    unsettled = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    if unsettled:
        said.append(("did not converge", _first_line(str(unsettled[0].message))))
    if predicted.shape != (len(test),):
        return _Fitted(None, (("could not be fitted", f"predictions have shape {predicted.shape}"),))
    if not np.isin(predicted, label[rows]).all():
        return _Fitted(None, (("could not be fitted", "its predictions are no classes"),))
    if len(np.unique(predicted)) < 2:
        said.append(("constant prediction", ""))
    return _Fitted(predicted.astype(np.int64), tuple(said))


def _model(  # noqa: PLR0917 (as above)
    plan: Plan,
    data: Prepared,
    rows: NDArray[np.int64],
    test: NDArray[np.int64],
    task: int,
    turns: _Turns,
    setting: Setting,
) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Return what learns, what it is fitted on and what it is tested on: features, or rows where it adapts a backbone.

    None where no feature is left.
    """
    learner = plan.learners[turns.learner]
    if learner.adapt is not None:
        shared = data.backbones[turns.backbone]
        return Adapted(plan, turns.learner, turns.backbone, shared, turns.random_state), rows, test
    sees = _sees(plan, data, task, turns.part, setting.partition_seed)
    steps = (*plan.preprocessing[turns.preprocessing].steps, *learner.pipeline())
    model = build(steps, turns.random_state) if sees.any() else None
    return model, data.features[np.ix_(rows, sees)], data.features[np.ix_(test, sees)]


def _missing(label: NDArray[np.int64], classes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the fault of a block that lacks classes, and which."""
    lacking = [name for place, name in enumerate(classes) if place not in label]
    return [("class missing", f"no {first_few(lacking)}")] if lacking else []


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0][:300]
