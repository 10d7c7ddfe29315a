"""What went wrong in an experiment as its page shows it: by learner and reason first, row by row folded."""

from __future__ import annotations

from typing import NamedTuple

from polyculture.lab.records import SharingRecord
from polyculture.lab.trial import FAULTS

__all__ = ["FaultTotal", "fault_totals"]


class FaultTotal(NamedTuple):
    """What went wrong with one learner for one reason: how often, of how many that were trained, and the first word."""

    learner: str
    reason: str
    then: str
    said: str
    times: int
    trained: int


def fault_totals(record: SharingRecord) -> list[FaultTotal]:
    """Return the faults by learner and reason, in the order in which the record has them.

    Parameters
    ----------
    record : SharingRecord
        Of an experiment; each of its faults counts decision-makers of one learner, size and arm.
    """
    plan = record.plan
    trained = record.trials // len(plan.learners) * len(record.arms) * len(record.decision_makers)
    times: dict[tuple[str, str], int] = {}
    said: dict[tuple[str, str], str] = {}
    for fault in record.faults:
        key = (fault.learner, fault.reason)
        times[key] = times.get(key, 0) + fault.count
        said[key] = said.get(key) or fault.said
    return [
        FaultTotal(learner, reason, FAULTS.get(reason, ""), said[learner, reason], number, trained)
        for (learner, reason), number in times.items()
    ]
