"""Outcomes of a store in other forms: the tidy table, a row an outcome; and one trial as Outcomes to audit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import UsageError, nearest
from polyculture.lab.trial import UNKNOWN
from polyculture.outcomes import Mapping, Outcomes

if TYPE_CHECKING:
    import polars as pl

    from polyculture.lab.store import Store

__all__ = ["tidy", "trial_outcomes"]


def tidy(store: Store) -> Iterator[pl.DataFrame]:
    """Yield the outcomes of each trial as a frame, a row an outcome.

    Returns
    -------
    iterator of polars.DataFrame
        trial, seed (of the model), partition_seed, learner, blocks, arm, id, model, failed; failed is null where
        there is no label, or the learner could not be fitted.
    """
    import polars as pl

    plan, manifest = store.manifest.plan, store.manifest
    ids = np.array(store.individuals()[0])
    for outcome in store.outcomes():
        tested, setting = len(outcome.rows), outcome.setting
        makers = len(manifest.decision_makers)
        size = outcome.failed.size
        yield pl.DataFrame(
            {
                "arm": np.repeat(np.array(manifest.arms), makers * tested),
                "id": np.tile(ids[outcome.rows], len(manifest.arms) * makers),
                "model": np.tile(np.repeat(np.array(manifest.decision_makers), tested), len(manifest.arms)),
                "failed": pl.Series(values=outcome.failed.ravel()).replace(UNKNOWN, None).cast(pl.Boolean),
            }
        ).select(
            trial=pl.repeat(setting.trial, size, dtype=pl.Int32),
            seed=pl.repeat(setting.model_seed, size, dtype=pl.Int32),
            partition_seed=pl.repeat(setting.partition_seed, size, dtype=pl.Int32),
            learner=pl.lit(plan.learners[setting.learner].shown()),
            blocks=pl.repeat(plan.blocks[setting.blocks], size, dtype=pl.Int32),
            arm="arm",
            id="id",
            model="model",
            failed="failed",
        )


def trial_outcomes(store: Store, trial: int, arm: str) -> Outcomes:
    """Return one arm of one trial as Outcomes, with ids and groups.

    Raises
    ------
    UsageError
        If there is no such trial or arm.
    """
    import polars as pl

    manifest = store.manifest
    if not 0 <= trial < manifest.trials:
        raise UsageError(f"There is no trial {trial}.", hint=f"They are numbered 0 to {manifest.trials - 1}.")
    if arm not in manifest.arms:
        hint = nearest(arm, manifest.arms) or f"The arms are: {', '.join(manifest.arms)}."
        raise UsageError(f"There is no arm {arm!r}.", hint=hint)
    outcome = store.outcome(trial)
    ids, cell, cells = store.individuals()
    columns: dict[str, Any] = {"id": [ids[row] for row in outcome.rows]}
    for index, name in enumerate(manifest.plan.data.groups if cells else ()):
        columns[name] = [None if at < 0 else cells[at][index] for at in cell[outcome.rows].tolist()]
    groups = tuple(columns)[1:]
    for maker, name in enumerate(manifest.decision_makers):
        values = outcome.failed[manifest.arms.index(arm), maker]
        columns[_free(name, columns)] = pl.Series(values=values).replace(UNKNOWN, None).cast(pl.Boolean)
    models = tuple(columns)[1 + len(groups) :]
    return Outcomes(
        pl.DataFrame(columns).lazy(),  # type: ignore[arg-type]
        Mapping(id="id", outcomes="failed", models=models, by=groups),
        source=f"trial {trial}, arm {arm}, of {manifest.plan.name}",
    )


def _free(name: str, taken: dict[str, Any]) -> str:
    """Return a column's name that is not taken by the id or a group."""
    while name in taken:
        name += "_"
    return name
