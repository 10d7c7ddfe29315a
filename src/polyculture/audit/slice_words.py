"""The sentence that leads the slices, and how they were found and tested in words; computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.words import listed, number, percent, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.slice_records import SliceRecord

MOST_NAMED = 4

WHAT = {
    "excess": "the excess of systemic failure over the product of a slice's own failure rates",
    "systemic-failure": "systemic failure",
}


def name_of(one: SliceRecord) -> str:
    """Return a slice by its conditions."""
    return " and ".join(one.conditions)


def sentence(
    found: Sequence[SliceRecord], *, looked_at: int, measure: str, noun: str, census: bool, sample: int | None = None
) -> str:
    """Say which slices stand out, and how they fare; ``sample`` is the number searched where not all were."""
    where = "" if census else f" on {noun} held out"
    if sample is not None:
        where += f", in a sample of {sample:,},"
    looked = plural(looked_at, "slice")
    confirmed = [one for one in found if one.confirmed]
    if not confirmed:
        return (
            f"Of {looked} looked at, none has {_more(measure)} than everyone else{where} beyond what chance would show."
        )
    told = [_told(one, measure) for one in confirmed[:MOST_NAMED]]
    more = f", and {len(confirmed) - MOST_NAMED} more" if len(confirmed) > MOST_NAMED else ""
    verb = "has" if len(confirmed) == 1 else "have"
    start = f"Of {looked} looked at, {len(confirmed)} {verb} {_more(measure)} than everyone else{where.rstrip(',')}"
    return f"{start}: {listed(told)}{more}."


def _more(measure: str) -> str:
    return "more excess systemic failure" if measure == "excess" else "more systemic failure"


def _told(one: SliceRecord, measure: str) -> str:
    failed = f"{number(one.systemic_failure)} failed by all"
    if measure == "excess" and one.expected is not None:
        failed += f", {percent(one.expected)} expected"
    return f"{name_of(one)} ({failed})"


def method(measure: str, *, census: bool, clusters: bool, sampled: bool) -> str:
    """Say how slices were found and tested."""
    if census:
        whom = "a sample of the individuals" if sampled else "everyone"
        return f"searched on {whom} by {WHAT[measure]} against everyone else; no test (census)"
    halves = "a random half of the clusters" if clusters else "a random half"
    text = (
        f"searched on {halves}, reported on the other; tested is {WHAT[measure]} against everyone else, two-sided, "
        "corrected for the slices tested (Holm)"
    )
    return f"{text}; a sample of the individuals" if sampled else text
