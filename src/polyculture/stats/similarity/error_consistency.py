"""Error consistency (Geirhos and others, 2020): Cohen's kappa of right and wrong, beyond the models' accuracies."""

from __future__ import annotations

import numpy as np

from polyculture.stats._rounding import differences
from polyculture.stats._rows import Floats
from polyculture.stats.similarity.cells import Cells

__all__ = ["kappa", "kappa_influence", "kappa_of", "observed_and_expected"]


def kappa_of(observed: Floats, expected: Floats) -> Floats:
    """Return (observed - expected) / (1 - expected), NaN where chance alone agrees always.

    Examples
    --------
    >>> round(float(kappa_of(np.array(0.5), np.array(0.5))), 3), round(float(kappa_of(np.array(0.8), np.array(0.5))), 3)
    (0.0, 0.6)
    """
    room = 1.0 - np.asarray(expected, dtype=np.float64)
    full = np.full(room.shape, np.nan)
    return np.asarray(
        np.divide(differences(np.asarray(observed), np.asarray(expected)), room, out=full, where=room > 1e-14)
    )


def observed_and_expected(cells: Cells) -> tuple[Floats, Floats]:
    """Return the share on which both are right or both wrong, and that expected of their accuracies."""
    p = cells.shares()
    f, g = p.both + p.first, p.both + p.second
    return np.asarray(p.both + p.neither), np.asarray(f * g + (1 - f) * (1 - g))


def kappa(cells: Cells) -> Floats:
    """Return error consistency of every pair.

    Parameters
    ----------
    cells : Cells
        Individuals, weights or shares in the four cells.

    Returns
    -------
    (k, k) float64
        (c_obs - c_exp) / (1 - c_exp) with c_exp = a1 a2 + (1 - a1)(1 - a2); NaN where both are perfect, or
        both always wrong, or nobody was judged by both.
    """
    return kappa_of(*observed_and_expected(cells))


def kappa_influence(cells: Cells) -> Floats:
    """Return what one individual of each cell adds to error consistency, (4, k, k); 0 where it is undefined."""
    p = cells.shares()
    f, g = p.both + p.first, p.both + p.second
    observed, expected = observed_and_expected(cells)
    shown = ((1, 1, 1), (0, 1, 0), (0, 0, 1), (1, 0, 0))  # agrees, first fails, second fails
    with np.errstate(divide="ignore", invalid="ignore"):
        psi = np.stack(
            [
                (agrees - observed) / (1 - expected)
                - (1 - observed) / (1 - expected) ** 2 * ((x - f) * (2 * g - 1) + (y - g) * (2 * f - 1))
                for agrees, x, y in shown
            ]
        )
    return np.nan_to_num(psi, nan=0.0, posinf=0.0, neginf=0.0)
