"""The settings of 2403.07857 on tables: German Credit and law school, with reparation and the baselines beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.loops import GENERATOR, on_data_sets, on_tables, run_loops, trends

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plans", "reproduce"]

NAME = "tabular-loop"
SCALES: dict[Scale, tuple[int, int]] = {"quick": (20, 5), "laptop": (40, 10), "paper": (40, 25)}
"""Generations and seeds."""
SETTINGS = ("SeqClass", "SeqGenSeqClass", "SeqGenNonSeqClass")
BASELINES = (
    {"kind": "reweighting"},
    {"kind": "class balance", "of": ["classifier", "generator"]},
    {"kind": "group balance", "of": ["classifier", "generator"]},
    {"kind": "fresh data", "share": 0.1, "of": ["classifier", "generator"]},
    {"kind": "drop detected", "share": 0.2, "of": ["classifier", "generator"]},
    # Equalized odds against the labels of a classifier of the same kind are met without any effort: they are its own.
    {"kind": "fairness constraint", "constraint": "demographic parity"},
)


def plans(law_school: AnyPath | None = None, scale: str = "quick", *, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Return the plan of each data set: every setting, alone and with reparation, and baselines.

    Raises
    ------
    InputError, UsageError
        If the table of law school cannot be read, or there is no such scale.
    """
    generations, seeds = sized(scale, SCALES)
    common = {"generations": generations, "seeds": seeds, "generator": GENERATOR, "arm": _arms()}
    return on_data_sets(NAME, common, law_school, seed)


def _arms() -> list[dict[str, Any]]:
    arms: list[dict[str, Any]] = [{"setting": setting} for setting in SETTINGS]
    for setting in SETTINGS:
        whose = (
            [["classifier"]] if setting == "SeqClass" else [["classifier"], ["generator"], ["classifier", "generator"]]
        )
        arms += [{"setting": setting, "intervention": [{"kind": "STAR", "of": of}], "against": setting} for of in whose]
    arms += [{"setting": "SeqGenSeqClass", "intervention": [one], "against": "SeqGenSeqClass"} for one in BASELINES]
    return arms


def _claims(loop: Loop, data: str) -> list[ClaimRecord]:
    record = loop.record
    larger = max(record.classes, key=lambda name: sum(one.original for one in record.strata if one.target == name))
    endings = {
        "cla-STAR": ("trained_divergence", paper.HOLDS_TRAINED),
        "cla+gen-STAR": ("divergence", paper.HOLDS_GENERATED),
    }
    return trends(record, data, SETTINGS[:2], (paper.DRIFT, larger), endings)


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('tabular-loop')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run every setting on German Credit and law school, with reparation and the baselines beside it.

    Parameters
    ----------
    data : path, optional
        The table of law school; without it German Credit alone is run.
    scale : {"quick", "laptop", "paper"}
        20 generations and 5 seeds; 40 and 10; 40 and 25.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.loop` and `polyculture.reproduce`.
    """
    own = plans(data, scale, seed=seed)
    return run_loops(
        NAME,
        own,
        _claims,
        notes=on_tables(own),
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        seed=seed,
        command=command,
        progress=progress,
    )
