"""Which models judged, failed and gave no answer: as integers with one bit a model, and bit by bit.

A word holds up to 62 models in 64 bits; up to 31 models take 32 bits, which group faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from polyculture.outcomes.cells import Cell

__all__ = ["WORD_BITS", "Masks", "masks_of_cells", "masks_of_words"]

WORD_BITS = 62
_SMALL_BITS = 31


@dataclass(frozen=True)
class Masks:
    """The words of each mask, first models first, and the same bit by bit as 0/1 (one entry a model).

    ``judged`` is None where it is all ones and ``no_answer`` where it is all zeros; then so are their bits.
    """

    judged: tuple[nw.Expr, ...] | None
    failed: tuple[nw.Expr, ...]
    no_answer: tuple[nw.Expr, ...] | None
    judged_bits: tuple[nw.Expr, ...] | None
    failed_bits: tuple[nw.Expr, ...]
    no_answer_bits: tuple[nw.Expr, ...] | None


def _word_dtype(models: int) -> Any:
    """Return the integer type of a word for so many models."""
    return nw.Int32 if models <= _SMALL_BITS else nw.Int64


def _words(bits: Sequence[nw.Expr], dtype: Any) -> tuple[nw.Expr, ...]:
    words = []
    for start in range(0, len(bits), WORD_BITS):
        # Adding up bits with multiplications is what every engine can do; a shift is not.
        total: nw.Expr | None = None
        for place, bit in enumerate(bits[start : start + WORD_BITS]):
            term = bit.cast(dtype) * (1 << place)
            total = term if total is None else total + term
        if total is not None:
            words.append(total.cast(dtype))
    return tuple(words)


def masks_of_cells(cells: Sequence[Cell]) -> Masks:
    """Build the masks of a wide row from the states of its cells."""
    dtype = _word_dtype(len(cells))
    one, zero = nw.lit(1), nw.lit(0)
    failed = tuple(cell.failed if cell.bit is None else cell.bit for cell in cells)
    judged = no_answer = None
    if any(cell.judged is not None for cell in cells):
        judged = tuple(one if cell.judged is None else cell.judged for cell in cells)
    if any(cell.no_answer is not None for cell in cells):
        no_answer = tuple(zero if cell.no_answer is None else cell.no_answer for cell in cells)
    return Masks(
        None if judged is None else _words(judged, dtype),
        _words(failed, dtype),
        None if no_answer is None else _words(no_answer, dtype),
        judged,
        failed,
        no_answer,
    )


def masks_of_words(
    judged: tuple[nw.Expr, ...], failed: tuple[nw.Expr, ...], no_answer: tuple[nw.Expr, ...] | None, models: int
) -> Masks:
    """Build the masks of individuals whose words are columns already."""
    bits = [
        None if words is None else tuple(_bit_of(words, model) for model in range(models))
        for words in (judged, failed, no_answer)
    ]
    return Masks(judged, failed, no_answer, bits[0], bits[1] or (), bits[2])


def _bit_of(words: Sequence[nw.Expr], model: int) -> nw.Expr:
    return (words[model // WORD_BITS] // (1 << (model % WORD_BITS))) % 2
