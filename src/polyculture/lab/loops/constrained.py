"""Training under a fairness constraint with fairlearn's reductions, as a classifier of a loop."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from polyculture.lab.loops.actors import Learn
    from polyculture.lab.loops.rows import Floats, Ints, Rows

__all__ = ["constrained"]


@dataclass(frozen=True, eq=False)
class _Mixture:
    """The randomized classifier of a reduction: classifiers with the probability of each.

    Whoever stands at the same place of two tables gets the same draw, so that its decisions can be had again.
    """

    classes_: Ints
    predictors: tuple[Any, ...]
    shares: Floats
    seed: int

    def predict_proba(self, features: Floats) -> Floats:
        """Return the probability of either class: how many of the classifiers, by their shares, say it."""
        says = np.stack([np.asarray(one.predict(features), dtype=np.float64) for one in self.predictors])
        second = np.clip(self.shares @ says, 0.0, 1.0)
        return np.column_stack([1.0 - second, second])

    def decide(self, features: Floats) -> Ints:
        """Return the class that the draw of a classifier gives to each."""
        draws = np.random.default_rng(self.seed).random(len(features))
        return self.classes_[(draws < self.predict_proba(features)[:, 1]).astype(np.int64)]


def constrained(constraint: str, bound: float, rounds: int, favourable: int) -> Learn:
    """Return how a classifier of two classes is trained under a constraint.

    Parameters
    ----------
    constraint : str
        "demographic parity" or "equalized odds".
    bound : float
        How far it may be from equal.
    rounds : int
        Iterations at most.
    favourable : int
        The class whose rates are to be equal.

    Notes
    -----
    Agarwal and others (2018), exponentiated gradient, as in fairlearn. Where only one group is there, the classifier is
    fitted as it is: nothing can be made equal.
    """

    def learn(estimator: Any, rows: Rows, seed: int) -> Any:
        from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient

        if len(np.unique(rows.group)) < 2:
            return estimator.fit(rows.features, rows.label)
        # fairlearn wants 0 and 1, 1 being the favourable class.
        told = (rows.label == favourable).astype(np.int64)
        moment = {"demographic parity": DemographicParity, "equalized odds": EqualizedOdds}[constraint]
        reduction = ExponentiatedGradient(
            estimator, moment(difference_bound=bound), eps=bound, max_iter=rounds, sample_weight_name=_name(estimator)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fairlearn about its own use of pandas
            reduction.fit(rows.features, told, sensitive_features=rows.group)
        shares = np.asarray(reduction.weights_, dtype=np.float64)
        used = [index for index in range(len(shares)) if shares[index] > 0.0]
        kept = shares[used] / shares[used].sum()
        predictors = tuple(reduction.predictors_[index] for index in used)
        return _Mixture(np.array([1 - favourable, favourable]), predictors, kept, seed)

    return learn


def _name(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    return "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
