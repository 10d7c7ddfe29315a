"""The headline under the other reading of "no answer", where any model gave none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.outcome import measure
from polyculture.audit.records import NoAnswerRecord
from polyculture.audit.view import headline_view

if TYPE_CHECKING:
    from polyculture.audit.settings import Settings
    from polyculture.tally import Tally


def no_answer(tally: Tally, settings: Settings) -> NoAnswerRecord | None:
    """Measure systemic failure with no answer counted the other way.

    Parameters
    ----------
    tally : Tally
        All individuals, under the reading that the audit uses.
    settings : Settings
        Seed and census.

    Returns
    -------
    NoAnswerRecord or None
        None where every model answered everything that it was asked, and where a Tally is too large to have
        kept the other reading.
    """
    if not tally.has_no_answer() or not tally.exact:
        return None
    other = "missing" if tally.no_answer_policy == "failed" else "failed"
    whole = headline_view(tally.with_no_answer(other)).whole
    systemic = measure(whole, "all_fail", settings, ("no answer", other)).outcome
    return NoAnswerRecord(
        counted_as=tally.no_answer_policy,
        other=other,
        individuals=systemic.individuals,
        systemic_failure=systemic,
    )
