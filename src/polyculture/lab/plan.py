"""The plan of a component-sharing experiment: frozen structs that serialize to TOML, JSON and Python alike.

What a plan says is checked here; what its data and learners are is looked up in ``data`` and ``components``.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import msgspec

from polyculture.errors import UsageError

__all__ = ["COMPONENTS", "Arm", "Data", "Learner", "Plan", "Preprocessing", "Share", "Step", "Task", "arm_rows"]

COMPONENTS = ("rows", "features", "preprocessing", "learner", "seed")
"""What decision-makers can share, in the order in which an arm names them."""

Level = Literal["shared", "own"]
FIXED, DISJOINT = "fixed", "disjoint"
MOST_TRIALS = 10_000_000


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all parts of a plan: frozen, keyword-only, without unknown keys."""


class Data(_Part, frozen=True, kw_only=True):
    """Where the individuals come from.

    Attributes
    ----------
    source : str
        A path, ``german_credit``, or ``module:function`` of a loader of your own that returns a frame.
    id : str, optional
        Column that names the individual; default the number of the row.
    groups : tuple of str
        Group columns, or conditions such as ``age>=25``.
    features : tuple of str
        Columns that decision-makers see; default all that are neither id nor label.
    leave_out : tuple of str
        Columns that no decision-maker sees.
    codes : {"one-hot", "ordinal"}
        How text columns become numbers: a column a code, or their place in sorted order.
    encoding : str, optional
        Encoding of a text file.
    """

    source: str
    id: str | None = None
    groups: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    codes: Literal["one-hot", "ordinal"] = "one-hot"
    encoding: str | None = None


class Task(_Part, frozen=True, kw_only=True):
    """What one decision-maker (or ``copies`` of them) has to tell.

    Attributes
    ----------
    name : str
        As results name it.
    label : str
        A column, or a condition over columns such as ``credit_amount > 2000``. Its columns are no features.
    features, leave_out : tuple of str
        As in `Data`, for this task.
    copies : int
        Decision-makers with this task.
    """

    name: str
    label: str
    features: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    copies: int = 1


class Step(_Part, frozen=True, kw_only=True):
    """An estimator by import path, with its parameters; a parameter may be such a table itself."""

    estimator: str
    parameters: dict[str, Any] = {}


class Learner(_Part, frozen=True, kw_only=True):
    """What decision-makers learn with: one estimator, or the steps of a pipeline.

    Attributes
    ----------
    name : str
        As results name it; default the last part of the import path.
    estimator : str
        Import path of a classifier (``sklearn.svm.SVC``); or give ``steps``.
    parameters : dict
        Of ``estimator``.
    steps : tuple of Step
        A pipeline, the classifier last.
    """

    name: str = ""
    estimator: str = ""
    parameters: dict[str, Any] = {}
    steps: tuple[Step, ...] = ()

    def pipeline(self) -> tuple[Step, ...]:
        """Return the steps, one where only an estimator is named."""
        return self.steps or (Step(estimator=self.estimator, parameters=self.parameters),)

    def shown(self) -> str:
        """Return the name, or the last part of the import path."""
        return self.name or self.pipeline()[-1].estimator.rpartition(".")[2]


class Preprocessing(_Part, frozen=True, kw_only=True):
    """What features go through before a learner sees them, fitted on the training rows; no step at all is allowed."""

    name: str
    steps: tuple[Step, ...] = ()


class Share(_Part, frozen=True, kw_only=True):
    """The levels of each component; the arms are all their combinations.

    Attributes
    ----------
    rows : tuple of str or float
        "fixed": all train on the same block; "disjoint": each on its own; a number between 0 and 1: that share of
        the rows in common, the others of one's own block. The number of training rows is the same in all.
    features : tuple of {"shared", "own"}
        With "own" the columns are cut into as many equal parts as there are decision-makers: all see the
        same part (shared), or each another (own). With "shared" alone everybody sees all columns.
    preprocessing, learner : tuple of {"shared", "own"}
        With "own" decision-makers take turns through the list, beginning with the trial's.
    seed : tuple of {"shared", "own"}
        The random state of what learns.
    """

    rows: tuple[str | float, ...] = (FIXED, DISJOINT)
    features: tuple[Level, ...] = ("shared",)
    preprocessing: tuple[Level, ...] = ("shared",)
    learner: tuple[Level, ...] = ("shared",)
    seed: tuple[Level, ...] = ("shared",)


