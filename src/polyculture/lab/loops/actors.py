"""Actors of a loop: what a generator and a classifier must be able to do, and estimators of scikit-learn as such.

Annotators are classifiers, of the label or of the group. Nothing here knows of shifts or interventions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from polyculture.errors import UsageError
from polyculture.lab.components import build
from polyculture.lab.images import as_numbers, as_pixels

if TYPE_CHECKING:
    from polyculture.lab.loops.rows import Event, Features, Floats, Ints, Rows
    from polyculture.lab.plan import Step

__all__ = [
    "Classifies",
    "Constant",
    "Decides",
    "Fitted",
    "Generates",
    "Learn",
    "Samples",
    "as_seen",
    "first_line",
    "fit_classifier",
    "fit_generator",
    "learn_batches",
    "weight_name",
]


class Generates(Protocol):
    """What a plan may name as a generator: anything with `fit` and `sample`.

    Images come and go as numbers from 0 (black) to 1: a row of pixels each, or where the generator has the attribute
    ``takes_images = True`` as (n, channels, height, width).
    ``sample`` may take ``random_state``, or the object may have a parameter of that name; a generator with neither
    must draw the same numbers whenever it is fitted to the same rows. An answer of several arrays means the first.
    """

    def fit(self, X: Floats) -> Any: ...  # noqa: D102, N803
    def sample(self, n: int) -> Any: ...  # noqa: D102


class Classifies(Protocol):
    """What a plan may name as a classifier or annotator: anything with `fit` and `predict_proba`.

    Images come as to a generator, as a row of pixels each or with ``takes_images = True`` as images.
    Reweighting needs ``fit(X, y, sample_weight=...)``, training on batches ``partial_fit(X, y, classes=...)``.
    """

    classes_: Any

    def fit(self, X: Floats, y: Ints) -> Any: ...  # noqa: D102, N803
    def predict_proba(self, X: Floats) -> Floats: ...  # noqa: D102, N803


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
        said = self.estimator.predict_proba(as_seen(features, self.estimator))
        found[:, np.asarray(self.estimator.classes_, dtype=np.int64)] = said
        return found

    def decide(self, features: Features) -> Ints:
        """Return the most probable class, the first of equal ones; what a randomized classifier drew."""
        if len(features) and hasattr(self.estimator, "decide"):
            return np.asarray(self.estimator.decide(as_seen(features, self.estimator)), dtype=np.int64)
        return np.asarray(self.probabilities(features).argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Samples:
    """A generator that has been fitted: transformers that can be undone, and what samples.

    Attributes
    ----------
    before : tuple of transformer
        What is undone, the last first.
    last : object
        What samples.
    image : tuple of int
        Channels, height and width of the images that it was fitted to; empty where they are numbers.
    """

    before: tuple[Any, ...]
    last: Any
    image: tuple[int, ...] = ()

    def sample(self, number: int, rng: np.random.Generator) -> Features:
        """Return so many people's features, drawn with a seed from ``rng``.

        Images are in grey levels, as the original ones. Rows that are no finite numbers are left out: the caller sees
        fewer.
        """
        state = int(rng.integers(2**31 - 1))
        if "random_state" in signature(self.last.sample).parameters:
            drawn = self.last.sample(number, random_state=state)
        else:
            if "random_state" in self.last.get_params(deep=False):
                self.last.set_params(random_state=state)
            drawn = self.last.sample(number)
        kind = np.float32 if self.image else np.float64
        found = np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn, dtype=kind)
        for step in reversed(self.before):
            found = np.asarray(step.inverse_transform(found), dtype=kind)
        # Mixtures give their components one after the other: any first part would be of some of them only.
        found = rng.permutation(found)
        found = found[np.isfinite(found).reshape(len(found), -1).all(axis=1)]
        return as_pixels(found, self.image) if self.image else np.ascontiguousarray(found)


def as_seen(features: Features, estimator: Any) -> Features:
    """Return features as an estimator takes them: images as rows of pixels, unless it says that it takes images."""
    first = estimator.steps[0][1] if hasattr(estimator, "steps") else estimator
    return as_numbers(features, flat=not getattr(first, "takes_images", False))


def fit_generator(steps: Sequence[Step], features: Features, seed: int, events: list[Event]) -> Samples:
    """Fit a generator to the features of some people.

    Parameters
    ----------
    steps : sequence of Step
        Transformers with ``inverse_transform``, and a generator last.
    features : ndarray
        Of those it learns from.
    seed : int
        Its random state.
    events : list of Event
        What it warns of is added.

    Raises
    ------
    Exception
        Whatever the generator raises.
    """
    parts = [step for _, step in build(steps, seed).steps]
    with _heard(events):
        found = np.ascontiguousarray(as_seen(features, parts[0]))
        for step in parts[:-1]:
            found = step.fit_transform(found)
        parts[-1].fit(found)
    return Samples(tuple(parts[:-1]), parts[-1], features.shape[1:] if features.dtype == np.uint8 else ())


Learn = Callable[[Any, "Rows", int], Any]
"""How an estimator is trained where it is not simply fitted: estimator, rows and a seed in, what decides out."""


def fit_classifier(  # noqa: PLR0917 (what a fit is made of)
    steps: Sequence[Step],
    rows: Rows,
    classes: int,
    seed: int,
    events: list[Event],
    learn: Learn | None = None,
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
    pipeline = build(steps, seed)
    estimator = pipeline.steps[0][1] if len(pipeline.steps) == 1 else pipeline
    rows = replace(rows, features=np.ascontiguousarray(as_seen(rows.features, estimator)))
    with _heard(events):
        if learn is not None:
            return Fitted(learn(estimator, rows, seed), classes)
        weights = {} if rows.weight is None else {weight_name(pipeline, estimator): rows.weight}
        estimator.fit(rows.features, rows.label, **weights)
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
    """Return how an estimator learns from batches, in the order of the rows: one `partial_fit` each.

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
        for _ in range(epochs):
            for start in range(0, len(rows), size):
                batch = rows[slice(start, start + size)]
                weights = {} if batch.weight is None else {"sample_weight": batch.weight}
                estimator.partial_fit(batch.features, batch.label, classes=np.arange(classes), **weights)
        return estimator

    return learn
