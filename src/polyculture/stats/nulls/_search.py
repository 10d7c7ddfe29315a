"""The highest likelihood of a family of mixtures: several starts, and damped steps of scoring from the best.

Where rows are many, part of them gives the starts and the curvature, and all of them the slope. How a fit is repeated
on draws stands in ``_draws``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyculture.stats._rows import Bools, Floats
from polyculture.stats.nulls.protocol import Table

if TYPE_CHECKING:
    from polyculture.stats.nulls._families import Family

__all__ = ["Found", "ascend", "information", "inverse", "maximise", "search"]

# A maximum is reached where a further step of scoring would add less than this to the log-likelihood.
_REACHED = 1e-5
# A fit that would still gain so much has not converged: an estimate could move by a third of its error.
_NOT_REACHED = 0.05
_MOST_SCORING_STEPS = 60
_STEPS_OF_STARTS = 12
_STALLED = 4
# Rows times points and parameters above which starts are tried, and curvature is taken, on a part of the table.
_LARGE = 3_000_000
_ROWS_OF_STARTS = 4_000
_ROWS_OF_CURVATURE = 20_000
_STEPS_BEFORE_QUASI_NEWTON = 3


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search ended.

    Attributes
    ----------
    theta : ndarray, shape (m,)
        Parameters.
    log_likelihood : float
        Of the table.
    gain : float
        What a further step would add, by the gradient.
    """

    theta: Floats
    log_likelihood: float
    gain: float

    @property
    def reason(self) -> str:
        """Why the fit is undefined; empty where it converged."""
        if np.isfinite(self.log_likelihood) and self.gain <= _NOT_REACHED:
            return ""
        return f"the fit did not converge: a further step would still add {self.gain:.2g} to the log-likelihood"


def maximise(
    family: Family,
    table: Table,
    rng: np.random.Generator,
    start: Floats | None = None,
    patterns: Table | None = None,
) -> Found:
    """Return the best of several searches.

    Parameters
    ----------
    family : Family
        What is fitted.
    table : Table
        To what.
    rng : numpy.random.Generator
        Source of the starts.
    start : ndarray, shape (m,), optional
        Where to start, in place of several starts.
    patterns : Table, optional
        Rows of single patterns, where those of ``table`` are means of several: only they know the information.

    Returns
    -------
    Found
        ``reason`` says where it is no maximum.
    """
    if family.size == 0:
        return Found(np.zeros(0), family.gradient(np.zeros(0), table)[0], 0.0)
    if start is not None:
        return _reached(family, table, np.clip(start, -family.bounds, family.bounds), patterns, rng)
    coarse = _part(family, table, _ROWS_OF_STARTS, rng)
    best: Found | None = None
    for number in range(family.starts):
        found = ascend(family, coarse, family.start(coarse, rng, number), _STEPS_OF_STARTS)
        if best is None or found.log_likelihood > best.log_likelihood:
            best = found
    if best is None:
        raise ValueError("a family needs a start")
    return _reached(family, table, best.theta, patterns, rng)


def _part(family: Family, table: Table, rows: int, rng: np.random.Generator) -> Table:
    """Return the table where a search over it is cheap, else that many individuals of it."""
    points = len(family.points(np.zeros(family.size)).log_weight)
    if len(table.count) * (points + family.size) <= _LARGE or len(table.count) <= rows:
        return table
    part = rng.choice(len(table.count), rows, False, table.count / table.n)
    return table.take(np.sort(part), np.ones(rows))


def _reached(family: Family, table: Table, theta: Floats, patterns: Table | None, rng: np.random.Generator) -> Found:
    """Climb to the end; where steps of scoring do not reach it, after a quasi-Newton search from there."""
    all_rows = table if patterns is None else patterns
    informing = _part(family, all_rows, _ROWS_OF_CURVATURE, rng)
    if informing is not all_rows:
        theta = ascend(family, table, theta, _STEPS_BEFORE_QUASI_NEWTON, patterns=informing).theta
        theta = _whitened(family, table, theta, informing)
        patterns = informing
    found = ascend(family, table, theta, _MOST_SCORING_STEPS, patterns=patterns)
    if not found.reason:
        return found
    return ascend(family, table, search(family, table, found.theta, 300), _MOST_SCORING_STEPS, patterns=patterns)


