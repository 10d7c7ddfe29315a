"""What a reader must know before the numbers: limits of the data, and figures that may not be read alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.errors import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyculture.audit.records import GroupHomogenization, GroupRecord, ModelRecord, Outcome
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
    min_cell: int,
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
    min_cell : int
        Groups of fewer individuals have their figures withheld.

    Returns
    -------
    tuple of str
        Whole sentences, the weightiest first.
    """
    return (
        *_of_the_headline(tally, systemic_failure),
        *_of_models(models),
        *_of_the_data(tally, complete=complete),
        *_of_groups(groups, homogenization, min_cell=min_cell),
    )


def _of_the_headline(tally: Tally, systemic_failure: Outcome) -> Iterator[str]:
    if len(tally.models) == 1:
        yield "There is one model only: there is nothing to homogenize, and no baseline to hold it against."
        return
    if systemic_failure.expected is not None and systemic_failure.individuals:
        awaited = systemic_failure.individuals * systemic_failure.expected
        if awaited < 1:
            yield (
                "Fewer than one individual would be expected to be failed by all models if they failed "
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


def _of_the_data(tally: Tally, *, complete: bool) -> Iterator[str]:
    if not complete:
        yield (
            "Not every model judged every individual. Each individual is held against its own set of models; "
            "who was judged by whom is seldom random, and the figures do not correct for it."
        )
    if len(tally.models) > 1000:
        yield "There are more than 1,000 models: how alike they are is not measured."
    elif len(tally.models) > 400:
        yield "There are more than 400 models: their pairs are not listed."
    if tally.clustered:
        clusters = tally.cluster_count or 0
        if clusters < FEWEST_CLUSTERS:
            yield f"Individuals come in {clusters} clusters only: figures are descriptive and have no intervals."
        else:
            yield f"Individuals come in {clusters:,} clusters; intervals and tests treat clusters as the sample."
    if tally.weighted:
        yield "Shares are by weight; numbers of individuals are counted without weights."
    if not tally.exact:
        yield (
            "There are too many failure patterns to keep all of them: what is marked sampled rests on "
            f"{tally.sampled:,} individuals drawn evenly; rates, profiles and systemic failures count everyone."
        )
        if tally.has_no_answer():
            yield "The other reading of no answer is not shown: it needs the patterns of all individuals."


def _of_groups(
    groups: Sequence[GroupRecord], homogenization: Sequence[GroupHomogenization], *, min_cell: int
) -> Iterator[str]:
    few = sum(group.status == "too few" for group in groups)
    if few:
        yield (
            f"{few} of {len(groups)} groups and intersections have fewer than {min_cell} individuals: "
            "their figures are withheld."
        )
    if any(group.status == "unknown" for group in groups):
        yield "Individuals whose group is missing, unknown or declined are shown and are part of no comparison."
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
