"""Texts for the experiment on shared pretrained models: rated texts from a file, or made ones that show the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyculture.errors import ColumnError, UsageError, nearest

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FEWEST", "made", "rated"]

FEWEST = 100
"""Texts below which there is nothing to train on and test."""

_COLUMNS = ("corpus", "id", "mean_rating", "text")


def rated(path: str, individuals: int | None = None, seed: int = 0, besides: int = 0) -> pl.DataFrame:
    """Return rated texts with the labels of three tasks, and how long they are.

    Parameters
    ----------
    path : str
        Of a table (Parquet, CSV, JSON Lines or Arrow) with columns corpus, id, mean_rating and text.
    individuals : int, optional
        How many are drawn; default all.
    seed : int
        Of the draw.
    besides : int
        How many texts of the same draw are left out, for others.

    Returns
    -------
    polars.DataFrame
        text; polarity (is the mean rating above 0; null at 0), strength (is it farther from 0 than half of the drawn
        texts are), source (the corpus), length (short, middle, long: thirds by the number of words).

    Raises
    ------
    InputError, UsageError
        If the file cannot be read, lacks a column, or holds too few texts.
    """
    import polars as pl

    from polyculture.lab.plan import Data
    from polyculture.lab.sources import read_frame

    table, _ = read_frame(Data(source=path))
    for name in _COLUMNS:
        if name not in table.columns:
            raise ColumnError(
                f"{path} has no column {name!r}.",
                hint=nearest(name, table.columns) or f"It must hold {', '.join(_COLUMNS)}.",
            )
    if not table["mean_rating"].dtype.is_numeric() or table["text"].dtype != pl.String:
        raise ColumnError(
            f"mean_rating of {path} is {table['mean_rating'].dtype}, text {table['text'].dtype}.",
            hint="Give numbers and texts.",
        )
    table = table.drop_nulls(["mean_rating", "text"])
    wanted = table.height - besides if individuals is None else individuals
    if table.height < besides + max(wanted, FEWEST):
        raise UsageError(
            f"{path} holds {table.height} rated texts, and {besides + max(wanted, FEWEST)} are wanted.",
            hint="Take a smaller scale, or another file.",
        )
    drawn = table[np.random.default_rng(seed).permutation(table.height)[besides : besides + wanted]]
    words = pl.col("text").str.split(" ").list.len()
    strength = pl.col("mean_rating").abs()
    return drawn.select(
        id=pl.concat_str([pl.col("corpus"), pl.col("id").cast(pl.String)], separator=" "),
        text="text",
        polarity=pl.when(pl.col("mean_rating") != 0).then(pl.col("mean_rating") > 0),
        strength=strength > strength.median(),
        source="corpus",
        length=pl.when(words <= words.quantile(1 / 3))
        .then(pl.lit("short"))
        .when(words > words.quantile(2 / 3))
        .then(pl.lit("long"))
        .otherwise(pl.lit("middle")),
    )


_TONE = (("good", "fine", "great", "lovely"), ("bad", "poor", "awful", "dull"))
_FORCE = (("somewhat", "perhaps"), ("utterly", "extremely"))
_TOPICS = (("film", "plot", "actor"), ("phone", "screen", "battery"), ("senate", "tax", "vote"))
_FILL = ("the", "a", "it", "was", "and", "of", "this", "that", "so", "then")


def made(individuals: int = 400, seed: int = 0) -> pl.DataFrame:
    """Return made texts with the columns of `rated`: a word each of tone, force and topic among others, some wrong.

    Examples
    --------
    >>> made(3).columns
    ['id', 'text', 'polarity', 'strength', 'source', 'length']
    """
    import polars as pl

    draw = np.random.default_rng(seed)
    tone, force = draw.integers(2, size=individuals), draw.integers(2, size=individuals)
    topic, fill = draw.integers(len(_TOPICS), size=individuals), draw.integers(3, 10, size=individuals)
    said_tone = np.where(draw.random(individuals) < 0.15, 1 - tone, tone)  # a hard text is hard whoever reads it
    said_force = np.where(draw.random(individuals) < 0.15, 1 - force, force)
    texts = []
    for row in range(individuals):
        words = [*draw.choice(_FILL, fill[row]), draw.choice(_TONE[said_tone[row]])]
        words += [draw.choice(_FORCE[said_force[row]]), draw.choice(_TOPICS[topic[row]])]
        texts.append(" ".join(draw.permutation(words).tolist()))
    length = np.array(["short", "middle", "long"])[np.digitize(fill, [5, 8])]
    return pl.DataFrame(
        {
            "id": [f"made {row}" for row in range(individuals)],
            "text": texts,
            "polarity": tone == 0,
            "strength": force == 1,
            "source": [f"topic {number + 1}" for number in topic],
            "length": length.tolist(),
        }
    )
