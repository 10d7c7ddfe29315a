"""What the columns of the tables of slices mean, and their units."""

from __future__ import annotations

__all__ = ["SLICE_COLUMNS"]

_SHARE, _POINTS, _TEXT, _FLAG = "share (0 to 1)", "difference of shares", "text", "true or false"

_SLICES = {
    "slice": ("number of the slice", "number"),
    "measure": ("what slices were found and tested for", _TEXT),
    "conditions": ("the conditions, all of which hold, separated by |", _TEXT),
    "individuals": ("individuals of the slice on the half on which it was not searched", "individuals"),
    "share": ("their share of that half", _SHARE),
    "count": ("those of them whom all models failed", "individuals"),
    "systemic_failure": ("their share failed by all models", _SHARE),
    "expected": ("share expected if models failed independently at the slice's own rates", _SHARE),
    "excess": ("systemic failure minus expected", _POINTS),
    "difference": ("the measure minus that of everyone else", _POINTS),
    "difference_beyond": ("the same without the individuals of the slices found before", _POINTS),
    "p_value": ("the larger of the two-sided p-values of both differences", "probability"),
    "expected_reason": ("why there is no expected share", _TEXT),
    "p_value_reason": ("why there is no p-value", _TEXT),
    "p_adjusted_reason": ("why there is no corrected p-value", _TEXT),
    "p_adjusted": ("the same corrected for the slices tested (Holm)", "probability"),
    "confirmed": ("whether the slice is above everyone else, at 5 %", _FLAG),
    "difference_in_search": ("the difference on the half on which the slice was found: too large", _POINTS),
    "beyond_parents": ("whether it differs from the rest of every slice that one condition less describes", _FLAG),
}

_PARENTS = {
    "slice": ("number of the slice", "number"),
    "conditions": ("conditions of the parent, separated by |", _TEXT),
    "difference": ("the slice's measure minus that of the rest of the parent", _POINTS),
    "p_value": ("two-sided p-value", "probability"),
    "p_value_reason": ("why there is no p-value", _TEXT),
}

SLICE_COLUMNS: dict[tuple[str, str], tuple[str, str]] = {
    **{("slices", column): entry for column, entry in _SLICES.items()},
    **{("slice_parents", column): entry for column, entry in _PARENTS.items()},
}
