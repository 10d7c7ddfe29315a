"""Whether what we find agrees with what is published.

A published number comes without its error. Where it was made of the same individuals there is no sampling error
between the two, only rounding. Elsewhere our interval decides; one that cannot tell a claim from its opposite says so.
"""

from __future__ import annotations

from msgspec import UNSET

from polyculture.audit.statistic import Statistic
from polyculture.claims.records import Verdict

__all__ = ["absent", "direction", "same_data", "within_interval"]

Found = tuple[Verdict, str]


def same_data(published: float, decimals: int, found: Statistic) -> Found:
    """Compare numbers of the same individuals: they must be the same as far as the published one is printed.

    Examples
    --------
    >>> same_data(0.065, 3, Statistic(value=0.06465))[0], same_data(0.065, 3, Statistic(value=0.0661))[0]
    ('agrees', 'disagrees')
    """
    if found.value is None:
        return _undefined(found)
    rounding = 0.5 * 10.0**-decimals
    difference = found.value - published
    if abs(difference) <= rounding * (1.0 + 1e-9):
        return "agrees", "the same individuals: equal but for rounding"
    return "disagrees", f"the same individuals: {difference:+.{decimals + 1}f}, more than rounding"


def within_interval(published: float, decimals: int, found: Statistic, *, none: float) -> Found:
    """Compare a number of other individuals (or of an unknown selection of the same): our interval decides.

    Parameters
    ----------
    published : float
        The number, printed with ``decimals``.
    decimals : int
        Its decimals, in the unit of ``found``.
    found : Statistic
        With its interval.
    none : float
        What the number would be if there were nothing to report: 0 for a difference, 1 for a ratio.

    Examples
    --------
    >>> within_interval(0.08, 3, Statistic(value=0.07, low=0.02, high=0.12), none=0.0)[0]
    'agrees'
    >>> within_interval(0.08, 3, Statistic(value=0.04, low=-0.02, high=0.1), none=0.0)[0]
    'cannot tell'
    """
    if found.low is None or found.high is None:
        return _undefined(found)
    rounding = 0.5 * 10.0**-decimals
    if not found.low - rounding <= published <= found.high + rounding:
        return "disagrees", "the published number lies outside of the interval"
    if found.low <= none <= found.high:
        return "cannot tell", "the interval holds the published number, and none as well"
    return "agrees", "the interval holds the published number and leaves none out"


def direction(found: Statistic, *, none: float, above: bool) -> Found:
    """Compare a claimed direction with the side on which our interval lies.

    Examples
    --------
    >>> direction(Statistic(value=0.06, low=0.05, high=0.07), none=0.0, above=True)[0]
    'agrees'
    """
    if found.low is None or found.high is None:
        return _undefined(found)
    if found.low <= none <= found.high:
        return "cannot tell", "the interval holds both directions"
    agrees = (found.low > none) is above
    return (
        ("agrees", "the interval lies on the claimed side")
        if agrees
        else (
            "disagrees",
            "the interval lies on the other side",
        )
    )


def absent(found: Statistic, *, none: float, margin: float) -> Found:
    """Compare a claimed absence: not seeing a difference is no evidence of none, unless the interval is narrow.

    Examples
    --------
    >>> absent(Statistic(value=0.01, low=-0.02, high=0.04), none=0.0, margin=0.1)[0]
    'agrees'
    >>> absent(Statistic(value=0.01, low=-0.12, high=0.14), none=0.0, margin=0.1)[0]
    'cannot tell'
    """
    if found.low is None or found.high is None:
        return _undefined(found)
    if not found.low <= none <= found.high:
        return "disagrees", "the interval leaves none out"
    if none - margin < found.low and found.high < none + margin:
        return "agrees", f"the interval holds none, and leaves {margin:g} out on either side"
    return "cannot tell", f"the interval holds none, but {margin:g} as well"


def _undefined(found: Statistic) -> Found:
    reason = "" if found.reason is UNSET else str(found.reason)
    return "not tested", f"undefined: {reason}" if reason else "undefined"
