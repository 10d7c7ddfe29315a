"""Independence as the first null: p-values of events and of the whole profile, and the null's record.

The laws themselves stand in ``stats.independence``; here it is decided which of them fits the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import NOBODY, SAMPLED, number
from polyculture.audit.records import NullRecord
from polyculture.audit.rows import mask_keys
from polyculture.audit.settings import CENSUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.records import Outcome
    from polyculture.audit.rows import Rows
    from polyculture.audit.settings import Settings
    from polyculture.audit.view import Slice
    from polyculture.stats.homogeneity import Moments

MOST_STEPS = 30_000  # of drawing histograms, each some fifty microseconds; beyond, individuals are shuffled
SAMPLED_PATTERNS = "failure patterns are kept of a sample only"
MOST_MODELS_OF_A_TABLE = 20  # 2^20 patterns are a million

NOT_ASKED = "no ladder of models of chance was asked for"

_QUESTION = {
    "all_fail": "systemic failure",
    "none_fail": "consistent success",
    "same": "homogeneous outcomes",
}


def independence_p(
    individuals: Slice, moments: Moments, settings: Settings, names: Sequence[str | None] = ()
) -> tuple[float | None, str]:
    """Test independent failures by the count of one event, given the models' margins.

    Parameters
    ----------
    individuals : Slice
        The individuals.
    moments : Moments
        Of the event on them.
    settings : Settings
        Seed and census.
    names : sequence of str or None
        Values of the group, for its own random numbers.

    Returns
    -------
    p : float or None
        Two-sided, mid-p; None where there is nothing to test.
    method : str
        How, or why not.
    """
    from polyculture.stats.independence import event_p_value, mid_p_all_fail, mid_p_none_fail, mid_p_same

    if settings.census:
        return None, CENSUS
    rng = settings.generator(_QUESTION[moments.event], names)
    rows = individuals.rows
    if individuals.exact is None or not (rows.plain and rows.complete) or moments.judged_most <= 1:
        p, method = event_p_value(moments, rng)
        return number(p), method
    # The patterns are a sample, but what this test rests on is counted on everyone.
    events, failures, n = individuals.totals(moments.event)[0], individuals.failed, individuals.individuals
    if moments.event == "same":
        p, method = mid_p_same(events, failures, n, rng)
    else:
        p, method = {"all_fail": mid_p_all_fail, "none_fail": mid_p_none_fail}[moments.event](events, failures, n)
    return number(p), method


def profile_p(individuals: Slice, settings: Settings) -> tuple[float | None, str]:
    """Test independent failures by the whole failure outcome profile.

    Parameters
    ----------
    individuals : Slice
        The individuals of the headline. Where their patterns are a sample, the sample is tested.
    settings : Settings
        Seed and census.

    Returns
    -------
    p : float or None
        None for a census, for weighted or clustered individuals (whose failures may not be dealt out one by
        one), and where there is nothing to test.
    method : str
        How, or why not.
    """
    from polyculture.stats.independence import profile_p_value
    from polyculture.stats.profile_permutation import profile_p_by_permutation

    rows = individuals.rows
    if settings.census:
        return None, CENSUS
    if not rows.plain:
        return None, "failures of weighted or clustered individuals may not be dealt out one by one"
    if not len(rows.count):
        return None, NOBODY
    test = profile_p_value if _steps(rows) <= MOST_STEPS else profile_p_by_permutation
    p, method = test(rows.judged, rows.failed, rows.count, settings.generator("profile"))
    return number(p), method if individuals.exact is None else f"{method}, {SAMPLED}"


def _steps(rows: Rows) -> int:
    """Count the steps of drawing histograms: for each judged set and model, the numbers of failures so far."""
    if rows.complete:
        return rows.models**2 // 2
    starts = np.flatnonzero(np.diff(mask_keys(rows.judged), prepend=-1))
    return int((rows.judged_by[starts] ** 2).sum()) // 2


def independence(individuals: Slice, systemic_failure: Outcome) -> tuple[NullRecord, ...]:
    """Return the record of independence as a null: every model its own rate, and nothing else.

    Parameters
    ----------
    individuals : Slice
        The individuals of the headline.
    systemic_failure : Outcome
        Their systemic failure.

    Returns
    -------
    tuple of NullRecord
        One record; none with a single model or nobody.
    """
    models = int(np.count_nonzero(individuals.judged))
    if models < 2 or systemic_failure.expected is None:
        return ()
    reason = _no_residual(individuals, models)
    return (
        NullRecord(
            name="independence",
            parameters=models,
            # All patterns of k models are 2^k - 1 free numbers.
            residual_df=None if reason else 2**models - 1 - models,
            residual_df_reason=reason,
            systemic_failure=systemic_failure.expected,
            excess=systemic_failure.difference,
            p_value=systemic_failure.p_value,
            method=systemic_failure.p_method,
            smallest_detectable_excess_reason=NOT_ASKED,
            log_likelihood_reason=NOT_ASKED,
            held_out_log_likelihood_reason=NOT_ASKED,
        ),
    )


def _no_residual(individuals: Slice, models: int) -> str:
    """Return why independence has no residual degrees of freedom, or an empty string where it has."""
    if individuals.exact is not None:
        return SAMPLED_PATTERNS
    if not individuals.rows.complete:
        return "not every model judged every individual: the patterns of each set of models are a table of their own"
    if models > MOST_MODELS_OF_A_TABLE:
        return f"the patterns of more than {MOST_MODELS_OF_A_TABLE} models are far more than individuals"
    return ""
