"""How alike models are: every pair, and the collection; from the patterns or the pairs table of a Tally.

What the measures are stands in ``stats.similarity``; here they are asked, and answered in records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET

from polyculture.audit.proportion import SAMPLED, from_estimated, why
from polyculture.audit.records import (
    CollectionRecord,
    PairRecord,
    RecourseRow,
    Statistic,
    undefined,
)
from polyculture.audit.settings import CENSUS
from polyculture.audit.tree import near_duplicates, tree_of
from polyculture.audit.words import in_words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from polyculture.audit.settings import Settings
    from polyculture.audit.view import View
    from polyculture.stats._rows import Rows
    from polyculture.stats.intervals import Estimated
    from polyculture.stats.similarity import Answers, Cells, PairSimilarity
    from polyculture.stats.similarity.capa import ProbabilityMoments
    from polyculture.stats.similarity.limits import Measure
    from polyculture.tally import Tally

MOST_MODELS = 400  # of which every pair is listed
MOST_TOGETHER = 1000  # of which pairs are computed at all: tables of more are large and say little
FEWEST_JOINT = 5
MOST_VARIED = 12_500  # sampled patterns that show how individuals vary
NO_ANSWERS = "the answers are not known, only who was failed"
ROUGH = "fewer than 5 joint failures: the interval is rough"
MEASURES = ("phi", "kappa", "capa", "jaccard", "agree_when_both_wrong", "agree_when_either_wrong")


@dataclass(frozen=True, eq=False)
class Similarity:
    """The pairs as arrays, and what they were made of; other questions about pairs start here.

    Attributes
    ----------
    models : tuple of str
        Names.
    pairs : PairSimilarity
        Every measure of every pair.
    rows : Rows
        The patterns, which may be those of a sample.
    varied : Rows
        Patterns that show how individuals vary: all of them, or an even selection of a sample.
    numbers : Rows
        Everyone by number of models that judged and that failed them, in patterns that show no more than that;
        the patterns themselves where these are everyone, or individuals have weights or come in clusters.
    individuals : int
        Everyone whom any model judged.
    both_judged, both_failed : (k, k) int64
        Individuals, without weights.
    share : float
        Rows of ``varied`` for each individual of the pairs: 1 unless pairs are exact and patterns a sample.
    sampled : bool
        Whether patterns are a sample.
    pairs_sampled : bool
        Whether the pairs are of the sample too.
    """

    models: tuple[str, ...]
    pairs: PairSimilarity
    rows: Rows
    varied: Rows
    numbers: Rows
    individuals: int
    both_judged: NDArray[np.int64]
    both_failed: NDArray[np.int64]
    share: float
    sampled: bool
    pairs_sampled: bool

    @cached_property
    def effective_number(self) -> Estimated:
        """Effective number of models."""
        from polyculture.stats.similarity.collection import effective_number

        return effective_number(self.varied, self.pairs.cells, self.share)

    def statistic(self, found: Estimated, settings: Settings, *, sampled: bool) -> Statistic:
        """Return an estimate as it stands in records, with a note where it is one of a sample."""
        if settings.census and found.value is not None:
            return Statistic(value=float(found.value), reason=CENSUS)
        return from_estimated(found, note=SAMPLED if sampled and found.method else "")


def similarity(view: View) -> Similarity | None:
    """Measure every pair of models.

    Parameters
    ----------
    view : View
        All individuals. Where their patterns are a sample, pairs are exact if the Tally holds their table and
        individuals count alike; else they are those of the sample.

    Returns
    -------
    Similarity or None
        None above 1,000 models.
    """
    from polyculture.stats._rows import make_rows
    from polyculture.stats.similarity import cells_of, pair_similarity
    from polyculture.stats.similarity.cells import joint_sums

    if len(view.tally.models) > MOST_TOGETHER:
        return None
    tally, merged = view.tally, view.merged.rows
    rows = make_rows(
        merged.judged,
        merged.failed,
        merged.count,
        merged.weight if merged.weighted else None,
        merged.weight_squared if merged.weighted else None,
        merged.cluster,
    )
    alike = not merged.weighted and merged.cluster is None
    exact = _exact_cells(tally) if alike else None
    cells = cells_of(rows) if exact is None else exact
    varied = rows if tally.exact or exact is None else _selected(rows)
    everyone = view.individuals(range(len(tally.cells)))
    share = 1.0 if exact is not None else rows.n / max(everyone, 1)
    found = pair_similarity(
        cells,
        rows if exact is None else None,
        answers=_answers(tally, cells, share),
        two_options=tally.binary_labels if tally.answers is None else tally.answers.options == 2,
        probabilities=_probabilities(tally, share),
    )
    judged, failed = cells.n, cells.both
    if merged.weighted:
        judged, failed = (joint_sums(flags, flags, rows.count) for flags in (rows.judged, rows.failed))
    return Similarity(
        models=tally.models,
        pairs=found,
        rows=rows,
        varied=varied,
        numbers=_by_numbers(view) if alike and not tally.exact else rows,
        individuals=everyone,
        both_judged=np.rint(judged).astype(np.int64),
        both_failed=np.rint(failed).astype(np.int64),
        share=1.0 if exact is None else varied.n / max(everyone, 1),
        sampled=not tally.exact,
        pairs_sampled=not tally.exact and exact is None,
    )


def _selected(rows: Rows) -> Rows:
    """Return an even selection of sampled rows, enough to see how individuals vary."""
    from polyculture.stats._rows import take

    step = max(1, len(rows.count) // MOST_VARIED)
    return take(rows, np.arange(0, len(rows.count), step)) if step > 1 else rows


def _by_numbers(view: View) -> Rows:
    """Return everyone by number judged and number failed, as patterns: the first models judged, the first failed."""
    from polyculture.stats._rows import make_rows

    table, models = view.whole.histogram, np.arange(len(view.tally.models))
    return make_rows(table.judged[:, None] > models, table.failed[:, None] > models, table.count)


def _exact_cells(tally: Tally) -> Cells | None:
    """Return the cells of the pairs table, where patterns are a sample and there is one."""
    from polyculture.stats.similarity import cells_from_tables

    tables = tally.tables
    if tables is None or not len(tables.both_failed):
        return None
    return cells_from_tables(tables.both_judged, tables.both_failed, tables.first_failed)


def _answers(tally: Tally, cells: Cells, share: float) -> Answers | None:
    """Return the same wrong answers on the scale of the cells, which hold ``share`` of the individuals."""
    from polyculture.stats.similarity import Answers
    from polyculture.stats.similarity.cells import joint_sums

    ones = np.ones_like(cells.n)
    tables = tally.answers
    if tables is not None:
        return Answers(tables.same_wrong_weight * share, *tables.chance_of_pairs(), tables.words)
    if not (tally.binary_labels and tally.has_no_answer()):
        return None
    # Of two options a wrong answer is the other one, but a model without an answer gave none.
    patterns = tally.patterns
    wrong = patterns.failed & ~patterns.no_answer
    return Answers(joint_sums(wrong, wrong, patterns.weight), ones, ones, "two options")


def _probabilities(tally: Tally, share: float) -> ProbabilityMoments | None:
    """Return the moments of probabilities on the scale of the cells."""
    from polyculture.stats.similarity.capa import ProbabilityMoments

    tables = tally.probabilities
    return None if tables is None else ProbabilityMoments(tables.pairs, tables.together).scaled(share)


def pairs(similar: Similarity | None, settings: Settings) -> tuple[PairRecord, ...]:
    """Return the record of every pair, in the order of the models; none above 400 models."""
    from polyculture.stats.similarity.pairs import NOT_BOTH

    if similar is None or len(similar.models) > MOST_MODELS:
        return ()
    k = len(similar.models)
    one, other = (index.tolist() for index in np.triu_indices(k, 1))
    upper = np.triu_indices(k, 1)
    few = similar.both_failed[upper] < FEWEST_JOINT
    columns = [_statistics(getattr(similar.pairs, name), upper, few, name, similar, settings) for name in MEASURES]
    judged, failed = similar.both_judged[upper].tolist(), similar.both_failed[upper].tolist()
    baseline = [None if np.isnan(value) else value for value in similar.pairs.baseline[upper].tolist()]
    names, method = similar.models, similar.pairs.capa_method
    no_baseline = in_words_of(NOT_BOTH if method.startswith("answers") else NO_ANSWERS, settings.noun)
    return tuple(
        PairRecord(
            models=(names[one[i]], names[other[i]]),
            both_judged=judged[i],
            both_failed=failed[i],
            phi=columns[0][i],
            kappa=columns[1][i],
            capa=columns[2][i],
            jaccard=columns[3][i],
            agree_when_both_wrong=columns[4][i],
            agree_when_either_wrong=columns[5][i],
            baseline=baseline[i],
            capa_method=method,
            baseline_reason=why(baseline[i], no_baseline),
        )
        for i in range(len(one))
    )


def _statistics(  # noqa: PLR0917
    measure: Measure,
    upper: tuple[NDArray[np.int64], ...],
    few: NDArray[np.bool_],
    name: str,
    similar: Similarity,
    settings: Settings,
) -> list[Statistic]:
    """Return one measure of all pairs as Statistics; like undefined ones are one object."""
    reasons = [in_words_of(reason, settings.noun) for reason in measure.reasons]
    none = [undefined(reason) for reason in reasons]
    method = f"{measure.method}, {SAMPLED}" if similar.pairs_sampled else measure.method
    rests_on_failures = {"phi", "kappa"} if similar.pairs.of_all is not None else {"phi", "kappa", "capa"}
    found = []
    for value, low, high, reason, rough in zip(
        measure.value[upper].tolist(),
        measure.low[upper].tolist(),
        measure.high[upper].tolist(),
        measure.why[upper].tolist(),
        (few & (name in rests_on_failures)).tolist(),
        strict=True,
    ):
        if value != value:  # noqa: PLR0124 (NaN)
            found.append(none[reason])
        elif settings.census:
            found.append(Statistic(value=value, reason=CENSUS))
        elif low != low:  # noqa: PLR0124
            found.append(Statistic(value=value, reason=reasons[reason] or "no interval"))
        else:
            found.append(Statistic(value=value, low=low, high=high, method=method, reason=ROUGH if rough else UNSET))
    return found


def collection(view: View, similar: Similarity | None, settings: Settings) -> CollectionRecord | None:
    """Return how alike the models are, all together; None with fewer than two that judged anybody, or over 1,000."""
    from polyculture.stats.similarity import collection as together
    from polyculture.stats.similarity import multiplicity

    if similar is None:
        return None
    rows, cells = similar.rows, similar.pairs.cells
    if np.count_nonzero(np.diag(similar.both_judged)) < 2:
        return None
    wanted, words = _wanted(view, similar.numbers)
    baseline = multiplicity.baseline_model(cells)
    if baseline is None:
        return None

    def one(found: Estimated, *, sampled: bool = similar.pairs_sampled) -> Statistic:
        return similar.statistic(found, settings, sampled=sampled)

    differs, most = multiplicity.discrepancy(rows, cells, baseline)
    counted = together.co_failing(similar.varied, similar.share)
    n_eff = one(similar.effective_number)
    spread = multiplicity.recourse(similar.numbers, wanted)
    everyone = similar.individuals / max(similar.numbers.n, 1.0)
    numbers_sampled = similar.sampled and similar.numbers is rows
    order, merges = tree_of(similar.models, similar.pairs.kappa.value)
    failed, judged = np.diag(similar.both_failed), np.diag(similar.both_judged)
    constant = [
        name for name, f, n in zip(similar.models, failed.tolist(), judged.tolist(), strict=True) if n and f in {0, n}
    ]
    return CollectionRecord(
        models=len(similar.models),
        varying=counted.models,
        constant=tuple(constant),
        sentence=sentence(counted.models, n_eff, constant),
        n_eff=n_eff,
        mean_phi=one(together.mean_phi(similar.varied, cells, similar.share)),
        fleiss=one(together.fleiss(similar.numbers), sampled=numbers_sampled),
        capa=one(together.capa_of_all(similar.varied, similar.pairs, similar.share)),
        capa_method=similar.pairs.capa_method,
        ambiguity=one(multiplicity.ambiguity(rows, baseline), sampled=similar.sampled),
        discrepancy=one(differs),
        baseline_model=similar.models[baseline],
        discrepancy_model=None if most is None else similar.models[most],
        wanted=words,
        recourse=tuple(
            RecourseRow(
                low=float(low),
                high=float(high),
                count=round(float(count) * everyone),
                observed=one(observed, sampled=numbers_sampled),
            )
            for low, high, count, observed in zip(spread.low, spread.high, spread.count, spread.observed, strict=True)
        ),
        near_duplicates=near_duplicates(similar.models, similar.pairs.kappa.value, similar.both_failed),
        order=order,
        merges=merges,
    )


def sentence(models: int, n_eff: Statistic, constant: Sequence[str] = ()) -> str:
    """Say in one sentence how many independent models these count as.

    Examples
    --------
    >>> sentence(43, Statistic(value=3.171, low=2.81, high=3.57))
    '43 models count as about 3.2 independent ones (2.8 to 3.6).'
    """
    left_out = f" {len(constant)} that fail nobody or everybody are left out." if constant else ""
    if n_eff.value is None:
        why = "" if n_eff.reason is UNSET else f": {n_eff.reason}"
        return f"How many independent models these count as is undefined{why}.{left_out}"
    ends = "" if n_eff.low is None or n_eff.high is None else f" ({n_eff.low:.1f} to {n_eff.high:.1f})"
    return f"{models} models count as about {n_eff.value:.1f} independent ones{ends}.{left_out}"


def _wanted(view: View, rows: Rows) -> tuple[NDArray[np.bool_], str]:
    """Return which models give the wanted outcome, and that outcome in words."""
    if view.tally.selection.startswith("not decided"):
        return rows.judged & ~rows.failed, view.tally.selection
    return rows.judged & ~rows.failed, "no failure"
