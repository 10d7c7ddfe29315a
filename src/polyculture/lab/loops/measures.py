"""What is measured of a generation: decisions on real test individuals, and the people that its generator makes.

Gaps and ratios are those of fairlearn (tests hold them against it), counted here since a frame of its metrics takes a
hundred times as long; systemic failure and H are those of the audit. Numbers in, numbers out; NaN where undefined.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.loops.embedding import Embedding
    from polyculture.lab.loops.rows import Features, Floats, Ints

__all__ = ["DISTANCES", "coverage", "decisions", "divergence", "frechet", "made_people", "of_groups"]

MOST_NEIGHBOURS = 1000
NEAREST = 5


def of_groups(predicted: Ints, label: Ints, group: Ints, favourable: int, groups: int) -> dict[str, Floats]:
    """Return accuracy, selection rate, true and false positive rate of each group.

    Parameters
    ----------
    predicted, label, group : ndarray of int, shape (n,)
        Of the test individuals.
    favourable : int
        The class that counts as positive.
    groups : int
        G.

    Returns
    -------
    dict of str to ndarray, shape (G,)
        NaN where a group has nobody, or nobody with (without) the favourable class.
    """

    def rate(hit: Ints, of: Ints) -> Floats:
        many = np.bincount(group[of], minlength=groups).astype(float)
        found = np.bincount(group[of & hit], minlength=groups)
        return np.asarray(np.divide(found, many, out=np.full(groups, np.nan), where=many > 0))

    positive, selected = label == favourable, predicted == favourable
    everyone = np.ones(len(label), dtype=bool)
    return {
        "accuracy": rate(predicted == label, everyone),
        "selection_rate": rate(selected, everyone),
        "true_positive_rate": rate(selected, positive),
        "false_positive_rate": rate(selected, ~positive),
    }


def _difference(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max() - known.min()) if len(known) > 1 else float("nan")


def _ratio(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.min() / known.max()) if len(known) > 1 and known.max() > 0.0 else float("nan")


def decisions(predicted: Ints, label: Ints, group: Ints, favourable: int, groups: int) -> dict[str, float]:
    """Return the measures of one classifier's decisions on the test individuals.

    Returns
    -------
    dict of str to float
        accuracy; accuracy_difference, demographic_parity_difference and _ratio, equalized_odds_difference and _ratio
        (between the groups, as fairlearn has them); selection_rate; largest_class (share of those who get the most
        frequent class: 1 is a constant predictor); NaN where undefined.

    Examples
    --------
    >>> found = decisions(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]), 1, 2)
    >>> found["accuracy"], found["demographic_parity_difference"]
    (0.5, 1.0)
    """
    rates = of_groups(predicted, label, group, favourable, groups)
    odds = [_difference(rates["true_positive_rate"]), _difference(rates["false_positive_rate"])]
    odds_ratio = [_ratio(rates["true_positive_rate"]), _ratio(rates["false_positive_rate"])]
    return {
        "accuracy": float((predicted == label).mean()),
        "accuracy_difference": _difference(rates["accuracy"]),
        "worst_group_accuracy": float(np.nanmin(rates["accuracy"])),
        "demographic_parity_difference": _difference(rates["selection_rate"]),
        "demographic_parity_ratio": _ratio(rates["selection_rate"]),
        "equalized_odds_difference": max(odds) if np.isfinite(odds).all() else float("nan"),
        "equalized_odds_ratio": min(odds_ratio) if np.isfinite(odds_ratio).all() else float("nan"),
        "selection_rate": float((predicted == favourable).mean()),
        "largest_class": float(np.bincount(predicted).max() / len(predicted)),
    }


DISTANCES = ("frechet", "mmd", "precision", "recall")
"""What `made_people` gives."""


def divergence(counts: Ints, ideal: Floats) -> float:
    """Return the Kullback-Leibler divergence KL(P || ideal) of shares of strata, in nats.

    Its direction: the mean of log(share / ideal share) over the generated people. Infinite, hence NaN, where people are
    found in a stratum that the ideal does not have; a stratum without people adds nothing.

    >>> round(divergence(np.array([3, 1]), np.array([0.5, 0.5])), 4), divergence(np.array([5, 5]), np.array([0.5, 0.5]))
    (0.1308, 0.0)
    """
    share = counts / max(int(counts.sum()), 1)
    there = share > 0.0
    if not there.any() or (ideal[there] <= 0.0).any():
        return float("nan")
    return float(max((share[there] * np.log(share[there] / ideal[there])).sum(), 0.0))


def frechet(one: Floats, other: Floats) -> float:
    """Return the Frechet distance of two lots of people, as normal distributions in an embedding, (n, d) and (m, d).

    |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) (Dowson and Landau, 1982): 0 where mean and covariance are the same.
    """
    if min(len(one), len(other)) < 2:
        return float("nan")
    first, second = (np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (one, other))
    values, vectors = np.linalg.eigh(first)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    both = np.linalg.eigvalsh(root @ second @ root)
    apart = one.mean(axis=0) - other.mean(axis=0)
    trace = np.trace(first) + np.trace(second) - 2.0 * np.sqrt(np.clip(both, 0.0, None)).sum()
    return float(apart @ apart + max(float(trace), 0.0))


def coverage(real: Floats, made: Floats) -> tuple[float, float, float]:
    """Return the squared maximum mean discrepancy of generated people, and precision and recall of their coverage.

    Parameters
    ----------
    real, made : ndarray, shape (n, d) and (m, d)
        Real and generated people in an embedding. Of either the first 1,000 at most, and as many of both, since a
        denser lot has shorter reaches.

    Notes
    -----
    Discrepancy: E k(x, x') + E k(y, y') - 2 E k(x, y), unbiased, hence sometimes below 0 (Gretton and others, 2012, eq.
    3); k is Gaussian, its width the median distance between real people. Precision: the share of the generated within
    the reach of a real person; recall: of the real ones within that of a generated one. A reach is the distance to the
    5th nearest of the same kind (Kynkaanniemi and others, 2019).
    """
    many = min(len(real), len(made), MOST_NEIGHBOURS)
    if many <= NEAREST:
        return float("nan"), float("nan"), float("nan")
    real, made = real[:many], made[:many]
    between, within = _distances(real, made), _distances(made, made)
    reach, width, alike = _of_real(real.tobytes(), real.shape)
    discrepancy = float("nan")
    if width > 0.0:
        discrepancy = alike + _alike(within, width) - 2.0 * float(_kernel(between, width).mean(dtype=np.float64))
    precision = (between <= reach[:, None]).any(axis=0).mean()
    recall = (between <= _reach(within)[None, :]).any(axis=1).mean()
    return discrepancy, float(precision), float(recall)


def _distances(one: Floats, other: Floats) -> Floats:
    """Return squared distances, (n, m)."""
    squared = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2.0 * one @ other.T
    return np.asarray(np.maximum(squared, 0.0))


@lru_cache(maxsize=8)  # the real people are the same in every generation
def _of_real(content: bytes, shape: tuple[int, int]) -> tuple[Floats, float, float]:
    """Return the reaches of real people, the square of the kernel's width, and how alike they are by the kernel."""
    rows = np.frombuffer(content).reshape(shape)
    within = _distances(rows, rows)
    width = float(np.median(within[np.triu_indices(len(rows), 1)]))
    return _reach(within), width, _alike(within, width) if width > 0.0 else float("nan")


def _reach(within: Floats) -> Floats:
    return np.asarray(np.partition(within, NEAREST, axis=1)[:, NEAREST])


def _kernel(squared: Floats, width: float) -> NDArray[np.float32]:
    # Single precision is exact to a millionth here, and takes a third of the time.
    return np.asarray(np.exp(squared.astype(np.float32) * np.float32(-0.5 / width)), dtype=np.float32)


def _alike(within: Floats, width: float) -> float:
    """Return the mean of the kernel over all pairs of two different people."""
    kernel, many = _kernel(within, width), len(within)
    return float((kernel.sum(dtype=np.float64) - np.trace(kernel, dtype=np.float64)) / (many * (many - 1)))


def made_people(embedding: Embedding, features: Features) -> dict[str, float]:
    """Return distance and coverage of generated people against the real training individuals."""
    real, made = embedding.real, embedding.into(features)
    return dict(zip(DISTANCES, (frechet(real, made), *coverage(real, made)), strict=True))
