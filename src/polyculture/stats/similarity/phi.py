"""Phi: the correlation of two models' failures, over the individuals whom both judged."""

from __future__ import annotations

import numpy as np

from polyculture.stats._rounding import differences
from polyculture.stats._rows import Floats
from polyculture.stats.similarity.cells import Cells

__all__ = ["phi", "phi_influence"]


def phi(cells: Cells) -> Floats:
    """Return the correlation of failures of every pair.

    Parameters
    ----------
    cells : Cells
        Individuals, weights or shares in the four cells.

    Returns
    -------
    (k, k) float64
        NaN where a model fails nobody or everybody, or where nobody was judged by both.
    """
    p = cells.shares()
    f, g = p.both + p.first, p.both + p.second
    with np.errstate(divide="ignore", invalid="ignore"):
        value = differences(p.both, f * g) / np.sqrt(f * (1 - f) * g * (1 - g))
    return np.asarray(np.where(_constant(cells), np.nan, np.clip(value, -1.0, 1.0)))


def _constant(cells: Cells) -> Floats:
    """Whether a model is constant among those whom both judged; decided on counts, which round nothing."""
    first, second = cells.both + cells.first, cells.both + cells.second
    return np.asarray((first <= 0) | (first >= cells.n) | (second <= 0) | (second >= cells.n))


def phi_influence(cells: Cells) -> Floats:
    """Return what one individual of each cell adds to phi, (4, k, k); 0 where phi is undefined.

    Notes
    -----
    z w - phi (z^2 + w^2) / 2 with the standardized failures z and w of the two models.
    """
    p = cells.shares()
    f, g, value = p.both + p.first, p.both + p.second, phi(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = [(1 - f) / np.sqrt(f * (1 - f)), -f / np.sqrt(f * (1 - f))]
        w = [(1 - g) / np.sqrt(g * (1 - g)), -g / np.sqrt(g * (1 - g))]
        pairs = [(z[0], w[0]), (z[0], w[1]), (z[1], w[0]), (z[1], w[1])]
        psi = np.stack([one * two - value * (one**2 + two**2) / 2 for one, two in pairs])
    return np.nan_to_num(psi, nan=0.0, posinf=0.0, neginf=0.0)
