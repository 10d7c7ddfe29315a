"""Who or what all models failed: the declared second pass over the rows, which no Tally can answer.

Nothing is collected here: the answer stays a lazy frame, wherever the rows are held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import narwhals as nw


class HasIndividuals(Protocol):
    """Outcomes that can list individuals."""

    def individuals_failed_by_all(self, min_judged: int) -> nw.LazyFrame[Any]:
        """Return the individuals failed by every model that judged them, at least ``min_judged`` models."""
        ...


def failed_by_all(outcomes: HasIndividuals, *, min_judged: int = 2) -> nw.LazyFrame[Any]:
    """List the individuals whom every model that judged them failed.

    Parameters
    ----------
    outcomes : Outcomes
        The rows, held by whatever engine.
    min_judged : int
        Individuals judged by fewer models are not listed.

    Returns
    -------
    narwhals.LazyFrame
        One row an individual: its id, label, groups and every model's answer. Not collected.
    """
    return outcomes.individuals_failed_by_all(min_judged)
