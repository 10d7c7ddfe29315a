"""The most frequent failure patterns: who failed together, and how often independence would have it.

Only counting; whether a pattern is more frequent than chance is for other questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.records import Pattern
from polyculture.audit.rows import mask_keys
from polyculture.audit.sums import binned

if TYPE_CHECKING:
    from polyculture.audit.view import View

MOST = 32  # all patterns of five models


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
    sets, which = np.unique(mask_keys(rows.judged), return_inverse=True)
    set_share = binned(which, rows.weight, len(sets)) / total
    order = np.argsort(-rows.weight, kind="stable")
    # Ties in name order, so that the order of the models changes nothing; the last place may be tied too.
    last = rows.weight[order[min(MOST, len(order)) - 1]]
    candidates = order[: int(np.count_nonzero(rows.weight >= last))]
    found = []
    for row in candidates[: 64 * MOST]:
        judged, failed = rows.judged[row], rows.failed[row]
        chance = float(np.prod(np.where(failed, rates, 1.0 - rates)[judged]))
        found.append(
            Pattern(
                judged=tuple(name for name, has in zip(names, judged, strict=True) if has),
                failed=tuple(name for name, has in zip(names, failed, strict=True) if has),
                count=int(rows.count[row]),
                share=float(rows.weight[row]) / total,
                expected=float(set_share[which[row]]) * chance,
            )
        )
    found.sort(key=lambda pattern: (-pattern.share, sorted(pattern.failed), sorted(pattern.judged)))
    return tuple(found[:MOST]), _note(len(order), exact=view.tally.exact, sampled=rows.individuals)


def _note(distinct: int, *, exact: bool, sampled: int) -> str:
    if not exact:
        return f"Counts and shares are those of a sample of {sampled:,} individuals."
    if distinct > MOST:
        return f"The {MOST} most frequent of {distinct:,} failure patterns."
    return ""
