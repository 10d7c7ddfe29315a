"""The measures of a loop by name, what each is in, and the numbers that a curve of one is made to."""

from __future__ import annotations

__all__ = ["CHANGE", "ENDPOINTS", "LAST", "MEAN", "UNITS"]

LAST, MEAN, CHANGE = ENDPOINTS = ("last generation", "mean over generations", "change since generation 0")
SHARES, POINTS, RATIO, NUMBER = "share", "points", "ratio", "number"
UNITS: dict[str, str] = {
    "accuracy": SHARES,
    "accuracy_difference": POINTS,
    "worst_group_accuracy": SHARES,
    "demographic_parity_difference": POINTS,
    "demographic_parity_ratio": RATIO,
    "equalized_odds_difference": POINTS,
    "equalized_odds_ratio": RATIO,
    "selection_rate": SHARES,
    "largest_class": SHARES,
    "true_positive_rate": SHARES,
    "false_positive_rate": SHARES,
    "class_share": SHARES,
    "group_share": SHARES,
    "stratum_share": SHARES,
    "annotated_share": SHARES,
    "trained_share": SHARES,
    "divergence": NUMBER,
    "trained_divergence": NUMBER,
    "frechet": NUMBER,
    "mmd": NUMBER,
    "precision": SHARES,
    "recall": SHARES,
    "systemic_failure": SHARES,
    "expected": SHARES,
    "homogenization": RATIO,
    "group_homogenization": RATIO,
}
"""What each measure is in; those of the last four need several decision-makers."""
