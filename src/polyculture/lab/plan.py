"""The plan of a component-sharing experiment: frozen structs that serialize to TOML, JSON and Python alike.

Whether it fits together is checked in ``plan_checks``; what its data and learners are is looked up in ``data`` and
``components``.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import msgspec

from polyculture.lab.levels import COMPONENTS, DISJOINT, FIXED, Method, arm_rows, rows_in_words
from polyculture.lab.plan_checks import check

__all__ = ["Arm", "Backbone", "Data", "Learner", "Part", "Plan", "Preprocessing", "Pretrain", "Share", "Step", "Task"]

Level = Literal["shared", "own"]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all parts of a plan: frozen, keyword-only, without unknown keys."""


class Data(Part, frozen=True, kw_only=True):
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
    parameters : dict
        Of the loader.
    text : str, optional
        Column of texts, which pretrained models read.
    image : tuple of int, optional
        Channels, height and width: the features are the pixels of an image, row by row, which pretrained models see.
    white : float
        The value of a pixel that is white; 0 is black.
    """

    source: str
    id: str | None = None
    groups: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    codes: Literal["one-hot", "ordinal"] = "one-hot"
    encoding: str | None = None
    parameters: dict[str, Any] = {}
    text: str | None = None
    image: tuple[int, int, int] | None = None
    white: float = 255.0


class Task(Part, frozen=True, kw_only=True):
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


class Step(Part, frozen=True, kw_only=True):
    """An estimator by import path, with its parameters; a parameter may be such a table itself."""

    estimator: str
    parameters: dict[str, Any] = {}


class Pretrain(Part, frozen=True, kw_only=True):
    """How a backbone is trained before decision-makers adapt it: all its weights, on other individuals.

    Attributes
    ----------
    data : Data
        The individuals.
    label : str, optional
        What is told of them: a column or a condition. Without one it is words: each seventh of a text, left out.
    training : dict
        Settings as of a learner that adapts, such as ``epochs``.
    seed : int
        Random state.
    """

    data: Data
    label: str | None = None
    training: dict[str, Any] = {}
    seed: int = 0


class Backbone(Part, frozen=True, kw_only=True):
    """A model that decision-makers adapt. It is one of ``model``, ``configuration``, ``module`` and ``hub``.

    Attributes
    ----------
    name : str
        As results name it; default the last part of what it is.
    model : str
        Folder of a transformers model (config.json, model.safetensors), or ``module:function`` that returns it.
    configuration : dict
        Of a transformers model: ``model_type`` and what differs from its defaults. Its weights are random, or those
        of ``pretrain``.
    module : str
        Import path of a function of yours that returns a torch module: inputs (n, ...) to features (n, D).
    parameters : dict
        Of ``module``.
    hub : str
        Name of a model on the Hugging Face hub, which is fetched on the first use.
    tokenizer : str
        Folder of a tokenizer, for texts; default that of ``model``, and with a configuration words by their hash.
    max_length : int
        Tokens of a text that are read; what comes after them is not.
    pretrain : Pretrain, optional
        Training that is done before the experiment; the weights are kept in its folder.
    """

    name: str = ""
    model: str = ""
    configuration: dict[str, Any] = {}
    module: str = ""
    parameters: dict[str, Any] = {}
    hub: str = ""
    tokenizer: str = ""
    max_length: int = 64
    pretrain: Pretrain | None = None

    def shown(self) -> str:
        """Return the name, or the last part of the folder, path or type."""
        given = self.model or self.module or self.hub or str(self.configuration.get("model_type", ""))
        return self.name or given.rstrip("/").rpartition("/")[2].rpartition(".")[2]


class Learner(Part, frozen=True, kw_only=True):
    """What decision-makers learn with: one estimator, the steps of a pipeline, or a way to adapt a pretrained model.

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
    adapt : {"scratch", "probe", "finetune", "bitfit", "lora"}
        How a backbone is adapted: fresh weights instead of its own; a linear classifier on its features; all its
        weights trained on; its biases only; matrices of low rank beside its own. ``parameters`` are then settings
        of training.
    """

    name: str = ""
    estimator: str = ""
    parameters: dict[str, Any] = {}
    steps: tuple[Step, ...] = ()
    adapt: Method | None = None

    def pipeline(self) -> tuple[Step, ...]:
        """Return the steps, one where only an estimator is named."""
        return self.steps or (Step(estimator=self.estimator, parameters=self.parameters),)

    def shown(self) -> str:
        """Return the name, or the last part of the import path."""
        return self.name or self.adapt or self.pipeline()[-1].estimator.rpartition(".")[2]


class Preprocessing(Part, frozen=True, kw_only=True):
    """What features go through before a learner sees them, fitted on the training rows; no step at all is allowed."""

    name: str
    steps: tuple[Step, ...] = ()


class Share(Part, frozen=True, kw_only=True):
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
    backbone : tuple of {"shared", "own"}
        The pretrained model. Shared, all adapt the same; own, they take turns through the list. Both begin with
        another backbone for each model seed, so that each is used as often in either arm.
    """

    rows: tuple[str | float, ...] = (FIXED, DISJOINT)
    features: tuple[Level, ...] = ("shared",)
    preprocessing: tuple[Level, ...] = ("shared",)
    learner: tuple[Level, ...] = ("shared",)
    seed: tuple[Level, ...] = ("shared",)
    backbone: tuple[Level, ...] = ("shared",)


class Arm(Part, frozen=True, kw_only=True):
    """One combination of levels: what the decision-makers of a trial have in common."""

    name: str
    overlap: float
    features: Level = "shared"
    preprocessing: Level = "shared"
    learner: Level = "shared"
    seed: Level = "shared"
    backbone: Level = "shared"

    def level(self, component: str) -> str:
        """Return the level of a component, in words."""
        return rows_in_words(self.overlap) if component == "rows" else str(getattr(self, component))

    def shares(self, component: str) -> float:
        """Return how much of a component is shared, 0 to 1."""
        return self.overlap if component == "rows" else float(getattr(self, component) == "shared")


class Plan(Part, frozen=True, kw_only=True):
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
    backbones : tuple of Backbone
        The pretrained models that learners adapt.
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
    backbones: tuple[Backbone, ...] = msgspec.field(name="backbone", default=())
    share: Share = Share()
    blocks: tuple[int, ...] = (2, 4, 8)
    model_seeds: int = 5
    partition_seeds: int = 5
    test_share: float = 0.2
    split: Literal["trial", "partition", "fixed"] = "trial"
    seed: int = 0
    chunk: int = 20

    def __post_init__(self) -> None:
        check(self)

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

    def arm_at(self, component: str, level: str) -> str:
        """Return the name of the first arm with a level of a component."""
        return next(arm.name for arm in self.arms() if arm.level(component) == level)

    def trials(self) -> int:
        """Return the number of trials: learners x blocks x partition seeds x model seeds."""
        return len(self.learners) * len(self.blocks) * self.partition_seeds * self.model_seeds
