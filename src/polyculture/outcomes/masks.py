"""Which models judged, failed and gave no answer, as integers with one bit a model.

A word holds up to 62 models in 64 bits; up to 31 models take 32 bits, which group faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from polyculture.outcomes.cells import Cell

__all__ = ["WORD_BITS", "Masks", "bit_of", "masks_of_cells", "word_dtype"]

WORD_BITS = 62
_SMALL_BITS = 31


@dataclass(frozen=True)
class Masks:
    """The words of each mask, first models first; None where a mask is all ones (judged) or zeros (no_answer)."""

    judged: tuple[nw.Expr, ...] | None
    failed: tuple[nw.Expr, ...]
    no_answer: tuple[nw.Expr, ...] | None


def word_dtype(models: int) -> Any:
    """Return the integer type of a word for so many models."""
    return nw.Int32 if models <= _SMALL_BITS else nw.Int64


def _words(bits: Sequence[nw.Expr | None], dtype: Any) -> tuple[nw.Expr, ...]:
    words = []
    for start in range(0, len(bits), WORD_BITS):
        # Adding up bits with multiplications is what every engine can do; a shift is not.
        total: nw.Expr | None = None
        for place, bit in enumerate(bits[start : start + WORD_BITS]):
            term = (nw.lit(1) if bit is None else bit).cast(dtype) * (1 << place)
            total = term if total is None else total + term
        words.append((nw.lit(0) if total is None else total).cast(dtype))
    return tuple(words)


def masks_of_cells(cells: Sequence[Cell]) -> Masks:
    """Build the masks of a wide row from the states of its cells."""
    dtype = word_dtype(len(cells))
    failed = _words([cell.failed if cell.bit is None else cell.bit for cell in cells], dtype)
    judged = no_answer = None
    if any(cell.judged is not None for cell in cells):
        judged = _words([cell.judged for cell in cells], dtype)
    if any(cell.no_answer is not None for cell in cells):
        zero = nw.lit(0)
        no_answer = _words([zero if cell.no_answer is None else cell.no_answer for cell in cells], dtype)
    return Masks(judged, failed, no_answer)


def bit_of(words: Sequence[nw.Expr], model: int) -> nw.Expr:
    """Return the bit of one model as 0/1."""
    return (words[model // WORD_BITS] // (1 << (model % WORD_BITS))) % 2
