"""Actors of a loop: what a generator and a classifier must be able to do, and estimators of scikit-learn as such.

Annotators are classifiers, of the label or of the group. Nothing here knows of shifts or interventions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from polyculture.errors import UsageError
from polyculture.lab.components import build, parameters_of, set_parameters
from polyculture.lab.images import as_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.loops.plan import LoopPlan
    from polyculture.lab.loops.rows import Event, Features, Floats, Ints, Rows
    from polyculture.lab.plan import Step

__all__ = [
    "Classifies",
    "Constant",
    "Decides",
    "Fitted",
    "Generates",
    "Keeps",
    "Learn",
    "Offered",
    "Samples",
    "Weights",
    "as_seen",
    "first_line",
    "fit_classifier",
    "fit_generator",
    "learn_batches",
    "libraries_of",
    "takes_batches",
    "weight_name",
]

Weights = dict[str, "NDArray[Any]"]
"""What a model has learned, as arrays by name."""
Offered = Mapping[str, Any]
"""Parameters that a plan offers to its actors: those who know the name take them."""
AT_ONCE = 10_000
"""Images that become numbers at once, each of which is eight times as long."""


class Generates(Protocol):
    """What a plan may name as a generator: anything with `fit` and `sample`.

    Images come as numbers from 0 (black) to 1, a row of pixels each, channel by channel; and go so, or as images. What
    has a parameter ``image`` is told their channels, height and width.
    ``sample`` may take ``random_state``, or the object may have a parameter of that name; a generator with neither
    must draw the same numbers whenever it is fitted to the same rows. An answer of several arrays means the first.
    A plain class has those parameters that its constructor takes and keeps as attributes of the same name.

    One that is conditional on the class has an attribute ``conditional`` that is true: its `fit` is given classes too,
    ``fit(X, y)``, and its answer is features and classes, which are then the labels instead of the annotator's. Where
    ``fit`` takes ``batches``, it is told which rows reparation put into the same batch.
    """

    def fit(self, X: Floats) -> Any: ...  # noqa: D102, N803
    def sample(self, n: int) -> Any: ...  # noqa: D102


class Classifies(Protocol):
    """What a plan may name as a classifier or annotator: anything with `fit` and `predict_proba`.

    Images come as to a generator. Behind other steps it must be an estimator of scikit-learn's (`BaseEstimator`).
    Reweighting needs ``fit(X, y, sample_weight=...)``, training on batches ``partial_fit(X, y, classes=...)``, or
    ``fit(X, y, batches=...)``, which is told the batch of each row.
    """

    classes_: Any

    def fit(self, X: Floats, y: Ints) -> Any: ...  # noqa: D102, N803
    def predict_proba(self, X: Floats) -> Floats: ...  # noqa: D102, N803


class Keeps(Protocol):
    """What a generator or classifier may be able to do beside: its weights are then stored, and taken up again.

    One that is made with the same parameters and given the weights must sample and decide as the one that learned them.
    The others are fitted once more to what they were trained on, when a chain is taken up.
    """

    def get_weights(self) -> Weights: ...  # noqa: D102
    def set_weights(self, weights: Weights) -> Any: ...  # noqa: D102


class Decides(Protocol):
    """A classifier that has been fitted: probabilities of all classes of the world, (n, K)."""

    def probabilities(self, features: Features) -> Floats: ...  # noqa: D102
    def decide(self, features: Features) -> Ints: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Constant:
    """Says the same class of everyone: what is left when a training set holds one class only."""

    label: int
    classes: int

    def probabilities(self, features: Features) -> Floats:
        """Return 1 for that class, (n, K)."""
        found = np.zeros((len(features), self.classes))
        found[:, self.label] = 1.0
        return found

    def decide(self, features: Features) -> Ints:
        """Return that class for everyone, (n,)."""
        return np.full(len(features), self.label, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Fitted:
    """An estimator of scikit-learn's kind that has been fitted to some of the classes."""

    estimator: Any
    classes: int

    def probabilities(self, features: Features) -> Floats:
        """Return the probability of every class of the world; 0 for those that it has not seen."""
        found = np.zeros((len(features), self.classes))
        if not len(features):  # a draw may ask for nobody, which scikit-learn refuses
            return found
        columns = np.asarray(self.estimator.classes_, dtype=np.int64)
        size = AT_ONCE if features.dtype == np.uint8 else len(features)
        for start in range(0, len(features), size):
            part = slice(start, start + size)
            given = self.estimator.predict_proba(as_seen(features[part], self.estimator))
            found[part, columns] = _checked(given, len(features[part]), len(columns))
        return found

    def decide(self, features: Features) -> Ints:
        """Return the most probable class, the first of equal ones; what a randomized classifier drew."""
        if len(features) and hasattr(self.estimator, "decide"):
            return np.asarray(self.estimator.decide(as_seen(features, self.estimator)), dtype=np.int64)
        return np.asarray(self.probabilities(features).argmax(axis=1), dtype=np.int64)


