"""Permutation: failures of each model dealt out at random, each model keeping its number; nothing is left unknown."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from polyculture.stats.independence import all_fail_law, mid_p_all_fail

__all__ = ["SENTENCE", "Permuted", "permuted"]

SENTENCE = (
    "Every model fails exactly as many individuals as it did, dealt out at random: independence with the models' "
    "numbers of failures held fixed, so that the test has no unknown left."
)


@dataclass(frozen=True)
class Permuted:
    """The law of systemic failure given the models' numbers of failures.

    Attributes
    ----------
    expected, standard_deviation : float
        Of the share of individuals failed by all.
    p_value : float or None
        Two-sided, mid-p.
    method : str
        How, or why not.
    """

    expected: float
    standard_deviation: float
    p_value: float | None
    method: str


def permuted(events: int, failures: ArrayLike, n: int) -> Permuted:
    """Return the exact law of systemic failure given the margins, and the test.

    Parameters
    ----------
    events, failures, n
        As in ``independence.mid_p_all_fail``, whose errors are raised.

    Returns
    -------
    Permuted
    """
    p, method = mid_p_all_fail(events, failures, n)
    mean, sd = all_fail_law(failures, n)
    return Permuted(mean / n, sd / n, p, method)
