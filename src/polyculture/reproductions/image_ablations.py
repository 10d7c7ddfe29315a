"""Ablations of ColoredMNIST: how much is synthetic, how groups and labels are balanced, the budget of reparation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.lab.loops.units import CHANGE
from polyculture.reproductions.colored_mnist import SMALL_IMAGES, colored
from polyculture.reproductions.image_loops import ImageLoop, run_images
from polyculture.reproductions.image_plans import DIGITS, NETWORKS, SMALLER, Extent, star
from polyculture.reproductions.loops import claim, endpoint

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.experiments import Scale

__all__ = ["BUDGETS", "IMAGE_ABLATIONS", "MAJORITIES", "reproduce"]

EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(6, 3, {"individuals": 6000, **SMALL_IMAGES}, SMALLER, {"test_share": 1 / 3}),
    "laptop": Extent(10, 3, {"individuals": 8000, **SMALL_IMAGES}, NETWORKS, {"test_share": 1 / 4}),
    "paper": Extent(40, 25, {"individuals": 36_000, "side": 28, "channels": 3}, DIGITS, {"test_share": 1 / 6}),
}
SYNTHETIC = (0.0, 0.25, 0.5, 0.75, 1.0)
MAJORITIES = (0.5, 0.65, 0.8, 0.95)
CLASSES = (0.3, 0.5, 0.7, 0.9)
BUDGETS = (0.1, 0.25, 0.5, 1.0)
SETTING = "SeqGenSeqClass"
_NOTES = (
    "Shares of green, the majority, and of class 1 are those of the original images; where colours are unbalanced, "
    "they go with the class as closely as before (the same odds ratio).",
    "The figures of the paper's ablations are not known to us: claims are ours, that accuracy falls in each of them, "
    "and less with less synthetic data.",
)


def _variants(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the plans: one of what arms can vary, and one for each balance of the original images."""

    def with_images(name: str, arms: list[dict[str, Any]], **images: float) -> dict[str, Any]:
        data = plan["data"]
        parameters = {**data["parameters"], **images}
        return {**plan, "name": name, "arm": arms, "data": {**data, "parameters": parameters}}

    plain = [{"name": SETTING, "setting": SETTING}]
    repaired = [
        {"name": f"{SETTING} + cla+gen-STAR", "setting": SETTING, "intervention": star("classifier", "generator")}
    ]
    found = {"synthetic share and budget": with_images("synthetic share and budget", [*_shares(), *_budgets()])}
    for share in MAJORITIES:
        name = f"majority {share:.0%}"
        found[name] = with_images(name, plain + repaired, minority=round(1.0 - share, 6))
    for share in CLASSES:
        name = f"class 1 {share:.0%}"
        # As many for every share, so that only the balance differs.
        found[name] = with_images(name, plain + repaired, class_share=share)
    return found


def _shares() -> list[dict[str, Any]]:
    arms = [
        {
            "name": f"{SETTING}, {share:.0%} synthetic",
            "setting": SETTING,
            "shift": [{"kind": "synthetic share", "share": share}],
        }
        for share in SYNTHETIC
    ]
    return [arms[-1], *({**arm, "against": arms[-1]["name"]} for arm in arms[:-1])]


def _budgets() -> list[dict[str, Any]]:
    against = f"{SETTING}, 100% synthetic"
    return [
        {
            "name": f"{SETTING} + cla+gen-STAR, budget {budget:.0%}",
            "setting": SETTING,
            "intervention": star("classifier", "generator", budget=budget),
            "against": against,
        }
        for budget in BUDGETS
    ]


def _claims(loop: Loop, about: str) -> list[ClaimRecord]:
    found = []
    for arm in loop.record.arms:
        fall = endpoint(loop.record, arm, "accuracy", CHANGE)
        found.append(claim(f"{about}, {arm}", paper.FALLS, None if fall is None else fall.value, above=False))
        one = endpoint(loop.record, arm, "accuracy")
        if one is not None and one.against != arm and "synthetic" in arm:
            words = f"{paper.LESS_SYNTHETIC} ({one.against})"
            found.append(claim(f"{about}, {arm}", words, one.difference, above=True))
        one = endpoint(loop.record, arm, "divergence")
        if one is not None and one.against != arm and "STAR" in arm:
            words = f"{paper.HOLDS_GENERATED} (difference of KL, nats)"
            found.append(claim(f"{about}, {arm}", words, one.difference, above=False, unit="number"))
    return found


IMAGE_ABLATIONS = ImageLoop(
    "image-ablations", partial(colored, "colored_mnist"), EXTENTS, _claims, _NOTES, variants=_variants
)
reproduce = partial(run_images, IMAGE_ABLATIONS)
