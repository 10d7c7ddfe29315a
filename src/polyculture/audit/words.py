"""Numbers, lists and groups to plain words, so that one number looks the same in headline, notes and reports.

Nothing here knows a terminal, HTML or a file, and nothing is computed but rounding. Text from data is passed on
as it is; ``report`` makes it safe to show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from polyculture.audit.records import Statistic

_TINIEST_SHARE = 1e-6  # below this a share is written as a power of ten
_LARGEST_RATIO = 1e6
_MOST_DECIMALS = 6
_FOR_AN_END = 2  # decimals more than the estimate needs, so that a small end of the interval is not written as 0

_CONDITION = re.compile(r"[<>=]|\b(?:in|not)\b", re.IGNORECASE)
_INDIVIDUALS = re.compile(r"\b([Ii])ndividual(s?)\b")
_PEOPLE = {"people": "person", "men": "man", "women": "woman", "children": "child"}


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


def one_of(noun: str) -> str:
    """Return the singular of a plural noun, by the common endings.

    >>> one_of("individuals"), one_of("people"), one_of("entries"), one_of("boxes"), one_of("sheep")
    ('individual', 'person', 'entry', 'box', 'sheep')
    """
    if noun.lower() in _PEOPLE:
        return _PEOPLE[noun.lower()]
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def number_of(value: int, noun: str) -> str:
    """Return a count of what individuals are called, in the singular where it is one.

    >>> number_of(498, "applicants"), number_of(1, "applicants")
    ('498 applicants', '1 applicant')
    """
    return plural(value, one_of(noun), noun)


def in_words_of(text: str, noun: str) -> str:
    """Return a text about individuals as one about what they are called; the very same where it names none.

    >>> in_words_of("Individuals differ: no individual was judged twice", "reviews")
    'Reviews differ: no review was judged twice'
    """
    if noun == "individuals" or "ndividual" not in text:
        return text

    def named(found: re.Match[str]) -> str:
        name = noun if found[2] else one_of(noun)
        return capital(name) if found[1] == "I" else name

    return _INDIVIDUALS.sub(named, text)


def capital(text: str) -> str:
    """Return text with a capital first letter, the rest as it is.

    >>> capital("CT scans"), capital("applicants")
    ('CT scans', 'Applicants')
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def all_models(models: int) -> str:
    """Return all of some models in words.

    >>> all_models(1), all_models(2), all_models(3)
    ('the model', 'both models', 'all 3 models')
    """
    return {1: "the model", 2: "both models"}.get(models, f"all {count(models)} models")


def group_value(column: str, value: str | None) -> str:
    """Return the value of one group column as people read it: a condition holds or does not.

    >>> group_value("sex", "female"), group_value("age>=40", "true"), group_value("age>=40", "false")
    ('female', 'age>=40', 'not age>=40')
    >>> group_value("sex=f and age>=40", "false"), group_value("veteran", "true"), group_value("sex", None)
    ('not (sex=f and age>=40)', 'veteran = true', '(missing)')
    """
    if value is None:
        return "(missing)"
    if value not in {"true", "false"}:
        return value
    if not _CONDITION.search(column):
        return f"{column} = {value}"
    if value == "true":
        return column
    compound = re.search(r"\b(?:and|or|not)\b", column, re.IGNORECASE)
    return f"not ({column})" if compound else f"not {column}"


def group_words(by: Mapping[str, str | None]) -> str:
    """Return a group with the names of its columns, for a sentence.

    >>> group_words({"sex": "female", "age>=40": "false"})
    'sex = female, not age>=40'
    """
    return ", ".join(
        f"{column} = {shown}" if (shown := group_value(column, value)) in {value, "(missing)"} else shown
        for column, value in by.items()
    )


def decimals_of(value: float) -> int:
    """Return how many decimals a share deserves as a percentage.

    One decimal in general, two significant digits below 1 %; close to 100 % so many that .9997 is not
    rounded to "100.0 %".
    """
    size, rest = abs(value) * 100, abs(1 - abs(value)) * 100
    if size == 0 or rest == 0:
        return 0
    if size < 1:
        digits = min(_MOST_DECIMALS, 1 - math.floor(math.log10(size)))
        # .9996 % has two significant digits as 1.0 %.
        return max(1, digits - 1) if float(f"{size:.{digits}f}") >= 10.0 ** (2 - digits) else digits
    # 1 - .9999 is a little less than .0001, and needs no third decimal for that.
    return 1 if rest >= 1 else min(_MOST_DECIMALS, max(1, -math.floor(math.log10(rest) + 1e-9)))


def decimals_for(value: float, low: float | None, high: float | None) -> int:
    """Return the decimals of a percentage and of its interval, all to the same places.

    Enough that the ends differ visibly, and where two more decimals do it, that an end above 0 is not written as 0.
    """
    decimals = max(1, decimals_of(high if value == 0 and high is not None else value))
    if low is None or high is None or high <= low:
        return decimals
    width = (high - low) * 100
    decimals = max(decimals, min(_MOST_DECIMALS, math.ceil(-math.log10(width / 2))))
    smallest = min((abs(end) * 100 for end in (low, high) if end != 0), default=1.0)
    needed = max(0, -math.floor(math.log10(smallest)))
    return max(decimals, needed) if needed <= decimals + _FOR_AN_END else decimals


def percent(value: float, decimals: int | None = None) -> str:
    """Return a share as a percentage with sensible digits; tiny shares as a power of ten.

    Examples
    --------
    >>> percent(0.0646), percent(0.003512), percent(0), percent(1), percent(1e-90)
    ('6.5 %', '0.35 %', '0 %', '100 %', '10^-90.0')
    """
    return share(value, decimals, unit=" %")


