"""The models as a panel that decides by majority, and how many independent votes it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET

from polyculture.audit.proportion import number, plain_shares, why
from polyculture.audit.similarity_records import PanelMember, PanelRecord
from polyculture.audit.sums import ratio

if TYPE_CHECKING:
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import Similarity
    from polyculture.audit.statistic import Statistic
    from polyculture.stats.intervals import Estimated

FEWEST = 3
MOST = 200


def panel(similar: Similarity | None, settings: Settings) -> PanelRecord | None:
    """Ask what these models are worth as a panel.

    Parameters
    ----------
    similar : Similarity
        The pairs and the patterns.
    settings : Settings
        Whether this is a census.

    Returns
    -------
    PanelRecord or None
        None with fewer than 3 models that judged anybody, or more than 200.
    """
    from polyculture.stats.similarity.panel import effective_numbers_without, majorities_without, majority

    if similar is None:
        return None
    judged, failed = np.diag(similar.both_judged), np.diag(similar.both_failed)
    if not FEWEST <= np.count_nonzero(judged) <= MOST:
        return None

    def one(found: Estimated, *, sampled: bool) -> Statistic:
        return similar.statistic(found, settings, sampled=sampled)

    cells = similar.pairs.cells
    rates = np.nan_to_num(ratio(np.diag(cells.both), np.diag(cells.n)))
    found = majority(similar.varied, similar.numbers, rates, similar.share)
    n_eff = one(similar.effective_number, sampled=similar.pairs_sampled)
    without = effective_numbers_without(cells, (failed > 0) & (failed < judged))
    majorities = majorities_without(similar.rows)
    accuracies = _accuracies(similar, settings)
    members = tuple(
        PanelMember(
            name=name,
            accuracy=accuracies[j],
            n_eff_without=number(without[j].value),
            majority_without=number(majorities[j].value),
            n_eff_without_reason=without[j].reason or None,
            majority_without_reason=majorities[j].reason or None,
        )
        for j, name in enumerate(similar.models)
    )
    known = [member for member in members if member.accuracy.value is not None]
    best = max(known, key=lambda member: member.accuracy.value or 0.0, default=None)
    return PanelRecord(
        members=members,
        sentence=votes(int(np.count_nonzero(judged)), n_eff),
        individuals=similar.individuals,
        n_eff=n_eff,
        majority=one(found.observed, sampled=similar.sampled and similar.numbers is similar.rows),
        independent=number(found.independent),
        difference=one(found.difference, sampled=similar.pairs_sampled),
        ties=number(found.ties),
        ties_independent=number(found.ties_independent),
        best=None if best is None else best.name,
        independent_reason=why(found.independent, found.difference.reason),
        ties_reason=why(found.ties, found.observed.reason),
    )


def votes(members: int, n_eff: Statistic) -> str:
    """Answer in one sentence how many independent votes a panel has.

    Examples
    --------
    >>> from polyculture.audit.statistic import Statistic
    >>> votes(7, Statistic(value=2.31, low=2.0, high=2.68))
    'These 7 votes are worth about 2.3 independent ones (2.0 to 2.7).'
    """
    if n_eff.value is None:
        why = "" if n_eff.reason is UNSET else f": {n_eff.reason}"
        return f"How many independent votes these {members} are worth is undefined{why}."
    ends = "" if n_eff.low is None or n_eff.high is None else f" ({n_eff.low:.1f} to {n_eff.high:.1f})"
    return f"These {members} votes are worth about {n_eff.value:.1f} independent ones{ends}."


def _accuracies(similar: Similarity, settings: Settings) -> list[Statistic]:
    """Return the accuracy of each member among those whom it judged."""
    from polyculture.stats.similarity.multiplicity import share_of_individuals

    rows, judged = similar.rows, np.diag(similar.both_judged)
    if rows.plain:
        return plain_shares(judged - np.diag(similar.both_failed), judged, census=settings.census)
    return [
        similar.statistic(
            share_of_individuals(rows, ~rows.failed[:, j], rows.judged[:, j]), settings, sampled=similar.sampled
        )
        for j in range(len(similar.models))
    ]
