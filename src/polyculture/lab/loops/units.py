"""The measures of a loop by name, what each is in, and the numbers that a curve of one is made to."""

from __future__ import annotations

__all__ = ["CHANGE", "ENDPOINTS", "LAST", "MEAN", "UNDEFINED", "UNITS"]

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

_NOBODY = "a rate is of nobody: all of a group, or none, have the favourable class"
UNDEFINED: dict[str, str] = {
    "divergence": "infinite: people are generated in a stratum whose ideal share is 0",
    "trained_divergence": "infinite: people are trained on in a stratum whose ideal share is 0",
    "demographic_parity_ratio": "nobody gets the favourable class",
    "equalized_odds_difference": _NOBODY,
    "equalized_odds_ratio": f"{_NOBODY}; or the rate is 0 in all groups",
    "true_positive_rate": "nobody of the group has the favourable class",
    "false_positive_rate": "all of the group have the favourable class",
}
"""Why a measure is undefined in a generation that was run."""
