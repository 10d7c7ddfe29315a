"""Ecosystems of loops on ColoredMNIST: three decision-makers with generators of their own, in one pool or in three.

Once all learn from synthetic people only, as published; once generators also see original ones, so that they last.
"""

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

__all__ = ["IMAGE_POOLS", "reproduce"]

SETTING = "SeqGenSeqClass"
SEPARATE, SHARED = f"{SETTING}, separate pools", f"{SETTING}, shared pool"
_NOTES = (
    "No paper reports this: the claims are those of sharing components, for data that the models made themselves.",
    "Half original: each generator learns from as many original people as synthetic ones; classifiers see synthetic "
    "people only.",
)


HALF = ({"kind": "synthetic share", "share": 0.5},)


def _arms() -> list[dict[str, Any]]:
    repaired = star("classifier", "generator")
    return [
        {"name": SEPARATE, "setting": SETTING},
        {"name": SHARED, "setting": SETTING, "pool": "shared", "against": SEPARATE},
        {"name": f"{SEPARATE}, STAR", "setting": SETTING, "intervention": repaired, "against": SEPARATE},
        {
            "name": f"{SHARED}, STAR",
            "setting": SETTING,
            "pool": "shared",
            "intervention": repaired,
            "against": SHARED,
        },
    ]


TOGETHER: dict[str, Any] = {
    "decision_makers": 3,
    "start": "own",
    "arm": _arms(),
    "endpoints": ["systemic_failure", "homogenization", "worst_group_accuracy"],
    "test_share": 2 / 9,
}
EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(10, 5, {"individuals": 6000, **SMALL_IMAGES}, SMALLER, {**TOGETHER, "samples": 3000, "rows": 2000}),
    # A third of the images each are few: small batches, so that autoencoders still take 1,700 steps.
    "laptop": Extent(
        10,
        5,
        {"individuals": 9000, **SMALL_IMAGES},
        {**NETWORKS, "batch": 32},
        {**TOGETHER, "samples": 3000, "rows": 2300},
    ),
    "paper": Extent(40, 25, {"side": 28, "channels": 3}, DIGITS, TOGETHER),
}


def _variants(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the plans: generators learn from synthetic people only, and from as many original ones."""
    arms = [{**arm, "shift": list(HALF)} for arm in plan["arm"]]
    return {"all synthetic": plan, "half original": {**plan, "name": f"{plan['name']}, half original", "arm": arms}}


def _claims(loop: Loop, about: str) -> list[ClaimRecord]:
    record, found = loop.record, []
    for arm in record.arms:
        for statement, measure, name, unit, above in (
            (paper.FAILED_BY_ALL, "systemic_failure", None, "points", True),
            (f"{paper.POOL}: H / H with separate pools", "homogenization", None, "ratio", True),
            (paper.GROWS_BY_ALL, "systemic_failure", CHANGE, "points", True),
            (paper.STAR_BY_ALL, "systemic_failure", None, "points", False),
        ):
            one = endpoint(record, arm, measure) if name is None else endpoint(record, arm, measure, name)
            if one is None or one.against == arm or (statement == paper.STAR_BY_ALL) is not arm.endswith("STAR"):
                continue
            source = paper.SOURCE_POOL
            about_arm = f"{about}, {arm}"
            found.append(claim(about_arm, statement, one.difference, above=above, unit=unit, source=source))
    return found


IMAGE_POOLS = ImageLoop("image-pools", partial(colored, "colored_mnist"), EXTENTS, _claims, _NOTES, variants=_variants)
reproduce = partial(run_images, IMAGE_POOLS)
