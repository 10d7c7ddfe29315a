"""The plan of a feedback-loop experiment: frozen structs that serialize to TOML, JSON and Python alike.

Shifts and interventions are structs of their own modules. Whether a plan fits together is checked in ``plan_checks``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from polyculture.lab.loops.interventions import InterventionKinds, Star
from polyculture.lab.loops.plan_checks import check
from polyculture.lab.loops.shifts import SETTINGS, ModelCollapse, ShiftKinds
from polyculture.lab.plan import Data, Learner, Part, Step, Task

__all__ = ["Arm", "LoopPlan", "Stratum"]


class Stratum(Part, frozen=True, kw_only=True):
    """The ideal share of one stratum.

    Attributes
    ----------
    target : str
        A class, as its label is written.
    group : str or tuple of str
        A group, as its value is written; several where the plan names several group columns.
    share : float
        Its share of the ideal distribution.
    """

    target: str
    group: str | tuple[str, ...] = ()
    share: float

    @property
    def group_values(self) -> tuple[str, ...]:
        """The group's values, one a column."""
        return (self.group,) if isinstance(self.group, str) else self.group


class Arm(Part, frozen=True, kw_only=True):
    """One way of running the loop.

    Attributes
    ----------
    name : str
        As results name it; default the setting, its further shifts and interventions.
    setting : str
        "SeqClass", "SeqGenSeqClass" or "SeqGenNonSeqClass" (2403.07857), or "Static": people of the first generator,
        labelled by the annotator.
    shifts : tuple of Shift
        What moves the data beside the setting, in this order.
    interventions : tuple of Intervention
        What is done about it.
    against : str
        Name of the arm that this one is compared with; default the first.
    pool : float or {"separate", "shared"}
        With several decision-makers: the share of their people that comes from the pool of all, 0 (separate) to 1
        (shared).
    """

    name: str = ""
    setting: Literal["SeqClass", "SeqGenSeqClass", "SeqGenNonSeqClass", "Static"] = "SeqClass"
    shifts: tuple[ShiftKinds, ...] = msgspec.field(name="shift", default=())
    interventions: tuple[InterventionKinds, ...] = msgspec.field(name="intervention", default=())
    against: str = ""
    pool: float | Literal["separate", "shared"] = "separate"

    def all_shifts(self) -> tuple[ShiftKinds, ...]:
        """Return the shifts of the setting and those beside it."""
        return (*SETTINGS[self.setting], *self.shifts)

    @property
    def retrains(self) -> bool:
        """Whether each generation has a generator of its own."""
        return any(shift.retrains for shift in self.all_shifts())

    @property
    def overlap(self) -> float:
        """The share of people from the pool of all, 0 to 1."""
        return {"separate": 0.0, "shared": 1.0}[self.pool] if isinstance(self.pool, str) else float(self.pool)

    def shown(self) -> str:
        """Return the name, or what the arm is made of.

        >>> Arm(setting="SeqGenSeqClass", interventions=(Star(of=("generator",)),)).shown()
        'SeqGenSeqClass + gen-STAR'
        """
        if self.name:
            return self.name
        words = [str(shift.__struct_config__.tag) for shift in self.shifts if not isinstance(shift, ModelCollapse)]
        for one in self.interventions:
            kind = str(one.__struct_config__.tag)
            short = "+".join(purpose[:3] for purpose in sorted(one.of))
            words.append(f"{short}-STAR" if isinstance(one, Star) else kind)
        if isinstance(self.pool, str) and self.pool == "shared":
            words.append("shared pool")
        elif self.overlap > 0.0:
            words.append(f"{self.overlap:g} from a shared pool")
        return " + ".join([self.setting, *words])


