"""Make similarity_oracles.json with PyPI lm-sim and krippendorff, in an environment of their own.

python -m venv oracles && oracles/bin/pip install lm-sim==0.1.1 krippendorff==0.9.0
oracles/bin/python tests/cases/similarity_oracles.py
"""

from __future__ import annotations

import json
from pathlib import Path

import krippendorff
import numpy as np
from lmsim.metrics import CAPA, EC


def main() -> None:
    rng = np.random.default_rng(20261130)
    items, models, options = 60, 4, 5
    truth = rng.integers(options, size=items)
    size = rng.integers(3, options + 1, size=items)
    truth = truth % size
    weights = rng.gamma(0.4, size=(models, items, options))
    weights[:, np.arange(items), truth] += 0.5
    weights[:, np.arange(options)[None, :] >= size[:, None]] = 0.0
    given = (weights / weights.sum(axis=2, keepdims=True)).round(6)
    given[:, np.arange(items), truth] += 1 - given.sum(axis=2)
    found = []
    for one in range(models):
        for other in range(one + 1, models):
            soft = [[given[m, i, : size[i]] for i in range(items)] for m in (one, other)]
            hard = [[np.eye(len(p))[int(np.argmax(p))] for p in rows] for rows in soft]
            found.append(
                {
                    "models": [one, other],
                    "kappa": float(EC().compute_k(*soft, truth.tolist())),
                    "capa": float(CAPA(prob=True).compute_k(*soft, truth.tolist())),
                    "capa_hard": float(CAPA(prob=False).compute_k(*hard, truth.tolist())),
                }
            )
    ratings = rng.integers(1, 6, size=(4, 30)).astype(float)
    ratings[1:] = np.where(rng.random((3, 30)) < 0.6, ratings[0], ratings[1:])
    ratings[rng.random((4, 30)) < 0.2] = np.nan
    alpha = {
        level: float(krippendorff.alpha(reliability_data=ratings, level_of_measurement=level))
        for level in ("nominal", "ordinal", "interval")
    }
    content = {
        "probabilities": given.tolist(),
        "truth": truth.tolist(),
        "options": size.tolist(),
        "pairs": found,
        "ratings": [[None if np.isnan(x) else x for x in row] for row in ratings.tolist()],
        "alpha": alpha,
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
