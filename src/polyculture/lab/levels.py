"""What decision-makers can share, and the levels of sharing training rows; a plan is made of them."""

from __future__ import annotations

from typing import Literal

__all__ = ["COMPONENTS", "DISJOINT", "FIXED", "Method", "arm_rows", "rows_in_words"]

COMPONENTS = ("rows", "features", "preprocessing", "learner", "seed", "backbone")
"""What decision-makers can share, in the order in which an arm names them."""

Method = Literal["scratch", "probe", "finetune", "bitfit", "lora"]
"""How a pretrained model is adapted."""

FIXED, DISJOINT = "fixed", "disjoint"


def arm_rows(level: str | float) -> float:
    """Return the share of training rows that decision-makers have in common: 1 fixed, 0 disjoint."""
    return {FIXED: 1.0, DISJOINT: 0.0}[level] if isinstance(level, str) else float(level)


def rows_in_words(overlap: float) -> str:
    """Return the name of an arm by its shared rows.

    >>> rows_in_words(1.0), rows_in_words(0.25), rows_in_words(0.0)
    ('fixed', 'overlap 0.25', 'disjoint')
    """
    return {1.0: FIXED, 0.0: DISJOINT}.get(overlap, f"overlap {overlap:g}")
