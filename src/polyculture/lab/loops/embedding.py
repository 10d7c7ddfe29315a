"""In what generated people are compared with real ones: the features, their principal components, or what a model sees.

The distances themselves stand in ``measures``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import UsageError
from polyculture.lab.components import build
from polyculture.lab.images import as_numbers
from polyculture.lab.loops.actors import as_seen
from polyculture.lab.plan import Step

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Decides
    from polyculture.lab.loops.plan import LoopPlan
    from polyculture.lab.loops.rows import Floats
    from polyculture.lab.loops.world import World

__all__ = ["Embedding", "check_embedding", "embedding_of", "in_words"]


@dataclass(eq=False)
class Embedding:
    """Where people are compared.

    Attributes
    ----------
    world : World
        The real individuals.
    into : callable
        Features, (n, ...), to what is compared, (n, d).
    """

    world: World
    into: Callable[[Any], Floats]

    @cached_property
    def real(self) -> Floats:
        """The real training individuals in the embedding, (n, d)."""
        return self.into(self.world.features)


def embedding_of(plan: LoopPlan, world: World, annotator: Decides, seed: int) -> Embedding:
    """Return the embedding of a plan, fitted to the real training individuals.

    Parameters
    ----------
    plan : LoopPlan
        The experiment.
    world : World
        The real individuals.
    annotator : Decides
        The label annotator.
    seed : int
        Random state of an estimator that the plan names.

    Raises
    ------
    Exception
        Whatever an estimator raises.
    """
    if isinstance(plan.embedding, Step):
        estimator = build([plan.embedding], seed, plan.offered()).steps[0][1]
        estimator.fit(as_seen(world.features, estimator), world.label)
        return Embedding(world, lambda features: _rows(estimator.transform(as_seen(features, estimator))))
    if plan.embedding == "annotator":
        told: Any = annotator
        return Embedding(world, lambda features: _rows(told.estimator.transform(as_seen(features, told.estimator))))
    if plan.embedding == "features":
        return Embedding(world, lambda features: _rows(as_numbers(features)))
    return Embedding(world, world.embedded)


def _rows(found: Any) -> Floats:
    values = np.asarray(found, dtype=np.float64)
    return np.ascontiguousarray(values.reshape(len(values), -1))


def check_embedding(plan: LoopPlan) -> None:
    """Refuse an embedding that its estimator cannot make.

    Raises
    ------
    UsageError
        The message names the estimator.
    """
    if plan.embedding in ("components", "features"):
        return
    steps = [plan.embedding] if isinstance(plan.embedding, Step) else plan.steps("label")
    last = build(steps, 0, plan.offered()).steps[-1][1]
    if not hasattr(last, "transform"):
        role = "embedding" if isinstance(plan.embedding, Step) else "the label annotator"
        raise UsageError(
            f"{type(last).__name__} of {role} embeds nothing (transform).",
            hint="Name a transformer, such as sklearn.decomposition.PCA, or a network as the annotator.",
        )


def in_words(plan: LoopPlan) -> str:
    """Return where people are compared, for a sentence."""
    if isinstance(plan.embedding, Step):
        return f"in what {plan.embedding.estimator} makes of the features, fitted to the training individuals"
    return {
        "components": "in the first principal components (at most 10) of the features of the training individuals",
        "features": "in the features themselves",
        "annotator": "in what the last layer of the label annotator sees",
    }[plan.embedding]
