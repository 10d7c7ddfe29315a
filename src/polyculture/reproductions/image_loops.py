"""What the loops on images have in common: the six arms, generators and classifiers by scale, and claims with figures.

Beside each figure that the authors' result files give stands ours, with the difference over the seeds of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.claims import feedback_loops as paper
from polyculture.claims.records import ClaimRecord
from polyculture.claims.verdict import other_seeds
from polyculture.lab.analysis import statistic
from polyculture.lab.loops.measured import measured
from polyculture.reproductions.loops import trends
from polyculture.stats.over_seeds import from_reported, over_seeds

if TYPE_CHECKING:
    from polyculture.loops import Loop

__all__ = ["ARMS", "GENERATOR", "Extent", "directions", "figures", "plan_of"]

SEQUENTIAL = ("SeqClass", "SeqGenSeqClass")


def _star(of: str, budget: float = 0.25) -> list[dict[str, Any]]:
    return [{"kind": "STAR", "of": [of], "budget": budget}]


ARMS: tuple[dict[str, Any], ...] = (
    {"setting": "SeqClass"},
    {"setting": "SeqClass", "intervention": _star("classifier")},
    {"setting": "SeqGenSeqClass"},
    {"setting": "SeqGenSeqClass", "intervention": _star("classifier"), "against": "SeqGenSeqClass"},
    {"setting": "SeqGenSeqClass", "intervention": _star("generator"), "against": "SeqGenSeqClass"},
    {"setting": "SeqGenNonSeqClass"},
)
"""The paper's settings, and reparation of either kind."""


def mixture(components: int, normals: int) -> dict[str, Any]:
    """Return a small generator of images: principal components, and a mixture of normal distributions on them."""
    return {
        "steps": [
            {
                "estimator": "sklearn.decomposition.PCA",
                "parameters": {"n_components": components, "svd_solver": "randomized"},
            },
            {
                "estimator": "sklearn.mixture.GaussianMixture",
                "parameters": {"n_components": normals, "reg_covar": 0.001},
            },
        ]
    }


GENERATOR = mixture(40, 20)
PERCEPTRON = {
    "estimator": "sklearn.neural_network.MLPClassifier",
    "parameters": {"hidden_layer_sizes": [64], "learning_rate_init": 0.003, "tol": 0.01, "n_iter_no_change": 3},
}
"""A small network that stops when its loss no longer falls by .01."""


@dataclass(frozen=True)
class Extent:
    """How large a loop on images is.

    Attributes
    ----------
    generations, seeds : int
        Of each of the six arms.
    images : dict
        Parameters of the loader: how many, how large.
    models : dict
        Generator and classifiers.
    more : dict
        Further keys of the plan.
    """

    generations: int
    seeds: int
    images: dict[str, Any]
    models: dict[str, Any]
    more: dict[str, Any]


def plan_of(name: str, extent: Extent, data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the plan of a loop on images.

    Parameters
    ----------
    name : str
        Of the experiment.
    extent : Extent
        How large it is.
    data : dict
        What the data set adds: ``data`` with source, parameters and groups, ``label``, ``favourable``.
    seed : int
        Of all draws.
    """
    own = data["data"]
    return {
        "name": name,
        "generations": extent.generations,
        "seeds": extent.seeds,
        "split": "fixed",
        "keep": 12,
        "seed": seed,
        "endpoints": ["accuracy", "equalized_odds_difference", "divergence"],
        "arm": list(ARMS),
        **extent.models,
        **extent.more,
        **{key: value for key, value in data.items() if key != "data"},
        "data": {**own, "parameters": {**own.get("parameters", {}), **extent.images}},
    }


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
    shares = {name: sum(one.original for one in record.strata if one.target == name) for name in record.classes}
    groups = {name: sum(one.original for one in record.strata if one.group == name) for name in record.groups}
    nones = {"accuracy": 0.5, "class_share": shares[second], "group_share": groups[minoritized]}
    of = {"class_share": second, "group_share": minoritized}
    found = []
    for published in paper.FIGURES:
        number = _generation(published.generation, record.plan.generations)
        for measure, words in paper.WORDS.items():
            own = values.get((measure, of.get(measure)))
            there = published.setting in record.arms and number is not None and own is not None
            given = own[record.arms.index(published.setting), :, number] if there and own is not None else np.zeros(0)
            found.append(_figure(about, published, measure, words, given, number, nones.get(measure, 0.0)))
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
    none: float,
) -> ClaimRecord:
    reported = float(getattr(published, measure))
    sd = published.accuracy_sd if measure == "accuracy" else None
    own = over_seeds(values)
    if own.low is not None and own.high is not None:  # a t interval knows no ends of a share
        own = own._replace(low=max(own.low, 0.0), high=min(own.high, 1.0))
    found = statistic(own)
    difference = statistic(from_reported(values, reported, sd, paper.FIGURE_SEEDS))
    verdict, reason = other_seeds(difference, found, none=none)
    at = f"{words} in generation {published.generation}"
    if number is None:
        verdict, reason = "not tested", "this generation was not run"
    elif number != published.generation:
        at = f"{at} (ours: {number})"
    if difference.low is not None and difference.high is not None:
        ends = f"{difference.value:+.3f}, {difference.low:+.3f} to {difference.high:+.3f}"
        reason = f"{reason}: {ends}; {difference.method}"
    return ClaimRecord(
        about=f"{about}, {published.setting}",
        statement=at,
        unit="share",
        published=reported,
        decimals=3,
        found=found,
        judged_by="seeds",
        verdict=verdict,
        reason=reason,
        source=paper.SOURCE_FIGURES,
    )
