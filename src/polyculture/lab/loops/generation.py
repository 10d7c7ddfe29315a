"""One generation of a chain: its parquet file, and the rows that the next one goes on from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from polyculture.errors import FileError
from polyculture.lab.chunks import parquet
from polyculture.lab.loops.measures import DISTANCES
from polyculture.lab.loops.rows import Event, Features, Floats, Ints, Rows
from polyculture.lab.loops.star import Accounting

__all__ = ["Generation", "Made", "generation_bytes", "read_generation", "read_state", "state_bytes"]

PURPOSES = ("generator", "classifier")


@dataclass(frozen=True, eq=False)
class Made:
    """What one decision-maker was in one generation.

    Attributes
    ----------
    predicted : ndarray of int, shape (M,)
        The class that it gives to each test individual.
    score : ndarray of float32, shape (M,)
        Its probability of the favourable class.
    trained : ndarray of int, shape (S,)
        Strata of the people that its classifier was trained on.
    strata : ndarray of int, shape (S,)
        Strata of the sampled people, labelled as those that the classifier is trained on are before any intervention.
    annotated : ndarray of int, shape (S,)
        Strata of the same people by the label annotator, which is the same in all generations.
    distances : dict of str to float
        frechet, mmd, precision, recall.
    accounting : dict of str to Accounting
        The books of an intervention that selects, by the purpose.
    events : tuple of Event
        What went wrong.
    kept : ndarray, shape (keep, ...)
        Some of the sampled people.
    """

    predicted: Ints
    score: Floats
    trained: Ints
    strata: Ints
    annotated: Ints
    distances: dict[str, float]
    accounting: dict[str, Accounting] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    kept: Features = field(default_factory=lambda: np.zeros((0, 0)))


@dataclass(frozen=True, eq=False)
class Generation:
    """All decision-makers of one generation; ``stopped`` says why the chain ends before its time, else it is empty."""

    number: int
    made: tuple[Made, ...]
    stopped: str = ""


def _books(purpose: str, books: Accounting) -> dict[str, Any]:
    return {
        "purpose": purpose,
        "pool": books.pool.tolist(),
        "quota": books.quota.tolist(),
        "taken": books.taken.tolist(),
        "filled": books.filled.tolist(),
        "missing": books.missing,
    }


def generation_bytes(generation: Generation) -> bytes:
    """Return the parquet file of a generation: a row a decision-maker."""
    import polars as pl

    counts = pl.List(pl.Int64)
    books: dict[str, Any] = {
        "purpose": pl.String,
        **dict.fromkeys(("pool", "quota", "taken", "filled"), counts),
        "missing": pl.Int64,
    }
    made = generation.made
    table = pl.DataFrame(
        {
            "generation": pl.Series([generation.number] * len(made), dtype=pl.Int32),
            "decision_maker": pl.Series(range(1, len(made) + 1), dtype=pl.Int32),
            "stopped": pl.Series([generation.stopped] * len(made), dtype=pl.String),
            "predicted": pl.Series([one.predicted.astype(np.int16).tolist() for one in made], dtype=pl.List(pl.Int16)),
            "score": pl.Series([one.score.astype(np.float32).tolist() for one in made], dtype=pl.List(pl.Float32)),
            **{
                name: pl.Series([getattr(one, name).tolist() for one in made], dtype=counts)
                for name in ("trained", "strata", "annotated")
            },
            **{
                name: pl.Series([one.distances.get(name) for one in made], dtype=pl.Float64)
                for name in DISTANCES
            },
            "accounting": pl.Series(
                [[_books(purpose, one.accounting[purpose]) for purpose in PURPOSES if purpose in one.accounting]
                 for one in made],
                dtype=pl.List(pl.Struct(books)),
            ),
            "events": pl.Series(
                [[event._asdict() for event in one.events] for one in made],
                dtype=pl.List(pl.Struct({"reason": pl.String, "said": pl.String})),
            ),
            "kept": pl.Series(
                [_flat(one.kept).astype(np.float32).tolist() for one in made],
                dtype=pl.List(pl.List(pl.Float32)),
            ),
        }
    )  # fmt: skip
    return _parquet(table)


def _flat(features: Features) -> Features:
    """Return features as a row a person, also of nobody."""
    return features.reshape(len(features), math.prod(features.shape[1:]))


def _parquet(table: Any) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def read_generation(path: Path) -> Generation:
    """Read a generation.

    Raises
    ------
    FileError
        If the file cannot be read, or holds something else.
    """
    table = parquet(path)
    try:
        made = tuple(_made(row) for row in table.iter_rows(named=True))
        return Generation(int(table["generation"][0]), made, str(table["stopped"][0]))
    except Exception as error:
        raise FileError(
            f"{str(path)!r} does not hold a generation: {error}.", hint="Delete it, and run again."
        ) from error


def _made(row: dict[str, Any]) -> Made:
    def counts(values: list[int]) -> Ints:
        return np.array(values, dtype=np.int64)

    return Made(
        predicted=counts(row["predicted"]),
        score=np.array(row["score"], dtype=np.float64),
        trained=counts(row["trained"]),
        strata=counts(row["strata"]),
        annotated=counts(row["annotated"]),
        distances={name: row[name] for name in DISTANCES if row.get(name) is not None},
        accounting={
            one["purpose"]: Accounting(
                **{name: counts(one[name]) for name in ("pool", "quota", "taken", "filled")}, missing=one["missing"]
            )
            for one in row["accounting"]
        },
        events=tuple(Event(one["reason"], one["said"]) for one in row["events"]),
        kept=np.array(row["kept"], dtype=np.float64),
    )


def state_bytes(state: list[dict[str, Rows]]) -> bytes:
    """Return the parquet file of what each decision-maker's models were trained on, by purpose.

    Models are fitted again from it, which gives the same ones: nothing is pickled.
    """
    import polars as pl

    parts = []
    for number, own in enumerate(state, start=1):
        for purpose, rows in own.items():
            flat = _flat(rows.features)
            weight = np.ones(len(rows)) if rows.weight is None else rows.weight
            columns: dict[str, Any] = {f"x{column}": flat[:, column] for column in range(flat.shape[1])}
            if flat.dtype == np.uint8:  # images: one column, since so many would be slow
                columns = {"pixels": pl.Series(flat, dtype=pl.Array(pl.UInt8, flat.shape[1]))}
            batch = np.full(len(rows), -1) if rows.batch is None else rows.batch
            parts.append(
                pl.DataFrame(
                    {
                        "decision_maker": pl.repeat(number, len(rows), dtype=pl.Int32, eager=True),
                        "purpose": pl.repeat(purpose, len(rows), dtype=pl.String, eager=True),
                        "label": rows.label,
                        "group": rows.group,
                        "weight": weight,
                        "batch": batch,
                        "weighted": pl.repeat(rows.weight is not None, len(rows), dtype=pl.Boolean, eager=True),
                        **columns,
                    }
                )
            )
    return _parquet(pl.concat(parts))


def read_state(path: Path, makers: int, shape: tuple[int, ...]) -> list[dict[str, Rows]]:
    """Read what each decision-maker's models were trained on; features get back their shape (...)."""
    import polars as pl

    table = parquet(path)
    columns = [name for name in table.columns if name.startswith("x")]
    found: list[dict[str, Rows]] = [{} for _ in range(makers)]
    for number in range(makers):
        for purpose in PURPOSES:
            own = table.filter((pl.col("decision_maker") == number + 1) & (pl.col("purpose") == purpose))
            if own.height:
                plain = own["pixels"] if "pixels" in own.columns else own.select(columns)
                features = np.ascontiguousarray(plain.to_numpy()).reshape(own.height, *shape)
                weight = own["weight"].to_numpy() if own["weighted"][0] else None
                batch = own["batch"].to_numpy() if own["batch"][0] >= 0 else None
                found[number][purpose] = Rows(features, own["label"].to_numpy(), own["group"].to_numpy(), weight, batch)
    return found
