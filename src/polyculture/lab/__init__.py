"""The lab: experiments that train ecosystems of decision-makers and emit outcomes, which the audit measures.

The public names and nothing else, looked up when they are first used: what users call stands above this layer, in
``labs``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyculture.lab.plan import Backbone, Data, Learner, Plan, Preprocessing, Pretrain, Share, Step, Task
    from polyculture.labs import Sharing, open, read_plan, sharing, starter  # noqa: A004 (pc.lab.open)
    from polyculture.loops import Loop, loop, loop_plan, open_loop

__all__ = [
    "Backbone",
    "Data",
    "Learner",
    "Loop",
    "Plan",
    "Preprocessing",
    "Pretrain",
    "Share",
    "Sharing",
    "Step",
    "Task",
    "loop",
    "loop_plan",
    "open",
    "open_loop",
    "read_plan",
    "sharing",
    "starter",
]

_CALLS = {
    **dict.fromkeys(("Sharing", "open", "read_plan", "sharing", "starter"), "polyculture.labs"),
    **dict.fromkeys(("Loop", "loop", "loop_plan", "open_loop"), "polyculture.loops"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'polyculture.lab' has no attribute {name!r}")
    return getattr(import_module(_CALLS.get(name, "polyculture.lab.plan")), name)


def __dir__() -> list[str]:
    return list(__all__)
