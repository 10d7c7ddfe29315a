"""Pictures of the images that generators gave, by arm and generation: what has become of them over the generations."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import numpy as np

from polyculture.lab.images import strip_png
from polyculture.lab.loops.records import SampledRecord

if TYPE_CHECKING:
    from polyculture.lab.loops.generation import Generation
    from polyculture.lab.loops.store import LoopStore

__all__ = ["MOST_STRIPS", "sampled", "spread"]

MOST_STRIPS = 11
"""Generations of an arm that are pictured, at most: the first, the last, and others evenly between them."""
MOST_IMAGES = 16


def spread(generations: int, most: int = MOST_STRIPS) -> tuple[int, ...]:
    """Return which generations are shown where not all can be.

    >>> spread(4), spread(40, 6)
    ((0, 1, 2, 3), (0, 8, 16, 23, 31, 39))
    """
    return tuple(dict.fromkeys(np.linspace(0, generations - 1, min(most, generations)).round().astype(int).tolist()))


def sampled(store: LoopStore) -> tuple[SampledRecord, ...]:
    """Return pictures of the images that were kept, of seed 0 and the first decision-maker.

    Raises
    ------
    FileError
        If a generation is missing or damaged.
    """
    plan, shape = store.manifest.plan, store.manifest.image
    if shape is None or not plan.keep:
        return ()
    shown = spread(plan.generations)
    return tuple(
        _pictured(name, one, shape)
        for arm, name in enumerate(plan.arm_names())
        for one in store.generations(arm * plan.seeds)
        if not one.stopped and one.number in shown and len(one.made[0].kept)
    )


def _pictured(arm: str, generation: Generation, shape: tuple[int, int, int]) -> SampledRecord:
    kept = generation.made[0].kept[:MOST_IMAGES]
    pixels = kept.astype(np.uint8).reshape(len(kept), *shape)
    return SampledRecord(
        arm=arm,
        generation=generation.number,
        images=len(kept),
        png=b64encode(strip_png(pixels)).decode(),
    )
