"""Numbers and data text to plain words, so that one number looks the same in every output.

Nothing here knows a terminal, HTML or a file; nothing is computed but rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import UNSET

from polyculture.audit.records import Statistic
from polyculture.report.texts import shorten, shown

__all__ = [
    "by_words",
    "count",
    "decimals_for",
    "decimals_of",
    "expected",
    "interval",
    "number",
    "p_value",
    "percent",
    "plural",
    "points",
    "power_of_ten",
    "ratio",
    "reason_of",
    "share",
    "shorten",
    "shown",
    "statistic",
    "undefined",
]

_TINIEST_SHARE = 1e-6  # below this a share is written as a power of ten
_LARGEST_RATIO = 1e6
_MOST_DECIMALS = 6


def count(value: int) -> str:
    """Return a whole number with thousands separators.

    >>> count(11987)
    '11,987'
    """
    return f"{value:,}"


def plural(value: int, singular: str, several: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "model"), plural(3, "model"), plural(2, "entry", "entries")
    ('1 model', '3 models', '2 entries')
    """
    return f"{count(value)} {singular if value == 1 else several or singular + 's'}"


def decimals_of(value: float) -> int:
    """Return how many decimals a share deserves as a percentage.

    One decimal in general, two significant digits below 1 %; close to 100 % so many that .9997 is not
    rounded to "100.0 %".
    """
    size, rest = abs(value) * 100, abs(1 - abs(value)) * 100
    if size == 0 or rest == 0:
        return 0
    if size < 1:
        return min(_MOST_DECIMALS, 1 - math.floor(math.log10(size)))
    return 1 if rest >= 1 else min(_MOST_DECIMALS, max(1, -math.floor(math.log10(rest))))


def decimals_for(value: float, low: float | None, high: float | None) -> int:
    """Return the decimals of a percentage beside its interval: enough that the ends differ visibly."""
    decimals = max(1, decimals_of(value))
    if low is None or high is None or high <= low:
        return decimals
    width = (high - low) * 100
    return max(decimals, min(_MOST_DECIMALS, math.ceil(-math.log10(width / 2))))


def percent(value: float, decimals: int | None = None) -> str:
    """Return a share as a percentage with sensible digits; tiny shares as a power of ten.

    Examples
    --------
    >>> percent(0.0646), percent(0.003512), percent(0), percent(1), percent(1e-90)
    ('6.5 %', '0.35 %', '0 %', '100 %', '10^-90.0')
    """
    return share(value, decimals, unit=" %")


def expected(value: float | None, log10: float | None = None) -> str:
    """Return an expected share; where a float cannot hold it, by its decimal logarithm.

    >>> expected(0.003512), expected(0.0, -412.3), expected(None)
    ('0.35 %', '10^-412.3', 'undefined')
    """
    if value is None:
        return "undefined"
    if value == 0 and log10 is not None:
        return power_of_ten(log10)
    return percent(value)


def share(value: float, decimals: int | None = None, *, unit: str = "") -> str:
    """Return a share in per cent without (or with) the unit; see `percent`."""
    if 0 < abs(value) < _TINIEST_SHARE:
        return ("-" if value < 0 else "") + power_of_ten(math.log10(abs(value)))
    wanted = decimals_of(value) if decimals is None else decimals
    if value in {0, 1}:
        wanted = 0
    text = f"{value * 100:.{wanted}f}"
    if value != 0 and float(text) == 0:  # a small end beside a large one keeps one digit
        text = f"{value * 100:.{max(0, -math.floor(math.log10(abs(value * 100))))}f}"
    return text + unit


def points(value: float, decimals: int | None = None, *, unit: bool = True, sign: bool = True) -> str:
    """Return a difference of two shares in percentage points, with its sign (a gap needs none).

    >>> points(0.0611), points(-0.015), points(0.0), points(0.0611, sign=False)
    ('+6.1 points', '-1.5 points', '0 points', '6.1 points')
    """
    text = share(value, decimals)
    signed = text if value <= 0 or not sign else "+" + text
    return f"{signed} points" if unit else signed


def power_of_ten(log10: float) -> str:
    """Return 10^x for a number known by its decimal logarithm.

    >>> power_of_ten(-89.97)
    '10^-90.0'
    """
    return f"10^{log10:.1f}"


