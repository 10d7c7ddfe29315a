"""A sample of failure patterns weighted so that what is known of everyone holds in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.rows import Rows

if TYPE_CHECKING:
    from polyculture.audit.view import Histogram


def raked(rows: Rows, table: Histogram) -> Rows:
    """Weight sampled patterns so that individuals by number judged and number failed are as in all.

    Parameters
    ----------
    rows : Rows
        The sampled patterns.
    table : Histogram
        All individuals by number judged and number failed.

    Returns
    -------
    Rows
        Counts are whole numbers only in sum. Numbers of failures that the sample missed get a row where the
        pattern is known for certain: all models, or none.
    """
    width = rows.models + 1
    key = rows.judged_by * width + rows.failed_by
    wanted = table.judged * width + table.failed
    missed = np.flatnonzero(~np.isin(wanted, key) & (table.judged == rows.models))
    certain = missed[(table.failed[missed] == 0) | (table.failed[missed] == rows.models)]
    if len(certain):
        rows, key = _with_certain(rows, table.failed[certain] > 0), np.concatenate([key, wanted[certain]])
    sampled, at = np.unique(key, return_inverse=True)
    place = np.clip(np.searchsorted(wanted, sampled), 0, len(wanted) - 1)
    known = wanted[place] == sampled

    def factor(exact: np.ndarray, ours: np.ndarray) -> np.ndarray:
        sums = np.bincount(at, weights=ours, minlength=len(sampled))
        return np.asarray(np.where(known, exact[place], 0.0) / sums)[at]

    by_count, by_weight = factor(table.count, rows.count), factor(table.weight, rows.weight)
    return replace(
        rows,
        count=rows.count * by_count,
        weight=rows.weight * by_weight,
        weight_squared=rows.weight_squared * by_weight**2 / by_count,
    )


def _with_certain(rows: Rows, fails: np.ndarray) -> Rows:
    ones = np.ones(len(fails))
    return Rows(
        judged=np.vstack([rows.judged, np.ones((len(fails), rows.models), dtype=np.bool_)]),
        failed=np.vstack([rows.failed, np.repeat(fails[:, None], rows.models, axis=1)]),
        count=np.concatenate([rows.count, ones.astype(np.int64)]),
        weight=np.concatenate([rows.weight, ones]),
        weight_squared=np.concatenate([rows.weight_squared, ones]),
        cluster=None if rows.cluster is None else np.concatenate([rows.cluster, -ones.astype(np.int64)]),
        weighted=rows.weighted,
    )
