"""From measured trials to the record of an experiment: results by arm, effects of sharing, components, faults."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from polyculture.audit.statistic import Statistic, undefined
from polyculture.lab.measure import GROUP_MEASURES, Measured, measure
from polyculture.lab.records import (
    ArmRecord,
    ComponentRecord,
    EffectRecord,
    FaultRecord,
    GroupsRecord,
    InteractionRecord,
    LearnerRecord,
    SharingRecord,
)
from polyculture.lab.sentences import components_sentence, headline, notes
from polyculture.lab.trial import tested
from polyculture.stats._rounding import differences
from polyculture.stats.two_way import log_ratio_contrast, mean_over_trials, rank_correlation

if TYPE_CHECKING:
    from polyculture.lab.measure import Floats
    from polyculture.lab.plan import Arm, Plan
    from polyculture.lab.store import Store
    from polyculture.stats._interval import Estimated

__all__ = ["analyse", "statistic"]

ABOUT_DATA = "; conditional on the data"


@dataclass(frozen=True)
class _Where:
    """A learner and a number of blocks, by index; None for all."""

    learner: int | None
    blocks: int | None


def analyse(store: Store) -> SharingRecord:
    """Return what an experiment found.

    Parameters
    ----------
    store : Store
        All its trials.

    Raises
    ------
    FileError
        If the store is incomplete or damaged.
    """
    # One thread, as in an audit: several cost more than they give here, and change last digits.
    with threadpool_limits(limits=1, user_api="blas"):
        return _analysed(store)


def _analysed(store: Store) -> SharingRecord:
    plan, found = store.manifest.plan, measure(store)
    train = store.manifest.individuals - tested(plan, store.manifest.individuals)
    results = tuple(
        _arm(plan, found, where, arm, train) for where in _places(plan) for arm in range(len(store.manifest.arms))
    )
    effects = tuple(effect for where in _places(plan) for effect in _effects(plan, found, where, train))
    components = _components(plan, found)
    between = tuple(_between_learners(plan, found))
    faults = _faults(store, found)
    return SharingRecord(
        plan=plan,
        headline=headline(plan, effects, results, faults),
        individuals=store.manifest.individuals,
        tested=tested(plan, store.manifest.individuals),
        trials=store.manifest.trials,
        groups=plan.data.groups,
        decision_makers=store.manifest.decision_makers,
        arms=store.manifest.arms,
        data=store.manifest.data,
        versions=store.manifest.versions,
        results=results,
        effects=effects,
        learners=between,
        components=components,
        components_sentence=components_sentence(components),
        interactions=_interactions(plan, found),
        homogenization_and_accuracy=_correlations(store, found),
        faults=faults,
        notes=notes(plan, results, faults),
    )


def statistic(estimated: Estimated, *, exponential: bool = False) -> Statistic:
    """Return an estimate as a Statistic, which speaks of these data only; or its exponential."""
    if estimated.value is None:
        return undefined(estimated.reason)
    change = math.exp if exponential else float
    if estimated.low is None or estimated.high is None:
        return Statistic(value=change(estimated.value), reason=estimated.reason)
    return Statistic(
        value=change(estimated.value),
        low=change(estimated.low),
        high=change(estimated.high),
        method=estimated.method + ABOUT_DATA,
    )


def _places(plan: Plan) -> Iterator[_Where]:
    """Return all together first, then each learner, each size, and each learner and size."""
    yield _Where(None, None)
    learners = range(len(plan.learners))
    if len(plan.learners) > 1:
        yield from (_Where(learner, None) for learner in learners)
        if len(plan.blocks) > 1:
            yield from (_Where(None, blocks) for blocks in range(len(plan.blocks)))
    if len(plan.learners) * len(plan.blocks) > 1:
        for learner in learners:
            yield from (_Where(learner, blocks) for blocks in range(len(plan.blocks)))


def _named(plan: Plan, where: _Where, train: int) -> dict[str, str | int | None]:
    blocks = None if where.blocks is None else plan.blocks[where.blocks]
    return {
        "learner": None if where.learner is None else plan.learners[where.learner].shown(),
        "blocks": blocks,
        "training_rows": None if blocks is None else train // blocks,
    }


def _arm(plan: Plan, found: Measured, where: _Where, arm: int, train: int) -> ArmRecord:
    def take(values: Floats) -> Floats:
        return found.at(values, where.learner, where.blocks)[[arm]]

    own = _slice(found.systemic_failure, where)[:, :, arm]
    nothing = _slice(found.expected, where)[:, :, arm] == 0.0
    failures, expected = take(found.systemic_failure), take(found.expected)
    ratio = log_ratio_contrast(failures, expected, (1.0,))
    homogenization = statistic(ratio, exponential=True)
    if ratio.value is None and (failures[np.isfinite(failures)] == 0.0).any() and np.nansum(expected) > 0.0:
        homogenization = Statistic(value=0.0, reason=ratio.reason)
    groups = None
    if plan.data.groups:
        products = [
            statistic(log_ratio_contrast(take(values), take(found.group_expected), (1.0,)), exponential=True)
            for values in found.group_products
        ]
        undefined_groups = int((~(_slice(found.group_expected, where)[:, :, arm] > 0.0)).sum())
        groups = GroupsRecord(**dict(zip(GROUP_MEASURES, products, strict=True)), undefined=undefined_groups)
    return ArmRecord(
        **_named(plan, where, train),  # type: ignore[arg-type]
        arm=plan.arms()[arm].name,
        trials=own.size,
        without_outcomes=int(np.isnan(own).sum()),
        undefined=int(nothing.sum()),
        systemic_failure=_share(failures[0]),
        expected=_share(expected[0]),
        homogenization=homogenization,
        accuracy=_share(take(found.accuracy)[0]),
        groups=groups,
    )


def _share(values: Floats) -> Statistic:
    """Return the mean of shares over trials; a t interval that reaches beyond 0 or 1 ends there."""
    return _ending(mean_over_trials(values), 0.0)


def _ending(found: Estimated, lowest: float) -> Statistic:
    """Return a mean whose t interval ends where its values do: at the lowest there can be, and at 1."""
    if found.low is None or found.high is None:
        return statistic(found)
    return msgspec.structs.replace(statistic(found), low=max(found.low, lowest), high=min(found.high, 1.0))


def _slice(values: Floats, where: _Where) -> Floats:
    chosen = values if where.learner is None else values[[where.learner]]
    return chosen if where.blocks is None else chosen[:, [where.blocks]]


def _contrast(arms: Sequence[Arm], component: str, level: float, against: float) -> Floats:
    """Return weights of the arms: mean of those with a level minus mean of those with another, (A,)."""
    shares = np.array([arm.shares(component) for arm in arms])
    above, below = shares == level, shares == against
    return np.asarray(above / above.sum() - below / below.sum(), dtype=np.float64)


def _effects(plan: Plan, found: Measured, where: _Where, train: int) -> Iterator[EffectRecord]:
    arms = plan.arms()
    for component in plan.varied():
        learners = _sharers(plan, component) if where.learner is None else (where.learner,)
        failures, expected, uniform, group_expected = (
            found.at(values, learners, where.blocks)
            for values in (
                found.systemic_failure,
                found.expected,
                found.group_products[GROUP_MEASURES.index("uniform")],
                found.group_expected,
            )
        )
        known = _slice(found.systemic_failure[list(learners)], _Where(None, where.blocks))[:, :, 0]
        levels = sorted({arm.shares(component) for arm in arms}, reverse=True)
        words = {arm.shares(component): arm.level(component) for arm in arms}
        for level in levels[:-1]:
            weights = _contrast(arms, component, level, levels[-1])
            log_ratio = log_ratio_contrast(failures, expected, weights)
            excess = _excess(weights, failures - expected)
            yield EffectRecord(
                component=component,
                level=words[level],
                against=words[levels[-1]],
                **_named(plan, where, train),  # type: ignore[arg-type]
                trials=int(np.isfinite(known).sum()),
                log_ratio=statistic(log_ratio),
                ratio=statistic(log_ratio, exponential=True),
                excess=statistic(mean_over_trials(excess)),
                **_on_groups(plan, (failures, expected), (uniform, group_expected), weights),  # type: ignore[arg-type]
            )


def _excess(weights: Floats, excess: Floats) -> Floats:
    """Return the contrast of the arms' excess, by seeds, exactly 0 where the arms are the same."""
    above, below = (np.tensordot(np.maximum(sign * weights, 0.0), excess, axes=1) for sign in (1.0, -1.0))
    return differences(above, below)


