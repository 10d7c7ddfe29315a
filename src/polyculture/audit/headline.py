"""The headline: one sentence in plain words on who all models failed and what chance would do.

It reads records and writes words; it computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.records import Outcome, Statistic

_SMALLEST = 1e-6  # shares below a ten-thousandth of a percent are not spelled out


def percent(share: float, *, unit: bool = True) -> str:
    """Write a share as a percentage: one decimal from 1 % on, two significant digits below.

    Examples
    --------
    >>> percent(0.0646), percent(0.00351), percent(0.1), percent(0.0)
    ('6.5 %', '0.35 %', '10.0 %', '0 %')
    >>> percent(1e-90)
    'less than 0.0001 %'
    """
    points = 100 * share
    if share in (0.0, 1.0):
        text = f"{points:.0f}"
    elif share < _SMALLEST:
        text = "less than 0.0001"
    elif points < 0.9995:
        decimals = 1
        while points < 10.0**-decimals * 9.95 and decimals < 6:
            decimals += 1
        text = f"{points:.{decimals}f}"
    else:
        text = f"{points:.1f}"
        text = f"{points:.2f}" if text == "100.0" else text
    return f"{text} %" if unit else text


def headline(
    systemic_failure: Outcome,
    *,
    models: Sequence[str],
    complete: bool,
    noun: str = "individuals",
    clusters: int | None = None,
    weighted: bool = False,
    min_judged: int = 2,
) -> str:
    """Write the sentence that leads the audit.

    Parameters
    ----------
    systemic_failure : Outcome
        The event that all models fail.
    models : sequence of str
        Their names.
    complete : bool
        Whether every model judged every individual.
    noun : str
        What an individual is called, in the plural.
    clusters : int, optional
        Number of clusters, where individuals come in clusters.
    weighted : bool
        Whether shares are weighted.
    min_judged : int
        Fewest models that judged an individual of the headline.

    Returns
    -------
    str
        One sentence, ending in a full stop.
    """
    total = systemic_failure.individuals
    if total == 0:
        wanted = "any model" if len(models) == 1 else f"at least {min_judged} models"
        return f"None of the {noun} was judged by {wanted}, so that there is nothing to report."
    share = _share(systemic_failure.observed, clusters=clusters, weighted=weighted)
    count = systemic_failure.count
    if len(models) == 1:
        return (
            f"The only model, {models[0]}, failed {count:,} of {total:,} {noun} ({share}); "
            "with one model there is nothing to homogenize."
        )
    whom = _whom(len(models), complete=complete)
    if count:
        verb = "was" if count == 1 else "were"
        first = f"{count:,} of {total:,} {noun} ({share}) {verb} failed by {whom}"
    else:
        first = f"None of {total:,} {noun} ({share}) was failed by {whom}"
    return f"{first}; {_expected(systemic_failure)}."


def _whom(models: int, *, complete: bool) -> str:
    if not complete:
        return "every model that judged them"
    return "both models" if models == 2 else f"all {models:,} models"


def _share(observed: Statistic, *, clusters: int | None, weighted: bool) -> str:
    value = percent(observed.value or 0.0) + (" by weight" if weighted else "")
    over = f" over {clusters:,} clusters" if clusters is not None else ""
    if observed.low is not None and observed.high is not None:
        low, high = percent(observed.low, unit=False), percent(observed.high)
        return f"{value}, 95 % interval {low} to {high}{over}"
    reason = "" if observed.reason is UNSET else str(observed.reason)
    return value if not reason or reason.startswith("census") else f"{value}, no interval: {reason}"


def _expected(systemic_failure: Outcome) -> str:
    expected = systemic_failure.expected
    if expected is None:
        return "what would be expected if they failed independently is undefined"
    log10 = systemic_failure.log10_expected
    if expected == 0.0 and log10 is None:
        return "none would be expected if they failed independently, as a model failed nobody"
    return f"{percent(expected)} would be expected if they failed independently"
