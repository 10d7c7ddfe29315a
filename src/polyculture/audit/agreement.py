"""Judges without gold labels: Krippendorff's alpha of their ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import from_estimated
from polyculture.audit.settings import CENSUS
from polyculture.audit.similarity_records import AgreementRecord
from polyculture.audit.statistic import Statistic
from polyculture.audit.words import number_of
from polyculture.errors import ColumnError, UsageError

if TYPE_CHECKING:
    from polyculture.outcomes import Outcomes
    from polyculture.stats.similarity.alpha import Level


def agreement(outcomes: Outcomes, level: Level, *, noun: str = "items", census: bool = False) -> AgreementRecord:
    """Measure how much judges agree, where no answer is known to be right.

    Parameters
    ----------
    outcomes : Outcomes
        Ratings: a row an item, or an item and a judge.
    level : {"nominal", "ordinal", "interval"}
        What a difference between two ratings is: any, of ranks, or of sizes.
    noun : str
        What is rated, in the plural.
    census : bool
        Whether the items are all there are: no interval.

    Raises
    ------
    ColumnError
        If ratings that are no numbers are to be ranked or subtracted.
    UsageError
        If a weight or clusters are named: alpha counts items, each for itself.
    """
    from polyculture.outcomes.ratings import ratings_of
    from polyculture.stats.similarity.alpha import krippendorff_alpha

    for role in ("weight", "cluster"):
        if (name := getattr(outcomes.mapping, role)) is not None:
            raise UsageError(
                f"Krippendorff's alpha counts items, each for itself: the {role} {name!r} cannot be used.",
                hint=f"Drop --{role}, or name the label (--label COLUMN) where there is one.",
            )
    ratings = ratings_of(outcomes)
    if level != "nominal" and not ratings.numbers:
        raise ColumnError(
            f"Ratings of level {level} must be numbers, and these are not ({ratings.values[0]!r}, ...).",
            hint="Number them in their order beforehand, or use the level nominal.",
        )
    sizes = (
        np.array(ratings.values, dtype=np.float64) if ratings.numbers else np.arange(len(ratings.values), dtype=float)
    )
    alpha = from_estimated(krippendorff_alpha(ratings.counts.astype(float), sizes, level, ratings.items.astype(float)))
    if census and alpha.value is not None:
        alpha = Statistic(value=alpha.value, reason=CENSUS)
    twice = int(ratings.items[ratings.counts.sum(axis=1) >= 2].sum())
    return AgreementRecord(
        judges=outcomes.models,
        items=int(ratings.items.sum()),
        rated_twice=twice,
        values=tuple(str(value) for value in ratings.values),
        level=level,
        alpha=alpha,
        sentence=_sentence(len(outcomes.models), alpha, level, number_of(twice, noun)),
    )


def _sentence(judges: int, alpha: Statistic, level: str, rated: str) -> str:
    who = "this judge" if judges == 1 else f"these {judges} judges"
    if alpha.value is None:
        return f"Krippendorff's alpha of {who} is undefined: {alpha.reason}."
    ends = "" if alpha.low is None or alpha.high is None else f" ({alpha.low:.2f} to {alpha.high:.2f})"
    return (
        f"Krippendorff's alpha of {who} is {alpha.value:.2f}{ends} on {rated} that two or more "
        f"rated ({level} ratings; 1 is full agreement, 0 what chance gives). Without gold labels nothing says how many "
        "independent votes they are worth."
    )
