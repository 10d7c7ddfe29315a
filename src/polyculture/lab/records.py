"""What an experiment found, as frozen records whose fields are the fields of sharing.json."""

from __future__ import annotations

from polyculture.audit.statistic import Record, Statistic
from polyculture.lab.plan import Plan

__all__ = [
    "SCHEMA",
    "ArmRecord",
    "ComponentRecord",
    "EffectRecord",
    "FaultRecord",
    "GroupsRecord",
    "InteractionRecord",
    "LearnerRecord",
    "SharingRecord",
]

SCHEMA = "polyculture/lab-sharing/1"


class GroupsRecord(Record, frozen=True, kw_only=True):
    """Group homogenization over trials: sums of the group products over sums of what is expected.

    ``undefined`` counts trials in which a decision-maker failed nobody, or judged nobody of any group.
    """

    average: Statistic
    uniform: Statistic
    worst: Statistic
    undefined: int


class ArmRecord(Record, frozen=True, kw_only=True):
    """One arm with one learner and one number of blocks; None stands for all of them together.

    ``systemic_failure`` and ``expected`` are means over trials, ``homogenization`` is the sum of systemic failure over
    the sum expected. ``without_outcomes`` counts trials left out of every arm, since a decision-maker of one could not
    be trained; ``undefined`` counts trials in which nothing is expected, so that they have no H of their own: they are
    in the sums.
    """

    learner: str | None
    blocks: int | None
    training_rows: int | None
    arm: str
    trials: int
    without_outcomes: int
    undefined: int
    systemic_failure: Statistic
    expected: Statistic
    homogenization: Statistic
    accuracy: Statistic
    groups: GroupsRecord | None = None


class EffectRecord(Record, frozen=True, kw_only=True):
    """What sharing a component goes with: its level against the least shared, paired by trial.

    ``log_ratio`` is the primary effect, log(sum of systemic failure / sum expected) of ``level`` minus that of
    ``against``, averaged over the levels of other components; ``ratio`` is its exponential. ``excess`` is the
    difference in systemic failure minus expected. ``group_log_ratio`` is the same with uniform group homogenization,
    ``beyond_groups`` the effect on individuals minus that on groups.
    """

    component: str
    level: str
    against: str
    learner: str | None
    blocks: int | None
    training_rows: int | None
    trials: int
    log_ratio: Statistic
    ratio: Statistic
    excess: Statistic
    group_log_ratio: Statistic | None = None
    beyond_groups: Statistic | None = None


class LearnerRecord(Record, frozen=True, kw_only=True):
    """One way to adapt a pretrained model against another in one arm, paired by trial.

    ``log_ratio`` is log(sum of systemic failure / sum expected) of ``learner`` minus that of ``against``, ``ratio`` its
    exponential; ``group_ratio`` the same ratio of uniform group homogenization. ``accuracy`` is the difference of mean
    accuracies: where it is not small, the two H are not comparable by themselves.
    """

    learner: str
    against: str
    arm: str
    trials: int
    log_ratio: Statistic
    ratio: Statistic
    accuracy: Statistic
    group_ratio: Statistic | None = None


class ComponentRecord(Record, frozen=True, kw_only=True):
    """One component of a factorial experiment, the largest effect first; ``behind_first`` is how far it is from it."""

    component: str
    log_ratio: Statistic
    ratio: Statistic
    behind_first: Statistic


class InteractionRecord(Record, frozen=True, kw_only=True):
    """Whether sharing two components together goes with more than each by itself.

    ``log_ratio`` is the effect of ``first`` where ``second`` is shared minus its effect where that is not, averaged
    over the levels of other components; 0 where effects on log H add up. ``ratio`` is its exponential.
    """

    first: str
    second: str
    log_ratio: Statistic
    ratio: Statistic


class FaultRecord(Record, frozen=True, kw_only=True):
    """How often something went wrong with a decision-maker, and what the learner said the first time."""

    learner: str
    blocks: int
    arm: str
    decision_maker: str
    reason: str
    count: int
    said: str


class SharingRecord(Record, frozen=True, kw_only=True):
    """A component-sharing experiment, as written to sharing.json.

    ``data`` holds the SHA-256 of the data by name, ``versions`` the libraries. ``homogenization_and_accuracy`` is
    Spearman's correlation over trials of H with the mean accuracy of the decision-makers, by arm.
    """

    schema: str = SCHEMA
    plan: Plan
    headline: str
    individuals: int
    tested: int
    trials: int
    groups: tuple[str, ...]
    decision_makers: tuple[str, ...]
    arms: tuple[str, ...]
    data: dict[str, str]
    versions: dict[str, str]
    results: tuple[ArmRecord, ...]
    effects: tuple[EffectRecord, ...]
    learners: tuple[LearnerRecord, ...] = ()
    components: tuple[ComponentRecord, ...]
    components_sentence: str
    interactions: tuple[InteractionRecord, ...]
    homogenization_and_accuracy: dict[str, Statistic]
    faults: tuple[FaultRecord, ...]
    notes: tuple[str, ...]
