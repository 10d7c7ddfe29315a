"""The improvement analysis of 2307.05862: each service in consecutive years, and whom its improvements reach.

The comparison of two years is that of ``comparison``; here its figures are kept and held against the paper.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.audit.proportion import from_estimated
from polyculture.audit.statistic import Statistic, undefined
from polyculture.audit.words import count, percent, plural
from polyculture.claims import ecosystem_level as paper
from polyculture.claims.records import ClaimRecord, Improvement, UndoingShare, Verdict
from polyculture.claims.verdict import same_data, within_interval

if TYPE_CHECKING:
    from polyculture.audit.change_records import ModelChange, Undoing
    from polyculture.readers import Table

__all__ = ["READINGS", "claims", "improvements"]

READINGS = {"before": "the others read in the earlier year", "after": "the others read in the later year"}
NO_FOLDER = "needs the later snapshots: --data FOLDER"
ALONE = "no other service judged the same examples in both years, or none is failed"


def improvements(
    table: Table, dataset: str, task: str, years: tuple[int, int], *, column: str, seed: int
) -> list[Improvement]:
    """Compare two years of a data set: each service that judged in both.

    Parameters
    ----------
    table : Table
        The data set, all years.
    dataset, task : str
        What it is called, and its task.
    years : (int, int)
        The earlier and the later year.
    column : str
        Column of the year.
    seed : int
        Seed of the samples that show how well difficulty is known.

    Raises
    ------
    UsageError
        If no service judged in both years.
    """
    from polyculture.api import read
    from polyculture.comparison import compare

    before, after = (read(table, snapshot=f"{column}={year}") for year in years)
    (change,) = compare(before, after, seed=seed).record.changes
    old, new = (str(year) for year in years)
    return [_kept(model, dataset=dataset, task=task, before=old, after=new) for model in change.models]


def _kept(model: ModelChange, **where: Any) -> Improvement:
    return Improvement(
        **where,
        model=model.name,
        judged=model.judged,
        failed_before=model.failed_before,
        error=model.error,
        improved=model.improved,
        regressed=model.regressed,
        net=model.net,
        # Without others there is nothing to undo, and a count of 0 would be one of nobody.
        undoing=tuple(_share(one) for one in model.undoing if one.potential or one.regressed),
    )


def _share(one: Undoing) -> UndoingShare:
    return UndoingShare(
        reading=one.reading,
        potential=one.potential,
        potential_systemic=one.potential_systemic,
        undone=one.improved,
        undone_systemic=one.improved_systemic,
        regressed_systemic=one.regressed_systemic,
        net_systemic=one.net_systemic,
        share=one.share,
        uniform=one.uniform,
        adjusted=one.adjusted,
    )


def claims(found: Sequence[Improvement] | None) -> list[ClaimRecord]:
    """Hold what the paper reports about improvement against the comparisons; all are not tested without a folder.

    At which of the two years the paper reads the others is not known, so each claim about them is tested in both
    readings. A count is comparable only on the paper's own examples, elsewhere it is given and not tested.
    """
    return [claim for one in paper.IMPROVEMENT for claim in _readings(one, found)]


def _readings(one: paper.Improvement, found: Sequence[Improvement] | None) -> Iterator[ClaimRecord]:
    if not one.by_others:
        yield _of_service(one, found, None)
    for reading in READINGS if one.by_others else ():
        yield _of_service(one, found, reading) if one.unit == "count" else _mean_share(one, found, reading)


def _of_service(one: paper.Improvement, found: Sequence[Improvement] | None, reading: str | None) -> ClaimRecord:
    """Hold a figure of the one service of which the paper gives figures."""
    service, reason = _service(one.about, found)
    if service is None:
        return _claim(one, undefined(reason), reading, ("not tested", reason))
    stat = _figure(one, service, reading)
    other = _other_examples(one, service, reading)
    if not other:
        return _claim(one, stat, reading, same_data(one.published, one.decimals, stat), "same data")
    if one.unit == "count":
        return _claim(one, stat, reading, ("not tested", other), "same data")
    return _claim(one, stat, reading, within_interval(one.published, one.decimals, stat, none=0.0))


def _figure(one: paper.Improvement, service: Improvement, reading: str | None) -> Statistic:
    if one.unit == "points":
        return service.error.difference
    if reading is None:
        return Statistic(value=float(service.net))
    share = _of_reading(service, reading)
    return undefined(ALONE) if share is None else _count(share.net_systemic)


def _count(value: int) -> Statistic:
    return Statistic(value=float(value))


def _of_reading(one: Improvement, reading: str) -> UndoingShare | None:
    return next((share for share in one.undoing if share.reading == reading), None)


def _service(about: str, found: Sequence[Improvement] | None) -> tuple[Improvement | None, str]:
    """Return the comparison of the paper's service and years, or why there is none."""
    if found is None:
        return None, NO_FOLDER
    for one in found:
        name = re.split(r"[\W_]+", one.model.casefold())[0]
        here = (one.dataset.casefold(), name, one.before, one.after)
        if here == (about.casefold(), paper.IMPROVED_MODEL, *paper.IMPROVED_YEARS):
            return one, ""
    years = " and ".join(paper.IMPROVED_YEARS)
    return None, f"the folder holds no {about} with {paper.IMPROVED_MODEL} in both {years}"