def _checked(given: Any, people: int, classes: int) -> Floats:
    """Return probabilities, (n, K); others would be decisions that nobody made.

    Raises
    ------
    ValueError
        If they are not finite, or not one of each class for everyone.
    """
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (people, classes):
        raise ValueError(f"predict_proba gives the shape {found.shape} for {people} people and {classes} classes")
    unknown = int((~np.isfinite(found)).any(axis=1).sum())
    if unknown:
        raise ValueError(f"predict_proba gives no finite probabilities for {unknown} of {people} people")
    return found


@dataclass(frozen=True, eq=False)
class Samples:
    """A generator that has been fitted: transformers that can be undone, and what samples.

    Attributes
    ----------
    before : tuple of transformer
        What is undone, the last first.
    last : object
        What samples.
    """

    before: tuple[Any, ...]
    last: Any

    @property
    def conditional(self) -> bool:
        """Whether it gives people with their class."""
        return bool(getattr(self.last, "conditional", False))

    def sample(self, number: int, rng: np.random.Generator) -> tuple[Floats, Ints | None]:
        """Return so many people's features, and their classes where it is conditional, drawn with a seed from ``rng``.

        Rows that are no finite numbers are left out: the caller sees fewer.

        Raises
        ------
        ValueError
            If the generator gives another number of people than it was asked for.
        """
        state = int(rng.integers(2**31 - 1))
        if "random_state" in signature(self.last.sample).parameters:
            drawn = self.last.sample(number, random_state=state)
        else:
            if "random_state" in parameters_of(self.last):
                set_parameters(self.last, {"random_state": state})
            drawn = self.last.sample(number)
        found = np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn, dtype=np.float64)
        for step in reversed(self.before):
            found = np.asarray(step.inverse_transform(found), dtype=np.float64)
        if len(found) != number:
            raise ValueError(f"the generator gives {len(found)} people where it is asked for {number}")
        # Mixtures give their components one after the other: any first part would be of some of them only.
        order = rng.permutation(len(found))
        finite = np.asarray(np.isfinite(found).reshape(len(found), -1).all(axis=1))
        order = order[finite[order]]
        label = np.asarray(drawn[1], dtype=np.int64)[order] if self.conditional else None
        return np.ascontiguousarray(found[order]), label


def fit_generator(
    steps: Sequence[Step], rows: Rows, seed: int, events: list[Event], offered: Offered | None = None
) -> Samples:
    """Fit a generator to some people.

    Parameters
    ----------
    steps : sequence of Step
        Transformers with ``inverse_transform``, and a generator last.
    rows : Rows
        Those it learns from.
    seed : int
        Its random state.
    events : list of Event
        What it warns of is added.
    offered : mapping, optional
        What the plan offers to actors.

    Raises
    ------
    Exception
        Whatever the generator raises.
    """
    parts = [step for _, step in build(steps, seed, offered).steps]
    fitted = Samples(tuple(parts[:-1]), parts[-1])
    more: dict[str, Any] = {"y": rows.label} if fitted.conditional else {}
    if rows.batch is not None and takes_batches(fitted.last):
        more["batches"] = rows.batch
    with _heard(events):
        found = np.ascontiguousarray(as_seen(rows.features, parts[0]))
        for step in fitted.before:
            found = step.fit_transform(found)
        fitted.last.fit(found, **more)
    return fitted


def as_seen(features: Features, estimator: Any) -> Features:
    """Return features as an estimator takes them: images as rows of pixels, of single precision for networks."""
    first = estimator.steps[0][1] if hasattr(estimator, "steps") else estimator
    return as_numbers(features, np.float32 if "image" in parameters_of(first) else np.float64)