class LoopPlan(Part, frozen=True, kw_only=True):
    """A whole experiment: generations of models that train on each other's outputs.

    Attributes
    ----------
    name : str
        What results are headed with.
    data : Data
        The individuals; ``data.groups`` makes the groups.
    label : str
        The class of each: a column, or a condition.
    favourable : str
        The class that is good to get; default the last in sorted order.
    ideal : {"uniform", "original"} or tuple of Stratum
        The ideal distribution over class x group: equal shares, those of the training individuals, or a table.
    generator : Learner
        Learns the features and samples people.
    classifiers : tuple of Learner
        What decision-makers learn with, taken in turns.
    label_annotator, group_annotator : Learner, optional
        Trained once on the original data; default the first classifier.
    decision_makers : int
        k, each with a generator and a classifier of its own.
    start : {"shared", "own"}
        Whether decision-makers have the same original rows, or an equal part of them each: they begin with those, and
        shifts and interventions that mix in original people take these.
    arms : tuple of Arm
        What is compared, with the first where they do not say otherwise.
    generations, seeds : int
        Generations 0 .. generations - 1 of each chain, and chains of each arm.
    rows : int
        People that a model is trained on; 0 for as many as there are training individuals.
    batch, epochs : int
        Rows of a batch, and how often batches are gone through by ``partial_fit``; 0: `fit` on all rows at once.
        Networks have ``epochs`` of their own, and a ``batch_size`` where this is 0.
    device : {"cpu", "cuda"}
        Where networks are trained.
    weights : {"all", "last"}
        Whether the weights of networks stay in the store of every generation, or of the first and the last.
    samples : int
        People sampled from each generator to measure it.
    keep : int
        Of those, how many are stored with each generation.
    embedding : {"components", "features", "annotator"} or Step
        Where generated people are compared with real ones: the first principal components of the features (at most
        10), the features, what the last layer of the label annotator sees, or what a transformer makes of the features.
    test_share : float
        Share of individuals tested on, which no model is trained on.
    split : {"seed", "fixed"}
        Whether they are drawn anew for each seed.
    endpoints : tuple of str
        The measures whose last generation and mean over generations are the primary results.
    collapse : float
        How far accuracy must fall below that of generation 0, and stay, to be called a collapse.
    seed : int
        Seed of all draws.

    Raises
    ------
    UsageError
        If the plan does not fit together; the message names the field.
    """

    name: str = "loop"
    data: Data
    label: str
    favourable: str | None = None
    ideal: Literal["uniform", "original"] | tuple[Stratum, ...] = "uniform"
    generator: Learner = Learner(
        estimator="sklearn.mixture.GaussianMixture", parameters={"n_components": 3, "reg_covar": 1e-3}
    )
    classifiers: tuple[Learner, ...] = msgspec.field(
        name="classifier",
        default=(Learner(estimator="sklearn.linear_model.LogisticRegression", parameters={"max_iter": 1000}),),
    )
    label_annotator: Learner | None = None
    group_annotator: Learner | None = None
    decision_makers: int = 1
    start: Literal["shared", "own"] = "shared"
    arms: tuple[Arm, ...] = msgspec.field(name="arm", default=(Arm(),))
    generations: int = 10
    seeds: int = 5
    rows: int = 0
    batch: int = 0
    epochs: int = 1
    device: Literal["cpu", "cuda"] = "cpu"
    weights: Literal["all", "last"] = "all"
    samples: int = 10_000
    keep: int = 0
    embedding: Literal["components", "features", "annotator"] | Step = "components"
    test_share: float = 0.3
    split: Literal["seed", "fixed"] = "seed"
    endpoints: tuple[str, ...] = ("accuracy", "equalized_odds_difference", "divergence")
    collapse: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        check(self)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What is asked, as `lab.data` takes it."""
        return (Task(name="label", label=self.label),)

    @property
    def chains(self) -> int:
        """How many chains there are: arms x seeds."""
        return len(self.arms) * self.seeds

    def chain(self, number: int) -> tuple[Arm, int]:
        """Return the arm and the seed of a chain; seeds turn fastest."""
        arm, seed = divmod(number, self.seeds)
        return self.arms[arm], seed

    def arm_names(self) -> tuple[str, ...]:
        """Return the names of the arms, in the order of the plan."""
        return tuple(arm.shown() for arm in self.arms)

    def compared_with(self) -> tuple[int, ...]:
        """Return the arm that each is compared with, by its place; the first with itself."""
        names = self.arm_names()
        return tuple(names.index(arm.against) if arm.against else 0 for arm in self.arms)

    def makers(self) -> tuple[str, ...]:
        """Return the names of the decision-makers."""
        return tuple(f"decision-maker {number}" for number in range(1, self.decision_makers + 1))

    def offered(self) -> dict[str, Any]:
        """Return the parameters that actors take from the plan, where they have one of that name."""
        image = None if self.data.image is None else list(self.data.image)
        batch = {"batch_size": self.batch} if self.batch else {}
        return {"device": self.device, "image": image, **batch}

    def steps(self, role: Literal["generator", "label", "group"] | int) -> tuple[Step, ...]:
        """Return the pipeline of an actor; of the classifier of a decision-maker by its number."""
        if isinstance(role, int):
            return self.classifiers[role % len(self.classifiers)].pipeline()
        if role == "generator":
            return self.generator.pipeline()
        chosen = self.label_annotator if role == "label" else self.group_annotator
        return (chosen or self.classifiers[0]).pipeline()