class Arm(_Part, frozen=True, kw_only=True):
    """One combination of levels: what the decision-makers of a trial have in common."""

    name: str
    overlap: float
    features: Level = "shared"
    preprocessing: Level = "shared"
    learner: Level = "shared"
    seed: Level = "shared"

    def level(self, component: str) -> str:
        """Return the level of a component, in words."""
        return rows_in_words(self.overlap) if component == "rows" else str(getattr(self, component))

    def shares(self, component: str) -> float:
        """Return how much of a component is shared, 0 to 1."""
        return self.overlap if component == "rows" else float(getattr(self, component) == "shared")


class Plan(_Part, frozen=True, kw_only=True):
    """A whole experiment.

    Attributes
    ----------
    name : str
        What results are headed with.
    data : Data
        The individuals.
    tasks : tuple of Task
        One decision-maker each (or ``copies``).
    learners : tuple of Learner
        Each is run by itself, as a part of the experiment.
    preprocessing : tuple of Preprocessing
        The first is used, the others too where ``share.preprocessing`` has "own"; default standard scaling.
    share : Share
        What is shared, in which arms.
    blocks : tuple of int
        Numbers of blocks S that the training rows are cut into; a decision-maker trains on a block's worth.
    model_seeds, partition_seeds : int
        Trials are all their pairs.
    test_share : float
        Share of individuals that decision-makers are tested on.
    split : {"trial", "partition", "fixed"}
        Whether the test individuals are drawn anew for each pair of seeds, for each partition seed, or once.
    seed : int
        Seed of all draws.
    chunk : int
        Trials in one file of the store.

    Raises
    ------
    UsageError
        If the plan does not fit together; the message names the field.

    Examples
    --------
    >>> plan = Plan(data=Data(source="german_credit"), blocks=(2, 4),
    ...             tasks=(Task(name="good", label="credit"), Task(name="large", label="credit_amount > 2000")),
    ...             learners=(Learner(estimator="sklearn.svm.SVC"),))
    >>> [arm.name for arm in plan.arms()], plan.trials(), plan.decision_makers()
    (['fixed', 'disjoint'], 50, ('good', 'large'))
    """

    name: str = "sharing"
    data: Data
    tasks: tuple[Task, ...] = msgspec.field(name="task")
    learners: tuple[Learner, ...] = msgspec.field(name="learner")
    preprocessing: tuple[Preprocessing, ...] = (
        Preprocessing(name="standard", steps=(Step(estimator="sklearn.preprocessing.StandardScaler"),)),
    )
    share: Share = Share()
    blocks: tuple[int, ...] = (2, 4, 8)
    model_seeds: int = 5
    partition_seeds: int = 5
    test_share: float = 0.2
    split: Literal["trial", "partition", "fixed"] = "trial"
    seed: int = 0
    chunk: int = 20

    def __post_init__(self) -> None:
        _check(self)

    def decision_makers(self) -> tuple[str, ...]:
        """Return the names of the k decision-makers: of their tasks, numbered where a task has several."""
        return tuple(
            task.name if task.copies == 1 else f"{task.name} {copy}"
            for task in self.tasks
            for copy in range(1, task.copies + 1)
        )

    def task_of(self) -> tuple[int, ...]:
        """Return the index of each decision-maker's task, (k,)."""
        return tuple(index for index, task in enumerate(self.tasks) for _ in range(task.copies))

    def varied(self) -> tuple[str, ...]:
        """Return the components with more than one level."""
        return tuple(name for name in COMPONENTS if len(getattr(self.share, name)) > 1)

    def arms(self) -> tuple[Arm, ...]:
        """Return all combinations of levels, most rows in common first; named by what varies."""
        varied = self.varied()
        found = []
        rows = sorted(self.share.rows, key=lambda level: -arm_rows(level))
        for levels in product(rows, *(getattr(self.share, name) for name in COMPONENTS[1:])):
            chosen = dict(zip(COMPONENTS, levels, strict=True))
            overlap = arm_rows(chosen.pop("rows"))
            arm = Arm(name="", overlap=overlap, **chosen)
            words = [f"{name} {arm.level(name)}" for name in varied if name != "rows"]
            first = [rows_in_words(overlap)] if "rows" in varied or not words else []
            found.append(msgspec.structs.replace(arm, name=", ".join([*first, *words])))
        return tuple(found)

    def trials(self) -> int:
        """Return the number of trials: learners x blocks x partition seeds x model seeds."""
        return len(self.learners) * len(self.blocks) * self.partition_seeds * self.model_seeds


