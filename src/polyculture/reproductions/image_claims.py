"""Claims on loops of images: the paper's directions, and each figure of the authors' result files beside ours.

A figure is held by the difference of two means over seeds, with what is known of the spread of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.claims import feedback_loops as paper
from polyculture.claims.records import ClaimRecord
from polyculture.claims.verdict import absent
from polyculture.lab.analysis import statistic
from polyculture.lab.loops.measured import measured
from polyculture.reproductions.loops import trends
from polyculture.stats.over_seeds import from_reported, over_seeds

if TYPE_CHECKING:
    from polyculture.loops import Loop

__all__ = ["directions", "figures"]

SEQUENTIAL = ("SeqClass", "SeqGenSeqClass")
MARGIN = 0.05
"""How far apart two shares may be that agree: a standard error of the published shares, of 100 people each."""


def directions(loop: Loop, about: str, drift: tuple[str, str]) -> list[ClaimRecord]:
    """Return the claims of the paper's directions; each rests on an interval over seeds that leaves none out."""
    endings = {
        "cla-STAR": ("trained_divergence", paper.HOLDS_TRAINED),
        "gen-STAR": ("divergence", paper.HOLDS_GENERATED),
    }
    return trends(loop.record, about, SEQUENTIAL, drift, endings)


def figures(loop: Loop, about: str, second: str, minoritized: str) -> list[ClaimRecord]:
    """Return the figures of the authors' result files beside ours.

    Parameters
    ----------
    loop : Loop
        The loop.
    about : str
        Its data set.
    second, minoritized : str
        What the loop calls class 1, and the minoritized group.
    """
    record, values = loop.record, measured(loop.store).values
    of = {"class_share": second, "group_share": minoritized}
    found = []
    for published in paper.FIGURES:
        number = _generation(published.generation, record.plan.generations)
        for measure, words in paper.WORDS.items():
            own = values.get((measure, of.get(measure)))
            there = published.setting in record.arms and number is not None and own is not None
            given = own[record.arms.index(published.setting), :, number] if there and own is not None else np.zeros(0)
            found.append(_figure(about, published, measure, words, given, number))
    return found


def _generation(published: int, generations: int) -> int | None:
    """Return the generation that a published one is held against: itself, or the one before it where that is the last.

    >>> _generation(10, 15), _generation(10, 10), _generation(39, 15)
    (10, 9, None)
    """
    if published < generations:
        return published
    return generations - 1 if published == generations else None


def _figure(  # noqa: PLR0917 (the parts of one claim)
    about: str,
    published: paper.Figures,
    measure: str,
    words: str,
    values: np.ndarray,
    number: int | None,
) -> ClaimRecord:
    reported = float(getattr(published, measure))
    sd = published.accuracy_sd if measure == "accuracy" else None
    own = over_seeds(values)
    if own.low is not None and own.high is not None:  # a t interval knows no ends of a share
        own = own._replace(low=max(own.low, 0.0), high=min(own.high, 1.0))
    found = statistic(own)
    difference = statistic(from_reported(values, reported, sd, paper.FIGURE_SEEDS))
    at = f"{words} in generation {published.generation}"
    verdict, reason = absent(difference, none=0.0, margin=MARGIN)
    if number is None:
        verdict, reason = "not tested", "this generation was not run"
    else:
        at = at if number == published.generation else f"{at} (ours: {number})"
        if difference.low is not None and difference.high is not None:
            ends = f"{difference.value:+.3f}, {difference.low:+.3f} to {difference.high:+.3f}"
            reason = f"of the difference {reason}: {ends}; {difference.method}"
    return ClaimRecord(
        about=f"{about}, {published.setting}",
        statement=at,
        unit="share",
        published=reported,
        decimals=3,
        found=found,
        judged_by="seeds",
        margin=MARGIN,
        verdict=verdict,
        reason=reason,
        source=paper.SOURCE_FIGURES,
    )