def _whitened(family: Family, table: Table, start: Floats, informing: Table) -> Floats:
    """Return where BFGS ends in coordinates in which the information at the start is the identity, inside the bounds.

    Squared scores are the curvature only where the family is true: elsewhere steps of scoring close in slowly, and
    BFGS learns the difference at one gradient a step.
    """
    from scipy.optimize import minimize

    whole = information(family, start, informing) * (table.n / informing.n)
    values, vectors = np.linalg.eigh(inverse(whole))
    root = vectors * np.sqrt(np.maximum(values, 0.0))

    def cost(place: Any) -> Any:
        value, gradient = family.gradient(start + root @ place, table)
        return -value, -(gradient @ root)

    climb: Any = minimize  # its overloads do not know that a gradient comes with the value

    # In these coordinates half the squared slope is what a further step would add.
    options = {"maxiter": _MOST_SCORING_STEPS, "norm": 2, "gtol": np.sqrt(2 * _REACHED)}
    found = climb(cost, np.zeros(len(start)), jac=True, method="BFGS", options=options)
    return np.asarray(np.clip(start + root @ found.x, -family.bounds, family.bounds))


def search(family: Family, table: Table, start: Floats, steps: int) -> Floats:
    """Return where a limited-memory quasi-Newton search from ``start`` ends, inside the bounds."""
    from scipy.optimize import minimize

    limits = family.bounds
    total = max(table.n, 1.0)

    def cost(theta: Any) -> Any:
        value, gradient = family.gradient(theta, table)
        return -value / total, -gradient / total

    climb: Any = minimize  # its overloads do not know that a gradient comes with the value
    found = climb(
        cost,
        np.clip(start, -limits, limits),
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([-limits, limits]),
        options={"maxiter": steps, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 20},
    )
    return np.asarray(found.x, dtype=np.float64)


def information(family: Family, theta: Floats, table: Table) -> Floats:
    """Return the sum over individuals of the squared scores, (m, m)."""
    scores = family.scores(theta, table)
    return np.asarray((scores * table.count[:, None]).T @ scores)


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of an information matrix; directions without information are left out."""
    size = np.sqrt(np.diag(matrix).copy())
    used = size > 0.0
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=used)
    values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
    kept = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    inner = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return np.asarray(inner * scale * scale[:, None])


def ascend(
    family: Family,
    table: Table,
    theta: Floats,
    steps: int,
    *,
    near: float = _REACHED,
    patterns: Table | None = None,
) -> Found:
    """Climb by damped steps of scoring: squared scores stand for the curvature, damped where a step overshoots.

    Parameters
    ----------
    family, table
        What is fitted, and to what.
    theta : ndarray, shape (m,)
        Where to start, inside the bounds.
    steps : int
        The most steps.
    near : float
        Gain in log-likelihood below which no further step is taken.
    patterns : Table, optional
        As in `maximise`.

    Returns
    -------
    Found
        ``gain`` is what an undamped step would add at the end.
    """
    limits = family.bounds
    value, gradient = family.gradient(theta, table)
    gain, damping, stalled = np.inf, 1e-3, 0
    scale = 1.0 if patterns is None else table.n / patterns.n
    for _ in range(steps):
        held = ((theta >= limits) & (gradient > 0)) | ((theta <= -limits) & (gradient < 0))
        free = np.where(held, 0.0, gradient)
        matrix = information(family, theta, table if patterns is None else patterns) * scale
        plain = inverse(matrix) @ free
        gain = float(plain @ free) / 2
        if gain < near:
            break
        for _ in range(12):
            step = _damped(matrix, damping, free, held)
            trial = np.clip(theta + step, -limits, limits)
            trial_value, trial_gradient = family.gradient(trial, table)
            if trial_value > value:
                damping = damping / 8
                break
            damping = damping * 6
        else:
            # Not even a step too small to overshoot rises: what is left is what its slope promises.
            gain = min(gain, float(np.abs(free) @ np.abs(step)))
            break
        rise = trial_value - value
        theta, value, gradient = trial, trial_value, trial_gradient
        # Where the information vanishes with the slope (no shared cause at all) it promises what never comes.
        stalled = stalled + 1 if rise < _REACHED / 10 else 0
        if stalled == _STALLED:
            gain = min(gain, 10 * rise)
            break
    return Found(theta, value, gain)


def _damped(matrix: Floats, damping: float, gradient: Floats, held: Bools) -> Floats:
    size = np.diag(matrix)
    scale = 1.0 / np.sqrt(np.maximum(size, 1e-12 * max(float(size.max(initial=0.0)), 1e-300)))
    scaled = matrix * scale * scale[:, None]
    scaled[np.diag_indices_from(scaled)] += damping + 1e-9
    step = scale * np.linalg.solve(scaled, scale * gradient)
    step[held] = 0.0
    return np.asarray(step)
