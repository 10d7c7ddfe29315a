"""What "Picking on the Same Person" (2211.13972) reports of decision-makers that share training data.

Facts only: the experiments as the paper sets them up, and the directions it reports. The paper gives these results as
curves, so that no number of them is known here but the two of the census data.
"""

from __future__ import annotations

__all__ = [
    "ACS_GROUP_H",
    "ACS_INDIVIDUAL_H",
    "BEYOND_GROUPS",
    "LARGEST_CORRELATION",
    "LEARNERS",
    "PAPER",
    "RAISES",
    "SIZES",
    "SMALLEST_RISE",
    "SOURCE",
    "UNCORRELATED",
]

PAPER = (
    "R. Bommasani, K. A. Creel, A. Kumar, D. Jurafsky, P. Liang: Picking on the Same Person: Does Algorithmic "
    "Monoculture lead to Outcome Homogenization?, NeurIPS 2022, arXiv 2211.13972"
)
SOURCE = "2211.13972, sharing training data"

LEARNERS = (
    "sklearn.linear_model.LogisticRegression",
    "sklearn.ensemble.GradientBoostingClassifier",
    "sklearn.svm.SVC",
    "sklearn.neural_network.MLPClassifier",
)
"""With default settings, after standard scaling."""

SIZES = {
    "german-credit": (2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 20),
    "law-school": (6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
    "acs": (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000),
}
"""Numbers of blocks; of the last two only the ends are known, the steps between are ours."""

TRIALS = {"german-credit": (25, 25), "law-school": (5, 5), "acs": (5, 5)}
"""Model seeds, partition seeds."""

RAISES = "H is larger where decision-makers train on the same rows"
SMALLEST_RISE = 0.05
"""The paper speaks of a reliable rise. An interval below a rise of 5 % is held to disagree with it: our reading."""

UNCORRELATED = "H is nearly uncorrelated with accuracy"
LARGEST_CORRELATION = 0.3
"""What "nearly" leaves room for, as a rank correlation: our reading."""

BEYOND_GROUPS = "sharing raises H of individuals more than H of groups"
ACS_GROUP_H = 1.0
ACS_GROUP_MARGIN = 0.1
"""The paper has H of race groups near 1; what "near" leaves room for is our reading."""
ACS_INDIVIDUAL_H = 1.2
"""H of individuals exceeds it where the data is shared."""
