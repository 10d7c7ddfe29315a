"""Spark: its own hash, and pairs as sums of products, a few hundred a query (more do not finish)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.tally.engines import PRIORITY, PRIORITY_RANGE, pairs_by_aggregates

__all__ = ["pairs", "with_priority"]


def with_priority(frame: nw.LazyFrame[Any], ident: str | None) -> nw.LazyFrame[Any]:
    """Return the frame with a hash of the id, or of Spark's row number where there is no id."""
    from pyspark.sql import functions as F  # noqa: N812

    key = F.monotonically_increasing_id() if ident is None else F.col("`" + ident.replace("`", "``") + "`")
    hashed = F.pmod(F.xxhash64(key), F.lit(PRIORITY_RANGE))
    marked: nw.LazyFrame[Any] = nw.from_native(nw.to_native(frame).withColumn(PRIORITY, hashed))
    return marked


def pairs(frame: nw.LazyFrame[Any], bits: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count rows on which both of two columns are 1."""
    return pairs_by_aggregates(frame.select(*bits), bits, chunk=200)