def share(value: float, decimals: int | None = None, *, unit: str = "") -> str:
    """Return a share in per cent without (or with) the unit; see `percent`.

    Parameters
    ----------
    value : float
        The share, 0 to 1.
    decimals : int, optional
        How many where the number stands beside others; none and all are written without any.
    unit : str
        Put behind it.
    """
    if value in {0, 1}:
        return f"{value * 100:.0f}{unit}"
    if decimals is None:
        if abs(value) < _TINIEST_SHARE:
            return ("-" if value < 0 else "") + power_of_ten(math.log10(abs(value)))
        decimals = decimals_of(value)
    return f"{value * 100:.{decimals}f}{unit}"


def points(value: float, decimals: int | None = None, *, unit: bool = True, sign: bool = True) -> str:
    """Return a difference of two shares in percentage points, with its sign (a gap needs none).

    >>> points(0.0611), points(-0.015), points(0.0), points(0.0611, sign=False)
    ('+6.1 points', '-1.5 points', '0 points', '6.1 points')
    >>> points(-0.00001, 1), points(1e-9)
    ('0.0 points', '+10^-7.0 points')
    """
    if decimals is None and 0 < abs(value) < _TINIEST_SHARE:
        text = ("-" if value < 0 else "") + power_of_ten(math.log10(abs(value) * 100))
    else:
        text = share(value, decimals)
        if not float(text):
            text = text.removeprefix("-")  # nor has it a sign where it is rounded to 0
            return f"{text} points" if unit else text
    signed = text if value <= 0 or not sign else "+" + text
    return f"{signed} points" if unit else signed


def power_of_ten(log10: float) -> str:
    """Return 10^x for a number known by its decimal logarithm.

    >>> power_of_ten(-89.97)
    '10^-90.0'
    """
    return f"10^{log10:.1f}"


def expected(value: float | None, log10: float | None = None, interval: Statistic | None = None) -> str:
    """Return an expected share, to the places of its interval; by its decimal logarithm where no float holds it.

    >>> expected(0.003512), expected(0.0, -412.3), expected(None)
    ('0.35 %', '10^-412.3', 'undefined')
    """
    if value is None:
        return "undefined"
    if value == 0 and log10 is not None:
        return power_of_ten(log10)
    return percent(value) if interval is None or interval.value is None else number(interval)


def ratio(value: float | None, log10: float | None = None, decimals: int | None = None) -> str:
    """Return a ratio with sensible digits; outside 1e-6 to 1e6 as a power of ten.

    Parameters
    ----------
    value : float or None
        The ratio; None where it does not fit a float.
    log10 : float or None
        Its decimal logarithm, used where ``value`` is None.
    decimals : int, optional
        How many where the number stands beside others; none from 1,000 on.

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
    if size >= _LARGEST_RATIO or (size < _TINIEST_SHARE and decimals is None):
        return ("-" if value < 0 else "") + power_of_ten(math.log10(size))
    if decimals is not None:
        return f"{value:,.{decimals if size < 1000 else 0}f}"
    return f"{value:,.{_ratio_decimals(size)}f}"


def _ratio_decimals(size: float) -> int:
    if size >= 10:
        return 0 if size >= 1000 else 1
    return 2 if size >= 0.1 else 1 - math.floor(math.log10(size))


def _ratio_beside(statistic: Statistic, value: float) -> str:
    """Return a ratio or its end to the same places, with so many that the ends of a narrow interval differ."""
    low, high = statistic.low, statistic.high
    centre = abs(statistic.value or high or value)
    if centre < _TINIEST_SHARE or centre >= _LARGEST_RATIO:
        return ratio(value)
    decimals = _ratio_decimals(centre)
    if low is None or high is None or math.isinf(high) or high <= low:
        return ratio(value, decimals=decimals)
    if ratio(low, decimals=decimals) == ratio(high, decimals=decimals):
        decimals = min(_MOST_DECIMALS, max(0, math.ceil(-math.log10((high - low) / 2))))
        return f"{value:,.{decimals}f}"
    # An interval that leaves 1 out must not look as if it held it: 1.00 to 1.02 is 1.001 to 1.015.
    nearest = low if low > 1.0 else high
    while (low > 1.0 or high < 1.0) and decimals < _MOST_DECIMALS and round(nearest, decimals) == 1.0:
        decimals += 1
    return ratio(value, decimals=decimals)


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
    decimals = _decimals_beside(statistic, kind, end)
    return share(end, decimals) if kind == "percent" else points(end, decimals, unit=False, sign=kind == "points")


def _decimals_beside(statistic: Statistic, kind: str, end: float | None = None) -> int | None:
    """Return the decimals of a share and its interval; None where the share is so tiny that each is a power of ten.

    A difference near 0 has no more of them than its interval makes sense of.
    """
    centre, low, high = end if statistic.value is None else statistic.value, statistic.low, statistic.high
    if centre is None:
        return None
    if kind != "percent" and low is not None and high is not None and high - low >= _TINIEST_SHARE:
        half = (high - low) * 100 / 2
        return min(decimals_for(centre, low, high), max(1, 2 - math.floor(math.log10(half))))
    return None if 0 < abs(centre) < _TINIEST_SHARE else decimals_for(centre, low, high)


def number(value: Statistic, kind: str = "percent") -> str:
    """Return the number of a Statistic without its interval but to the same places.

    >>> number(Statistic(value=10.21, low=9.5, high=11.0), "ratio")
    '10.2'
    """
    if value.value is None:
        return "undefined"
    if kind in {"ratio", "number"}:
        return _ratio_beside(value, value.value)
    decimals = _decimals_beside(value, kind)
    return percent(value.value, decimals) if kind == "percent" else points(value.value, decimals, sign=kind == "points")
