"""The headline: one sentence in plain words on who all models failed and what chance would do.

It reads records and writes words; it computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from polyculture.audit.words import all_models, expected, interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.records import Outcome, Statistic


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
    return all_models(models)


def _share(observed: Statistic, *, clusters: int | None, weighted: bool) -> str:
    value = number(observed) + (" by weight" if weighted else "")
    over = f" over {clusters:,} clusters" if clusters is not None else ""
    if observed.low is not None and observed.high is not None:
        return f"{value}, 95 % interval {interval(observed)}{over}"
    reason = "" if observed.reason is UNSET else str(observed.reason)
    return value if not reason or reason.startswith("census") else f"{value}, no interval: {reason}"


def _expected(systemic_failure: Outcome) -> str:
    awaited, log10 = systemic_failure.expected, systemic_failure.log10_expected
    if awaited is None:
        return "what would be expected if they failed independently is undefined"
    if awaited == 0.0 and log10 is None:
        return "none would be expected if they failed independently, as a model failed nobody"
    return f"{expected(awaited, log10)} would be expected if they failed independently"
