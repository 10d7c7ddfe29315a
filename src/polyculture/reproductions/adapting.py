"""What both experiments on shared pretrained models have in common: sizes, ways to adapt, claims with verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from polyculture.audit.statistic import Statistic, undefined
from polyculture.claims import shared_pretrained as paper
from polyculture.claims.records import ClaimRecord, Verdict
from polyculture.claims.verdict import direction
from polyculture.reproductions.experiments import AnyPath, experiment, near

if TYPE_CHECKING:
    from polyculture.lab.records import SharingRecord
    from polyculture.reproductions.result import Reproduction

__all__ = ["Experiment", "Extent", "reproduced"]


@dataclass(frozen=True)
class Extent:
    """How large an experiment is: seeds, individuals, those of them that are trained on, passes over them."""

    seeds: int
    individuals: int
    training: int
    epochs: int
    more: dict[str, int] = field(default_factory=dict)

    def shared(self, seed: int) -> dict[str, Any]:
        """Return the part of a plan that says how large it is."""
        return {
            "blocks": [1],
            "model_seeds": self.seeds,
            "partition_seeds": 1,
            "test_share": 1.0 - self.training / self.individuals,
            "split": "fixed",
            "seed": seed,
            "chunk": 1,
        }

    def learners(self, rates: dict[str, float]) -> list[dict[str, Any]]:
        """Return the ways to adapt, with their learning rates."""
        return [
            {"adapt": method, "parameters": {"epochs": self.epochs, "learning_rate": rate}}
            for method, rate in rates.items()
        ]


@dataclass(frozen=True)
class Experiment:
    """One of the two experiments.

    Attributes
    ----------
    name : str
        Its name, a key of `ORDER`.
    plan : dict
        As a TOML file has it.
    reading : str
        What was chosen, in words.
    notes : tuple of str
        What a reader should know.
    measure : {"individuals", "groups"}
        What the paper reports the order of.
    made : str
        Why its figures say nothing of the paper's claims; empty where they do.
    """

    name: str
    plan: dict[str, Any]
    reading: str
    notes: tuple[str, ...]
    measure: Literal["individuals", "groups"]
    made: str = ""


def reproduced(
    one: Experiment,
    *,
    settings: Iterable[str],
    out: AnyPath | None,
    jobs: int,
    backend: str,
    command: str,
    progress: Callable[[str], None] | None,
) -> Reproduction:
    """Run an experiment and hold what the paper reports against it.

    Parameters
    ----------
    one : Experiment
        Which.
    settings, out, jobs, backend, command, progress
        As in `polyculture.reproductions.experiments.experiment`.
    """
    found = experiment(
        one.name,
        one.plan,
        reading=one.reading,
        notes=(*one.notes, _ACCURACY),
        out=out,
        settings=settings,
        jobs=jobs,
        backend=backend,
        command=command,
        progress=progress,
        claims=lambda record: _claims(one, record),
    )
    if not one.made:
        return found
    sentence = f"{one.made} {found.record.sentence}"
    return replace(found, record=msgspec.structs.replace(found.record, sentence=sentence))


_ALL = "all ways to adapt"
_ACCURACY = (
    "H falls where models fail more often, whatever they share: beside each order stands the difference in accuracy, "
    "in the table of learners of the experiment."
)


def _claims(one: Experiment, record: SharingRecord) -> list[ClaimRecord]:
    arm = record.arms[0]
    found = [
        _held(one, record, arm, order, alike=alike, measure=measure)
        for orders, alike in ((paper.ORDER[one.name], False), (paper.ALIKE[one.name], True))
        for order in orders
        for measure in dict.fromkeys((one.measure, "individuals"))
    ]
    return [*found, *_sharing(one, record)]


def _held(
    one: Experiment, record: SharingRecord, arm: str, order: paper.Order, *, alike: bool, measure: str
) -> ClaimRecord:
    """Hold an order of two ways to adapt, or that they are alike, against the ratio of their H."""
    ratio = _ratio(record, arm, order, measure)
    verdict, reason = near(ratio, 1.0, paper.LARGEST_FACTOR) if alike else direction(ratio, none=1.0, above=True)
    of = "group H (uniform)" if measure == "groups" else "H"
    words = (
        f"{of} of {order.larger} is about that of {order.smaller}: their ratio"
        if alike
        else f"{of} of {order.larger} is larger than that of {order.smaller}: their ratio"
    )
    return _claim(one, arm, words, ratio, verdict, reason, alike=alike)


def _ratio(record: SharingRecord, arm: str, order: paper.Order, measure: str) -> Statistic:
    """Return H of one way to adapt over H of another, in either order."""
    for found in record.learners:
        if found.arm != arm or {found.learner, found.against} != set(order):
            continue
        ratio = found.group_ratio if measure == "groups" else found.ratio
        if ratio is None:
            return undefined("the plan names no groups")
        return ratio if found.learner == order.larger else _inverse(ratio)
    return undefined(f"the plan does not have both {order.larger} and {order.smaller}")


def _inverse(ratio: Statistic) -> Statistic:
    if not ratio.value:
        return ratio
    if ratio.low is None or ratio.high is None:
        return msgspec.structs.replace(ratio, value=1.0 / ratio.value)
    return msgspec.structs.replace(ratio, value=1.0 / ratio.value, low=1.0 / ratio.high, high=1.0 / ratio.low)


def _sharing(one: Experiment, record: SharingRecord) -> list[ClaimRecord]:
    """Hold the hypothesis against the effect of sharing the backbone: all ways to adapt together, and each."""
    found = []
    if "backbone" not in record.plan.varied():
        only = undefined("one backbone only: all share it")
        verdict, reason = direction(only, none=1.0, above=True)
        words = f"{paper.SHARING}: H shared / H own"
        found.append(_claim(one, _ALL, words, only, verdict, reason, source=paper.SHARING_SOURCE))
    for effect in record.effects:
        if effect.component != "backbone" or effect.blocks is not None or effect.learner == "scratch":
            continue
        verdict, reason = direction(effect.ratio, none=1.0, above=True)
        words = f"{paper.SHARING}: H shared / H own"
        about = effect.learner or _ALL
        found.append(_claim(one, about, words, effect.ratio, verdict, reason, source=paper.SHARING_SOURCE))
    return found


def _claim(  # noqa: PLR0917 (the columns of one table)
    one: Experiment,
    about: str,
    words: str,
    ratio: Statistic,
    verdict: Verdict,
    reason: str,
    *,
    alike: bool = False,
    source: str = "",
) -> ClaimRecord:
    return ClaimRecord(
        about=about,
        statement=words,
        unit="ratio",
        published=None,
        decimals=1,
        found=ratio,
        judged_by="absence" if alike else "direction",
        margin=paper.LARGEST_FACTOR if alike else None,
        verdict="not tested" if one.made else verdict,
        reason=one.made.rstrip(".") or reason,
        source=source or paper.SOURCES[one.name],
    )
