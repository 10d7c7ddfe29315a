"""Text from data made safe to show and short enough for a chart; numbers stand in ``words``."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["shorten", "shorten_all", "shown"]


LEAST_CUT = 3
"""Characters that names must share at an end before that is left out: of fewer little is gained."""


def shown(text: object) -> str:
    r"""Return data text with control, bidirectional and unencodable characters made visible.

    Examples
    --------
    >>> shown("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    result = str(text)
    if result.isascii() and result.isprintable():
        return result
    return "".join(_shown_character(character) for character in result)


def _shown_character(character: str) -> str:
    category = unicodedata.category(character)
    # A zero-width joiner (Cf) holds emoji and scripts together; the other format characters can reorder text.
    if category in {"Cc", "Cs", "Zl", "Zp"} or (category == "Cf" and character not in "\u200c\u200d"):
        return character.encode("unicode_escape", "backslashreplace").decode("ascii")
    return character


def shorten(text: str, limit: int) -> str:
    """Return text of at most ``limit`` characters, its middle left out: names often differ at the end only.

    >>> shorten("organisation/model-70b-instruct", 16)
    'organis…instruct'
    """
    if len(text) <= limit:
        return text
    tail = limit // 2
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


def shorten_all(texts: Sequence[str], limit: int) -> list[str]:
    """Return names of at most ``limit`` characters that stay apart where they can.

    Where one is too long, the beginning and the end that all share are left out first.

    >>> shorten_all(["organisation/model-7b-instruct", "organisation/model-13b-instruct"], 16)
    ['…7b-instruct', '…13b-instruct']
    """
    if len(texts) < 2 or all(len(text) <= limit for text in texts):
        return [shorten(text, limit) for text in texts]
    start = _same_start(texts)
    cut = [text[start:] for text in texts]
    end = _same_start([text[::-1] for text in cut]) if max(len(text) for text in cut) >= limit else 0
    front, back = "…" if start > LEAST_CUT else "", "…" if end > LEAST_CUT else ""
    start, end = start if front else 0, end if back else 0
    return [shorten(f"{front}{text[start : len(text) - end]}{back}", limit) for text in texts]


def _same_start(texts: Sequence[str]) -> int:
    """Return how many characters all texts begin with."""
    first, last = min(texts), max(texts)
    pairs = zip(first, last, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(last)))
