"""The books of selections: who was drawn, wanted, taken and added, in means over seeds and decision-makers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.lab.loops.records import AccountingRecord
from polyculture.lab.loops.world import strata_names

if TYPE_CHECKING:
    from polyculture.lab.loops.measured import LoopMeasured
    from polyculture.lab.loops.plan import Arm
    from polyculture.lab.loops.rows import Floats, Ints
    from polyculture.lab.loops.store import LoopStore

__all__ = ["accounting"]


def accounting(store: LoopStore, found: LoopMeasured) -> tuple[AccountingRecord, ...]:
    """Return the books of every arm, generation, purpose and stratum that people were selected by."""
    manifest = store.manifest
    names = manifest.plan.arm_names()
    result = []
    for (arm, generation, purpose), books in sorted(found.books.items()):
        pool, quota, taken, filled = (
            np.mean([getattr(one, part) for one in books], axis=0) for part in ("pool", "quota", "taken", "filled")
        )
        added = np.mean([_added(one.pool, one.taken + one.filled) for one in books], axis=0)
        shortfall = float(np.mean([one.shortfall for one in books]))
        levels = _levels(manifest.plan.arms[arm], purpose, manifest.classes, manifest.groups)
        result += [
            AccountingRecord(
                arm=names[arm],
                generation=generation,
                purpose=purpose,
                target=target,
                group=group,
                pool=float(pool[place]),
                quota=float(quota[place]),
                taken=float(taken[place]),
                filled=float(filled[place]),
                added=float(added[place]),
                shortfall=shortfall,
            )
            for place, (target, group) in enumerate(levels)
        ]
    return tuple(result)


def _added(pool: Ints, chosen: Ints) -> Floats:
    """Return how many more of each were chosen than as many unselected draws would have held."""
    return np.asarray(chosen - chosen.sum() * pool / max(int(pool.sum()), 1))


def _levels(
    arm: Arm, purpose: str, classes: tuple[str, ...], groups: tuple[str, ...]
) -> list[tuple[str | None, str | None]]:
    """Return class and group of what an arm selects by."""
    kinds = {one.__struct_config__.tag for one in arm.interventions if purpose in one.of}
    if "class balance" in kinds:
        return [(target, None) for target in classes]
    if "group balance" in kinds:
        return [(None, group) for group in groups]
    return list(strata_names(classes, groups))
