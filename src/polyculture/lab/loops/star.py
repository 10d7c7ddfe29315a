"""Stratified algorithmic reparation (STAR, 2403.07857): a batch with a budget, filled by quotas, and its books.

For any strata, ideal distribution, batch and budget; on any source of people, such as an iterator of batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polyculture.lab.loops.rows import Rows, joined

if TYPE_CHECKING:
    from polyculture.lab.loops.rows import Draw, Floats, Ints

__all__ = ["Accounting", "batches_of", "drawn_from", "people_beyond", "quotas", "star", "star_batches"]


@dataclass(frozen=True, eq=False)
class Accounting:
    """The books of one or several batches.

    Attributes
    ----------
    pool : ndarray of int, shape (S,)
        People of each stratum among the first B + r draws.
    quota : ndarray of int, shape (S,)
        How many of each were wanted.
    taken : ndarray of int, shape (S,)
        How many of each were taken from the pool by quota.
    filled : ndarray of int, shape (S,)
        Strata of the fresh draws, taken as they came, that made up the shortfall.
    missing : int
        Places that stayed empty, since no more people were to be had.
    """

    pool: Ints
    quota: Ints
    taken: Ints
    filled: Ints
    missing: int = 0

    @property
    def shortfall(self) -> int:
        """Places that the quotas left empty: B less those taken."""
        return int(self.filled.sum()) + self.missing

    def __add__(self, other: Accounting) -> Accounting:
        return Accounting(
            self.pool + other.pool,
            self.quota + other.quota,
            self.taken + other.taken,
            self.filled + other.filled,
            self.missing + other.missing,
        )


def quotas(ideal: Floats, batch: int) -> Ints:
    """Return how many people of each stratum a batch is to hold: ``floor(p_c B)``.

    Parameters
    ----------
    ideal : ndarray, shape (S,)
        The ideal distribution p over the strata.
    batch : int
        B.

    Examples
    --------
    >>> quotas(np.array([0.25, 0.25, 0.3, 0.2]), 10).tolist()
    [2, 2, 3, 2]
    """
    # A share such as .29 times 100 is 28.999999999999996 in floats: what is whole but for rounding is whole.
    return np.floor(np.asarray(ideal) * batch + 1e-9).astype(np.int64)


def star(  # noqa: PLR0917 (the algorithm's own parameters)
    draw: Draw,
    stratum: Callable[[Rows], Ints],
    ideal: Floats,
    batch: int,
    budget: int,
    rng: np.random.Generator,
) -> tuple[Rows, Accounting]:
    """Return a batch whose strata come as near to the ideal as a budget allows.

    Parameters
    ----------
    draw : callable
        Gives so many people; fewer where no more are to be had.
    stratum : callable
        Gives the stratum of each, (n,), in 0..S-1.
    ideal : ndarray, shape (S,)
        The ideal distribution p.
    batch : int
        B, people of the batch.
    budget : int
        r, people drawn beyond B.
    rng : Generator
        For the order of the batch.

    Returns
    -------
    rows : Rows
        B people in random order; fewer where no more were to be had.
    accounting : Accounting
        The pool, quotas, who was taken, and who filled the shortfall.

    Notes
    -----
    2403.07857: B + r people are drawn and put into their strata; of each at most ``floor(p_c B)`` are
    taken, in the order in which they were drawn; fresh draws of whatever stratum fill the shortfall.

    Examples
    --------
    >>> people = Rows(np.zeros((400, 1)), np.repeat([0, 0, 0, 1], 100), np.zeros(400, dtype=int))
    >>> order = np.random.default_rng(0).permutation(400)
    >>> rows, books = star(drawn_from([people[order]]), lambda rows: rows.label, np.array([0.5, 0.5]), 40, 10,
    ...                    np.random.default_rng(0))
    >>> len(rows), books.quota.tolist(), books.shortfall == 20 - int(books.taken[1])
    (40, [20, 20], True)
    """
    strata, wanted = len(ideal), quotas(ideal, batch)
    pool = draw(batch + budget)
    place = stratum(pool)
    chosen = np.zeros(len(pool), dtype=bool)
    for number, quota in enumerate(wanted):
        chosen[np.flatnonzero(place == number)[:quota]] = True
    taken = pool[chosen]
    fresh = draw(batch - len(taken)) if len(taken) < batch else pool[:0]
    rows = joined([taken, fresh])
    accounting = Accounting(
        pool=np.bincount(place, minlength=strata),
        quota=wanted,
        taken=np.bincount(place[chosen], minlength=strata),
        filled=np.bincount(stratum(fresh), minlength=strata) if len(fresh) else np.zeros(strata, dtype=np.int64),
        missing=batch - len(rows),
    )
    return rows[rng.permutation(len(rows))], accounting


def star_batches(  # noqa: PLR0917 (as `star`)
    draw: Draw,
    stratum: Callable[[Rows], Ints],
    ideal: Floats,
    sizes: Iterable[int],
    budget: float,
    rng: np.random.Generator,
) -> Iterator[tuple[Rows, Accounting]]:
    """Yield one batch after the other, each by `star`, until no more people are to be had.

    This is reparation inside a training loop: over ``drawn_from(batches)`` it turns an iterator of batches of whatever
    sizes into one of curated batches.

    Parameters
    ----------
    draw, stratum, ideal, rng
        As in `star`.
    sizes : iterable of int
        B of each batch; endless for as many as there are people.
    budget : float
        r as a share of B, rounded up.

    Examples
    --------
    >>> people = (Rows(np.zeros((50, 1)), np.arange(50) % 2, np.zeros(50, dtype=int)) for _ in range(4))
    >>> found = star_batches(drawn_from(people), lambda rows: rows.label, np.array([0.5, 0.5]), [64] * 9, 0.25,
    ...                      np.random.default_rng(0))
    >>> [(len(rows), books.taken.tolist()) for rows, books in found]
    [(64, [32, 32]), (64, [32, 32]), (40, [20, 20])]
    """
    for size in sizes:
        rows, accounting = star(draw, stratum, ideal, size, people_beyond(budget, size), rng)
        if not len(rows):
            return
        yield rows, accounting


def batches_of(size: int, batch: int) -> tuple[int, ...]:
    """Return the sizes of the batches that make up so many people; the last may be smaller.

    >>> batches_of(10, 4), batches_of(10, 0)
    ((4, 4, 2), (10,))
    """
    if not batch or batch >= size:
        return (size,)
    return (batch,) * (size // batch) + ((size % batch,) if size % batch else ())


def drawn_from(batches: Iterable[Rows]) -> Draw:
    """Return a draw that takes its people from an iterator of batches, for reparation inside a training loop.

    Parameters
    ----------
    batches : iterable of Rows
        Of any sizes; what a draw leaves of one is kept for the next draw.
    """
    source: Iterator[Rows] = iter(batches)
    kept: list[Rows] = []

    def draw(number: int) -> Rows:
        have = sum(len(rows) for rows in kept)
        while have < number or not kept:
            following = next(source, None)
            if following is None:
                break
            kept.append(following)
            have += len(following)
        if not kept:
            raise ValueError("an iterator without any batch gives nobody")
        everyone = joined(kept)
        kept[:] = [everyone[slice(number, None)]]
        return everyone[slice(0, number)]

    return draw


def people_beyond(budget: float, batch: int) -> int:
    """Return r, the people drawn beyond a batch, of a budget as a share of it: rounded up.

    >>> people_beyond(0.25, 256), people_beyond(0.25, 10)
    (64, 3)
    """
    return math.ceil(budget * batch - 1e-9)
