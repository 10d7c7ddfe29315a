"""What the questions of one audit share: the seed, the smallest cell, how to correct, the noun.

Each random draw has a Generator of its own, spawned by the number of the question and the names of the
columns it is about. So a further column or a further question changes no other number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

Correction = Literal["bh", "holm"]

# A question keeps its number for ever: a new one goes to the end, so that old numbers stay as they were.
_QUESTIONS = (
    "profile",
    "systemic failure",
    "consistent success",
    "homogeneous outcomes",
    "group homogenization",
    "gaps",
    "contrasts",
    "no answer",
    "nulls",
    "components",
    "portfolio",
    "appeals",
    "slices",
    "change",
)

CENSUS = "census: no sampling uncertainty"


@dataclass(frozen=True)
class Settings:
    """How an audit is made.

    Attributes
    ----------
    seed : int
        Seed of every draw.
    min_cell : int
        Groups of fewer individuals have their figures withheld.
    census : bool
        Whether the individuals are all there are, so that intervals and tests have no meaning.
    correction : {"bh", "holm"}
        How p-values of group contrasts are corrected for their number.
    noun : str
        What an individual is called, in the plural ("reviews").
    nulls : tuple of str
        Models of chance beside independence, by name; "all" for the whole ladder.
    labels : bool
        Whether failures may rest on a label, which may be wrong.
    """

    seed: int = 0
    min_cell: int = 30
    census: bool = False
    correction: Correction = "bh"
    noun: str = "individuals"
    nulls: tuple[str, ...] = ()
    labels: bool = True

    def generator(self, question: str, names: Sequence[str | None] = ()) -> Generator:
        """Return the Generator of one question about the given columns or group values."""
        import numpy as np

        key = (_QUESTIONS.index(question), *(crc32(repr(name).encode()) for name in names))
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))
