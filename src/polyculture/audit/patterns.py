"""The most frequent failure patterns: who failed together, and how often independence would have it.

Only counting; whether a pattern is more frequent than chance is for other questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.records import Pattern
from polyculture.audit.rows import mask_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.rows import Rows
    from polyculture.audit.view import View

MOST = 32  # all patterns of five models
_TIED = 4096  # patterns of one weight that are put in order


def patterns(view: View) -> tuple[tuple[Pattern, ...], str]:
    """List the most frequent failure patterns.

    Parameters
    ----------
    view : View
        The individuals of the headline.

    Returns
    -------
    tuple of Pattern
        At most 32, most frequent first. ``share`` is by weight, of all individuals; ``expected`` is the
        share of individuals with that judged set times the probability of the pattern if its models
        failed independently with their own rates.
    str
        How many patterns there are in all, and whether they are those of a sample; empty where all are
        listed.
    """
    rows, names, rates = view.patterns, view.tally.models, view.whole.rates
    total = float(rows.weight.sum())
    if not total:
        return (), ""
    sets = mask_keys(rows.judged)
    found = []
    for row in _most_frequent(rows, names):
        judged, failed = rows.judged[row], rows.failed[row]
        chance = float(np.prod(np.where(failed, rates, 1.0 - rates)[judged]))
        found.append(
            Pattern(
                judged=_named(names, judged),
                failed=_named(names, failed),
                count=int(rows.count[row]),
                share=float(rows.weight[row]) / total,
                expected=float(rows.weight[sets == sets[row]].sum()) / total * chance,
            )
        )
    return tuple(found), _note(len(rows.count), exact=view.tally.exact, sampled=rows.individuals)


def _most_frequent(rows: Rows, names: Sequence[str]) -> list[int]:
    """Return the rows of the largest weights, those of equal weight by the names of who failed."""
    least = float(np.partition(rows.weight, -MOST)[-MOST]) if len(rows.weight) > MOST else -1.0
    above, tied = np.flatnonzero(rows.weight > least), np.flatnonzero(rows.weight == least)

    def order(row: int) -> tuple[float, list[str], list[str]]:
        return (
            -float(rows.weight[row]),
            sorted(_named(names, rows.failed[row])),
            sorted(_named(names, rows.judged[row])),
        )

    # Of very many equal ones any few will do.
    return [*sorted(above.tolist(), key=order), *sorted(tied[:_TIED].tolist(), key=order)][:MOST]


def _named(names: Sequence[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, has in zip(names, mask, strict=True) if has)


def _note(distinct: int, *, exact: bool, sampled: int) -> str:
    if not exact:
        return f"Counts and shares are those of a sample of {sampled:,} individuals."
    if distinct > MOST:
        return f"The {MOST} most frequent of {distinct:,} failure patterns."
    return ""
