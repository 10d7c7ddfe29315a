"""Whether all pairs, all measures, keep the promised time, beside PyPI lm-sim on 20 of the pairs.

    python benchmarks/speed_similarity.py                       # both sizes; lm-sim from $LM_SIM_PYTHON, if given
    LM_SIM_PYTHON=/path/to/venv/bin/python python benchmarks/speed_similarity.py

lm-sim needs an environment of its own: python -m venv DIR && DIR/bin/pip install lm-sim==0.1.1 numpy
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measure import answer, in_process

SIZES = {"71 x 14,042": (71, 14_042, 2.0), "350 x 12,000": (350, 12_000, 30.0)}
OPTIONS = 4
PAIRS = 20
LM_SIM = """
import json, sys, time
import numpy as np
from lmsim.metrics import CAPA, EC
data = np.load(sys.argv[1])
answers, truth = data["answers"], data["truth"].tolist()
hard = np.eye(4)[answers]
start = time.perf_counter()
for other in range(1, 21):
    CAPA(prob=False).compute_k(list(hard[:, 0]), list(hard[:, other]), truth)
    EC().compute_k(list(hard[:, 0]), list(hard[:, other]), truth)
print(json.dumps(time.perf_counter() - start))
"""


def made(models: int, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels (N,) and answers (N, k) of models that share what is hard."""
    rng = np.random.default_rng(20261130)
    truth = rng.integers(OPTIONS, size=items)
    hard = rng.random((items, 1)) ** 3
    right = rng.random((items, models)) > hard * rng.uniform(0.5, 1.0, models)
    return truth, np.where(right, truth[:, None], rng.integers(OPTIONS, size=(items, models)))


def table(models: int, items: int) -> pl.DataFrame:
    """Return the same as a table of text answers."""
    truth, given = made(models, items)
    letters = np.array(list("ABCD"))
    return pl.DataFrame({"truth": letters[truth], **{f"m{j}": letters[given[:, j]] for j in range(models)}})


def measures(models: str, items: str) -> Callable[[], None]:
    """Every measure of every pair and of the collection, from a Tally at hand."""
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import collection, pairs, similarity
    from polyculture.audit.view import View
    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.tally import Tally

    tally = Tally.of(Outcomes(table(int(models), int(items)), Mapping(label="truth")))

    def run() -> dict[str, float]:
        start = time.perf_counter()
        view = View(tally)
        similar = similarity(view)
        arrays = time.perf_counter() - start
        found = pairs(similar, Settings())
        together = collection(view, similar, Settings())
        assert together is not None
        assert len(found) == int(models) * (int(models) - 1) // 2
        return {"arrays": arrays, "all": time.perf_counter() - start}

    return run


def tallied(models: str, items: str) -> dict[str, float]:
    """Count from the table, then measure."""
    start = time.perf_counter()
    run = measures(models, items)
    counted = time.perf_counter() - start
    best = min((run() for _ in range(3)), key=lambda found: found["all"])
    return {"tally": counted, **best}


def lm_sim(python: str) -> float:
    """Return the seconds that lm-sim takes for CAPA and error consistency of 20 pairs."""
    truth, given = made(*SIZES["71 x 14,042"][:2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.npz"
        np.savez(path, answers=given, truth=truth)
        done = subprocess.run([python, "-c", LM_SIM, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"lm-sim: {done.stderr[-1000:]}")
    return float(json.loads(done.stdout))


def main() -> None:
    """Print seconds and ratios to the limits; exit 1 where a limit is broken."""
    broken = False
    ours: dict[str, Any] = {}
    for name, (models, items, limit) in SIZES.items():
        found = in_process("tallied", str(models), str(items), repeat=1)
        ours[name] = found.result
        seconds = found.result["all"]
        broken |= seconds > limit
        print(
            f"{name}: all measures {seconds:.2f} s (arrays {found.result['arrays']:.2f} s), {seconds / limit:.2f} of "
            f"the {limit:g} s promised; the Tally before {found.result['tally']:.2f} s; peak {found.peak:.2f} GiB"
        )
    python = os.environ.get("LM_SIM_PYTHON")
    if not python:
        print("lm-sim is not timed: LM_SIM_PYTHON names no environment that has it.")
    else:
        theirs = lm_sim(python)
        all_pairs = theirs / PAIRS * (71 * 70 / 2)
        print(
            f"lm-sim: {PAIRS} pairs {theirs:.2f} s, so about {all_pairs:.0f} s for all 2,485: "
            f"{all_pairs / ours['71 x 14,042']['all']:,.0f} times ours"
        )
    sys.exit(broken)


if __name__ == "__main__":
    if not answer({"tallied": tallied}):
        main()
