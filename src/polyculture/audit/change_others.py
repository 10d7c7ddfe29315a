"""Improvements and regressions by the number of other models that fail the individual, in both readings.

Gives arrays; what is said of them stands in ``change_undoing``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.tally.changes import ChangeTable

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Reading = Literal["before", "after"]
READINGS: tuple[Reading, Reading] = ("before", "after")


@dataclass(frozen=True)
class Moves:
    """What one model did with the individuals of each row of a table, by individuals and by weight.

    Attributes
    ----------
    improved, kept, regressed, fine : (R,)
        Failed before only, both times, after only, never.
    """

    improved: Ints | Floats
    kept: Ints | Floats
    regressed: Ints | Floats
    fine: Ints | Floats


def moves_of(table: ChangeTable, model: int) -> tuple[Moves, Moves]:
    """Return the moves of one model, in individuals and in weights."""

    def of(prefix: str) -> Moves:
        judged, before, after, both = (
            getattr(table, f"{prefix}_{name}")[:, model] for name in ("judged", "before", "after", "both")
        )
        return Moves(before - both, both, after - both, judged - before - after + both)

    numbers, weights = of("model"), of("weight")
    # A difference of sums of weights is not exactly 0 where nobody is left.
    parts = {
        entry.name: np.where(getattr(numbers, entry.name) > 0, getattr(weights, entry.name), 0.0)
        for entry in fields(Moves)
    }
    return numbers, Moves(**parts)


def pooled_moves(table: ChangeTable) -> Moves:
    """Return the moves of all models together, for one individual of each row."""
    kept = table.both
    return Moves(table.before - kept, kept, table.after - kept, table.judged - table.before - table.after + kept)


@dataclass(frozen=True)
class Keyed:
    """Rows by the number of models that judged and the number of others that fail.

    Attributes
    ----------
    judged, others : (K,) int64
        Of each key, in order.
    potential, improved, at_risk, regressed : (R, K) float64
        What falls on each key.
    """

    judged: Ints
    others: Ints
    potential: Floats
    improved: Floats
    at_risk: Floats
    regressed: Floats

    @property
    def systemic(self) -> NDArray[np.bool_]:
        """Keys at which all others fail, (K,)."""
        return np.asarray(self.others == self.judged - 1)


def keyed(table: ChangeTable, moves: Moves, reading: Reading) -> Keyed:
    """Spread a model's moves over the keys of a reading.

    Parameters
    ----------
    table : ChangeTable
        Individuals judged by 2 models or more.
    moves : Moves
        In individuals or weights.
    reading : {"before", "after"}
        When the others are read. A model that fails is not among its own others.
    """
    sizes = np.unique(table.judged)
    judged = np.concatenate([np.full(size, size) for size in sizes]) if len(sizes) else np.zeros(0, dtype=np.int64)
    others = np.concatenate([np.arange(size) for size in sizes]) if len(sizes) else np.zeros(0, dtype=np.int64)
    first = {int(size): int(np.searchsorted(judged, size)) for size in sizes}
    start = np.array([first[int(size)] for size in table.judged], dtype=np.int64)
    # How many fail beside a model that does not fail, and beside one that does.
    number = table.before if reading == "before" else table.after
    where = {"alone": number, "with": number - 1}
    at = {
        "improved": where["with" if reading == "before" else "alone"],
        "kept": where["with"],
        "regressed": where["alone" if reading == "before" else "with"],
        "fine": where["alone"],
    }
    spread = {name: _spread(getattr(moves, name), start + at[name], len(judged)) for name in at}
    return Keyed(
        judged=judged.astype(np.int64),
        others=others.astype(np.int64),
        potential=spread["improved"] + spread["kept"],
        improved=spread["improved"],
        at_risk=spread["regressed"] + spread["fine"],
        regressed=spread["regressed"],
    )


def _spread(values: Ints | Floats, key: Ints, keys: int) -> Floats:
    found = np.zeros((len(values), keys))
    rows = np.flatnonzero(values)
    found[rows, key[rows]] = values[rows]
    return found
