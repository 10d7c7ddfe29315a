"""The gaps between groups that a model-by-model audit looks at, beside the gap in systemic failure.

Definitions are fairlearn's: largest minus smallest group, smallest over largest. Whether one group differs from
everyone else is a matter for `contrasts`; with two groups the gap is their contrast, and has its interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.gap_rates import (
    FAILURE,
    FALSE_POSITIVE,
    SELECTION,
    TRUE_POSITIVE,
    Rates,
    group_rates,
)
from polyculture.audit.partition import partition
from polyculture.audit.proportion import statistic
from polyculture.audit.records import GapRecord, ModelGap, Statistic, undefined
from polyculture.audit.settings import CENSUS
from polyculture.audit.systemic_gap import systemic_gap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyculture.audit.partition import Group
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View
    from polyculture.stats.intervals import Interval

ONE_GROUP = "fewer than two groups with enough individuals"
NO_LABELS = "true and false positives are known only where labels take two values and failures are misclassifications"
NO_SELECTION = "who was selected is known only where failure is a decision, or labels take two values"


def gaps(view: View, everyone: View, settings: Settings) -> tuple[GapRecord, ...]:
    """Return the gaps between the groups of each column.

    Parameters
    ----------
    view : View
        The individuals of the headline, for systemic failure.
    everyone : View
        All individuals, for single models.
    settings : Settings
        Seed, smallest cell, census.

    Returns
    -------
    tuple of GapRecord
        One a column, over its known groups of at least ``min_cell`` individuals of the headline.
    """
    found = []
    for column in everyone.tally.groups:
        groups = [
            group
            for group in partition(everyone.tally, (column,)).groups
            if not group.unknown and view.individuals(group.cells) >= max(settings.min_cell, 1)
        ]
        systemic = systemic_gap(view, groups, settings, column)
        found.append(
            GapRecord(
                by=(column,),
                groups=len(groups),
                models=model_gaps(everyone, groups, settings),
                systemic_failure_difference=systemic.difference,
                systemic_failure_ratio=systemic.ratio,
                expected_with_no_difference=systemic.expected,
                p_value=systemic.p_value,
                highest=systemic.highest,
                lowest=systemic.lowest,
                selection=everyone.tally.selection,
                p_method=systemic.p_method,
                expected_with_no_difference_reason=systemic.expected_reason,
            )
        )
    return tuple(found)


def model_gaps(everyone: View, groups: Sequence[Group], settings: Settings) -> tuple[ModelGap, ...]:
    """Return the gaps of each model between some groups.

    Parameters
    ----------
    everyone : View
        All individuals.
    groups : sequence of Group
        The groups that are compared.
    settings : Settings
        Whether this is a census.

    Returns
    -------
    tuple of ModelGap
        Failure rates; demographic parity from selection rates; equalized odds from true and false positive
        rates, the worse of the two (fairlearn's ``agg="worst_case"``).
    """
    names = everyone.tally.models
    if len(groups) < 2:
        missing = undefined(ONE_GROUP)
        return tuple(_model_gap(name, [missing] * 6) for name in names)
    rates = group_rates(everyone, groups)
    labels = [group.label for group in groups]

    def both(rate: str) -> tuple[list[Statistic], list[Statistic]]:
        if rate not in rates:
            missing = [undefined(NO_SELECTION if rate == SELECTION else NO_LABELS)] * len(names)
            return missing, missing
        # Equalized odds are the worse of two gaps, which needs joint limits of two groups too.
        pair = len(groups) == 2 and rate in {FAILURE, SELECTION}
        return (
            differences(rates[rate], labels, rate, census=settings.census, pair=pair),
            ratios(rates[rate], labels, rate, census=settings.census, pair=pair),
        )

    failure, selection = both(FAILURE), both(SELECTION)
    hits, alarms = both(TRUE_POSITIVE), both(FALSE_POSITIVE)
    return tuple(
        _model_gap(
            name,
            [
                failure[0][j],
                failure[1][j],
                selection[0][j],
                selection[1][j],
                worse(hits[0][j], alarms[0][j], largest=True),
                worse(hits[1][j], alarms[1][j], largest=False),
            ],
        )
        for j, name in enumerate(names)
    )


def _model_gap(name: str, figures: Sequence[Statistic]) -> ModelGap:
    return ModelGap(
        name=name,
        failure_rate_difference=figures[0],
        failure_rate_ratio=figures[1],
        demographic_parity_difference=figures[2],
        demographic_parity_ratio=figures[3],
        equalized_odds_difference=figures[4],
        equalized_odds_ratio=figures[5],
    )


def differences(
    rates: Rates, labels: Sequence[str], what: str, *, census: bool = False, note: str = "", pair: bool = False
) -> list[Statistic]:
    """Return the largest minus the smallest group's rate of each model.

    Parameters
    ----------
    rates : Rates
        Of G groups and m models.
    labels : sequence of str
        The groups' names.
    what : str
        Which rate, for reasons.
    census : bool
        Leave intervals out.
    note : str
        Appended to the method.
    pair : bool
        Whether these are two groups with limits each by itself.

    Returns
    -------
    list of Statistic
        Of a pair the interval of the difference: the larger rate less the smaller, which may reach below 0. Else
        joint limits: the largest rate lies between the largest lower and the largest upper limit of all groups, the
        smallest likewise, so that the gap's interval is wider than one of two groups chosen beforehand.
    """
    from polyculture.stats._rounding import differences as apart

    value = apart(rates.share.max(axis=0), rates.share.min(axis=0))
    low = np.maximum(rates.low.max(axis=0) - rates.high.min(axis=0), 0.0)
    high = rates.high.max(axis=0) - rates.low.min(axis=0)
    paired = _paired_difference if pair else None
    return _with_limits(rates, labels, what, (value, low, high), census=census, note=note, paired=paired)


def ratios(
    rates: Rates, labels: Sequence[str], what: str, *, census: bool = False, note: str = "", pair: bool = False
) -> list[Statistic]:
    """Return the smallest over the largest group's rate of each model; see `differences`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = rates.share.min(axis=0) / rates.share.max(axis=0)
        low = rates.low.min(axis=0) / rates.high.max(axis=0)
        high = np.fmin(rates.high.min(axis=0) / rates.low.max(axis=0), 1.0)
    paired = _paired_ratio if pair else None
    return _with_limits(rates, labels, what, (value, low, high), census=census, note=note, paired=paired)


def _with_limits(
    rates: Rates,
    labels: Sequence[str],
    what: str,
    limits: tuple[np.ndarray, ...],
    *,
    census: bool,
    note: str,
    paired: Callable[[Rates, int], Interval] | None,
) -> list[Statistic]:
    from polyculture.stats.intervals import Interval

    found = []
    for model, (value, low, high) in enumerate(zip(*limits, strict=True)):
        empty = [label for label, n in zip(labels, rates.base[:, model], strict=True) if n == 0]
        if empty:
            found.append(undefined(f"no {what} rate in {empty[0]}: nobody there could show one"))
        elif not np.isfinite(value):
            found.append(undefined(f"the {what} rate is 0 in every group"))
        elif census or np.isnan(rates.low[:, model]).any():
            reason = CENSUS if census else "a group has too few clusters for an interval"
            found.append(statistic(float(value), reason=reason))
        elif paired is not None:
            found.append(statistic(float(value), paired(rates, model), note=note))
        else:
            method = f"joint limits of {len(labels)} groups (Sidak)"
            found.append(statistic(float(value), Interval(float(low), float(high), method), note=note))
    return found


def _paired_difference(rates: Rates, model: int) -> Interval:
    """Return the interval of the higher rate less the lower of two groups."""
    from polyculture.stats.intervals import Interval, mover_difference, newcombe_difference

    most = int(np.argmax(rates.share[:, model]))
    order = (most, 1 - most)
    if rates.events is not None:
        (x1, n1), (x2, n2) = ((float(rates.events[g, model]), float(rates.base[g, model])) for g in order)
        return newcombe_difference(x1, n1, x2, n2)
    (p1, one), (p2, other) = (
        (float(rates.share[g, model]), Interval(float(rates.low[g, model]), float(rates.high[g, model]), ""))
        for g in order
    )
    return mover_difference(p1, one, p2, other)


def _paired_ratio(rates: Rates, model: int) -> Interval:
    """Return the interval of the lower rate over the higher of two groups."""
    from polyculture.stats.intervals import Interval, mover_ratio_log

    most = int(np.argmax(rates.share[:, model]))
    (p1, one), (p2, other) = (
        (float(rates.share[g, model]), Interval(float(rates.low[g, model]), float(rates.high[g, model]), ""))
        for g in (1 - most, most)
    )
    if p1 > 0:
        return mover_ratio_log(p1, one, p2, other)
    # No event in one of them: only how high its rate can be says something.
    return Interval(0.0, float(rates.high[1 - most, model]) / p2, "upper limit of the rate of no event, one-sided")


def worse(one: Statistic, other: Statistic, *, largest: bool) -> Statistic:
    """Return the larger (or smaller) of two gaps, undefined where one of them is.

    Parameters
    ----------
    one, other : Statistic
        Gaps with joint limits.
    largest : bool
        Whether the larger gap is the worse one (differences), or the smaller (ratios).

    Returns
    -------
    Statistic
        Both ends are the worse of the two gaps' ends.
    """
    from polyculture.stats.intervals import Interval

    for gap in (one, other):
        if gap.value is None:
            return gap
    pick = max if largest else min
    value = pick(one.value or 0.0, other.value or 0.0)
    if one.low is None or other.low is None or one.high is None or other.high is None:
        return statistic(value, reason=str(one.reason if one.low is None else other.reason))
    return statistic(value, Interval(pick(one.low, other.low), pick(one.high, other.high), str(one.method)))
