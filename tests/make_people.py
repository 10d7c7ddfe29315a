"""Made individuals for experiments: two labels that depend on the same columns."""

from __future__ import annotations

import numpy as np
import polars as pl


def people(individuals: int = 120, seed: int = 3) -> pl.DataFrame:
    """Return individuals with two labels that depend on the same columns."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, individuals))
    noise = rng.normal(size=(2, individuals))
    return pl.DataFrame(
        {
            "person": [f"p{index}" for index in range(individuals)],
            "x": x.round(4),
            "z": z.round(4),
            "code": rng.choice(["a", "b", "c"], individuals),
            "sex": rng.choice(["f", "m"], individuals),
            "good": (x + noise[0] > 0).astype(int),
            "amount": (100 * np.exp(z + x / 2 + noise[1] / 2)).round(1),
        }
    )
