"""Tallies and Outcomes made from small matrices, for tests."""

from __future__ import annotations

from collections.abc import Mapping as TypeMapping
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from polyculture.audit import Provenance
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally

PROVENANCE = Provenance(
    inputs=(),
    rows_read=0,
    rows_used=0,
    left_out={},
    failure_rule="failed",
    no_answer="failed",
    min_judged=2,
    min_cell=30,
    version="0",
    command="test",
    seed=0,
)


def outcomes_from_matrix(
    failed: Any,
    judged: Any = None,
    *,
    models: Sequence[str] | None = None,
    groups: TypeMapping[str, Sequence[Any]] | None = None,
    cluster: Sequence[Any] | None = None,
    weight: Sequence[float] | None = None,
    count: Sequence[int] | None = None,
    labels: Sequence[int] | None = None,
    **mapping: Any,
) -> Outcomes:
    """Outcomes of an (N, k) failure matrix; with 0/1 labels the columns hold predictions instead."""
    matrix = np.asarray(failed).astype(int)
    known = np.ones_like(matrix, dtype=bool) if judged is None else np.asarray(judged).astype(bool)
    names = list(models or (f"m{j}" for j in range(matrix.shape[1])))
    values = matrix if labels is None else np.abs(np.asarray(labels)[:, None] - matrix)
    table: dict[str, Any] = {
        name: [int(v) if k else None for v, k in zip(values[:, j], known[:, j], strict=True)]
        for j, name in enumerate(names)
    }
    roles: dict[str, Any] = {"models": tuple(names)}
    for role, column in (("cluster", cluster), ("weight", weight), ("count", count), ("label", labels)):
        if column is not None:
            table[f"the {role}"] = list(column)
            roles[role] = f"the {role}"
    if labels is None:
        roles["outcomes"] = "failed"
    if groups:
        table |= {name: list(column) for name, column in groups.items()}
        roles["by"] = tuple(groups)
    return Outcomes(pl.DataFrame(table), Mapping(**{**roles, **mapping}))


def tally_from_matrix(failed: Any, judged: Any = None, *, with_labels: bool = False, **options: Any) -> Tally:
    """Return the Tally of an (N, k) failure matrix; options as in ``outcomes_from_matrix``."""
    return Tally.of(replace(outcomes_from_matrix(failed, judged, **options), with_labels=with_labels))
