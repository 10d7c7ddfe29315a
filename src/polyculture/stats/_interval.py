"""What an interval and an estimate are, and the quantiles that intervals are made with.

Intervals of rates stand in ``intervals``, the rules that combine intervals in ``_mover``.
"""

from __future__ import annotations

from typing import NamedTuple

from scipy.special import ndtri, stdtrit

__all__ = ["FEWEST_CLUSTERS", "Estimated", "Interval", "few_clusters", "no_interval", "quantile", "undefined"]

FEWEST_CLUSTERS = 10
"""With fewer clusters than this a figure is descriptive: it gets no interval."""


class Interval(NamedTuple):
    """Two limits and how they were made; both None, with a reason, where there is no interval."""

    low: float | None
    high: float | None
    method: str
    reason: str = ""


class Estimated(NamedTuple):
    """A value with its interval; None with a reason where the value or the interval is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""


def no_interval(reason: str) -> Interval:
    """Return the Interval that does not exist, with the reason."""
    return Interval(None, None, "", reason)


def undefined(reason: str) -> Estimated:
    """Return the Estimated of a number that does not exist, with the reason."""
    return Estimated(None, reason=reason)


def quantile(level: float = 0.95, clusters: float | None = None) -> float:
    """Return the half-width of a two-sided interval in standard errors.

    Parameters
    ----------
    level : float
        Level of the interval, in (0, 1).
    clusters : float, optional
        Number of clusters, or one more than the degrees of freedom: the quantile is then of Student's t with
        ``clusters - 1`` degrees of freedom.

    Returns
    -------
    float
        For example 1.96 at .95 without clusters.

    Raises
    ------
    ValueError
        If the level is outside (0, 1).

    Examples
    --------
    >>> round(quantile(), 3), round(quantile(clusters=20), 3)
    (1.96, 2.093)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level must lie in (0, 1), got {level}.")
    upper = 0.5 + level / 2
    return float(ndtri(upper)) if clusters is None else float(stdtrit(max(clusters - 1, 1), upper))


def few_clusters(clusters: int, what: str = "cluster") -> str:
    """Return the reason why a figure from so few clusters (or what else is drawn whole) has no interval."""
    noun = what if clusters == 1 else f"{what}s"
    return f"only {clusters} {noun}: the figure is descriptive, an interval needs at least {FEWEST_CLUSTERS}"
