"""What "Fairness Feedback Loops" (2403.07857) reports of loops of models, as directions to hold other data to.

Facts only. Its numbers are of images (ColoredMNIST and others) and stand beside ours where those are run; on tables
only the directions can be held against what is found.
"""

from __future__ import annotations

__all__ = [
    "DRIFT",
    "EQUALIZED_ODDS",
    "FAILED_BY_ALL",
    "FALLS",
    "FASTER",
    "HOLDS_GENERATED",
    "HOLDS_TRAINED",
    "PAPER",
    "POOL",
    "SOURCE",
    "SOURCE_POOL",
]

PAPER = (
    "S. Wyllie, I. Shumailov, N. Papernot: Fairness Feedback Loops: Training on Synthetic Data Amplifies Bias, FAccT "
    "2024, arXiv 2403.07857"
)
SOURCE = "2403.07857, training on synthetic data (ColoredMNIST)"

FALLS = "accuracy falls over the generations"
"""SeqClass .922 to .832, SeqGenSeqClass .924 to .609 in 39 generations."""
FASTER = "accuracy ends lower where generators are sequential too than where only classifiers are"
DRIFT = "the share of the larger class among generated people grows over the generations"
"""Class 1, SeqGenSeqClass: .516 to .909."""
EQUALIZED_ODDS = "the equalized odds difference grows over the generations"
"""SeqClass .053 to .195, SeqGenSeqClass .051 to .588."""
HOLDS_TRAINED = "with reparation the people trained on end nearer to the ideal than without"
HOLDS_GENERATED = "with reparation of generators the generated people end nearer to the ideal than without"

POOL = (
    "decision-makers that train on one shared pool end with more systemic failure beyond chance than with pools of "
    "their own"
)
FAILED_BY_ALL = "more individuals are failed by all at the end where decision-makers train on one shared pool"
SOURCE_POOL = "2211.13972, sharing components"
