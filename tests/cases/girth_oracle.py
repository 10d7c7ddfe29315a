"""Values of PyPI girth for Rasch and 2PL by marginal maximum likelihood, written to girth_oracle.json.

Run in an environment of its own, once:

    python -m venv girth-env && girth-env/bin/pip install girth==0.8.0
    girth-env/bin/python tests/cases/girth_oracle.py

girth calls "1PL" what is here Rasch with a free spread of difficulty: one common discrimination, standard normal
ability. Its probability is 1 / (1 + exp(-discrimination (ability - difficulty))).
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

SEED, INDIVIDUALS, MODELS = 20261130, 4000, 6
OPTIONS = {"quadrature_n": 61, "quadrature_bounds": (-6.5, 6.5), "max_iteration": 400, "use_LUT": False}


def simulate() -> np.ndarray:
    """Return failures (N, k) under a 2PL with unequal slopes."""
    rng = np.random.default_rng(SEED)
    intercept, slope = np.linspace(-1.6, 0.4, MODELS), np.array([0.6, 1.8, 1.0, 1.4, 0.8, 1.2])
    ability = rng.normal(size=(INDIVIDUALS, 1))
    return rng.random((INDIVIDUALS, MODELS)) < 1.0 / (1.0 + np.exp(-(intercept + slope * ability)))


def main() -> None:
    """Fit with girth and write data and estimates."""
    from girth import onepl_mml, twopl_mml

    failed = simulate().astype(int)
    one, two = onepl_mml(failed.T, options=OPTIONS), twopl_mml(failed.T, options=OPTIONS)
    code, count = np.unique(failed @ (1 << np.arange(MODELS)), return_counts=True)
    found = {
        "girth": version("girth"),
        "seed": SEED,
        "models": MODELS,
        "pattern": code.tolist(),
        "count": count.tolist(),
        "rasch": {
            "discrimination": float(np.asarray(one["Discrimination"]).ravel()[0]),
            "difficulty": np.asarray(one["Difficulty"]).tolist(),
        },
        "2pl": {
            "discrimination": np.asarray(two["Discrimination"]).tolist(),
            "difficulty": np.asarray(two["Difficulty"]).tolist(),
        },
    }
    path = Path(__file__).with_name("girth_oracle.json")
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path.name}")  # noqa: T201


if __name__ == "__main__":
    main()
