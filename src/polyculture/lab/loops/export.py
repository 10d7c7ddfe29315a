"""Decisions of a store in other forms: one generation as Outcomes to audit, and the tidy table of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.errors import UsageError, nearest
from polyculture.lab.loops.world import tested_of
from polyculture.outcomes import Mapping, Outcomes

if TYPE_CHECKING:
    import polars as pl

    from polyculture.lab.loops.store import LoopStore

__all__ = ["every_decision", "generation_outcomes"]


def generation_outcomes(store: LoopStore, arm: str, seed: int, generation: int) -> Outcomes:
    """Return the decisions of one generation as Outcomes, with ids, labels and groups.

    Raises
    ------
    UsageError
        If there is no such arm, seed or generation, or the chain had stopped before it.
    """
    import polars as pl

    manifest, plan = store.manifest, store.manifest.plan
    names = plan.arm_names()
    if arm not in names:
        hint = nearest(arm, names) or f"The arms are: {', '.join(names)}."
        raise UsageError(f"There is no arm {arm!r}.", hint=hint)
    if not 0 <= seed < plan.seeds:
        raise UsageError(f"There is no seed {seed}.", hint=f"They are numbered 0 to {plan.seeds - 1}.")
    number = plan.generations + generation if generation < 0 else generation
    found = store.generations(names.index(arm) * plan.seeds + seed)
    if not 0 <= number < len(found) or found[number].stopped:
        last = sum(not one.stopped for one in found) - 1
        raise UsageError(f"There is no generation {generation} of {arm!r}, seed {seed}.", hint=f"The last is {last}.")
    people = store.individuals()[tested_of(plan, manifest.individuals, seed)]
    columns: dict[str, Any] = {"id": people["id"], "label": people["class"]}
    if len(manifest.groups) > 1:
        columns["group"] = people["group"]
    for maker, made in zip(plan.makers(), found[number].made, strict=True):
        columns[maker] = np.array(manifest.classes)[made.predicted].tolist()
    return Outcomes(
        pl.DataFrame(columns).lazy(),  # type: ignore[arg-type]
        Mapping(id="id", label="label", models=plan.makers(), by=("group",) if "group" in columns else ()),
        source=f"generation {number} of {arm}, seed {seed}, of {plan.name}",
    )


def every_decision(store: LoopStore) -> pl.DataFrame:
    """Return every decision: arm, seed, generation, id, model, predicted, score, label, group."""
    import polars as pl

    manifest, plan = store.manifest, store.manifest.plan
    people = store.individuals()
    parts = []
    for chain, generations in enumerate(store.chains()):
        arm, seed = divmod(chain, plan.seeds)
        own = people[tested_of(plan, manifest.individuals, seed)]
        for generation in generations:
            if generation.stopped:
                continue
            for maker, made in zip(plan.makers(), generation.made, strict=True):
                parts.append(
                    own.select(
                        arm=pl.lit(plan.arm_names()[arm]),
                        seed=pl.lit(seed, dtype=pl.Int32),
                        generation=pl.lit(generation.number, dtype=pl.Int32),
                        id="id",
                        model=pl.lit(maker),
                        predicted=pl.Series(np.array(manifest.classes)[made.predicted].tolist(), dtype=pl.String),
                        score=pl.Series(made.score, dtype=pl.Float64),
                        label="class",
                        group="group",
                    )
                )
    if not parts:
        raise UsageError("No chain has a generation with decisions.", hint="See the faults of the record.")
    return pl.concat(parts)