def _sharers(plan: Plan, component: str) -> tuple[int, ...]:
    """Return the learners that the effect of a component is taken over: of a pretrained model those that have one."""
    everyone = range(len(plan.learners))
    if component != "backbone":
        return tuple(everyone)
    return tuple(one for one in everyone if plan.learners[one].adapt not in {None, "scratch"}) or tuple(everyone)


def _on_groups(
    plan: Plan, individuals: tuple[Floats, Floats], groups: tuple[Floats, Floats], weights: Floats
) -> dict[str, Statistic]:
    """Return the effect on uniform group homogenization, and how far that on individuals is beyond it."""
    if not plan.data.groups:
        return {}
    above, below = (np.concatenate([own, of_groups]) for own, of_groups in zip(individuals, groups, strict=True))
    return {
        "group_log_ratio": statistic(log_ratio_contrast(*groups, weights)),
        "beyond_groups": statistic(log_ratio_contrast(above, below, np.concatenate([weights, -weights]))),
    }


def _between_learners(plan: Plan, found: Measured) -> Iterator[LearnerRecord]:
    """Return each way to adapt a pretrained model against each after it in the plan, by arm, all sizes together."""
    adapting = [number for number, learner in enumerate(plan.learners) if learner.adapt is not None]
    uniform = found.group_products[GROUP_MEASURES.index("uniform")]
    for (first, second), (arm, name) in product(combinations(adapting, 2), enumerate(one.name for one in plan.arms())):

        def take(values: Floats, pair: tuple[int, int] = (first, second), arm: int = arm) -> Floats:
            return np.stack([found.at(values, learner, None)[arm] for learner in pair])

        log_ratio = log_ratio_contrast(take(found.systemic_failure), take(found.expected), (1.0, -1.0))
        accuracy = take(found.accuracy)
        groups = None
        if plan.data.groups:
            products = log_ratio_contrast(take(uniform), take(found.group_expected), (1.0, -1.0))
            groups = statistic(products, exponential=True)
        yield LearnerRecord(
            learner=plan.learners[first].shown(),
            against=plan.learners[second].shown(),
            arm=name,
            trials=int(np.isfinite(accuracy).all(axis=0).sum()),
            log_ratio=statistic(log_ratio),
            ratio=statistic(log_ratio, exponential=True),
            group_ratio=groups,
            accuracy=_ending(mean_over_trials(accuracy[0] - accuracy[1]), -1.0),
        )