def arm_rows(level: str | float) -> float:
    """Return the share of training rows that decision-makers have in common: 1 fixed, 0 disjoint."""
    return {FIXED: 1.0, DISJOINT: 0.0}[level] if isinstance(level, str) else float(level)


def rows_in_words(overlap: float) -> str:
    """Return the name of an arm by its shared rows.

    >>> rows_in_words(1.0), rows_in_words(0.25), rows_in_words(0.0)
    ('fixed', 'overlap 0.25', 'disjoint')
    """
    return {1.0: FIXED, 0.0: DISJOINT}.get(overlap, f"overlap {overlap:g}")


def _check(plan: Plan) -> None:
    for field in ("tasks", "learners", "blocks"):
        if not getattr(plan, field):
            raise UsageError(f"The plan names no {field}.", hint=f"Add at least one to {field}.")
    for field, least in (("model_seeds", 1), ("partition_seeds", 1), ("seed", 0), ("chunk", 1)):
        if getattr(plan, field) < least:
            raise UsageError(f"{field} = {getattr(plan, field)} is too small.", hint=f"Give {least} or more.")
    if not 0.0 < plan.test_share < 1.0:
        raise UsageError(f"test_share = {plan.test_share:g} is no share.", hint="Give a number between 0 and 1.")
    if plan.trials() > MOST_TRIALS:
        raise UsageError(f"The plan has {plan.trials():,} trials.", hint=f"Plan at most {MOST_TRIALS:,}.")
    for blocks in plan.blocks:
        if blocks < 1:
            raise UsageError(f"blocks holds {blocks}.", hint="Give whole numbers from 1 on.")
    for field in ("copies",):
        for task in plan.tasks:
            if getattr(task, field) < 1:
                raise UsageError(f"Task {task.name!r} has copies = {task.copies}.", hint="Give 1 or more.")
    _check_names(plan)
    _check_learners(plan)
    _check_share(plan)


def _check_names(plan: Plan) -> None:
    for what, names in (
        ("decision-maker", plan.decision_makers()),
        ("learner", tuple(learner.shown() for learner in plan.learners)),
        ("preprocessing", tuple(one.name for one in plan.preprocessing)),
        ("number of blocks", plan.blocks),
    ):
        twice = sorted({name for name in names if names.count(name) > 1}, key=str)
        if twice:
            raise UsageError(f"The {what} {twice[0]!r} stands in the plan twice.", hint="Give each its own.")
    if len(plan.decision_makers()) < 2:
        raise UsageError(
            "There is only one decision-maker: there is nothing to homogenize.",
            hint="Add a task, or give the task copies = 2.",
        )


def _check_learners(plan: Plan) -> None:
    for learner in plan.learners:
        if bool(learner.estimator) == bool(learner.steps):
            raise UsageError(
                f"Learner {learner.name!r} needs an estimator or steps, and not both.",
                hint='Write estimator = "sklearn.svm.SVC".',
            )
        if learner.steps and learner.parameters:
            raise UsageError(
                f"Learner {learner.shown()!r} has parameters beside steps.", hint="Write them into their step."
            )


def _check_share(plan: Plan) -> None:
    for name in COMPONENTS:
        levels = getattr(plan.share, name)
        if not levels or len(set(levels)) < len(levels):
            raise UsageError(f"share.{name} is {list(levels)!r}.", hint="Name each level once, and at least one.")
    for level in plan.share.rows:
        if isinstance(level, str) and level not in {FIXED, DISJOINT}:
            raise UsageError(f"share.rows holds {level!r}.", hint='Choose "fixed", "disjoint", or a share such as 0.5.')
        if not isinstance(level, str) and not 0.0 < level < 1.0:
            raise UsageError(
                f"share.rows holds {level:g}, which is no share of common rows.",
                hint='Give a number between 0 and 1; all of them are "fixed", none "disjoint".',
            )
    makers = len(plan.decision_makers())
    if any(arm_rows(level) < 1.0 for level in plan.share.rows):
        few = [blocks for blocks in plan.blocks if blocks < makers]
        if few:
            raise UsageError(
                f"blocks = {few[0]} is fewer than the {makers} decision-makers, who need a block each in an arm "
                "with rows of their own.",
                hint=f"Give {makers} or more blocks, or leave out the disjoint and overlapping arms.",
            )
    for name, there in (("learner", plan.learners), ("preprocessing", plan.preprocessing)):
        if "own" in getattr(plan.share, name) and len(there) < 2:
            raise UsageError(
                f'share.{name} has "own", but the plan names one {name} only.', hint=f"Add a [[{name}]] table."
            )
