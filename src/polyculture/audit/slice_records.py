"""What a search for slices says, as frozen records; how slices are found stands in ``slices``."""

from __future__ import annotations

import msgspec

from polyculture.audit.statistic import Record, Statistic


class SliceParent(Record, frozen=True, kw_only=True):
    """A slice against the rest of a parent: the slice that one condition less describes.

    ``difference`` is the slice's measure minus that of the parent's other individuals.
    """

    conditions: tuple[str, ...]
    difference: Statistic
    p_value: float | None
    p_value_reason: str = ""


class SliceRecord(Record, frozen=True, kw_only=True):
    """One slice, on the half of the individuals on which it was not searched.

    ``difference`` is its excess (or systemic failure) minus that of everyone else, ``difference_beyond`` the same
    without the individuals of the slices found before it. ``p_value`` is the larger of the two tests, two-sided,
    ``p_adjusted`` corrected (Holm) for the slices tested. ``confirmed`` marks those above the others at 5 %, both ways.
    ``difference_in_search`` is the difference on the half where the slice was found: too large.
    ``beyond_parents`` says whether the slice differs from the rest of every parent (null with one condition).
    """

    conditions: tuple[str, ...]
    individuals: int
    share: float
    count: int
    systemic_failure: Statistic
    expected: float | None
    excess: Statistic
    difference: Statistic
    difference_beyond: Statistic
    p_value: float | None
    p_adjusted: float | None
    expected_reason: str = ""
    p_value_reason: str = ""
    p_adjusted_reason: str = ""
    confirmed: bool
    difference_in_search: float
    parents: tuple[SliceParent, ...] = ()
    beyond_parents: bool | None = None


class SlicesRecord(Record, frozen=True, kw_only=True):
    """A search for describable slices in which models fail together more than in others.

    ``measure`` is "excess" (over the product of the slice's own failure rates) or "systemic-failure". Slices are
    found on ``search_individuals`` and measured on ``report_individuals``, others; confirmed ones come first.
    """

    measure: str
    columns: tuple[str, ...]
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    sentence: str
    conditions: int
    looked_at: int
    exhaustive: bool
    search_individuals: int
    report_individuals: int
    tested: int
    confirmed: int
    method: str
    slices: tuple[SliceRecord, ...] = ()