def _other_examples(one: paper.Improvement, service: Improvement, reading: str | None) -> str:
    """Return in what the earlier year is not the paper's, or an empty string: counts need the same examples."""
    printed = next(p for p in paper.POTENTIAL if (p.dataset, p.model) == (one.about, paper.IMPROVED_MODEL))
    judged = paper.PROFILES[one.about].individuals
    told = (
        f"other examples than the paper's: {count(service.judged)} judged in both years and "
        f"{count(service.failed_before)} failures in {service.before}, there {count(judged)} and "
        f"{count(printed.failures or 0)}"
    )
    if (service.judged, service.failed_before) != (judged, printed.failures):
        return told
    before = None if reading is None else _of_reading(service, "before")
    if before is not None and not _rounds(before.potential_systemic / before.potential, printed.shares[-1]):
        return "other services than the paper's: more or fewer of the failures are of all of them"
    return ""


def _rounds(share: float, printed: float) -> bool:
    return same_data(printed, 3, Statistic(value=share))[0] == "agrees"


def _mean_share(one: paper.Improvement, found: Sequence[Improvement] | None, reading: str) -> ClaimRecord:
    """Hold the mean over data sets, services and pairs of years; data sets are what is drawn."""
    from polyculture.stats.cluster_mean import cluster_mean

    if found is None:
        return _claim(one, undefined(NO_FOLDER), reading, ("not tested", NO_FOLDER))
    known = [
        (own.dataset, share)
        for own in found
        if (share := _of_reading(own, reading)) is not None and share.share.value is not None
    ]
    if not known:
        reason = "no service of the folder has improvements between two years beside another service"
        return _claim(one, undefined(reason), reading, ("not tested", reason))
    values = [share.share.value for _, share in known if share.share.value is not None]
    stat = from_estimated(cluster_mean(values, [name for name, _ in known], what="data set"))
    verdict, reason = within_interval(one.published, one.decimals, stat, none=0.0)
    told = f"{reason}; the mean of {plural(len(known), 'comparison')}{_blind([share for _, share in known])}"
    return _claim(one, stat, reading, (verdict, told))


def _blind(shares: Sequence[UndoingShare]) -> str:
    """Return what blind improvements would give on average: the reported share means nothing without it."""
    told = []
    for name, values in (
        ("if each failure were as likely to be undone", [one.uniform for one in shares]),
        ("if that depended on difficulty alone", [one.adjusted.value for one in shares]),
    ):
        known = [value for value in values if value is not None]
        if len(known) == len(shares):
            told.append(f"{percent(math.fsum(known) / len(known))} {name}")
    return f"; expected would be {', and '.join(told)}" if told else ""


def _claim(
    one: paper.Improvement,
    found: Statistic,
    reading: str | None,
    verdict: tuple[Verdict, str],
    judged_by: Any = "interval",
) -> ClaimRecord:
    told = one.statement if reading is None else f"{one.statement} ({READINGS[reading]})"
    return ClaimRecord(
        about=one.about,
        statement=told,
        unit=one.unit,  # type: ignore[arg-type]
        published=one.published,
        decimals=one.decimals,
        found=found,
        judged_by=judged_by,
        verdict=verdict[0],
        reason=verdict[1],
        source=one.source,
    )
