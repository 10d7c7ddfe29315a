"""DuckDB: its own hash, and pairs as sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.tally.engines import PRIORITY, PRIORITY_RANGE, pairs_by_aggregates

__all__ = ["pairs", "with_priority"]


def with_priority(frame: nw.LazyFrame[Any], ident: str | None) -> nw.LazyFrame[Any]:
    """Return the relation with a hash of the id, or of the row number where there is no id."""
    relation = nw.to_native(frame)
    key = "row_number() over ()" if ident is None else '"' + ident.replace('"', '""') + '"'
    hashed = f'cast(hash({key}) % {PRIORITY_RANGE} as bigint) as "{PRIORITY}"'
    marked: nw.LazyFrame[Any] = nw.from_native(relation.project(f"*, {hashed}"))
    return marked


def pairs(frame: nw.LazyFrame[Any], bits: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count rows on which both of two columns are 1."""
    return pairs_by_aggregates(frame.select(*bits), bits)
