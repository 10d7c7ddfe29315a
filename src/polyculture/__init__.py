"""Audits of several models that judge the same individuals.

>>> import polyculture as pc
>>> audit = pc.audit("hapi:waimai")
>>> audit.systemic_failure.count
775

Everything heavy is imported when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from polyculture import errors
from polyculture._version import __version__

if TYPE_CHECKING:
    from polyculture import datasets, lab
    from polyculture.api import audit, read
    from polyculture.checks import Check, check
    from polyculture.comparison import Comparison, compare
    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.panels import panel
    from polyculture.portfolios import Portfolio, portfolio
    from polyculture.reproductions import Reproduction, reproduce
    from polyculture.results import Audit
    from polyculture.slicing import Slices, slices
    from polyculture.tally import SnapshotTally, Tally

__all__ = [
    "Audit",
    "Check",
    "Comparison",
    "Mapping",
    "Outcomes",
    "Portfolio",
    "Reproduction",
    "Slices",
    "SnapshotTally",
    "Tally",
    "__version__",
    "audit",
    "check",
    "compare",
    "datasets",
    "errors",
    "lab",
    "panel",
    "portfolio",
    "read",
    "reproduce",
    "slices",
]

_WHERE = {
    "Audit": "polyculture.results",
    "Check": "polyculture.checks",
    "Comparison": "polyculture.comparison",
    "Mapping": "polyculture.outcomes",
    "Outcomes": "polyculture.outcomes",
    "Portfolio": "polyculture.portfolios",
    "Slices": "polyculture.slicing",
    "Reproduction": "polyculture.reproductions",
    "SnapshotTally": "polyculture.tally",
    "Tally": "polyculture.tally",
    "audit": "polyculture.api",
    "check": "polyculture.checks",
    "compare": "polyculture.comparison",
    "panel": "polyculture.panels",
    "portfolio": "polyculture.portfolios",
    "read": "polyculture.api",
    "reproduce": "polyculture.reproductions",
    "slices": "polyculture.slicing",
}


class _Package(ModuleType):
    """Keeps the name `audit` for the function: importing the subpackage of that name would take it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name == "audit" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in {"datasets", "lab"}:
        return import_module(f"polyculture.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'polyculture' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
