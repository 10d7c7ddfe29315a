"""The audit: every question asked once, in a fixed order, and the answers in one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from threadpoolctl import threadpool_limits

from polyculture.audit.components import components
from polyculture.audit.contrasts import contrasted
from polyculture.audit.gaps import gaps
from polyculture.audit.group_homogenization import homogenizations
from polyculture.audit.groups import GroupFigures, groups
from polyculture.audit.headline import headline
from polyculture.audit.independence import profile_p
from polyculture.audit.kind_names import kind_models
from polyculture.audit.kinds import kinds as measured_kinds
from polyculture.audit.models import models
from polyculture.audit.no_answer import no_answer
from polyculture.audit.notes import notes
from polyculture.audit.nouns import with_noun
from polyculture.audit.nulls import chosen, nulls
from polyculture.audit.outcome import measure
from polyculture.audit.panel import panel
from polyculture.audit.partition import partitions
from polyculture.audit.patterns import patterns
from polyculture.audit.profile import profile
from polyculture.audit.records import AuditRecord
from polyculture.audit.settings import Correction, Settings
from polyculture.audit.similarity import collection, pairs, similarity
from polyculture.audit.view import View, headline_view
from polyculture.failure import FailureRule, known_rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyculture.audit.component_table import ComponentTable
    from polyculture.audit.portfolio_choice import PortfolioChoice
    from polyculture.audit.records import GroupRecord, Provenance
    from polyculture.stats.moments import Event
    from polyculture.tally import Tally

# Rules that compare with no label. Outcomes that come as 0 and 1, and conditions, may rest on one.
WITHOUT_LABEL = ("decision", "score<", "score>", "outside-top")


def run(
    tally: Tally,
    *,
    provenance: Provenance,
    seed: int = 0,
    min_cell: int = 30,
    census: bool = False,
    correction: Correction = "bh",
    noun: str = "individuals",
    null_models: Sequence[str] = (),
    component_table: ComponentTable | None = None,
    kinds: Mapping[str, Sequence[str]] | None = None,
    portfolio: int | None = None,
) -> AuditRecord:
    """Audit a Tally: who is failed by all models, against chance, and in which groups.

    Parameters
    ----------
    tally : Tally
        The tables of one pass over the outcomes; its group columns are the groups of the audit.
    provenance : Provenance
        Where the outcomes come from; copied into the record.
    seed : int
        Seed of the permutation tests. The same seed gives the same record.
    min_cell : int
        Groups of fewer individuals have their figures withheld.
    census : bool
        Whether the individuals are all there are: intervals and tests are then left out.
    correction : {"bh", "holm"}
        Benjamini-Hochberg or Holm, over all contrasts between groups.
    noun : str
        What an individual is called in the headline, in the plural.
    null_models : sequence of str
        Models of chance to fit beside independence, by name ("rasch", "classes-2" ...); "all" is the whole ladder.
    component_table : ComponentTable, optional
        What the models are made of; what goes with their likeness is then asked.
    kinds : mapping of str to sequence of str, optional
        Kinds of decision-makers, each with names or globs of its models, to be held against each other.
    portfolio : int, optional
        How many of the models to choose, so that together they fail the fewest.

    Returns
    -------
    AuditRecord
        Everything the audit says.

    Raises
    ------
    UsageError
        If the correction or a model of chance is unknown, kinds name no models, or so many cannot be chosen.
    InputError
        If the table of components does not fit the models.
    """
    rule = known_rule(provenance.failure_rule)
    settings = Settings(
        seed=seed,
        min_cell=min_cell,
        census=census,
        correction=correction,
        noun=noun,
        nulls=tuple(null_models),
        labels=rule is None or rule.kind not in WITHOUT_LABEL,
    )
    if kinds is not None:
        kind_models(kinds, tally.models)
    chosen(settings.nulls, tally)  # a wrong name is refused before anything is computed
    if component_table is not None:
        component_table.of(tally.models)  # the same
    # Arrays are small: threads of the linear algebra library cost more than they give, and change last digits.
    with threadpool_limits(limits=1, user_api="blas"):
        choice = None if portfolio is None else _choice(tally, portfolio, provenance.failure_rule, settings)
        found = _answered(tally, rule, provenance, settings, component_table, kinds)
    return msgspec.structs.replace(with_noun(found), portfolio=choice)


def _choice(tally: Tally, size: int, rule: str, settings: Settings) -> PortfolioChoice:
    """Choose the models that together fail the fewest."""
    from polyculture.audit.portfolio import portfolio  # which an audit without it need not load

    return portfolio(
        tally,
        rule=rule,
        size=size,
        seed=settings.seed,
        min_cell=settings.min_cell,
        census=settings.census,
        noun=settings.noun,
    )


def _answered(  # noqa: PLR0917
    tally: Tally,
    rule: FailureRule | None,
    provenance: Provenance,
    settings: Settings,
    component_table: ComponentTable | None,
    kinds: Mapping[str, Sequence[str]] | None,
) -> AuditRecord:
    if rule is not None and not provenance.failure_rule_in_words:
        provenance = msgspec.structs.replace(provenance, failure_rule_in_words=rule.in_words())
    everyone, view = View(tally), headline_view(tally)
    whole = view.whole
    events: tuple[Event, ...] = ("all_fail", "none_fail", "same")
    measured = [measure(whole, event, settings) for event in events]
    systemic, success, homogeneous = (one.outcome for one in measured)
    rows = profile(whole, settings, systemic_failure=systemic, consistent_success=success)
    group_records = _groups(view, everyone, settings)
    profile_p_value, profile_p_method = profile_p(whole, settings)
    shown, patterns_note = patterns(view)
    crossed, by_column = homogenizations(view, everyone, settings)
    by_model, too_little = models(tally, settings), judged_too_little(tally)
    similar = similarity(everyone)
    together = collection(everyone, similar, settings)
    return AuditRecord(
        provenance=provenance,
        headline=headline(
            systemic,
            models=tally.models,
            complete=whole.rows.complete,
            noun=settings.noun,
            clusters=tally.cluster_count,
            weighted=tally.weighted,
            min_judged=tally.min_judged,
        ),
        individuals=systemic.individuals,
        judged_too_little=too_little,
        seed=settings.seed,
        models=by_model,
        profile=rows,
        profile_p_value=profile_p_value,
        profile_p_method=profile_p_method,
        systemic_failure=systemic,
        consistent_success=success,
        homogeneous_outcomes=homogeneous,
        patterns=shown,
        patterns_note=patterns_note,
        groups=group_records,
        group_homogenization=crossed,
        group_homogenization_by_column=by_column,
        gaps=gaps(view, everyone, settings),
        pairs=pairs(similar, settings),
        collection=together,
        panel=panel(similar, settings),
        components=components(
            everyone,
            similar,
            component_table,
            settings,
            duplicates=() if together is None else together.near_duplicates,
        ),
        nulls=nulls(view, measured[0], settings),
        kinds=None if kinds is None else measured_kinds(tally, kinds, settings),
        no_answer=no_answer(tally, settings),
        notes=notes(
            tally,
            complete=whole.rows.complete,
            models=by_model,
            systemic_failure=systemic,
            groups=group_records,
            homogenization=[h for h in (crossed, *by_column) if h is not None],
            too_little=too_little,
            settings=settings,
        ),
        noun=settings.noun,
    )


def _groups(view: View, everyone: View, settings: Settings) -> tuple[GroupRecord, ...]:
    figures: list[list[GroupFigures]] = [
        groups(view, everyone, partition, settings) for partition in partitions(view.tally)
    ]
    return contrasted(view, figures, settings)


def judged_too_little(tally: Tally) -> dict[int, int]:
    """Count the individuals judged by fewer models than the headline asks for, by that number."""
    table = tally.profile_table()
    least = min(tally.min_judged, len(tally.models))
    found: dict[int, int] = {}
    for judged, count in zip(table.judged.tolist(), table.count.tolist(), strict=True):
        if judged < least:
            found[judged] = found.get(judged, 0) + count
    return dict(sorted(found.items()))
