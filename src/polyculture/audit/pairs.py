"""Every pair of models: how many individuals both judged, and how many both failed.

What is made of these counts (agreement, correlation) belongs to other questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.records import PairRecord
from polyculture.audit.rows import rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.tally import Tally

MOST_MODELS = 300
_BLOCK = 1 << 15  # rows turned into floats at a time, so that memory stays small


def pairs(tally: Tally) -> tuple[PairRecord, ...]:
    """Count joint judgements and joint failures of each pair of models.

    Parameters
    ----------
    tally : Tally
        Where its patterns are a sample and no table of pairs was made, the counts are those of the sample.

    Returns
    -------
    tuple of PairRecord
        k (k - 1) / 2 records in the order of the models; none above 300 models.
    """
    names = tally.models
    if len(names) > MOST_MODELS:
        return ()
    judged, failed = _joint_tables(tally)
    return tuple(
        PairRecord(
            models=(names[one], names[other]),
            both_judged=int(judged[one, other]),
            both_failed=int(failed[one, other]),
        )
        for one in range(len(names))
        for other in range(one + 1, len(names))
    )


def _joint_tables(tally: Tally) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    tables = tally.tables
    if tables is not None and len(tables.both_failed):
        return tables.both_judged, tables.both_failed
    rows = rows_of(tally)
    return joint(rows.judged, rows.count), joint(rows.failed, rows.count)


def joint(flags: NDArray[np.bool_], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count individuals flagged by both models of each pair.

    Parameters
    ----------
    flags : (P, k) bool
        One row a pattern.
    count : (P,) int64
        Individuals with the pattern.

    Returns
    -------
    (k, k) int64
        Exact up to 2^53 individuals.
    """
    width = flags.shape[1]
    if len(flags) and flags.all():
        return np.full((width, width), int(count.sum()), dtype=np.int64)
    sums = np.zeros((width, width))
    for start in range(0, len(flags), _BLOCK):
        block = flags[start : start + _BLOCK].astype(np.float64)
        sums += (block * count[start : start + _BLOCK, None]).T @ block
    return np.rint(sums).astype(np.int64)
