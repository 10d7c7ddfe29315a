"""What "Ecosystem-level Analysis of Deployed Machine Learning Reveals Homogeneous Outcomes" (2307.05862) reports.

Facts only, each with its place. Figures of 2020 are as printed or as the authors' public code gives them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "DERMATOLOGY",
    "IMPROVED_MODEL",
    "IMPROVED_YEARS",
    "IMPROVEMENT",
    "NAME",
    "PAPER",
    "POTENTIAL",
    "PROFILES",
    "TREND",
    "Dermatology",
    "Improvement",
    "Potential",
]

NAME = "ecosystem-level"
PAPER = (
    "C. Toups, R. Bommasani, K. A. Creel, S. H. Bana, D. Jurafsky, P. Liang: Ecosystem-level Analysis of Deployed "
    "Machine Learning Reveals Homogeneous Outcomes, NeurIPS 2023, arXiv 2307.05862"
)
_SECTION_4 = "2307.05862, homogeneous outcomes in commercial systems (and its public code)"
_SECTION_5 = "2307.05862, model improvement"
_SECTION_6 = "2307.05862, dermatology"


@dataclass(frozen=True)
class Profile:
    """A printed profile: shares failed by 0 to 3 services, the same under the baseline, and the ratio at the top."""

    individuals: int
    observed: tuple[float, ...]
    expected: tuple[float, ...]
    ratio: float
    ratio_decimals: int


@dataclass(frozen=True)
class Potential:
    """What one service could improve: its failures by the number of other services that fail too."""

    dataset: str
    model: str
    failures: int | None
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Trend:
    """A direction that is reported for every data set, and where."""

    statement: str
    source: str


@dataclass(frozen=True)
class Improvement:
    """A reported number about the change between snapshots.

    ``by_others`` says that it is about the other services; at which of the two snapshots they are read is not known.
    """

    about: str
    statement: str
    unit: str
    published: float
    decimals: int
    by_others: bool = False
    source: str = _SECTION_5


@dataclass(frozen=True)
class Dermatology:
    """A reported excess of homogeneous outcomes of one kind in one group, as a share of 1."""

    kind: str
    group: str
    published: float
    decimals: int = 3
    source: str = _SECTION_6


TREND = Trend(
    "more individuals are failed by all services, and more by none, than if services failed independently",
    _SECTION_4,
)
PROFILE_SOURCE = _SECTION_4

PROFILES = {
    "WAIMAI": Profile(11987, (0.728, 0.140, 0.067, 0.065), (0.600, 0.335, 0.061, 0.004), 18.4, 1),
    "FER+": Profile(6358, (0.468, 0.308, 0.155, 0.069), (0.377, 0.440, 0.164, 0.019), 3.63, 2),
    "DIGIT": Profile(2000, (0.288, 0.442, 0.127, 0.143), (0.186, 0.533, 0.250, 0.031), 4.67, 2),
    "YELP": Profile(20000, (0.489, 0.386, 0.101, 0.024), (0.427, 0.488, 0.082, 0.003), 8.69, 2),
    "IMDB": Profile(25000, (0.424, 0.377, 0.146, 0.053), (0.353, 0.480, 0.154, 0.014), 3.88, 2),
}

POTENTIAL = (
    Potential("WAIMAI", "amazon", 2114, (0.341, 0.293, 0.367)),
    Potential("FER+", "microsoft", 1183, (0.246, 0.384, 0.370)),
    Potential("DIGIT", "ibm", 507, (0.039, 0.394, 0.566)),
    Potential("YELP", "amazon", None, (0.136, 0.683, 0.181)),
)
POTENTIAL_SOURCE = _SECTION_5

IMPROVED_MODEL, IMPROVED_YEARS = "amazon", ("2020", "2021")
IMPROVEMENT = (
    Improvement("WAIMAI", "from 2020 to 2021 the error of Amazon changes by", "points", -0.025, 3),
    Improvement("WAIMAI", "net improvements of Amazon from 2020 to 2021", "count", 303, 0),
    Improvement("WAIMAI", "of them, improvements that undo a systemic failure", "count", 0, 0, by_others=True),
    Improvement(
        "all data sets", "mean share of improvements that undo a systemic failure", "share", 0.10, 2, by_others=True
    ),
)

# Whether "8.2 %" are points (observed - expected) or a ratio (observed / expected - 1) is not known: both are tested.
DERMATOLOGY = (Dermatology("model", "V-VI", 0.082), Dermatology("model", "I-II", -0.015))
NO_PATTERN_KIND = "human"
NO_PATTERN_STATEMENT = "human experts show no such difference between skin tones V-VI and I-II"
MODELS_DIFFER_STATEMENT = "models are further apart between skin tones V-VI and I-II than human experts are"
DERMATOLOGY_SOURCE = _SECTION_6
