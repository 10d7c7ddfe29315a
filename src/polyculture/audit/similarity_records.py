"""Records about how alike models are: pairs, the collection, the panel, suspect keys."""

from __future__ import annotations

from polyculture.audit.statistic import Record, Statistic, undefined


class PairRecord(Record, frozen=True, kw_only=True):
    """Two models on the individuals whom both judged.

    ``phi`` is the correlation of failures, ``kappa`` error consistency, ``capa`` chance-adjusted agreement
    of answers or probabilities (``capa_method`` says of what). ``baseline`` is the chance that two wrong answers
    are the same, 1 / (options - 1); None where the answers are not known, and then ``baseline_reason`` says so.
    """

    models: tuple[str, str]
    both_judged: int
    both_failed: int
    phi: Statistic = undefined("not computed")
    kappa: Statistic = undefined("not computed")
    capa: Statistic = undefined("not computed")
    jaccard: Statistic = undefined("not computed")
    agree_when_both_wrong: Statistic = undefined("not computed")
    agree_when_either_wrong: Statistic = undefined("not computed")
    baseline: float | None = None
    capa_method: str = ""
    baseline_reason: str | None = None


class NearDuplicate(Record, frozen=True, kw_only=True):
    """Two models that fail so much alike that they may be one; a flag to look at, no verdict."""

    models: tuple[str, str]
    kappa: float
    why: str


class Merge(Record, frozen=True, kw_only=True):
    """One step of the tree of models: two branches join at a height, the mean of 1 - kappa between them.

    Branches 0 ... k - 1 are the models in the order of ``CollectionRecord.order``; step m makes branch k + m.
    """

    left: int
    right: int
    height: float


class RecourseRow(Record, frozen=True, kw_only=True):
    """Individuals to whom a share of their models between ``low`` and ``high`` gives the wanted outcome."""

    low: float
    high: float
    count: int
    observed: Statistic


class CollectionRecord(Record, frozen=True, kw_only=True):
    """How alike the models are, all together.

    ``n_eff`` is k * sum f (1 - f) / Var(t) over the ``varying`` models that fail some individuals but not
    all; those in ``constant`` are left out of it. ``ambiguity`` and ``discrepancy`` are against the model
    ``baseline_model`` (h0, the one of the lowest failure rate); ``discrepancy_model`` differs from it most.
    ``order`` are the models as they lie in the tree of ``merges``.
    """

    models: int
    varying: int
    constant: tuple[str, ...]
    sentence: str
    n_eff: Statistic
    mean_phi: Statistic
    fleiss: Statistic
    capa: Statistic
    capa_method: str
    ambiguity: Statistic
    discrepancy: Statistic
    baseline_model: str | None
    discrepancy_model: str | None
    wanted: str
    recourse: tuple[RecourseRow, ...] = ()
    near_duplicates: tuple[NearDuplicate, ...] = ()
    order: tuple[str, ...] = ()
    merges: tuple[Merge, ...] = ()


class PanelMember(Record, frozen=True, kw_only=True):
    """One member of a panel: its accuracy, and the panel without it."""

    name: str
    accuracy: Statistic
    n_eff_without: float | None
    majority_without: float | None
    n_eff_without_reason: str | None = None
    majority_without_reason: str | None = None


class PanelRecord(Record, frozen=True, kw_only=True):
    """The models as a panel that decides by majority.

    ``majority`` is the share of individuals on whom more than half of the members that judged them are
    right; a tie counts as half. ``independent`` is what members of the same failure rates would reach if
    they failed independently, ``difference`` the first less the second. ``best`` is the most accurate member.
    ``independent_reason`` says why ``independent`` and ``ties_independent`` are None.
    """

    members: tuple[PanelMember, ...]
    sentence: str
    individuals: int
    n_eff: Statistic
    majority: Statistic
    independent: float | None
    difference: Statistic
    ties: float | None
    ties_independent: float | None
    best: str | None
    independent_reason: str | None = None
    ties_reason: str | None = None


class AgreementRecord(Record, frozen=True, kw_only=True):
    """Judges without gold labels: Krippendorff's alpha over the items that two or more of them rated."""

    schema: str = "polyculture/agreement/1"
    judges: tuple[str, ...]
    items: int
    rated_twice: int
    values: tuple[str, ...]
    level: str
    alpha: Statistic
    sentence: str


class SuspectKey(Record, frozen=True, kw_only=True):
    """One item on which models share one answer that is not its label, beyond expectation."""

    id: str
    label: str
    answer: str
    judged: int
    same: int
    expected: float
    p_value: float
    p_adjusted: float


class SuspectKeysRecord(Record, frozen=True, kw_only=True):
    """Items whose label may be wrong, and systemic failure with and without them.

    ``tested`` are all items, over which p-values are corrected, ``count`` those of them that are flagged, ``items``
    the first of these. Systemic failure is of the headline's individuals. A shared wrong answer can be a shared
    mistake of the models as well.
    """

    count: int
    tested: int
    level: float
    systemic_failure: Statistic
    systemic_failure_without: Statistic
    failed_by_all: int
    failed_by_all_without: int
    items: tuple[SuspectKey, ...] = ()
