"""Kinds of decision-makers side by side: the profile, outcomes and groups of each by itself.

Each kind is measured by the questions of an audit on its own models (`Tally.of_models`). Kinds judge the same
individuals; comparisons between them stand in `kind_comparisons`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit import words
from polyculture.audit.contrasts import contrasted
from polyculture.audit.gaps import gaps
from polyculture.audit.group_homogenization import homogenizations
from polyculture.audit.groups import groups
from polyculture.audit.kind_comparisons import MOST_GROUPS, comparisons
from polyculture.audit.kind_names import kind_models
from polyculture.audit.kinds_records import KindRecord, KindsRecord
from polyculture.audit.outcome import measure
from polyculture.audit.partition import partition
from polyculture.audit.profile import profile
from polyculture.audit.proportion import number
from polyculture.audit.view import View, headline_view
from polyculture.errors import first_few

if TYPE_CHECKING:
    from polyculture.audit.settings import Settings
    from polyculture.stats.moments import Event
    from polyculture.tally import Tally

_ALL_EVENTS: tuple[Event, ...] = ("all_fail", "none_fail", "same")
SAMPLED_REASON = (
    "there are so many different patterns that only a sample of them was kept: audit each kind by itself (--models)"
)

_NOT_ALL = "Not every {one} was judged by every kind; who was judged is not random."


def kinds(tally: Tally, wanted: Mapping[str, Sequence[str]], settings: Settings) -> KindsRecord:
    """Measure kinds of decision-makers on the same individuals.

    Parameters
    ----------
    tally : Tally
        Of all models.
    wanted : mapping of str to sequence of str
        Kind -> names or globs of its models.
    settings : Settings
        Seed, smallest cell, census, correction, noun.

    Returns
    -------
    KindsRecord
        With a reason where the patterns are a sample.

    Raises
    ------
    UsageError
        If names are wrong; see `kind_models`.
    """
    models = kind_models(wanted, tally.models)
    left_out = tuple(name for name in tally.models if not any(name in own for own in models.values()))
    if not tally.exact:
        return KindsRecord(sentence=f"Undefined: {SAMPLED_REASON}.", models_of_no_kind=left_out, reason=SAMPLED_REASON)
    records = tuple(_kind(name, tally.of_models(own), settings) for name, own in models.items())
    found = comparisons(tally, models, settings)
    return KindsRecord(
        sentence=_sentence(records, settings.noun),
        kinds=records,
        contrasts=found.contrasts,
        group_differences=found.within,
        differences=found.between,
        models_of_no_kind=left_out,
        notes=(
            *([_NOT_ALL.format(one=words.one_of(settings.noun))] if _apart(tally, models.values()) else []),
            *_notes(records, left_out, tally, settings.noun),
            *_too_few(records, tally, settings),
        ),
    )


def _kind(name: str, tally: Tally, settings: Settings) -> KindRecord:
    """Measure one kind by itself, as an audit of its models would."""
    everyone, view = View(tally), headline_view(tally)
    whole = view.whole
    systemic, success, homogeneous = (measure(whole, event, settings).outcome for event in _ALL_EVENTS)
    figures = [groups(view, everyone, partition(tally, (column,)), settings) for column in tally.groups]
    rates = everyone.whole.rates
    known = bool(np.isfinite(rates).any())
    return KindRecord(
        name=name,
        models=tally.models,
        individuals=systemic.individuals,
        mean_failure_rate=number(float(np.nanmean(rates))) if known else None,
        mean_failure_rate_reason=None if known else systemic.observed.reason or "nobody was judged",
        profile=profile(whole, settings, systemic_failure=systemic, consistent_success=success),
        systemic_failure=systemic,
        consistent_success=success,
        homogeneous_outcomes=homogeneous,
        groups=contrasted(view, figures, settings),
        group_homogenization=homogenizations(view, everyone, settings)[0],
        gaps=gaps(view, everyone, settings),
    )


def _apart(tally: Tally, kinds: Iterable[Sequence[str]]) -> bool:
    """Whether enough of one kind judged an individual whom too few of another judged."""
    judged = tally.patterns.judged
    enough = []
    for own in kinds:
        number = judged[:, [tally.models.index(name) for name in own]].sum(axis=1)
        enough.append(number >= min(tally.min_judged, len(own)))
    return any(bool((one != enough[0]).any()) for one in enough)


def _sentence(records: Sequence[KindRecord], noun: str) -> str:
    """Say for each kind whom it fails altogether, against its own models' independence."""
    told = []
    for record in records:
        outcome = record.systemic_failure
        if outcome.observed.value is None:
            told.append(f"{record.name!r} judged none of the {noun}")
            continue
        share = words.number(outcome.observed)
        if len(record.models) == 1:
            told.append(f"the one of kind {record.name!r} fails {share} of the {noun}")
            continue
        expected = words.expected(outcome.expected, outcome.log10_expected)
        who = words.all_models(len(record.models)).replace("models", "").strip()
        if {row.judged for row in record.profile} != {len(record.models)}:
            told.append(
                f"all of kind {record.name!r} that judged them fail {share} of the {noun} ({expected} expected)"
            )
            continue
        told.append(f"{who} of kind {record.name!r} fail {share} of the {noun} ({expected} expected)")
    return f"{words.capital('; '.join(told))}."


def _notes(records: Sequence[KindRecord], left_out: Sequence[str], tally: Tally, noun: str) -> Iterator[str]:
    """Yield what must be known before kinds are compared."""
    if len({len(record.models) for record in records}) > 1:
        numbers = words.listed([f"{len(record.models)} of {record.name!r}" for record in records])
        yield (
            f"Kinds of different size ({numbers}) cannot be compared by systemic failure or H themselves: the more "
            f"there are, the fewer {noun} all of them fail. Compare what groups mean to each."
        )
    several = any(len(record.models) > 1 for record in records)  # elsewhere the undefined figures say it themselves
    for record in records:
        if several and len(record.models) == 1:
            yield f"Kind {record.name!r} has one member: it has a failure rate, but nothing to homogenize."
    if left_out:
        yield f"Of no kind, and left out here: {first_few(left_out)}."
    for column in tally.groups:
        known = sum(not group.unknown for group in partition(tally, (column,)).groups)
        if known > MOST_GROUPS:
            yield f"Only the {MOST_GROUPS} largest groups of {column!r} are compared with each other, of {known}."


def _too_few(records: Sequence[KindRecord], tally: Tally, settings: Settings) -> Iterator[str]:
    """Say what is not compared, since it holds fewer individuals than `min_cell`."""
    fewest = max(settings.min_cell, 1)
    few = [record.name for record in records if 0 < record.individuals < fewest]
    if few:
        who = f"kind {few[0]!r}" if len(few) == 1 else f"kinds {words.listed([repr(name) for name in few])}"
        yield (
            f"Not compared: {who} judged fewer than {fewest:,} {settings.noun} (--min-cell); figures of each kind by "
            "itself are shown."
        )
    view = View(tally)
    for column in tally.groups:
        known = [group for group in partition(tally, (column,)).groups if not group.unknown]
        small = [str(group.by[column]) for group in known if view.individuals(group.cells) < fewest]
        if small:
            yield (
                f"Groups of {column!r} with fewer than {fewest:,} {settings.noun} (--min-cell) are not compared: "
                f"{first_few(small)}."
            )