def _components(plan: Plan, found: Measured) -> tuple[ComponentRecord, ...]:
    """Return the components of a factorial experiment by the size of their effect: most shared against least."""
    varied, arms = plan.varied(), plan.arms()
    if len(varied) < 2:
        return ()
    # All components over the same learners, so that they can be compared.
    learners = _sharers(plan, "backbone" if "backbone" in varied else varied[0])
    failures, expected = (found.at(values, learners, None) for values in (found.systemic_failure, found.expected))
    weights = {component: _contrast(arms, component, *_ends(arms, component)) for component in varied}
    effects = {name: log_ratio_contrast(failures, expected, weight) for name, weight in weights.items()}
    order = sorted(varied, key=lambda name: -math.inf if effects[name].value is None else -effects[name].value)  # type: ignore[operator]
    first = weights[order[0]]
    return tuple(
        ComponentRecord(
            component=name,
            log_ratio=statistic(effects[name]),
            ratio=statistic(effects[name], exponential=True),
            behind_first=undefined("the largest itself")
            if name == order[0]
            else statistic(log_ratio_contrast(failures, expected, first - weights[name])),
        )
        for name in order
    )


def _ends(arms: Sequence[Arm], component: str) -> tuple[float, float]:
    """Return the most and the least that arms share of a component."""
    levels = [arm.shares(component) for arm in arms]
    return max(levels), min(levels)


def _interactions(plan: Plan, found: Measured) -> tuple[InteractionRecord, ...]:
    """Return for each pair of components that vary how their effects on log H depart from adding up."""
    arms = plan.arms()
    failures, expected = found.at(found.systemic_failure, None, None), found.at(found.expected, None, None)
    result = []
    for first, second in combinations(plan.varied(), 2):
        weights = np.zeros(len(arms))
        for sign, level in zip((1.0, -1.0), _ends(arms, second), strict=True):
            there = np.array([arm.shares(second) == level for arm in arms])
            chosen = [arm for arm, is_there in zip(arms, there, strict=True) if is_there]
            weights[there] += sign * _contrast(chosen, first, *_ends(chosen, first))
        log_ratio = log_ratio_contrast(failures, expected, weights)
        ratio = statistic(log_ratio, exponential=True)
        result.append(InteractionRecord(first=first, second=second, log_ratio=statistic(log_ratio), ratio=ratio))
    return tuple(result)


def _correlations(store: Store, found: Measured) -> dict[str, Statistic]:
    """Return the rank correlation over trials of H with accuracy, by arm and over all arms."""
    plan, ratio = store.manifest.plan, found.homogenization

    def flat(values: Floats) -> Floats:
        return values.reshape(-1, plan.model_seeds, plan.partition_seeds)

    result = {"all arms": statistic(rank_correlation(flat(ratio), flat(found.accuracy)))}
    for arm, name in enumerate(store.manifest.arms):
        result[name] = statistic(rank_correlation(flat(ratio[:, :, arm]), flat(found.accuracy[:, :, arm])))
    return result


def _faults(store: Store, found: Measured) -> tuple[FaultRecord, ...]:
    plan = store.manifest.plan
    return tuple(
        FaultRecord(
            learner=plan.learners[learner].shown(),
            blocks=plan.blocks[blocks],
            arm=store.manifest.arms[arm],
            decision_maker=store.manifest.decision_makers[maker],
            reason=reason,
            count=count,
            said=found.said[learner, blocks, arm, maker, reason],
        )
        for (learner, blocks, arm, maker, reason), count in sorted(found.faults.items())
    )
