"""Are there fewer improvements of systemic failures than blind ones would bring? The answer in words.

It reads records and computes nothing. It says "fewer than blind", never that a model ignores anybody.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from polyculture.audit.change_records import Undoing
from polyculture.audit.settings import CENSUS
from polyculture.audit.statistic import Statistic
from polyculture.audit.words import percent

FEW_MODELS = 3  # up to so many, the law of difficulty is hardly known
_TOO_FEW_FOR_FEWER = 2
_TOO_FEW_FOR_MORE = 4
WITHHELD = "cannot tell"


def reason_of(statistic: Statistic) -> str:
    """Return why a number or its interval is undefined, or an empty text."""
    return "" if statistic.reason is UNSET else str(statistic.reason)


def with_verdict(found: Undoing, models: int) -> Undoing:
    """Return the record with its verdict and its sentence.

    With few ``models`` the adjusted baseline is rough, and verdicts that rest on it are withheld. In simulations
    churn alone, of two kinds of individuals, was always called "fewer than blind" with two models. With three it never
    was, but up to three times in four more than difficulty would give, and with four models one time in three: there
    only that side is withheld.
    """
    verdict = _verdict(found)
    too_few = _TOO_FEW_FOR_MORE if verdict in _MORE else _TOO_FEW_FOR_FEWER if verdict == "fewer than blind" else 0
    if models <= too_few:
        verdict = WITHHELD
    return replace(found, verdict=verdict, sentence=_sentence(found, verdict, models))


def _verdict(found: Undoing) -> str:
    uniform, adjusted = (_side(one) for one in (found.difference_uniform, found.difference_adjusted))
    if found.share.value is None or uniform is None:
        return "undefined"
    if uniform < 0:
        return {-1: "fewer than blind", 1: "between"}.get(adjusted or 0, "fewer than uniform")
    if adjusted is not None and adjusted > 0:
        return "more than blind" if uniform > 0 else "more than adjusted"
    return "not told apart from blind"


def _side(difference: Statistic) -> int | None:
    """Return on which side of 0 the whole interval lies (of a census: the number); None where there is none."""
    if difference.value is not None and reason_of(difference) == CENSUS:
        return (difference.value > 0) - (difference.value < 0)
    if difference.low is None or difference.high is None:
        return None
    return -1 if difference.high < 0 else 1 if difference.low > 0 else 0


_MORE = ("between", "more than blind", "more than adjusted")  # than difficulty would give
_VERDICTS = {
    "fewer than blind": "fewer than either blind baseline",
    "fewer than uniform": "fewer than the uniform baseline, but not shown to be fewer than difficulty alone would give",
    "between": "fewer than the uniform baseline, and more than difficulty alone would give",
    "more than blind": "more than either blind baseline",
    "more than adjusted": "more than difficulty alone would give",
    "not told apart from blind": "these data do not tell it apart from a blind improvement",
    "undefined": "",
}


def _sentence(found: Undoing, verdict: str, models: int) -> str:
    if found.share.value is None:
        return f"Whether improvements undo systemic failures is undefined: {reason_of(found.share)}."
    words = _withheld(found, models) if verdict == WITHHELD else _VERDICTS[verdict]
    text = f"{found.improved_systemic:,} of {found.improved:,} improvements ({percent(found.share.value)}) " + (
        "undid a systemic failure" if found.reading == "before" else "reached those whom all others fail after"
    )
    if found.uniform is not None:
        text += f"; {percent(found.uniform)} would be expected if each failure were as likely to be undone"
    if found.adjusted.value is not None:
        text += f", {percent(found.adjusted.value)} if it depended on difficulty alone"
        if models <= FEW_MODELS and verdict != WITHHELD:
            text += f" (rough with {models} models)"
    return f"{text}{': ' + words if words else ''}."


def _withheld(found: Undoing, models: int) -> str:
    side = {-1: "fewer than the uniform baseline", 1: "more than the uniform baseline"}.get(
        _side(found.difference_uniform) or 0, "not told apart from the uniform baseline"
    )
    return f"{side}; of difficulty alone these data {WITHHELD}, since that baseline is rough with {models} models"
