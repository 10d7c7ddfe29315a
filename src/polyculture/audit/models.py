"""Each model by itself: how many individuals it judged, failed, and left without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.proportion import SAMPLED, design_shares, flag_design, plain_shares, scaled
from polyculture.audit.records import ModelRecord
from polyculture.audit.rows import rows_of
from polyculture.audit.sums import ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.records import Statistic
    from polyculture.audit.settings import Settings
    from polyculture.tally import Tally


def models(tally: Tally, settings: Settings) -> tuple[ModelRecord, ...]:
    """Return the failure rate and the no-answer rate of every model.

    Parameters
    ----------
    tally : Tally
        All individuals, also those judged by few models.
    settings : Settings
        Whether this is a census.

    Returns
    -------
    tuple of ModelRecord
        The failure rate is among those judged. The no-answer rate is among those asked: judged, or without
        an answer where no answer counts as not judged.
    """
    table = tally.model_table()
    judged, failed, silent = (x.sum(axis=0) for x in (table.judged, table.failed, table.no_answer))
    asked = judged if tally.no_answer_policy == "failed" else judged + silent
    failure = _rates(tally, settings, failed, judged, no_answer=False)
    no_answer = _rates(tally, settings, silent, asked, no_answer=True)
    return tuple(
        ModelRecord(
            name=name,
            judged=int(judged[j]),
            failed=int(failed[j]),
            no_answer=int(silent[j]),
            failure_rate=failure[j],
            no_answer_rate=no_answer[j],
            no_answer_reasons=dict(tally.no_answer_reasons.get(name, {})),
        )
        for j, name in enumerate(tally.models)
    )


def _rates(
    tally: Tally,
    settings: Settings,
    events: NDArray[np.int64],
    base: NDArray[np.int64],
    *,
    no_answer: bool,
) -> list[Statistic]:
    if not (tally.weighted or tally.clustered):
        return plain_shares(events, base, census=settings.census)
    rows, patterns = rows_of(tally), tally.patterns
    if no_answer:
        design = flag_design(patterns.no_answer, patterns.judged | patterns.no_answer, rows)
    else:
        design = flag_design(rows.failed, rows.judged, rows)
    if tally.exact:
        return design_shares(design, base, census=settings.census)
    share = design.share
    if not no_answer:
        table = tally.model_table()
        total = table.judged_weight.sum(axis=0)
        share = ratio(table.failed_weight.sum(axis=0), total)
    factor = float(tally.profile_table().count.sum()) / max(rows.individuals, 1)
    return design_shares(scaled(design, share, factor), base, census=settings.census, note=SAMPLED)
