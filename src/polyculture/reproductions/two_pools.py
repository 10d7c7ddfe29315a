"""The ecosystem of loops: three decision-makers that train in one shared pool, in pools of their own, or in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.loops import GENERATOR, claim, endpoint, on_data_sets, on_tables, run_loops

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plans", "reproduce"]

NAME = "two-pools"
SCALES: dict[Scale, tuple[int, int]] = {"quick": (10, 5), "laptop": (20, 10), "paper": (40, 25)}
"""Generations, and ecosystems (seeds)."""
POOLS = {"separate pools": "separate", "half from a shared pool": 0.5, "shared pool": "shared"}
SETTINGS = ("SeqClass", "SeqGenSeqClass")
STAR = [{"kind": "STAR", "of": ["classifier", "generator"]}]
CLASSIFIERS = [
    {"estimator": "sklearn.linear_model.LogisticRegression", "parameters": {"max_iter": 1000}},
    {"estimator": "sklearn.naive_bayes.GaussianNB"},
    {"estimator": "sklearn.tree.DecisionTreeClassifier", "parameters": {"max_depth": 5}},
]


def plans(law_school: AnyPath | None = None, scale: str = "quick", *, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Return the plan of each data set: both settings in each kind of pool, with and without reparation.

    Raises
    ------
    InputError, UsageError
        If the table of law school cannot be read, or there is no such scale.
    """
    generations, seeds = sized(scale, SCALES)
    arms: list[dict[str, Any]] = []
    for setting in SETTINGS:
        for words, pool in POOLS.items():
            arms.append(
                {"name": f"{setting}, {words}", "setting": setting, "pool": pool}
                | ({} if pool == "separate" else {"against": f"{setting}, separate pools"})
            )
    for words, pool in POOLS.items():
        if pool != 0.5:
            plain = f"SeqGenSeqClass, {words}"
            arms.append(
                {"name": f"{plain}, STAR", "setting": "SeqGenSeqClass", "pool": pool, "intervention": STAR}
                | {"against": plain}
            )
    common = {
        "generations": generations,
        "seeds": seeds,
        "generator": GENERATOR,
        "classifier": CLASSIFIERS,
        "decision_makers": len(CLASSIFIERS),
        "start": "own",
        "endpoints": ["systemic_failure", "homogenization", "worst_group_accuracy"],
        "arm": arms,
    }
    return on_data_sets(NAME, common, law_school, seed)


def _claims(loop: Loop, data: str) -> list[ClaimRecord]:
    record, found = loop.record, []
    for setting in SETTINGS:
        for words in ("half from a shared pool", "shared pool"):
            arm = f"{setting}, {words}"
            for statement, measure, unit in (
                (paper.FAILED_BY_ALL, "systemic_failure", "points"),
                (f"{paper.POOL}: H / H with separate pools", "homogenization", "ratio"),
            ):
                one = endpoint(record, arm, measure)
                stat = None if one is None else one.difference
                source = paper.SOURCE_POOL
                found.append(claim(f"{data}, {arm}", statement, stat, above=True, unit=unit, source=source))
    return found


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('two-pools')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run ecosystems of three decision-makers whose pools of data are shared or not.

    Parameters
    ----------
    data : path, optional
        The table of law school; without it German Credit alone is run.
    scale : {"quick", "laptop", "paper"}
        10 generations and 5 ecosystems; 20 and 10; 40 and 25.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.loop` and `polyculture.reproduce`.
    """
    own = plans(data, scale, seed=seed)
    return run_loops(
        NAME,
        own,
        _claims,
        notes=[
            "No paper reports this: the claim is that of sharing components, for data that the models made themselves.",
            *on_tables(own),
        ],
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        seed=seed,
        command=command,
        progress=progress,
    )
