"""Each model at two snapshots: its error, its improvements and regressions, and whom they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from polyculture.audit.change_by_others import expected_by_difficulty, rows_of_all, rows_of_model
from polyculture.audit.change_others import READINGS, Reading, keyed, moves_of
from polyculture.audit.change_records import ByOthersRow, ModelChange, Undoing
from polyculture.audit.change_shares import paired_rate, sample_of
from polyculture.audit.change_undoing import undoing_of_all, undoing_of_model
from polyculture.audit.statistic import undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.audit.change_shares import Sample
    from polyculture.audit.settings import Settings
    from polyculture.stats.difficulty import Difficulty
    from polyculture.tally.changes import Changes, ChangeTable

NO_REPEAT = "no repeat of the earlier version was given"
_DRAWS, _FEWEST_DRAWS = 40, 12  # samples for how well difficulty is known
_DRAWED_MODELS = 400  # draws times models: each costs the same


def model_changes(changes: Changes, everyone: ChangeTable, settings: Settings) -> tuple[ModelChange, ...]:
    """Return each model's change.

    Parameters
    ----------
    changes : Changes
        The counts.
    everyone : ChangeTable
        Its table: everyone whom a model judged at both snapshots counts for its error.
    settings : Settings
        Whether this is a census.
    """
    found = tuple(_model(changes, everyone, model, settings) for model in range(len(changes.models)))
    shared = shared_with_others(changes, everyone)
    if not len(shared.count):
        return found
    sample = sample_of(changes, shared, census=settings.census)
    difficulties = {reading: _difficulties(sample, shared, reading, settings) for reading in READINGS}
    return _adjusted(tuple(_with_others(one, sample, shared, model, difficulties) for model, one in enumerate(found)))


def shared_with_others(changes: Changes, table: ChangeTable) -> ChangeTable:
    """Return the individuals of the headline whom at least two models judged: those who have others."""
    return table.take(table.judged >= max(changes.least, 2))


def _model(changes: Changes, table: ChangeTable, model: int, settings: Settings) -> ModelChange:
    sample = sample_of(changes, table, census=settings.census)
    judged, before, after, both = (
        getattr(table, f"model_{name}")[:, model] for name in ("judged", "before", "after", "both")
    )
    base, old, new, twice = (
        getattr(table, f"weight_{name}")[:, model] for name in ("judged", "before", "after", "both")
    )
    totals = [int(one.sum()) for one in (judged, before, after, both)]
    improved, regressed = totals[1] - totals[3], totals[2] - totals[3]
    error = paired_rate(
        sample, base=base, before=old, after=new, both=twice, own=judged, numbers=(totals[3], improved, regressed)
    )
    moved = old + new - 2.0 * twice
    changed = sample.shares(moved[:, None], base[:, None], judged[:, None])[0]
    return ModelChange(
        name=changes.models[model][0],
        name_after=changes.models[model][1],
        judged=totals[0],
        failed_before=totals[1],
        failed_after=totals[2],
        failed_both=totals[3],
        error=error,
        improved=improved,
        regressed=regressed,
        net=improved - regressed,
        changed=changed,
        churned=undefined(NO_REPEAT),
    )


def _difficulties(sample: Sample, table: ChangeTable, reading: Reading, settings: Settings) -> list[Difficulty]:
    """Return the model of difficulty at one snapshot, then the same of samples like the one at hand."""
    from polyculture.stats.difficulty import fit_difficulty, redrawn

    models = table.model_judged.shape[1]
    complete = table.judged == models
    failing = (table.before if reading == "before" else table.after)[complete]
    fails = (table.weight_before if reading == "before" else table.weight_after)[complete]
    weight = table.weight * complete
    histogram = np.bincount(failing, weights=table.weight[complete], minlength=models + 1)
    rates = np.clip(fails.sum(axis=0) / max(float(weight.sum()), 1e-300), 0.0, 1.0)
    found = fit_difficulty(histogram, rates)
    if found.reason or settings.census:
        return [found]
    all_fail = weight * ((table.before if reading == "before" else table.after) == models)
    number = table.count * complete
    size = float(number.sum()) / sample.design_effect(all_fail, weight, number)
    draws = int(np.clip(_DRAWED_MODELS / models, _FEWEST_DRAWS, _DRAWS))
    return [found, *redrawn(histogram, rates, size, draws, settings.generator("change", (reading,)))]


def _complete(table: ChangeTable) -> ChangeTable:
    return table.take(table.judged == table.model_judged.shape[1])


def _with_others(
    one: ModelChange, sample: Sample, table: ChangeTable, model: int, difficulties: dict[Reading, list[Difficulty]]
) -> ModelChange:
    numbers, weights = moves_of(table, model)
    complete, models = _complete(table), table.model_judged.shape[1]
    total = max(float(complete.weight.sum()), 1e-300)
    rates = (
        float(complete.weight_before[:, model].sum()) / total,
        float(complete.weight_after[:, model].sum()) / total,
    )
    rows: list[ByOthersRow] = []
    undoing: list[Undoing] = []
    for reading in READINGS:
        counted, weighed = keyed(table, numbers, reading), keyed(table, weights, reading)
        expected = expected_by_difficulty(difficulties[reading], counted, models, model, rates)
        rows += rows_of_model(sample, counted, weighed, expected, reading)
        undoing.append(undoing_of_model(sample, counted, weighed, expected=expected, reading=reading, models=models))
    return replace(one, by_others=tuple(rows), undoing=tuple(undoing))


def _adjusted(models: tuple[ModelChange, ...]) -> tuple[ModelChange, ...]:
    """Correct the p-values of the errors over the models (Benjamini-Hochberg)."""
    from polyculture.stats.multiplicity import benjamini_hochberg

    adjusted: NDArray[np.float64] = benjamini_hochberg([one.error.p_value for one in models])
    return tuple(
        replace(
            one,
            error=replace(
                one.error,
                p_adjusted=None if np.isnan(p) else float(p),
                p_adjusted_reason=one.error.p_method if np.isnan(p) else "",
            ),
        )
        for one, p in zip(models, adjusted, strict=True)
    )


def over_all_models(
    changes: Changes, table: ChangeTable, models: tuple[ModelChange, ...], settings: Settings
) -> tuple[tuple[ByOthersRow, ...], tuple[Undoing, ...]]:
    """Return improvements by number of others, and how many undo a systemic failure, over all models together."""
    shared = shared_with_others(changes, table)
    if not len(shared.count):
        return (), ()
    sample = sample_of(changes, shared, census=settings.census)
    rows: list[ByOthersRow] = []
    undoing: list[Undoing] = []
    for place, reading in enumerate(READINGS):
        own = [one.undoing[place] for one in models if one.undoing]
        by_model = [[row for row in one.by_others if row.reading == reading] for one in models]
        uniform = _mixed_rows([[row.expected_uniform for row in rows_] for rows_ in by_model], own)
        adjusted = _mixed_rows([[row.expected_adjusted for row in rows_] for rows_ in by_model], own)
        here = rows_of_all(sample, shared, reading, uniform, adjusted)
        rows += here
        undoing.append(undoing_of_all(sample, shared, here, own, reading))
    return tuple(rows), tuple(undoing)


def _mixed_rows(values: list[list[float | None]], own: list[Undoing]) -> NDArray[np.float64]:
    """Return the mean of the models' expected shares at each key, by their improvements; NaN where one is missing."""
    table = np.array([[np.nan if value is None else value for value in row] for row in values], dtype=np.float64)
    weight = np.array([one.improved for one in own], dtype=np.float64)
    if not weight.sum() or not table.size:
        return np.full(table.shape[1] if table.ndim == 2 else 0, np.nan)
    used = weight > 0
    return np.asarray((table[used] * weight[used, None]).sum(axis=0) / weight[used].sum())


def with_churn(models: tuple[ModelChange, ...], repeated: tuple[ModelChange, ...]) -> tuple[ModelChange, ...]:
    """Put beside each model what a repeat of its earlier version changes by itself.

    Parameters
    ----------
    models, repeated : tuple of ModelChange
        From the earlier to the later version, and from the earlier version to its repeat.
    """
    known = {one.name: one for one in repeated}
    return tuple(_with_churn(one, known[one.name]) if one.name in known else one for one in models)


def _with_churn(one: ModelChange, repeat: ModelChange) -> ModelChange:
    shares = {undoing.reading: undoing.share for undoing in repeat.undoing}
    undoing = tuple(replace(own, churn=shares.get(own.reading, own.churn)) for own in one.undoing)
    return replace(one, churned=repeat.changed, undoing=undoing)