def ratio(value: float | None, log10: float | None = None) -> str:
    """Return a ratio with sensible digits; outside 1e-6 to 1e6 as a power of ten.

    Parameters
    ----------
    value : float or None
        The ratio; None where it does not fit a float.
    log10 : float or None
        Its decimal logarithm, used where ``value`` is None.

    Examples
    --------
    >>> ratio(18.42), ratio(0.874), ratio(1234.5), ratio(1e9), ratio(None, 412.34), ratio(None)
    ('18.4', '0.87', '1,234', '10^9.0', '10^412.3', 'undefined')
    """
    if value is None:
        return "undefined" if log10 is None else power_of_ten(log10)
    if value == 0:
        return "0"
    size = abs(value)
    if size >= _LARGEST_RATIO or size < _TINIEST_SHARE:
        return ("-" if value < 0 else "") + power_of_ten(math.log10(size))
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.1:
        return f"{value:.2f}"
    return f"{value:.{1 - math.floor(math.log10(size))}f}"


def p_value(value: float | None) -> str:
    """Return a p-value as journals print it.

    >>> p_value(0.0321), p_value(1e-9), p_value(1.0), p_value(None)
    ('.032', '< .001', '1.000', 'undefined')
    """
    if value is None:
        return "undefined"
    if value < 0.001:
        return "< .001"
    return f"{value:.3f}".removeprefix("0")


def reason_of(statistic: Statistic) -> str:
    """Return the reason of an undefined number or interval, or an empty string.

    That a census has no intervals is said once for the whole audit, not beside every number.
    """
    reason = "" if statistic.reason is UNSET else str(statistic.reason)
    return "" if reason.startswith("census") and statistic.value is not None else reason


def undefined(reason: str) -> str:
    """Return the words for a number that does not exist.

    >>> undefined("no individuals"), undefined("")
    ('undefined: no individuals', 'undefined')
    """
    return f"undefined: {shown(reason)}" if reason else "undefined"


def interval(statistic: Statistic, kind: str = "percent") -> str:
    """Return the 95 % interval in words, or an empty string where there is none.

    Parameters
    ----------
    statistic : Statistic
        The number and its interval.
    kind : {"percent", "points", "gap", "ratio", "number"}
        What the number is; a gap is a difference that has no sign.

    Examples
    --------
    >>> interval(Statistic(value=0.0646, low=0.0604, high=0.0691))
    '6.0 to 6.9 %'
    """
    low, high = statistic.low, statistic.high
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {_end(statistic, high, kind)}{_unit(kind)}"
    if high is None:
        return f"at least {_end(statistic, low, kind)}{_unit(kind)}"
    return f"{_end(statistic, low, kind)} to {_end(statistic, high, kind)}{_unit(kind)}"


def _unit(kind: str) -> str:
    return {"percent": " %", "points": " points", "gap": " points"}.get(kind, "")


def _end(statistic: Statistic, end: float | None, kind: str) -> str:
    if end is None or math.isinf(end):
        return "no limit"
    if kind in {"ratio", "number"}:
        return _ratio_beside(statistic, end)
    centre = end if statistic.value is None else statistic.value
    decimals = decimals_for(centre, statistic.low, statistic.high)
    return share(end, decimals) if kind == "percent" else points(end, decimals, unit=False, sign=kind == "points")


def _ratio_beside(statistic: Statistic, value: float) -> str:
    """Return a ratio with so many digits that the ends of a narrow interval differ."""
    low, high = statistic.low, statistic.high
    if low is None or high is None or math.isinf(high) or ratio(low) != ratio(high) or low == high:
        return ratio(value)
    return f"{value:,.{min(_MOST_DECIMALS, max(0, math.ceil(-math.log10((high - low) / 2))))}f}"


def statistic(value: Statistic, kind: str = "percent", *, with_interval: bool = True) -> str:
    """Return a number with its interval in brackets, or why it is undefined.

    Examples
    --------
    >>> statistic(Statistic(value=0.0646, low=0.0604, high=0.0691))
    '6.5 % (6.0 to 6.9 %)'
    >>> statistic(Statistic(value=None, reason="no individuals"))
    'undefined: no individuals'
    """
    if value.value is None:
        return undefined(reason_of(value))
    text = number(value, kind)
    ends = interval(value, kind) if with_interval else ""
    return f"{text} ({ends})" if ends else text


def number(value: Statistic, kind: str = "percent") -> str:
    """Return the number of a Statistic without its interval but with matching digits."""
    if value.value is None:
        return "undefined"
    decimals = decimals_for(value.value, value.low, value.high)
    if kind == "percent":
        return percent(value.value, decimals)
    if kind in {"points", "gap"}:
        return points(value.value, decimals, sign=kind == "points")
    return _ratio_beside(value, value.value)


def by_words(by: Mapping[str, str | None]) -> str:
    """Return the values of a group, those of intersections joined by a middle dot.

    >>> by_words({"sex": "female", "age>=40": None})
    'female · (missing)'
    """
    return " · ".join("(missing)" if value is None else shown(value) or '""' for value in by.values()) or "all"
