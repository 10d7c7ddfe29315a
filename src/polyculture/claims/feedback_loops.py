"""What "Fairness Feedback Loops" (2403.07857) reports of loops of models, as directions to hold other data to.

Facts only. Its numbers are of images (ColoredMNIST and others) and stand beside ours where those are run; on tables
only the directions can be held against what is found.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "DRIFT",
    "EQUALIZED_ODDS",
    "FAILED_BY_ALL",
    "FALLS",
    "FASTER",
    "FIGURES",
    "FIGURE_SEEDS",
    "GROWS_BY_ALL",
    "HOLDS_GENERATED",
    "HOLDS_TRAINED",
    "LESS_SYNTHETIC",
    "PAPER",
    "POOL",
    "SECOND_CLASS",
    "SOURCE",
    "SOURCE_FIGURES",
    "SOURCE_POOL",
    "STAR_BY_ALL",
    "WORDS",
    "Figures",
]

PAPER = (
    "S. Wyllie, I. Shumailov, N. Papernot: Fairness Feedback Loops: Training on Synthetic Data Amplifies Bias, FAccT "
    "2024, arXiv 2403.07857"
)
SOURCE = "2403.07857, training on synthetic data (ColoredMNIST)"

FALLS = "accuracy falls over the generations"
"""SeqClass .922 to .832, SeqGenSeqClass .924 to .609 in 39 generations."""
FASTER = "accuracy ends lower where generators are sequential too than where only classifiers are"
SECOND_CLASS = "the share of class 1 among generated people grows over the generations"
"""SeqClass .51 to .56, SeqGenSeqClass .516 to .909."""
DRIFT = "the share of the larger class among generated people grows over the generations"
"""Class 1, SeqGenSeqClass: .516 to .909."""
EQUALIZED_ODDS = "the equalized odds difference grows over the generations"
"""SeqClass .053 to .195, SeqGenSeqClass .051 to .588."""
LESS_SYNTHETIC = "accuracy ends higher where less of what generators learn from is synthetic"
HOLDS_TRAINED = "with reparation the people trained on end nearer to the ideal than without"
HOLDS_GENERATED = "with reparation of generators the generated people end nearer to the ideal than without"

POOL = (
    "decision-makers that train on one shared pool end with more systemic failure beyond chance than with pools of "
    "their own"
)
FAILED_BY_ALL = "more individuals are failed by all at the end where decision-makers train on one shared pool"
GROWS_BY_ALL = "the share failed by all grows more over the generations where decision-makers train on one shared pool"
STAR_BY_ALL = "fewer individuals are failed by all at the end with reparation than without"
SOURCE_POOL = "2211.13972, sharing components"


class Figures(NamedTuple):
    """What the authors' result files give for ColoredMNIST in one generation: means over seeds on the test set."""

    setting: str
    generation: int
    accuracy: float
    accuracy_difference: float
    demographic_parity_difference: float
    equalized_odds_difference: float
    class_share: float
    group_share: float
    accuracy_sd: float | None = None


FIGURES = (
    Figures("SeqClass", 0, 0.922, 0.012, 0.368, 0.053, 0.51, 0.50),
    Figures("SeqClass", 10, 0.893, 0.022, 0.388, 0.133, 0.51, 0.50, 0.020),
    Figures("SeqClass", 39, 0.832, 0.037, 0.373, 0.195, 0.56, 0.51, 0.060),
    Figures("SeqGenSeqClass", 0, 0.924, 0.012, 0.369, 0.051, 0.516, 0.503),
    Figures("SeqGenSeqClass", 10, 0.732, 0.054, 0.370, 0.259, 0.764, 0.521, 0.034),
    Figures("SeqGenSeqClass", 39, 0.609, 0.175, 0.579, 0.588, 0.909, 0.526, 0.098),
)
FIGURE_SEEDS = 5
"""The fewest seeds that the paper speaks of (5 to 25): how many these means are over is not known to us."""
WORDS = {
    "accuracy": "accuracy",
    "accuracy_difference": "accuracy gap between groups",
    "demographic_parity_difference": "demographic parity difference",
    "equalized_odds_difference": "equalized odds difference",
    "class_share": "share of class 1 among generated people",
    "group_share": "share of the minoritized group among generated people",
}
SOURCE_FIGURES = "2403.07857, the authors' result files (ColoredMNIST)"
