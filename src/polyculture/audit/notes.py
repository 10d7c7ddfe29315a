"""What a reader must know before the numbers: limits of the data, and figures that may not be read alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.words import capital, count, number_of, one_of
from polyculture.errors import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyculture.audit.records import GroupHomogenization, GroupRecord, ModelRecord, Outcome
    from polyculture.audit.settings import Settings
    from polyculture.tally import Tally

FEWEST_CLUSTERS = 10


def notes(
    tally: Tally,
    *,
    complete: bool,
    models: Sequence[ModelRecord],
    systemic_failure: Outcome,
    groups: Sequence[GroupRecord],
    homogenization: Sequence[GroupHomogenization],
    too_little: Mapping[int, int],
    settings: Settings,
) -> tuple[str, ...]:
    """Write the notes of an audit.

    Parameters
    ----------
    tally : Tally
        What the audit rests on.
    complete : bool
        Whether every model judged every individual.
    models, systemic_failure, groups, homogenization
        Records of the audit.
    too_little : mapping of int to int
        Individuals by number of models that judged them, where that is too small for the headline.
    settings : Settings
        Smallest cell, census, and what individuals are called.

    Returns
    -------
    tuple of str
        Whole sentences, the weightiest first.
    """
    return (
        *_of_those_not_counted(tally, systemic_failure, too_little, settings.noun),
        *_of_the_headline(tally, systemic_failure, settings.noun),
        *_of_models(models),
        *_of_the_data(tally, settings, complete=complete),
        *_of_groups(groups, homogenization, settings),
    )


def _of_those_not_counted(
    tally: Tally, systemic_failure: Outcome, too_little: Mapping[int, int], noun: str
) -> Iterator[str]:
    missing = sum(too_little.values())
    if not missing:
        return
    least = min(tally.min_judged, len(tally.models))
    whom = "no model" if least == 1 else f"fewer than {least} models"
    was, is_ = ("was", "is") if missing == 1 else ("were", "are")
    total = missing + systemic_failure.individuals
    yield (
        f"{count(missing)} of {number_of(total, noun)} {was} judged by {whom} and {is_} not counted in the headline."
    )


def _of_the_headline(tally: Tally, systemic_failure: Outcome, noun: str) -> Iterator[str]:
    if len(tally.models) == 1:
        yield "There is one model only: there is nothing to homogenize, and no baseline to hold it against."
        return
    if systemic_failure.expected is not None and systemic_failure.individuals:
        awaited = systemic_failure.individuals * systemic_failure.expected
        if awaited < 1:
            yield (
                f"Fewer than one {one_of(noun)} would be expected to be failed by all models if they failed "
                "independently: read the systemic failure rate and its excess first, the ratio H last."
            )
    yield (
        "H depends on the number of models and on their failure rates: it is not comparable across collections, "
        "groups or accuracies by itself. Read it beside its ceiling and the excess."
    )


def _of_models(models: Sequence[ModelRecord]) -> Iterator[str]:
    perfect = [m.name for m in models if m.judged and not m.failed]
    hopeless = [m.name for m in models if m.judged and m.failed == m.judged]
    idle = [m.name for m in models if not m.judged]
    if perfect:
        yield (
            f"Models that failed nobody: {first_few(perfect)}. Whom they judged cannot be failed by all, "
            "and the ratio to what is expected does not exist where they judged everyone."
        )
    if hopeless:
        yield (
            f"Models that failed everyone whom they judged: {first_few(hopeless)}. "
            "They add nothing to who is failed by all."
        )
    if idle:
        yield f"Models that judged nobody: {first_few(idle)}. They have no part in any figure."


def _of_the_data(tally: Tally, settings: Settings, *, complete: bool) -> Iterator[str]:
    noun = settings.noun
    one = one_of(noun)
    if not complete:
        yield (
            f"Not every model judged every {one}. Each {one} is held against its own set of models; "
            "who was judged by whom is seldom random, and the figures do not correct for it."
        )
    if len(tally.models) > 1000:
        yield "There are more than 1,000 models: how alike they are is not measured."
    elif len(tally.models) > 400:
        yield "There are more than 400 models: their pairs are not listed."
    if tally.clustered and not settings.census:
        clusters = tally.cluster_count or 0
        if clusters < FEWEST_CLUSTERS:
            yield f"The {noun} come in {clusters} clusters only: figures are descriptive and have no intervals."
        else:
            yield f"The {noun} come in {clusters:,} clusters; intervals and tests treat clusters as the sample."
    if tally.weighted:
        yield f"Shares are by weight; numbers of {noun} are counted without weights."
    if not tally.exact:
        yield (
            "There are too many failure patterns to keep all of them: what is marked sampled rests on "
            f"{tally.sampled:,} {noun} drawn evenly; rates, profiles and systemic failures count everyone."
        )
        if tally.has_no_answer():
            yield f"The other reading of no answer is not shown: it needs the patterns of all {noun}."


def _of_groups(
    groups: Sequence[GroupRecord], homogenization: Sequence[GroupHomogenization], settings: Settings
) -> Iterator[str]:
    few = sum(group.status == "too few" for group in groups)
    if few:
        yield (
            f"{few} of {len(groups)} groups and intersections {'has' if few == 1 else 'have'} fewer than "
            f"{number_of(settings.min_cell, settings.noun)}: their figures are withheld."
        )
    if any(group.status == "unknown" for group in groups):
        whose = f"{capital(settings.noun)} whose group is missing, unknown or declined"
        yield f"{whose} are shown and are part of no comparison."
    if any(group.contrast is not None and group.contrast.signs_disagree for group in groups):
        yield (
            "In some groups the excess points one way and the ratio H the other, compared with everyone else: "
            "neither may be read alone there."
        )
    if groups and any(g.status == "reported" and not g.models for g in groups):
        yield "There are too many groups and models to list every model and profile by group."
    unreliable = [" x ".join(h.by) for h in homogenization if not h.reliable]
    if unreliable:
        yield (
            f"Group homogenization by {first_few(unreliable)} rests on groups too small for their products of rates: "
            "marked unreliable."
        )
