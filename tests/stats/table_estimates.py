"""Estimates of a failure matrix in one call, for the tests of statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyculture.stats.homogeneity import Estimate, estimate, moments


def estimates(failed: Any, judged: Any = None, count: Any = None, event: Any = "all_fail", **more: Any) -> Estimate:
    failed = np.asarray(failed, dtype=bool)
    judged = np.ones_like(failed) if judged is None else np.asarray(judged, dtype=bool)
    census = more.pop("census", False)
    return estimate(
        moments(judged, failed, np.ones(len(failed)) if count is None else count, event=event, **more), census=census
    )