def libraries_of(plan: LoopPlan) -> tuple[str, ...]:
    """Return the libraries that actors use beside those of the lab: those of networks, where the plan has any."""
    networks = any(
        hasattr(step, "get_weights") or "device" in parameters_of(step)
        for role in ("generator", "label", "group", *range(len(plan.classifiers)))
        for _, step in build(plan.steps(role)).steps
    )
    return ("torch", "skorch", "safetensors", "transformers") if networks else ()


def takes_batches(estimator: Any) -> bool:
    """Return whether an estimator is told the batch of each row that it is fitted to."""
    return "batches" in signature(estimator.fit).parameters


Learn = Callable[[Any, "Rows", int], Any]
"""How an estimator is trained where it is not simply fitted: estimator, rows and a seed in, what decides out."""


def fit_classifier(  # noqa: PLR0917 (what a fit is made of)
    steps: Sequence[Step],
    rows: Rows,
    classes: int,
    seed: int,
    events: list[Event],
    learn: Learn | None = None,
    offered: Offered | None = None,
) -> Decides:
    """Fit a classifier to some people.

    Parameters
    ----------
    steps : sequence of Step
        A pipeline, the classifier last.
    rows : Rows
        Whom it learns from, with labels and perhaps weights.
    classes : int
        K, the number of classes of the world.
    seed : int
        Its random state.
    events : list of Event
        What it warns of is added, and "class missing" where the rows hold one class only.
    learn : callable, optional
        Trains the estimator instead of its ``fit``.
    offered : mapping, optional
        What the plan offers to actors.

    Raises
    ------
    Exception
        Whatever the classifier raises.
    """
    from polyculture.lab.loops.rows import Event

    there = np.unique(rows.label)
    if len(there) < 2:
        events.append(Event("class missing", ""))
        return Constant(int(there[0]) if len(there) else 0, classes)
    pipeline = build(steps, seed, offered)
    estimator = pipeline.steps[0][1] if len(pipeline.steps) == 1 else pipeline
    rows = replace(rows, features=np.ascontiguousarray(as_seen(rows.features, estimator)))
    with _heard(events):
        if learn is not None:
            return Fitted(learn(estimator, rows, seed), classes)
        more: dict[str, Any] = {} if rows.weight is None else {weight_name(pipeline, estimator): rows.weight}
        if rows.batch is not None and takes_batches(estimator):
            more["batches"] = rows.batch
        estimator.fit(rows.features, rows.label, **more)
    return Fitted(estimator, classes)


def weight_name(pipeline: Any, estimator: Any) -> str:
    """Return the keyword that hands weights to the last step.

    Raises
    ------
    UsageError
        If it takes none.
    """
    name, last = pipeline.steps[-1]
    if "sample_weight" not in signature(last.fit).parameters:
        raise UsageError(
            f"{type(last).__name__} takes no weights, which reweighting needs.",
            hint="Choose a classifier whose fit takes sample_weight.",
        )
    return "sample_weight" if estimator is last else f"{name}__sample_weight"


@contextmanager
def _heard(events: list[Event]) -> Iterator[None]:
    """Turn the warnings of a fit into events: that it did not converge, and none of the others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    from sklearn.exceptions import ConvergenceWarning

    from polyculture.lab.loops.rows import Event

    unsettled = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    if unsettled:
        events.append(Event("did not converge", first_line(str(unsettled[0].message))))


def first_line(text: str) -> str:
    """Return the first line of what was said, cut."""
    return (text.strip().splitlines() or [""])[0][:300]


def learn_batches(size: int, epochs: int, classes: int) -> Learn:
    """Return how an estimator learns from batches: one `partial_fit` each, in the order of the rows.

    Parameters
    ----------
    size : int
        Rows of a batch.
    epochs : int
        How often the batches are gone through.
    classes : int
        K, so that a batch may lack some.
    """

    def learn(estimator: Any, rows: Rows, seed: int) -> Any:  # noqa: ARG001 (the estimator has it)
        parts = [rows[slice(start, start + size)] for start in range(0, len(rows), size)]
        if rows.batch is not None:
            cuts = np.flatnonzero(np.diff(rows.batch)) + 1
            parts = [rows[part] for part in np.split(np.arange(len(rows)), cuts)]
        for _ in range(epochs):
            for batch in parts:
                weights = {} if batch.weight is None else {"sample_weight": batch.weight}
                estimator.partial_fit(batch.features, batch.label, classes=np.arange(classes), **weights)
        return estimator

    return learn
