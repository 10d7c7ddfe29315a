"""Items on which models share one answer that is not the label, beyond expectation: labels to look at again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from polyculture.audit.proportion import plain_shares
from polyculture.audit.rows import rows_of
from polyculture.audit.similarity_records import SuspectKey, SuspectKeysRecord
from polyculture.outcomes.counting import fetch_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.outcomes import Outcomes
    from polyculture.tally import Tally

LEVEL = 0.05
MOST = 10_000


def suspect_keys(outcomes: Outcomes, tally: Tally, *, census: bool = False) -> SuspectKeysRecord:
    """Look for labels that several models contradict with the same answer.

    Parameters
    ----------
    outcomes : Outcomes
        The rows, for a second pass where they are held.
    tally : Tally
        Their Tally, for the models' failure rates and how often wrong answers are the same.
    census : bool
        Whether to leave intervals out.

    Returns
    -------
    SuspectKeysRecord
        Items whose corrected p-value (Benjamini-Hochberg over all items) is at most .05, the smallest first;
        10,000 at most are listed, and ``tested`` counts all items. Systemic failure is of the headline's individuals,
        by number.

    Raises
    ------
    UsageError
        If there are no answers and labels, or items have no id.
    """
    from polyculture.outcomes.shared_answers import shared_wrong_answers
    from polyculture.stats.similarity.shared import adjusted_by_count, expected_sharing, shared_answer_p

    shared = shared_wrong_answers(outcomes)
    table = tally.model_table()
    judged, failed = table.judged.sum(axis=0), table.failed.sum(axis=0)
    rates = failed / np.maximum(judged, 1)
    agreement = same_when_wrong(tally)
    p = shared_answer_p(rates, agreement)
    numbers = _items_by_sharing(shared, tally.individuals, len(rates))
    adjusted = adjusted_by_count(p, numbers)
    flagged = np.flatnonzero((adjusted <= LEVEL) & (np.arange(len(p)) >= 2) & (numbers > 0))
    rows = _rows(shared, int(flagged.min())) if len(flagged) else []
    items = tuple(
        SuspectKey(
            id=str(row["__id"]),
            label=str(row["__label"]),
            answer=str(row["__answer"]),
            judged=int(row["__judged"]),
            same=int(row["__same"]),
            expected=expected_sharing(rates, agreement),
            p_value=float(p[row["__same"]]),
            p_adjusted=float(adjusted[row["__same"]]),
        )
        for row in rows
    )
    headline = tally.restricted_to_min_judged().profile_table()
    everyone = headline.judged > 0
    all_failed = int(headline.count[everyone & (headline.failed == headline.judged)].sum())
    individuals = int(headline.count[everyone].sum())
    least = min(tally.min_judged, len(tally.models))
    counted = [row for row in rows if int(row["__judged"]) >= least]
    gone = sum(int(row["__judged"]) == int(row["__failed"]) for row in counted)
    with_and_without = plain_shares(
        np.array([all_failed, all_failed - gone]), np.array([individuals, individuals - len(counted)]), census=census
    )
    return SuspectKeysRecord(
        count=len(items),
        tested=int(numbers.sum()),
        level=LEVEL,
        systemic_failure=with_and_without[0],
        systemic_failure_without=with_and_without[1],
        failed_by_all=all_failed,
        failed_by_all_without=all_failed - gone,
        items=items[:MOST],
    )


def same_when_wrong(tally: Tally) -> float:
    """Return the mean share of same answers where two models are wrong; 1 with two options.

    At least the chance of 1 / (options - 1): few joint failures may show none.
    """
    answers = tally.answers
    if answers is None:
        return 1.0
    wrong: NDArray[Any] = rows_of(tally).failed
    both = (wrong.T * tally.patterns.count.astype(np.float64)) @ wrong
    scale = tally.individuals / max(float(tally.patterns.count.sum()), 1.0)
    apart = ~np.eye(len(wrong.T), dtype=bool)
    total = float(both[apart].sum()) * scale
    share = float(answers.same_wrong[apart].sum()) / total if total > 0 else 0.0
    return min(1.0, max(share, answers.chance))


def _items_by_sharing(shared: nw.LazyFrame[Any], individuals: int, models: int) -> NDArray[np.int64]:
    """Count items by the number of models that share its most shared wrong answer, (k + 1,)."""
    most = shared.group_by("__id").agg(nw.col("__same").max())
    found = np.zeros(models + 1, dtype=np.int64)
    for row in fetch_rows(most.group_by("__same").agg(nw.len().alias("__items"))):
        found[int(row["__same"])] = int(row["__items"])
    found[0] = max(individuals - int(found.sum()), 0)
    return found


def _rows(shared: nw.LazyFrame[Any], least: int) -> list[dict[str, Any]]:
    """Return the items of which ``least`` models or more share a wrong answer, one row each."""
    rows = fetch_rows(shared.filter(nw.col("__same") >= least))
    rows.sort(key=lambda row: (-row["__same"], str(row["__id"]), str(row["__answer"])))
    first: dict[Any, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["__id"], row)
    return list(first.values())
