"""What goes with the likeness of models: pairs that share a component, against pairs that do not."""

from polyculture.stats.components.dyads import Dyads, accuracies, closeness, sharing
from polyculture.stats.components.qap import Permuted, qap
from polyculture.stats.components.regression import (
    Fit,
    correlation,
    dyadic_covariance,
    fit,
    jackknife_variance,
)
from polyculture.stats.components.shapley import MOST_PLAYERS, Shares, shapley_shares
from polyculture.stats.components.what_if import OneOfEach, one_of_each

__all__ = [
    "MOST_PLAYERS",
    "Dyads",
    "Fit",
    "OneOfEach",
    "Permuted",
    "Shares",
    "accuracies",
    "closeness",
    "correlation",
    "dyadic_covariance",
    "fit",
    "jackknife_variance",
    "one_of_each",
    "qap",
    "shapley_shares",
    "sharing",
]
